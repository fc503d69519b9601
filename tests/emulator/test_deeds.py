"""Deeds that change the world around a call, in a whole kernel: what the call is answered, and what the notes say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernel.faults.plan import PlanInvalid
from kernel.lab.inprocess import InProcessKernel, open_inprocess
from kernel.settings import Settings


@dataclass
class Bench:
    """A kernel in this run, and one block that is written to."""

    kernel: InProcessKernel
    ids: dict[str, str]

    async def preflight(self, data: str) -> dict[str, Any]:
        call = {"id": self.ids["block"], "dataType": "markdown", "data": data}
        told = (await self.kernel.tool("block", "update", validateOnly=True, **call))["structuredContent"]
        assert "requestId" in told, told
        return {**call, "requestId": told["requestId"], told["preconditionField"]: told[told["preconditionField"]]}

    async def write(self, data: str = "new") -> str:
        """A preflight and its commit: the code, or the transaction's state."""
        return outcome(await self.kernel.tool("block", "update", **await self.preflight(data)))

    async def text(self, name: str = "block") -> str:
        kramdown = (await self.kernel.api("block/getBlockKramdown", id=self.ids[name]))["kramdown"]
        return str(kramdown).split("\n{:")[0]


def outcome(result: dict[str, Any]) -> str:
    told = result["structuredContent"]
    return str(told["error"]["code"] if "error" in told else told["safety"]["transactionState"])


@asynccontextmanager
async def open_bench(folder: Path) -> AsyncIterator[Bench]:
    settings = Settings(folder / "workspace", has_emulator_controls=True)
    async with open_inprocess(settings) as kernel:
        yield Bench(kernel, await kernel.make_notes())


# Point, deed and fields of the rule; what the write is answered; what the block says then.
UNDER_A_DEED: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("write.commit.found", "edit", {}, "state_changed", "Edited by somebody else."),
    ("write.commit.found", "edit", {"text": "mine"}, "state_changed", "mine"),
    ("write.commit.checked", "edit", {}, "committed", "new"),
    ("http.answer.after", "edit", {"phase": "preflight", "tool": "*"}, "state_changed", "Edited by somebody else."),
    ("write.commit.found", "expire", {"what": "leases"}, "preflight_lease_invalid", "Alpha text"),
    ("write.commit.found", "clock", {"seconds": 700}, "preflight_lease_invalid", "Alpha text"),
    ("write.commit.checked", "cancel", {}, "request_cancelled", "Alpha text"),
    ("ledger.begin.before", "disk_full", {}, "write_ledger_unavailable", "Alpha text"),
    ("ledger.begin.before", "read_only", {}, "write_ledger_unavailable", "Alpha text"),
    ("ledger.settle.before", "disk_full", {}, "outcome_unknown", "new"),
    ("host.before:*", "disk_full", {"phase": "commit"}, "api_error", "Alpha text"),
    ("host.before:*", "duplicate", {"effect": "write", "phase": "commit"}, "committed", "new"),
    ("host.after:*", "drop", {"effect": "write", "phase": "commit"}, "outcome_unknown", "new"),
    ("host.after:*", "shuffle_attributes", {"times": None, "seed": 1}, "committed", "new"),
    ("write.commit.observing", "fail", {"times": None}, "readback_mismatch", "new"),
]


async def test_writes_under_every_kind_of_deed(tmp_path: Path, autojump_clock: object) -> None:
    """One kernel for all of them: each begins with the same text in the block."""
    async with open_bench(tmp_path) as bench:
        for point, do, fields, told, text in UNDER_A_DEED:
            await bench.kernel.api("block/updateBlock", id=bench.ids["block"], dataType="markdown", data="Alpha text")
            seen = len(bench.kernel.trace())
            bench.kernel.fault(point, do, **fields)
            assert (point, do, await bench.write()) == (point, do, told)
            bench.kernel.clear()
            assert (point, do, await bench.text()) == (point, do, text)
            assert any(event["kind"] == "fault" and event["do"] == do for event in bench.kernel.trace(seen))


async def test_somebody_else_is_not_struck_by_the_plan(tmp_path: Path, autojump_clock: object) -> None:
    async with open_bench(tmp_path) as bench:
        bench.kernel.fault("host.before:/api/block/updateBlock", "fail", times=None)
        bench.kernel.fault("write.commit.found", "edit")
        assert await bench.write() == "state_changed"
        assert await bench.text() == "Edited by somebody else."


async def test_an_edit_finds_a_documents_path_and_adds_to_it(tmp_path: Path, autojump_clock: object) -> None:
    async with open_bench(tmp_path) as bench:
        bench.kernel.fault("http.request.read", "edit", tool="fs", action="read")
        told = await bench.kernel.tool("fs", "read", path="/Box/Plan")
        assert "Edited by somebody else." in str(told)


async def test_an_index_that_lags_shows_what_was_true(tmp_path: Path, autojump_clock: object) -> None:
    statement = "select content from blocks where id='{}'"
    async with open_bench(tmp_path) as bench:
        bench.kernel.fault("write.commit.found", "stale_index", seconds=60)
        assert await bench.write() == "committed"
        ask = statement.format(bench.ids["block"])
        assert (await bench.kernel.api("query/sql", stmt=ask))[0]["content"] == "Alpha text"
        bench.kernel.advance(61)
        assert (await bench.kernel.api("query/sql", stmt=ask))[0]["content"] == "new"


async def test_sessions_are_gone_at_once(tmp_path: Path, autojump_clock: object) -> None:
    async with open_bench(tmp_path) as bench:
        table = bench.kernel.app.endpoint.sessions
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
            b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        )
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        status, told, _ = await bench.kernel.request("POST", "/sisyphus/mcp", body, headers)
        assert (status, len(table)) == (200, 1)
        bench.kernel.fault("http.request.read", "expire", what="sessions")
        ping = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
        headers["Mcp-Session-Id"] = told["mcp-session-id"]
        assert (await bench.kernel.request("POST", "/sisyphus/mcp", ping, headers))[0] == 404
        assert len(table) == 0


def test_a_deed_that_nobody_carries_out_is_refused() -> None:
    from kernel.faults.plan import Rule
    from kernel.faults.trigger import Trigger

    with pytest.raises(PlanInvalid, match="cannot be done here"):
        Trigger().check([Rule("host.before:*", "stale_index")])
