"""The graph of documents, blocks and tags."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.siyuan.notes_index import searchable_index
from kernel.workspace.backlinks import definition
from kernel.workspace.graph import (
    GENERATIONS_MAX,
    LABEL_RUNES_MAX,
    Graph,
    GraphSettings,
    default_conf,
    local_graph,
    whole_graph,
)
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.test_refs import chain


@pytest.fixture
async def notes(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str, str]:
    """(kernel, target, source that refers to it, a daily note)."""
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text #a/b# #a# #c/d#")
    source = await kernel.document(
        box, "/Source", f"# head {'x' * 60}\n\nsee (({target} 'there'))\n\nsee (({target} 'there'))"
    )
    daily = await kernel.document(box, "/daily/2026", f"(({source} 'x'))")
    await kernel.call("attr/setBlockAttrs", id=daily, attrs={"custom-dailynote-20260301": "20260301"})
    return kernel, target, source, daily


async def graph(
    kernel: MemoryKernel, around: str = "", query: str = "", daily_dirs: tuple[str, ...] = (), **conf: Any
) -> Graph:
    types = conf.pop("type", ())
    shown = default_conf(is_local=bool(around)) | conf
    shown["type"] = {**shown["type"], **dict.fromkeys(types, True)}
    connection = (await searchable_index(kernel.kernel)).connection
    if not around:
        return whole_graph(connection, query, GraphSettings.of(shown), daily_dirs)
    block = definition(connection, around)
    assert block is not None
    return local_graph(connection, block, query, GraphSettings.of(shown), daily_dirs)


def ids(found: Graph) -> set[str]:
    return {str(node["id"]) for node in found.nodes}


def links(found: Graph) -> set[tuple[str, str, bool]]:
    return {(str(link["from"]), str(link["to"]), bool(link["ref"])) for link in found.links}


async def test_the_whole_graph_grows_along_references(notes: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, target, source, daily = notes
    found = await graph(kernel)
    assert {target, source} <= ids(found)
    assert (source, target, True) in links(found)
    node = next(one for one in found.nodes if one["id"] == target)
    assert (node["label"], node["type"], node["defs"], node["size"]) == ("Target", "NodeDocument", 1, 15)
    assert all(link["arrows"] == {"to": {"enabled": True}} for link in found.links if link["ref"])
    drawn = await graph(kernel, dailyNote=True, d3={**default_conf(is_local=False)["d3"], "arrow": False})
    assert daily in ids(drawn)
    assert all(link["arrows"] is None for link in drawn.links)


async def test_blocks_of_chosen_kinds_and_tags_are_nodes_too(notes: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, target, source, _ = notes
    found = await graph(kernel, type=("heading", "paragraph", "tag"))
    head, *_ = await kernel.children(source)
    (text,) = await kernel.children(target)
    node = next(one for one in found.nodes if one["id"] == head)
    assert node["label"].endswith("...")
    assert len(node["label"]) == LABEL_RUNES_MAX + 3
    shown = next(one for one in found.nodes if one["id"] == text)
    assert (shown["label"], shown["title"][:4]) == ("", "text")
    assert {"a", "a/b"} <= ids(found)
    assert {("a/b", "a", False), ("a", target, False), (source, head, False)} <= links(found)


@pytest.mark.parametrize(
    ("query", "names"),
    [("target", {"Target"}), ("#a#", set()), ("#none#", set()), ("none", set()), ("ROOT", {"Target"})],
)
async def test_a_query_lets_only_some_blocks_through(
    notes: tuple[MemoryKernel, str, str, str], query: str, names: set[str]
) -> None:
    kernel, target, _, _ = notes
    found = await graph(kernel, query=query.replace("ROOT", target))
    assert names <= {str(node["label"]) for node in found.nodes}
    assert bool(found.nodes) is bool(names)


async def test_folders_of_daily_notes_and_loose_nodes_are_left_out(notes: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, target, source, daily = notes
    assert daily not in ids(await graph(kernel, daily_dirs=("/daily",)))
    assert ids(await graph(kernel, minRefs=2)) <= {target, source, daily}
    assert await graph(kernel, minRefs=99) == Graph()


async def test_a_document_is_drawn_with_what_it_refers_to_and_what_refers_to_it(
    notes: tuple[MemoryKernel, str, str, str],
) -> None:
    kernel, target, source, daily = notes
    found = await graph(kernel, source, type=("paragraph", "tag"), dailyNote=True)
    assert {target, source, daily} <= ids(found)
    assert {(source, target, True), (daily, source, True)} <= links(found)
    assert "a" not in ids(found)
    tagged = await graph(kernel, target, type=("paragraph", "tag"))
    (text,) = await kernel.children(target)
    assert ("a", text, False) in links(tagged)


async def test_a_block_is_drawn_with_what_is_in_it(notes: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, target, source, _ = notes
    _, first, second = await kernel.children(source)
    found = await graph(kernel, first, type=("paragraph",))
    assert {first, target, second} <= ids(found)
    assert (first, target, True) in links(found)
    nothing = await graph(kernel, source, query="none")
    assert nothing == Graph()


async def test_a_graph_grows_so_many_generations_and_no_more(kernel: MemoryKernel) -> None:
    blocks = await chain(kernel, GENERATIONS_MAX + 2)
    assert set(blocks) & ids(await graph(kernel, blocks[0], type=("paragraph",))) == set(blocks[:-1])
