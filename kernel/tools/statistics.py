"""Per-call statistics: balance, display events, analytics (R209-R211, R217, decision 54).

One writer applies every waiting call in one write. A call notes its start and its end synchronously (``began``,
``ended``) and is answered when the write that holds its end has returned; it holds no lane meanwhile. A change is
taken from the queue before it is written and never put back: a store that stalls lengthens calls and repeats nothing.
Statistics never fail a call, and are bounded in time.

    began ──▶ running event, written if the call still runs a moment later
    ended ──▶ balance, terminal event, one line of analytics ── written ──▶ the answer
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import trio

from kernel.clock import Clock
from kernel.host.base import Host, HostError
from kernel.host.records import keep_records
from kernel.tools.configuration import PLUGIN_FOLDER
from kernel.tools.limits import (
    ANALYTICS_FILE_BYTES_MAX,
    STATISTICS_ABANDONED_AFTER_S,
    STATISTICS_S_MAX,
    STATISTICS_SWEEP_S,
)
from kernel.workspace.records import Record

STATS_FILE: Final = PLUGIN_FOLDER + "puppyStats.json"
EVENTS_FILE: Final = PLUGIN_FOLDER + "puppyEvents.json"
ANALYTICS_FILE: Final = PLUGIN_FOLDER + "analytics.jsonl"
# The mascot's own calls earn nothing: it would pay for looking into its purse.
_UNPAID_TOOL: Final = "mascot"
_SIZE_HINTS: Final = ((0, "0"), (200, "0-200"), (1000, "200-1K"), (5000, "1K-5K"), (20_000, "5K-20K"))
_encode: Final = msgspec.json.Encoder().encode
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Balance:
    """``puppyStats.json``."""

    total_calls: int = 0
    balance: int = 0
    last_action: str | None = None


@dataclass(slots=True)
class Started:
    """A call that has begun."""

    tool: str
    action: str
    parameters: Collection[str]
    began: float  # monotonic seconds
    sweeps: int = 0


class Recorded:
    """What one call waits for. Done when its write has returned, well or badly, or when the bound is over."""

    __slots__ = ("_tell", "is_done", "noted")

    def __init__(self, noted: float) -> None:
        self.noted = noted  # Trio's clock
        self.is_done = False
        self._tell: list[Callable[[], None]] = []

    def when_written(self, tell: Callable[[], None]) -> None:
        """Call ``tell`` (synchronously, once) when it is done: now, or by whoever ends the write."""
        if self.is_done:
            tell()
        else:
            self._tell.append(tell)

    def done(self) -> None:
        self.is_done = True
        tells, self._tell = self._tell, []
        for tell in tells:
            try:
                tell()
            except Exception:
                # A fault of one call's receiver must not end the writer.
                _log.exception("a call could not be answered")

    async def wait(self) -> None:
        """Until it is done. Not cancellable; bounded all the same."""
        if self.is_done:
            return
        event = trio.Event()
        self.when_written(event.set)
        with trio.CancelScope(shield=True):
            await event.wait()


@dataclass(slots=True)
class _Change:
    """One waiting change. ``balance`` turns the purse into the new one (ValueError: it stays as it was)."""

    recorded: Recorded
    balance: Callable[[Balance], Balance] | None = None
    event: dict[str, Any] | None = None
    line: dict[str, Any] | None = None
    error: ValueError | None = None
    after: Balance = field(default_factory=Balance)


class Statistics:
    """What is kept of the calls. Owned by the tool service; one per workspace. Run ``run`` beside it.

    Where ``run`` does not run, who waits writes (``settle``).
    """

    def __init__(self, host: Host, clock: Clock, *, transport: str = "kernel") -> None:
        self._host = host
        self._clock = clock
        self._transport = transport
        self._waiting: list[_Change] = []
        self._written: Sequence[_Change] = ()
        self._running: dict[int, Started] = {}
        self._writer = trio.Lock()
        self._runs = False
        self._work = trio.lowlevel.ParkingLot()  # the writer, while nothing waits
        self._calls = trio.lowlevel.ParkingLot()  # the sweep, while nothing runs or waits
        self._last_seq = 0

    # --- a call ---

    def began(self, tool: str, action: str, parameters: Collection[str] = ()) -> Started:
        """Note that a call begins. Synchronous."""
        started = Started(tool, action, parameters, self._clock.now())
        self._running[id(started)] = started
        self._calls.unpark()
        return started

    def ended(self, started: Started, *, is_error: bool, code: str = "", size: int = 0, earns: bool = True) -> Recorded:
        """Note how it ended. Synchronous; the call's answer waits for what is returned. A refused call earns nothing."""
        self._running.pop(id(started), None)
        status = "error" if is_error else "success"
        event = self._event(started, status)
        change = _Change(Recorded(trio.current_time()), event=event, line=self._line(started, event, code, size))
        if earns and started.tool != _UNPAID_TOOL:
            change.balance = _earned
        return self._append(change)

    async def settle(self, recorded: Recorded) -> None:
        """Return when the write that holds it has returned."""
        if not self._runs:
            await self.flush()
        await recorded.wait()

    # --- the purse ---

    async def balance(self) -> Balance:
        """The purse, after everything that was noted before."""
        if self._waiting or self._written:
            await self.flush()
        return _read_balance(await self._host.read_file(STATS_FILE))

    async def spend(self, cost: int, label: str) -> Balance:
        """Pay, if the purse allows it; the balance after it.

        Raises:
            ValueError: too little is there; nothing was written.
        """

        def pay(before: Balance) -> Balance:
            if before.balance < cost:
                raise ValueError(f"balance {before.balance} is less than {cost}")
            return Balance(before.total_calls, before.balance - cost, label)

        change = _Change(Recorded(trio.current_time()), balance=pay)
        await self.settle(self._append(change))
        if change.error is not None:
            raise change.error
        return change.after

    # --- the writer ---

    @property
    def runs(self) -> bool:
        """Whether the writer's task runs."""
        return self._runs

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Write what waits, until cancelled; then once more, so that nothing that was noted is lost."""
        self._runs = True
        task_status.started()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._sweep_forever)
                while True:
                    if not self._waiting:
                        await self._work.park()
                    await self.flush()
        finally:
            self._runs = False
            await self.flush()

    async def flush(self) -> None:
        """Write everything that waits now, in one write. Whoever comes meanwhile shares the next one."""
        with trio.move_on_after(STATISTICS_ABANDONED_AFTER_S, shield=True):
            async with self._writer:
                if self._waiting:
                    await self._write()

    async def _sweep_forever(self) -> None:
        while True:
            if not (self._running or self._waiting or self._written):
                await self._calls.park()
            await trio.sleep(STATISTICS_SWEEP_S)
            self._show_running()
            # Calls do not wait for ever for a store that hangs; their changes stay where they are.
            late = trio.current_time() - STATISTICS_S_MAX
            self._release([one for one in [*self._written, *self._waiting] if one.recorded.noted <= late])

    def _show_running(self) -> None:
        """What a display shows as running is the youngest call that two sweeps have met; shorter ones it never sees."""
        new = [started for started in self._running.values() if started.sweeps == 1]
        for started in self._running.values():
            started.sweeps += 1
        if new:
            event = self._event(new[-1], "running")
            self._append(_Change(Recorded(trio.current_time()), event=event))

    def _append(self, change: _Change) -> Recorded:
        self._waiting.append(change)
        self._work.unpark()
        self._calls.unpark()
        return change.recorded

    async def _write(self) -> None:
        # Taken once: whatever becomes of the write, no change is ever applied again.
        changes, self._waiting = self._waiting, []
        self._written = changes
        try:
            await keep_records(self._host, await self._records(changes))
        except HostError as error:
            _log.warning("statistics were not written: %s", error)
        except Exception:
            _log.exception("statistics were not written")
        finally:
            self._written = ()
            self._release(changes)

    async def _records(self, changes: Sequence[_Change]) -> list[Record]:
        records = []
        before = _read_balance(await self._host.read_file(STATS_FILE))
        balance = self._applied(before, changes)
        if balance is not before:
            records.append(Record(STATS_FILE, self._balance_file(balance)))
        lines = [_encode(change.line) for change in changes if change.line is not None]
        if lines:
            records.append(Record(ANALYTICS_FILE, b"\n".join(lines) + b"\n", ANALYTICS_FILE_BYTES_MAX))
        event = next((change for change in reversed(changes) if change.event is not None), None)
        if event is not None and event.event is not None:
            shown = {**event.event, "totalCalls": event.after.total_calls, "balance": event.after.balance}
            records.append(Record(EVENTS_FILE, _encode(shown)))
        return records

    def _applied(self, balance: Balance, changes: Sequence[_Change]) -> Balance:
        for change in changes:
            if change.balance is not None:
                try:
                    balance = change.balance(balance)
                except ValueError as error:
                    change.error = error
            change.after = balance
        return balance

    def _release(self, changes: Sequence[_Change]) -> None:
        for change in changes:
            if not change.recorded.is_done:
                change.recorded.done()

    # --- what is written ---

    def _event(self, started: Started, status: str) -> dict[str, Any]:
        # Strictly increasing, even inside one millisecond.
        now_ms = self._clock.wall_ms()
        self._last_seq = max(now_ms, self._last_seq + 1)
        return {"seq": self._last_seq, "tool": started.tool, "action": started.action, "status": status, "ts": now_ms}

    def _line(self, started: Started, event: Mapping[str, Any], code: str, size: int) -> dict[str, Any]:
        line = {**event, "durationMs": round((self._clock.now() - started.began) * 1000)}
        if code:
            line["errorCode"] = code
        line["paramKeys"] = list(started.parameters)
        line["resultSizeHint"] = _size_hint(size)
        line["transport"] = self._transport
        return line

    def _balance_file(self, balance: Balance) -> bytes:
        content: dict[str, Any] = {
            "totalCalls": balance.total_calls,
            "balance": balance.balance,
            "updatedAt": self._clock.wall_ms(),
        }
        if balance.last_action is not None:
            content["lastAction"] = balance.last_action
        return _encode(content)


def _earned(before: Balance) -> Balance:
    return Balance(before.total_calls + 1, before.balance + 1, before.last_action)


def _read_balance(content: bytes | None) -> Balance:
    try:
        stored = json.loads(content or b"{}")
    except ValueError:
        stored = {}
    if not isinstance(stored, dict):
        stored = {}
    total = stored.get("totalCalls")
    total = total if isinstance(total, int) else 0
    balance = stored.get("balance")
    last = stored.get("lastAction")
    return Balance(total, balance if isinstance(balance, int) else total, str(last) if isinstance(last, str) else None)


def _size_hint(size: int) -> str:
    return next((hint for bound, hint in _SIZE_HINTS if size <= bound), "20K+")
