"""[core] What an Obsidian note holds beside Markdown: links in double brackets, comments, block names, footnotes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.imports.vault.hidden import Hidden, hidden_parts

BLOCK_NAME: Final = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\r\n]+\]")
_MARK: Final = re.compile(r"[\\`%$!\[]")


@dataclass(frozen=True, slots=True)
class WikiLink:
    """``[[target|alias]]``, or with a ``!`` in front an embed."""

    start: int
    end: int
    target: str
    alias: str
    is_embed: bool


@dataclass(slots=True)
class Scan:
    """What was found. ``shown`` is the text with blanks for all in which nothing is a link."""

    links: list[WikiLink] = field(default_factory=list)
    comments: int = 0
    footnotes: int = 0
    names: list[str] = field(default_factory=list)
    repeated: set[str] = field(default_factory=set)
    shown: str = ""


def scanned(text: str) -> Scan:
    """Go through a note's text."""
    scan = Scan()
    hidden = hidden_parts(text)
    _Inlines(text, hidden, scan).read()
    scan.shown = hidden.blanked()
    for found in BLOCK_NAME.finditer(scan.shown):
        if found[1] in scan.names:
            scan.repeated.add(found[1])
        else:
            scan.names.append(found[1])
    scan.footnotes = len(_FOOTNOTE.findall(scan.shown))
    return scan


class _Inlines:
    """Links, and what hides them inside a line: code, comments, formulas, backslashes."""

    def __init__(self, text: str, hidden: Hidden, scan: Scan) -> None:
        self._text = text
        self._hidden = hidden
        self._scan = scan
        # Ends that are not there from some place on are not there later: nothing is searched for twice in vain.
        self._missing: set[str] = set()

    def read(self) -> None:
        found = _MARK.search(self._text)
        while found:
            index = found.start()
            after = index + 1 if index in self._hidden else self._step(index, found[0])
            found = _MARK.search(self._text, after)

    def _step(self, index: int, mark: str) -> int:
        """Where to go on behind the mark at ``index``."""
        if mark == "\\":
            return index + 2
        if mark in "`$":
            run = self._run(index, mark)
            end = self._end(run, index + len(run))
            return self._hide(index, end) if end else index + 1
        if mark == "%":
            return self._comment(index) if self._text.startswith("%%", index) else index + 1
        return self._link(index)

    def _run(self, index: int, mark: str) -> str:
        end = index + 1
        limit = len(self._text) if mark == "`" else index + 2
        while end < limit and self._text[end : end + 1] == mark:
            end += 1
        return self._text[index:end]

    def _end(self, closing: str, start: int) -> int:
        """The place behind the next ``closing``; 0 where there is none."""
        if closing in self._missing:
            return 0
        found = self._text.find(closing, start)
        if found < 0:
            self._missing.add(closing)
            return 0
        return found + len(closing)

    def _hide(self, start: int, end: int) -> int:
        self._hidden.add(start, end)
        return end

    def _comment(self, index: int) -> int:
        end = self._end("%%", index + 2)
        if not end:
            return index + 2
        self._scan.comments += 1
        return self._hide(index, end)

    def _link(self, index: int) -> int:
        is_embed = self._text.startswith("![[", index)
        opening = index + is_embed
        if not self._text.startswith("[[", opening):
            return index + 1
        end = self._end("]]", opening + 2)
        if not end:
            return opening + 1
        target, _, alias = self._text[opening + 2 : end - 2].partition("|")
        self._scan.links.append(WikiLink(index, end, target.strip(), alias.strip(), is_embed))
        return end
