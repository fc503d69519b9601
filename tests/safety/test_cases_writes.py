"""Cases G01, G02, G04, G09: repeated writes, changes in between, harmless re-serialisation. Over probes and a note host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.safety.intent import Intent, Outcome, Precondition
from kernel.safety.probes import observe
from tests.safety.notes_host import OTHER, P1, P2, PLAN, Block, NotesHost
from tests.safety.world import UPDATE, Crash, DirectGate, World, open_world


async def code_of(call: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await call
    return caught.value.code


async def test_an_answer_that_was_lost_is_asked_for_again_and_not_written_again(tmp_path: Path) -> None:
    """G01 a, b, c, e."""
    async with open_world(tmp_path, {"p1": "old"}) as world:
        first, second = await world.preflight("p1", "new"), await world.preflight("p1", "new")
        done = await world.commit("p1", "new", first)
        again = await world.commit("p1", "new", first)
        assert again["replayed"] is True
        assert await code_of(world.commit("p1", "new2", first)) == "idempotency_conflict"
        assert await code_of(world.commit("p1", "new", second)) == "preflight_lease_invalid"
        assert world.blocks.counts[UPDATE] == 1
    async with open_world(tmp_path, {"p1": "new"}, clock=world.clock, seed=2) as later:
        after = await later.commit("p1", "new", first)
        assert after["replayed"] is True
        for name in ("requestId", "previousHash", "resultHash", "transactionState"):
            assert after["safety"][name] == done["safety"][name]
        assert UPDATE not in later.blocks.counts


async def test_the_same_commit_twice_in_parallel_writes_once_and_the_other_replays(tmp_path: Path) -> None:
    """G01 d."""
    async with open_world(tmp_path, {"p1": "old"}) as world:
        answer = await world.preflight("p1", "new")
        done: list[dict[str, Any]] = []

        async def commit() -> None:
            done.append(await world.commit_in_lane("p1", "new", answer))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(commit)
            nursery.start_soon(commit)
        assert sorted(answer["safety"]["replayed"] for answer in done) == [False, True]
        assert world.blocks.counts[UPDATE] == 1


async def test_a_kernel_that_dies_between_host_write_and_end_record_is_in_doubt(tmp_path: Path) -> None:
    """G01 f: the death is a crash that no handler sees; the real process and signal are in the crash tests."""
    texts = {"p1": "old"}
    with pytest.RaisesGroup(pytest.RaisesExc(Crash), allow_unwrapped=True, flatten_subgroups=True):
        async with open_world(tmp_path, texts) as world:
            answer = await world.preflight("p1", "new")
            world.plan(Rule("write.commit.written", "crash"))
            await world.commit("p1", "new", answer)
    assert world.blocks.texts["p1"] == "new"
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=4) as later:
        assert await code_of(later.commit("p1", "new", answer)) == "outcome_unknown"
        assert UPDATE not in later.blocks.counts


# --- with probes over notes ---


class Notes:
    """One call of a tool action on the note host, as the tools make it."""

    def __init__(self, world: World, host: NotesHost) -> None:
        self.world = world
        self.host = host

    def intent(self, tool: str, action: str, arguments: dict[str, Any]) -> Intent:
        async def probe() -> Any:
            return await observe(self.host, tool, action, arguments)

        return Intent(tool, action, arguments, Precondition.STATE, probe)

    async def preflight(self, tool: str, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return await self.world.coordinator.preflight(self.intent(tool, action, arguments))

    async def commit(
        self, tool: str, action: str, arguments: dict[str, Any], answer: dict[str, Any], effect: Callable[[], object]
    ) -> dict[str, Any]:
        intent = self.intent(tool, action, arguments)
        intent.request_id, intent.credential = answer["requestId"], answer["expectedStateHash"]

        async def write() -> Outcome:
            effect()
            return Outcome({"success": True})

        return await self.world.coordinator.commit(intent, DirectGate(), write)


@pytest.mark.parametrize(
    ("meanwhile", "expected"),
    [
        (lambda host: host.updateBlock(P1, "human"), "state_changed"),
        (lambda host: (host.updateBlock(P1, "human"), host.updateBlock(P1, "Alpha")), None),
        (lambda host: host.setBlockAttrs(P1, {"custom-x": "1"}), "state_changed"),
        (lambda host: setattr(host, "updated", "20260202000000"), None),
        (lambda host: host.updateBlock(P2, "elsewhere"), None),
    ],
)
async def test_a_change_between_the_agents_read_and_its_write_stops_the_write(
    tmp_path: Path, meanwhile: Callable[[NotesHost], object], expected: str | None
) -> None:
    """G02: the hash is of the state, not of its history, and times are no part of it."""
    async with open_world(tmp_path) as world:
        notes = Notes(world, NotesHost())
        arguments = {"id": P1, "dataType": "markdown", "data": "agent"}
        answer = await notes.preflight("block", "update", arguments)
        meanwhile(notes.host)
        before = notes.host.blocks[P1].text
        commit = notes.commit("block", "update", arguments, answer, lambda: notes.host.updateBlock(P1, "agent"))
        if expected is None:
            assert (await commit)["safety"]["transactionState"] == "committed"
            return
        with pytest.raises(ToolError) as caught:
            await commit
        assert caught.value.code == expected
        assert {"expectedHash", "currentHash"} <= set(caught.value.details)
        assert caught.value.outer["writeAttempted"] is False
        assert notes.host.blocks[P1].text == before


async def test_a_host_that_shuffles_attributes_and_touches_times_never_looks_changed(tmp_path: Path) -> None:
    """G04."""
    async with open_world(tmp_path) as world:
        notes = Notes(world, NotesHost(seed=5))
        notes.host.blocks[
            P1
        ].inline = '<span data-type="block-ref" data-subtype="s" data-id="x">r</span><span style="b: 1" data-type="strong">s</span>'
        for number in range(20):
            arguments = {"id": P1, "dataType": "markdown", "data": f"text {number}"}
            answer = await notes.preflight("block", "update", arguments)
            notes.host.updated = f"2026020200{number:04}"
            done = await notes.commit(
                "block", "update", arguments, answer, lambda data=arguments["data"]: notes.host.updateBlock(P1, data)
            )
            assert done["safety"]["transactionState"] == "committed"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '<span data-type="block-ref" data-subtype="s">x</span>',
            '<span data-type="block-ref" data-subtype="d">x</span>',
        ),
        ('<span data-type="strong">x</span>', '<span data-type="em">x</span>'),
        ('<span style="color: red">x</span>', '<span style="color: blue">x</span>'),
    ],
)
async def test_a_real_change_of_an_inline_attribute_always_looks_changed(
    tmp_path: Path, before: str, after: str
) -> None:
    """G04, the last part."""
    async with open_world(tmp_path) as world:
        notes = Notes(world, NotesHost(seed=6))
        notes.host.blocks[P1].inline = before
        for _ in range(20):
            arguments = {"id": P1, "dataType": "markdown", "data": "agent"}
            answer = await notes.preflight("block", "update", arguments)
            notes.host.blocks[P1].inline = after
            commit = notes.commit("block", "update", arguments, answer, lambda: None)
            assert await code_of(commit) == "state_changed"
            notes.host.blocks[P1].inline = before


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda host: host.updateBlock(P2, "edited meanwhile"),
        lambda host: host.blocks.update({"20260101000009-newblok": Block("appended", PLAN)}),
        lambda host: setattr(host.blocks[P2], "parent", OTHER),
        lambda host: host.setBlockAttrs(P2, {"custom-x": "1"}),
    ],
)
async def test_a_whole_document_is_not_replaced_over_an_edit_of_a_part(
    tmp_path: Path, meanwhile: Callable[[NotesHost], object]
) -> None:
    """G09."""
    async with open_world(tmp_path) as world:
        notes = Notes(world, NotesHost())
        arguments = {"path": "/Box/Plan", "markdown": "# All new", "overwrite": True}
        answer = await notes.preflight("fs", "write", arguments)
        meanwhile(notes.host)
        effects: list[str] = []
        commit = notes.commit("fs", "write", arguments, answer, lambda: effects.append("replaced"))
        assert await code_of(commit) == "state_changed"
        assert effects == []
