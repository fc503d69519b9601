"""Promises of the strict write that no other test is about: what is never kept, never shortened, never by-passed."""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from kernel.canonical import digest
from kernel.errors import ToolError
from kernel.host.embedded import EmbeddedHost
from kernel.safety.digest import state_digest
from kernel.safety.limits import LEASE_TTL_S
from tests.safety.test_whole import MD, Whole, open_whole
from tests.safety.world import UPDATE, DirectGate, open_world

KERNEL = Path(__file__).parents[2] / "kernel"


async def refusal(call: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await call
    return caught.value


def texts_in(*roots: object) -> set[str]:
    """Every text that can be reached from these values in memory."""
    found: set[str] = set()
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | FunctionType):
            continue
        seen.add(id(value))
        if isinstance(value, str):
            found.add(value)
        else:
            waiting.extend(gc.get_referents(value))
    return found


class Paths:
    """The endpoints that the host was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[str] = []
        original = EmbeddedHost.call

        async def call(host: EmbeddedHost, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
            self.seen.append(path)
            return await original(host, path, arguments)

        monkeypatch.setattr(EmbeddedHost, "call", call)


# --- what is never touched, never kept ---


async def test_no_snapshot_is_made_or_looked_at_for_a_lease(fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3."""
    async with open_whole(fast_path) as whole:
        paths = Paths(monkeypatch)
        await whole.write("block", "update", id=whole.names["P1"], dataType=MD, data="x")
        await whole.write("fs", "write", path="/Box/Plan", markdown="y", overwrite=True)
        await whole.write("document", "rename", id=whole.names["E"], title="z")
        await whole.write("notebook", "rename", notebook=whole.names["NB"], name="w")
        assert "/api/block/updateBlock" in paths.seen
        assert not [path for path in paths.seen if path.startswith("/api/repo/")]


async def test_a_preflight_keeps_digests_and_no_text_in_memory(tmp_path: Path) -> None:
    """R4, R50."""
    async with open_world(tmp_path, {"b": "SECRET-before"}) as world:
        await world.preflight("b", "SECRET-after")
        kept = texts_in(world.coordinator.leases, world.coordinator.pool)
        assert state_digest({"id": "b", "kramdown": "SECRET-before"}) in kept
        assert not [text for text in kept if "SECRET" in text]


# --- digests and credentials ---


async def test_a_state_is_known_by_its_whole_sha_256(tmp_path: Path) -> None:
    """R7, R63."""
    canonical = '{"id":"b","kramdown":"é"}'.encode()
    expected = "sha256:v1:" + hashlib.sha256(canonical).hexdigest()
    assert state_digest({"kramdown": "é", "id": "b"}) == digest({"id": "b", "kramdown": "é"}) == expected
    async with open_world(tmp_path, {"b": "é"}) as world:
        answer = await world.preflight("b", "two")
        assert world.coordinator.pool.resolve(answer["expectedStateHash"]) == expected


def alike() -> tuple[str, str]:
    """Two texts of a block whose states begin with the same four digits."""
    seen: dict[str, str] = {}
    for number in range(10_000):
        text = f"text {number}"
        start = state_digest({"id": "b", "kramdown": text}).removeprefix("sha256:v1:")[:4]
        if start in seen:
            return seen[start], text
        seen[start] = text
    raise AssertionError("no two states are alike")


async def test_a_state_that_only_begins_like_the_expected_one_is_another_state(tmp_path: Path) -> None:
    """R39, R40: a short value names a lease; what is compared is 256 bits long."""
    expected, other = alike()
    async with open_world(tmp_path, {"b": expected}) as world:
        answer = await world.preflight("b", "two")
        world.blocks.texts["b"] = other
        assert state_digest({"id": "b", "kramdown": other}).startswith("sha256:v1:" + answer["expectedStateHash"])
        assert (await refusal(world.commit("b", "two", answer))).code == "state_changed"
        assert UPDATE not in world.blocks.counts


