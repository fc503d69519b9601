"""``lab``: run clients under fault plans, record and replay exchanges. Options to the laboratory; holds no rule of it."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kernel.lab.limits import CLIENT_S, CLIENT_S_MAX

if TYPE_CHECKING:
    from kernel.lab.catalog import NamedPlan
    from kernel.lab.runner import PlanResult

EXIT_FAULTS: Final = 1
EXIT_WRONG: Final = 2
CLIENT: Final = "kernel.cli.lab.client"
_STYLES: Final = {"ok": "green", "fault": "bold red", "not reached": "yellow"}
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.group("lab")
def lab_command() -> None:
    """The laboratory: what does your client do when a call is lost, refused, held, or dies half-way?"""


@lab_command.command("list")
@click.argument("plans", nargs=-1)
def list_command(plans: tuple[str, ...]) -> None:
    """The plans of the catalogue, each in a line."""
    for plan in _plans(plans or ("all",)):
        click.echo(f"{plan.name:32} {plan.document.description}")


@lab_command.command("show")
@click.argument("plans", nargs=-1, required=True)
def show_command(plans: tuple[str, ...]) -> None:
    """A plan's file as it is: a start for one of your own."""
    for plan in _plans(plans):
        click.echo(f"# {plan.path.name}")
        click.echo(plan.path.read_text(encoding="utf-8"))


