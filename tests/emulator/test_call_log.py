"""What the log says of calls: one line each, with their ids, and nothing of what is in them."""

from __future__ import annotations

import logging
from pathlib import Path

import httpx
import pytest

from kernel.emulator.call_log import OPEN_EXCHANGES_MAX, CallLog
from kernel.trace import Trace
from tests.support.client import McpClient
from tests.support.process import start_kernel


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def trace(clock: list[float]) -> Trace:
    return Trace(lambda: clock[0], listener=CallLog())


def test_an_exchange_is_one_line_with_its_ids_and_time(
    trace: Trace, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "kernel.calls"):
        trace.record(
            "request",
            exchange=1,
            method="POST",
            path="/mcp",
            rpc="tools/call",
            rpcId=7,
            tool="fs",
            action="write",
            session="0123456789abcdef",
        )
        trace.record("admitted", ticket=1)
        clock[0] = 0.25
        trace.record("answer", exchange=1, status=200, bytes=12)
    assert [record.getMessage() for record in caplog.records] == [
        "POST /mcp rpc=tools/call rpcId=7 tool=fs action=write session=01234567 -> 200 12 bytes 250.0 ms"
    ]


def test_a_broken_exchange_names_its_error(trace: Trace, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kernel.calls"):
        trace.record("request", exchange=1, method="POST", path="/mcp")
        trace.record("answer", exchange=1, error="Cancelled")
    assert caplog.messages == ["POST /mcp -> Cancelled 0 bytes 0.0 ms"]


def test_debug_tells_every_event(trace: Trace, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kernel.calls"):
        trace.record("started", ticket=3, lane="read")
    assert caplog.messages == ["started ticket=3 lane=read"]


def test_requests_without_an_answer_are_forgotten_at_the_bound(trace: Trace, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kernel.calls"):
        for number in range(OPEN_EXCHANGES_MAX + 1):
            trace.record("request", exchange=number, method="GET", path="/")
        trace.record("answer", exchange=0, status=200)
        trace.record("answer", exchange=1, status=200)
    assert len(caplog.messages) == 1


async def test_the_log_of_a_running_kernel_names_calls_and_holds_nothing_of_their_content(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        kernel = await start_kernel(tmp_path / "notes", "--log-level", "info", stderr=stream)
        try:
            async with httpx.AsyncClient() as http:
                call = {"name": "system", "arguments": {"action": "notify", "level": "info", "msg": "a secret word"}}
                answer = await McpClient(http, kernel.mcp).new(7, "tools/call", call)
            assert answer["result"].get("isError") is not True, answer
            assert await kernel.stop() == 0
        finally:
            kernel.kill()
    text = log.read_text(encoding="utf-8")
    assert "rpc=tools/call" in text
    assert "tool=system action=notify" in text
    assert "secret" not in text
    assert kernel.token not in text
