"""[core] Tables as text: with bars, or as HTML where cells are merged (section 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from kernel.workspace.markdown.ial import unescape_value
from kernel.workspace.nodes import INLINE_TYPES
from kernel.workspace.render.dom import inline_children
from kernel.workspace.render.dom_inline import attributes_text
from kernel.workspace.render.kramdown_inline import md_inline, textmark_inline
from kernel.workspace.tree import Node

ALIGN_LEFT: Final = 1
ALIGN_CENTER: Final = 2
ALIGN_RIGHT: Final = 3
_HIDDEN_CELL: Final = "fn__none"
_ALIGNS: Final = ("", "left", "center", "right")
_CELL_ATTRIBUTES: Final = frozenset({"colspan", "rowspan", "style"})
_WITH_INNER: Final = frozenset({"NodeBackslash", "NodeImage", "NodeEmoji"})
_NARROW_MAX: Final = 0x7E  # code points up to here are one column wide, others two

CellText = Callable[[Node], str]


def markdown_table(node: Node, mode: Literal["md", "textmark"], *, cell_text: CellText | None = None) -> str:
    """The table with bars; ``cell_text`` writes a cell, by default as ``mode`` has it."""
    rows = table_rows(node)
    head = next((child for child in node.children if child.type == "NodeTableHead"), None)
    if not rows or head is None:
        return ""
    write = cell_text or (_md_cell if mode == "md" else _textmark_cell)
    head_rows = len(head.children)
    widths = column_widths([rows[0], *rows[head_rows:]])
    lines = []
    for index, row in enumerate(rows):
        lines.append("".join(f"|{write(cell)}" for cell in row) + "|")
        if index == head_rows - 1:
            lines.append("".join(_delimiter(cell, widths[at]) for at, cell in enumerate(rows[0])) + "|")
    # The text of a caption, which pasted tables have, stands before everything.
    caption = "".join(child.data for child in node.children if child.type == "NodeText")
    return caption + "\n".join(lines) + "\n"


def table_rows(node: Node) -> list[list[Node]]:
    """The cells of all rows, the head's first."""
    head = [row for child in node.children if child.type == "NodeTableHead" for row in child.children]
    body = [child for child in node.children if child.type == "NodeTableRow"]
    return [[cell for cell in row.children if cell.type == "NodeTableCell"] for row in (*head, *body)]


def column_widths(rows: list[list[Node]]) -> list[int]:
    """The width of each column: the kernel counts every ``Data`` below a cell and the cell's own tag.

    Of several rows in the head only the first counts; a row that is too short ends the count of its missing columns.
    """
    widths = [0] * len(rows[0])
    for at in range(len(widths)):
        for row in rows:
            if at >= len(row):
                break
            widths[at] = max(widths[at], sum(display_width(node.data) for node in row[at].walk()))
    return widths


def display_width(text: str) -> int:
    return sum(1 if ord(character) < _NARROW_MAX + 1 else 2 for character in text)


def _delimiter(cell: Node, width: int) -> str:
    align = cell.fields.get("TableCellAlign", 0)
    if align == ALIGN_CENTER:
        return "| :-" + "-" * (width - 3) + ": "
    if align == ALIGN_RIGHT:
        return "| -" + "-" * (width - 2) + ": "
    return "| :-" + "-" * (width - 2) if align == ALIGN_LEFT else "| -" + "-" * (width - 1)


def _md_cell(cell: Node) -> str:
    return md_inline(inline_children(cell), in_cell=True)


def _textmark_cell(cell: Node) -> str:
    # A cell of a database may hold a link that is no mark.
    return textmark_inline([one for one in cell.children if one.type in (*INLINE_TYPES, "NodeLink")], in_cell=True)


def _without_inner(cell: Node) -> Node:
    """The cell as an HTML table shows it: nothing that stands inside images, emoji and backslashes."""
    if not any(child.type in _WITH_INNER for child in cell.children):
        return cell
    shown = cell.clone()
    shown.children = [child for child in shown.children if child.type not in ("NodeImage", "NodeEmoji")]
    for child in shown.children:
        if child.type == "NodeBackslash":
            child.children = []
    return shown


def is_merged(node: Node) -> bool:
    """Whether some cell of the table spans others, or the table has a caption."""
    if node.properties.get("caption"):
        return True
    spans = (
        cell.properties.get(name, "1") for row in table_rows(node) for cell in row for name in ("colspan", "rowspan")
    )
    return any(span != "1" for span in spans)


def html_table(node: Node, *, cell_text: CellText = _md_cell) -> str:
    """The table as HTML, hidden cells left out."""
    skipped = {"id", "caption", "updated", "colgroup"}
    own = [(name, unescape_value(value)) for name, value in node.properties.items() if name not in skipped]
    parts = [f"<table{attributes_text(own)}>\n"]
    if caption := unescape_value(node.properties.get("caption", "")).replace('contenteditable="false" ', ""):
        parts.append(caption + "\n")
    styles = node.properties.get("colgroup", "").split("|")
    columns = "".join(f'<col style="{style}" />' if style else "<col />" for style in styles)
    parts.append(f"<colgroup>{columns}</colgroup>")
    head = [row for child in node.children if child.type == "NodeTableHead" for row in child.children]
    parts.append("<thead>" + "".join(_html_row(row, "th", cell_text) for row in head) + "</thead>")
    parts.append("<tbody>\n")
    body = [child for child in node.children if child.type == "NodeTableRow"]
    parts += [_html_row(row, "td", cell_text) for row in body]
    parts.append("</tbody>\n" if body else "")
    parts.append("</table>\n")
    return "".join(parts)


def _html_row(row: Node, tag: str, cell_text: CellText) -> str:
    parts = ["<tr>\n"]
    for cell in row.children:
        if cell.type != "NodeTableCell" or _HIDDEN_CELL in cell.properties.get("class", ""):
            continue
        align = _ALIGNS[cell.fields.get("TableCellAlign", 0)]
        attributes = [("align", align)] if align else []
        attributes += [item for item in cell.properties.items() if item[0] in _CELL_ATTRIBUTES]
        parts.append(f"<{tag}{attributes_text(attributes)}>{cell_text(_without_inner(cell))}</{tag}>\n")
    parts.append("</tr>\n")
    return "".join(parts)
