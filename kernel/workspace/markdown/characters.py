"""[core] The character classes of the dialect: which of them count as blank, punctuation or marker, and where."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

ZERO_WIDTH_SPACE: Final = "\u200b"
ZERO_WIDTH_JOINER: Final = "\u200d"
CARET: Final = "\u2038"  # the editor's caret, written <wbr> in its DOM
NEWLINE_ESCAPE: Final = "_esc_newline_"

ASCII_BLANKS: Final = " \n\t\x0b\x0c\r"
# What counts as white space to the kernel when it trims a text: Unicode's White_Space.
UNICODE_BLANKS: Final = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
ASCII_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_BLANK_SET: Final = frozenset(UNICODE_BLANKS)


def is_blank(character: str) -> bool:
    """Whether ``character`` is white space in Unicode's sense (the ends of a text, ``""``, are not)."""
    return character in _BLANK_SET


@lru_cache(maxsize=4096)
def is_punctuation(character: str) -> bool:
    """Whether ``character`` is punctuation or a symbol in Unicode's sense."""
    return bool(character) and unicodedata.category(character)[0] in "PS"


def is_escaped(text: str, position: int) -> bool:
    """Whether the punctuation mark at ``position`` stands behind an odd number of backslashes."""
    start = position
    while start and text[start - 1] == "\\":
        start -= 1
    return (position - start) % 2 == 1


def after_bytes(text: str, position: int, count: int) -> int:
    """The index behind the characters that ``count`` bytes of UTF-8 from ``position`` on reach into."""
    while count > 0 and position < len(text):
        count -= len(text[position].encode("utf-8", "surrogatepass"))
        position += 1
    return position


class NextOccurrence:
    """Answers "where is the next X from here on?" in linear time altogether, for positions that only grow."""

    __slots__ = ("_found", "_from", "_needle", "_text")

    def __init__(self, text: str, needle: str) -> None:
        self._text = text
        self._needle = needle
        self._from = 0
        self._found = -2  # nothing asked yet

    def at(self, position: int) -> int:
        """The next occurrence at or after ``position``, or -1."""
        if self._found == -2 or position < self._from or (-1 < self._found < position):
            self._from = position
            self._found = self._text.find(self._needle, position)
        return self._found
