"""[core] GFM tables in the kernel's reading (section 7): a paragraph's lines become rows, or stay a paragraph."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kernel.workspace.markdown.characters import ASCII_BLANKS, is_escaped
from kernel.workspace.markdown.draft import Draft
from kernel.workspace.markdown.ial import read_leading_list

ALIGN_NONE: Final = 0
ALIGN_LEFT: Final = 1
ALIGN_CENTER: Final = 2
ALIGN_RIGHT: Final = 3

_DELIMITER_ROW: Final = re.compile(r"[|\-: ]+\Z")
_STRUCTURAL: Final = ("span", "fn__none", "width:")  # only such lists belong to the cell; others are its text


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table and the text that stood before it (``""``: none)."""

    before: str
    aligns: list[int]
    head: list[Draft]
    body: list[Draft]


def read_table(text: str) -> Table | None:
    """The table in a paragraph's ``text``, or None."""
    if "|" not in text or ("-" not in text and ":" not in text):
        return None
    lines = text.split("\n")
    before = [line for line in lines if "|" not in line]
    # As many lines are taken off the front as have no bar anywhere: one below the table destroys it.
    lines = lines[len(before) :]
    if len(lines) < 2:
        return None
    at, aligns = next(((index, read) for index, line in enumerate(lines) if (read := read_aligns(line))), (0, []))
    if at < 1:
        return None
    head = [_row(line, aligns, head=True) for line in lines[:at]]
    body = [_row(line, aligns, head=False) for line in lines[at + 1 :]]
    if any(row is None for row in (*head, *body)):
        return None
    return Table("\n".join(before), aligns, [row for row in head if row], [row for row in body if row])


def read_aligns(line: str) -> list[int] | None:
    """The alignments that a delimiter row gives its columns; None when it is no such row."""
    if not _DELIMITER_ROW.match(line):
        return None
    aligns = []
    for cell in _cells(line):
        align = _align(cell.strip(ASCII_BLANKS))
        if align is None:
            return None
        aligns.append(align)
    return aligns or None


def _align(cell: str) -> int | None:
    if not cell or any(character != "-" for character in cell[1:-1]):
        return None
    left, right = cell[0] == ":", cell[-1] == ":"
    if left:
        return ALIGN_CENTER if right else ALIGN_LEFT
    return ALIGN_RIGHT if right else ALIGN_NONE


def _row(line: str, aligns: list[int], *, head: bool) -> Draft | None:
    line = _protect_bars(line.strip(ASCII_BLANKS))
    parts = _cells(line)
    if not line or (head and len(parts) > len(aligns)):
        return None
    row = Draft("NodeTableRow")
    for index, align in enumerate(aligns):
        cell = row.append(Draft("NodeTableCell"))
        cell.fields["TableCellAlign"] = align
        if index < len(parts):
            cell.text = parts[index].strip(ASCII_BLANKS).replace("&#124;", "|")
            _take_structure(cell)
    return row


def _take_structure(cell: Draft) -> None:
    """A list of attributes at a cell's start belongs to the cell when it says how cells are merged."""
    assert cell.text is not None
    attributes, end = read_leading_list(cell.text)
    if attributes and any(word in cell.text[:end] for word in _STRUCTURAL):
        cell.attributes = attributes
        cell.fields["AttributeText"] = cell.text[:end]
        cell.text = cell.text[end:]


def _cells(line: str) -> list[str]:
    """The parts between unescaped bars, without an empty one at either end."""
    parts = split_unescaped(line, "|")
    if parts and not parts[0].strip(" "):
        del parts[0]
    if parts and not parts[-1].strip(" "):
        del parts[-1]
    return parts


def split_unescaped(text: str, separator: str) -> list[str]:
    """Split at each ``separator`` that has no backslash before it; an empty last part is left out."""
    if "\\" not in text:
        parts = text.split(separator)
    else:
        parts, start = [], 0
        for index, character in enumerate(text):
            if character == separator and not is_escaped(text, index):
                parts.append(text[start:index])
                start = index + 1
        parts.append(text[start:])
    if parts and not parts[-1]:
        parts.pop()
    return parts


def _protect_bars(line: str) -> str:
    """Escaped bars inside code or math keep their backslash through the split."""
    at = line.find("\\|")
    if at > 0 and (_is_inside(line, at, "$") or _is_inside(line, at, "`")):
        return line.replace("\\|", "\\&#124;")
    return line


def _is_inside(line: str, position: int, marker: str) -> bool:
    return line.count(marker, 0, position) % 2 == 1 and marker in line[position + 1 :]
