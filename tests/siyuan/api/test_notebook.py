"""/api/notebook: life of a notebook, its configuration, and what windows are told."""

from __future__ import annotations

import json

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_a_fresh_workspace_has_no_notebooks_and_a_token_of_its_own() -> None:
    kernel = MemoryKernel()
    assert await kernel.call("notebook/lsNotebooks") == {"notebooks": [], "boxDocEnabled": True}
    assert len(kernel.workspace.conf.token) == 16
    assert kernel.restarted().workspace.conf.token == kernel.workspace.conf.token


async def test_a_new_notebook_is_open_first_and_has_a_hidden_document() -> None:
    kernel = MemoryKernel()
    first = await kernel.notebook("One")
    second = await kernel.notebook("Two / <b>")
    listed = (await kernel.call("notebook/lsNotebooks"))["notebooks"]
    assert [(one["id"], one["name"], one["sort"], one["closed"]) for one in listed] == [
        (second, "Two  <b>", 0, False),
        (first, "One", 1, False),
    ]
    assert await kernel.call("filetree/getHPathByID", id=first) == "/"
    assert (await kernel.call("filetree/listDocsByPath", notebook=first, path="/"))["files"] == []
    document = json.loads(kernel.backend.contents[f"data/{first}/{first}.sy"])
    assert document["Properties"]["custom-hidden"] == "true"
    assert document["Properties"]["title"] == "One"


async def test_a_name_may_be_empty_but_not_too_long() -> None:
    kernel = MemoryKernel()
    created = await kernel.call("notebook/createNotebook", name=" ")
    assert created["notebook"]["name"] == "Untitled"
    await kernel.call("notebook/createNotebook", name="x" * 512)
    message = await kernel.refusal("notebook/createNotebook", name="x" * 513)
    assert message == "Maximum length is limited to 512 characters"


async def test_a_closed_notebook_answers_no_reads_and_opens_again() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    await kernel.call("notebook/closeNotebook", notebook=box)
    assert await kernel.refusal("filetree/listDocsByPath", notebook=box, path="/") == "Query notebook failed"
    assert await kernel.refusal("notebook/renameNotebook", notebook=box, name="x") == "Query notebook failed"
    assert not await kernel.call("block/checkBlockExist", id=box)
    kernel.frames.clear()
    await kernel.call("notebook/openNotebook", notebook=box)
    assert await kernel.call("block/checkBlockExist", id=box)
    assert [frame["cmd"] for frame in kernel.frames] == ["msg", "mount", "cmsg"]
    await kernel.call("notebook/openNotebook", notebook=box)
    assert kernel.told("mount")[-1]["existed"] is True


async def test_renaming_a_notebook_renames_its_document_too() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    kernel.frames.clear()
    await kernel.call("notebook/renameNotebook", notebook=box, name="New")
    assert kernel.workspace.blocks.documents[box].title == "New"
    assert [frame["cmd"] for frame in kernel.frames] == ["rename", "renamenotebook", "databaseIndexCommit"]
    await kernel.call("filetree/renameDocByID", id=box, title="Newer")
    assert (await kernel.call("notebook/getNotebookConf", notebook=box))["name"] == "Newer"


async def test_an_icon_is_kept_by_the_notebook_and_its_document() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    await kernel.call("notebook/setNotebookIcon", notebook=box, icon="1f4d4")
    assert (await kernel.call("notebook/getNotebookConf", notebook=box))["conf"]["icon"] == "1f4d4"
    assert (await kernel.call("attr/getBlockAttrs", id=box))["icon"] == "1f4d4"
    for unknown in ("bad", "20200101000000-zzzzzzz", "../../conf"):
        await kernel.call("notebook/setNotebookIcon", notebook=unknown, icon="x")
    assert not any("zzzzzzz" in path for path in kernel.backend.contents)


