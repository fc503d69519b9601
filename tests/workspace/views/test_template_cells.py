"""Template columns of databases, in the words of a recording of the real kernel."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.moments import unix_ms
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.views.world import ITEMS, Databases, cell, filled, key_id, related, roll_up, said

AV = "20240101000000-avavava"
KINDS = {"Num": "number", "Txt": "text", "Sel": "mSelect", "When": "date", "Tpl": "template", "Second": "template"}
KEYS = {name: f"2024010100000{at}-keykey{at}" for at, name in enumerate(KINDS)}


@pytest.fixture
async def base(kernel: MemoryKernel) -> MemoryKernel:
    """A database with a full and an empty row."""
    view = (await kernel.call("av/renderAttributeView", id=AV))["view"]
    for name, kind in KINDS.items():
        arguments = {"keyID": KEYS[name], "keyName": name, "keyType": kind, "keyIcon": "", "previousKeyID": ""}
        await kernel.call("av/addAttributeViewKey", avID=AV, **arguments)
    primary = view["columns"][0]["id"]
    full = [
        {"keyID": primary, "block": {"content": "one"}},
        {"keyID": KEYS["Num"], "number": {"content": 4, "isNotEmpty": True}},
        {"keyID": KEYS["Txt"], "text": {"content": "hello"}},
        {"keyID": KEYS["Sel"], "mSelect": [{"content": "x", "color": "1"}, {"content": "y", "color": "2"}]},
        {"keyID": KEYS["When"], "date": {"content": 1700000000000, "isNotEmpty": True}},
    ]
    rows = [full, [{"keyID": primary, "block": {"content": "two"}}]]
    await kernel.call("av/appendAttributeViewDetachedBlocksWithValues", avID=AV, blocksValues=rows)
    return kernel


async def _shown(kernel: MemoryKernel, **templates: str) -> list[str]:
    """What the cells of the last template say, row by row."""
    operations: list[dict[str, Any]] = [
        {"action": "updateAttrViewColTemplate", "type": "template", "avID": AV, "id": KEYS[name], "data": source}
        for name, source in templates.items()
    ]
    transactions = [{"doOperations": operations, "undoOperations": []}]
    await kernel.call("transactions", transactions=transactions, session="s", app="a", reqId=1)
    view = (await kernel.call("av/renderAttributeView", id=AV))["view"]
    at = [column["id"] for column in view["columns"]].index(KEYS[list(templates)[-1]])
    return [row["cells"][at]["value"]["template"]["content"] for row in view["rows"]]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("no action", ["no action", "no action"]),
        (".action{.Txt}-.action{.Num}", ["hello-4", "-&lt;no value&gt;"]),
        (".action{.Sel_str}: .action{range .Sel}[.action{.}].action{end}", ["x y: [x][y]", ": "]),
        ('.action{.When | date "2006-01-02"}', ["2023-11-14", "{day}"]),
        (f'.action{{index .id_mod "{KEYS["Txt"]}"}}', ["hello", ""]),
        (".action{.nope}", ["", ""]),
        ("<b>.action{.Txt}</b><br>", ["<b>hello</b><br>", "<b></b><br>"]),
        ("<b>.action{.Txt}", ["&lt;b&gt;hello", "&lt;b&gt;"]),
        (".action{bad", ["", ""]),
        ('.action{.entryCreated | date "2006"} .action{.created | date "2006"}', ["{year} {year}", "{year} {year}"]),
    ],
)
async def test_a_template_makes_a_cell_of_the_others(base: MemoryKernel, source: str, wanted: list[str]) -> None:
    now = base.clock.local()
    assert await _shown(base, Tpl=source) == [text.format(year=f"{now:%Y}", day=f"{now:%Y-%m-%d}") for text in wanted]


async def test_a_template_may_name_another_wherever_that_stands(base: MemoryKernel) -> None:
    assert await _shown(base, Second=".action{.Txt}!", Tpl=".action{upper .Second}") == ["HELLO!", "!"]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("</b>", "&lt;/b&gt;"),
        ("<b></i></b>", "&lt;b&gt;&lt;/i&gt;&lt;/b&gt;"),
        ("<!-- x", "&lt;!-- x"),
        ("<!-- x --><i>y</i>", "<!-- x --><i>y</i>"),
    ],
)
async def test_elements_that_are_not_closed_are_shown_as_text(base: MemoryKernel, source: str, wanted: str) -> None:
    assert await _shown(base, Tpl=source) == [wanted, wanted]


async def test_a_date_with_an_end_has_both(av: Databases) -> None:
    day = av.kernel.clock.local().replace(hour=12)
    span = {
        "content": unix_ms(day),
        "isNotEmpty": True,
        "hasEndDate": True,
        "content2": unix_ms(day),
        "isNotEmpty2": True,
    }
    await filled(av, "date", {"date": span}, items=("one",))
    column = await av.key("template")
    template = '.action{.date | date "2006"}-.action{.date_end | date "2006"}'
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data=template)
    assert said(await cell(av, ITEMS[0], column)) == f"{day:%Y}-{day:%Y}"


async def test_relations_and_rollups_are_lists(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.key("rollup")
    await roll_up(av, key_id("number"))
    column = await av.key("template")
    template = ".action{range .Relation}[.action{.}].action{end}.action{range .rollup}(.action{mulf . 2}).action{end}"
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data=template)
    assert said(await cell(av, ITEMS[0], column)) == "[left][right](6)(8)"


async def test_a_bound_item_is_as_old_as_its_block(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    column = await av.key("template")
    template = '.action{.id} .action{.updated | date "20060102150405"}'
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data=template)
    stamp = (await av.kernel.call("attr/getBlockAttrs", id=av.texts[0]))["updated"]
    assert said(await cell(av, ITEMS[0], column)) == f"{av.texts[0]} {stamp}"
