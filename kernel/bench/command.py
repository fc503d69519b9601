"""``python -m kernel bench``: options to a plan of measurements, and reports to files. Holds no rule of measuring."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from kernel.bench.rounds import LoadFailed, Processors, Shape, run_round
from kernel.bench.targets import TargetFailed, own_kernel
from kernel.bench.workloads import NAMES


@click.group("bench")
def bench_command() -> None:
    """Put load on the kernel, or on any MCP server, and report what it carried and how long that took."""


@bench_command.command("run")
@click.argument("workloads", nargs=-1, type=click.Choice(NAMES))
@click.option("--connections", default=16)
@click.option("--rate", default=0.0)
@click.option("--seconds", default=2.0)
@click.option("--json", "json_file", type=click.Path(path_type=Path))
def run_command(
    workloads: tuple[str, ...], connections: int, rate: float, seconds: float, json_file: Path | None
) -> None:
    """Measure."""
    processors = Processors.here()
    rounds: list[dict[str, Any]] = []
    try:
        with own_kernel(cpu=processors.server) as target:
            for workload in workloads or ("trivial",):
                shape = Shape(workload, connections=connections, rate_per_s=rate, duration_s=seconds)
                rounds.append(run_round(target, shape, processors))
                click.echo(
                    json.dumps({k: v for k, v in rounds[-1].items() if k not in ("histogram", "windows", "samples")})
                )
    except (TargetFailed, LoadFailed) as error:
        raise click.ClickException(str(error)) from None
    if json_file is not None:
        json_file.write_text(json.dumps(rounds), encoding="utf-8")
