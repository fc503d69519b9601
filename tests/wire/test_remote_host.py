"""Our endpoint in front of a note kernel that is slow, resets, answers nonsense, refuses or goes away (real sockets)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.support.client import McpClient
from tests.support.notes import STORAGE, Notes, code_of, make_notes, preflight
from tests.support.process import KernelProcess, running_kernel
from tests.support.proxy import Line, open_line

pytestmark = pytest.mark.slow

KRAMDOWN, UPDATE = "/api/block/getBlockKramdown", "/api/block/updateBlock"


@dataclass
class Remote:
    """``notes`` are behind ``line``; ``client`` talks to our endpoint in front of it."""

    notes: Notes
    line: Line
    client: McpClient
    front: KernelProcess
    front_notes: Notes

    async def prepared(self, text: str) -> dict[str, Any]:
        return await preflight(self.front_notes, "block", "update", **self.business(text))

    def business(self, text: str) -> dict[str, Any]:
        return {"id": self.notes.ids["P1"], "dataType": "markdown", "data": text}

    async def settings(self, **settings: Any) -> None:
        await self.notes.put_file(f"{STORAGE}/mcpHttpSettings", json.dumps(settings))


@asynccontextmanager
async def remote(folder: Path) -> AsyncIterator[Remote]:
    async with (
        httpx.AsyncClient(timeout=60, trust_env=False) as http,
        running_kernel(folder / "back") as back,
        open_line(back.url) as line,
    ):
        notes = await make_notes(back, http)
        async with running_kernel(folder / "front", "--host-url", line.url) as front:
            front_notes = Notes(front, http, McpClient(http, front.mcp), notes.ids)
            yield Remote(notes, line, front_notes.client, front, front_notes)


async def read(world: Remote, **options: Any) -> dict[str, Any]:
    return await world.client.tool("block", "get_kramdown", id=world.notes.ids["P1"], **options)


async def test_a_slow_read_is_cancelled_at_once_and_keeps_its_slot_until_the_host_has_answered(tmp_path: Path) -> None:
    async with remote(tmp_path) as world, trio.open_nursery() as nursery:
        await world.client.open()
        world.line.misbehave(KRAMDOWN, "hold")
        told: list[dict[str, Any]] = []
        is_told = trio.Event()

        async def ask() -> None:
            told.append(await read(world, era="legacy", identifier=7))
            is_told.set()

        nursery.start_soon(ask)
        await world.line.wait_held()
        await world.client.cancel(7)
        with trio.fail_after(10):
            await is_told.wait()
        assert code_of(told[0]) == "request_cancelled"
        assert (await world.front_notes.health())["queue"]["readsRunning"] == 1
        world.line.release()
        with trio.fail_after(10):
            while True:
                if not (await world.front_notes.health())["queue"]["readsRunning"]:
                    break
                await trio.sleep(0.01)


async def test_a_read_that_outlasts_its_deadline_is_no_success(tmp_path: Path) -> None:
    async with remote(tmp_path) as world, trio.open_nursery() as nursery:
        await world.settings(kernelOptions={"readTimeoutMs": 1000})
        world.line.misbehave("/api/filetree/getPathByID", "hold")
        world.line.misbehave("/api/block/getBlockInfo", "hold")

        async def let_go() -> None:
            await world.line.wait_held()
            await trio.sleep(1.1)
            world.line.release()

        nursery.start_soon(let_go)
        assert code_of(await read(world)) == "read_deadline_exceeded"


async def test_a_reset_read_is_tried_again_and_a_reset_write_is_not(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        world.line.misbehave(KRAMDOWN, "reset", "reset")
        found = await read(world)
        assert found["structuredContent"]["kramdown"].startswith("Alpha text")
        assert world.line.count(KRAMDOWN) == 3
        arguments = await world.prepared("New text")
        world.line.misbehave(UPDATE, "swallow")
        for _ in range(2):
            answer = await world.client.tool("block", "update", **arguments)
            assert code_of(answer) == "outcome_unknown"
            assert answer["structuredContent"]["writeAttempted"] is True
        assert world.line.count(UPDATE) == 1
        assert await world.notes.text("P1") == "New text", "it had arrived: only its answer was lost"


async def test_so_many_tries_as_the_remote_settings_allow(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        await world.settings(kernelOptions={"readRetries": 0})
        world.line.misbehave(KRAMDOWN, "reset")
        assert code_of(await read(world)) == "host_unavailable"
        assert world.line.count(KRAMDOWN) == 1


async def test_a_page_in_the_place_of_an_answer_is_no_answer(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        world.line.misbehave(KRAMDOWN, "html")
        assert code_of(await read(world)) == "host_malformed"
        arguments = await world.prepared("New text")
        world.line.misbehave(UPDATE, "html")
        assert code_of(await world.client.tool("block", "update", **arguments)) == "outcome_unknown"
        assert world.line.count(UPDATE) == 1


async def test_a_host_that_refuses_the_token_or_is_busy_says_so(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        world.line.misbehave(KRAMDOWN, "forbid")
        answer = await read(world)
        assert code_of(answer) == "host_unauthorized"
        assert "SISYPHUS_HOST_TOKEN" in answer["structuredContent"]["error"]["nextStep"]
        await world.settings(kernelOptions={"readRetries": 1})
        world.line.misbehave(KRAMDOWN, "busy", "busy")
        answer = await read(world)
        assert (code_of(answer), answer["structuredContent"]["error"]["safeToRetry"]) == ("host_unavailable", True)
        arguments = await world.prepared("New text")
        world.line.misbehave(UPDATE, "busy")
        answer = await world.client.tool("block", "update", **arguments)
        assert answer["structuredContent"]["writeAttempted"] is False, "refused before it was begun"
        assert await world.notes.text("P1") == "Alpha text"


async def test_the_hosts_refusal_is_certain_and_told_in_its_words(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        world.line.misbehave(KRAMDOWN, "refuse")
        answer = await read(world)
        assert code_of(answer) == "api_error"
        assert "refused by the host" in answer["structuredContent"]["error"]["message"]
        arguments = await world.prepared("New text")
        world.line.misbehave(UPDATE, "refuse")
        answer = await world.client.tool("block", "update", **arguments)
        assert code_of(answer) == "api_error"
        assert await world.notes.text("P1") == "Alpha text"


async def test_a_host_that_goes_away_between_write_and_read_back_leaves_the_outcome_open(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        arguments = await world.prepared("New text")
        world.line.misbehave(UPDATE, "vanish")
        answer = await world.client.tool("block", "update", **arguments)
        assert code_of(answer) in ("outcome_unknown", "readback_mismatch")
        assert answer["structuredContent"]["transactionState"] == "unknown"
        assert await world.notes.text("P1") == "New text"
        world.line.is_gone = False
        again = await world.client.tool("block", "update", **arguments)
        assert again["structuredContent"]["transactionState"] == "unknown"
        assert world.line.count(UPDATE) == 1


async def test_the_remote_settings_switch_the_endpoint_and_let_origins_in(tmp_path: Path) -> None:
    async with remote(tmp_path) as world:
        http, url, page = world.notes.http, world.front.mcp.replace("/mcp", "/health"), "https://app.test"

        async def status(expected: int, **headers: str) -> int:
            with trio.move_on_after(20):
                while True:
                    found = (await http.get(url, headers=headers)).status_code
                    if found == expected:
                        break
                    await trio.sleep(0.05)
            return found

        assert await status(403, Origin=page) == 403
        await world.settings(kernelOptions={"allowedOrigins": [page]})
        assert await status(200, Origin=page) == 200
        await world.settings(kernelEndpointEnabled=False)
        assert await status(503) == 503
        await world.settings(kernelEndpointEnabled=True)
        assert await status(200) == 200
