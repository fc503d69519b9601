"""Creations with reserved ids and stages: what their receipts and their doubts say (R83)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernel.faults.plan import Rule
from kernel.host.base import HostUnavailable
from kernel.host.embedded import EmbeddedHost
from kernel.safety.intent import Outcome
from tests.safety.test_whole import open_whole
from tests.safety.told import refusal
from tests.safety.world import APPEND, DirectGate, World, open_world


async def made_with_reserved_ids(world: World, *, answer: dict[str, Any]) -> Any:
    intent, write = world.append("new", "text", request_id=answer["requestId"])
    intent.reserved = {"avID": "a", "blockID": "b"}

    async def write_in_stages() -> Outcome:
        intent.stages.append("inserted")
        outcome = await write()
        intent.stages.append("rendered")
        return outcome

    return await world.coordinator.commit(intent, DirectGate(), write_in_stages)


async def test_a_creation_keeps_its_reserved_ids_and_stages_for_its_replay(tmp_path: Path) -> None:
    """R83."""
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        await made_with_reserved_ids(world, answer=answer)
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=7) as later:
        again = await made_with_reserved_ids(later, answer=answer)
        assert again["replayed"] is True
        assert again["receipt"] == {
            "reserved": {"avID": "a", "blockID": "b"},
            "stages": ["inserted", "rendered"],
            "id": "new",
        }
        assert APPEND not in later.blocks.counts


@pytest.mark.parametrize("point", ["write.commit.begun", "write.commit.written"])
async def test_a_creation_in_doubt_says_what_to_look_for(tmp_path: Path, point: str) -> None:
    """The reserved ids are on the disk before the host is called: a crash cannot lose them."""
    from tests.safety.world import Crash

    with pytest.RaisesGroup(Crash, allow_unwrapped=True, flatten_subgroups=True):
        async with open_world(tmp_path) as world:
            answer = await world.coordinator.preflight(world.append("new", "text")[0])
            world.plan(Rule(point, "crash"))
            await made_with_reserved_ids(world, answer=answer)
    async with open_world(tmp_path, clock=world.clock, seed=7) as later:
        error = await refusal(made_with_reserved_ids(later, answer=answer))
        assert (error.code, error.details["reserved"]) == ("outcome_unknown", {"avID": "a", "blockID": "b"})


async def test_a_creation_whose_answer_was_lost_says_which_stages_it_had_confirmed(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        world.plan(Rule(f"host.after:{APPEND}", "drop"))
        for _ in range(2):
            error = await refusal(made_with_reserved_ids(world, answer=answer))
            assert error.code == "outcome_unknown"
            assert (error.details["reserved"]["avID"], error.details["stages"]) == ("a", ["inserted"])


async def test_a_new_database_has_its_ids_in_the_ledger_before_it_is_sent(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R83, through the tool: the answer is lost, and the replay says which ids to look for; they are there."""
    async with open_whole(fast_path) as whole:
        asked = {"createIfNotExist": True, "blockID": whole.names["D"]}
        answer = await whole.preflight("av", "render", **asked)
        original = EmbeddedHost.call

        async def call(host: EmbeddedHost, path: str, given: Any = None) -> Any:
            found = await original(host, path, given)
            if path == "/api/transactions":
                raise HostUnavailable("gone", is_ambiguous=True, path=path)
            return found

        with monkeypatch.context() as patch:
            patch.setattr(EmbeddedHost, "call", call)
            told, _ = await whole.commit("av", "render", answer, **asked)
        assert told["error"]["code"] == "outcome_unknown"
        again, _ = await whole.commit("av", "render", answer, **asked)
        reserved = again["error"]["reserved"]
        assert reserved == told["error"]["reserved"]
        assert "stages" not in again["error"]
        assert await whole.host.call("/api/block/checkBlockExist", {"id": reserved["blockID"]})


async def test_a_new_database_replays_its_ids_and_stages(fast_path: Path) -> None:
    async with open_whole(fast_path) as whole:
        asked = {"createIfNotExist": True, "blockID": whole.names["D"]}
        answer = await whole.preflight("av", "render", **asked)
        done, is_error = await whole.commit("av", "render", answer, **asked)
        assert not is_error, done
        again, _ = await whole.commit("av", "render", answer, **asked)
        receipt = again["receipt"]
        assert receipt["reserved"] == {"avID": done["avID"], "blockID": done["blockID"]}
        assert receipt["stages"] == ["inserted", "rendered"]
        assert receipt["materialized"] is True


async def test_a_database_that_is_there_is_only_shown(fast_path: Path) -> None:
    async with open_whole(fast_path) as whole:
        made = await whole.write("av", "render", createIfNotExist=True, blockID=whole.names["D"])
        shown = await whole.write("av", "render", createIfNotExist=True, blockID=whole.names["D"], avID=made["avID"])
        assert shown["safety"]["transactionState"] == "no_change"
        assert shown["safety"]["writeAttempted"] is False
