"""``stdio``: an MCP server on standard input and output that delegates to the running kernel."""

from __future__ import annotations

from pathlib import Path

import click

from kernel.cli.place import TOKEN_VARIABLE, Place


@click.command("stdio")
@click.option("--workspace", type=click.Path(path_type=Path), help="Workspace whose kernel is asked.")
@click.option("--url", default="", help="A kernel by its address.")
@click.option("--token", default="", help=f"Its API token (better: {TOKEN_VARIABLE}).")
def stdio_command(workspace: Path | None, url: str, token: str) -> None:
    """Serve MCP on standard input and output, for clients that start their servers.

    Every call goes to the kernel that serves the workspace; it may be started before or after this process. Ends with
    its input, or with SIGTERM after what is under way has been cancelled.
    """
    import trio

    from kernel.delegate.delegate import Delegate
    from kernel.delegate.front import Front
    from kernel.ids import SystemIds
    from kernel.stdio.process import serve_stdio

    place = Place.of(workspace, url, token)
    front = Front(Delegate(place.discovery(), SystemIds()), here=Path.cwd(), home=Path.home())
    trio.run(serve_stdio, front)
