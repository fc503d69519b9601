"""The coordinator's commits that go well: receipts, replays, looks at a slow host, guards."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing

from kernel.errors import ToolError
from kernel.safety.intent import Outcome
from tests.safety.told import refusal
from tests.safety.world import APPEND, READ, UPDATE, DirectGate, open_world


async def test_a_commit_answers_with_the_handlers_payload_and_a_receipt(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        done = await world.commit("b", "two", answer)
        after = await world.preflight("b", "three")
        assert done == {
            "success": True,
            "id": "b",
            "safety": {
                "requestId": answer["requestId"],
                "writeSafetyMode": "strict",
                "writeSafetyGuaranteed": True,
                "writeAttempted": True,
                "writeExecuted": True,
                "replayed": False,
                "transactionState": "committed",
                "previousHash": answer["expectedStateHash"],
                "resultHash": after["expectedStateHash"],
            },
        }


async def test_an_addition_commits_without_hashes_and_replays_its_small_receipt(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        intent, write = world.append("new", "text", request_id=answer["requestId"])
        first = await world.coordinator.commit(intent, DirectGate(), write)
        assert "previousHash" not in first["safety"]
        again = await world.coordinator.commit(intent, DirectGate(), write)
        assert (again["replayed"], again["receipt"], again["id"]) == (True, {"id": "new"}, "new")
        assert world.blocks.counts[APPEND] == 1


async def test_a_replay_repeats_the_receipt_attempts_nothing_and_carries_no_payload(tmp_path: Path) -> None:
    """Decision 53."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        first = await world.commit("b", "two", answer)
        again = await world.commit("b", "two", answer)
        assert again["safety"] == {**first["safety"], "writeAttempted": False, "writeExecuted": False, "replayed": True}
        assert {**again["safety"], "success": True, "safety": again["safety"]} == again
        assert world.blocks.counts[UPDATE] == 1


async def test_a_replay_needs_no_credential_and_survives_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        first = await world.commit("b", "two", answer)
    async with open_world(tmp_path, {"b": "two"}, clock=world.clock, seed=9) as later:
        again = await later.commit("b", "two", answer, credential=None)
        assert again["replayed"] is True
        for name in ("requestId", "previousHash", "resultHash", "transactionState"):
            assert again[name] == first["safety"][name]
        assert UPDATE not in later.blocks.counts


async def test_writing_what_stands_there_already_is_no_change_after_all_looks(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        mock_clock.autojump_threshold = 0
        answer = await world.preflight("b", "one")
        start = trio.current_time()
        done = await world.commit("b", "one", answer)
        assert done["safety"]["transactionState"] == "no_change"
        assert done["safety"]["previousHash"] == done["safety"]["resultHash"]
        assert trio.current_time() - start == pytest.approx(1.55)


async def test_a_handler_that_changed_nothing_is_believed_when_the_target_agrees(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "one")
        intent, _ = world.update("b", "one", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            return Outcome({"changed": False}, changed=False)

        done = await world.coordinator.commit(intent, DirectGate(), write)
        assert done["safety"]["transactionState"] == "no_change"
        assert done["safety"]["writeAttempted"] is False


async def test_a_slow_host_is_looked_at_until_it_shows_the_change(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    """An asynchronous deletion must not be told as a mismatch (decision 26)."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        mock_clock.autojump_threshold = 0
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            nursery.start_soon(later)
            return Outcome({}, changed=True)

        async def later() -> None:
            await trio.sleep(0.3)
            world.blocks.texts["b"] = "two"

        async with trio.open_nursery() as nursery:
            done = await world.coordinator.commit(intent, DirectGate(), write)
        assert done["safety"]["transactionState"] == "committed"


async def test_an_action_may_confirm_more_than_its_state(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def confirm(_outcome: Outcome) -> bool:
            return False

        intent.confirm = confirm
        assert (await refusal(world.coordinator.commit(intent, DirectGate(), write))).code == "readback_mismatch"


async def test_a_receipt_that_is_not_small_is_not_kept(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        intent, write = world.append("new", "text", request_id=answer["requestId"])

        async def write_much() -> Outcome:
            outcome = await write()
            return Outcome(outcome.payload, outcome.changed, {"x": "y" * 70_000})

        await world.coordinator.commit(intent, DirectGate(), write_much)
        again = await world.coordinator.commit(intent, DirectGate(), write)
        assert again["replayed"] is True
        assert "receipt" not in again


async def test_a_guard_is_asked_before_the_probe_and_not_for_a_replay_nor_a_read_back(tmp_path: Path) -> None:
    """A removed target must not hide the receipt of its removal."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        asked: list[int] = []

        async def guard() -> None:
            asked.append(world.blocks.counts.get(READ, 0))

        async def forbid() -> None:
            raise ToolError("permission_denied", "no")

        intent, write = world.update("b", "two")
        intent.guard = guard
        answer = await world.coordinator.preflight(intent)
        intent.request_id, intent.credential = answer["requestId"], answer["expectedStateHash"]
        intent.guard = forbid
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.outer["transactionState"]) == ("permission_denied", "rejected")
        intent.guard = guard
        await world.coordinator.commit(intent, DirectGate(), write)
        intent.guard = forbid
        assert (await world.coordinator.commit(intent, DirectGate(), write))["replayed"] is True
        assert asked == [0, 1]


async def test_a_commit_with_threads_for_disk_and_digest_answers_the_same(tmp_path: Path) -> None:
    """As in a served kernel: one writer thread, workers for hashing."""
    async with open_world(tmp_path, {"b": "one"}, is_inline=False) as world:
        answer = await world.preflight("b", "two")
        done = await world.commit("b", "two", answer)
        assert done["safety"]["transactionState"] == "committed"
        assert (await world.commit("b", "two", answer))["replayed"] is True
        assert world.blocks.counts[UPDATE] == 1
