"""Block attributes: what may be set, what becomes of it, and who is told."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.attributes import (
    NAME_RULE,
    TASK_RULE,
    attributes_of,
    icon_value,
    set_attributes,
    set_many,
    tell_attributes,
)
from kernel.workspace.documents import Refusal
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

UNKNOWN = "20240101000000-unknown"


@pytest.fixture
async def note(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str]:
    """(kernel, document, its only block)."""
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "text")
    (block_id,) = await kernel.children(root_id)
    kernel.workspace.take_events()
    return kernel, root_id, block_id


def told(kernel: MemoryKernel, cmd: str) -> list[Any]:
    return [event.data for event in kernel.workspace.take_events() if event.cmd == cmd]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"name": "a\u00a0b\u200b"}, {"name": "a b"}),
        ({"NAME": "a"}, {"name": "a"}),
        ({"custom-x": '<"{&}>\n'}, {"custom-x": '<"{&}>'}),
        ({"custom-x": "a\nb"}, {"custom-x": "a\nb"}),
        ({"tags": " a ,b,,a"}, {"tags": "a,b"}),
        ({"icon": "\U0001f600"}, {"icon": "1f600"}),
        ({"id": UNKNOWN}, {}),
        ({"name": " "}, {}),
    ],
)
async def test_an_attribute_is_kept_as_it_is_meant(
    note: tuple[MemoryKernel, str, str], given: dict[str, str], shown: dict[str, str]
) -> None:
    kernel, _, block_id = note
    set_attributes(kernel.workspace, block_id, given)
    kept = attributes_of(kernel.workspace, block_id)
    assert {name: value for name, value in kept.items() if name not in ("id", "updated")} == shown
    assert kept["id"] == block_id


@pytest.mark.parametrize("value", ["other", ""])
async def test_a_document_stays_a_document_under_its_id(note: tuple[MemoryKernel, str, str], value: str) -> None:
    kernel, root_id, _ = note
    set_attributes(kernel.workspace, root_id, {"id": value, "type": value, "memo": "x"})
    kept = attributes_of(kernel.workspace, root_id)
    assert (kept["id"], kept["type"], kept["memo"]) == (root_id, "doc", "x")


@pytest.mark.parametrize("name", ["1a", "custom-", "custom-1", "a_b", "", "ä"])
async def test_a_name_that_is_none_is_refused(note: tuple[MemoryKernel, str, str], name: str) -> None:
    kernel, _, block_id = note
    with pytest.raises(Refusal) as refusal:
        set_attributes(kernel.workspace, block_id, {name: "x"})
    assert str(refusal.value) == f"{NAME_RULE} [{block_id}]"


async def test_a_tasks_mark_is_set_elsewhere(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, block_id = note
    with pytest.raises(Refusal) as refusal:
        set_attributes(kernel.workspace, block_id, {"Data-Task": "x"})
    assert str(refusal.value) == TASK_RULE


async def test_an_old_name_with_capitals_is_removed_by_its_own_spelling_alone(
    note: tuple[MemoryKernel, str, str],
) -> None:
    kernel, _, block_id = note
    node = kernel.workspace.node(block_id)[1]
    node.properties["custom-Old"] = "x"
    set_attributes(kernel.workspace, block_id, {"custom-old": ""})
    assert attributes_of(kernel.workspace, block_id)["custom-Old"] == "x"
    set_attributes(kernel.workspace, block_id, {"custom-Old": ""})
    assert "custom-Old" not in attributes_of(kernel.workspace, block_id)


async def test_unknown_blocks_have_none_and_take_none(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, root_id, block_id = note
    workspace = kernel.workspace
    assert attributes_of(workspace, UNKNOWN) == {}
    with pytest.raises(NotFound, match="tree not found"):
        set_attributes(workspace, UNKNOWN, {"name": "x"})
    with pytest.raises(Refusal, match=r"Content block with id .*unknown.* not found"):
        set_many(workspace, [(block_id, {"name": "kept"}), (UNKNOWN, {"name": "x"})])
    assert attributes_of(workspace, block_id)["name"] == "kept"
    # The map still knows a block that its document has lost.
    workspace.document(root_id).nodes.pop(block_id)
    with pytest.raises(Refusal, match=r"Content block with id .* not found"):
        set_attributes(workspace, block_id, {"name": "x"})


async def test_windows_are_told_old_and_new(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, root_id, block_id = note
    set_many(kernel.workspace, [(block_id, {"custom-a": "1"}), (root_id, {"tags": "t"})])
    events = kernel.workspace.take_events()
    (first, second) = [event.data[0]["doOperations"][0] for event in events if event.cmd == "transactions"]
    assert (first["action"], first["id"], first["rootID"]) == ("updateAttrs", block_id, root_id)
    assert "custom-a" not in first["data"]["old"]
    assert first["data"]["new"]["custom-a"] == "1"
    assert second["data"]["new"]["tags"] == "t"
    assert [event.cmd for event in events].count("reloadTag") == 1


async def test_a_databases_window_is_told_which_view_it_has(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, block_id = note
    document, node = kernel.workspace.node(block_id)
    node.fields["AttributeViewType"] = "table"
    tell_attributes(kernel.workspace, document, node, {})
    ((told_once,),) = told(kernel, "transactions")
    assert told_once["doOperations"][0]["data"]["data-av-type"] == "table"


async def test_hiding_a_document_draws_the_file_tree_anew(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, root_id, _ = note
    counts = []
    for value in ("true", "true", ""):
        set_attributes(kernel.workspace, root_id, {"custom-hidden": value})
        counts.append(len(told(kernel, "reloadFiletree")))
    assert counts == [1, 0, 1]


async def test_a_notebooks_document_stays_hidden_and_shares_its_icon(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, root_id, _ = note
    workspace = kernel.workspace
    box = workspace.entry(root_id).box
    set_attributes(workspace, box, {"icon": "1f4d4", "custom-hidden": ""})
    set_many(workspace, [(box, {"custom-b": "1"})])
    assert attributes_of(workspace, box)["custom-hidden"] == "true"
    assert workspace.box(box).conf["icon"] == "1f4d4"
    set_many(workspace, [(box, {"icon": ""})])
    assert workspace.box(box).conf["icon"] == ""


async def test_names_of_databases_are_shown_until_attributes_are_written(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, block_id = note
    kernel.workspace.bound_names[block_id] = "Books"
    assert attributes_of(kernel.workspace, block_id)["av-names"] == "Books"
    set_attributes(kernel.workspace, block_id, {"custom-a": "1"})
    assert "av-names" not in attributes_of(kernel.workspace, block_id)


async def test_a_renamed_document_shows_what_it_has_shown_until_it_is_written(
    note: tuple[MemoryKernel, str, str],
) -> None:
    kernel, root_id, block_id = note
    assert attributes_of(kernel.workspace, root_id)["title"] == "Doc"
    await kernel.call("filetree/renameDocByID", id=root_id, title="New")
    assert attributes_of(kernel.workspace, root_id)["title"] == "Doc"
    set_attributes(kernel.workspace, block_id, {"custom-a": "1"})
    assert attributes_of(kernel.workspace, root_id)["title"] == "New"


async def test_an_anchor_follows_a_name(note: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, block_id = note
    source = await kernel.document(await kernel.notebook(), "/Source", f"(({block_id} 'text'))")
    set_attributes(kernel.workspace, block_id, {"name": "Whale"})
    kramdown = (await kernel.call("block/getBlockKramdown", id=source))["kramdown"]
    assert f"(({block_id} 'Whale'))" in kramdown


async def test_a_container_without_blocks_is_read_as_its_readers_see_it(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "* item\n\ntext")
    items, text = await kernel.children(root_id)
    document = kernel.workspace.edit(items)
    document.drop(document.nodes[items].children[-1].detach())
    kernel.workspace.save(document)
    document.holds_hollow = True
    set_attributes(kernel.workspace, text, {"custom-a": "1"})
    assert await kernel.children(root_id) == [text]


@pytest.mark.parametrize(
    ("icon", "kept"), [("1f600", "1f600"), ("a/b.png", "a/b.png"), ("鲸.", "鲸."), ("❤️", "2764-fe0f"), ("", "")]
)
def test_an_icon_of_characters_becomes_their_code_points(icon: str, kept: str) -> None:
    assert icon_value(icon) == kept
