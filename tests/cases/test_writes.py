"""Bug cases of the kinds ``double-write`` and ``lost-update``, over real sockets and restarts."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import trio

from tests.cases.conftest import OpenNotes
from tests.support.notes import STORAGE, code_of, make_notes, preflight, same_notes
from tests.support.process import kernels

pytestmark = pytest.mark.wire

UPDATE = "block/updateBlock"


async def test_g01_a_lost_answer_is_replayed_and_never_written_again(tmp_path: Path) -> None:
    """Repeat, other arguments, a spare request id, in parallel, after a restart: one host write per block."""
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        kernel = await start("--emulator-controls")
        notes = await make_notes(kernel, http)
        change = {"id": notes.ids["P1"], "dataType": "markdown", "data": "new"}
        first = await preflight(notes, "block", "update", **change)
        spare = await preflight(notes, "block", "update", **change)
        await notes.watch(UPDATE)
        await notes.client.tool("block", "update", **first)  # its answer is lost
        replay = (await notes.client.tool("block", "update", **first))["structuredContent"]
        assert replay.get("replayed", replay.get("safety", {}).get("replayed")) is True
        assert (
            code_of(await notes.client.tool("block", "update", **{**first, "data": "new2"})) == "idempotency_conflict"
        )
        assert code_of(await notes.client.tool("block", "update", **spare)) == "preflight_lease_invalid"
        assert await notes.count(UPDATE) == 1

        twice = await preflight(notes, "block", "update", id=notes.ids["P2"], dataType="markdown", data="other")
        results = []
        async with trio.open_nursery() as nursery:
            for _ in range(2):

                async def send() -> None:
                    results.append(await notes.client.tool("block", "update", **twice))

                nursery.start_soon(send)
        assert [code_of(result) for result in results] == [None, None]
        assert await notes.count(UPDATE) == 2

        assert await kernel.stop() == 0
        notes = await same_notes(await start(), http, notes.ids)
        again = (await notes.client.tool("block", "update", **first))["structuredContent"]
        assert {name: again[name] for name in ("requestId", "transactionState", "replayed")} == {
            "requestId": first["requestId"],
            "transactionState": "committed",
            "replayed": True,
        }
        assert await notes.text("P1") == "new"
        assert await notes.kernel.stop() == 0


async def test_g02_a_change_between_read_and_write_is_never_overwritten(open_notes: OpenNotes) -> None:
    """Text and attribute changes refuse the commit; there and back again is no change."""
    async with open_notes() as notes:
        block = notes.ids["P1"]
        change = {"id": block, "dataType": "markdown", "data": "agent"}

        commit = await preflight(notes, "block", "update", **change)
        await notes.api(UPDATE, id=block, dataType="markdown", data="human")
        refused = await notes.client.tool("block", "update", **commit)
        assert code_of(refused) == "state_changed"
        error = refused["structuredContent"]["error"]
        assert error["expectedHash"] != error["currentHash"]
        assert refused["structuredContent"]["writeAttempted"] is False
        assert await notes.text("P1") == "human"
        assert code_of(await notes.client.tool("block", "update", **commit)) == "preflight_lease_invalid"

        commit = await preflight(notes, "block", "update", **change)
        await notes.api("attr/setBlockAttrs", id=block, attrs={"custom-x": "1"})
        assert code_of(await notes.client.tool("block", "update", **commit)) == "state_changed"
        assert (await notes.api("attr/getBlockAttrs", id=block))["custom-x"] == "1"

        commit = await preflight(notes, "block", "update", **change)
        for text in ("elsewhere", "human"):
            await notes.api(UPDATE, id=block, dataType="markdown", data=f'{text}\n{{: custom-x="1"}}')
        assert code_of(await notes.client.tool("block", "update", **commit)) is None
        assert await notes.text("P1") == "agent"


@pytest.mark.parametrize("change", ["update", "append", "attribute"])
async def test_g09_replacing_a_document_under_an_edit_replaces_nothing(open_notes: OpenNotes, change: str) -> None:
    """Whatever happened to the document meanwhile, it stays as its human left it."""
    async with open_notes() as notes:
        commit = await preflight(notes, "fs", "write", path="/Box/Plan", markdown="# All new", overwrite=True)
        if change == "update":
            await notes.api(UPDATE, id=notes.ids["P2"], dataType="markdown", data="edited meanwhile")
        elif change == "append":
            await notes.api("block/appendBlock", parentID=notes.ids["D"], dataType="markdown", data="one more")
        else:
            await notes.api("attr/setBlockAttrs", id=notes.ids["P3"], attrs={"custom-k": "v"})
        before = await notes.api("block/getBlockKramdown", id=notes.ids["D"])
        assert code_of(await notes.client.tool("fs", "write", **commit)) == "state_changed"
        assert await notes.api("block/getBlockKramdown", id=notes.ids["D"]) == before


async def test_g04_the_digest_does_not_see_order_or_times(open_notes: OpenNotes) -> None:
    """Touching a block without changing it does not refuse a commit."""
    async with open_notes() as notes:
        attributes = {f"custom-k{number}": str(number) for number in range(5)} | {"style": "color: red;"}
        await notes.api("attr/setBlockAttrs", id=notes.ids["P1"], attrs=attributes)
        kramdown = (await notes.api("block/getBlockKramdown", id=notes.ids["P1"]))["kramdown"]
        commit = await preflight(notes, "block", "set_attrs", id=notes.ids["P1"], attrs={"memo": "m"})
        await notes.api(UPDATE, id=notes.ids["P1"], dataType="markdown", data=kramdown)
        assert code_of(await notes.client.tool("block", "set_attrs", **commit)) is None


async def test_a_target_that_was_deleted_after_the_preflight_has_changed(open_notes: OpenNotes) -> None:
    """Not the kernel's own error: state_changed, and the lease is gone (R91)."""
    async with open_notes() as notes:
        commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="new")
        await notes.api("block/deleteBlock", id=notes.ids["P1"])
        refused = await notes.client.tool("block", "update", **commit)
        assert code_of(refused) == "state_changed"
        assert refused["structuredContent"]["writeAttempted"] is False


