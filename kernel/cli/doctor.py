"""``doctor``: one line for each thing that a call needs, with what to do. Exit code 1 if something will not work."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import click

from kernel.cli.checks import Verdict, findings
from kernel.cli.place import HOST_TOKEN_VARIABLE, Place, workspace_options
from kernel.cli.showing import print_json

_COLOURS: Final = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red"}


@click.command("doctor")
@workspace_options
@click.option("--host-token", default="", help=f"The API token of that SiYuan (better: {HOST_TOKEN_VARIABLE}).")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def doctor_command(
    workspace: Path | None, host_url: str, state_dir: Path | None, host_token: str, is_json: bool
) -> None:
    """Look at a workspace: its kernel, lock, port, token, settings, permissions, ledger, index. Changes nothing.

    With --host-url at a real SiYuan, as serve would use it: its answer, version, token, settings, official /mcp.
    """
    place = Place.of(workspace, "", host_url=host_url, state_dir=state_dir)
    if host_token and not host_url:
        raise click.UsageError("--host-token belongs to --host-url")
    if host_url:
        # It brings the HTTP client along, which a look at a folder has no use for.
        from kernel.cli.host_checks import host_findings

        token = host_token or os.environ.get(HOST_TOKEN_VARIABLE, "")
        found = host_findings(host_url, token, place.folder(), state_dir)
    else:
        found = list(findings(place.folder()))
    is_good = all(one.verdict is not Verdict.FAIL for one in found)
    if is_json:
        print_json({"ok": is_good, "checks": [one.as_json() for one in found]})
        sys.exit(0 if is_good else 1)
    for one in found:
        mark = click.style(f"{one.verdict.value:4}", fg=_COLOURS[one.verdict])
        click.echo(f"{mark}  {one.name:12} {one.words}")
        if one.advice:
            click.echo(f"      {'':12} {one.advice}")
    sys.exit(0 if is_good else 1)
