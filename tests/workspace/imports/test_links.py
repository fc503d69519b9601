"""Links of imported notes."""

from __future__ import annotations

import pytest

from kernel.workspace.imports.front_matter import split_front_matter
from kernel.workspace.imports.links import LinkTargets, follow_links
from kernel.workspace.imports.markdown_folder import ImportReport, import_file, import_folder, target_folder
from kernel.workspace.imports.sources import MemorySource
from kernel.workspace.tree import Node
from tests.siyuan.kernel_in_memory import MemoryKernel

TARGET = "20240101000000-abcdefg"


def note(*inlines: Node) -> Node:
    return Node("NodeDocument", id=TARGET, children=[Node("NodeParagraph", children=list(inlines))])


def mark(link: str, text: str) -> Node:
    fields = {"TextMarkType": "a", "TextMarkAHref": link, "TextMarkTextContent": text}
    return Node("NodeTextMark", fields=fields)


def told(root: Node) -> list[str]:
    """Every inline: its text, a reference in round brackets, a link with its target."""
    found = []
    for node in root.children[0].children:
        fields = node.fields
        if node.type == "NodeText":
            found.append(node.data or "")
        elif fields["TextMarkType"] == "block-ref":
            found.append(f"(({fields['TextMarkTextContent']} {fields['TextMarkBlockRefSubtype']}))")
        else:
            found.append(f"{fields['TextMarkTextContent']} -> {fields['TextMarkAHref']}")
    return found


@pytest.mark.parametrize(
    ("inline", "shown"),
    [
        (mark("a.pdf", "file"), ["file -> assets/a.pdf"]),
        (mark("b.pdf", "file"), ["file -> b.pdf"]),
        (mark("#top", "top"), ["top -> #top"]),
        (mark("other.md", ""), [" -> other.md"]),
        (mark("other.md", "text"), ["((text s))"]),
        (mark("none.md", "text"), ["[[none|text]]"]),
        (Node("NodeText", data="see [[other]] and [[none]]."), ["see ", "((other d))", " and [[none]]."]),
        (Node("NodeText", data="[[other|alias]]"), ["((alias s))"]),
        (Node("NodeText", data="[[none]]"), ["[[none]]"]),
    ],
)
def test_links_lead_to_assets_and_notes_that_came_along(inline: Node, shown: list[str]) -> None:
    targets = LinkTargets.of([("/docs/other", note())])
    root = note(inline)
    follow_links(root, "/docs/this", targets, lambda link: "assets/a.pdf" if link == "a.pdf" else "")
    assert told(root) == shown


async def test_one_file_brings_the_files_that_it_shows() -> None:
    kernel = MemoryKernel()
    box, report = await kernel.notebook(), ImportReport()
    files = {"a.md": b"![p](p.png)", "p.png": b"p", "q.png": b"q", "b.md": b"b"}
    import_file(kernel.workspace, box, MemorySource("docs", files), "a.md", "", report)
    assert (report.documents, report.assets, report.failed) == (1, 1, [])
    assert [entry.hpath for entry in kernel.workspace.blocks.in_box(box) if entry.id != box] == ["/a"]


async def test_a_folder_without_a_note_of_its_name_and_an_empty_note_become_documents() -> None:
    kernel = MemoryKernel()
    box, report = await kernel.notebook(), ImportReport()

    class Failing(MemorySource):
        def read(self, path: str) -> bytes:
            if path.endswith(".png"):
                raise OSError("no such picture")
            return super().read(path)

    files = {"sub/a.md": b"", "p.png": b"p", "own.md": b"own", "own/x.md": b"x", "own.md.txt": b"t"}
    for _ in import_folder(kernel.workspace, box, Failing("docs", files), "", report):
        pass
    found = {entry.hpath: entry for entry in kernel.workspace.blocks.in_box(box) if entry.id != box}
    assert set(found) == {"/docs", "/docs/sub", "/docs/sub/a", "/docs/own", "/docs/own/x"}
    assert report.failed == [("p.png", "no such picture")]
    assert report.assets == 1
    for path, folder in (("", ""), ("/", ""), (f"/{box}.sy", ""), ("/gone.sy", None)):
        assert target_folder(kernel.workspace, box, path) == folder
    entry = found["/docs"]
    assert target_folder(kernel.workspace, box, entry.path) == entry.path.removesuffix(".sy")


def test_names_and_values_that_say_nothing_are_left_out() -> None:
    now = MemoryKernel().clock.local()
    matter, body = split_front_matter("---\nempty:\nwith space: x\nok: y\n---\nbody", now)
    assert (matter.attributes, body) == ({"custom-ok": "y"}, "body")
