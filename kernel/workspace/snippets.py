"""[core] The hits of one phrase in texts that are shown whole, as the ``snippet()`` of the kernel's SQLite marks them.

``snippet()`` reads every text anew, letter by letter, through the tokenizer. Where nothing is left out of a text, its
marks follow from the text and the phrase alone. SQLite 3.53, which the kernel carries, shows as many tokens as it is
asked for and marks hits that touch each by itself; 3.54 shows 64 at most and marks such hits together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import folded_text
from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT

# Columns that a search shows with their hits → tokens of its snippet; a token is one character.
SNIPPET_TOKENS: Final[dict[str, int]] = {
    "hpath": 512,
    "name": 512,
    "alias": 512,
    "memo": 512,
    "tag": 64,
    "content": 512,
}


def is_shown_whole(row: BlockRow) -> bool:
    """Whether no snippet of the row leaves anything out. C strings end at a NUL, and so do snippets."""
    return all(
        isinstance(text := getattr(row, column), str) and len(text) <= tokens and "\0" not in text
        for column, tokens in SNIPPET_TOKENS.items()
    )


def with_marks(row: BlockRow, phrase: str, columns: tuple[str, ...]) -> BlockRow:
    """The row, which is shown whole, with the phrase's hits in these columns marked."""
    wanted = folded_text(phrase)
    hits: dict[str, Any] = {
        column: shown
        for column in SNIPPET_TOKENS
        if column in columns and (text := getattr(row, column)) and (shown := marked_hits(text, wanted)) is not text
    }
    return row._replace(**hits) if hits else row


def marked_hits(text: str, wanted: str) -> str:
    """``text`` with ``wanted``, which is folded, marked; the same object where it does not occur."""
    parts: list[str] = []
    end = 0
    for first, last in _spans(folded_text(text), wanted):
        parts += (text[end:first], HIT_LEFT, text[first:last], HIT_RIGHT)
        end = last
    return "".join((*parts, text[end:])) if parts else text


def _spans(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Where ``wanted`` occurs; occurrences that overlap are one, those that touch are two."""
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        following = text.find(wanted, start + 1)
        while 0 <= following < end:
            end = following + len(wanted)
            following = text.find(wanted, following + 1)
        yield start, end
        start = following
