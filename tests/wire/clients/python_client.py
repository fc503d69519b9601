"""The official Python SDK's client tells one story against a running kernel: read, safe write, dangerous call, cancel.

Run with the interpreter that holds ``mcp``: ``python python_client.py [--stdio PYTHON] BASE MODE DOCUMENT`` (MODE: legacy
or auto; BASE without a path; DOCUMENT: the id of an existing document). With ``--stdio`` the client starts ``PYTHON -m
kernel stdio``, which delegates to the kernel at BASE. Prints the negotiated revision; any surprise ends it with 1.
"""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

ROOT = Path(__file__).resolve().parents[3]
HELD_S = 0.5
PATIENCE_S = 10.0
asked: list[str] = []


async def agree(_context: Any, params: Any) -> ElicitResult:
    """The user reads the message and says yes."""
    asked.append(params.message)
    return ElicitResult(action="accept", content={"confirm": True})


def payload(result: Any) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return dict(result.structured_content)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, payload(result)
    return payload(result)


async def preflight(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The safety arguments that the commit of the same call needs."""
    issued = await call(client, tool, **arguments, validateOnly=True)
    field = issued.get("preconditionField")
    return {"requestId": issued["requestId"], **({field: issued[field]} if field else {})}


def queue(base: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{base}/sisyphus/health") as answer:
        return dict(json.load(answer)["queue"])


async def write_safely(client: Client, path: str) -> None:
    write = {"action": "write", "path": path, "markdown": "Written by the Python client."}
    safety = await preflight(client, "fs", **write)
    written = await call(client, "fs", **write, **safety)
    assert written["safety"]["transactionState"] == "committed", written
    assert "Python client" in json.dumps(await call(client, "fs", action="read", path=path))


async def remove_with_consent(client: Client, path: str, *, is_modern: bool) -> None:
    remove = {"action": "rm", "path": path}
    safety = await preflight(client, "fs", **remove)
    if is_modern:
        removed = await call(client, "fs", **remove, **safety)
        assert len(asked) == 1, asked
    else:
        refused = await client.call_tool("fs", {**remove, **safety})
        assert payload(refused)["error"]["code"] == "dangerous_action_requires_confirmation", refused
        assert asked == []
        removed = await call(client, "fs", **remove, **safety, confirm=True)
    assert removed["safety"]["transactionState"] == "committed", removed


async def cancel_a_read(client: Client, base: str, document: str) -> None:
    """The kernel holds this read at its host; walking away must reach it."""
    with anyio.move_on_after(HELD_S) as scope:
        await client.call_tool("block", {"action": "get_kramdown", "id": document})
    assert scope.cancelled_caught, "the read was not held"
    with anyio.fail_after(PATIENCE_S):
        await until(base, "cancelledRunning", 1)
        await until(base, "inFlight", 0)


async def until(base: str, name: str, value: int) -> None:
    """Ask /health until it says so."""
    while (await anyio.to_thread.run_sync(queue, base))[name] != value:  # noqa: ASYNC110 - another process's state
        await anyio.sleep(0.05)


async def main(server: str | StdioServerParameters, base: str, mode: Any, document: str) -> None:
    is_modern = mode != "legacy"
    async with Client(server, mode=mode, elicitation_callback=agree) as client:
        assert "fs" in [tool.name for tool in (await client.list_tools()).tools]
        assert "Alpha" in json.dumps(await call(client, "fs", action="read", path="/Box/Plan"))
        path = f"/Box/By python {mode} {type(server).__name__}"
        await write_safely(client, path)
        await remove_with_consent(client, path, is_modern=is_modern)
        await cancel_a_read(client, base, document)
        assert "Alpha" in json.dumps(await call(client, "fs", action="read", path="/Box/Plan"))
        assert client.protocol_version == ("2026-07-28" if is_modern else "2025-11-25")
        print(client.protocol_version)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0] == "--stdio":
        arguments = ["-m", "kernel", "stdio", "--url", words[2]]
        asyncio.run(main(StdioServerParameters(command=words[1], args=arguments, cwd=ROOT), *words[2:5]))
    else:
        asyncio.run(main(f"{words[0]}/sisyphus/mcp", *words[:3]))
