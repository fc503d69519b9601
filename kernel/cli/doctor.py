"""``doctor``: one line for each thing that a call needs, with what to do. Exit code 1 if something will not work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from kernel.cli.checks import Verdict, findings
from kernel.cli.place import Place
from kernel.cli.showing import print_json

_COLOURS: Final = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red"}


@click.command("doctor")
@click.option("--workspace", type=click.Path(path_type=Path), help="Workspace (default: the data folder's).")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def doctor_command(workspace: Path | None, is_json: bool) -> None:
    """Look at a workspace: its kernel, lock, port, token, settings, permissions, ledger, index. Changes nothing."""
    found = list(findings(Place.of(workspace, "").folder()))
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
