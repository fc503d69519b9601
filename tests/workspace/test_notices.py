"""What windows are told about documents in general."""

from __future__ import annotations

from kernel.workspace.notices import document_notices, ref_count_notices
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"


async def test_a_written_document_is_told_with_the_one_above_and_then_the_index(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    parent = await kernel.document(box, "/Parent", "x")
    child = await kernel.document(box, "/Parent/Child", "x")
    await kernel.call("attr/setBlockAttrs", id=child, attrs={"name": "n", "alias": "a", "memo": "m", "bookmark": "b"})
    events = document_notices(kernel.workspace, [child, GONE, child, parent])
    shown = [event.data() for event in events[:-1]]
    assert [info["rootID"] for info in shown] == [child, child, parent, parent, parent]
    assert [event.cmd for event in events] == ["reloadDocInfo"] * 5 + ["databaseIndexCommit"]
    assert {name: shown[0][name] for name in ("box", "name", "name1", "alias", "memo", "bookmark")} == {
        "box": box,
        "name": "Child",
        "name1": "n",
        "alias": "a",
        "memo": "m",
        "bookmark": "b",
    }
    assert shown[0]["hMtime"] == shown[0]["hCtime"] == "2026-03-01 09:00:00, now"
    assert (shown[2]["subFileCount"], shown[0]["hSize"]) == (1, f"{shown[0]['size']} B")
    assert document_notices(kernel.workspace, [GONE]) == []


async def test_a_document_that_is_gone_when_a_window_listens_is_not_told(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "x")
    (told, _) = document_notices(kernel.workspace, [root_id])
    (counted,) = ref_count_notices(kernel.workspace, [root_id])
    kernel.workspace.removed(root_id)
    assert (told.data(), counted.data()) == (None, None)


async def test_a_block_is_told_how_often_it_and_its_document_are_referred_to(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "one\n\ntwo")
    one, two = await kernel.children(target)
    await kernel.document(box, "/Source", f"(({one} 'x')) (({target} 'y'))\n\n(({one} 'x'))")
    root, first, second = [event.data() for event in ref_count_notices(kernel.workspace, [target, one, two, one])]
    assert (root["refCount"], root["rootRefCount"], set(root["defIDs"])) == (2, 2, {one, target})
    assert (first["rootID"], first["blockID"], first["refCount"], first["defIDs"]) == (target, one, 2, [one])
    assert (second["refCount"], second["rootRefCount"]) == (0, 2)
