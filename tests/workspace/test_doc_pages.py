"""Which blocks of a document are shown: from where, in which direction, how many, and none that a fold hides."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.doc_pages import (
    MODE_BOTH,
    MODE_DOWN,
    MODE_END,
    MODE_ONLY,
    MODE_UP,
    Page,
    PageRequest,
    count_blocks,
    is_expanded,
    page_of,
    shown_copy,
)
from kernel.workspace.tree import Node

ROOT = "root"


def block(name: str, kind: str = "NodeParagraph", *children: Node, **properties: str) -> Node:
    return Node(
        kind,
        id=name,
        properties={key.replace("_", "-"): value for key, value in properties.items()},
        children=list(children),
    )


def heading(name: str, level: int, *children: Node, **properties: str) -> Node:
    node = block(name, "NodeHeading", *children, **properties)
    node.fields["HeadingLevel"] = level
    return node


def tree(outline: str) -> Node:
    """A document of paragraphs and headings: ``p1 a:1 b:2+`` (level after the colon, + for folded)."""
    root = block(ROOT, "NodeDocument")
    for word in outline.split():
        name, _, level = word.partition(":")
        fold = {"fold": "1"} if level.endswith("+") else {}
        root.append(heading(name, int(level.rstrip("+")), **fold) if level else block(name))
    return root


def page(root: Node, block_id: str, mode: int = MODE_ONLY, *, dynamic: int = 48, **request: Any) -> Page:
    return page_of(root, PageRequest(block_id, mode=mode, **request), dynamic)


def names(shown: Page) -> str:
    return " ".join(node.id for node in shown.nodes)


PLAIN = "p1 p2 h3:1 p4 h5:2 p6 h7:1 p8"
FOLDED = "p1 p2 h3:1+ p4 h5:2 p6 h7:1+ p8"
NESTED = "h1:1+ h2:2 h3:3+ p4 h5:3 p6"


@pytest.mark.parametrize(
    ("outline", "block_id", "mode", "request_", "shown", "is_end", "first_index"),
    [
        (PLAIN, ROOT, MODE_ONLY, {"size": 2}, "p1 p2 h3 p4", False, 0),
        (PLAIN, ROOT, MODE_ONLY, {"size": 9}, "p1 p2 h3 p4 h5 p6 h7 p8", False, 0),
        (PLAIN, "unknown", MODE_ONLY, {"size": 0}, "p1 p2", False, 0),
        (PLAIN, ROOT, MODE_ONLY, {"size": 9, "index": 5}, "h5 p6 h7 p8", False, 5),
        (PLAIN, ROOT, MODE_ONLY, {"size": 0, "index": 9}, "p8", False, 9),
        (PLAIN, ROOT, MODE_ONLY, {"size": 0, "index": 20}, "p1 p2", False, 20),
        (PLAIN, "p4", MODE_ONLY, {"size": 9}, "p4", False, 0),
        (PLAIN, "p4", MODE_ONLY, {"size": 9, "index": 1}, "p4", False, 1),
        (PLAIN, "h3", MODE_ONLY, {"size": 9}, "h3 p4 h5 p6", False, 0),
        (PLAIN, "h3", MODE_ONLY, {"size": 1}, "h3 p4 h5", False, 0),
        (PLAIN, "p4", MODE_UP, {"size": 1}, "p2 h3", False, 5),
        (PLAIN, "p1", MODE_UP, {"size": 1}, "", True, 2),
        (PLAIN, "p6", MODE_DOWN, {"size": 1}, "h7 p8", False, 7),
        (PLAIN, "p8", MODE_DOWN, {"size": 1}, "", True, 9),
        (PLAIN, "p4", MODE_BOTH, {"size": 4}, "p1 p2 h3 p4 h5 p6 h7", False, 5),
        (PLAIN, "p1", MODE_BOTH, {"size": 4, "index": 5}, "h3 p4 h5 p6 h7", False, 5),
        (PLAIN, "p8", MODE_BOTH, {"size": 2}, "p6 h7 p8", False, 9),
        (PLAIN, "p2", MODE_END, {"size": 2}, "p1 p2", True, 3),
        (PLAIN, ROOT, MODE_END, {"size": 2}, "p6 h7 p8", True, 9),
        (PLAIN, "p2", 9, {"size": 2}, "", False, 3),
        (FOLDED, ROOT, MODE_ONLY, {"size": 9}, "p1 p2 h3 h7", False, 0),
        (FOLDED, "p4", MODE_ONLY, {"size": 9}, "p4", False, 0),
        (FOLDED, "p4", MODE_BOTH, {"size": 4}, "p1 p2 h3 h7", False, 5),
        (FOLDED, "h3", MODE_ONLY, {"size": 9}, "h3", False, 0),
        (FOLDED, "h5", MODE_ONLY, {"size": 9}, "h5 p6", False, 0),
        (FOLDED, "h3", MODE_DOWN, {"size": 9}, "h7", False, 4),
        (FOLDED, "h7", MODE_DOWN, {"size": 9}, "", True, 8),
        (FOLDED, ROOT, MODE_END, {"size": 9}, "p1 p2 h3 h7", True, 9),
        (NESTED, "h2", MODE_ONLY, {"size": 9}, "h2 h3 h5 p6", False, 0),
        (NESTED, "h3", MODE_ONLY, {"size": 9}, "h3", False, 0),
    ],
)
def test_a_page_begins_where_it_is_asked_for(
    outline: str, block_id: str, mode: int, request_: dict[str, int], shown: str, is_end: bool, first_index: int
) -> None:
    found = page(tree(outline), block_id, mode, **request_)
    assert (names(found), found.is_end, found.first_index) == (shown, is_end, first_index)


def test_a_page_says_what_it_is_of() -> None:
    root = tree(PLAIN)
    whole, one = page(root, ROOT), page(root, "p6")
    assert (whole.type, whole.block_count, whole.parent_id, whole.parent2_id) == ("NodeDocument", 8, ROOT, ROOT)
    assert (one.type, one.parent_id, one.parent2_id) == ("NodeParagraph", ROOT, "h5")
    assert (page(root, ROOT, dynamic=8).scrolls, page(root, ROOT, dynamic=7).scrolls) == (True, True)
    assert not page(root, ROOT, dynamic=9).scrolls
    root.append(block("items", "NodeList", block("item", "NodeListItem", block("inner"))))
    item = page(root, "item")
    assert (item.parent_id, item.parent2_id) == ("items", "h7")


@pytest.mark.parametrize(
    ("start", "end", "dynamic", "shown", "is_end", "first_index"),
    [
        ("p2", "p4", 5, "p2 h3 p4", False, 3),
        ("p2", "p8", 2, "p2 h3", False, 3),
        ("h3", "p8", 7, "h3 p4 h5 p6 h7 p8", True, 4),
        ("h7", "unknown", 7, "h7 p8", False, 8),
        ("unknown", "p8", 7, "p1 p2", False, 0),
        ("p2", "", 7, "p1 p2", False, 0),
        ("p2", "p4", 48, "p1 p2", False, 0),
    ],
)
def test_a_long_document_is_shown_from_a_block_to_a_block(
    start: str, end: str, dynamic: int, shown: str, is_end: bool, first_index: int
) -> None:
    found = page(tree(PLAIN), ROOT, dynamic=dynamic, size=0, start_id=start, end_id=end)
    assert (names(found), found.is_end, found.first_index) == (shown, is_end, first_index)


def test_what_is_folded_is_passed_over_between_two_blocks() -> None:
    assert names(page(tree(FOLDED), ROOT, dynamic=5, start_id="p2", end_id="h7")) == "p2 h3 h7"


def test_a_page_that_would_begin_in_a_fold_begins_with_its_heading() -> None:
    root = tree(FOLDED)
    for name in (3, 4, 5):
        root.children[name].properties["heading-fold"] = "1"
    assert names(page(root, ROOT, index=5, size=0)) == "h3 h7"
    root.children[2].properties.pop("fold")
    assert names(page(root, ROOT, index=4, size=0)) == "p4 h5"


def test_the_block_that_was_asked_for_is_shown_though_its_heading_was_folded() -> None:
    root = tree("h1:1 p2 p3")
    root.children[0].properties["heading-fold"] = "1"
    assert names(page(root, "p2", MODE_BOTH, size=9)) == "h1 p2"
    assert names(page(root, ROOT, size=9)) == "h1"


def test_a_backlink_shows_the_section_and_whether_it_is_open() -> None:
    root = tree("p1 h2:1 p3")
    found = page(root, "h2", is_backlink=True)
    assert (names(found), found.is_backlink_expanded) == ("h2 p3", True)


REF = {"TextMarkType": "block-ref", "TextMarkTextContent": "x"}


def said(name: str, *texts: str) -> Node:
    """A paragraph with a reference, and texts beside it."""
    inlines = [Node("NodeTextMark", fields=dict(REF)), *(Node("NodeText", data=text) for text in texts)]
    return block(name, "NodeParagraph", *inlines)


@pytest.mark.parametrize(
    ("node", "original", "is_open"),
    [
        (block("p"), "", True),
        (heading("h", 1, Node("NodeTextMark", fields=dict(REF)), Node("NodeText", data=" ")), "", True),
        (heading("h", 1, Node("NodeText", data="more")), "", False),
        (block("i", "NodeListItem", said("a", "more")), "a", True),
        (block("i", "NodeListItem", Node("NodeTaskListItemMarker"), said("a", "more")), "a", True),
        (block("i", "NodeListItem", said("a", "more"), block("b")), "a", False),
        (block("i", "NodeListItem", said("a"), block("b")), "a", True),
        (block("i", "NodeListItem", said("a", "more"), said("b")), "b", True),
    ],
)
def test_an_item_that_says_more_than_its_references_is_closed(node: Node, original: str, is_open: bool) -> None:
    assert is_expanded(node, {"i": original}) is is_open


def test_containers_are_free_and_a_folded_block_is_one() -> None:
    items = block(
        "l",
        "NodeList",
        block("i", "NodeListItem", block("p"), block("q")),
        block("j", "NodeListItem", block("r"), fold="1"),
    )
    assert count_blocks(items) == 4
    assert count_blocks(block("s", "NodeSuperBlock", Node("NodeSuperBlockOpenMarker"), block("p"))) == 1


def test_copies_are_shown_without_what_a_fold_hides_and_with_their_references() -> None:
    inner = [Node("NodeBlockquoteMarker"), heading("h", 1, fold="1"), block("p"), heading("i", 1), block("q")]
    quote = block("quote", "NodeBlockquote", *inner)
    root = block(ROOT, "NodeDocument", quote)
    (copy,) = shown_copy([quote], ROOT, {"q": 2, "p": 1})
    assert [(node.id, node.properties.get("refcount")) for node in copy.walk()] == [
        ("quote", None),
        ("", None),
        ("h", None),
        ("i", None),
        ("q", "2"),
    ]
    assert root.children == [quote]
    assert len(quote.children) == 5


def test_a_copy_from_a_fold_stays_folded_and_any_other_is_opened() -> None:
    def folded(name: str) -> Node:
        return block(name, fold="1", heading_fold="1")

    root = block(ROOT, "NodeDocument", folded("a"), heading("h", 1, fold="1"), folded("b"))
    shown = shown_copy([root.children[0], root.children[2]], ROOT, {})
    assert ["heading-fold" in node.properties for node in shown] == [False, True]
    assert ["fold" in node.properties for node in shown] == [False, True]


def test_a_page_around_a_block_in_a_container_begins_with_the_container() -> None:
    root = tree("p1")
    root.append(block("quote", "NodeBlockquote", Node("NodeBlockquoteMarker"), block("inner")))
    assert names(page(root, "inner", MODE_BOTH, size=9)) == "p1 quote"
