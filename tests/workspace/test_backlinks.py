"""Who refers to a block, and who only mentions it."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from kernel.siyuan.notes_index import searchable_index
from kernel.workspace.backlinks import (
    ALPHANUM_ASC,
    ALPHANUM_DESC,
    CREATED_ASC,
    CREATED_DESC,
    NAME_ASC,
    NAME_DESC,
    UPDATED_ASC,
    UPDATED_DESC,
    Linked,
    Mentioned,
    definition,
    linked,
    matches,
    mentioned,
    path_tree,
    paths,
    sorted_paths,
)
from kernel.workspace.index.rows import BlockRow
from tests.siyuan.kernel_in_memory import MemoryKernel


async def target_in(kernel: MemoryKernel, block_id: str) -> tuple[apsw.Connection, BlockRow]:
    connection = (await searchable_index(kernel.kernel)).connection
    found = definition(connection, block_id)
    assert found is not None
    return connection, found


@pytest.fixture
async def sea(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str]:
    """(kernel, a document with an item, that item)."""
    target = await kernel.document(await kernel.notebook(), "/Whale", "text\n\n- item")
    (item,) = await kernel.children((await kernel.children(target))[1])
    return kernel, target, item


def ids(found: Linked | Mentioned) -> list[str]:
    return [str(block["id"]) for block in found.blocks]


async def test_a_document_is_referred_to_by_who_refers_to_its_blocks_too(sea: tuple[MemoryKernel, str, str]) -> None:
    kernel, target, item = sea
    box = kernel.workspace.entry(target).box
    source = await kernel.document(box, "/Source", f"# (({target} 'w'))\n\n(({item} 'i')) (({target} 'w'))\n\nno")
    head, both, _ = await kernel.children(source)
    connection, row = await target_in(kernel, target)
    assert ids(linked(connection, row, (), with_children=True)) == [head, both]
    assert linked(connection, row, (), with_children=True).count == 2
    assert ids(linked(connection, row, (), with_children=False)) == [head, both]
    assert ids(linked(connection, row, (), with_children=True, root_id=target)) == []
    found = linked(connection, row, (), with_children=True)
    assert (found.blocks[0]["defID"], found.blocks[0]["defPath"]) == (target, f"/{target}.sy")
    _, items = await kernel.children(target)
    connection, row = await target_in(kernel, items)
    assert ids(linked(connection, row, (), with_children=True)) == [both]
    assert ids(linked(connection, row, (), with_children=False)) == []


async def test_only_blocks_with_a_keyword_are_found_and_the_rest_is_taken_off_the_count(
    sea: tuple[MemoryKernel, str, str],
) -> None:
    """As the real kernel counts: paragraphs by what they stand in, then one less for each block without a keyword."""
    kernel, target, _ = sea
    box = kernel.workspace.entry(target).box
    source = await kernel.document(
        box, "/Source", f"red (({target} 'w'))\n\nblue (({target} 'w'))\n\n- red (({target} 'w'))"
    )
    red, blue, items = await kernel.children(source)
    (item,) = await kernel.children(items)
    connection, row = await target_in(kernel, target)
    found = linked(connection, row, ["RED"], with_children=True)
    assert (ids(found), found.count) == ([item, red], 1)
    found = linked(connection, row, ["blue"], with_children=True)
    assert (ids(found), found.count) == ([blue], 0)


async def test_a_container_stands_for_its_paragraph_unless_it_says_more(sea: tuple[MemoryKernel, str, str]) -> None:
    kernel, target, _ = sea
    box = kernel.workspace.entry(target).box
    ref = f"(({target} 'w'))"
    markdown = f"> {ref} quoted\n\n- {ref}\n\n  second {ref} more\n- {ref}"
    source = await kernel.document(box, "/Source", markdown)
    quote, items = await kernel.children(source)
    first, second = await kernel.children(items)
    _, later = await kernel.children(first)
    connection, row = await target_in(kernel, target)
    found = linked(connection, row, (), with_children=True)
    assert set(ids(found)) == {quote, second, later, (await kernel.children(first))[0]}
    assert found.originals[quote] == (await kernel.children(quote))[0]
    assert found.originals[first] == later
    assert found.count == 3


@pytest.mark.parametrize(
    ("keywords", "is_match"),
    [([], True), (["SEA"], True), (["doc"], True), (["al"], True), (["none", "note"], True), (["none"], False)],
)
def test_a_keyword_stands_in_any_text_of_a_block(keywords: list[str], is_match: bool) -> None:
    block = {"content": "the sea", "hPath": "/Box/Doc", "name": "", "alias": "al", "memo": "", "tag": "note"}
    assert matches(block, keywords) is is_match


async def mentions(kernel: MemoryKernel, target: str, keyword: str = "", **conf: Any) -> Mentioned:
    connection, row = await target_in(kernel, target)
    found = linked(connection, row, (), with_children=True)
    return mentioned(connection, row, found, keyword, {**kernel.workspace.conf.section("search"), **conf})


async def test_the_names_of_a_document_are_mentions_and_references_are_none(sea: tuple[MemoryKernel, str, str]) -> None:
    kernel, target, _ = sea
    box = kernel.workspace.entry(target).box
    other = await kernel.document(box, "/Other", f"a whale\n\nwhales\n\na whale (({target} 'orca'))\n\nan orca")
    whale, _, _, orca = await kernel.children(other)
    found = await mentions(kernel, target)
    assert (set(ids(found)), found.keywords) == ({orca, whale}, ["orca", "whale"])
    assert {block["id"]: block["refText"] for block in found.blocks} == {orca: "orca", whale: "whale"}
    assert ids(found) == sorted(ids(found), reverse=True)
    assert ids(await mentions(kernel, target, backlinkMentionAnchor=False)) == [whale]
    assert ids(await mentions(kernel, target, "an")) == [orca]
    assert ids(await mentions(kernel, target, backlinkMentionAnchor=False, backlinkMentionDoc=False)) == []


async def test_names_and_aliases_of_blocks_are_looked_for_as_the_settings_say(
    sea: tuple[MemoryKernel, str, str],
) -> None:
    kernel, target, item = sea
    box = kernel.workspace.entry(target).box
    await kernel.call("attr/setBlockAttrs", id=item, attrs={"name": "krill", "alias": "shrimp,prawn"})
    other = await kernel.document(box, "/Other", "krill\n\nprawn")
    krill, prawn = await kernel.children(other)
    assert set(ids(await mentions(kernel, item))) == {krill}
    assert set(ids(await mentions(kernel, item, backlinkMentionAlias=True))) == {krill, prawn}
    assert ids(await mentions(kernel, item, backlinkMentionName=False, backlinkMentionAlias=True)) == [prawn]
    assert set(ids(await mentions(kernel, target, backlinkMentionAlias=True))) == {krill, prawn}


async def test_a_block_that_has_the_name_is_a_mention_without_saying_it(sea: tuple[MemoryKernel, str, str]) -> None:
    kernel, target, _ = sea
    box = kernel.workspace.entry(target).box
    other = await kernel.document(box, "/Other", "one\n\nkillerwhalesong\n\na whale2 b whaler")
    first, _, _ = await kernel.children(other)
    await kernel.call("attr/setBlockAttrs", id=first, attrs={"alias": "Whale"})
    found = await mentions(kernel, target)
    assert (ids(found), found.keywords, found.blocks[0]["refText"]) == ([first], [], "")


async def test_a_name_that_the_index_refuses_is_mentioned_nowhere(sea: tuple[MemoryKernel, str, str]) -> None:
    kernel, target, _ = sea
    connection, row = await target_in(kernel, target)
    connection.execute("DROP TABLE blocks_fts")
    assert mentioned(connection, row, Linked(), "", {}) == Mentioned()


async def test_documents_are_listed_newest_first_with_their_blocks(sea: tuple[MemoryKernel, str, str]) -> None:
    kernel, target, _ = sea
    box = kernel.workspace.entry(target).box
    roots = []
    for name in ("A", "B"):
        kernel.clock.advance(5)
        roots.append(await kernel.document(box, f"/{name}", f"# h (({target} 'w'))\n\np (({target} 'w'))"))
    connection, row = await target_in(kernel, target)
    blocks = linked(connection, row, (), with_children=True).blocks
    listed = paths(connection, blocks, with_blocks=False)
    assert [(path["id"], path["name"], path["count"], "blocks" in path) for path in listed] == [
        (roots[1], "B", 2, False),
        (roots[0], "A", 2, False),
    ]
    older = path_tree(connection, blocks, "P")
    assert [path["id"] for path in older] == roots
    (leaf,), (branch,) = older[0]["blocks"], older[0]["children"]
    assert leaf["content"].startswith("<mark>p</mark> ")
    assert (branch["nodeType"], branch["name"][:2]) == ("NodeHeading", "h ")
    (bare,) = path_tree(connection, [blocks[1]], "")
    assert "children" not in bare
    (bare,) = path_tree(connection, [blocks[0]], "")
    assert "blocks" not in bare


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (NAME_ASC, "a b10 b9"),
        (NAME_DESC, "b9 b10 a"),
        (ALPHANUM_ASC, "a b9 b10"),
        (ALPHANUM_DESC, "b10 b9 a"),
        (UPDATED_ASC, "b9 a b10"),
        (UPDATED_DESC, "b10 a b9"),
        (CREATED_ASC, "b10 b9 a"),
        (CREATED_DESC, "a b9 b10"),
        (7, "b10 a b9"),
    ],
)
def test_documents_are_ordered_as_the_panel_is_set(mode: int, names: str) -> None:
    shown = [
        {"name": "b10", "updated": "3", "created": "1"},
        {"name": "a", "updated": "2", "created": "3"},
        {"name": "b9", "updated": "1", "created": "2"},
    ]
    assert [path["name"] for path in sorted_paths(shown, mode)] == names.split()
