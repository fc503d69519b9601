"""``python -m kernel bench``: options to wishes, reports to files. Holds no rule of measuring."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from kernel.bench import delays, lanes
from kernel.bench.client import RequestRefused
from kernel.bench.limits import CONNECTIONS_MAX, RATE_PER_S_MAX, REPORT_BYTES_MAX, ROUND_S_MAX, ROUNDS_MAX, WORKERS_MAX
from kernel.bench.noise import WORSE
from kernel.bench.report import ReportInvalid, compare, parse
from kernel.bench.rounds import LoadFailed, Processors, Shape
from kernel.bench.session import Wish, document, measure
from kernel.bench.targets import PEERS, TargetFailed, running
from kernel.bench.wire import BadAnswer
from kernel.bench.workloads import NAMES, SUMMARIES

_T = TypeVar("_T")
_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_READ_FILE: Final = click.Path(path_type=Path, dir_okay=False, exists=True)
_DEFAULT: Final = ("trivial", "reads", "mixed")
_FAILURES: Final = (TargetFailed, LoadFailed, RequestRefused, BadAnswer, OSError, ValueError)
_SECONDS: Final = click.FloatRange(0, ROUND_S_MAX, min_open=True)


@click.group("bench", invoke_without_command=True)
@click.pass_context
def bench_command(ctx: click.Context) -> None:
    """Put load on the kernel, or on any MCP server, and report what it carried and how long that took.

    Without a command: the trivial tool, reads, and nine reads to a safe write, on a kernel of its own.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(run_command)


@bench_command.command("list")
def list_command() -> None:
    """The workloads, the peers, and the service times of the lanes."""
    for title, rows in (("Workloads", SUMMARIES), ("Peers", PEERS), ("Service times", delays.SERVICES)):
        click.echo(f"{title}:")
        for name, summary in rows.items():
            click.echo(f"  {name:15} {summary}")


def _common(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--seconds", type=_SECONDS, default=3.0, show_default=True, help="Length of one round."),
        click.option("--seed", type=int, default=1, show_default=True, help="Of arrivals and choices."),
        click.option("--read-slots", type=click.IntRange(1, 1000), default=4, show_default=True),
        click.option("--mutation-slots", type=click.IntRange(1, 1000), default=1, show_default=True),
        click.option("--admitted-max", type=click.IntRange(1, 4096), default=128, show_default=True),
        click.option("--pin/--no-pin", "pins", default=True, help="Server and generator on processors of their own."),
        click.option("--json", "json_file", type=_FILE, help="Write the report, to keep and to compare."),
        click.option("--html", "html_file", type=_FILE, help="Write it as one page with plots."),
    ):
        command = option(command)
    return command


@bench_command.command("run")
@click.argument("workloads", nargs=-1, type=click.Choice([*NAMES, "all"]))
@click.option("--url", default="", help="An MCP endpoint that runs already (http://host:port/path).")
@click.option("--token", default="", help="Its API token.")
@click.option("--tool", default="system", show_default=True, help="The trivial tool at --url.")
@click.option("--arguments", default='{"action": "get_version"}', show_default=True, help="Its arguments, JSON.")
@click.option("--peer", "peers", multiple=True, type=click.Choice([*PEERS]), help="Measure a peer in turn. Repeatable.")
@click.option(
    "--era", type=click.Choice(["modern", "legacy"]), default="modern", show_default=True, help="Legacy: in sessions."
)
@click.option("--wrk", "is_witnessed", is_flag=True, help="Let wrk measure the trivial tool too.")
@click.option("--connections", type=click.IntRange(1, CONNECTIONS_MAX), default=16, show_default=True)
@click.option(
    "--workers", type=click.IntRange(1, WORKERS_MAX), default=1, show_default=True, help="Generator processes."
)
@click.option(
    "--rate", type=click.FloatRange(0, RATE_PER_S_MAX), default=0.0, help="Open loop: so many a second. 0: closed loop."
)
@click.option("--arrivals", type=click.Choice(["poisson", "even"]), default="poisson", show_default=True)
@click.option("--warm-up", type=click.FloatRange(0, ROUND_S_MAX), default=0.5, show_default=True, help="Seconds.")
@click.option("--rounds", type=click.IntRange(1, ROUNDS_MAX), default=3, show_default=True)
@click.option(
    "--host-ms", type=click.FloatRange(1, 10_000), help="How long the notes take in cancels and overload (10)."
)
@click.option("--idle", type=click.IntRange(0, 60_000), default=10_000, show_default=True, help="Silent connections.")
@_common
def run_command(workloads: tuple[str, ...], **options: Any) -> None:
    """Measure workloads (default: trivial, reads, mixed) in several rounds."""
    processors = Processors.here(pins=options["pins"])
    names = NAMES if "all" in workloads else workloads or _DEFAULT
    target = _running_target(options, names)
    if options["is_witnessed"]:
        _require_wrk()
    _check_writable(options)
    shape = Shape(
        "trivial",
        connections=options["connections"],
        workers=options["workers"],
        rate_per_s=options["rate"],
        arrivals=options["arrivals"],
        warm_up_s=options["warm_up"],
        duration_s=options["seconds"],
        seed=options["seed"],
    )
    wish = Wish(
        tuple(dict.fromkeys(names)),
        tuple(dict.fromkeys(options["peers"])),
        target() if target is not None else None,
        _serve(options),
        options["read_slots"],
        shape,
        options["rounds"],
        options["idle"],
        None if options["host_ms"] is None else options["host_ms"] / 1000,
        options["is_witnessed"],
        options["era"] == "legacy",
    )
    runs = _carried_out(lambda: measure(wish, processors, click.echo))
    _write(document(runs, [], processors), options)


