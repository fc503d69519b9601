"""Template columns of databases, in the words of a recording of the real kernel."""

from __future__ import annotations

from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

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
