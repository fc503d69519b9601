"""Today's note of a notebook."""

from __future__ import annotations

import pytest

from kernel.workspace.boxes import NO_DAILY_NOTE_PATH
from kernel.workspace.daily_notes import daily_note
from kernel.workspace.documents import Refusal
from kernel.workspace.tree import Node
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

TODAY = "custom-dailynote-20260301"


async def box_with(kernel: MemoryKernel, **conf: str) -> str:
    box = await kernel.notebook()
    await kernel.call("notebook/setNotebookConf", notebook=box, conf=conf)
    return box


async def test_the_note_is_made_once_and_found_again(kernel: MemoryKernel) -> None:
    box = await box_with(kernel, dailyNoteSavePath='/daily/{{now | date "2006/01/02"}}')
    made, was_there = daily_note(kernel.workspace, box, None)
    assert (was_there, made.tree.hpath, made.root.properties[TODAY]) == (False, "/daily/2026/03/01", "20260301")
    found, was_there = daily_note(kernel.workspace, box, None)
    assert (was_there, found.id) == (True, made.id)


async def test_a_document_that_stands_where_the_note_belongs_becomes_it(kernel: MemoryKernel) -> None:
    box = await box_with(kernel, dailyNoteSavePath="/today")
    root_id = await kernel.document(box, "/today", "text")
    found, was_there = daily_note(kernel.workspace, box, None)
    assert (was_there, found.id, found.root.properties[TODAY]) == (True, root_id, "20260301")
    assert [child.type for child in found.root.children] == ["NodeParagraph"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", NO_DAILY_NOTE_PATH),
        ("/", NO_DAILY_NOTE_PATH),
        ("/{{nope}}", "Parse template failed"),
        ("/{{now", "Parse template failed"),
    ],
)
async def test_a_path_that_names_no_document_is_refused(kernel: MemoryKernel, path: str, told: str) -> None:
    box = await kernel.notebook()
    kernel.workspace.box(box).conf["dailyNoteSavePath"] = path
    with pytest.raises(Refusal, match=told):
        daily_note(kernel.workspace, box, None)
    with pytest.raises(NotFound, match="notebook not found"):
        daily_note(kernel.workspace, "20240101000000-unknown", None)


def rendered(path: str, root_id: str) -> tuple[list[Node], dict[str, str]]:
    assert path == "data/templates/t.md"
    block = Node("NodeParagraph", id="20240101000000-abcdefg", properties={"id": "20240101000000-abcdefg"})
    block.append(Node("NodeText", data=root_id))
    return [block], {"name": "n", "custom-a": "1", "title": "other", "updated": "0"}


async def test_a_template_fills_the_note_and_gives_it_its_attributes(kernel: MemoryKernel) -> None:
    box = await box_with(kernel, dailyNoteSavePath="/today", dailyNoteTemplatePath="t")
    kernel.workspace.files.write("data/templates/t.md", b"text")
    made, _ = daily_note(kernel.workspace, box, rendered)
    properties = made.root.properties
    assert [node.data for node in made.root.walk() if node.type == "NodeText"] == [made.id]
    assert (properties["name"], properties["custom-a"], properties["title"]) == ("n", "1", "today")
    assert properties["updated"] == "20260301090000"
    assert kernel.workspace.blocks.root_of("20240101000000-abcdefg") == made.id
    assert len(made.nodes) == 2


async def test_a_template_that_is_missing_or_empty_leaves_an_empty_note(kernel: MemoryKernel) -> None:
    box = await box_with(kernel, dailyNoteSavePath="/one", dailyNoteTemplatePath="t")
    made, _ = daily_note(kernel.workspace, box, rendered)
    assert [child.type for child in made.root.children] == ["NodeParagraph"]
    kernel.workspace.files.write("data/templates/t.md", b"")
    kernel.workspace.box(box).conf["dailyNoteSavePath"] = "/two"
    made, _ = daily_note(kernel.workspace, box, lambda path, root_id: ([], {"name": "n"}))
    assert [child.type for child in made.root.children] == ["NodeParagraph"]
    assert "name" not in made.root.properties