class ClientCommand(click.Command):
    """A command whose line goes on behind ``--`` with somebody else's command, which is left as it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        place = args.index("--") if "--" in args else len(args)
        ctx.meta[CLIENT] = tuple(args[place + 1 :])
        return super().parse_args(ctx, args[:place])


@lab_command.command("run", cls=ClientCommand)
@click.option("--json", "json_file", type=_FILE, help="Write the report as JSON (- for standard output).")
@click.option("--junit", "junit_file", type=_FILE, help="Write it as JUnit XML.")
@click.option("--html", "html_file", type=_FILE, help="Write it as one HTML page.")
@click.option("--timeout", "time_s", type=click.FloatRange(0.1, CLIENT_S_MAX), default=CLIENT_S, show_default=True)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Plans at the same time.")
@click.argument("plans", nargs=-1)
@click.pass_context
def run_command(
    context: click.Context,
    json_file: Path | None,
    junit_file: Path | None,
    html_file: Path | None,
    time_s: float,
    jobs: int,
    plans: tuple[str, ...],
) -> None:
    """Run a client under each plan: ``lab run PLAN… -- CLIENT COMMAND``.

    PLAN is a name of the catalogue, a pattern (``write-*``), ``all``, or a file. The client finds LAB_URL, LAB_MCP,
    LAB_NOTEBOOK, LAB_DOCUMENT and LAB_BLOCK in its environment, and {url}, {mcp}, … in its command are replaced. Exit
    code 0: nothing found; 1: faults of the client; 2: a wrong plan, or a command that cannot start.
    """
    command: tuple[str, ...] = context.meta[CLIENT]
    if not command:
        raise click.UsageError("say which client to run behind --:  lab run all -- python my_client.py")
    found = _plans(plans)
    _forbid_lost_output(json_file, junit_file, html_file)
    results = _run(found, command, time_s, jobs, quiet=json_file == Path("-"))
    _write_reports(results, command, json_file, junit_file, html_file)
    if any(result.run.start_error for result in results):
        click.echo(f"lab: {results[0].run.start_error}", err=True)
        sys.exit(EXIT_WRONG)
    sys.exit(EXIT_FAULTS if any(result.judgement.outcome == "fault" for result in results) else 0)


def _plans(names: tuple[str, ...]) -> list[NamedPlan]:
    from kernel.lab.catalog import PlanUnknown, find_plans

    if not names:
        raise click.UsageError("name a plan, or all; lab list shows them")
    try:
        return find_plans(names)
    except PlanUnknown as error:
        raise click.UsageError(str(error)) from None


def _forbid_lost_output(*files: Path | None) -> None:
    for file in files:
        if file is not None and file != Path("-") and not file.absolute().parent.is_dir():
            raise click.UsageError(f"{file}: its folder does not exist")


def _run(
    plans: list[NamedPlan], command: tuple[str, ...], time_s: float, jobs: int, *, quiet: bool
) -> list[PlanResult]:
    import trio
    from rich.console import Console

    from kernel.lab.process import KernelFailed
    from kernel.lab.runner import run_plans

    console = Console(stderr=quiet, highlight=False)

    def told(result: PlanResult) -> None:
        outcome = result.judgement.outcome
        titles = ", ".join(verdict.title for verdict in result.judgement.verdicts)
        console.print(f"[{_STYLES[outcome]}]{outcome:12}[/] {result.plan.name:32} {titles}", soft_wrap=True)

    async def main() -> list[PlanResult]:
        return await run_plans(plans, command, time_s=time_s, jobs=jobs, told=told)

    try:
        results = trio.run(main)
    except* KernelFailed as group:
        raise click.ClickException(str(group.exceptions[0])) from None
    console.print(_table(results))
    return results


def _table(results: list[PlanResult]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from kernel.lab.report import totals

    counted = ", ".join(f"{number} {name}" for name, number in totals(results).items())
    table = Table(title=f"{len(results)} plans: {counted}", box=box.SIMPLE_HEAD, title_justify="left")
    for name in ("plan", "outcome", "verdict", "what happened"):
        table.add_column(name, overflow="fold")
    for result in results:
        outcome = result.judgement.outcome
        for place, verdict in enumerate(result.judgement.verdicts):
            first = (result.plan.name, Text(outcome, style=_STYLES[outcome])) if place == 0 else ("", Text(""))
            table.add_row(*first, verdict.title, verdict.details[0])
    return table


def _write_reports(
    results: list[PlanResult],
    command: tuple[str, ...],
    json_file: Path | None,
    junit_file: Path | None,
    html_file: Path | None,
) -> None:
    from kernel.lab import report

    if json_file is not None:
        text = json.dumps(report.as_json(results, command), ensure_ascii=False, indent=1) + "\n"
        if json_file == Path("-"):
            click.echo(text, nl=False)
        else:
            json_file.write_text(text, encoding="utf-8")
    if junit_file is not None:
        junit_file.write_bytes(report.as_junit(results, command))
    if html_file is not None:
        html_file.write_bytes(report.as_html(results, command))


@lab_command.command("record", cls=ClientCommand)
@click.option("--kernel", "kernel_url", required=True, help="The kernel to stand in front of: http://127.0.0.1:6806.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, show_default=True, help="Port; 0 takes a free one.")
@click.option("--timeout", "time_s", type=click.FloatRange(0.1, CLIENT_S_MAX), default=CLIENT_S_MAX, show_default=True)
@click.argument("file", type=_FILE)
@click.pass_context
def record_command(context: click.Context, kernel_url: str, port: int, time_s: float, file: Path) -> None:
    """Stand between a client and a kernel and keep every byte: ``lab record --kernel URL FILE [-- CLIENT]``.

    Without a client it prints the URL to use and records until it is interrupted.
    """
    from urllib.parse import urlsplit

    import trio

    from kernel.lab.record import record

    parts = urlsplit(kernel_url)
    if parts.scheme != "http" or not parts.hostname:
        raise click.UsageError(f"--kernel {kernel_url} is not an address: write http://127.0.0.1:6806")
    _forbid_lost_output(file)
    target = parts.hostname, parts.port or 80

    def say(url: str) -> None:
        click.echo(f"recording {kernel_url} at {url} (MCP: {url}/sisyphus/mcp) into {file}", err=True)

    try:
        told = trio.run(record, target, kernel_url, file, port, context.meta[CLIENT], time_s, say)
    except KeyboardInterrupt:
        sys.exit(0)
    except OSError as error:
        raise click.ClickException(f"cannot record on port {port}: {error.strerror}") from None
    if told is not None and told.start_error:
        raise click.UsageError(told.start_error)
    if told is not None:
        click.echo(told.output, nl=False)
    sys.exit(0 if told is None or told.exit_code == 0 else EXIT_FAULTS)


@lab_command.command("replay")
@click.option("--kernel", "kernel_url", default="", help="A running kernel to play it against.")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Or: a workspace, of which a copy gets a kernel of its own.",
)
@click.option("--plan", "plan_name", default="", help="A fault plan to put in force first.")
@click.option("--map", "pairs", multiple=True, metavar="OLD=NEW", help="A recorded id and the other kernel's.")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def replay_command(kernel_url: str, workspace: Path | None, plan_name: str, pairs: tuple[str, ...], file: Path) -> None:
    """Play a recording against another kernel or plan, and show the first answer that differs.

    Ids, hashes, sessions and times may differ from the recorded ones, as long as they do so consistently. Exit code 0:
    all answers are alike; 1: one differs; 2: the recording or the plan is none.
    """
    from kernel.lab.process import KernelFailed
    from kernel.lab.recording import RecordingInvalid
    from kernel.lab.replay import load, shown

    given = dict(pair.partition("=")[::2] for pair in pairs)
    if "" in given or "" in given.values():
        raise click.UsageError("--map takes OLD=NEW")
    if bool(kernel_url) == (workspace is not None):
        raise click.UsageError("say where to play it: --kernel URL or --workspace FOLDER")
    plan = _plans((plan_name,))[0] if plan_name else None
    try:
        found = _replayed(load(file), kernel_url, workspace, plan, given)
    except RecordingInvalid as error:
        raise click.UsageError(f"{file}: {error}") from None
    except KernelFailed as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{found.replayed} requests replayed, {found.skipped} skipped")
    if found.difference is not None:
        for line in shown(found.difference):
            click.echo(line)
        sys.exit(EXIT_FAULTS)
    click.echo("every answer is alike")


def _replayed(exchanges: Any, kernel_url: str, workspace: Path | None, plan: NamedPlan | None, given: Any) -> Any:
    import shutil
    import tempfile

    from kernel.faults.plan import FaultPlan
    from kernel.lab.process import LabKernel
    from kernel.lab.replay import replay

    rules = FaultPlan(plan.document.rules) if plan is not None else FaultPlan()
    if workspace is None:
        with closing(LabKernel.at(kernel_url)) as kernel:
            if not rules.is_empty:
                kernel.apply(rules)
            return replay(exchanges, kernel.url, given)
    with tempfile.TemporaryDirectory(prefix="sisyphus-lab-") as folder:
        copy = Path(folder) / "workspace"
        shutil.copytree(workspace, copy, ignore=shutil.ignore_patterns(".lock", "coordinator.lock"))
        with LabKernel(copy, *(plan.document.serve if plan is not None else ())) as kernel:
            if not rules.is_empty:
                kernel.apply(rules)
            return replay(exchanges, kernel.url, given)


@lab_command.command("trace")
@click.option("--kernel", "kernel_url", required=True, help="A kernel with --emulator-controls.")
@click.option("--since", type=click.IntRange(0), default=0, show_default=True, help="From this event number on.")
@click.option("--perfetto", type=_FILE, help="Write the Trace Event form, to open in Perfetto.")
@click.option("--svg", type=_FILE, help="Write a picture of lanes and waiting calls.")
def trace_command(kernel_url: str, since: int, perfetto: Path | None, svg: Path | None) -> None:
    """Fetch a kernel's trace: JSON lines to standard output, or the forms that are asked for."""
    import httpx

    from kernel.lab.drawing import as_svg
    from kernel.lab.process import KernelFailed, LabKernel

    _forbid_lost_output(perfetto, svg)
    try:
        with closing(LabKernel.at(kernel_url)) as kernel:
            if perfetto is None and svg is None:
                for event in kernel.trace(since):
                    click.echo(json.dumps(event, ensure_ascii=False))
                return
            document = kernel.perfetto(since)
    except (KernelFailed, httpx.HTTPError, ValueError) as error:
        raise click.ClickException(f"{kernel_url} gives no trace: {error}") from None
    if perfetto is not None:
        perfetto.write_text(json.dumps(document), encoding="utf-8")
    if svg is not None:
        svg.write_text(as_svg(document, f"{kernel_url}, from event {since}"), encoding="utf-8")
