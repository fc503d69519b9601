"""[core] What a parse is given from outside: fresh ids and the knowledge which ids exist. Holds no state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


def _unknown(identity: str) -> bool:
    return False


# Markers that have no meaning, of ``* _ ^ ~ # $ ~~ =``.
Unmarked = frozenset[str]
ALL_MARKED: Final[Unmarked] = frozenset()
# Stands behind a sign that is to be text: no text holds it.
GAP: Final = "\ufdd6"
# And of tags, of which only pictures keep theirs.
TAG: Final = "<"


@dataclass(frozen=True, slots=True)
class MarkdownContext:
    """``new_id`` gives a fresh block id; ``known_id`` says whether a block ref's id exists outside the parsed text.

    ``unmarked``: the inline markers that the workspace's settings have switched off. ``is_imported``: the text comes
    from elsewhere and is stored as it is parsed: indented code, HTML blocks and tight lists are what they are in
    CommonMark, and lines have no blanks in front.
    """

    new_id: Callable[[], str]
    known_id: Callable[[str], bool] = _unknown
    unmarked: Unmarked = ALL_MARKED
    is_imported: bool = False


class MarkdownError(ValueError):
    """Markdown or DOM on which the kernel gives up (a malformed id in an attribute list, an image without source).

    ``invalid_id`` is the malformed id where that is the cause.
    """

    def __init__(self, message: str, *, invalid_id: str = "") -> None:
        super().__init__(message)
        self.invalid_id = invalid_id
