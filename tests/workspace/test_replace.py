"""Find and replace, and tags: each kind of text changes only when it is named."""

from __future__ import annotations

import pytest

from kernel.workspace.render.std_markdown import std_markdown
from kernel.workspace.replace import Replacement, compiled, replace_in
from kernel.workspace.tags import COUNT_DESC, remove_tag, rename_tag, tag_tree, tags_json
from kernel.workspace.tree import Node


def mark(kind: str, text: str, **fields: str) -> Node:
    return Node("NodeTextMark", fields={"TextMarkType": kind, "TextMarkTextContent": text, **fields})


def block(*inlines: Node | str) -> Node:
    children = [Node("NodeText", data=part) if isinstance(part, str) else part for part in inlines]
    return Node("NodeParagraph", id="20240101000000-aaaaaaa", children=children)


def changed(node: Node, keyword: str, text: str, *kinds: str, regex: bool = False) -> str:
    replace_in(node, Replacement(keyword, text, frozenset(kinds), compiled(keyword) if regex else None))
    return std_markdown(node)


@pytest.mark.parametrize(
    ("node", "kind", "expected"),
    [
        (block("old Old"), "text", "new new"),
        (block(mark("strong", "old")), "strong", "**new**"),
        (block(mark("code", "old")), "code", "`new`"),
        (block(mark("a", "old", TextMarkAHref="u")), "aText", "[new](u)"),
        (block(mark("a", "x", TextMarkAHref="old/y")), "aHref", "[x](new/y)"),
        (block(mark("a", "x", TextMarkAHref="u", TextMarkATitle="old")), "aTitle", '[x](u "new")'),
        (block(Node("NodeTextMark", fields={"TextMarkType": "inline-math", "TextMarkInlineMathContent": "old"})), "inlineMath", "$new$"),
        (block(mark("block-ref", "old", TextMarkBlockRefID="i", TextMarkBlockRefSubtype="d")), "blockRef", '((i "new"))'),
        (block(mark("tag", "old/x")), "tag", "#new/x#"),
    ],
)  # fmt: skip
def test_a_kind_changes_when_it_is_named_and_only_then(node: Node, kind: str, expected: str) -> None:
    before = std_markdown(node)
    assert changed(node.clone(), "old", "new", "none") == before
    assert changed(node, "old", "new", kind) == expected


def test_a_whole_tag_becomes_text_unless_its_replacement_is_a_tag() -> None:
    assert changed(block(mark("tag", "old")), "old", "new", "tag") == "new"
    assert changed(block(mark("tag", "old")), "#old#", "#new#", "tag") == "#new#"


def test_an_emptied_mark_goes_and_its_neighbours_grow_together() -> None:
    node = block("a ", mark("em", "old"), " b")
    assert changed(node, "old", "", "em") == "a  b"
    assert len(node.children) == 1


def test_a_link_without_a_target_becomes_text() -> None:
    assert changed(block(mark("a", "x", TextMarkAHref="old")), "old", "", "aHref") == "x"


def image(target: str) -> Node:
    return Node("NodeImage", children=[Node("NodeLinkDest", data=target)])


def test_an_image_goes_with_its_source() -> None:
    node = block("x", image("old.png"))
    replace_in(node, Replacement("old", " new ", frozenset({"imgSrc"})))
    assert node.children[1].children[0].data == "new.png"
    replace_in(node, Replacement("new.png", "", frozenset({"imgSrc"})))
    assert [child.type for child in node.children] == ["NodeText"]


def test_a_memo_changes_in_its_text_and_its_note() -> None:
    node = block(mark("inline-memo", "old", TextMarkInlineMemoContent="an old note"))
    replace_in(node, Replacement("old", "new", frozenset({"inlineMemo"})))
    fields = node.children[0].fields
    assert (fields["TextMarkTextContent"], fields["TextMarkInlineMemoContent"]) == ("new", "an new note")


def test_an_emptied_formula_or_note_is_taken_out() -> None:
    node = block("a", Node("NodeTextMark", fields={"TextMarkType": "inline-math", "TextMarkInlineMathContent": "old"}))
    replace_in(node, Replacement("old", "", frozenset({"inlineMath"})))
    assert [child.type for child in node.children] == ["NodeText"]
    node = block(mark("inline-memo", "kept", TextMarkInlineMemoContent="old"))
    replace_in(node, Replacement("old", "", frozenset({"inlineMemo"})))
    assert "TextMarkInlineMemoContent" not in node.children[0].fields


