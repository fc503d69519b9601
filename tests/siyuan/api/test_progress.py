"""What main windows are shown while an export or a change of many documents goes on, as the real kernel pushes it."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel

COMPLETE = (2, "", {"current": 100, "total": 100})
UNCOVERED = ("cprogress", "", None)


class Window:
    """A main window on some notes: what is pushed to it."""

    def __init__(self, kernel: MemoryKernel) -> None:
        self.kernel = kernel
        self.frames: list[dict[str, Any]] = []
        self.box = ""
        self.ids: list[str] = []

    async def fill(self) -> None:
        self.kernel.workspace.files.write("data/assets/x.png", b"picture")
        self.box = await self.kernel.notebook("Box")
        for hpath, markdown in (
            ("/One", "text #a/b# ![x](assets/x.png)"),
            ("/One/Two", "child"),
            ("/Three <i>", "last"),
        ):
            self.ids.append(await self.kernel.document(self.box, hpath, markdown))
        await self.kernel.call("query/sql", stmt="SELECT 1")
        self.kernel.kernel.push.add(PushSession("app", "window", "main", self.frames.append))

    async def shown(self, path: str, **arguments: Any) -> list[str]:
        """The words of a call; its end is told by ``ends``."""
        self.frames.clear()
        await self.kernel.call(path, **arguments)
        return [frame["msg"] for frame in self.frames if frame["cmd"] == "progress" and frame["code"] == 1]

    def ends(self) -> list[Any]:
        return [
            (frame["code"], frame["msg"], frame["data"]) if frame["cmd"] == "progress" else UNCOVERED
            for frame in self.frames
            if frame["cmd"] == "cprogress" or (frame["cmd"] == "progress" and frame["code"] == 2)
        ]

    def packing(self, path: str) -> str:
        place = self.kernel.workspace.files.absolute(f"temp/export/{path}")
        return f"Exporting data... Compressing file [{place}], please wait..."


def at_work(*names: str) -> list[str]:
    return [f"Exporting data... Processing [{name}], please wait..." for name in names]


@pytest.fixture
async def window(kernel: MemoryKernel) -> Window:
    opened = Window(kernel)
    await opened.fill()
    return opened


async def test_an_export_as_markdown_tells_its_documents_twice_and_the_files_it_packs(window: Window) -> None:
    shown = await window.shown("export/exportMd", id=window.ids[0])
    files = ("One/Two.md", "One.md", "assets/x.png")
    assert shown == [*at_work("1/2 One", "2/2 Two") * 2, *(window.packing(f"One.md/{path}") for path in files)]
    assert window.ends() == [COMPLETE]


async def test_what_only_pandoc_could_make_is_told_once(window: Window) -> None:
    shown = await window.shown("export/exportOrgMode", id=window.ids[0])
    assert shown == [*at_work("1/2 One", "2/2 Two"), window.packing("One.org/assets/x.png")]


async def test_an_export_of_stored_documents_tells_what_it_has_written(window: Window) -> None:
    shown = await window.shown("export/exportSY", id=window.ids[0])
    assert shown[:5] == [*at_work("1/2 One", "2/2 Two") * 2, "Exporting data..."]
    assert shown[5:7] == [f"Exporting data... Data file [{one}] created" for one in ("1/2 /One", "2/2 /One/Two")]
    assert shown[7:8] == at_work("assets/x.png")
    assert shown[-1] == window.packing("One/assets/x.png")
    assert window.ends() == [COMPLETE]


@pytest.mark.parametrize(("route", "name"), [("exportNotebookMd", "notebook"), ("exportNotebookSY", "id")])
async def test_a_notebooks_export_says_first_what_it_does_and_ends_twice(window: Window, route: str, name: str) -> None:
    shown = await window.shown(f"export/{route}", **{name: window.box})
    assert shown[0] == "Exporting data..."
    assert len(shown) > 10
    assert window.ends() == [COMPLETE, COMPLETE]
    assert await window.shown(f"export/{route}", **{name: "20200101000000-aaaaaaa"}) == ["Exporting data..."]
    assert window.ends() == [COMPLETE]


async def test_the_data_folders_export_tells_its_files(window: Window) -> None:
    shown = await window.shown("export/exportData")
    assert shown[0] == "Exporting data..."
    assert shown[1:] == [one for one in shown if "Compressing file [" in one]
    assert any(one.endswith("/assets/x.png], please wait...") for one in shown)
    assert window.ends() == [COMPLETE]


async def test_a_text_is_no_export_to_wait_for(window: Window) -> None:
    assert await window.shown("export/exportMdContent", id=window.ids[0]) == []
    assert window.ends() == []


async def test_changes_of_many_documents_cover_the_window(window: Window) -> None:
    one, _, three = window.ids
    saved = [f"[{one}]", "Saving data [One]..."]
    assert await window.shown("tag/renameTag", oldLabel="a/b", newLabel="a/c") == ["Renaming...", *saved]
    assert window.ends() == [UNCOVERED]
    assert await window.shown("tag/removeTag", label="a/c") == ["Processing, please wait...", *saved]
    assert window.ends() == [UNCOVERED]
    assert await window.shown("tag/renameTag", oldLabel="x", newLabel="x") == []
    await window.kernel.call("attr/setBlockAttrs", id=three, attrs={"bookmark": "m"})
    marked = [f"[{three}]", "Saving data [Three &lt;i&gt;]..."]
    assert await window.shown("bookmark/renameBookmark", oldBookmark="m", newBookmark="n") == ["Renaming...", *marked]
    assert window.ends() == [COMPLETE]
    assert await window.shown("bookmark/removeBookmark", bookmark="n") == ["Processing, please wait...", *marked]
    assert window.ends() == [UNCOVERED]
    shown = await window.shown("asset/renameAsset", oldPath="assets/x.png", newName="y")
    assert shown == ["Renaming...", "Saving data [One]..."]
    assert window.ends() == [UNCOVERED]
    await window.shown("search/findReplace", k="last", r="lost", ids=[three], types={}, method=0, paths=[])
    assert window.ends() == [UNCOVERED]
    assert await window.shown("filetree/removeDocs", paths=[f"/{three}.sy"]) == ["Processing, please wait..."]
    assert window.ends() == [UNCOVERED]


async def test_a_refused_change_leaves_no_cover(window: Window) -> None:
    window.frames.clear()
    await window.kernel.refusal("filetree/removeDocs", paths=[f"/{window.box}.sy"])
    assert [frame["cmd"] for frame in window.frames] == ["progress", "cprogress"]
