"""Databases as plain text: Markdown tables, rows of a CSV, and what the index holds."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from kernel.workspace.tree import Node
from kernel.workspace.views.rendering import around
from kernel.workspace.views.store import load
from kernel.workspace.views.tables import csv_rows, view_table, view_text
from tests.workspace.views.world import (
    AV,
    ITEMS,
    OTHER,
    Databases,
    assets,
    chosen,
    filled,
    key_id,
    number,
    relate,
    related,
    roll_up,
    text,
)

GONE = "20200101000000-zzzzzzz"


async def exported(av: Databases) -> list[list[str]]:
    """The cells of the first table of the document's export."""
    shown = await av.kernel.call("export/exportMdContent", id=av.document, yfm=False)
    lines = [line for line in shown["content"].splitlines() if line.startswith("|")]
    return [
        [cell.strip() for cell in line.replace("\\|", "¦")[1:-1].split("|")] for line in lines[: len(lines) // 2 + 2]
    ]


async def column_of(av: Databases, column: str) -> list[str]:
    """One column of the first table of the export, without its head."""
    at = [one["id"] for one in (await av.show())["view"]["columns"]].index(column)
    rows = await exported(av)
    ends = next((index for index, row in enumerate(rows[2:], start=2) if row[-1:] == ["Select"]), len(rows))
    return [row[at] for row in rows[2:ends]]


async def csv_of(av: Databases, column: str) -> list[str]:
    """One column of the CSV, without its head."""
    await av.kernel.call("export/exportAttributeView", id=AV, blockID=av.block)
    packed = av.kernel.workspace.files.read("temp/export/csv/Untitled.db.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        lines = archive.read("Untitled.csv").decode("utf-8-sig").splitlines()
    at = [one["id"] for one in (await av.show())["view"]["columns"]].index(column)
    return [line.split(",")[at] for line in lines[1:]]


@pytest.mark.parametrize(
    ("kind", "value", "markdown", "csv"),
    [
        ("text", text("a|b"), "a¦b", "a|b"),
        ("text", text("a\nb"), "a b", None),
        ("url", text(" ", "url"), "", ""),
        ("checkbox", {"checkbox": {"checked": True}}, "√", "√"),
        ("mSelect", chosen("a", "b"), "a b", "a b"),
        ("mAsset", assets("a.png", kind="image"), "![a.png](assets/a.png)", "![a.png](assets/a.png)"),
        ("mAsset", assets("a.pdf"), "[a.pdf](assets/a.pdf)", "[a.pdf](assets/a.pdf)"),
        ("mAsset", {"mAsset": [{"type": "file", "name": "", "content": "x"}]}, "[x](x)", "[](x)"),
        ("mAsset", {"mAsset": [{"type": "file", "name": "n", "content": ""}]}, "n", "[n]()"),
        ("mAsset", {"mAsset": [{"type": "", "name": "n", "content": "x"}]}, "", "x"),
        ("mAsset", assets("a", "b"), "[a](assets/a) [b](assets/b)", "[a](assets/a) [b](assets/b)"),
    ],
)
async def test_a_cell_is_written_as_its_type_wants(
    av: Databases, kind: str, value: dict[str, Any], markdown: str, csv: str | None
) -> None:
    column = await filled(av, kind, value)
    assert (await column_of(av, column))[0] == markdown
    if csv is not None:
        assert (await csv_of(av, column))[0] == csv


async def test_lines_are_kept_where_the_field_wraps(av: Databases) -> None:
    column = await filled(av, "text", text("a\nb"))
    await av.operate("setAttrViewColWrap", id=column, data=True)
    assert (await column_of(av, column))[0] == "a<br/>b<br/>"


async def test_line_numbers_count_the_rows(av: Databases) -> None:
    column = await filled(av, "lineNumber")
    assert await column_of(av, column) == ["1", "2", "3"]


async def test_relations_and_rollups_are_listed(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.key("rollup")
    await roll_up(av, key_id("number"))
    assert (await column_of(av, key_id("relation")))[0] == "left, right"
    assert (await column_of(av, key_id("rollup")))[0] == "3, 4"


async def test_assets_of_a_rollup_are_those_of_its_last_entry(av: Databases) -> None:
    await av.add("one")
    await av.add("left", "right", database=OTHER)
    await av.key("mAsset", database=OTHER)
    for item, name in zip(ITEMS, ("a.png", "b.png"), strict=False):
        await av.put("mAsset", item, assets(name, kind="image"), database=OTHER)
    await relate(av)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    await av.key("rollup")
    await roll_up(av, key_id("mAsset"))
    assert await csv_of(av, key_id("rollup")) == ["![b.png](assets/b.png)"]


async def test_a_view_of_cards_is_exported_as_a_table_too(av: Databases) -> None:
    column = await filled(av, "number", number(5))
    await av.operate("setAttrViewColHidden", id=column, data=True)
    assert (await exported(av))[0] == ["number", "Primary Key", "Select"]
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    assert (await exported(av))[0] == ["number", "Primary Key", "Select"]
    database = load(av.kernel.workspace, AV)
    assert csv_rows(around(av.kernel.workspace), database, database.views()[0])[0] == [
        "number",
        "Primary Key",
        "Select",
    ]


async def test_what_cannot_be_shown_is_no_table(av: Databases) -> None:
    workspace = av.kernel.workspace
    await av.add("one")

    def block(database: str) -> Node:
        return Node("NodeAttributeView", id=av.block, fields={"AttributeViewID": database})

    assert view_table(workspace, block(GONE)) is None
    assert view_table(workspace, block(AV)) is not None
    av.rewrite(lambda data: data["views"][0].update(type="odd"))
    assert view_table(workspace, block(AV)) is not None, "an unknown layout is a table"
    av.rewrite(lambda data: data.update(views=[]))
    assert view_table(workspace, block(AV)) is None
    assert view_text(workspace, "") == view_text(workspace, GONE) == ""
