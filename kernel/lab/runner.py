"""One client under one plan: a fresh kernel, a tap before it, the client, and the evidence of what happened. Shell."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx
import trio

from kernel.faults.plan import FaultPlan
from kernel.lab.catalog import NamedPlan
from kernel.lab.client import run_client
from kernel.lab.exchanges import exchanges_of
from kernel.lab.limits import LIVES_MAX, RECORDING_BYTES_MAX
from kernel.lab.process import KernelFailed, LabKernel, environment
from kernel.lab.recording import Piece
from kernel.lab.tap import open_tap
from kernel.lab.verdicts import ClientRun, Evidence, Judgement, LedgerRow, judge

_LEDGER: Final = "data/storage/petal/siyuan-plugins-mcp-sisyphus/writeSafetyLedger.db"
# How often a dead kernel is looked for.
_WATCH_S: Final = 0.05
# How often it is asked what it holds.
_LOOK_S: Final = 0.3


@dataclass(frozen=True, slots=True)
class PlanResult:
    """One line of the report."""

    plan: NamedPlan
    run: ClientRun
    judgement: Judgement
    exchanges: int
    struck: int
    deaths: int
    timeline: list[dict[str, Any]] = field(default_factory=list)
    trace: list[dict[str, Any]] = field(default_factory=list)


async def run_plan(plan: NamedPlan, command: Sequence[str], *, time_s: float) -> PlanResult:
    """Run the client once. Raises KernelFailed if the kernel itself cannot be started."""
    folder = Path(tempfile.mkdtemp(prefix="sisyphus-lab-"))
    kernel = LabKernel(folder / "workspace", *plan.document.serve)
    try:
        return await _run(plan, command, kernel, time_s)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(kernel.close)
            await trio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


async def run_plans(
    plans: Sequence[NamedPlan],
    command: Sequence[str],
    *,
    time_s: float,
    jobs: int,
    told: Callable[[PlanResult], None],
) -> list[PlanResult]:
    """Each plan once, ``jobs`` at a time; the results in the order of the plans."""
    results: dict[str, PlanResult] = {}
    limit = trio.Semaphore(jobs)

    async def one(plan: NamedPlan) -> None:
        async with limit:
            result = await run_plan(plan, command, time_s=time_s)
        results[plan.name] = result
        told(result)

    async with trio.open_nursery() as nursery:
        for plan in plans:
            nursery.start_soon(one, plan)
    return [results[plan.name] for plan in plans]


class _Keeper:
    """Keeps the pieces of a recording, to its bound."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._size_bytes = 0

    def __call__(self, piece: Piece) -> None:
        self._size_bytes += len(piece.data)
        if self._size_bytes <= RECORDING_BYTES_MAX:
            self.pieces.append(piece)


class _Lives:
    """The kernel of one run: watched, restarted when the plan has killed it, its strikes counted over all lives."""

    def __init__(self, kernel: LabKernel, plan: FaultPlan) -> None:
        self._kernel = kernel
        self._plan = plan
        self.deaths = 0
        self.struck = 0
        self.trace: list[dict[str, Any]] = []

    async def watch(self) -> None:
        """Bring it back whenever it has died, without the rules that kill."""
        while self.deaths < LIVES_MAX:
            await trio.sleep(_WATCH_S)
            if not self._kernel.is_running:
                self.deaths += 1
                self.struck += 1
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(self._revive)

    def count(self) -> None:
        """Add the strikes and events of the present life. Blocking."""
        if self._kernel.is_running:
            self.struck += sum(int(rule["struck"]) for rule in self._kernel.rules())
            self.trace += self._kernel.trace()

    def _revive(self) -> None:
        self._kernel.restart()
        left = [rule for rule in self._plan.rules if rule.do != "crash"]
        if left:
            self._kernel.apply(FaultPlan(left))


