"""Words that were searched for, marked in the blocks that are shown."""

from __future__ import annotations

import pytest

from kernel.workspace.highlights import highlight, keywords_of, with_marked_code
from kernel.workspace.intake import markdown_blocks
from kernel.workspace.tree import Node
from tests.siyuan.kernel_in_memory import MemoryKernel


def shown(node: Node) -> list[tuple[str, str]]:
    """The inlines of a block: kinds and text."""
    found = []
    for one in node.walk():
        if one.type == "NodeText":
            found.append(("", one.data))
        elif one.type == "NodeTextMark":
            found.append((str(one.fields["TextMarkType"]), str(one.fields.get("TextMarkTextContent", ""))))
    return found


@pytest.mark.parametrize(
    ("markdown", "words", "pieces"),
    [
        ("a Sea b", ["sea"], [("", "a "), ("search-mark", "Sea"), ("", " b")]),
        ("seasea", ["sea"], [("search-mark", "sea"), ("search-mark", "sea")]),
        ("seaside", ["sea", "seaside"], [("search-mark", "seaside")]),
        ("none", ["sea"], [("", "none")]),
        ("a < b", ["<"], [("", "a "), ("search-mark", "&lt;"), ("", " b")]),
        ("**a sea b**", ["sea"], [("strong", "a "), ("strong search-mark", "sea"), ("strong", " b")]),
        ("**sea**", ["sea"], [("strong search-mark", "sea")]),
        ("**none**", ["sea"], [("strong", "none")]),
    ],
)
async def test_words_are_marked_in_texts_and_marks(
    kernel: MemoryKernel, markdown: str, words: list[str], pieces: list[tuple[str, str]]
) -> None:
    (block,) = markdown_blocks(kernel.workspace, markdown)
    highlight([block], words, "root", "root")
    assert shown(block) == pieces


async def test_words_are_marked_in_code_but_not_where_something_is_drawn(kernel: MemoryKernel) -> None:
    code, chart, formula = markdown_blocks(kernel.workspace, "```go\nsea\n```\n\n```mermaid\nsea\n```\n\n$sea$ x")
    highlight([code, chart, formula], ["sea"], "root", "root")
    texts = [node.data for block in (code, chart) for node in block.walk() if node.type == "NodeCodeBlockCode"]
    assert texts == ["__@mark__sea__mark@__\n", "sea"]
    assert [node.fields.get("TextMarkInlineMathContent") for node in formula.walk() if node.type == "NodeTextMark"] == [
        "sea"
    ]
    assert with_marked_code(texts[0]) == '<span data-type="search-mark">sea</span>\n'


async def test_only_the_block_that_was_asked_for_is_marked(kernel: MemoryKernel) -> None:
    first, second = markdown_blocks(kernel.workspace, "> sea\n\nsea")
    highlight([first, second], ["sea"], first.id, "root")
    assert (shown(first), shown(second)) == ([("search-mark", "sea")], [("", "sea")])
    alone = Node("NodeText", data="sea")
    highlight([alone], ["sea"], "root", "root")
    assert alone.data == "sea"


async def test_the_words_of_a_query_are_told_as_they_are_written(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Deep Sea", "a SEA\n\n* sea #sea#")
    document = kernel.workspace.document(root_id)
    assert keywords_of(document, "sea") == ["Sea", "SEA", "sea"]
    assert keywords_of(document, " ") == []
    assert keywords_of(document, "sea", frozenset({"d"})) == ["Sea"]
    assert keywords_of(document, "SEA", frozenset({"h"})) == []
