"""Files that earlier versions of the kernel wrote: what they hold is shown as the recorded kernel shows it, and kept."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from kernel.workspace import sy
from kernel.workspace.render.dom import render_dom
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.render.tables import column_widths, table_rows
from kernel.workspace.tree import Node

_ROOT = "20210101000000-docdocd"


def _id(number: int) -> str:
    return f"20210101000000-{number:07d}"


def _block(type_: str, number: int, *children: Any, **members: Any) -> dict[str, Any]:
    return {"ID": _id(number), "Type": type_, "Properties": {"id": _id(number)}, "Children": list(children), **members}


def _text(data: str) -> dict[str, Any]:
    return {"Type": "NodeText", "Data": data}


def _read(*blocks: dict[str, Any]) -> Node:
    properties = {"id": _ROOT, "title": "Old", "type": "doc"}
    document = {"ID": _ROOT, "Spec": "2", "Type": "NodeDocument", "Properties": properties, "Children": list(blocks)}
    numbers = itertools.count(100)
    return sy.decode(json.dumps(document).encode(), new_id=lambda: _id(next(numbers)))


def test_a_headings_marker_stays_in_the_file_and_is_not_shown() -> None:
    mark = {"Type": "NodeTextMark", "TextMarkType": "code", "TextMarkTextContent": "x"}
    heading = _block("NodeHeading", 1, {"Type": "NodeHeadingC8hMarker", "Data": "## "}, mark, HeadingLevel=2)
    root = _read(heading)
    assert render_kramdown(root.children[0]) == f'## `x`\n{{: id="{_id(1)}"}}'
    # Behind the marker the code needs no place for a cursor before it.
    assert '<div contenteditable="true" spellcheck="false"><span data-type="code">' in render_dom(root.children)
    assert json.loads(sy.encode(root))["Children"][0]["Children"][0] == {"Type": "NodeHeadingC8hMarker", "Data": "## "}


def test_a_soft_break_is_a_line_end() -> None:
    root = _read(_block("NodeParagraph", 1, _text("a"), {"Type": "NodeSoftBreak", "Data": "\n"}, _text("b")))
    assert render_kramdown(root.children[0]) == f'a\nb\n{{: id="{_id(1)}"}}'
    assert ">a\nb</div>" in render_dom(root.children)


def test_between_the_blocks_of_a_tight_item_stands_no_empty_line() -> None:
    tight = {"ListData": {"Tight": True, "BulletChar": 42, "Padding": 2, "Marker": "Kg=="}}
    inner = _block("NodeList", 4, _block("NodeListItem", 5, _block("NodeParagraph", 6, _text("b")), **tight), **tight)
    item = _block("NodeListItem", 2, _block("NodeParagraph", 3, _text("a")), inner, **tight)
    root = _read(_block("NodeList", 1, item, **tight))
    lines = render_kramdown(root.children[0]).split("\n")
    assert [line.partition("}")[2] or line.strip()[:8] for line in lines] == ["a", '{: id="2', "b", *['{: id="2'] * 3]


def test_a_statement_over_several_lines_is_one_line_of_kramdown() -> None:
    script = {"Type": "NodeBlockQueryEmbedScript", "Data": "select *\nfrom blocks\n"}
    root = _read(_block("NodeBlockQueryEmbed", 1, {"Type": "NodeOpenBrace"}, script, {"Type": "NodeCloseBrace"}))
    assert render_kramdown(root.children[0]).startswith("{{select * from blocks }}\n")


@pytest.mark.parametrize("type_", ["NodeEmphasis", "NodeCustomBlock", "NodeInlineMathContent", "NodeSup"])
def test_every_type_that_a_kernel_ever_wrote_is_kept(type_: str) -> None:
    root = _read(_block("NodeParagraph", 1, {"Type": type_, "Data": "x"}))
    assert json.loads(sy.encode(root))["Children"][0]["Children"][0]["Type"] == type_


def test_a_type_that_nobody_knows_becomes_a_paragraph() -> None:
    root = _read({"ID": _id(1), "Type": "NodeOfTomorrow", "Data": "x"})
    assert (root.children[0].type, root.children[0].children[0].data) == ("NodeParagraph", "x")


def test_inline_html_of_old_becomes_a_block() -> None:
    assert _read({"ID": _id(1), "Type": "NodeInlineHTML", "Data": "<b>"}).children[0].type == "NodeHTMLBlock"


def test_childless_containers_go_one_level_at_a_reading() -> None:
    item = {"ID": _id(2), "Type": "NodeListItem", "ListData": {}}
    root = _read(_block("NodeList", 1, item, ListData={}), _block("NodeParagraph", 3, _text("a")))
    assert [(one.type, len(one.children)) for one in root.children] == [("NodeList", 0), ("NodeParagraph", 1)]
    again = sy.decode(sy.encode(root), new_id=lambda: _id(900))
    assert [one.type for one in again.children] == ["NodeParagraph"]


def test_of_two_head_rows_only_the_first_counts_for_the_widths() -> None:
    def row(*texts: str) -> dict[str, Any]:
        cells = [{"Type": "NodeTableCell", "Data": "th", "Children": [_text(text)]} for text in texts]
        return {"Type": "NodeTableRow", "Data": "tr", "Children": cells}

    head = {"Type": "NodeTableHead", "Data": "thead", "Children": [row("a", "b"), row("long text", "longer text")]}
    root = _read(_block("NodeTable", 1, head, row("cc", "d"), TableAligns=[0, 0], ListData={}))
    rows = table_rows(root.children[0])
    assert column_widths([rows[0], *rows[2:]]) == [4, 3]
    assert "| ----| ---|\n" in render_kramdown(root.children[0])


def test_a_row_that_is_too_short_ends_the_count_of_a_column() -> None:
    def cells(*widths: int) -> list[Node]:
        return [Node("NodeTableCell", data="x" * width) for width in widths]

    assert column_widths([cells(2, 2), cells(3), cells(9, 9)]) == [9, 2]
