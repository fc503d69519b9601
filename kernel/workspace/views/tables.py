"""[core] A database as plain text: what the index holds of it, the Markdown table of an export, the rows of a CSV."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from kernel.workspace.render.inlines import escape_markers, escape_pipes
from kernel.workspace.tree import Node
from kernel.workspace.views.database import Database, ViewError, values_in
from kernel.workspace.views.filtering import filter_items
from kernel.workspace.views.format import Json, copied, fields_of, new_field, new_layout
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.rendering import Around, around, render
from kernel.workspace.views.rollups import sources_of
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.sorting import sort_items
from kernel.workspace.views.store import find
from kernel.workspace.views.values import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.workspace.views.rendered import Field, Item, Rendered
    from kernel.workspace.workspace import Workspace

_ALIGNMENTS: Final = {"left": 1, "center": 2, "right": 3}
_PICTURE_STYLE: Final = "max-height: 128px;"


def view_text(workspace: Workspace, database_id: str) -> str:
    """Everything a database says: its name, its views, its keys and their values; "" if there is none."""
    database = find(workspace, database_id) if database_id else None
    if database is None:
        return ""
    moment = around(workspace).moment
    said = [database.data["name"], *(view["name"] for view in database.views())]
    for column in database.columns():
        said.append(column["key"]["name"])
        said += [text_of(value, moment) for value in values_in(column)]
    return " ".join(said).strip()


def as_table(place: Around, database: Database, view: Json) -> Rendered:
    """A view of any layout as a table, filtered and sorted by its rules. Raises Broken."""
    if view["type"] != "table":
        fields = [new_field("table", one["id"], hidden=False) for one in fields_of(view)]
        view = {**copied(view), "type": "table", "table": new_layout("table", place.moment.new_id())}
        view["table"]["columns"] = fields
    shown = render(place, database, view)
    filter_items(place, database, shown, sources_of(place, database))
    sort_items(database, shown, place.moment)
    return shown


# --- CSV -------------------------------------------------------------------------------------------------------------
def csv_rows(place: Around, database: Database, view: Json) -> list[list[str]]:
    """The names of the fields, then the items. Raises Broken."""
    shown = as_table(place, database, view)
    rows = [[str(one.key["name"]) for one in shown.fields]]
    for number, item in enumerate(shown.items, start=1):
        rows.append([_csv_cell(place, value, number) for value in item.values])
    return rows


def _csv_cell(place: Around, value: Json, number: int) -> str:
    if value["type"] == "lineNumber":
        return str(number)
    assets = value["mAsset"] if value["type"] == "mAsset" else None
    if value["type"] == "rollup" and value["rollup"] is not None:
        listed = [one["mAsset"] for one in value["rollup"]["contents"] or () if one["type"] == "mAsset"]
        assets = listed[-1] if listed else None
    said = " ".join(_asset_markdown(asset) for asset in assets or ()).strip()
    return said or text_of(value, place.moment)


def _asset_markdown(asset: Json) -> str:
    if asset["type"] not in ("image", "file"):
        return str(asset["content"])
    return f"{'!' if asset['type'] == 'image' else ''}[{asset['name']}]({asset['content']})"


# --- Markdown --------------------------------------------------------------------------------------------------------
def view_table(workspace: Workspace, node: Node, *, shows_hidden: bool = False) -> Node | None:
    """The table that stands for a database block in exports; None if there is no such database."""
    database = find(workspace, str(node.fields.get("AttributeViewID", "")))
    if database is None:
        return None
    place = around(workspace)
    try:
        shown = as_table(place, database, block_view(workspace, database, node.id))
    except (Broken, ViewError):
        return None
    fields = [(index, one) for index, one in enumerate(shown.fields) if shows_hidden or not one.place["hidden"]]
    numbers = count(1)
    head = Node("NodeTableHead", children=[_row(shown, fields, None, place, numbers)])
    body = [_row(shown, fields, item, place, numbers) for item in shown.items]
    return Node("NodeTable", children=[head, *body])


def _row(
    shown: Rendered, fields: list[tuple[int, Field]], item: Item | None, place: Around, numbers: Iterator[int]
) -> Node:
    row = Node("NodeTableRow")
    for index, one in fields:
        cell = Node("NodeTableCell", fields={"TableCellAlign": _ALIGNMENTS.get(one.place["align"], 0)})
        if item is None:
            cell.append(Node("NodeText", data=_escaped(one.key["name"])))
        else:
            _fill(cell, one, item.values[index], place, numbers)
        row.append(cell)
    return row


def _escaped(text: str) -> str:
    return escape_pipes(escape_markers(text))


def _fill(cell: Node, shown: Field, value: Json, place: Around, numbers: Iterator[int]) -> None:
    """One cell. Line numbers count the cells that show one: two such columns share them, as in the kernel."""
    kind = value["type"]
    match kind:
        case "block" | "text" | "template":
            text = value[kind]["content"] if value[kind] is not None else ""
            _add_lines(cell, shown, escape_pipes(text) if kind == "template" else _escaped(text))
        case "url":
            if value["url"] is not None and value["url"]["content"].strip():
                cell.append(_link(value["url"]["content"], value["url"]["content"]))
        case "mAsset":
            _add_assets(cell, value["mAsset"] or [])
        case "lineNumber":
            cell.append(Node("NodeText", data=str(next(numbers))))
        case "relation" | "rollup":
            contents = (value[kind] or {}).get("contents") or []
            for at, one in enumerate(contents):
                if one["type"] in ("block", "text"):
                    _add_lines(
                        cell, shown, _escaped(one[one["type"]]["content"] if one[one["type"]] is not None else "")
                    )
                else:
                    cell.append(Node("NodeText", data=text_of(one, place.moment)))
                if at < len(contents) - 1:
                    cell.append(Node("NodeText", data=", "))
        case _:
            text = text_of(value, place.moment)
            cell.append(Node("NodeText", data=_escaped(text).replace("\n", " ")))


def _add_lines(cell: Node, shown: Field, text: str) -> None:
    """A text on one line, or with its lines where the field wraps."""
    if not shown.place["wrap"]:
        cell.append(Node("NodeText", data=text.replace("\n", " ")))
        return
    for line in text.split("\n"):
        cell.append(Node("NodeText", data=line))
        cell.append(Node("NodeHardBreak"))


def _link(text: str, target: str) -> Node:
    parts = [
        ("NodeOpenBracket", ""),
        ("NodeLinkText", text),
        ("NodeCloseBracket", ""),
        ("NodeOpenParen", ""),
        ("NodeLinkDest", target),
        ("NodeCloseParen", ""),
    ]
    return Node("NodeLink", children=[Node(kind, data=data) for kind, data in parts])


def _add_assets(cell: Node, assets: list[Json]) -> None:
    for at, asset in enumerate(assets):
        text = asset["name"].strip() or asset["content"]
        if asset["type"] == "image":
            picture = _link(asset["name"], asset["content"])
            picture.type = "NodeImage"
            picture.insert(0, Node("NodeBang"))
            picture.properties["style"] = _PICTURE_STYLE
            cell.append(picture)
        elif asset["type"] == "file" and asset["content"].strip():
            cell.append(_link(text, asset["content"]))
        elif asset["type"] == "file":
            cell.append(Node("NodeText", data=text))
        if at < len(assets) - 1:
            cell.append(Node("NodeText", data=" "))
