"""A client that asks for progress hears of every long action, in both eras; nobody else hears anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from kernel.host.embedded import EmbeddedHost
from kernel.ids import SeededIds
from kernel.mcp.endpoint import MCPEndpoint
from tests.mcp.world import Reply, TrioClock, World, modern_body, modern_headers
from tests.tools.notes import Notes, open_notes

EXPORT = "/api/export/exportMdContent"


@asynccontextmanager
async def open_endpoint(folder: Path, *, strict: bool) -> AsyncIterator[tuple[World, Notes]]:
    """The whole endpoint over a notebook ``Box`` of six documents."""
    async with open_notes(folder, strict=strict) as notes, trio.open_nursery() as nursery:
        clock = TrioClock()
        endpoint = MCPEndpoint(notes.tools, notes.scheduler, clock, SeededIds(7))
        await nursery.start(endpoint.run)
        yield World(endpoint, notes.tools, notes.scheduler, clock, nursery), notes  # type: ignore[arg-type]
        nursery.cancel_scope.cancel()


async def six_documents(notes: Notes) -> list[str]:
    box = (await notes.call("notebook", "create", name="Box"))["id"]
    made = []
    for number in range(6):
        asked = {"notebook": box, "path": f"/D{number}", "markdown": f"alpha {number}"}
        made.append((await notes.call("document", "create", **asked))["id"])
    return made


async def blocks(notes: Notes) -> list[str]:
    found = [await notes.call("document", "get_child_blocks", id=one) for one in await six_documents(notes)]
    return [rows["value"][0]["id"] for rows in found]


def notes_in(reply: Reply, token: Any = "p") -> list[dict[str, Any]]:
    """The parameters of the progress notifications, which stand before the answer, grow, and never pass their total."""
    *before, answer = reply.messages
    assert "result" in answer
    assert {message["method"] for message in before} <= {"notifications/progress"}
    told = [message["params"] for message in before]
    counts = [one["progress"] for one in told]
    assert counts == sorted(set(counts))
    assert all(one["progress"] <= one.get("total", one["progress"]) for one in told)
    assert all(one["progressToken"] == token for one in told)
    return told


async def ask(world: World, era: str, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> Reply:
    params = {"name": tool, "arguments": {"confirm": True, **arguments}}
    if era == "modern":
        return await world.modern("tools/call", params, meta=meta)
    return await world.old(await world.initialize(era), "tools/call", {**params, "_meta": meta})


async def checked(notes: Notes, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the commit of a strict write that has been preflighted."""
    found = (await notes.raw(tool, {**arguments, "validateOnly": True})).structured or {}
    return {**arguments, "requestId": found["requestId"], found["preconditionField"]: found[found["preconditionField"]]}


@pytest.mark.parametrize("era", ["modern", "2025-11-25", "2025-03-26", "2024-11-05"])
async def test_a_replacement_in_many_blocks_tells_how_far_it_is(era: str, tmp_path: Path) -> None:
    async with open_endpoint(tmp_path, strict=True) as (world, notes):
        ids = await blocks(notes)
        asked = await checked(notes, "search", {"action": "find_replace", "k": "alpha", "r": "beta", "ids": ids})
        reply = await ask(world, era, "search", asked, {"progressToken": 7})
        told = notes_in(reply, 7)
        assert reply.messages[-1]["result"]["structuredContent"]["safety"]["transactionState"] == "committed"
        assert [one.get("message") for one in told] == (
            [None] * len(told)
            if era == "2024-11-05"
            else [
                *(f"Looked up {count} of 6" for count in range(1, 7)),
                "Read the blocks, part 1 of 1",
                "Looked at the target",
                "Written",
                "Read the blocks, part 1 of 1",
                "Looked at the target",
            ]
        )
        assert told[-1]["progress"] == told[-1]["total"]


READS = {
    "fs.search": {"path": "/Box", "query": "alpha"},
    "fs.tree": {"path": "/Box"},
    "file.export_markdown_snapshot": {"documentIDs": "ALL", "notebookID": "BOX"},
    "block.batch_kramdown": {"ids": "ALL"},
    "block.docs_info": {"ids": "ALL"},
}


