"""``sim``: worlds from seeds. Exit code 0: every promise held; 1: one was broken; 2: the arguments mean nothing, or the
cluster cannot be had."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from kernel.sim.cluster import LOCAL
from kernel.sim.runs import SeedsInvalid, Tally, parse_numbers, parse_seeds, replay_line, tally
from kernel.sim.script import write_script
from kernel.sim.world import run_world

_TELL_EVERY = 500


@click.command("sim")
@click.option("--seeds", default="1..200", show_default=True, help="A..B, or one number.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="Processes.")
@click.option("--dask", "cluster", default="", metavar="ADDRESS|local", help="Run them on a Dask cluster.")
@click.option("--json", "is_json", is_flag=True, help="Print the count as one JSON object.")
@click.option("--shrink/--no-shrink", "shrinks", default=True, help="Make a failing world small.")
@click.option("--operations", help="Of one seed: only these operations (3,7,12 or none).")
@click.option("--mishaps", help="Of one seed: only these mishaps.")
@click.option("--trace", "shows_trace", is_flag=True, help="Of one seed: print what happened, step by step.")
def sim_command(
    seeds: str,
    jobs: int,
    cluster: str,
    is_json: bool,
    shrinks: bool,
    operations: str | None,
    mishaps: str | None,
    shows_trace: bool,
) -> None:
    """Run the whole kernel in simulated worlds and check its promises (docs/simulator.md)."""
    try:
        numbers = parse_seeds(seeds)
        chosen = {"operations": parse_numbers(operations), "mishaps": parse_numbers(mishaps)}
    except SeedsInvalid as error:
        raise click.UsageError(str(error)) from None
    if shows_trace or any(some is not None for some in chosen.values()):
        if len(numbers) != 1:
            raise click.UsageError("--operations, --mishaps and --trace are about one seed: --seeds N")
        sys.exit(_run_one(numbers[0], chosen, is_json=is_json, shows_trace=shows_trace))
    if cluster not in ("", LOCAL) and jobs != 1:
        raise click.UsageError("--jobs is for processes of this machine: a cluster has as many workers as it has")
    total = tally(numbers, jobs=jobs, cluster=cluster, shrinks=shrinks, told=None if is_json else _Teller())
    if is_json or total.worlds or not total.trouble:
        click.echo(json.dumps(total.as_json()) if is_json else _told(total))
    if total.trouble:
        click.echo(total.trouble, err=True)
        sys.exit(2)
    sys.exit(1 if total.failures else 0)


def _run_one(seed: int, chosen: dict[str, Any], *, is_json: bool, shows_trace: bool) -> int:
    whole = write_script(seed)
    script = whole.only(**chosen)
    report = run_world(script, keeps_trace=shows_trace)
    if is_json:
        told = {"seed": seed, "digest": report.digest, "failure": report.failure, "trace": report.trace}
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        for line in report.trace:
            click.echo(line)
        click.echo(report.failure or f"Every promise held. Digest of the trace: {report.digest}")
        click.echo(replay_line(script, whole))
    return 1 if report.failure else 0


class _Teller:
    """Says what is found when it is found: nobody waits for the end of a night."""

    def __init__(self) -> None:
        self._failures = 0

    def __call__(self, total: Tally) -> None:
        for one in total.failures[self._failures :]:
            click.echo(f"{one.failure}\n  {one.replay}")
        self._failures = len(total.failures)
        if total.worlds % _TELL_EVERY == 0:
            click.echo(f"{total.worlds} worlds, {self._failures} failures", err=True)


def _told(total: Tally) -> str:
    return (
        f"{total.worlds} worlds, {total.operations} operations, {total.lives} starts, {total.host_writes} writes of the "
        f"host; {len(total.failures)} failures. {total.worlds_per_cpu_s:.1f} worlds and "
        f"{total.operations_per_cpu_s:.0f} operations a second of one core ({total.wall_s:.0f} s)."
    )
