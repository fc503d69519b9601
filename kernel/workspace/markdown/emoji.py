"""[core] Emoji aliases, ``:smile:``: the table of those that the kernel knows (emoji.tsv, recorded from one)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

PICTURE_SITE: Final = "https://cdn.jsdelivr.net/npm/vditor/dist/images/emoji"
_PICTURE: Final = "picture:"  # in the table: an alias shown as a picture of the site, with its file name


@cache
def _table() -> dict[str, str]:
    text = files("kernel.workspace.markdown").joinpath("emoji.tsv").read_text("utf-8")
    return dict(line.split("\t") for line in text.splitlines())


@cache
def _starts() -> frozenset[str]:
    """Every beginning of every emoji: the kernel takes a beginning for the whole."""
    emoji = (value for value in _table().values() if not value.startswith(_PICTURE))
    pictures = (
        "${emojiSite}/" + value.removeprefix(_PICTURE) for value in _table().values() if value.startswith(_PICTURE)
    )
    return frozenset(value[:end] for value in (*emoji, *pictures) for end in range(1, len(value) + 1))


def emoji_of_alias(alias: str) -> str:
    """The characters behind an alias (without colons), or ``""``."""
    value = _table().get(alias, "")
    return "${emojiSite}/" + value.removeprefix(_PICTURE) if value.startswith(_PICTURE) else value


def picture_of_alias(alias: str) -> str:
    """The address of the picture behind an alias, or ``""`` when it is a character or unknown."""
    value = _table().get(alias, "")
    return f"{PICTURE_SITE}/{value.removeprefix(_PICTURE)}" if value.startswith(_PICTURE) else ""


def picture_tag(alias: str, source: str) -> str:
    """The image tag that stands for a picture in a document."""
    return f'<img alt="{alias}" class="emoji" src="{source}" title="{alias}" />'


def is_emoji_start(text: str) -> bool:
    """Whether some emoji begins with ``text``."""
    return text in _starts()
