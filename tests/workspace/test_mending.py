"""What the kernel puts right when it reads a damaged or outdated file, node by node, as recorded."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from kernel.workspace import sy
from kernel.workspace.tree import Node

_ROOT = "20240101000000-baddocd"
_A, _B = "20240101000001-aaaaaaa", "20240101000002-bbbbbbb"


def _read(*blocks: dict[str, Any], **members: Any) -> Node:
    properties = {"id": _ROOT, "title": "Bad", "type": "doc"}
    document = {"ID": _ROOT, "Spec": "2", "Type": "NodeDocument", "Properties": properties, "Children": list(blocks)}
    numbers = itertools.count(1)
    return sy.decode(json.dumps(document | members).encode(), new_id=lambda: f"20240102000000-{next(numbers):07d}")


def _block(type_: str, **members: Any) -> dict[str, Any]:
    return {"ID": _A, "Type": type_, "Properties": {"id": _A}, **members}


def test_a_heading_has_six_levels() -> None:
    assert _read(_block("NodeHeading", HeadingLevel=9)).children[0].fields["HeadingLevel"] == 6


def test_a_frame_is_taken_out_of_what_the_editor_draws_around_it() -> None:
    drawn = '<div class="iframe-content"><iframe src="x"></iframe>z</div>'
    assert _read(_block("NodeIFrame", Data=drawn)).children[0].data == '<iframe src="x"></iframe>'
    assert _read(_block("NodeIFrame", Data="<b>iframe-content")).children[0].data == "<b>iframe-content"


def test_a_widget_is_addressed_within_the_kernel() -> None:
    widget = _block("NodeWidget", Data='<iframe src="http://127.0.0.1:6806/widgets/x"></iframe>')
    assert _read(widget).children[0].data == '<iframe src="/widgets/x"></iframe>'


@pytest.mark.parametrize(("stored", "read"), [("assets/a.png ", "assets/a.png"), ("http://x ", "http://x ")])
def test_the_target_of_an_asset_ends_without_a_blank(stored: str, read: str) -> None:
    image = {"Type": "NodeImage", "Children": [{"Type": "NodeLinkDest", "Data": stored}]}
    assert _read(_block("NodeParagraph", Children=[image])).children[0].children[0].children[0].data == read


def test_a_line_break_at_the_end_of_a_block_goes() -> None:
    texts = [{"Type": "NodeText", "Data": "x"}, {"Type": "NodeBr", "Data": "br"}]
    assert [one.type for one in _read(_block("NodeParagraph", Children=texts)).children[0].children] == ["NodeText"]


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("a\nb", "a_esc_newline_b"),
        ('<b>"q"', "&lt;b&gt;&quot;q&quot;"),
        ("a & b", "a &amp; b"),
        ("a &amp; b", "a &amp; b"),
        ("{x}", "&#123;x&#125;"),
        ("plain", "plain"),
    ],
)
def test_values_of_attributes_are_escaped(stored: str, read: str) -> None:
    block = _block("NodeParagraph", Properties={"id": _A, "memo": stored})
    assert _read(block).children[0].properties["memo"] == read
    root = _read(block, Properties={"id": _ROOT, "title": stored, "type": "doc"})
    assert root.properties["title"] == read


def test_zero_characters_go() -> None:
    assert (
        _read(_block("NodeParagraph", Children=[{"Type": "NodeText", "Data": "a\0b"}])).children[0].children[0].data
        == "ab"
    )


@pytest.mark.parametrize("is_task", [True, False])
def test_a_list_whose_first_item_is_a_task_is_a_list_of_tasks(is_task: bool) -> None:
    typ = {"Typ": 3} if is_task else {}
    item = {"ID": _B, "Type": "NodeListItem", "ListData": typ, "Children": [{"Type": "NodeTaskListItemMarker"}]}
    assert _read(_block("NodeList", ListData={}, Children=[item])).children[0].fields["ListData"] == typ


def test_an_older_specification_is_raised_and_none_stays_none() -> None:
    assert _read(_block("NodeParagraph"), Spec="1").fields["Spec"] == "2"
    assert not _read(_block("NodeParagraph"), Spec="").fields.get("Spec")


def test_a_sound_file_is_left_alone() -> None:
    root = _read(_block("NodeParagraph", Children=[{"Type": "NodeText", "Data": "x"}]))
    assert not sy.repair(root, lambda: "")
