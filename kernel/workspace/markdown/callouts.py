"""[core] The head line of a callout, ``[!KIND] icon title``, and the icons and titles of the kinds that have defaults."""

from __future__ import annotations

from typing import Final

from kernel.workspace.markdown.characters import UNICODE_BLANKS
from kernel.workspace.markdown.emoji import emoji_of_alias, is_emoji_start

ICONS: Final = {"NOTE": "✏️", "TIP": "💡", "IMPORTANT": "❗", "WARNING": "⚠️", "CAUTION": "🚨"}
TITLES: Final = {"NOTE": "Note", "TIP": "Tip", "IMPORTANT": "Important", "WARNING": "Warning", "CAUTION": "Caution"}

ICON_CUSTOM: Final = 1  # CalloutIconType: the icon is a picture of the workspace, not a character


def read_head(line: str) -> dict[str, object]:
    """The callout fields that its first line gives; the line holds ``[!`` and ``]``."""
    content = line.strip(UNICODE_BLANKS)
    kind = content[2 : content.index("]")].strip(UNICODE_BLANKS)
    title = content[content.index("]") + 1 :].strip(UNICODE_BLANKS)
    icon = ""
    word = title.split(" ")[0]
    if word:
        if is_emoji_start(word):
            icon = word
        else:
            icon = emoji_of_alias(word.replace(":", ""))
        if icon:
            title = title[len(word) :].strip(UNICODE_BLANKS)
    return {"CalloutType": kind, "CalloutTitle": title, "CalloutIcon": icon or ICONS.get(kind, "")}


def default_title(kind: str) -> str:
    """The title of a callout that has none of its own: its kind's, or the kind as written."""
    return TITLES.get(kind, "") or kind