@bench_command.command("lanes")
@click.option("--lane", "names", multiple=True, type=click.Choice(lanes.NAMES), help="Which lanes (default: both).")
@click.option("--service", type=click.Choice([*delays.SERVICES]), default=delays.EXPONENTIAL, show_default=True)
@click.option("--service-ms", type=click.FloatRange(1, 10_000), default=20.0, show_default=True, help="Mean delay.")
@click.option("--loads", default=",".join(f"{load:g}" for load in lanes.LOADS), show_default=True, help="Of capacity.")
@_common
def lanes_command(names: tuple[str, ...], **options: Any) -> None:
    """Offer a lane more and more, and lay queueing theory's prediction over what it does."""
    processors = Processors.here(pins=options["pins"])
    loads = _loads(options["loads"])
    _check_writable(options)
    sweeps = [
        lanes.Sweep(
            name,
            options["read_slots"],
            options["mutation_slots"],
            options["admitted_max"],
            options["service"],
            options["service_ms"] / 1000,
            loads,
            options["seconds"],
            options["seed"],
        )
        for name in dict.fromkeys(names or lanes.NAMES)
    ]
    told = []
    for sweep in sweeps:
        told.append(_carried_out(lambda sweep=sweep: lanes.run_sweep(sweep, processors, click.echo)))  # type: ignore[misc]
        click.echo("  " + lanes.words_of_knee(told[-1]["knee"]))
    _write(document([], told, processors), options)


@bench_command.command("compare")
@click.argument("before", type=_READ_FILE)
@click.argument("after", type=_READ_FILE)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON line.")
def compare_command(before: Path, after: Path, is_json: bool) -> None:
    """Say whether AFTER differs from BEFORE by more than noise. Exit code 1: something is worse."""
    told = compare(_read(before), _read(after))
    if is_json:
        click.echo(json.dumps(told))
    else:
        for row in told["rows"]:
            click.echo(
                f"{row['target']:15} {row['workload']:10} {row['number']:21} {row['before']:12.1f} → {row['after']:12.1f} "
                f"{row['change']:+8.1%}  (noise ±{row['noise']:.1%})  {row['verdict']}"
            )
        for word, keys in (("before", told["onlyBefore"]), ("after", told["onlyAfter"])):
            for key in keys:
                click.echo(f"only {word}: {key[0]} {key[1]} ({key[2]} loop)")
        click.echo(f"verdict: {told['verdict']}")
    if told["verdict"] == WORSE:
        raise click.exceptions.Exit(1)


@bench_command.command("show")
@click.argument("report", type=_READ_FILE)
@click.argument("page", type=_FILE)
def show_command(report: Path, page: Path) -> None:
    """Write REPORT (JSON) as the PAGE (HTML) that one looks at."""
    from kernel.bench.page import as_html

    page.write_bytes(as_html(_read(report)))


def _read(file: Path) -> dict[str, Any]:
    """A report's document; what is wrong with it is a wrong argument (exit code 2)."""
    try:
        if file.stat().st_size > REPORT_BYTES_MAX:
            raise click.UsageError(f"{file}: a report has at most {REPORT_BYTES_MAX} bytes")
        return parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file}: it cannot be read: {error}") from None
    except ReportInvalid as error:
        raise click.UsageError(str(error)) from None


def _running_target(options: dict[str, Any], names: tuple[str, ...]) -> Callable[[], Any] | None:
    """How to reach --url, or None. Raises UsageError for options that do not fit."""
    if not options["url"]:
        return None
    foreign = [name for name in names if name not in ("trivial", "idle")]
    if foreign:
        raise click.UsageError(f"{foreign[0]} needs notes of its own: with --url only trivial and idle can be measured")
    try:
        arguments = json.loads(options["arguments"])
    except ValueError as error:
        raise click.UsageError(f"--arguments: it is not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise click.UsageError("--arguments: a JSON object is expected")
    return lambda: _carried_out(
        lambda: running(options["url"], tool=options["tool"], arguments=arguments, token=options["token"])
    )


def _loads(text: str) -> tuple[float, ...]:
    try:
        loads = tuple(float(one) for one in text.split(","))
    except ValueError as error:
        raise click.UsageError(f"--loads {text}: {error}") from None
    if not all(0 < load <= 100 for load in loads):
        raise click.UsageError(f"--loads {text}: each load lies between 0 and 100")
    return tuple(sorted(loads))


def _require_wrk() -> None:
    from kernel.bench.independent import is_installed

    if not is_installed():
        raise click.UsageError("--wrk: wrk is not installed (Debian: apt-get install wrk)")


def _serve(options: dict[str, Any]) -> tuple[str, ...]:
    names = {"read_slots": "--read-slots", "mutation_slots": "--mutation-slots", "admitted_max": "--admitted-max"}
    return tuple(word for name, flag in names.items() for word in (flag, str(options[name])))


def _carried_out(work: Callable[[], _T]) -> _T:
    try:
        return work()
    except _FAILURES as error:
        raise click.ClickException(str(error) or type(error).__name__) from None


def _check_writable(options: dict[str, Any]) -> None:
    """A report that could not be written after minutes of measuring is refused before them."""
    if options["read_slots"] + options["mutation_slots"] > options["admitted_max"]:
        raise click.UsageError("--admitted-max: it must be at least the sum of all slots")
    for file in (options["json_file"], options["html_file"]):
        if file is not None and not file.absolute().parent.is_dir():
            raise click.UsageError(f"{file}: its folder does not exist")


def _write(report: dict[str, Any], options: dict[str, Any]) -> None:
    if options["json_file"] is not None:
        options["json_file"].write_text(json.dumps(report), encoding="utf-8")
    if options["html_file"] is not None:
        from kernel.bench.page import as_html

        options["html_file"].write_bytes(as_html(report))
