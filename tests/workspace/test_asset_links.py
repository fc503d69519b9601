"""Which assets a tree shows, and in which block each stands."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.asset_links import assets_at, assets_of, block_of, cell_assets, image_sources, title_image
from kernel.workspace.tree import Node


def mark(types: str, **fields: Any) -> Node:
    return Node("NodeTextMark", fields={"TextMarkType": types, **fields})


def image(target: str) -> Node:
    return Node("NodeImage", children=[Node("NodeBang"), Node("NodeLinkDest", data=target)])


@pytest.mark.parametrize(
    ("node", "paths"),
    [
        (Node("NodeLinkDest", data="assets/a.png"), ["assets/a.png"]),
        (Node("NodeLinkDest", data="https://example.org/assets/a.png"), []),
        (Node("NodeParagraph", properties={"custom-data-assets": "assets/a.bin"}), ["assets/a.bin"]),
        (Node("NodeParagraph", properties={"custom-data-assets": "b.bin", "name": "assets/n"}), []),
        (Node("NodeWidget", properties={"data-assets": "assets/w.js"}), ["assets/w.js"]),
        (Node("NodeWidget"), []),
        (Node("NodeIFrame", data='<iframe src="assets/page.html "></iframe>'), ["assets/page.html"]),
        (Node("NodeVideo", data="<video></video>"), []),
        (mark("a strong", TextMarkAHref="assets/a.zip?p=2"), ["assets/a.zip?p=2"]),
        (
            mark("file-annotation-ref", TextMarkFileAnnotationRefID="assets/a.pdf/20240101000000-abcdefg"),
            ["assets/a.pdf"],
        ),
        (mark("strong", TextMarkAHref="assets/a.zip"), []),
        (Node("NodeText", data="assets/a.png"), []),
    ],
)
def test_a_node_shows_the_assets_of_its_kind(node: Node, paths: list[str]) -> None:
    assert list(assets_at(node)) == paths


def test_a_database_shows_what_its_cells_hold() -> None:
    held = {"20240101000000-dbdbdbd": ["assets/a.png ", "https://example.org"]}
    node = Node("NodeAttributeView", fields={"AttributeViewID": "20240101000000-dbdbdbd"})
    assert list(assets_at(node, lambda one: held[one])) == ["assets/a.png"]
    assert list(assets_at(node)) == []


def test_a_tree_tells_each_asset_once_and_a_folder_of_rich_text_as_a_folder() -> None:
    root = Node("NodeDocument", children=[image("assets/b.png"), image("assets/a.rtfd"), image("assets/b.png")])
    assert assets_of(root) == ["assets/b.png", "assets/a.rtfd/"]
    assert image_sources(root) == ["assets/b.png", "assets/a.rtfd", "assets/b.png"]
    assert image_sources(Node("NodeDocument", children=[image(""), Node("NodeImage")])) == []


@pytest.mark.parametrize(
    ("style", "path"),
    [
        ("background-image:url(assets/a.png)", "assets/a.png"),
        ("background-image: url(&quot;assets/a b.png&quot;); color: red", "assets/a b.png"),
        ("background-image: url('assets/(a).png')", "assets/(a).png"),
        ("background-image: url(assets/a.png", ""),
        ("linear-gradient(45deg, red, blue)", ""),
        ("", ""),
    ],
)
def test_the_title_image_is_the_picture_in_its_style(style: str, path: str) -> None:
    assert title_image(Node("NodeDocument", properties={"title-img": style})) == path


def test_an_inline_stands_in_the_nearest_block_that_has_an_id() -> None:
    nameless = Node("NodeParagraph", children=[Node("NodeText", data="a")])
    Node("NodeBlockquote", id="20240101000000-aaaaaaa", children=[nameless])
    assert block_of(nameless.children[0]) == "20240101000000-aaaaaaa"
    assert block_of(Node("NodeText", data="alone")) == ""


@pytest.mark.parametrize(
    ("database", "found"),
    [
        (None, []),
        ({}, []),
        ({"keyValues": [{"key": {"type": "text"}, "values": [{"text": {"content": "assets/x"}}]}]}, []),
        ({"keyValues": [{"key": {"type": "mAsset"}, "values": None}, {"values": [{}]}]}, []),
        (
            {"keyValues": [{"key": {"type": "mAsset"}, "values": [{"mAsset": [{"content": "assets/a"}, {}]}, {}]}]},
            ["assets/a", ""],
        ),
        (
            {
                "keyValues": [
                    {"key": {"type": "url"}, "values": [{"url": {"content": "https://example.org"}}, {"url": None}]}
                ]
            },
            ["https://example.org"],
        ),
    ],
)
def test_cells_of_two_kinds_hold_paths_and_addresses(database: Any, found: list[str]) -> None:
    assert cell_assets(database) == found