async def _run(plan: NamedPlan, command: Sequence[str], kernel: LabKernel, time_s: float) -> PlanResult:
    await trio.to_thread.run_sync(kernel.start)
    notes = await trio.to_thread.run_sync(kernel.make_notes)
    rules = FaultPlan(plan.document.rules)
    lives, keeper = _Lives(kernel, rules), _Keeper()
    await trio.to_thread.run_sync(kernel.apply, rules)
    async with open_tap(("127.0.0.1", kernel.port), keeper) as tap, trio.open_nursery() as nursery:
        nursery.start_soon(lives.watch)
        nursery.start_soon(_let_go, kernel, rules, keeper.pieces)
        url = tap.url
        words = {"url": url, "mcp": f"{url}/sisyphus/mcp", **notes}
        variables = {f"LAB_{name.upper()}": value for name, value in words.items()}
        filled = [_filled(word, words) for word in command]
        run = await run_client(filled, environment(**variables), time_s=time_s)
        nursery.cancel_scope.cancel()
    await trio.to_thread.run_sync(lives.count)
    await trio.to_thread.run_sync(kernel.stop)
    ledger = await trio.to_thread.run_sync(read_ledger, kernel.workspace / _LEDGER)
    exchanges = exchanges_of(keeper.pieces)
    must_recover = plan.document.must_recover
    evidence = Evidence(exchanges, run, lives.struck, ledger, must_recover, lives.deaths)
    run = replace(run, output=run.output.replace(url, "{url}"))
    return PlanResult(
        plan,
        run,
        judge(evidence),
        len(exchanges),
        lives.struck,
        lives.deaths,
        timeline=timeline(evidence),
        trace=[event for event in lives.trace if event["kind"] in ("fault", "cancel_requested", "committing")],
    )


async def _let_go(kernel: LabKernel, plan: FaultPlan, pieces: list[Piece]) -> None:
    """What the plan holds is let go once its client has given it up: the lane is free for whatever comes next.

    A client that just goes on waiting waits for ever, and is found hung.
    """
    names = {rule.name for rule in plan.rules if rule.do == "hold"}
    since: tuple[int, int] | None = None
    while names:
        await trio.sleep(_LOOK_S)
        try:
            is_held = any(rule["held"] for rule in await trio.to_thread.run_sync(kernel.rules))
            events = await trio.to_thread.run_sync(kernel.trace, since[1]) if since and is_held else []
        except (KernelFailed, OSError, ValueError, httpx.HTTPError):
            continue  # it is dying, or coming back
        if not is_held:
            since = None
        elif since is None:
            since = len(pieces), await trio.to_thread.run_sync(_events_so_far, kernel)
        elif _has_given_up(pieces[since[0] :]) or any(event["kind"] == "cancel_requested" for event in events):
            await trio.sleep(_LOOK_S)
            for name in names:
                await trio.to_thread.run_sync(kernel.release, name)


def _has_given_up(pieces: Sequence[Piece]) -> bool:
    return any(piece.side == "client" and piece.kind in ("end", "reset") for piece in pieces)


def _events_so_far(kernel: LabKernel) -> int:
    events = kernel.trace()
    return int(events[-1]["n"]) + 1 if events else 0


def timeline(evidence: Evidence) -> list[dict[str, Any]]:
    """The client's calls as a report shows them."""
    return [
        {
            "at": round(call.sent_s, 3),
            "call": call.named(),
            "outcome": call.told(),
            "took": None if call.known_s == float("inf") else round(call.known_s - call.sent_s, 3),
        }
        for call in evidence.calls
    ]


def read_ledger(path: Path) -> list[LedgerRow]:
    """The rows of a ledger that no process holds any more; none where there is none."""
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT request_id, state, tool, action, arguments_digest FROM writes").fetchall()
    except sqlite3.Error:
        return []
    return [LedgerRow(*(str(value or "") for value in row)) for row in rows]


def _filled(word: str, words: dict[str, str]) -> str:
    """``{url}``, ``{mcp}``, ``{notebook}``, ``{document}``, ``{block}`` in a word of the client's command."""
    for name, value in words.items():
        word = word.replace("{" + name + "}", value)
    return word
