"""Moving documents: to another place, into a heading, or out of one."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.doc_tree import read_sort, write_sort
from kernel.workspace.documents import BOX_DOCUMENT_FIXED, QUERY_FAILED, TOO_DEEP, Refusal
from kernel.workspace.limits import DOCUMENT_LEVELS_MAX
from kernel.workspace.moves import (
    HAS_CHILDREN,
    SLASH_REPLACED,
    document_to_heading,
    entries_at,
    heading_to_document,
    item_to_document,
    move_documents,
    outermost,
    remove_documents,
)
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document, NotFound, Workspace
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"


def told(kernel: MemoryKernel, cmd: str) -> list[Any]:
    return [event.data for event in kernel.workspace.take_events() if event.cmd == cmd]


def path(workspace: Workspace, root_id: str) -> str:
    return workspace.blocks.documents[root_id].path


@pytest.fixture
async def shelf(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str, str, str]:
    """(kernel, notebook, /A, /A/B, /C)."""
    box = await kernel.notebook()
    ids = [await kernel.document(box, hpath, "x") for hpath in ("/A", "/A/B", "/C")]
    kernel.workspace.take_events()
    return kernel, box, ids[0], ids[1], ids[2]


# --- to another place ----------------------------------------------------------------------------------------------
async def test_a_document_moves_with_all_below_it(shelf: tuple[MemoryKernel, str, str, str, str]) -> None:
    kernel, box, a, b, c = shelf
    workspace = kernel.workspace
    move_documents(workspace, [path(workspace, a), path(workspace, b)], box, path(workspace, c), "back")
    assert (path(workspace, a), path(workspace, b)) == (f"/{c}/{a}.sy", f"/{c}/{a}/{b}.sy")
    assert workspace.blocks.documents[b].hpath == "/C/A/B"
    assert workspace.files.exists(f"data/{box}/{c}/{a}/{b}.sy")
    events = workspace.take_events()
    moves = [
        (event.data["fromPath"], event.data["newPath"], event.data["toPath"])
        for event in events
        if event.cmd == "moveDoc"
    ]
    assert moves == [
        (f"/{a}/{b}.sy", f"/{c}/{a}/{b}.sy", f"/{c}/{a}.sy"),
        (f"/{a}.sy", f"/{c}/{a}.sy", f"/{c}.sy"),
    ]
    assert [event.data for event in events if event.cmd == "reloadNotebookInfo"] == [box]


async def test_a_document_moves_to_the_top_of_another_notebook_with_its_place(
    shelf: tuple[MemoryKernel, str, str, str, str],
) -> None:
    kernel, box, a, b, _ = shelf
    workspace = kernel.workspace
    other = await kernel.notebook("Other")
    write_sort(workspace, box, {a: 3, b: 4})
    workspace.take_events()
    move_documents(workspace, [path(workspace, b)], other, f"/{other}.sy")
    assert (workspace.blocks.documents[b].box, path(workspace, b)) == (other, f"/{b}.sy")
    assert read_sort(workspace, other)[b] == 4
    assert not workspace.files.exists(f"data/{box}/{a}")
    events = workspace.take_events()
    assert [event.data for event in events if event.cmd == "reloadNotebookInfo"] == [other]
    assert [event.data["childIDs"] for event in events if event.cmd == "filetreeSortChanged"] == [[b]]
    move_documents(workspace, [path(workspace, a)], other, "/")
    assert told(kernel, "reloadNotebookInfo") == [box, other]


async def test_a_document_that_is_there_already_stays(shelf: tuple[MemoryKernel, str, str, str, str]) -> None:
    kernel, box, a, b, _ = shelf
    workspace = kernel.workspace
    for root_id, place in ((a, "/"), (b, path(workspace, a)), (a, path(workspace, a)), (a, path(workspace, b))):
        move_documents(workspace, [path(workspace, root_id)], box, place)
    assert told(kernel, "moveDoc") == []


async def test_a_move_that_cannot_be_is_refused_as_a_whole(shelf: tuple[MemoryKernel, str, str, str, str]) -> None:
    kernel, box, a, _, c = shelf
    workspace = kernel.workspace
    for paths, box_id, place, error, message in (
        ([path(workspace, a)], GONE, "/", Refusal, QUERY_FAILED),
        ([f"/{GONE}.sy"], box, "/", NotFound, "block not found"),
        ([], box, "/", NotFound, "block not found"),
        ([f"/{box}.sy"], box, path(workspace, c), Refusal, BOX_DOCUMENT_FIXED),
        ([path(workspace, a)], box, f"/{GONE}.sy", NotFound, "block not found"),
    ):
        with pytest.raises(error) as refusal:
            move_documents(workspace, paths, box_id, place)
        assert refusal.value.args == (message,)
    assert told(kernel, "moveDoc") == []


async def test_a_move_goes_no_deeper_than_the_settings_allow(shelf: tuple[MemoryKernel, str, str, str, str]) -> None:
    kernel, box, a, b, _ = shelf
    workspace = kernel.workspace
    hpath, roots = "", []
    for _ in range(DOCUMENT_LEVELS_MAX - 1):
        hpath += "/x"
        roots.append(await kernel.document(box, hpath, "x"))
    with pytest.raises(Refusal, match=TOO_DEEP):
        move_documents(workspace, [path(workspace, a)], box, path(workspace, roots[-1]))
    move_documents(workspace, [path(workspace, a)], box, path(workspace, roots[-2]))
    assert path(workspace, b).count("/") == DOCUMENT_LEVELS_MAX
    workspace.conf.file_tree["allowCreateDeeper"] = True
    move_documents(workspace, [path(workspace, a)], box, path(workspace, roots[-1]))
    assert path(workspace, b).count("/") == DOCUMENT_LEVELS_MAX + 1


async def test_several_documents_are_removed_once(shelf: tuple[MemoryKernel, str, str, str, str]) -> None:
    kernel, box, a, b, c = shelf
    workspace = kernel.workspace
    assert [entry.id for entry in outermost(entries_at(workspace, [f"/{b}.sy", f"/{a}.sy", f"/{a}.sy"]))] == [a]
    with pytest.raises(Refusal, match=BOX_DOCUMENT_FIXED):
        remove_documents(workspace, [f"/{a}.sy", f"/{box}.sy"])
    remove_documents(workspace, [f"/{a}.sy", f"/{a}/{b}.sy", f"/{c}.sy"])
    assert told(kernel, "reloadNotebookInfo") == [box]
    assert [workspace.block_exists(one) for one in (a, b, c)] == [False, False, False]


# --- out of a heading or an item -----------------------------------------------------------------------------------
async def document(kernel: MemoryKernel, markdown: str) -> Document:
    box = (
        kernel.workspace.notebooks.listed(6)[0].id if kernel.workspace.notebooks.listed(6) else await kernel.notebook()
    )
    found = kernel.workspace.document(await kernel.document(box, "/Doc", markdown))
    kernel.workspace.take_events()
    return found


def texts(node: Node) -> list[str]:
    """The text of each block right below, with its level in front if it is a heading."""
    return [
        "#" * int(child.fields.get("HeadingLevel", 0))
        + "".join(below.data for below in child.walk() if below.type == "NodeText")
        for child in node.children
    ]


async def test_a_heading_becomes_a_document_of_its_section(kernel: MemoryKernel) -> None:
    source = await document(kernel, "start\n\n## a/b\n\ntext\n\n#### low\n\n###### lower\n\n## next")
    workspace = kernel.workspace
    head = source.root.children[1]
    head.properties["fold"] = "1"
    source_id, place = heading_to_document(workspace, head.id, source.box, "/", "", False)
    made = workspace.document(head.id)
    assert (source_id, place, made.tree.hpath) == (source.id, f"/{head.id}.sy", "/a_b")
    assert (texts(workspace.document(source.id).root), texts(made.root)) == (
        ["start", "##next"],
        ["text", "##low", "####lower"],
    )
    assert "fold" not in made.root.properties
    (message,) = [event for event in workspace.take_events() if event.cmd == "msg"]
    assert message.msg == SLASH_REPLACED


async def test_a_document_that_loses_all_keeps_an_empty_paragraph(kernel: MemoryKernel) -> None:
    source = await document(kernel, "# only")
    head = source.root.children[0]
    heading_to_document(kernel.workspace, head.id, source.box, source.path, "", True)
    assert texts(kernel.workspace.document(source.id).root) == [""]
    made = kernel.workspace.document(head.id)
    assert (made.path, texts(made.root)) == (f"/{source.id}/{head.id}.sy", [""])


async def test_an_item_becomes_a_document_of_its_children(kernel: MemoryKernel) -> None:
    source = await document(kernel, "* a/b\n\n  more\n  * low\n* [ ] done")
    workspace = kernel.workspace
    items, tasks = source.root.children
    (item,), (task,) = items.children, tasks.children
    item.properties["fold"] = "1"
    item_to_document(workspace, item.id, source.box, f"/{source.box}.sy", "", False)
    made = workspace.document(item.id)
    assert (made.root.properties["title"], texts(made.root), made.path) == (
        "ab",
        ["a/b", "more", "low"],
        f"/{item.id}.sy",
    )
    assert [child.type for child in workspace.document(source.id).root.children] == ["NodeList"]
    assert "fold" not in made.root.properties
    item_to_document(workspace, task.id, source.box, "/", "", False)
    assert texts(workspace.document(task.id).root) == ["done"]
    assert texts(workspace.document(source.id).root) == [""]


async def test_an_item_of_several_leaves_the_others(kernel: MemoryKernel) -> None:
    source = await document(kernel, "* one\n* two")
    first, second = source.root.children[0].children
    for child in list(second.children):
        source.drop(child.detach())
    item_to_document(kernel.workspace, second.id, source.box, "/", "", False)
    made = kernel.workspace.document(second.id)
    assert (made.root.properties["title"], texts(made.root)) == ("", [""])
    assert texts(kernel.workspace.document(source.id).root.children[0]) == ["one"]
    assert kernel.workspace.document(source.id).node(first.id) is not None


async def test_the_list_below_another_item_is_gone_for_the_next_reader(kernel: MemoryKernel) -> None:
    source = await document(kernel, "* outer\n  * inner\n* last")
    outer = source.root.children[0].children[0]
    source.drop(outer.children[0].detach())
    inner = outer.children[0].children[0]
    item_to_document(kernel.workspace, inner.id, source.box, "/", "", False)
    assert texts(kernel.workspace.document(source.id).root.children[0]) == ["last"]


async def test_a_new_document_stands_beside_the_one_that_is_named(kernel: MemoryKernel) -> None:
    source = await document(kernel, "# one\n\n# two")
    workspace = kernel.workspace
    one, two = source.root.children
    after = await kernel.document(source.box, "/After", "x")
    heading_to_document(workspace, one.id, source.box, "", path(workspace, after), False)
    places = read_sort(workspace, source.box)
    assert places[one.id] == places[after] + 1
    assert path(workspace, one.id) == f"/{one.id}.sy"
    for to_path, previous in (("/", f"/{GONE}.sy"), (f"/{GONE}.sy", "")):
        with pytest.raises(NotFound, match="block not found"):
            heading_to_document(workspace, two.id, source.box, to_path, previous, False)


async def test_only_a_block_of_the_kind_becomes_a_document(kernel: MemoryKernel) -> None:
    source = await document(kernel, "text\n\n# head")
    text, head = source.root.children
    for block_id in (GONE, text.id, source.id):
        with pytest.raises(NotFound, match="block not found"):
            heading_to_document(kernel.workspace, block_id, source.box, "/", "", False)
    with pytest.raises(NotFound, match="block not found"):
        item_to_document(kernel.workspace, head.id, source.box, "/", "", False)


# --- into a heading ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("target", "at", "after", "merged"),
    [
        ("## h\n\ntext\n\n## i", 0, True, ["##h", "text", "##Source", "body", "###deep", "##i"]),
        ("## h\n\ntext\n\n## i", 0, False, ["##Source", "body", "###deep", "##h", "text", "##i"]),
        ("## h\n\ntext\n\n## i", 1, True, ["##h", "text", "###Source", "body", "####deep", "##i"]),
        ("###### h\n\ntext", 1, True, ["######h", "text", "######Source", "body", "######deep"]),
        ("text", 0, False, ["#Source", "body", "##deep", "text"]),
        ("## empty\n\n## i", 0, True, ["##empty", "##Source", "body", "###deep", "##i"]),
    ],
)
async def test_a_document_becomes_a_heading_beside_a_block(
    kernel: MemoryKernel, target: str, at: int, after: bool, merged: list[str]
) -> None:
    document_ = await document(kernel, target)
    workspace = kernel.workspace
    source = await kernel.document(document_.box, "/Source", "body\n\n# deep")
    workspace.take_events()
    place = path(workspace, source)
    assert document_to_heading(workspace, source, document_.root.children[at].id, after) == (document_.box, place)
    assert texts(workspace.document(document_.id).root) == merged
    assert workspace.blocks.root_of(source) == document_.id
    assert not workspace.files.exists(f"data/{document_.box}{place}")
    assert told(kernel, "removeDoc") == [{"ids": [source]}]


async def test_tags_become_a_line_and_an_item_takes_the_heading(kernel: MemoryKernel) -> None:
    target = await document(kernel, "* item")
    workspace = kernel.workspace
    source = await kernel.document(target.box, "/Source", "body")
    await kernel.call("attr/setBlockAttrs", id=source, attrs={"tags": "a,b", "custom-x": "1"})
    item = target.root.children[0].children[0]
    document_to_heading(workspace, source, item.id, True)
    paragraph, head, tags, body = workspace.document(target.id).nodes[item.id].children
    assert (paragraph.type, head.type, body.type) == ("NodeParagraph", "NodeHeading", "NodeParagraph")
    assert (head.properties["custom-x"], "tags" in head.properties, "type" in head.properties) == ("1", False, False)
    marks = [node.fields["TextMarkTextContent"] for node in tags.walk() if node.type == "NodeTextMark"]
    assert (marks, [node.data for node in tags.walk() if node.type == "NodeText"]) == (["a", "b"], [" "])


async def test_a_document_that_is_no_heading_is_refused(shelf: tuple[MemoryKernel, str, str, str, str]) -> None:
    kernel, box, a, b, c = shelf
    workspace = kernel.workspace
    (text,) = await kernel.children(c)
    (own,) = await kernel.children(b)
    for source, target, error, message in (
        (GONE, text, NotFound, "block not found"),
        (box, text, Refusal, BOX_DOCUMENT_FIXED),
        (a, text, Refusal, HAS_CHILDREN),
        (b, own, NotFound, "block not found"),
        (b, c, NotFound, "block not found"),
    ):
        with pytest.raises(error) as refusal:
            document_to_heading(workspace, source, target, True)
        assert refusal.value.args == (message,)
    for ids in ((b, GONE), (b, "x"), ("x", text)):
        assert document_to_heading(workspace, *ids, True) == ("", "")
    document_to_heading(workspace, b, text, True)
    assert not workspace.files.exists(f"data/{box}/{a}")
