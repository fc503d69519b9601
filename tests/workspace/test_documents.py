"""Documents as wholes: create, rename, remove, duplicate."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.attributes import attributes_of
from kernel.workspace.doc_tree import read_sort
from kernel.workspace.documents import (
    BOX_DOCUMENT_FIXED,
    DUPLICATED,
    HIDDEN_NAME,
    QUERY_FAILED,
    TITLE_EMPTY,
    TITLE_TOO_LONG,
    TOO_DEEP,
    Refusal,
    create_by_hpath,
    create_document,
    created,
    document_or_none,
    duplicate_document,
    hpath_parent,
    inside_box,
    keep_version,
    new_tree,
    remove_document,
    rename_document,
    stamp_of,
    tell_removed,
)
from kernel.workspace.intake import markdown_blocks
from kernel.workspace.limits import DOCUMENT_LEVELS_MAX, TITLE_RUNES_MAX
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

NEW = "20240101000000-newnewn"
GONE = "20240101000000-unknown"


def told(kernel: MemoryKernel, cmd: str) -> list[Any]:
    return [event.data for event in kernel.workspace.take_events() if event.cmd == cmd]


async def test_an_empty_document_is_its_title_and_one_paragraph(kernel: MemoryKernel) -> None:
    tree = new_tree(kernel.workspace, "box", f"/{NEW}.sy", 'a "b"')
    assert tree.root.properties == {"id": NEW, "title": "a &quot;b&quot;", "type": "doc", "updated": "20240101000000"}
    assert [child.type for child in tree.root.children] == ["NodeParagraph"]
    assert (stamp_of(NEW), stamp_of("plain")) == ("20240101000000", "plain")


async def test_a_document_is_made_of_blocks_and_told(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    workspace.take_events()
    blocks = markdown_blocks(workspace, "one\n\ntwo")
    document = create_document(workspace, box, f"/{NEW}.sy", " A/B ", blocks)
    assert (document.tree.hpath, TITLE_EMPTY in document.root.properties) == ("/AB", False)
    assert document.root.children == blocks
    (saved,) = told(kernel, "savedoc")
    assert (saved["rootID"], saved["sources"][0]["doOperations"][0]["action"]) == (NEW, "create")
    for name, is_asked_for in ((" ", False), ("named", True)):
        other = create_document(workspace, box, f"/{workspace.new_id()}.sy", name, [], is_title_empty=is_asked_for)
        assert other.root.properties[TITLE_EMPTY] == "true"
        assert other.root.properties["title"] == (name.strip() or "Untitled")


@pytest.mark.parametrize(
    ("path", "title", "error", "message"),
    [
        ("/PARENT.sy", "x", Refusal, DUPLICATED),
        ("/.hidden.sy", "x", Refusal, HIDDEN_NAME),
        (f"/{NEW}.sy", "x" * (TITLE_RUNES_MAX + 1), Refusal, TITLE_TOO_LONG),
        (f"/{GONE}/{NEW}.sy", "x", NotFound, "block not found"),
    ],
)
async def test_a_place_that_takes_no_document_is_refused(
    kernel: MemoryKernel, path: str, title: str, error: type[Exception], message: str
) -> None:
    box = await kernel.notebook()
    parent = await kernel.document(box, "/Parent", "x")
    with pytest.raises(error) as refusal:
        create_document(kernel.workspace, box, path.replace("PARENT", parent), title, [])
    assert str(refusal.value) == message
    with pytest.raises(NotFound, match="notebook not found"):
        create_document(kernel.workspace, GONE, path, "x", [])


async def test_documents_lie_seven_levels_deep_unless_the_settings_say_more(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    deepest = "/x" * DOCUMENT_LEVELS_MAX
    create_by_hpath(workspace, box, deepest, [], document_id=NEW)
    with pytest.raises(Refusal, match=TOO_DEEP):
        create_by_hpath(workspace, box, f"{deepest}/y", [], document_id=GONE)
    workspace.conf.file_tree["allowCreateDeeper"] = True
    assert create_by_hpath(workspace, box, f"{deepest}/y", [], document_id=GONE).tree.hpath == f"{deepest}/y"


async def test_a_path_of_titles_makes_what_is_missing_on_the_way(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    first = create_by_hpath(workspace, box, "/a/ b /c.sy", [], document_id=NEW)
    assert first.tree.hpath == "/a/b/c"
    (above,) = workspace.blocks.at_hpath(box, "/a/b")
    second = create_by_hpath(workspace, box, "/a/b/c", [], document_id=workspace.new_id())
    assert (second.path.rpartition("/")[0], second.id != first.id) == (above.path.removesuffix(".sy"), True)


async def test_the_parent_that_a_call_names_counts_if_it_stands_there(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    one, two = [await kernel.document(box, "/same", "x") for _ in range(2)]

    def folder(hpath: str, parent_id: str) -> str:
        document = create_by_hpath(workspace, box, hpath, [], document_id=workspace.new_id(), parent_id=parent_id)
        return document.path.rpartition("/")[0]

    assert folder("/same/x", two) == f"/{two}"
    assert folder("/same/x", "") == f"/{one}"
    assert folder("/other/x", two) not in (f"/{one}", f"/{two}")
    assert folder("/same/x", GONE) == f"/{one}"
    assert folder("/same/x", box) == ""


async def test_a_path_below_the_notebooks_document_is_one_at_the_top(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    parent = await kernel.document(box, "/Parent", "x")
    assert inside_box(box, f"/{box}/{NEW}.sy") == f"/{NEW}.sy"
    assert inside_box(box, f"/{NEW}.sy") == f"/{NEW}.sy"
    assert hpath_parent(kernel.workspace, f"/{NEW}.sy") == "/"
    assert hpath_parent(kernel.workspace, f"/{parent}/{NEW}.sy") == "/Parent"


async def test_a_new_document_takes_its_place_in_its_folder(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    document = create_document(kernel.workspace, box, f"/{NEW}.sy", "x", [])
    assert NEW not in read_sort(kernel.workspace, box)
    created(kernel.workspace, document)
    assert NEW in read_sort(kernel.workspace, box)


async def test_a_renamed_document_is_told_and_followed(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    target = await kernel.document(box, "/Old", "x")
    source = await kernel.document(box, "/Source", f"(({target} 'Old'))")
    path = workspace.entry(target).path
    workspace.take_events()
    rename_document(workspace, box, path, "Old")
    assert told(kernel, "rename") == []
    rename_document(workspace, box, path, "New <b>")
    (rename,) = told(kernel, "rename")
    assert (rename["title"], rename["refText"], rename["empty"]) == ("New <b>", "New &lt;b&gt;", False)
    (anchor,) = [node for node in workspace.document(source).root.walk() if node.type == "NodeTextMark"]
    assert anchor.fields["TextMarkTextContent"] == "New &lt;b&gt;"
    rename_document(workspace, box, path, "")
    assert workspace.document(target).root.properties["title"] == "Untitled"
    (rename,) = told(kernel, "rename")
    assert rename["empty"] is True
    rename_document(workspace, box, path, "Untitled")
    assert TITLE_EMPTY not in workspace.document(target).root.properties


async def test_attributes_that_were_shown_are_kept_over_a_rename(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    shown = await kernel.document(box, "/One", "x")
    unseen = create_document(workspace, box, f"/{NEW}.sy", "Two", []).id
    attributes_of(workspace, shown)
    for root_id in (shown, unseen):
        for title in ("New", "Newer"):
            rename_document(workspace, box, workspace.entry(root_id).path, title)
    assert (attributes_of(workspace, shown)["title"], attributes_of(workspace, unseen)["title"]) == ("One", "Newer")


async def test_what_cannot_be_renamed_is_told_in_the_systems_words(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    parent = await kernel.document(box, "/Parent", "x")
    await kernel.document(box, "/Parent/Child", "x")
    where = workspace.files.absolute(f"data/{box}")
    for path, message in (
        (f"/{GONE}.sy", f"open {where}/{GONE}.sy: no such file or directory"),
        (f"/{parent}", f"read {where}/{parent}: is a directory"),
        ("/", f"read {where}: is a directory"),
        ("/../x.sy", "path [/../x.sy] must not contain '..'"),
    ):
        with pytest.raises(NotFound) as error:
            rename_document(workspace, box, path, "x")
        assert error.value.args == (message,)
    with pytest.raises(Refusal, match=QUERY_FAILED):
        rename_document(workspace, GONE, "/x.sy", "x")


async def test_a_removed_document_lies_in_history_with_all_below_it(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    parent = await kernel.document(box, "/Parent", "x")
    child = await kernel.document(box, "/Parent/Child", "x")
    low = await kernel.document(box, "/Parent/Child/Low", "x")
    workspace.take_events()
    assert remove_document(workspace, box, workspace.entry(child).path) == [child, low]
    assert told(kernel, "removeDoc") == [{"ids": [child, low]}]
    assert not workspace.files.exists(f"data/{box}/{parent}")
    assert not {child, low} & set(read_sort(workspace, box))
    kept = {path.partition("-delete/")[2] for path, _ in workspace.files.walk("history")}
    assert kept == {f"{box}/{parent}/{child}.sy", f"{box}/{parent}/{child}/{low}.sy"}
    assert remove_document(workspace, box, workspace.entry(parent).path) == [parent]
    with pytest.raises(NotFound, match="block not found"):
        remove_document(workspace, box, f"/{parent}.sy")
    with pytest.raises(Refusal, match=BOX_DOCUMENT_FIXED):
        remove_document(workspace, box, f"/{box}.sy")
    with pytest.raises(NotFound, match="notebook not found"):
        remove_document(workspace, GONE, f"/{parent}.sy")


async def test_what_lay_above_removed_documents_is_told(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    parent = await kernel.document(box, "/Parent", "x")
    workspace.take_events()
    tell_removed(
        workspace, [(box, f"/{parent}/{NEW}.sy"), (box, f"/{NEW}.sy"), (box, f"/{GONE}.sy"), (box, f"/{GONE}/x.sy")]
    )
    events = workspace.take_events()
    assert [event.data for event in events if event.cmd == "reloadNotebookInfo"] == [box]
    assert [event.data()["rootID"] for event in events if event.cmd == "reloadDocInfo"] == [parent]


async def test_a_version_is_kept_as_it_lies_on_disk(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "x")
    keep_version(kernel.workspace, root_id, "update")
    kept = f"history/2026-03-01-090000-update/{box}/{root_id}.sy"
    assert kernel.workspace.files.read(kept) == kernel.workspace.files.read(f"data/{box}/{root_id}.sy")


async def test_a_copy_has_ids_of_its_own_and_refers_to_itself(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    root_id = await kernel.document(box, "/Doc", "one\n\ntwo")
    one, two = await kernel.children(root_id)
    await kernel.call("block/updateBlock", id=two, dataType="markdown", data=f"(({one} 'one')) (({root_id} 'Doc'))")
    document = workspace.document(root_id)
    document.root.properties["scroll"] = "{}"
    document.nodes[one].properties |= {"custom-avs": "x", "custom-sy-av-s-text-y": "z", "custom-kept": "1"}
    copied = duplicate_document(workspace, one)
    copy = workspace.document(copied["id"])
    assert copy.root.properties["title"] == "Doc (Duplicated 2026-03-01 09:00:00)"
    assert (copied["notebook"], copied["path"]) == (box, f"/{copied['id']}.sy")
    assert copied["hPath"] == "/Doc  (Duplicated 2026-03-01 09:00:00)"
    assert not {root_id, one, two} & set(copy.nodes)
    assert "scroll" not in copy.root.properties
    first = copy.root.children[0]
    assert [name for name in first.properties if name.startswith("custom-")] == ["custom-kept"]
    targets = [node.fields["TextMarkBlockRefID"] for node in copy.root.walk() if "TextMarkBlockRefID" in node.fields]
    assert targets == [first.id, root_id]
    assert read_sort(workspace, box)[copied["id"]] > 0


async def test_a_copy_of_a_notebooks_document_is_shown_and_one_without_title_has_none(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    copy = workspace.document(duplicate_document(workspace, box)["id"])
    assert "custom-hidden" not in copy.root.properties
    untitled = create_document(workspace, box, f"/{NEW}.sy", "", [])
    assert workspace.document(duplicate_document(workspace, untitled.id)["id"]).root.properties["title"] == "Untitled"


async def test_a_document_that_is_not_there_or_cannot_be_read_is_none(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "x")
    assert document_or_none(kernel.workspace, GONE) is None
    found = document_or_none(kernel.workspace, root_id)
    assert found is not None
    assert found.id == root_id
    kernel.workspace.forget_tree(root_id)
    kernel.workspace.files.write(f"data/{box}/{root_id}.sy", b"{")
    assert document_or_none(kernel.workspace, root_id) is None
