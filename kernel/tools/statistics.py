"""Per-call statistics: balance, display events, analytics (R209-R211, R217, decision 54).

One writer applies every waiting call in one write. A call notes its start and its end synchronously (``began``,
``ended``) and is answered when the write that holds its end has returned; it holds no lane meanwhile. A change is
taken from the queue before it is written and never put back: a store that stalls lengthens calls and repeats nothing.
Statistics never fail a call, and are bounded in time.

    began ──▶ running event, written if the call still runs a moment later
    ended ──▶ balance, terminal event, one line of analytics ── written ──▶ the answer
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import msgspec
import trio

from kernel.clock import Clock
from kernel.host.base import Host, HostError, near
from kernel.host.records import keep_records
from kernel.json_text import read_json
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
_SIZE_BOUNDS: Final = (0, 200, 1000, 5000, 20_000)
_SIZE_HINTS: Final = ("0", "0-200", "200-1K", "1K-5K", "5K-20K", "20K+")
_encode: Final = msgspec.json.Encoder().encode
_encode_lines: Final = msgspec.json.Encoder().encode_lines
_log: Final = logging.getLogger(__name__)


class Balance(msgspec.Struct, frozen=True):
    """``puppyStats.json``."""

    total_calls: int = 0
    balance: int = 0
    last_action: str | None = None


class Started(msgspec.Struct, eq=False):
    """A call that has begun."""

    tool: str
    action: str
    parameters: Collection[str]
    began: float  # monotonic seconds
    sweeps: int = 0


class Recorded(msgspec.Struct, eq=False):
    """What one call waits for. Done when its write has returned, well or badly, or when the bound is over."""

    noted: float  # Trio's clock, as of the last sweep
    is_done: bool = False
    _tell: list[Callable[[], None]] = []

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


class _Event(msgspec.Struct):
    """What a display shows of a call."""

    seq: int
    tool: str
    action: str
    status: str
    ts: int  # Unix milliseconds


class _Line(_Event, omit_defaults=True, kw_only=True, rename="camel"):
    """One line of analytics: how the call of an event ended."""

    duration_ms: int
    error_code: str = ""
    param_keys: list[str]
    result_size_hint: str
    transport: str


class _Shown(_Event, rename="camel"):
    """What ``puppyEvents.json`` holds: the last event, and the purse after it."""

    total_calls: int
    balance: int


class _Change(msgspec.Struct, eq=False):
    """One waiting change. ``balance`` turns the purse into the new one (ValueError: it stays as it was)."""

    recorded: Recorded
    balance: Callable[[Balance], Balance] | None = None
    event: _Event | None = None  # a _Line, where analytics get one too
    error: ValueError | None = None
    after: Balance = Balance()


class Statistics:
    """What is kept of the calls. Owned by the tool service; one per workspace. Run ``run`` beside it.

    Where ``run`` does not run, who waits writes (``settle``).
    """

    def __init__(self, host: Host, clock: Clock, *, transport: str = "kernel") -> None:
        self._host = host
        self._near = near(host)
        self._clock = clock
        self._transport = transport
        self._waiting: list[_Change] = []
        self._written: Sequence[_Change] = ()
        self._running: dict[int, Started] = {}
        self._writer = trio.Lock()
        self._runs = False
        self._work = trio.lowlevel.ParkingLot()  # the writer, while nothing waits
        self._calls = trio.lowlevel.ParkingLot()  # the sweep, while nothing waits and what runs has been shown
        self._is_writer_parked = False
        self._is_sweep_parked = False
        self._now = 0.0  # Trio's clock, looked at by the sweep only: calls need no better
        self._last_seq = 0
        self._known: tuple[bytes | None, Balance] | None = None  # the purse as it was last read

    # --- a call ---

    def began(self, tool: str, action: str, parameters: Collection[str] = ()) -> Started:
        """Note that a call begins. Synchronous."""
        started = Started(tool, action, parameters, self._clock.now())
        self._running[id(started)] = started
        if self._is_sweep_parked:
            self._wake_sweep()
        return started

    def ended(self, started: Started, *, is_error: bool, code: str = "", size: int = 0, earns: bool = True) -> Recorded:
        """Note how it ended. Synchronous; the call's answer waits for what is returned. A refused call earns nothing."""
        self._running.pop(id(started), None)
        now_ms = self._clock.wall_ms()
        tool = started.tool
        line = _Line(
            self._next_seq(now_ms),
            tool,
            started.action,
            "error" if is_error else "success",
            now_ms,
            duration_ms=round((self._clock.now() - started.began) * 1000),
            error_code=code,
            param_keys=list(started.parameters),
            result_size_hint=_SIZE_HINTS[bisect_left(_SIZE_BOUNDS, size)],
            transport=self._transport,
        )
        pays = earns and tool != _UNPAID_TOOL
        return self._append(_Change(Recorded(self._now), _earned if pays else None, line))

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
        return await self._stored_balance()

    async def spend(self, cost: int, label: str) -> Balance:
        """Pay, if the purse allows it; the balance after it.

        Raises:
            ValueError: too little is there; nothing was written.
        """

        def pay(before: Balance) -> Balance:
            if before.balance < cost:
                raise ValueError(f"balance {before.balance} is less than {cost}")
            return Balance(before.total_calls, before.balance - cost, label)

        change = _Change(Recorded(self._now), balance=pay)
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
                        self._is_writer_parked = True
                        await self._work.park()
                    await self.flush()
        finally:
            self._runs = False
            await self.flush()

    async def flush(self) -> None:
        """Write everything that waits now, in one write. Whoever comes meanwhile shares the next one."""
        if self._near is not None and self._near.is_quiet and not self._writer.locked():
            # Nothing there waits, but perhaps for a thread, which is shielded and has no bound anyway.
            await self._flush()
        else:
            with trio.move_on_after(STATISTICS_ABANDONED_AFTER_S, shield=True):
                await self._flush()

    async def _flush(self) -> None:
        # No checkpoint where nobody holds it: every call's answer waits for this.
        if self._writer.locked():
            await self._writer.acquire()
        else:
            self._writer.acquire_nowait()
        try:
            if self._waiting:
                await self._write()
        finally:
            self._writer.release()

    async def _sweep_forever(self) -> None:
        while True:
            if not (self._waiting or self._written or any(started.sweeps < 2 for started in self._running.values())):
                self._is_sweep_parked = True
                await self._calls.park()
            await trio.sleep(STATISTICS_SWEEP_S)
            self._now = trio.current_time()
            self._show_running()
            # Calls do not wait for ever for a store that hangs; their changes stay where they are.
            late = self._now - STATISTICS_S_MAX
            self._release([one for one in [*self._written, *self._waiting] if one.recorded.noted <= late])

    def _show_running(self) -> None:
        """What a display shows as running is the youngest call that two sweeps have met; shorter ones it never sees."""
        new = [started for started in self._running.values() if started.sweeps == 1]
        for started in self._running.values():
            started.sweeps += 1
        if new:
            youngest, now_ms = new[-1], self._clock.wall_ms()
            event = _Event(self._next_seq(now_ms), youngest.tool, youngest.action, "running", now_ms)
            self._append(_Change(Recorded(self._now), event=event))

    def _append(self, change: _Change) -> Recorded:
        self._waiting.append(change)
        if self._is_writer_parked:
            self._is_writer_parked = False
            self._work.unpark()
        if self._is_sweep_parked:
            self._wake_sweep()
        return change.recorded

    def _wake_sweep(self) -> None:
        self._is_sweep_parked = False
        self._now = trio.current_time()
        self._calls.unpark()

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
        before = await self._stored_balance()
        balance = self._applied(before, changes)
        if balance is not before:
            records.append(Record(STATS_FILE, self._balance_file(balance)))
        lines = [change.event for change in changes if isinstance(change.event, _Line)]
        if lines:
            records.append(Record(ANALYTICS_FILE, _encode_lines(lines), ANALYTICS_FILE_BYTES_MAX))
        last = next((change for change in reversed(changes) if change.event is not None), None)
        if last is not None and last.event is not None:
            event, after = last.event, last.after
            shown = _Shown(
                event.seq, event.tool, event.action, event.status, event.ts, after.total_calls, after.balance
            )
            records.append(Record(EVENTS_FILE, _encode(shown)))
        return records

    async def _stored_balance(self) -> Balance:
        content = await self._host.read_file(STATS_FILE)
        if self._known is None or self._known[0] != content:
            self._known = (content, _read_balance(content))
        return self._known[1]

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

    def _next_seq(self, now_ms: int) -> int:
        """Strictly increasing, even inside one millisecond."""
        self._last_seq = max(now_ms, self._last_seq + 1)
        return self._last_seq

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
        stored = read_json(content or b"{}")
    except ValueError:
        stored = {}
    if not isinstance(stored, dict):
        stored = {}
    total = stored.get("totalCalls")
    total = total if isinstance(total, int) else 0
    balance = stored.get("balance")
    last = stored.get("lastAction")
    return Balance(total, balance if isinstance(balance, int) else total, str(last) if isinstance(last, str) else None)
