"""What is done with whole notebooks, and their own hidden documents."""

from __future__ import annotations

import json

import pytest

from kernel.workspace.boxes import (
    NO_DAILY_NOTE_PATH,
    NOT_A_FOLDER,
    QUERY_FAILED,
    TITLE_TOO_LONG,
    box_json,
    change_box_sort,
    close_box,
    create_box,
    ensure_box_document,
    list_boxes,
    open_box,
    remove_box,
    rename_box,
    set_box_conf,
    set_box_icon,
)
from kernel.workspace.documents import Refusal
from kernel.workspace.limits import TITLE_RUNES_MAX
from kernel.workspace.notebooks import BoxConfError
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

UNKNOWN = "20240101000000-unknown"


def names(kernel: MemoryKernel) -> list[str]:
    return [notebook.name for notebook in list_boxes(kernel.workspace)]


def test_a_new_notebook_stands_first_and_the_others_are_renumbered(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    for name in ("One", "Two", " /Three"):
        create_box(workspace, name)
    assert [(one.name, one.conf["sort"]) for one in list_boxes(workspace)] == [("Three", 0), ("Two", 1), ("One", 2)]
    assert create_box(workspace, " ").name == "Untitled"


def test_a_notebook_that_has_its_number_is_not_written(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    first = create_box(workspace, "One")
    workspace.notebooks.save(first.id, {**first.conf, "sort": 1})
    workspace.files.flush()
    create_box(workspace, "Two")
    assert not workspace.files.is_pending(f"data/{first.id}/.siyuan/conf.json")


def test_a_name_has_a_length(kernel: MemoryKernel) -> None:
    assert create_box(kernel.workspace, "x" * TITLE_RUNES_MAX).name == "x" * TITLE_RUNES_MAX
    with pytest.raises(Refusal, match=TITLE_TOO_LONG):
        create_box(kernel.workspace, "x" * (TITLE_RUNES_MAX + 1))


async def test_a_closed_notebook_is_opened_with_its_documents(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    assert open_box(workspace, box)
    close_box(workspace, box)
    close_box(workspace, box)
    close_box(workspace, UNKNOWN)
    assert not workspace.block_exists(root_id)
    assert not open_box(workspace, box)
    assert workspace.block_exists(root_id)
    with pytest.raises(Refusal, match=NOT_A_FOLDER):
        open_box(workspace, UNKNOWN)


def test_a_folder_that_was_no_notebook_becomes_one(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    assert names(kernel) == []
    workspace.files.make_dir(f"data/{UNKNOWN}")
    assert not open_box(workspace, UNKNOWN)
    assert (workspace.box(UNKNOWN).name, workspace.blocks.root_of(UNKNOWN)) == ("Untitled", UNKNOWN)
    assert workspace.document(UNKNOWN).root.properties["title"] == "Untitled"


def test_a_renamed_notebook_renames_its_document_if_it_has_one(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = create_box(workspace, "Old").id
    rename_box(workspace, box, "New")
    assert workspace.blocks.documents[box].title == "New"
    workspace.conf.file_tree["boxDocEnabled"] = False
    other = create_box(workspace, "Old").id
    rename_box(workspace, other, "Newer")
    assert (workspace.box(other).name, workspace.blocks.root_of(other)) == ("Newer", None)
    close_box(workspace, box)
    with pytest.raises(Refusal, match=QUERY_FAILED):
        rename_box(workspace, box, "x")
    with pytest.raises(Refusal, match=QUERY_FAILED):
        rename_box(workspace, UNKNOWN, "x")


async def test_a_removed_notebook_leaves_its_assets_in_the_common_folder(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    for path in (f"{box}/assets/a.png", f"{box}/{root_id}/assets/deep/b.png"):
        workspace.files.write(f"data/{path}", path.encode())
    remove_box(workspace, box)
    remove_box(workspace, box)
    assert workspace.files.read("data/assets/a.png") == f"{box}/assets/a.png".encode()
    assert workspace.files.exists("data/assets/deep/b.png")
    assert not workspace.files.exists(f"data/{box}")
    assert workspace.notebooks.get(box) is None
    kept = [path.partition("-delete/")[2] for path, _ in workspace.files.walk("history")]
    assert {f"{box}/{root_id}.sy", f"{box}/.siyuan/conf.json"} <= set(kept)


def test_an_icon_is_kept_by_notebook_and_document(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = create_box(workspace, "Box").id
    workspace.take_events()
    set_box_icon(workspace, box, "1f4d4")
    assert (workspace.box(box).conf["icon"], workspace.document(box).root.properties["icon"]) == ("1f4d4", "1f4d4")
    assert [event.cmd for event in workspace.take_events() if event.cmd == "transactions"] == ["transactions"]
    set_box_icon(workspace, box, "")
    assert "icon" not in workspace.document(box).root.properties
    workspace.conf.file_tree["boxDocEnabled"] = False
    bare = create_box(workspace, "Bare").id
    set_box_icon(workspace, bare, "1f4d4")
    assert workspace.box(bare).conf["icon"] == "1f4d4"
    before = len(list_boxes(workspace))
    for unknown in (UNKNOWN, "../../conf", ""):
        set_box_icon(workspace, unknown, "x")
    assert len(list_boxes(workspace)) == before


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"dailyNoteSavePath": " a / b "}, ("dailyNoteSavePath", "/a/b")),
        ({"dailyNoteSavePath": ""}, ("dailyNoteSavePath", "")),
        ({"dailyNoteTemplatePath": "t"}, ("dailyNoteTemplatePath", "/t.md")),
        ({"dailyNoteTemplatePath": "/a/t.md"}, ("dailyNoteTemplatePath", "/a/t.md")),
        ({"dailyNoteTemplatePath": ""}, ("dailyNoteTemplatePath", "")),
        ({"docCreateSavePath": "x / "}, ("docCreateSavePath", "x/")),
    ],
)
def test_paths_of_a_notebook_are_completed(
    kernel: MemoryKernel, changes: dict[str, str], kept: tuple[str, str]
) -> None:
    box = create_box(kernel.workspace, "Box").id
    name, value = kept
    assert set_box_conf(kernel.workspace, box, changes)[name] == value
    assert kernel.workspace.box(box).conf[name] == value


def test_a_notebook_is_closed_and_opened_by_its_configuration(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = create_box(workspace, "Box").id
    set_box_conf(workspace, box, {"closed": True})
    assert not workspace.block_exists(box)
    set_box_conf(workspace, box, {"closed": False})
    assert workspace.block_exists(box)
    for changes, error in (({"dailyNoteSavePath": "/"}, Refusal), ({"sortMode": "x"}, BoxConfError)):
        with pytest.raises(error):
            set_box_conf(workspace, box, changes)
    with pytest.raises(NotFound, match=r"notebook .* not found"):
        set_box_conf(workspace, UNKNOWN, {})
    assert NO_DAILY_NOTE_PATH.startswith("Please specify")


def test_notebooks_are_numbered_as_they_are_put_and_the_open_ones_are_told(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    first, second, closed = (create_box(workspace, name).id for name in ("A", "B", "C"))
    close_box(workspace, closed)
    workspace.take_events()
    change_box_sort(workspace, [second, UNKNOWN, closed, first])
    (told,) = [event.data for event in workspace.take_events() if event.cmd == "notebookSortChanged"]
    assert told == {"notebookIDs": [second, first]}
    assert [workspace.notebooks.listed(6)[at].id for at in range(3)] == [second, closed, first]


async def test_documents_at_the_top_are_counted_where_that_is_asked_for(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "text")
    notebook = kernel.workspace.box(box)
    assert box_json(kernel.workspace, notebook)["subFileCount"] == 0
    assert box_json(kernel.workspace, notebook, counts=True)["subFileCount"] == 1
    kernel.workspace.conf.file_tree["boxDocEnabled"] = False
    assert box_json(kernel.workspace, notebook, counts=True)["subFileCount"] == 0


def test_the_document_of_a_notebook_is_brought_up_to_date_and_never_written_over(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = create_box(workspace, "Box").id
    assert json.loads(workspace.files.read(f"data/{box}/.siyuan/boxDoc.json"))["boxDocID"] == box
    written = workspace.files.changes
    ensure_box_document(workspace, box)
    assert workspace.files.changes == written
    workspace.notebooks.save(box, {**workspace.box(box).conf, "name": "New", "icon": "1f4d4"})
    ensure_box_document(workspace, box)
    properties = workspace.document(box).root.properties
    assert (properties["title"], properties["icon"]) == ("New", "1f4d4")
    workspace.unscan(box)
    workspace.files.write(f"data/{box}/{box}.sy", b"{")
    ensure_box_document(workspace, box)
    assert workspace.files.read(f"data/{box}/{box}.sy") == b"{"
