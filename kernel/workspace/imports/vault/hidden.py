"""[core] The parts of an Obsidian note in which nothing is a link: settings in front, code and HTML.

They are found by the lines and tags themselves, as the kernel does it, and not by parsing: what it takes for code
(a paragraph of a list item behind an empty line) is code here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_TAG_NAME: Final = re.compile(r"</?([A-Za-z0-9-]+)")
# A tag may go on over the end of a line inside quotes only.
_TAG_END: Final = re.compile(r"""(?:[^'">\n\r]|'[^']*'|"[^"]*")*+>""")
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_NOT_LINE_END: Final = re.compile(r"[^\r\n]")
_CODE_INDENT: Final = 4


class Hidden:
    """Which characters of a text are hidden."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks = bytearray(len(text))

    def __contains__(self, index: int) -> bool:
        return self._marks[index] == 1

    def add(self, start: int, end: int) -> None:
        self._marks[start:end] = b"\1" * (end - start)

    def blanked(self) -> str:
        """The text with blanks in the place of all that is hidden; its lines stay."""
        pieces: list[str] = []
        done = 0
        while (start := self._marks.find(1, done)) >= 0:
            end = self._marks.find(0, start)
            end = len(self._text) if end < 0 else end
            pieces += (self._text[done:start], _NOT_LINE_END.sub(" ", self._text[start:end]))
            done = end
        return "".join((*pieces, self._text[done:]))


def hidden_parts(text: str) -> Hidden:
    """Settings, code blocks and HTML of a note."""
    hidden = Hidden(text)
    _hide_front_matter(text, hidden)
    _hide_indented_code(text, hidden)
    _hide_fences(text, hidden)
    _hide_html(text, hidden)
    return hidden


def _lines(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, its line feed included."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield start, end
        start = end


def _hide_front_matter(text: str, hidden: Hidden) -> None:
    if not text.startswith(("---\n", "---\r\n")):
        return
    for start, end in _lines(text, text.index("\n") + 1):
        if text[start:end].strip() == "---":
            hidden.add(0, end)
            return


def _hide_indented_code(text: str, hidden: Hidden) -> None:
    is_after_blank, is_code = True, False
    for start, end in _lines(text):
        line = text[start:end].rstrip("\r\n")
        is_blank = not line.strip()
        blanks = len(line) - len(line.lstrip(" "))
        is_indented = blanks >= _CODE_INDENT or line[blanks : blanks + 1] == "\t"
        if not is_blank:
            is_code = is_indented and (is_code or is_after_blank)
        if is_code:
            hidden.add(start, end)
        is_after_blank = is_blank


def _hide_fences(text: str, hidden: Hidden) -> None:
    fence = ""
    for start, end in _lines(text):
        if start in hidden:
            continue
        found = _FENCE.match(text, start, end)
        run = found[1] if found else ""
        if fence or run:
            hidden.add(start, end)
        if not fence:
            fence = run
        elif run.startswith(fence):
            fence = ""


def _hide_html(text: str, hidden: Hidden) -> None:
    closings = _Closings(text)
    index = text.find("<")
    while index >= 0:
        end = index + 1
        if index not in hidden:
            end = _html_end(text, index, closings) or end
            if end > index + 1:
                hidden.add(index, end)
        index = text.find("<", end)


def _html_end(text: str, start: int, closings: _Closings) -> int:
    """Where a comment, a tag or a whole element ends; 0 where there is none."""
    if text.startswith("<!--", start):
        return (text.find("-->", start + 4) + 3) if text.find("-->", start + 4) >= 0 else len(text)
    end, name = tag_end(text, start), _TAG_NAME.match(text, start)
    if not end or name is None:
        return 0
    if text[start + 1] == "/" or text[end - 2] == "/":
        return end
    closing = closings.after(end, name[1])
    closing_end = tag_end(text, closing) if closing >= 0 else 0
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    is_near = not text[line_start:start].strip() or line_end < 0 or closing_end <= line_end + 1
    return closing_end if closing_end and is_near else end


def tag_end(text: str, start: int) -> int:
    """The place behind the ``>`` of the tag that begins at ``start``; 0 where it is not closed."""
    found = _TAG_END.match(text, start + 1)
    return found.end() if found else 0


class _Closings:
    """The next closing tag of each name: a text is gone through once for each, however many tags it has."""

    def __init__(self, text: str) -> None:
        self._lower = text.translate(_LOWER)
        self._next: dict[str, int] = {}

    def after(self, start: int, name: str) -> int:
        """Where the next closing tag begins; -1 where there is none."""
        name = name.translate(_LOWER)
        known = self._next.get(name, 0)
        if 0 <= known < start:
            known = self._next[name] = self._lower.find(f"</{name}", start)
        return known
