"""Importing folders of Markdown."""

from __future__ import annotations

import pytest

from kernel.workspace.imports.front_matter import front_matter_block, split_front_matter
from kernel.workspace.imports.markdown_folder import ImportReport, import_folder
from kernel.workspace.imports.sources import MemorySource
from tests.siyuan.kernel_in_memory import MemoryKernel

TREE = {
    "index.md": b"# Start\n\n![pic](img/p.png) [guide](guide/first.md) [gone](none.md) [out](https://e.com/x.md)\n",
    "guide.md": b"the guide\n",
    "guide/first.md": b"---\ntitle: First\ntags: [a, b]\nlastmod: 2024-05-06 07:08:09\nstatus: done\n---\n\nsee [[index]]\n",
    "guide/first2.md": b"plain [self](first2.md)\n",
    "img/p.png": b"\x89PNG",
    ".hidden/x.md": b"never",
    "bad.md": b"\xff\xfe\x00broken",
}


async def imported(files: dict[str, bytes]) -> tuple[MemoryKernel, str, ImportReport]:
    kernel = MemoryKernel()
    box, report = await kernel.notebook(), ImportReport()
    for _ in import_folder(kernel.workspace, box, MemorySource("docs", files), "", report):
        pass
    kernel.workspace.files.flush()
    return kernel, box, report


def hpaths(kernel: MemoryKernel, box: str) -> dict[str, str]:
    return {entry.hpath: entry.id for entry in kernel.workspace.blocks.in_box(box) if entry.id != box}


async def test_folders_and_files_become_documents_and_what_cannot_be_read_is_named() -> None:
    kernel, box, report = await imported(TREE)
    assert set(hpaths(kernel, box)) == {
        "/docs",
        "/docs/index",
        "/docs/guide",
        "/docs/guide/First",
        "/docs/guide/first2",
    }
    assert (report.documents, report.assets) == (5, 1)
    assert [path for path, _ in report.failed] == ["bad.md"]


async def test_links_become_assets_and_references() -> None:
    kernel, box, _ = await imported(TREE)
    found = hpaths(kernel, box)
    index = (await kernel.call("export/exportMdContent", id=found["/docs/index"], yfm=False))["content"]
    kramdown = (await kernel.call("block/getBlockKramdown", id=found["/docs/index"]))["kramdown"]
    assert "![pic](assets/p-" in index
    assert "[[none|gone]]" in index
    assert "[out](https://e.com/x.md)" in index
    assert "[[guide/first|guide]]" in kramdown  # its title is another than its file's name: the kernel finds it not
    first = (await kernel.call("block/getBlockKramdown", id=found["/docs/guide/First"]))["kramdown"]
    assert f"(({found['/docs/index']} 'index'))" in first
    itself = (await kernel.call("block/getBlockKramdown", id=found["/docs/guide/first2"]))["kramdown"]
    assert f'(({found["/docs/guide/first2"]} "self"))' in itself


async def test_front_matter_becomes_attributes() -> None:
    kernel, box, _ = await imported(TREE)
    attributes = await kernel.call("attr/getBlockAttrs", id=hpaths(kernel, box)["/docs/guide/First"])
    assert attributes["tags"] == "a,b"
    assert attributes["custom-status"] == "done"
    assert attributes["updated"] == "20240506070809"


async def test_a_folder_without_notes_brings_only_its_assets() -> None:
    kernel, box, report = await imported({"a.txt": b"x"})
    assert (hpaths(kernel, box), report.documents, report.assets) == ({}, 0, 1)


@pytest.mark.parametrize(
    ("text", "source", "body"),
    [
        ("---\na: 1\n---\nx", "a: 1", "x"),
        ("\n \n---\na: 1\n--- \nx", "a: 1", "x"),
        ("---\n---\nx", "", "x"),
        ("---\n\n---\nx", "", "x"),
        ("---\na: 1\nx", None, "---\na: 1\nx"),
        ("x\n---\n---\n", None, "x\n---\n---\n"),
    ],
)
def test_front_matter_is_shown_as_code(text: str, source: str | None, body: str) -> None:
    matter, rest = split_front_matter(text, MemoryKernel().clock.local())
    assert (matter.source, rest) == (source, body)
    block = front_matter_block(matter, "20240101000000-abcdefg")
    shown = None if block is None else [child.data for child in block.children if child.type == "NodeCodeBlockCode"]
    assert shown == (None if source is None else [f"---\n{source}\n---"])


def test_lists_and_quotes_in_front_matter_are_read() -> None:
    kernel = MemoryKernel()
    text = '---\ntitle: "A: b"\ntags:\n  - "#x"\n  - y\ndate: 2024-01-02\n# note\n---\nbody'
    matter, body = split_front_matter(text, kernel.clock.local())
    assert (matter.title, matter.tags, matter.created, body) == ("A: b", "x,y", "20240102000000", "body")
    assert split_front_matter("--- no", kernel.clock.local())[1] == "--- no"
