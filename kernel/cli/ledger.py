"""``ledger``: what the write ledger of a workspace says; read only, beside a running kernel."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from kernel.cli.place import Place, workspace_options
from kernel.safety import ledger_reading
from kernel.safety.ledger_store import LedgerUnavailable
from kernel.safety.write import WriteState

_TIMES: Final = frozenset({"issuedAt", "expiresAt", "begunAt", "settledAt"})
_json = click.option("--json", "is_json", is_flag=True, help="Print JSON.")


@click.group("ledger")
def ledger_command() -> None:
    """Look into the write ledger: one row per request id, never a note's text."""


@ledger_command.command("list")
@click.option("--state", type=click.Choice([state.value for state in WriteState]), help="Only rows in this state.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many, newest first.")
@workspace_options
@_json
def list_command(state: str | None, limit: int, is_json: bool, **where: Any) -> None:
    """List the newest request ids and what became of them."""
    with _said(is_json):
        rows = ledger_reading.listed(_folder(where), WriteState(state) if state else None, limit)
    if is_json:
        click.echo(json.dumps({"writes": rows}))
        return
    for row in rows:
        when = _time(max(row.get(name, 0) for name in _TIMES - {"expiresAt"}))
        what = f"{row['tool']}.{row['action']}" if "tool" in row else "-"
        targets = " ".join(row.get("targetIds", ()))
        click.echo(f"{row['requestId']:8} {row['state']:22} {when}  {what:28} {targets}")
    if not rows:
        click.echo("No request id is kept." if state is None else f"No request id is {state}.", err=True)


@ledger_command.command("show")
@click.argument("request_id")
@workspace_options
@_json
def show_command(request_id: str, is_json: bool, **where: Any) -> None:
    """Show one request id. Exit code 1: it was never issued here."""
    with _said(is_json):
        row = ledger_reading.found(_folder(where), request_id)
    if row is None:
        words = f"{request_id} was never issued here."
        click.echo(json.dumps({"error": words}) if is_json else words, err=not is_json)
        sys.exit(1)
    if is_json:
        click.echo(json.dumps(row))
        return
    for name, value in row.items():
        click.echo(
            f"{name:17} {_time(value) if name in _TIMES else value if isinstance(value, str) else json.dumps(value)}"
        )
    click.echo(f"{'meaning':17} {MEANINGS[WriteState(row['state'])]}")


@ledger_command.command("check")
@workspace_options
@_json
def check_command(is_json: bool, **where: Any) -> None:
    """Check the file: schema, damage, writes in doubt. Exit code 1: damaged, or not readable."""
    with _said(is_json):
        summary = ledger_reading.summary(_folder(where))
    is_good = summary["isKnown"] and not summary["damage"]
    if is_json:
        click.echo(json.dumps({"ok": is_good, **summary}))
    else:
        for line in check_lines(summary):
            click.echo(line)
    sys.exit(0 if is_good else 1)


MEANINGS: Final[dict[WriteState, str]] = {
    WriteState.ISSUED: "issued by a preflight and not used yet; it lapses 10 minutes after that",
    WriteState.EXECUTING: "the write runs now; if no kernel runs, its outcome is unknown: look at the target",
    WriteState.COMMITTED: "written and read back; the same commit again is answered from here",
    WriteState.UNKNOWN: "begun and not confirmed: look at the target before anything else; it is never written again",
    WriteState.FAILED_BEFORE_EXECUTE: "refused before the notes were touched",
    WriteState.EXPIRED: "a marker: this id was issued once and never will be again",
}


def check_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """What there is to say of a ledger."""
    counts = summary["counts"]
    yield f"schema {summary['schema']}" + ("" if summary["isKnown"] else ", written by a newer release")
    yield from (f"damage: {line}" for line in summary["damage"])
    yield ", ".join(f"{counts.get(state.value, 0)} {state.value}" for state in WriteState)


@contextmanager
def _said(is_json: bool) -> Iterator[None]:
    try:
        yield
    except LedgerUnavailable as error:
        click.echo(json.dumps({"error": str(error)}) if is_json else str(error), err=not is_json)
        sys.exit(1)


def _folder(where: Mapping[str, Any]) -> Path:
    return Place.of(url="", **where).storage()


def _time(wall_ms: Any) -> str:
    return f"{datetime.fromtimestamp(int(wall_ms) / 1000, tz=UTC).astimezone():%Y-%m-%d %H:%M:%S}"