def test_an_emptied_link_is_taken_out_and_marks_of_one_kind_grow_together() -> None:
    node = block(mark("em", "a"), mark("a", "old", TextMarkAHref="u"), mark("em", "b"))
    replace_in(node, Replacement("old", "", frozenset({"aText"})))
    assert [child.fields["TextMarkTextContent"] for child in node.children] == ["ab"]
    node = block(mark("em", "a"), mark("a", "old", TextMarkAHref="u"), mark("strong", "b"))
    replace_in(node, Replacement("old", "", frozenset({"aText"})))
    assert len(node.children) == 2


def test_a_changed_anchor_is_the_users_own() -> None:
    node = block(mark("block-ref", "old", TextMarkBlockRefID="i", TextMarkBlockRefSubtype="d"))
    replace_in(node, Replacement("other", "new", frozenset({"blockRef"})))
    assert node.children[0].fields["TextMarkBlockRefSubtype"] == "d"
    replace_in(node, Replacement("old", "new", frozenset({"blockRef"})))
    assert node.children[0].fields["TextMarkBlockRefSubtype"] == "s"


def test_styled_text_and_annotations_have_kinds_of_their_own() -> None:
    node = block(mark("text", "old"), mark("file-annotation-ref", "old"))
    replace_in(node, Replacement("old", "new", frozenset({"text"})))
    replace_in(node, Replacement("old", "newer", frozenset({"fileAnnotationRef"})))
    assert [child.fields["TextMarkTextContent"] for child in node.children] == ["new", "newer"]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [("(?P<a>o)ld", "${a}x$$", "ox$"), ("old", "$9", ""), ("(o)(x)?ld", "$1$2", "o"), ("old", "${none}", "")],
)
def test_a_replacement_is_expanded_as_go_does(pattern: str, text: str, expected: str) -> None:
    assert changed(block("old."), pattern, text, "text", regex=True) == f"{expected}."


def test_groups_of_a_pattern_can_stand_in_the_replacement() -> None:
    assert changed(block("aN bN"), "(b)(N)", "$2-${1}$$", "text", regex=True) == "aN N-b$"
    assert changed(block("a1 b22"), "[0-9]+", "N", "text", regex=True) == "aN bN"


def test_code_and_formula_blocks_change_in_their_data() -> None:
    code = Node("NodeCodeBlock", children=[Node("NodeCodeBlockCode", data="old\n")])
    replace_in(code, Replacement("old", "new", frozenset({"codeBlock"})))
    assert code.children[0].data == "new\n"


def test_new_text_can_be_read_as_inlines() -> None:
    node = block("say old")
    change = Replacement("old", "x", frozenset({"text"}), inlines=lambda text: [mark("strong", text)])
    assert replace_in(node, change)
    assert std_markdown(node) == "**say x**"


def test_tags_form_a_tree_that_counts_uses() -> None:
    tree = tag_tree(["b", "a/x", "a/x", "a/y", "b"])
    shown = tags_json(tree, COUNT_DESC)
    assert shown is not None
    assert [(tag["label"], tag["count"]) for tag in shown] == [("b", 2), ("a", 0)]
    assert [(tag["label"], tag["count"], tag["depth"]) for tag in shown[1]["children"]] == [
        ("a/x", 2, 1),
        ("a/y", 1, 1),
    ]
    assert tags_json({}, 4) is None


def test_renaming_a_tag_renames_those_below_and_the_documents_own() -> None:
    root = Node(
        "NodeDocument",
        id="20240101000000-rootaaa",
        properties={"tags": "old,other"},
        children=[block(mark("tag", "old"), mark("tag", "old/x"), mark("tag", "older"))],
    )
    assert rename_tag(root, "old", "new")
    assert [node.fields["TextMarkTextContent"] for node in root.children[0].children] == ["new", "new/x", "older"]
    assert root.properties["tags"] == "new,other"
    assert not rename_tag(root, "old", "new")


def test_removing_a_tag_leaves_longer_ones_alone() -> None:
    root = Node(
        "NodeDocument",
        id="20240101000000-rootaaa",
        properties={"tags": "old"},
        children=[block("y ", mark("tag", "old"), mark("tag", "old/x"))],
    )
    assert remove_tag(root, "old")
    assert std_markdown(root.children[0]) == "y #old/x#"
    assert "tags" not in root.properties
