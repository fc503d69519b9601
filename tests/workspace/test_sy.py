"""The codec gives back the kernel's own bytes, and says clearly what is wrong with a file that it cannot read."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernel.workspace.deep_json import DeepJsonError, loads_deep
from kernel.workspace.nodes import KINDS
from kernel.workspace.sy import SyError, decode, encode, repair
from kernel.workspace.tree import Node

RECORDED = (Path(__file__).parent / "recorded.sy").read_bytes()  # written by a real kernel 3.7.3
ROOT_ID = "20260101000000-aaaaaaa"


def fresh_ids() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"20260102000000-{next(numbers):07d}"


def document(*children: dict[str, Any], **more: Any) -> bytes:
    base: dict[str, Any] = {
        "ID": ROOT_ID,
        "Spec": "2",
        "Type": "NodeDocument",
        "Properties": {"id": ROOT_ID, "type": "doc"},
    }
    return json.dumps({**base, "Children": list(children), **more}).encode()


def paragraph(identity: str, **more: Any) -> dict[str, Any]:
    return {"ID": identity, "Type": "NodeParagraph", "Properties": {"id": identity}, **more}


def test_a_file_of_the_real_kernel_is_written_back_byte_for_byte() -> None:
    assert encode(decode(RECORDED)) == RECORDED


def test_every_node_type_of_the_recorded_file_is_in_the_table() -> None:
    assert {node.type for node in decode(RECORDED).walk()} <= set(KINDS)


@pytest.mark.parametrize("cut", range(0, len(RECORDED) - 1, 97))
def test_a_truncated_file_is_a_clear_error(cut: int) -> None:
    with pytest.raises(SyError):
        decode(RECORDED[:cut])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not a document"),
        (b'{"Type":"NodeParagraph"}', "not a document"),
        (b'{"Type":"NodeDocument"}', "no ID"),
        (document(Spec="3"), "specification 3"),
        (document(Spec="two"), "not a number"),
        (document(Spec=2), "not a number"),
        (document(Children={}), "not a list"),
        (document(Children=["x"]), "not an object"),
        (document({"Type": 5}), "not a string"),
        (document(paragraph("20260101000001-aaaaaaa", Properties={"id": 1})), "are not strings"),
        (document(paragraph("20260101000001-aaaaaaa"), paragraph("20260101000001-aaaaaaa")), "occurs twice"),
    ],
)
def test_a_bad_file_is_named_by_what_is_wrong_with_it(data: bytes, reason: str) -> None:
    with pytest.raises(SyError, match=reason):
        decode(data)


def test_a_thousand_levels_of_quotes_are_read_and_written() -> None:
    root = Node("NodeDocument", id=ROOT_ID, fields={"Spec": "2"}, properties={"id": ROOT_ID, "type": "doc"})
    tip = root
    for number in range(1000):
        quote = Node("NodeBlockquote", id=f"20260101000000-{number:07d}")
        quote.append(Node("NodeBlockquoteMarker", data=">"))
        tip.append(quote)
        tip = quote
    data = encode(root)
    assert encode(decode(data)) == data


def test_a_deep_file_that_is_no_json_is_a_clear_error() -> None:
    with pytest.raises(SyError, match="not JSON"):
        decode(b'{"a":' * 5000)


def test_a_tree_that_runs_in_a_circle_is_refused() -> None:
    root = Node("NodeDocument", id=ROOT_ID)
    quote = Node("NodeBlockquote", id="20260101000001-aaaaaaa")
    root.append(quote)
    quote.children.append(root)
    with pytest.raises(SyError, match="circle"):
        encode(root)


def test_a_node_shared_by_two_parents_is_no_circle() -> None:
    text = Node("NodeText", data="x")
    root = Node("NodeDocument", id=ROOT_ID, children=[Node("NodeParagraph", children=[text])])
    root.children.append(Node("NodeParagraph", children=[text]))
    assert encode(root).count(b'"Data":"x"') == 2


def test_a_field_that_json_cannot_carry_is_refused() -> None:
    root = Node("NodeDocument", id=ROOT_ID, children=[Node("NodeTable", fields={"TableAligns": [object()]})])
    with pytest.raises(SyError, match="TableAligns"):
        encode(root)


def test_reading_as_the_kernel_does_repairs_the_file() -> None:
    quote = {"ID": "20260101000009-aaaaaaa", "Type": "NodeBlockquote", "Children": [{"Type": "NodeBlockquoteMarker"}]}
    code = {"ID": "20260101000008-aaaaaaa", "Type": "NodeCodeBlock"}
    data = document(
        paragraph("20260101000001-aaaaaaa"),
        paragraph("20260101000001-aaaaaaa"),
        {"Type": "NodeParagraph"},
        quote,
        code,
        {"Type": "NodeUnheardOf", "ID": "20260101000002-aaaaaaa", "Data": "kept"},
    )
    root = decode(data, new_id=fresh_ids())
    assert [child.id for child in root.children] == [
        "20260101000001-aaaaaaa",
        "20260102000000-0000000",
        "20260102000000-0000001",
        "20260101000002-aaaaaaa",
    ]
    assert all(child.properties["id"] == child.id for child in root.children)
    assert (root.children[-1].type, root.children[-1].children[0].data) == ("NodeParagraph", "kept")


def test_an_empty_document_gets_a_paragraph_and_a_sound_one_stays_untouched() -> None:
    root = decode(document(Properties={}), new_id=fresh_ids())
    assert [child.type for child in root.children] == ["NodeParagraph"]
    assert root.properties["type"] == "doc"
    assert repair(root, fresh_ids()) is False


def test_what_the_kernel_never_stores_is_left_out() -> None:
    block = Node("NodeParagraph", id="20260101000001-aaaaaaa", properties={"refcount": "1", "av-names": "x", "id": "y"})
    root = Node("NodeDocument", id=ROOT_ID, fields={"Spec": "2"}, children=[block])
    assert b'"Properties":{"id":"y"}' in encode(root)


@pytest.mark.parametrize(
    "text",
    ['{"a":[1,-2.5e3,true,false,null,"x\\n\\u00e9",{},[]],"b":{"c":[[]]}}', "[]", "{}", " 7 ", '"x"', '[{"a":1},{}]'],
)
def test_the_deep_reader_agrees_with_the_ordinary_one(text: str) -> None:
    assert loads_deep(text) == json.loads(text)


@pytest.mark.parametrize(
    "text", ["", "[", "[1", "[1,", "[1 2]", "{1:2}", '{"a"}', '{"a" 1}', '{"a":1', '"a', "[1]]", "nul", "{,}"]
)
def test_the_deep_reader_refuses_what_is_no_json(text: str) -> None:
    with pytest.raises(DeepJsonError):
        loads_deep(text)


def test_no_children_may_be_written_as_null() -> None:
    assert decode(document(Children=None)).children == []
