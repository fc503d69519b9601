"""Calls that need not wait run in their caller's task: which ones, and when they had better queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
import trio.testing

from kernel.host.embedded import EmbeddedHost
from kernel.tools.call import Tools
from kernel.tools.configuration import PERMISSIONS_FILE, TOOLS_FILE
from kernel.tools.handlers import HANDLERS
from kernel.turns import Turns
from scheduler.ticket import Lane
from tests.tools.notes import CALLER, Notes, open_notes

IMMEDIATE = [key for key, handling in HANDLERS.items() if handling.is_immediate]


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_notes(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("key", IMMEDIATE)
async def test_what_is_called_immediate_never_waits(notes: Notes, key: str) -> None:
    tool, _, action = key.partition(".")
    notebook = (await notes.host.call("/api/notebook/createNotebook", {"name": "Box"}))["notebook"]["id"]
    made = {"notebook": notebook, "path": "/A", "markdown": "# Heading\n\ntext"}
    document = await notes.host.call("/api/filetree/createDocWithMd", made)
    arguments = {"action": action, **({"id": document} if tool == "block" else {})}
    async with trio.open_nursery() as nursery:
        await nursery.start(notes.tools.run)  # else the call itself would write its statistics
        prepared = await notes.tools.prepare(tool, arguments, CALLER)
        assert prepared.is_immediate
        with notes.scheduler.admit() as ticket, trio.testing.assert_no_checkpoints():
            result = await notes.scheduler.perform_inline(
                ticket, Lane.READ, lambda ticket: notes.tools.perform(prepared, ticket, CALLER)
            )
        assert not result.is_error
        nursery.cancel_scope.cancel()


async def test_there_are_immediate_actions_and_all_of_them_read() -> None:
    assert "system.get_version" in IMMEDIATE


async def test_nothing_is_immediate_while_something_is_on_its_way_to_the_disk(notes: Notes) -> None:
    notes.memory.kernel.workspace.files.write("data/x", b"pending")
    prepared = await notes.tools.prepare("system", {"action": "get_version"}, CALLER)
    assert not prepared.is_immediate


async def test_a_write_is_never_immediate(notes: Notes) -> None:
    prepared = await notes.tools.prepare("notebook", {"action": "create", "name": "n"}, CALLER)
    assert not prepared.is_immediate


# --- one look in a turn ---


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
def looking(notes: Notes, turns: Turns) -> Tools:
    """The same tools on a host that knows of turns; settings are read through it."""
    parts = notes.tools.parts
    parts.host = EmbeddedHost(notes.memory.kernel, turns)
    return Tools(parts)


async def test_settings_are_looked_at_once_in_a_turn_and_again_in_the_next(
    notes: Notes, turns: Turns, looking: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    read = notes.memory.kernel.workspace.files.read_again

    def counted(path: str) -> bytes | None:
        looks.append(path)
        return read(path)

    monkeypatch.setattr(notes.memory.kernel.workspace.files, "read_again", counted)
    counts = []
    for number in (1, 1, 2, 2, 2):
        turns.number = number
        await looking.files.configuration(looking.parts.host)
        await looking.files.permissions(looking.parts.host)
        counts.append(len(looks))
    assert counts == [3, 3, 6, 6, 6]


async def test_what_this_process_wrote_is_seen_in_the_same_turn(notes: Notes, turns: Turns, looking: Tools) -> None:
    turns.number = 1
    before = await looking.files.configuration(looking.parts.host)
    await notes.host.write_file(TOOLS_FILE, b'{"writeSafety": {"strictMode": true}}')
    await notes.host.write_file(PERMISSIONS_FILE, b"{}")
    after = await looking.files.configuration(looking.parts.host)
    assert (before.is_strict, after.is_strict) == (False, True)


async def test_without_turns_every_call_looks(notes: Notes) -> None:
    assert notes.host.moment() is None
    assert EmbeddedHost(notes.memory.kernel, Turns()).moment() is None, "not installed"


async def test_turns_are_counted_by_the_event_loop() -> None:
    turns = Turns()
    trio.lowlevel.add_instrument(turns)
    try:
        seen = [turns.number]
        for _ in range(3):
            await trio.lowlevel.checkpoint()
            seen.append(turns.number)
    finally:
        trio.lowlevel.remove_instrument(turns)
    assert seen == sorted(set(seen))
