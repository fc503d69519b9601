"""[core] The text as lines, and a cursor over one line that counts columns as tabs want it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

TAB_COLUMNS: Final = 4
_BLANKS: Final = (" ", "\t")


def split_lines(text: str) -> Iterator[str]:
    """The lines of ``text``, each with its newline; CR LF and CR end a line too, NUL becomes U+FFFD."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    if not text:
        return
    if not text.endswith("\n"):
        text += "\n"
    start = 0
    while start < len(text):
        end = text.index("\n", start) + 1
        yield text[start:end]
        start = end


class Line:
    """A cursor: what has been taken by containers lies before ``position``."""

    __slots__ = ("blank", "column", "indent", "next", "next_column", "partial_tab", "position", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.column = 0
        self.partial_tab = False  # a tab of which some columns have been taken
        self.next = -1  # the next character that is neither blank nor tab
        self.next_column = 0
        self.indent = 0  # columns between the cursor and it
        self.blank = False

    @property
    def indented(self) -> bool:
        return self.indent >= TAB_COLUMNS

    def look(self) -> None:
        """Find the next character that is neither blank nor tab."""
        if self.position <= self.next:
            # Only blanks have been taken since the last look: it still sees the same character.
            self.indent = self.next_column - self.column
            return
        text = self.text
        position, column = self.position, self.column
        while text.startswith(_BLANKS, position):
            column += 1 if text[position] == " " else TAB_COLUMNS - column % TAB_COLUMNS
            position += 1
        self.blank = position >= len(text) or text[position] == "\n"
        self.next = position
        self.next_column = column
        self.indent = column - self.column

    def skip_blanks(self) -> None:
        self.position = self.next
        self.column = self.next_column
        self.partial_tab = False

    def advance(self, count: int, *, columns: bool) -> None:
        """Take ``count`` characters, or columns, of which a tab has several."""
        text = self.text
        while count > 0 and self.position < len(text):
            if text[self.position] != "\t":
                self.partial_tab = False
                self.position += 1
                self.column += 1
                count -= 1
                continue
            to_stop = TAB_COLUMNS - self.column % TAB_COLUMNS
            if not columns:
                self.partial_tab = False
                self.column += to_stop
                self.position += 1
                count -= 1
                continue
            self.partial_tab = to_stop > count
            step = min(count, to_stop)
            if not self.partial_tab:
                self.position += 1
            self.column += step
            count -= step

    def peek(self, position: int | None = None) -> str:
        """The character at ``position`` (default: the cursor), or ``""`` behind the end."""
        at = self.position if position is None else position
        return self.text[at : at + 1]

    def rest(self) -> str:
        """What follows the cursor, a half-taken tab as the blanks that remain of it."""
        return self.left_of_tab() + self.text[self.position + self.partial_tab :]

    def left_of_tab(self) -> str:
        """The blanks that remain of a half-taken tab."""
        return " " * (TAB_COLUMNS - self.column % TAB_COLUMNS) if self.partial_tab else ""
