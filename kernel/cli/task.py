"""``task``: ask the coordinator what became of a call whose answer was lost (R251), or have it stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from kernel.cli.place import TOKEN_VARIABLE, Place


@click.command("task")
@click.argument("operation", type=click.Choice(["status", "result", "cancel"]))
@click.argument("task_id")
@click.option("--workspace", type=click.Path(path_type=Path), help="Workspace whose kernel is asked.")
@click.option("--url", default="", help="A kernel by its address.")
@click.option("--token", default="", help=f"Its API token (better: {TOKEN_VARIABLE}).")
def task_command(operation: str, task_id: str, workspace: Path | None, url: str, token: str) -> None:
    """Ask for a delegated call by its TASK_ID: its status, its result, or its cancel. Prints the reply as JSON.

    Exit code 0: it is known; 1: it is not, which says nothing about what the call did.
    """
    import trio

    from kernel.cli.showing import print_json

    reply = trio.run(_ask, Place.of(workspace, url, token), operation, task_id)
    print_json(reply)
    sys.exit(0 if reply.get("found") is True else 1)


async def _ask(place: Place, operation: str, task_id: str) -> dict[str, Any]:
    from kernel.delegate.delegate import Delegate
    from kernel.errors import ToolError
    from kernel.ids import SystemIds

    delegate = Delegate(place.discovery(), SystemIds())
    try:
        reply = await delegate.control(await delegate.find(is_coordinated=False), task_id, operation)
    except ToolError as error:
        return error.payload()
    return reply if isinstance(reply, dict) else {"found": False, "error": "the coordinator did not answer"}
