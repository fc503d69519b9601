"""[core] The pieces that an inline text is cut into, and the state of cutting it.

A piece is a text, a delimiter run, a bracket, or something that is already whole. Delimiters and brackets stay texts
unless they are matched; a match hangs the beginnings and ends of spans on its two pieces. Nothing is ever nested while
the text is read, so that no depth of marks can exhaust the stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.markdown.characters import NextOccurrence
from kernel.workspace.markdown.context import ALL_MARKED, Unmarked
from kernel.workspace.markdown.ial import Attributes
from kernel.workspace.markdown.targets import TargetReader
from kernel.workspace.tree import Node

CODE_DEPTH_MAX: Final = 16  # code spans inside the reading of a code span's text


@dataclass(slots=True, eq=False)
class Span:
    """A stretch of text under one mark. ``kind`` is the mark's type, or ``image``; ``source`` the marker as written."""

    kind: str
    source: str = ""
    attributes: Attributes | None = None
    dest: str = ""
    title: str = ""
    space: bool = False  # a link or image with blanks between url and title
    source_list: str = ""  # the attribute list as written
    start: int = 0  # of an open link: where its nodes begin
    has_image: bool = False  # of a link: an image stands directly in it
    first_text: str | None = None  # of a link: the first text directly in it


@dataclass(slots=True, eq=False)
class Piece:
    """One piece. ``closes`` end before its text, ``opens`` begin after it (innermost first, both)."""

    kind: str  # text, entity, break, backslash, code, math, ref, node
    text: str = ""
    closes: list[Span] = field(default_factory=list)
    opens: list[Span] = field(default_factory=list)
    node: Node | None = None
    source: str = ""  # of an entity: as written
    attribute_list: str = ""  # of a node: what follows it as its attribute list
    span: Span | None = None  # of code, math and refs: the span that is just this piece


@dataclass(slots=True, eq=False)
class Delimiter:
    """A run of one character on the stack; ``count`` of its characters are still unmatched."""

    character: str
    piece: Piece
    index: int  # of the piece among the pieces
    count: int
    length: int
    can_open: bool
    can_close: bool
    previous: Delimiter | None = None
    next: Delimiter | None = None


class DelimiterStack:
    """The delimiters seen so far, doubly linked so that matched and hopeless ones leave in constant time."""

    def __init__(self) -> None:
        self.top: Delimiter | None = None

    def push(self, delimiter: Delimiter) -> None:
        delimiter.previous = self.top
        if self.top is not None:
            self.top.next = delimiter
        self.top = delimiter

    def remove(self, delimiter: Delimiter) -> None:
        if delimiter.previous is not None:
            delimiter.previous.next = delimiter.next
        if delimiter.next is None:
            self.top = delimiter.previous
        else:
            delimiter.next.previous = delimiter.previous


@dataclass(slots=True, eq=False)
class Bracket:
    """An open ``[`` or ``![`` that may become a link or an image."""

    piece: Piece
    index: int  # of the piece among the pieces
    bottom: Delimiter | None  # the top of the delimiter stack when it was met
    is_image: bool
    active: bool = True


class Scanner:
    """The state of cutting one text."""

    def __init__(self, text: str, *, in_cell: bool, depth: int = 0, unmarked: Unmarked = ALL_MARKED) -> None:
        self.text = text
        self.unmarked = unmarked
        self.position = 0
        self.in_cell = in_cell
        self.depth = depth
        self.pieces: list[Piece] = []
        self.delimiters = DelimiterStack()
        self.brackets: list[Bracket] = []
        self.targets: TargetReader | None = None  # made when the first link is met
        self.closing_dollar = -1  # where the next dollar without a backslash stands, as far as it is known
        self.code_runs: dict[int, list[int]] | None = None
        self._next: dict[str, NextOccurrence] = {}

    def add_text(self, text: str) -> Piece:
        piece = Piece("text", text)
        self.pieces.append(piece)
        return piece

    def find(self, needle: str, position: int) -> int:
        """``text.find`` for positions that only grow, in linear time altogether."""
        if needle not in self._next:
            self._next[needle] = NextOccurrence(self.text, needle)
        return self._next[needle].at(position)
