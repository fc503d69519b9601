"""[core] A table as Markdown, or as HTML when cells span. Source: siyuan-markdown section 7."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Final

from kernel.workspace.tree import Node

_ALIGNMENTS: Final = {1: "left", 2: "center", 3: "right"}
_NOT_SHOWN: Final = frozenset({"id", "caption", "updated", "colgroup"})
_CELL_ATTRIBUTES: Final = ("colspan", "rowspan", "style")


def render_table(table: Node, cell_text: Callable[[Node], str]) -> str:
    """The lines of the table, each ended by a newline; ``cell_text`` prints the inside of a cell."""
    if _needs_html(table):
        return "".join(_html_parts(table, cell_text))
    rows = list(_rows(table))
    if not rows:
        return ""
    widths = _column_widths(rows)
    lines: list[str] = []
    for number, row in enumerate(rows):
        lines.append("".join(f"|{cell_text(cell)}" for cell in row) + "|\n")
        if number == 0:
            lines.append("".join(_delimiter(cell, width) for cell, width in zip(row, widths, strict=True)) + "|\n")
    return "".join(lines)


def _rows(table: Node) -> Iterator[list[Node]]:
    for child in table.children:
        for row in child.children if child.type == "NodeTableHead" else (child,):
            if row.type == "NodeTableRow":
                yield [cell for cell in row.children if cell.type == "NodeTableCell"]


def _column_widths(rows: list[list[Node]]) -> list[int]:
    widths = [0] * len(rows[0])
    for row in rows:
        for column, cell in enumerate(row[: len(widths)]):
            widths[column] = max(widths[column], _data_width(cell))
    return widths


def _data_width(cell: Node) -> int:
    """Columns taken by every ``Data`` below the cell, its own ``th``/``td`` included; text marks have none."""
    return sum(1 if letter < "\x7f" else 2 for node in cell.walk() for letter in node.data)


def _delimiter(cell: Node, width: int) -> str:
    alignment = cell.fields.get("TableCellAlign", 0)
    if alignment == 1:
        return "| :" + "-" * max(width - 1, 1)
    if alignment == 2:
        return "| :" + "-" * max(width - 2, 1) + ": "
    if alignment == 3:
        return "| " + "-" * max(width - 1, 1) + ": "
    return "| " + "-" * max(width, 1)


# --- tables whose cells span ----------------------------------------------------------------------------------
def _needs_html(table: Node) -> bool:
    if table.properties.get("caption"):
        return True
    return any(
        cell.properties.get(name, "1") != "1" for row in _rows(table) for cell in row for name in _CELL_ATTRIBUTES[:2]
    )


def _html_parts(table: Node, cell_text: Callable[[Node], str]) -> Iterator[str]:
    shown = {name: value for name, value in table.properties.items() if name not in _NOT_SHOWN}
    yield _tag("table", shown) + "\n"
    if caption := table.properties.get("caption", ""):
        yield html.unescape(caption).replace('contenteditable="false" ', "") + "\n"
    yield "<colgroup>" + "".join(_tag("col", {"style": style} if style else {}, True) for style in _columns(table))
    yield "</colgroup>"
    body: list[str] = []
    for child in table.children:
        if child.type == "NodeTableHead":
            yield "<thead>" + "".join(_html_row(row, "th", cell_text) for row in child.children) + "</thead>"
        elif child.type == "NodeTableRow":
            body.append(_html_row(child, "td", cell_text))
    yield "<tbody>\n" + "".join(body) + ("</tbody>\n" if body else "")
    yield "</table>"


def _columns(table: Node) -> list[str]:
    """The style of each column."""
    if colgroup := table.properties.get("colgroup", ""):
        return colgroup.split("|")
    first = next(_rows(table), [])
    return [cell.properties.get("style", "") for cell in first]


def _html_row(row: Node, name: str, cell_text: Callable[[Node], str]) -> str:
    cells: list[str] = []
    for cell in row.children:
        if cell.type != "NodeTableCell" or "fn__none" in cell.properties.get("class", ""):
            continue
        attributes: dict[str, str] = {}
        if alignment := _ALIGNMENTS.get(cell.fields.get("TableCellAlign", 0)):
            attributes["align"] = alignment
        attributes |= {key: value for key, value in cell.properties.items() if key in _CELL_ATTRIBUTES}
        cells.append(f"{_tag(name, attributes)}{cell_text(cell)}</{name}>\n")
    return "<tr>\n" + "".join(cells) + "</tr>\n"


def _tag(name: str, attributes: dict[str, str], is_void: bool = False) -> str:
    shown = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{shown}{' /' if is_void else ''}>"
