"""A transaction as a whole: all or nothing, then saved, told and undoable."""

from __future__ import annotations

import pytest

from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.transactions import DATABASE_FAILED, UndoLog, perform, replayed, undo_state_json
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.test_edits import GONE, do, document, dom, now, place


async def test_an_operation_that_fails_takes_back_those_before_it(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    one = place(kernel, root, "one")
    operations = [
        Operation(action="insert", data=dom(kernel, "n"), previousID=one),
        Operation(action="update", id=GONE, data="x"),
    ]
    assert do(kernel, *operations) == f"Transaction failed: block not found [{GONE}]"
    assert now(kernel, root) == ["one"]
    assert [event.cmd for event in kernel.workspace.take_events()] == ["txerr"]
    assert perform(kernel.workspace, Transaction(operations), tells_errors=False) is not None
    assert kernel.workspace.take_events() == []
    assert do(kernel, Operation(action="unknown")) is None


async def test_a_database_that_fails_tells_a_message(kernel: MemoryKernel) -> None:
    await document(kernel, "one")
    operation = Operation(action="updateAttrViewCell", id=GONE, avID=GONE, keyID=GONE, rowID=GONE, data={})
    assert do(kernel, operation) is not None
    (message,) = kernel.workspace.take_events()
    assert (message.cmd, message.msg, message.data["closeTimeout"]) == ("msg", DATABASE_FAILED, 5000)


@pytest.mark.parametrize("data", ["{", "[]", '{"a": 5}', None])
async def test_attributes_that_are_none_are_refused(kernel: MemoryKernel, data: object) -> None:
    root = await document(kernel, "one")
    assert do(kernel, Operation(action="setAttrs", id=place(kernel, root, "one"), data=data)) is not None


async def test_attributes_are_set_and_a_notebooks_document_stays_hidden(kernel: MemoryKernel) -> None:
    root = await document(kernel, "one")
    one = place(kernel, root, "one")
    assert do(kernel, Operation(action="setAttrs", id=one, data='{"name": "n", "alias": null}')) is None
    assert kernel.workspace.document(root.id).nodes[one].properties["name"] == "n"
    assert "can only contain" in str(do(kernel, Operation(action="setAttrs", id=one, data='{"A B": "n"}')))
    box = kernel.workspace.entry(root.id).box
    assert do(kernel, Operation(action="setAttrs", id=box, data='{"custom-hidden": ""}')) is None
    assert kernel.workspace.document(box).root.properties["custom-hidden"] == "true"


def entry(*roots: str, undo: bool = True) -> Transaction:
    return Transaction([Operation(id="do")], [Operation(id="undo")] if undo else None, mutated_roots=list(roots))


def test_only_what_can_be_undone_is_remembered_up_to_a_number() -> None:
    log = UndoLog(2)
    log.record(entry("a", undo=False))
    log.record(entry())
    assert log.state("a") == (False, False, None)
    assert (log.take_undo("a"), log.take_redo("a")) == (None, None)
    for _ in range(3):
        log.record(entry("a", "b"))
    assert log.state("a") == (True, False, ["a", "b"])
    for left in (True, False):
        step = log.take_undo("a")
        assert step is not None
        log.undone(step, "a")
        assert log.state("a")[0] is left
    assert log.state("b") == (False, False, None)
    assert undo_state_json(log, ["a", "b"]) == {
        "a": {"canUndo": False, "canRedo": True},
        "b": {"canUndo": False, "canRedo": False},
    }


def test_what_was_undone_is_done_again_until_something_else_is_done() -> None:
    log = UndoLog(4)
    log.record(entry("a", "b"))
    step = log.take_undo("b")
    assert step is not None
    log.undone(step, "b")
    assert log.take_redo("b") is step
    log.redone(step, "b")
    assert (log.take_undo("a"), log.take_redo("b")) == (step, None)
    log.undone(step, "b")
    log.record(entry("b"))
    assert log.take_redo("b") is None
    log.record(entry("b"))
    assert log.state("b")[0] is True


def test_steps_are_forgotten_with_those_they_share() -> None:
    log = UndoLog(4)
    log.record(entry("a", "b"))
    log.record(entry("b"))
    log.clear("a")
    assert (log.state("a")[0], log.state("b")) == (False, (True, False, ["b"]))
    log.clear("")
    assert log.state("b")[0] is False
    given = [Operation(id="x")]
    assert (replayed(None), replayed(given)[0] is given[0], replayed(given)[0].id) == ([], False, "x")


async def test_a_document_with_containers_that_readers_do_not_see_is_read_anew(kernel: MemoryKernel) -> None:
    root = await document(kernel, "* item\n\none")
    found = kernel.workspace.edit(root.id)
    found.drop(found.root.children[0].children[0].detach())
    kernel.workspace.save(found)
    found.holds_hollow = True
    assert do(kernel, Operation(action="insert", data=dom(kernel, "n"), previousID=place(kernel, root, "one"))) is None
    assert now(kernel, root) == ["one", "n"]
