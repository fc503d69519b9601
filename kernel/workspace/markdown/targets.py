"""[core] What stands in the parentheses of a link or image: destination and title, in the kernel's reading.

Unbalanced parentheses can make a destination reach to the end of its text. To stay linear the parentheses of a text are
paired once, when its first link is met.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kernel.workspace.markdown.characters import ASCII_BLANKS, is_escaped

_BLANK_RUN: Final = re.compile("[ \n\t\x0b\x0c\r]*")
_BEFORE_TITLE: Final = re.compile("[ \n\t\x0b\x0c\r](?=[\"'])")
_PARENTHESIS: Final = re.compile(r"[()]")


@dataclass(frozen=True, slots=True)
class Target:
    """What stands in a link's parentheses, and the index behind them."""

    dest: str
    title: str
    space: bool
    end: int


def skip_blanks(text: str, position: int) -> int | None:
    """The index behind the blanks at ``position``, or None when they hold more than one newline."""
    match = _BLANK_RUN.match(text, position)
    assert match is not None, "the pattern matches the empty string"
    return None if match[0].count("\n") > 1 else match.end()


def read_quoted(text: str, position: int, quotes: str) -> str | None:
    """The text between the quote at ``position`` and its unescaped partner; None without both."""
    opener = text[position : position + 1]
    if not opener or opener not in quotes:
        return None
    closer = ")" if opener == "(" else opener
    end = position + 1
    while True:
        end = text.find(closer, end)
        if end < 0:
            return None
        if not is_escaped(text, end):
            return text[position + 1 : end]
        end += 1


@dataclass(frozen=True, slots=True)
class _Destination:
    dest: str
    end: int  # the index behind it, and behind the parenthesis if that was met
    closed: bool
    pointed: bool


class TargetReader:
    """Reads the targets of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._partner: dict[int, int] | None = None
        self._depth: dict[int, int] = {}  # of a parenthesis: how many are open behind it
        self._titles_from = 0
        self._next_title = -1

    def read(self, position: int) -> Target | None:
        """The target whose ``(`` stands at ``position``."""
        text = self.text
        found = self._pointed(position) if text.startswith("<", position + 1) else self._bare(position)
        if found is None:
            return None
        if found.closed and self._ends_here(found):
            return Target(found.dest, "", False, found.end)
        if found.closed and not found.pointed:
            return None
        if found.end >= len(text) or text[found.end] not in ASCII_BLANKS:
            return None
        start = skip_blanks(text, found.end)
        if start is None or start >= len(text):
            return None
        if text[start] == ")":
            return Target(found.dest, "", True, start + 1)
        title = read_quoted(text, start, "\"'(")
        end = None if title is None else skip_blanks(text, start + len(title) + 2)
        if title is None or end is None or not text.startswith(")", end):
            return None
        return Target(found.dest, title, True, end + 1)

    def _ends_here(self, found: _Destination) -> bool:
        """Whether the link really ends at its parenthesis: a quote there, or a blank after ``<…>)``, speaks against it."""
        following = self.text[found.end : found.end + 2]
        if not found.pointed:
            return not following.startswith('"')
        return len(following) < 2 or (following[0] not in ASCII_BLANKS and following[1] != '"')

    def _pointed(self, position: int) -> _Destination | None:
        """``(<dest>``, with the parenthesis behind it if it follows."""
        text = self.text
        end = position + 2
        while True:
            end = text.find(">", end)
            if end < 0 or end + 1 >= len(text):
                return None
            if not is_escaped(text, end):
                break
            end += 1
        dest = text[position + 2 : end]
        if "\n" in dest:
            return None
        taken = text[end + 1] in ")>"
        return _Destination(dest, end + 2 if taken else end + 1, text[end + 1] == ")", True)

    def _bare(self, position: int) -> _Destination | None:
        """A destination without angle brackets: up to the parenthesis that balances the first, or a blank and a quote."""
        text = self.text
        match = _BLANK_RUN.match(text, position + 1)
        assert match is not None, "the pattern matches the empty string"
        start = match.end()
        partner = self._pairs().get(position, -1)
        title = self._title_after(start)
        if title >= 0 and (partner < 0 or title < partner):
            if text[title] not in " \n" or self._depth_at(title) != self._depth[position]:
                return None
            return _Destination(text[start:title], title, False, False)
        if partner < 0:
            return None
        # A destination that itself begins with a parenthesis loses it.
        return _Destination(text[start:partner].removeprefix("("), partner + 1, True, False)

    def _title_after(self, position: int) -> int:
        """The next blank that a quote follows, or -1."""
        if not (self._titles_from <= position <= self._next_title):
            match = _BEFORE_TITLE.search(self.text, position)
            self._titles_from = position
            self._next_title = match.start() if match else len(self.text)
        return self._next_title if self._next_title < len(self.text) else -1

    def _depth_at(self, position: int) -> int:
        """How many parentheses are open at ``position``: as many as behind the last one before it."""
        before = max(self.text.rfind("(", 0, position), self.text.rfind(")", 0, position))
        while before >= 0 and before not in self._depth:
            before = max(self.text.rfind("(", 0, before), self.text.rfind(")", 0, before))
        return self._depth.get(before, 0)

    def _pairs(self) -> dict[int, int]:
        if self._partner is None:
            self._partner = {}
            opened: list[int] = []
            for match in _PARENTHESIS.finditer(self.text):
                at = match.start()
                if is_escaped(self.text, at):
                    continue
                if match[0] == "(":
                    opened.append(at)
                elif opened:
                    self._partner[opened.pop()] = at
                self._depth[at] = len(opened)
        return self._partner