@pytest.mark.parametrize("key", READS)
@pytest.mark.parametrize("era", ["modern", "2025-11-25"])
async def test_a_long_read_tells_how_far_it_is(era: str, key: str, tmp_path: Path) -> None:
    async with open_endpoint(tmp_path, strict=False) as (world, notes):
        made = await six_documents(notes)
        box = next(row["id"] for row in (await notes.call("notebook", "list"))["value"] if row["name"] == "Box")
        real = {"ALL": made, "BOX": box}
        tool, action = key.split(".")
        asked = {name: real.get(str(value), value) for name, value in READS[key].items()}
        reply = await ask(world, era, tool, {"action": action, **asked}, {"progressToken": "p"})
        assert notes_in(reply)
        assert not reply.messages[-1]["result"].get("isError")


@pytest.mark.parametrize("era", ["modern", "2025-11-25"])
@pytest.mark.parametrize("strict", [True, False])
async def test_every_write_tells_its_stages(era: str, strict: bool, tmp_path: Path) -> None:
    async with open_endpoint(tmp_path, strict=strict) as (world, notes):
        block = (await blocks(notes))[0]
        asked: dict[str, Any] = {"action": "set_attrs", "id": block, "attrs": {"custom-a": "1"}}
        if strict:
            asked = await checked(notes, "block", asked)
        told = notes_in(await ask(world, era, "block", asked, {"progressToken": "p"}))
        stages = [one["message"] for one in told if not one["message"].startswith("Read the blocks")]
        assert stages == (["Looked at the target", "Written", "Looked at the target"] if strict else ["Written"])


@pytest.mark.parametrize("era", ["modern", "2025-11-25"])
async def test_who_does_not_ask_hears_only_the_answer(era: str, tmp_path: Path) -> None:
    async with open_endpoint(tmp_path, strict=True) as (world, notes):
        ids = await blocks(notes)
        asked = await checked(notes, "search", {"action": "find_replace", "k": "alpha", "r": "beta", "ids": ids})
        assert notes_in(await ask(world, era, "search", asked, {})) == []


async def test_nothing_is_told_after_a_cancelled_call_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, begun = trio.Event(), trio.Event()
    send = EmbeddedHost.call

    async def call(host: EmbeddedHost, path: str, arguments: Any = None) -> Any:
        if path == EXPORT and begun.is_set() is False:
            begun.set()
            await held.wait()
        return await send(host, path, arguments)

    async with open_endpoint(tmp_path, strict=False) as (world, notes):
        await six_documents(notes)
        monkeypatch.setattr(EmbeddedHost, "call", call)
        session = await world.initialize()
        params = {
            "name": "fs",
            "arguments": {"action": "search", **READS["fs.search"]},
            "_meta": {"progressToken": "p"},
        }
        pending = await world.start(lambda: world.old(session, "tools/call", params, id=5))
        await begun.wait()
        await world.cancel(session, 5)
        held.set()
        await trio.testing.wait_all_tasks_blocked()
        *before, answer = (await pending.wait()).messages
        assert answer["result"]["structuredContent"]["error"]["code"] == "request_cancelled"
        assert [one["params"]["message"] for one in before] == ["Listed the documents below"]


async def test_a_modern_client_that_left_is_told_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, begun = trio.Event(), trio.Event()
    send = EmbeddedHost.call

    async def call(host: EmbeddedHost, path: str, arguments: Any = None) -> Any:
        if path == EXPORT and begun.is_set() is False:
            begun.set()
            await held.wait()
        return await send(host, path, arguments)

    async with open_endpoint(tmp_path, strict=False) as (world, notes):
        await six_documents(notes)
        monkeypatch.setattr(EmbeddedHost, "call", call)
        params = {"name": "fs", "arguments": {"action": "search", **READS["fs.search"]}}
        body = modern_body("tools/call", params, meta={"progressToken": "p"})
        stream = await world.open("POST", modern_headers("tools/call", params), body)
        assert (await stream.message())["params"]["message"] == "Listed the documents below"
        await begun.wait()
        stream.exchange.leave()  # type: ignore[attr-defined]
        held.set()
        rest = await stream.rest()
        assert [message for message in rest if message.get("method") == "notifications/progress"] == []
