"""``lab``: run clients under fault plans, record and replay exchanges. Options to the laboratory; holds no rule of it."""

from __future__ import annotations

import json
import sys
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
