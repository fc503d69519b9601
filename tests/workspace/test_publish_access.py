"""Who may see what is published: noted, and forgotten with what it was noted of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.workspace.publish_access import PATH, access_of, entry, note_access, noted
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        (None, []),
        (b"{", []),
        (b"{}", []),
        (b'[1, {"id": "a"}]', [{"id": "a"}]),
    ],
)
def test_a_file_that_cannot_be_read_counts_as_no_note(
    kernel: MemoryKernel, content: bytes | None, notes: list[dict[str, Any]]
) -> None:
    if content is not None:
        kernel.workspace.files.write(PATH, content)
    assert noted(kernel.workspace) == notes


async def test_the_latest_note_on_an_id_holds_and_the_default_is_not_noted(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    workspace = kernel.workspace
    note_access(workspace, entry(root_id, password="p"))
    note_access(workspace, entry(box, visible=False))
    note_access(workspace, entry(root_id, disable=True))
    assert access_of(workspace, [root_id, GONE, box]) == [
        {"id": root_id, "visible": True, "password": "", "disable": True},
        {"id": GONE, "visible": True, "password": "", "disable": False},
        {"id": box, "visible": False, "password": "", "disable": False},
    ]
    note_access(workspace, entry(root_id))
    assert [one["id"] for one in json.loads(workspace.files.read(PATH))] == [box]


async def test_notes_on_what_is_gone_are_dropped_once_every_notebook_is_open(kernel: MemoryKernel) -> None:
    box, other = await kernel.notebook(), await kernel.notebook()
    workspace = kernel.workspace
    workspace.files.write(PATH, json.dumps([entry(GONE, visible=False)]).encode())
    await kernel.call("notebook/closeNotebook", notebook=other)
    note_access(workspace, entry(box, visible=False))
    assert [one["id"] for one in noted(workspace)] == [GONE, box]
    await kernel.call("notebook/openNotebook", notebook=other)
    note_access(workspace, entry(box, visible=False))
    assert [one["id"] for one in noted(workspace)] == [box]