async def test_configuration_is_merged_and_paths_are_completed() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    conf = {"dailyNoteSavePath": "a / b", "dailyNoteTemplatePath": "t", "sortMode": 6, "unknown": 1, "encrypted": True}
    changed = await kernel.call("notebook/setNotebookConf", notebook=box, conf=conf)
    assert changed["dailyNoteSavePath"] == "/a/b"
    assert changed["dailyNoteTemplatePath"] == "/t.md"
    assert changed["encrypted"] is False
    assert "unknown" not in changed
    message = await kernel.refusal("notebook/setNotebookConf", notebook=box, conf={"dailyNoteSavePath": "/"})
    assert message == "Please specify the daily note save path in the Notebook Settings"
    message = await kernel.refusal("notebook/setNotebookConf", notebook=box, conf={"sortMode": "x"})
    assert message.startswith("json: cannot unmarshal string")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("notebook/openNotebook", "can not open file, just support open folder only"),
        ("notebook/getNotebookConf", "notebook [20200101000000-zzzzzzz] not found"),
        ("notebook/getNotebookInfo", "notebook [20200101000000-zzzzzzz] not found"),
    ],
)
async def test_an_unknown_notebook_is_named_in_the_kernels_words(path: str, message: str) -> None:
    kernel = MemoryKernel()
    assert await kernel.refusal(path, notebook="20200101000000-zzzzzzz") == message


async def test_a_removed_notebook_lies_in_history_and_its_assets_stay() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    kernel.workspace.files.write(f"data/{box}/assets/a.png", b"picture")
    await kernel.call("notebook/removeNotebook", notebook=box)
    await kernel.call("notebook/removeNotebook", notebook=box)
    assert kernel.backend.contents["data/assets/a.png"] == b"picture"
    assert not any(path.startswith(f"data/{box}") for path in kernel.backend.contents)
    assert any(path.endswith(f"-delete/{box}/{box}.sy") for path in kernel.backend.contents)
    assert kernel.told("onboarding")


async def test_notebooks_are_sorted_as_the_user_says() -> None:
    kernel = MemoryKernel()
    boxes = [await kernel.notebook(name) for name in ("b10", "b9", "a")]
    await kernel.call("notebook/changeSortNotebook", notebooks=boxes)
    assert kernel.told("notebookSortChanged") == [{"notebookIDs": boxes}]
    expected = {6: boxes, 0: [boxes[2], boxes[0], boxes[1]], 1: [boxes[1], boxes[0], boxes[2]], 4: boxes[::-1]}
    for order, wanted in expected.items():
        kernel.workspace.conf.file_tree["sort"] = order
        listed = (await kernel.call("notebook/lsNotebooks"))["notebooks"]
        assert [one["id"] for one in listed] == wanted


async def test_a_notebook_tells_its_size_and_number_of_documents() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    info = (await kernel.call("notebook/getNotebookInfo", notebook=box))["boxInfo"]
    assert (info["name"], info["docCount"]) == ("Notes", 0)
    own = info["size"]
    assert own > 0
    await kernel.document(box, "/Doc", "text")
    kernel.workspace.files.write(f"data/{box}/assets/picture.png", b"not counted")
    await kernel.document(box, "/Doc/Below", "text")
    info = (await kernel.call("notebook/getNotebookInfo", notebook=box))["boxInfo"]
    assert info["docCount"] == 2
    paths = [path for path, _ in kernel.workspace.files.walk(f"data/{box}") if path.endswith(".sy")]
    assert len(paths) == 3
    assert info["size"] == sum(len(kernel.workspace.files.read(path)) for path in paths)
    later_ms = (info["ctime"] + 60) * 1000
    kernel.workspace.files.write(paths[0], kernel.workspace.files.read(paths[0]), modified_ms=later_ms)
    info = (await kernel.call("notebook/getNotebookInfo", notebook=box))["boxInfo"]
    assert info["mtime"] - info["ctime"] == 60


async def test_a_folder_without_configuration_becomes_a_closed_notebook() -> None:
    kernel = MemoryKernel()
    kernel.backend.make_dir("data/20240101000000-abcdefg")
    again = kernel.restarted()
    listed = (await again.call("notebook/lsNotebooks"))["notebooks"]
    assert [(one["id"], one["name"], one["closed"]) for one in listed] == [("20240101000000-abcdefg", "Untitled", True)]
