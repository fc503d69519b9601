"""Names and paths, and search results as they are shown."""

from __future__ import annotations

import pytest

from kernel.workspace.marking import enclosed, marked, shortened
from kernel.workspace.names import base_name, clean_path, dir_name, joined_path
from kernel.workspace.patterns import PatternInvalid, compiled
from kernel.workspace.tags import remove_tag, rename_tag, tag_tree, tags_json
from kernel.workspace.tree import Node


@pytest.mark.parametrize(
    ("path", "base", "folder", "clean"),
    [
        ("", ".", ".", "."),
        ("/", "/", "/", "/"),
        ("/a/b.sy", "b.sy", "/a", "/a/b.sy"),
        ("a/../b", "b", ".", "b"),
        ("../a", "a", "..", "../a"),
        ("../../a/..", "..", "../../a", "../.."),
        ("/../a", "a", "/", "/a"),
        ("a//./b/", "b", "a/b", "a/b"),
    ],
)
def test_paths_are_taken_apart_as_gos_are(path: str, base: str, folder: str, clean: str) -> None:
    assert (base_name(path), dir_name(path), clean_path(path)) == (base, folder, clean)
    assert (joined_path(), joined_path("", "a", "../b")) == ("", "b")


@pytest.mark.parametrize(
    ("text", "keywords", "shown"),
    [
        ("a <b>", ["b"], "...a &lt;<mark>b</mark>&gt;"),
        ("a", [], "a"),
        ("__@mark__a__mark@__ <", [], "<mark>a</mark> &lt;"),
        ("none", ["x"], "none"),
        ("0123456789 hit", ["hit"], "...56789 <mark>hit</mark>"),
        ("0123 hit", ["hit"], "0123 <mark>hit</mark>"),
    ],
)
def test_hits_are_marked_and_shown_from_shortly_before_the_first(text: str, keywords: list[str], shown: str) -> None:
    assert marked(text, keywords, 5) == shown


def test_case_may_count_and_a_late_hit_is_moved_into_view() -> None:
    assert enclosed("A a", ["a"], is_case_sensitive=True) == "A <mark>a</mark>"
    assert enclosed("A", ["", "a"]) == "<mark>A</mark>"
    assert enclosed("A", [""]) == "A"
    assert shortened("x" * 200 + "<mark>y</mark>", 150) == "x" * 65 + "<mark>y</mark>"
    assert shortened("x" * 10, 5) == "xxxxx..."


@pytest.mark.parametrize(
    ("pattern", "told"), [("(", "missing closing ): `(`"), ("a**", "invalid nested repetition operator: `**`")]
)
def test_a_pattern_that_is_none_is_told_in_gos_words(pattern: str, told: str) -> None:
    with pytest.raises(PatternInvalid) as error:
        compiled(pattern)
    assert str(error.value) == f"error parsing regexp: {told}"


def test_tags_are_a_tree_and_are_renamed_and_removed() -> None:
    def mark(label: str) -> Node:
        return Node("NodeTextMark", fields={"TextMarkType": "tag", "TextMarkTextContent": label})

    tree = tag_tree(["a/b", "a/b", "c"])
    assert (tree["a"].count, tree["a"].children["b"].count) == (0, 2)
    assert [tag["name"] for tag in tags_json(tree, 8) or []] == ["c", "a"]
    assert [[tag["name"] for tag in tags_json(tree, sort) or []] for sort in (0, 1, 4)] == [
        ["a", "c"],
        ["c", "a"],
        ["a", "c"],
    ]
    assert tags_json({}, 0) is None
    root = Node(
        "NodeDocument", properties={"tags": "a/b,c"}, children=[mark("a/b"), mark("d"), Node("NodeText", data="a")]
    )
    assert rename_tag(root, "a", "x")
    assert (root.properties["tags"], root.children[0].fields["TextMarkTextContent"]) == ("x/b,c", "x/b")
    assert not rename_tag(root, "a", "x")
    assert remove_tag(root, "x/b")
    assert (root.properties["tags"], len(root.children)) == ("c", 2)
    assert remove_tag(root, "c")
    assert "tags" not in root.properties
