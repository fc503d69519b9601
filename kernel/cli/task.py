"""``task``: ask the coordinator what became of a call whose answer was lost (R251), or have it stopped."""

from __future__ import annotations

import sys
from typing import Any

import click

from kernel.cli.place import Place, place_options


@click.command("task")
@click.argument("operation", type=click.Choice(["status", "result", "cancel"]))
@click.argument("task_id")
@place_options
def task_command(operation: str, task_id: str, **where: Any) -> None:
    """Ask for a delegated call by its TASK_ID: its status, its result, or its cancel. Prints the reply as JSON.

    Exit code 0: it is known; 1: it is not, which says nothing about what the call did.
    """
    import trio

    from kernel.cli.showing import print_json
    from kernel.tasks.control import canonical_task_id

    if canonical_task_id(task_id) is None:
        raise click.UsageError(f"{task_id!r} is no task id: it is the UUID that the call's error names")

    reply = trio.run(_ask, Place.of(**where), operation, task_id)
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
