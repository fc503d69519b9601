"""Which blocks a change stamps, and with what."""

from __future__ import annotations

import pytest

from kernel.workspace.stamps import created_stamp, is_stamp, stamp_changed, stamp_created
from tests.workspace.test_doc_pages import block, tree

OLD, NEW = "20240101000000-aaaaaaa", "20260101000000-bbbbbbb"


@pytest.mark.parametrize(
    ("text", "is_one"), [("20240101000000", True), ("2024010100000", False), ("2024010100000x", False)]
)
def test_a_stamp_is_fourteen_digits(text: str, is_one: bool) -> None:
    assert is_stamp(text) is is_one
    assert (created_stamp(OLD), created_stamp("plain")) == ("20240101000000", "plain")


@pytest.mark.parametrize(
    ("updated", "own", "above"),
    [
        ("", "20260101000000", "20260101000000"),
        ("never", "20260101000000", "20260101000000"),
        ("20250101000000", "20250101000000", "20260101000000"),
        ("20270101000000", "20270101000000", "20270101000000"),
    ],
)
def test_a_new_block_is_as_old_as_its_id_and_what_it_stands_in_is_as_new(updated: str, own: str, above: str) -> None:
    root = tree("a:1 p")
    node = block(NEW, "NodeBlockquote", block(OLD), block("no-id"))
    if updated:
        node.properties["updated"] = updated
    root.append(node)
    assert [one.id for one in stamp_created(node)] == [NEW, "a", "root"]
    assert (node.properties["updated"], root.properties["updated"], root.children[0].properties["updated"]) == (
        own,
        above,
        above,
    )
    assert node.children[0].properties["updated"] == "20240101000000"
    assert "updated" not in node.children[1].properties
    assert "updated" not in root.children[1].properties


def test_a_changed_block_is_stamped_with_all_it_stands_in() -> None:
    root = tree("a:1 p b:1")
    assert [one.id for one in stamp_changed(root.children[1], "20280101000000")] == ["p", "a", "root"]
    assert [node.id for node in root.walk() if node.properties.get("updated") == "20280101000000"] == ["root", "a", "p"]
