"""``/emulator/*``: what the routes take, and what they say to everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernel.faults.limits import WAIT_S_MAX
from kernel.lab.inprocess import InProcessKernel, open_inprocess
from kernel.settings import Settings

DROP = {"rules": [{"point": "host.before:*", "do": "drop", "name": "d"}]}


async def send(kernel: InProcessKernel, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    status, _, answer = await kernel.request(method, f"/emulator/{path}", content, headers)
    is_json = answer.startswith(b"{") and answer.count(b"\n") == 0
    return status, json.loads(answer) if is_json else answer


async def test_plans_are_added_listed_and_cleared(tmp_path: Path) -> None:
    async with open_inprocess(Settings(tmp_path / "w", has_emulator_controls=True)) as kernel:
        assert await send(kernel, "POST", "faults", DROP) == (200, {"added": 1})
        toml = b'[[rules]]\npoint = "http.accepted"\ndo = "drop"\nnth = 1000\n'
        assert await send(kernel, "POST", "faults", toml, **{"Content-Type": "application/toml"}) == (200, {"added": 1})
        _, told = await send(kernel, "GET", "faults")
        assert [(rule["do"], rule["struck"], rule["held"]) for rule in told["rules"]] == [("drop", 0, 0)] * 2
        assert await send(kernel, "DELETE", "faults") == (200, {"rules": []})
        _, points = await send(kernel, "GET", "faults/points")
        assert "cut" in points["points"]["http.closing"]
        assert "cut" not in points["points"]["write.commit.begun"]


async def test_a_wait_ends_with_the_strike_or_with_its_patience(tmp_path: Path, autojump_clock: object) -> None:
    async with open_inprocess(Settings(tmp_path / "w", has_emulator_controls=True)) as kernel:
        await send(
            kernel, "POST", "faults", {"rules": [{"point": "http.head", "do": "delay", "seconds": 0, "name": "x"}]}
        )
        wait = {"name": "x", "timeout_ms": 500}
        assert await send(kernel, "POST", "faults/wait", wait) == (200, {"reached": False, "struck": 0, "held": 0})
        await kernel.api("system/version")
        assert (await send(kernel, "POST", "faults/wait", wait))[1]["reached"] is True
        assert await send(kernel, "POST", "faults/release", {"name": "x"}) == (200, {"released": 0})


async def test_the_trace_is_told_in_both_forms_and_may_be_switched_off(tmp_path: Path) -> None:
    async with open_inprocess(Settings(tmp_path / "w", has_emulator_controls=True)) as kernel:
        await kernel.make_notes()
        await kernel.tool("fs", "ls", path="/")
        _, lines = await send(kernel, "GET", "trace")
        kinds = {json.loads(line)["kind"] for line in lines.splitlines()}
        assert {"request", "answer", "host_call", "host_answer"} <= kinds
        status, told = await send(kernel, "GET", "trace?format=perfetto")
        assert status == 200
        assert told["traceEvents"]
        assert (await send(kernel, "POST", "trace", {"on": False}))[1]["on"] is False
        before = len(kernel.trace())
        await kernel.api("system/version")
        assert len(kernel.trace()) == before


WRONG_ORDERS: list[tuple[str, Any, str]] = [
    ("faults", {"rules": [{"point": "x", "do": "drop"}]}, "no fault point is named"),
    ("faults", b"\xff", "utf-8"),
    ("faults/release", {"name": 5}, "release takes"),
    ("faults/release", b"[", "not a JSON object"),
    ("faults/wait", {"count": 0}, "wait takes"),
    ("faults/wait", {"timeout_ms": WAIT_S_MAX * 1000 + 1}, "wait takes"),
    ("faults/wait", {"name": 5}, "wait takes"),
    ("clock", {"advance_ms": -1}, "the clock takes"),
    ("clock", {"advance_ms": True}, "the clock takes"),
    ("trace", {"on": 1}, "trace takes"),
]


async def test_a_wrong_order_is_refused_with_its_reason_and_changes_nothing(tmp_path: Path) -> None:
    async with open_inprocess(Settings(tmp_path / "w", has_emulator_controls=True)) as kernel:
        for path, body, reason in WRONG_ORDERS:
            status, told = await send(kernel, "POST", path, body)
            assert (path, status) == (path, 400)
            assert reason in told["error"]["message"]
        for query in ("format=xml", "since=x"):
            assert (await send(kernel, "GET", f"trace?{query}"))[0] == 400
        assert kernel.app.trigger.plan.is_empty


async def test_without_the_flag_there_are_no_controls(tmp_path: Path) -> None:
    async with open_inprocess(Settings(tmp_path / "w")) as kernel:
        assert (await send(kernel, "GET", "unserved"))[0] == 200
        assert (await send(kernel, "GET", "trace"))[0] == 404
        assert kernel.trace() == []
