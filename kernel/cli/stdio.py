"""``stdio``: an MCP server on standard input and output that delegates to the running kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kernel.cli.place import Place, place_options


@click.command("stdio")
@place_options
def stdio_command(**where: Any) -> None:
    """Serve MCP on standard input and output, for clients that start their servers.

    Every call goes to the kernel that serves the workspace; it may be started before or after this process. Ends with
    its input, or with SIGTERM after what is under way has been cancelled.
    """
    import trio

    from kernel.delegate.delegate import Delegate
    from kernel.delegate.front import Front
    from kernel.ids import SystemIds
    from kernel.stdio.process import serve_stdio

    place = Place.of(**where)
    front = Front(Delegate(place.discovery(), SystemIds()), here=Path.cwd(), home=Path.home())
    trio.run(serve_stdio, front)
