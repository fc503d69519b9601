"""A client as it is written in an afternoon: whatever goes wrong, it tries the whole thing again. Its faults are found.

Run by the laboratory: ``lab run all -- python -m kernel.lab.examples.naive`` (LAB_MCP and LAB_BLOCK are set for it).
"""

from __future__ import annotations

import os
import sys

from kernel.lab.examples.client import Client, NoAnswer, Refused, credential

TRIES = 3


def update(client: Client, block: str, text: str) -> None:
    """Preflight and commit; on any trouble from the beginning, at once."""
    call = {"action": "update", "id": block, "dataType": "markdown", "data": text}
    for _ in range(TRIES):
        try:
            preflight = client.tool("block", **call, validateOnly=True)
            told = client.tool("block", **call, **credential(preflight))
        except (NoAnswer, Refused, KeyError):
            continue
        if "error" not in told:
            return
    print("it did not work")


def main() -> int:
    client = Client(os.environ["LAB_MCP"], timeout_s=None)
    block = os.environ["LAB_BLOCK"]
    for _ in range(TRIES):
        try:
            client.tool("block", action="get_kramdown", id=block)
            break
        except (NoAnswer, Refused):
            continue
    update(client, block, "First change")
    update(client, block, "Second change")
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