async def test_a_short_value_stays_bound_when_its_lease_is_used_or_expired(tmp_path: Path) -> None:
    """R51, R52."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        pool, short = world.coordinator.pool, answer["expectedStateHash"]
        full = pool.resolve(short)
        await world.commit("b", "two", answer)
        assert pool.resolve(short) == full
        world.clock.advance(2 * LEASE_TTL_S)
        await world.preflight("b", "three")
        assert pool.resolve(short) == full
    async with open_world(tmp_path, {"b": "two"}, clock=world.clock, seed=8) as later:
        assert (len(later.coordinator.pool), len(later.coordinator.leases)) == (0, 0)


async def test_the_ledger_keeps_whole_digests(tmp_path: Path) -> None:
    """R56."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        done = await world.commit("b", "two", answer)
        row = await world.coordinator.ledger.find(answer["requestId"])
        assert row is not None
        assert row.previous == state_digest({"id": "b", "kramdown": "one"})
        assert row.result == state_digest({"id": "b", "kramdown": "two"})
        assert row.result.removeprefix("sha256:v1:").startswith(done["safety"]["resultHash"])


async def test_a_result_is_no_credential_for_the_next_change(tmp_path: Path) -> None:
    """R57."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        first, next_one = await world.preflight("b", "two"), await world.preflight("b", "three")
        done = await world.commit("b", "two", first)
        result = done["safety"]["resultHash"]
        assert (
            await refusal(world.commit("b", "three", next_one, credential=result))
        ).code == "preflight_lease_invalid"
        assert world.blocks.texts["b"] == "two"


async def test_hash_looking_text_of_a_note_is_read_as_it_stands(fast_path: Path) -> None:
    """R62: although the pool knows the very digest and has a short value for it."""
    async with open_whole(fast_path) as whole:
        block = whole.names["P1"]
        answer = await whole.preflight("block", "update", id=block, dataType=MD, data="x")
        coordinator: Any = whole.tools.parts.coordinator
        full = coordinator.pool.resolve(answer["expectedStateHash"])
        await whole.write("block", "update", id=block, dataType=MD, data=f"see {full}")
        read, _ = await whole.call("block", {"action": "get_kramdown", "id": block})
        assert f"see {full}" in read["kramdown"]


# --- the real call ---


async def test_a_real_call_may_say_validate_only_false(fast_path: Path) -> None:
    """R17."""
    async with open_whole(fast_path) as whole:
        arguments = {"id": whole.names["P1"], "dataType": MD, "data": "x"}
        answer = await whole.preflight("block", "update", **arguments)
        done, is_error = await whole.commit("block", "update", answer, **arguments, validateOnly=False)
        assert not is_error, done
        assert done["safety"]["transactionState"] == "committed"


@pytest.mark.parametrize(("request_id", "code"), [(None, "precondition_required"), ("abcd", "request_id_expired")])
async def test_an_addition_needs_an_id_from_a_preflight(tmp_path: Path, request_id: str | None, code: str) -> None:
    """R19, R20."""
    async with open_world(tmp_path) as world:
        intent, write = world.append("new", "text", request_id=request_id)
        assert (await refusal(world.coordinator.commit(intent, DirectGate(), write))).code == code
        assert world.blocks.counts == {}


async def test_a_read_does_not_meet_the_coordinator(fast_path: Path) -> None:
    """R112: no id, no lease, no row, whatever safety fields it brings."""
    async with open_whole(fast_path) as whole:
        coordinator: Any = whole.tools.parts.coordinator
        before = coordinator.ledger.statistics()
        for more in ({}, {"validateOnly": True}, {"requestId": "abcd", "expectedStateHash": "abcd"}):
            answer, is_error = await whole.call("block", {"action": "get_kramdown", "id": whole.names["P1"], **more})
            assert not is_error
            assert "safety" not in answer
            assert "requestId" not in answer
        assert coordinator.ledger.statistics() == before
        assert len(coordinator.leases) == 0


# --- the order of documents ---


def reorders(whole: Whole) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("fs", {"path": "/Box", "orderedPaths": ["/Box/Other", "/Box/Plan"]}),
        ("document", {"parentID": whole.names["NB"], "orderedIDs": [whole.names["E"], whole.names["D"]]}),
    ]


@pytest.mark.parametrize("index", [0, 1])
async def test_an_order_is_written_on_the_credential_of_a_structure(fast_path: Path, index: int) -> None:
    """R74."""
    async with open_whole(fast_path) as whole:
        tool, arguments = reorders(whole)[index]
        answer = await whole.preflight(tool, "reorder", **arguments)
        assert answer["preconditionField"] == "expectedStructureHash"


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("lost", ["/api/filetree/changeSort", "/api/notebook/setNotebookConf"])
async def test_an_order_or_a_sort_mode_that_is_not_there_afterwards_is_a_mismatch(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, index: int, lost: str
) -> None:
    """R77: the host says yes to both writes and does one of them."""
    async with open_whole(fast_path) as whole:
        tool, arguments = reorders(whole)[index]
        answer = await whole.preflight(tool, "reorder", **arguments)
        original = EmbeddedHost.call

        async def call(host: EmbeddedHost, path: str, given: Mapping[str, Any] | None = None) -> Any:
            return None if path == lost else await original(host, path, given)

        monkeypatch.setattr(EmbeddedHost, "call", call)
        told, is_error = await whole.commit(tool, "reorder", answer, **arguments)
        assert is_error, told
        assert told["error"]["code"] == "readback_mismatch"


@pytest.mark.parametrize("answer", [None, [{"doOperations": [{"action": "insert", "id": ""}]}], "lost"])
async def test_an_added_block_that_is_not_there_afterwards_is_a_mismatch(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    """R81 for additions: the host says yes, names a block or none, and added nothing."""
    lost = [{"doOperations": [{"action": "insert", "id": "20260101000000-nowhere"}]}]
    async with open_whole(fast_path) as whole:
        arguments = {"parentID": whole.names["D"], "dataType": MD, "data": "tail"}
        preflighted = await whole.preflight("block", "append", **arguments)
        original = EmbeddedHost.call

        async def call(host: EmbeddedHost, path: str, given: Mapping[str, Any] | None = None) -> Any:
            if path == "/api/block/appendBlock":
                return lost if answer == "lost" else answer
            return await original(host, path, given)

        monkeypatch.setattr(EmbeddedHost, "call", call)
        told, is_error = await whole.commit("block", "append", preflighted, **arguments)
        assert is_error, told
        assert told["transactionState"] == "unknown"
        assert told["error"]["code"] in ("readback_mismatch", "outcome_unknown")


async def test_a_notebook_or_template_that_is_not_there_afterwards_is_a_mismatch(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R81 for additions."""
    made = {"notebook": {"id": "20260101000000-nowhere", "name": "x"}}
    async with open_whole(fast_path) as whole:
        notebook = await whole.preflight("notebook", "create", name="x")
        template = await whole.preflight("file", "create_template", path="t.md", markdown="x")
        original, original_file = EmbeddedHost.call, EmbeddedHost.write_file

        async def call(host: EmbeddedHost, path: str, given: Mapping[str, Any] | None = None) -> Any:
            return made if path == "/api/notebook/createNotebook" else await original(host, path, given)

        async def write_file(host: EmbeddedHost, path: str, content: bytes) -> None:
            await original_file(host, path, b"cut" if path.endswith("t.md") else content)

        monkeypatch.setattr(EmbeddedHost, "call", call)
        monkeypatch.setattr(EmbeddedHost, "write_file", write_file)
        told, _ = await whole.commit("notebook", "create", notebook, name="x")
        assert told["error"]["code"] == "readback_mismatch"
        told, _ = await whole.commit("file", "create_template", template, path="t.md", markdown="x")
        assert told["error"]["code"] == "readback_mismatch"


# --- one of each ---


OWNED = re.compile(r"(?<![\w.])(WriteCoordinator|Leases|Ledger|ShortHashes)\(")


def constructions() -> dict[str, set[str]]:
    """Which modules of the kernel make a coordinator, a lease pool, a ledger or a short-hash pool."""
    found: dict[str, set[str]] = {}
    for path in KERNEL.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("class "):
                for made in OWNED.findall(line):
                    found.setdefault(made, set()).add(str(path.relative_to(KERNEL)))
    return found


def test_there_is_one_place_that_makes_a_coordinator_and_all_it_owns() -> None:
    """R87, R136: no second queue, lease pool or ledger anywhere in the sources."""
    assert constructions() == {
        "WriteCoordinator": {"safety/open.py"},
        "Ledger": {"safety/open.py"},
        "Leases": {"safety/coordinator.py"},
        "ShortHashes": {"safety/coordinator.py"},
    }