async def test_an_id_used_in_strict_mode_never_writes_again_without_it(open_notes: OpenNotes) -> None:
    """Switching strict mode off must not turn a lost answer's repetition into a second block."""
    async with open_notes() as notes:
        added = {"dataType": "markdown", "data": "ONCE", "parentID": notes.ids["D"]}
        commit = await preflight(notes, "block", "append", **added)
        assert code_of(await notes.client.tool("block", "append", **commit)) is None
        await notes.put_file(f"{STORAGE}/mcpToolsConfig", '{"writeSafety": {"strictMode": false}}')
        assert code_of(await notes.client.tool("block", "append", **commit)) == "strict_mode_disabled"
        kramdown = (await notes.api("block/getBlockKramdown", id=notes.ids["D"]))["kramdown"]
        assert kramdown.count("ONCE") == 1
        direct = await notes.client.tool("block", "append", **added)
        assert direct["structuredContent"]["safety"]["writeSafetyGuaranteed"] is False


async def test_a_stop_during_a_hung_host_write_answers_and_ends(tmp_path: Path) -> None:
    """SIGTERM: the call is answered at its bound, the process ends with 0, the next start says unknown."""
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        kernel = await start("--emulator-controls", "--commit-bound", "300ms")
        notes = await make_notes(kernel, http)
        commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="new")
        await notes.hold(UPDATE)
        async with trio.open_nursery() as nursery:
            codes: list[str | None] = []

            async def send() -> None:
                codes.append(code_of(await notes.client.tool("block", "update", **commit)))

            nursery.start_soon(send)
            await notes.wait_held(UPDATE)
            assert await kernel.stop() == 0
        assert codes == ["outcome_unknown"]
        notes = await same_notes(await start(), http, notes.ids)
        assert code_of(await notes.client.tool("block", "update", **commit)) == "outcome_unknown"
        assert await notes.kernel.stop() == 0
