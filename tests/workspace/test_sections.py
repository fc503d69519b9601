"""Headings and what stands under them."""

from __future__ import annotations

import pytest

from kernel.workspace.sections import (
    ancestors_with_headings,
    blocks_below,
    clear_fold,
    folded_heading_above,
    heading_above,
    headings_before,
    hidden_by_fold,
    is_folded,
    level_at,
    level_of,
    mark_folded,
    previous_siblings,
    section_of,
    top_level,
    unfold,
)
from kernel.workspace.tree import Node
from tests.workspace.test_doc_pages import ROOT, block, heading, tree

OUTLINE = "p0 a:2 p1 b:3 p2 c:2 p3 d:1"


def ids(nodes: list[Node]) -> str:
    return " ".join(node.id for node in nodes)


def find(root: Node, name: str) -> Node:
    return next(node for node in root.walk() if node.id == name)


@pytest.mark.parametrize(
    ("name", "section"), [("a", "p1 b p2"), ("b", "p2"), ("c", "p3"), ("d", ""), ("p0", "a p1 b p2 c p3 d")]
)
def test_a_section_ends_at_the_next_heading_of_its_level(name: str, section: str) -> None:
    assert ids(section_of(find(tree(OUTLINE), name))) == section


def test_a_section_leaves_markers_out_and_a_heading_alone_has_none() -> None:
    head = heading("h", 1)
    Node("NodeSuperBlock", children=[head, block("p"), Node("NodeSuperBlockCloseMarker")])
    assert ids(section_of(head)) == "p"
    assert section_of(heading("h", 1)) == []


@pytest.mark.parametrize(
    ("name", "above", "before", "at"),
    [
        ("p0", ROOT, "", 0),
        ("p1", "a", "a", 2),
        ("p2", "b", "b a", 3),
        ("c", ROOT, "b a", 2),
        ("b", "a", "a", 3),
        ("d", ROOT, "c b a", 1),
    ],
)
def test_the_nearest_heading_above_is_one_of_a_higher_level(name: str, above: str, before: str, at: int) -> None:
    node = find(tree(OUTLINE), name)
    found = heading_above(node)
    assert found is not None
    assert (found.id, ids(headings_before(node)), level_at(node)) == (above, before, at)


def test_a_node_alone_has_nothing_before_it() -> None:
    alone = block("p")
    assert (headings_before(alone), list(previous_siblings(alone)), heading_above(alone)) == ([], [], None)
    assert (level_of(alone), level_of(heading("h", 3)), top_level(tree("p q")), top_level(tree(OUTLINE))) == (
        0,
        3,
        0,
        1,
    )


@pytest.mark.parametrize(
    ("outline", "name", "found"),
    [
        ("a:1+ b:2+ p", "p", "a"),
        ("a:1 b:2+ p", "p", "b"),
        ("a:1+ b:2 p", "p", "a"),
        ("a:2+ b:1 p", "p", None),
        ("a:2+ b:2", "b", None),
        ("a:1+ b:2", "b", "a"),
        ("p q", "q", None),
    ],
)
def test_the_topmost_folded_heading_hides_a_block(outline: str, name: str, found: str | None) -> None:
    above = folded_heading_above(find(tree(outline), name))
    assert (above.id if above is not None else None) == found


def test_a_block_stands_in_its_containers_and_in_sections_of_headings() -> None:
    inner = [Node("NodeBlockquoteMarker"), heading("h", 3), heading("g", 2), block("p")]
    root = tree("a:1 b:2 c:2")
    root.append(block("quote", "NodeBlockquote", *inner))
    assert ids(ancestors_with_headings(inner[3])) == "g quote c root"
    assert ids(ancestors_with_headings(root)) == ""
    assert ids(ancestors_with_headings(find(root, "c"))) == "root"
    root.children[1].fields["HeadingLevel"] = 1
    assert ids(ancestors_with_headings(inner[3])) == "g quote c b root"


def test_blocks_are_folded_and_opened_with_all_in_them() -> None:
    root = tree("a:1")
    quote = block("q", "NodeBlockquote", Node("NodeBlockquoteMarker"), block("p"))
    root.append(quote)
    assert ids(list(blocks_below([quote]))) == "q p"
    mark_folded([quote])
    assert [(node.id, node.properties) for node in root.walk() if is_folded(node)] == [
        ("q", {"fold": "1", "heading-fold": "1"}),
        ("p", {"fold": "1", "heading-fold": "1"}),
    ]
    head = root.children[0]
    head.properties |= {"fold": "1", "heading-fold": "1"}
    assert unfold(head) == [quote]
    assert not any(map(is_folded, root.walk()))
    mark_folded([quote])
    clear_fold([quote])
    assert quote.properties == quote.children[1].properties == {}


def test_a_fold_hides_up_to_the_next_heading_of_its_level_at_any_depth() -> None:
    root = tree("a:2+ p1 b:3 p2 c:2 p3 d:1+ e:2+ p4 f:1")
    root.append(block("q", "NodeBlockquote", heading("g", 1, fold="1"), block("p5")))
    assert ids([node for node in root.walk() if id(node) in hidden_by_fold(root)]) == "p1 b p2 e p4 p5"
