"""The careful story on the official Python SDK's client (package ``mcp``): what the laboratory finds is the SDK's way.

Run with the interpreter that holds ``mcp``: ``lab run all -- PYTHON python_sdk.py [legacy|auto]``. LAB_MCP and LAB_BLOCK
are set by the laboratory.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import anyio
from mcp import Client  # type: ignore[import-not-found, unused-ignore]

TIMEOUT_S = 4.0
PATIENCE_S = 40.0
PAUSE_S = 0.5
TRIES = 8
IN_DOUBT = {"outcome_unknown", "readback_mismatch", "idempotency_unavailable"}
STALE = {"state_changed", "preflight_lease_invalid", "request_id_expired"}
AGAIN = {"queue_full", "request_cancelled", "write_ledger_unavailable", "write_safety_failed", "host_unavailable"}


class GaveUp(Exception):
    """It cannot go on, and says so."""


class Story:
    """One block, read and written; a connection of the SDK that is opened again when it failed."""

    def __init__(self, url: str, mode: str, block: str) -> None:
        self.url = url
        self.mode = mode
        self.block = block

    async def tool(self, **arguments: Any) -> dict[str, Any]:
        """One call on a connection of its own. Raises whatever the SDK raises."""
        async with Client(self.url, mode=self.mode, read_timeout_seconds=TIMEOUT_S) as client:
            result = await client.call_tool("block", arguments)
            return dict(result.structured_content or {})

    async def patiently(self, **arguments: Any) -> dict[str, Any]:
        """Until there is an answer: for a commit the same requestId tells what became of it."""
        end_s, tries, last = time.monotonic() + PATIENCE_S, 0, ""
        while time.monotonic() < end_s and tries < TRIES:
            try:
                told = await self.tool(**arguments)
            except Exception as error:
                last = f"{type(error).__name__}: {error}"
                if any(word in last for word in ("401", "403", "Unauthorized", "Forbidden")):
                    break
                await anyio.sleep(PAUSE_S)
                continue
            refusal = told.get("error") or {}
            if refusal.get("code") not in AGAIN:
                return told
            tries, last = tries + 1, str(refusal.get("code"))
            await anyio.sleep(refusal.get("retryAfterMs", 1000 * PAUSE_S) / 1000)
        raise GaveUp(last)

    async def read(self) -> str:
        told = await self.patiently(action="get_kramdown", id=self.block)
        return str(told.get("kramdown", "")).split("\n{:")[0]

    async def write(self, text: str) -> None:
        call = {"action": "update", "id": self.block, "dataType": "markdown", "data": text}
        for _ in range(TRIES):
            preflight = await self.patiently(**call, validateOnly=True)
            if "requestId" not in preflight:
                raise GaveUp(str(preflight.get("error")))
            field = preflight["preconditionField"]
            told = await self.patiently(**call, requestId=preflight["requestId"], **{field: preflight[field]})
            code = (told.get("error") or {}).get("code")
            if code is None or await self.read() == text:
                return
            if code not in IN_DOUBT | STALE:
                raise GaveUp(str(code))
        raise GaveUp("the block would not be written")


async def main(mode: str) -> int:
    story = Story(os.environ["LAB_MCP"], mode, os.environ["LAB_BLOCK"])
    try:
        await story.read()
        await story.write("First change")
        await story.write("Second change")
    except GaveUp as error:
        print(f"gave up: {error}")
        return 1
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else "auto"))
