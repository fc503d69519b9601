"""Plays recorded tool scenarios against the tool service in process, on whatever host is given.

    python -m tests.tools.replay GOLDEN_DIR --only 'mcp-fs-*' [--url http://127.0.0.1:6806]

The host is an emulated kernel in memory, or, with ``--url``, a real one that is emptied between scenarios. Only the steps that call a tool are compared,
with the golden comparer's own rules.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import trio

from kernel.clock import SystemClock
from kernel.host.base import Host, HostApiError, HostHttpError
from kernel.host.embedded import EmbeddedHost
from kernel.host.remote import RemoteHost
from kernel.ids import SystemIds
from kernel.tools.call import ToolParts, Tools
from kernel.tools.permissions import Level
from kernel.tools.service import Caller, Refused, ToolResult
from scheduler.scheduler import Scheduler
from scheduler.ticket import Ticket
from tests.siyuan.kernel_in_memory import MemoryKernel

COMMIT_BOUND_S = 30.0


def comparer() -> ModuleType:
    """tests/golden/golden.py as a module."""
    path = Path(__file__).parents[1] / "golden" / "golden.py"
    spec = importlib.util.spec_from_file_location("golden_comparer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def service_on(host: Host, scheduler: Scheduler) -> Tools:
    """The tool service as the application makes it, without a coordinator: the recordings are not strict."""
    boundary = functools.partial(scheduler.boundary, bound_s=COMMIT_BOUND_S)
    return Tools(ToolParts(host, SystemClock(), SystemIds(), boundary, default_level=Level.READ))


async def call_tool(tools: Tools, scheduler: Scheduler, name: str, arguments: Any) -> ToolResult:
    """One tools/call through admission, lane and boundary."""
    caller = Caller("handshake")
    try:
        prepared = await tools.prepare(name, arguments, caller)
    except Refused as refused:
        return refused.result
    if prepared.confirmation is not None and arguments.get("confirm") is not True:
        return ToolResult([{"type": "text", "text": "confirm"}], {"error": {"type": "confirmation"}}, is_error=True)

    async def work(ticket: Ticket) -> ToolResult:
        return await tools.perform(prepared, ticket, caller)

    with scheduler.admit() as ticket:
        if prepared.lane is None:
            return await tools.perform(prepared, ticket, caller)
        return await scheduler.perform(ticket, prepared.lane, work)


def as_answer(result: ToolResult, number: int) -> dict[str, Any]:
    """A result as the golden files keep an answer of the legacy endpoint."""
    content = [dict(part) for part in result.content]
    for part in content:
        if part.get("text", "")[:1] in ("{", "["):
            part["text"] = json.loads(part["text"])
    body: dict[str, Any] = {"content": content}
    if result.structured is not None:
        body["structuredContent"] = result.structured
    if result.is_error:
        body["isError"] = True
    return {"status": 200, "json": {"jsonrpc": "2.0", "id": number, "result": body}}


async def play(
    golden: ModuleType, scenario: dict[str, Any], host: Host, tools: Tools, scheduler: Scheduler, patience: float = 1.0
) -> list[tuple[int, dict[str, Any], dict[str, Any] | None, dict[str, str]]]:
    """Every exchange as (index, step, our answer or None where no tool is called, the names so far)."""
    names: dict[str, str] = {}
    played: list[tuple[int, dict[str, Any], dict[str, Any] | None, dict[str, str]]] = []
    for step in scenario["steps"]:
        filled = golden.fill(step, names)
        if "pause" in filled:
            await trio.sleep(filled["pause"] * patience)
            continue
        answer = await _answer(filled, host, tools, scheduler, len(played) + 2)
        raw = answer or {}
        for name, path in step.get("save", {}).items():
            value = golden.dig(raw.get("json"), path)
            if isinstance(value, str):
                names[name] = value
        is_tool = "tool" in step or step.get("mcp") == "tools/call"
        played.append((len(played), step, answer if is_tool else None, dict(names)))
    return played


async def _answer(
    step: dict[str, Any], host: Host, tools: Tools, scheduler: Scheduler, number: int
) -> dict[str, Any] | None:
    if "tool" in step:
        return as_answer(await call_tool(tools, scheduler, step["tool"], step.get("arguments", {})), number)
    if step.get("mcp") == "tools/call":
        params = step.get("params", {})
        if isinstance(params.get("name"), str) and isinstance(params.get("arguments", {}), dict):
            return as_answer(await call_tool(tools, scheduler, params["name"], params.get("arguments", {})), number)
        return None
    if "upload" in step:
        file = step["file"]
        await host.write_file(step["fields"]["path"], file.get("text", "").encode())
        return None
    if step.get("post") == "/api/file/getFile":
        return None
    if "post" in step:
        try:
            data = await host.call(step["post"], step.get("json", {}))
        except HostApiError as error:
            return {"status": 200, "json": {"code": error.api_code, "msg": error.message, "data": error.data}}
        except HostHttpError:
            return None
        return {"status": 200, "json": {"code": 0, "msg": "", "data": data}}
    return None


def compare(
    golden: ModuleType, scenario: dict[str, Any], played: list[tuple[int, dict[str, Any], Any, dict[str, str]]]
) -> dict[int, list[str]]:
    """The differing exchanges of one scenario: index → rows. Steps that call no tool are not compared."""
    failed: dict[int, list[str]] = {}
    for index, step, answer, names in played:
        if answer is None:
            continue
        want = scenario["exchanges"][index]
        rows = golden.differences(
            golden.canonical(want["result"], step, want["names"], scenario["day"]),
            golden.canonical(answer, step, names, time.strftime("%Y-%m-%d")),
            more_allowed=bool(step.get("prose")) and golden.is_error(want["result"]),
        )
        rows = [row for row in rows if not row.startswith(".json.id")]
        if rows:
            failed[index] = rows
    return failed


async def empty(host: Host) -> None:
    """Leave the kernel without notebooks and without plugin files."""
    data = await host.call("/api/notebook/lsNotebooks")
    for notebook in data["notebooks"] or []:
        await host.call("/api/notebook/removeNotebook", {"notebook": notebook["id"]})
    for path in ("/data/storage/petal/siyuan-plugins-mcp-sisyphus", "/data/assets"):
        try:
            await host.call("/api/file/removeFile", {"path": path})
        except HostApiError:
            continue


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("golden", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--only", default="mcp-*")
    parser.add_argument("--show", type=int, default=4)
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    golden = comparer()
    total = good = 0
    for file in sorted(options.golden.glob("*.json")):
        if not fnmatch.fnmatch(file.stem, options.only):
            continue
        scenario = json.loads(file.read_text())
        host: Host = RemoteHost(options.url) if options.url else EmbeddedHost(MemoryKernel().kernel)
        async with trio.open_nursery() as nursery:
            scheduler: Scheduler = await nursery.start(Scheduler().run)
            if options.url:
                await empty(host)
            patience = 1.0 if options.url else 0.0
            played = await play(golden, scenario, host, service_on(host, scheduler), scheduler, patience)
            nursery.cancel_scope.cancel()
        await host.aclose()
        failed = compare(golden, scenario, played)
        count = sum(answer is not None for _, _, answer, _ in played)
        total, good = total + count, good + count - len(failed)
        print(f"{file.stem}: {count - len(failed)}/{count} failed {sorted(failed)}")
        for index, rows in failed.items() if not options.quiet else ():
            print(f"--- {index} {json.dumps(scenario['exchanges'][index]['step'], ensure_ascii=False)[:200]}")
            for row in rows[: options.show]:
                print("   ", row)
    print(f"{good} of {total} tool exchanges equal ({100 * good / max(total, 1):.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
