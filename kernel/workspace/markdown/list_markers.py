"""[core] Reading the marker of a list item: ``-``, ``*``, ``+``, ``1.``, ``1)``, with its blanks, attributes and task box."""

from __future__ import annotations

import re
from typing import Final

from kernel.workspace.markdown.characters import ASCII_BLANKS, after_bytes
from kernel.workspace.markdown.draft import ListMarker
from kernel.workspace.markdown.ial import Attributes, read_leading_list, write_list
from kernel.workspace.markdown.lines import Line
from kernel.workspace.nodes import LIST_ORDERED, LIST_TASK

_ORDERED: Final = re.compile(r"(\d{1,9})([.)])", re.ASCII)
_BLANKS_MAX: Final = 5  # as many columns after a marker are text that is indented, not the item's own padding


def read_marker(line: Line, *, in_paragraph: bool) -> tuple[ListMarker, Attributes | None] | None:
    """The marker at the cursor of ``line``, taken off it together with its attribute list; None if there is none."""
    head = line.peek(line.next)
    if head in ("-", "*", "+"):
        marker, length = ListMarker(0, bullet=head), 1
    elif (match := _ORDERED.match(line.text, line.next)) and (not in_paragraph or match[1] == "1"):
        marker = ListMarker(LIST_ORDERED, delimiter=match[2], start=int(match[1]))
        length = len(match[0])
    else:
        return None
    following = line.peek(line.next + length)
    if not following or following not in ASCII_BLANKS or (in_paragraph and following == "\n"):
        return None
    marker.offset = line.indent
    blank = _take_padding(line, marker, length)
    attributes: Attributes | None = None
    if not blank:
        rest = line.text[line.position :]
        attributes, end = read_leading_list(rest)
        if is_task_box(rest[end:]):
            marker.typ = LIST_TASK
    return marker, attributes or None


def _take_padding(line: Line, marker: ListMarker, length: int) -> bool:
    """Move the cursor to the item's text and note its distance; whether nothing follows on the line."""
    line.skip_blanks()
    line.advance(length, columns=True)
    column, position = line.column, line.position
    while True:
        line.advance(1, columns=True)
        if line.column - column >= _BLANKS_MAX or line.peek() not in (" ", "\t"):
            break
    blank = line.peek() in ("", "\n")
    blanks = line.column - column
    if blanks >= _BLANKS_MAX or blanks < 1 or blank:
        marker.padding = length + 1
        line.column, line.position, line.partial_tab = column, position, False
        if line.peek() in (" ", "\t"):
            line.advance(1, columns=True)
    else:
        marker.padding = length + blanks
    return blank


def is_task_box(text: str) -> bool:
    """Whether ``text`` begins with a box: one ASCII character, not a bracket, between brackets."""
    return len(text) >= 3 and text[0] == "[" and text[2] == "]" and text[1] not in "[]" and text[1].isascii()


def skip_attributes(line: Line, attributes: Attributes) -> None:
    """Move the cursor behind an item's attribute list.

    The kernel skips as many bytes as the list has when written anew, not as many as stand there: a list with other
    quotes or more blanks leaves a remainder.
    """
    line.position = after_bytes(line.text, line.position, len(write_list(attributes).encode()))
