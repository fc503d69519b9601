"""Whatever is imported can be indexed, counted, outlined and exported."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.ids import SeededIds
from kernel.workspace.index.rows import Surroundings, document_rows
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError
from kernel.workspace.markdown.pipeline import markdown_to_blocks
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.counts import TextCounts, block_count, counts, total
from kernel.workspace.render.export import ExportOptions, ExportSources, export_markdown
from kernel.workspace.render.outline import outline
from kernel.workspace.tree import Node, Tree

_ID = "20240101000000-aaaaaaa"
# Markup more often than letters; the pieces meet in every order.
_PIECES = st.sampled_from(
    [
        *"*_`~#[]()!<>|-+=:$^\\\"'{}&;,. \n\t1a",
        *(
            "**",
            "==",
            "$$",
            "```",
            "((",
            "))",
            "{{",
            "}}",
            "{{{",
            "}}}",
            "\n\n",
            "> ",
            "- ",
            "1. ",
            "* [ ] ",
            "# ",
            "---",
        ),
        *(
            "|a|b|\n|-|-|\n|c|d|",
            "[a](b)",
            "![i](s)",
            f"(({_ID} 'x'))",
            "#t#",
            "<u>a</u>",
            "&amp;",
            "标",
            "😀",
            ":smile:",
        ),
        *(
            '{: name="n"}',
            "> [!NOTE]\n> x",
            "{{{row\na\n\nb\n}}}",
            "{{select * from blocks}}",
            "<div>a</div>",
            "<br />",
        ),
    ]
)
_TEXTS = st.lists(_PIECES, max_size=24).map("".join)


def _document(text: str) -> Tree | None:
    ids = SeededIds(1)
    day = datetime(2024, 1, 1, tzinfo=UTC)
    context = MarkdownContext(lambda: ids.node_id(day), lambda identity: identity == _ID)
    try:
        blocks = markdown_to_blocks(text, context).blocks
    except MarkdownError:
        return None
    root = Node("NodeDocument", id=_ID, properties={"id": _ID, "title": "Doc", "updated": _ID[:14]}, children=blocks)
    return Tree(root, box="20240101000000-boxboxb", path=f"/{_ID}.sy", hpath="/Doc")


@given(_TEXTS)
@settings(max_examples=25, deadline=None)
def test_every_block_has_one_row_whose_parent_has_one_too(text: str) -> None:
    tree = _document(text)
    if tree is None:
        return
    rows = document_rows(tree, Surroundings()).blocks
    ids = [row.id for row in rows]
    assert sorted(ids) == sorted({node.id for node in tree.root.walk() if node.type in BLOCK_TYPES and node.id})
    assert {row.parent_id for row in rows if row.type != "d"} <= set(ids)
    # Lengths count the zero-width spaces that the texts lose.
    assert all(row.length >= len(row.content) for row in rows if row.type == "p")


@given(_TEXTS)
@settings(max_examples=25, deadline=None)
def test_a_tree_is_read_and_never_changed(text: str) -> None:
    tree = _document(text)
    if tree is None:
        return
    before = tree.root.clone()
    sources = ExportSources(
        node_of=lambda identity: tree.root if identity == _ID else None, query=lambda _: [tree.root]
    )
    for ref_mode in (2, 3, 4):
        for embed_mode in (0, 1):
            export_markdown(tree.root, tree.root, ExportOptions(ref_mode=ref_mode, embed_mode=embed_mode), sources)
    for block in tree.root.children:
        export_markdown(tree.root, block, ExportOptions(), sources)
    outline(tree.root, title="Doc")
    document_rows(tree, Surroundings())
    counts(tree.root)
    assert _dump(tree.root) == _dump(before)


@given(_TEXTS)
@settings(max_examples=25, deadline=None)
def test_the_counts_of_a_document_are_those_of_its_blocks_together(text: str) -> None:
    tree = _document(text)
    if tree is None:
        return
    assert block_count(tree.root) >= len(tree.root.children)
    whole = total(tree.root.children)
    assert whole == sum((counts(child) for child in tree.root.children), TextCounts())
    assert whole.runes >= whole.words


def _dump(node: Node) -> object:
    own = (node.type, node.id, node.data, dict(node.fields), dict(node.properties))
    return (*own, [_dump(child) for child in node.children])
