"""A client that does what the product's errors say. The laboratory finds nothing in it.

Run by the laboratory: ``lab run all -- python -m kernel.lab.examples.careful`` (LAB_MCP and LAB_BLOCK are set for it).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from kernel.lab.examples.client import Client, NoAnswer, Refused, credential

TIMEOUT_S = 4.0
TRIES = 8
PAUSE_S = 0.3
PAUSE_S_MAX = 3.0
# Somebody who is down gets this long to come back.
PATIENCE_S = 45.0
# The write was begun, and what became of it is not known: the same id again tells, or reading does.
IN_DOUBT = {"outcome_unknown", "readback_mismatch", "idempotency_unavailable"}
# Nothing was done, and the preflight is used up: read, and begin again.
STALE = {"state_changed", "preflight_lease_invalid", "request_id_expired"}
# Nothing was done: the same call again is safe.
AGAIN = {"queue_full", "request_cancelled", "write_ledger_unavailable", "write_safety_failed", "host_unavailable"}


class GaveUp(Exception):
    """It cannot go on, and says so."""


class Careful:
    """Reads and writes one block."""

    def __init__(self, client: Client, block: str) -> None:
        self.client = client
        self.block = block

    def read(self) -> str:
        """The block's text."""
        told = self.patiently(action="get_kramdown", id=self.block)
        return str(told.get("kramdown", "")).split("\n{:")[0]

    def write(self, text: str) -> None:
        """Make the block say ``text``: never twice, and never over somebody's edit without having read it."""
        call = {"action": "update", "id": self.block, "dataType": "markdown", "data": text}
        for _ in range(TRIES):
            preflight = self.patiently(**call, validateOnly=True)
            verdict = self.commit({**call, **credential(preflight)})
            if verdict == "done" or self.read() == text:
                return
            time.sleep(PAUSE_S)
        raise GaveUp("the block would not be written")

    def commit(self, call: dict[str, Any]) -> str:
        """Send one commit until its end is known: "done", "look" (somebody must read) or, after refusals, "look"."""
        for attempt in attempts():
            try:
                told = self.client.tool("block", **call)
            except NoAnswer:
                pause(attempt)
                continue  # the same request id: a replay tells what became of it
            except Refused as refused:
                self.wait(refused, attempt)
                continue
            code = told.get("error", {}).get("code")
            if code is None:
                return "done"
            if code in IN_DOUBT | STALE:
                return "look"
            if code not in AGAIN:
                raise GaveUp(f"{code}: {told['error'].get('message')}")
            if attempt >= TRIES:
                raise GaveUp(f"{code}: {told['error'].get('message')}")
            time.sleep(told["error"].get("retryAfterMs", 1000 * PAUSE_S) / 1000)
        return "look"

    def patiently(self, **arguments: Any) -> dict[str, Any]:
        """A call that changes nothing: again, with pauses, until it is answered."""
        last = ""
        for attempt in attempts():
            try:
                told = self.client.tool("block", **arguments)
            except NoAnswer as lost:
                last = str(lost)
                pause(attempt)
                continue
            except Refused as refused:
                last = str(refused)
                self.wait(refused, attempt)
                continue
            error: dict[str, Any] | None = told.get("error")
            if error is None:
                return told
            last = f"{error.get('code')}: {error.get('message')}"
            if error.get("code") not in AGAIN or attempt >= TRIES:
                raise GaveUp(last)
            time.sleep(error.get("retryAfterMs", 1000 * PAUSE_S) / 1000)
        raise GaveUp(last)

    @staticmethod
    def wait(refused: Refused, attempt: int) -> None:
        """As long as it was asked to; what is refused for good ends it."""
        if refused.status < 500 and refused.status not in (408, 425, 429):
            raise GaveUp(str(refused))
        if refused.retry_after_s is None:
            pause(attempt)
        else:
            time.sleep(refused.retry_after_s)


def attempts() -> Iterator[int]:
    """0, 1, 2, … until the patience is over."""
    end_s = time.monotonic() + PATIENCE_S
    for attempt in range(1000):
        if time.monotonic() >= end_s:
            return
        yield attempt


def pause(attempt: int) -> None:
    """Longer each time: whoever is down needs a moment."""
    time.sleep(min(PAUSE_S * 2**attempt, PAUSE_S_MAX))


def main() -> int:
    careful = Careful(Client(os.environ["LAB_MCP"], TIMEOUT_S), os.environ["LAB_BLOCK"])
    try:
        careful.read()
        careful.write("First change")
        careful.write("Second change")
    except GaveUp as error:
        print(f"gave up: {error}")
        return 1
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
