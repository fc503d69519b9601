"""Blanks between scripts."""

from __future__ import annotations

import pytest

from kernel.workspace.spacing import network_images, space_document, spaced
from kernel.workspace.tree import Node


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("中文abc中文", "中文 abc 中文"),
        ("中文 123中", "中文 123 中"),
        ("かなkana한글", "かな kana 한글"),
        ("plain text", "plain text"),
        ("中文，abc", "中文，abc"),
        ("", ""),
    ],
)
def test_a_blank_stands_where_the_scripts_meet(text: str, better: str) -> None:
    assert spaced(text) == better
    assert spaced(better) == better


def mark(types: str, text: object) -> Node:
    return Node("NodeTextMark", fields={"TextMarkType": types, "TextMarkTextContent": text})


def test_texts_and_marks_of_a_document_are_spaced_but_what_has_an_edge_of_its_own() -> None:
    marks = [mark("strong", "鲸a"), mark("code", "鲸a"), mark("strong tag", "鲸a"), mark("text", None), mark("em", "a")]
    root = Node("NodeDocument", children=[Node("NodeText", data="a鲸"), Node("NodeText", data="x"), *marks])
    assert space_document(root)
    assert [child.data for child in root.children[:2]] == ["a 鲸", "x"]
    assert [child.fields["TextMarkTextContent"] for child in marks] == ["鲸 a", "鲸a", "鲸a", None, "a"]
    assert not space_document(root)


def test_images_from_elsewhere_are_told_as_they_stand() -> None:
    addresses = ["https://a.b/c.png", "assets/a.png", "//a.b/d.png", "HTTP://a.b"]
    images = [Node("NodeImage", children=[Node("NodeBang"), Node("NodeLinkDest", data=one)]) for one in addresses]
    root = Node("NodeDocument", children=[*images, Node("NodeLinkDest", data="https://x.y")])
    assert network_images(root) == [addresses[0], addresses[2], addresses[3]]
