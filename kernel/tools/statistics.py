"""Per-call statistics: balance, display events, analytics (R209-R211, decision 54).

One writer per storage group: whoever holds the group applies every waiting change in one read and one write, and each
call awaits the write that holds its own. Statistics never fail a call, and are bounded in time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import trio

from kernel.clock import Clock
from kernel.host.base import Host, HostError
from kernel.tools.configuration import PLUGIN_FOLDER
from kernel.tools.limits import ANALYTICS_FILE_BYTES_MAX, STATISTICS_S_MAX

STATS_FILE: Final = PLUGIN_FOLDER + "puppyStats.json"
EVENTS_FILE: Final = PLUGIN_FOLDER + "puppyEvents.json"
ANALYTICS_FILE: Final = PLUGIN_FOLDER + "analytics.jsonl"
# The mascot's own calls earn nothing: it would pay for looking into its purse.
_UNPAID_TOOL: Final = "mascot"
_SIZE_HINTS: Final = ((0, "0"), (200, "0-200"), (1000, "200-1K"), (5000, "1K-5K"), (20_000, "5K-20K"))


@dataclass(slots=True)
class _Entry:
    change: Callable[[bytes | None], bytes]
    is_done: bool = False


@dataclass(slots=True)
class StorageGroup:
    """One file with one writer at a time."""

    path: str
    _waiting: list[_Entry] = field(default_factory=list)
    _writer: trio.Lock = field(default_factory=trio.Lock)

    async def apply(self, host: Host, change: Callable[[bytes | None], bytes]) -> None:
        """Have ``change`` (content → content) written, together with all others that wait.

        Raises:
            HostError: the file could not be read or written.
        """
        entry = _Entry(change)
        self._waiting.append(entry)
        async with self._writer:
            if entry.is_done:
                return
            batch, self._waiting = self._waiting, []
            try:
                content = await host.read_file(self.path)
                for one in batch:
                    content = one.change(content)
                await host.write_file(self.path, content or b"")
            finally:
                for one in batch:
                    one.is_done = True


@dataclass(slots=True)
class Balance:
    """``puppyStats.json``."""

    total_calls: int = 0
    balance: int = 0
    last_action: str | None = None


class Statistics:
    """What is kept of the calls. Owned by the tool service; one per workspace."""

    def __init__(self, host: Host, clock: Clock, *, transport: str = "kernel") -> None:
        self._host = host
        self._clock = clock
        self._transport = transport
        self._stats = StorageGroup(STATS_FILE)
        self._events = StorageGroup(EVENTS_FILE)
        self._analytics = StorageGroup(ANALYTICS_FILE)
        self._last_seq = 0

    async def began(self, tool: str, action: str) -> Balance:
        """Count a call before it runs, and show it as running."""
        earned = 0 if tool == _UNPAID_TOOL else 1
        balance = await self._quietly(lambda: self._earn(earned)) if earned else await self._quietly(self.balance)
        balance = balance or Balance()
        await self._quietly(lambda: self._show(tool, action, "running", balance))
        return balance

    async def ended(self, tool: str, action: str, *, is_error: bool, code: str = "", size: int = 0) -> None:
        """Show how a call ended, and write its line of analytics."""
        status = "error" if is_error else "success"
        balance = await self._quietly(self.balance) or Balance()
        await self._quietly(lambda: self._show(tool, action, status, balance))
        line = self._line(tool, action, status, code, size)
        await self._quietly(lambda: self._analytics.apply(self._host, lambda content: _appended(content, line)))

    async def balance(self) -> Balance:
        """The purse as it is on disk."""
        return _read_balance(await self._host.read_file(STATS_FILE))

    async def spend(self, cost: int, label: str) -> Balance:
        """Pay, if the purse allows it; the balance after it.

        Raises:
            ValueError: too little is there; nothing was written.
        """
        after = Balance()

        def change(content: bytes | None) -> bytes:
            nonlocal after
            before = _read_balance(content)
            if before.balance < cost:
                raise ValueError(f"balance {before.balance} is less than {cost}")
            after = Balance(before.total_calls, before.balance - cost, label)
            return self._balance_file(after)

        await self._stats.apply(self._host, change)
        return after

    async def _earn(self, amount: int) -> Balance:
        after = Balance()

        def change(content: bytes | None) -> bytes:
            nonlocal after
            before = _read_balance(content)
            after = Balance(before.total_calls + amount, before.balance + amount, before.last_action)
            return self._balance_file(after)

        await self._stats.apply(self._host, change)
        return after

    async def _show(self, tool: str, action: str, status: str, balance: Balance) -> None:
        # Strictly increasing, even inside one millisecond.
        self._last_seq = max(self._clock.wall_ms(), self._last_seq + 1)
        event = {
            "tool": tool,
            "action": action,
            "status": status,
            "totalCalls": balance.total_calls,
            "balance": balance.balance,
            "seq": self._last_seq,
            "ts": self._clock.wall_ms(),
        }
        await self._events.apply(self._host, lambda _: json.dumps(event).encode())

    def _balance_file(self, balance: Balance) -> bytes:
        content: dict[str, Any] = {
            "totalCalls": balance.total_calls,
            "balance": balance.balance,
            "updatedAt": self._clock.wall_ms(),
        }
        if balance.last_action is not None:
            content["lastAction"] = balance.last_action
        return json.dumps(content).encode()

    def _line(self, tool: str, action: str, status: str, code: str, size: int) -> bytes:
        line: dict[str, Any] = {"ts": self._clock.wall_ms(), "tool": tool, "action": action, "status": status}
        if code:
            line["errorCode"] = code
        line["resultSizeHint"] = _size_hint(size)
        line["transport"] = self._transport
        return json.dumps(line).encode() + b"\n"

    async def _quietly(self, work: Callable[[], Any]) -> Any:
        """A failing or hanging store costs the call its statistics, never its result."""
        with trio.move_on_after(STATISTICS_S_MAX, shield=True):
            try:
                return await work()
            except HostError:
                return None
        return None


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


def _appended(content: bytes | None, line: bytes) -> bytes:
    """The file with one more line; when it is full it starts anew with its younger half."""
    kept = content or b""
    if len(kept) + len(line) > ANALYTICS_FILE_BYTES_MAX:
        kept = kept[len(kept) // 2 :]
        kept = kept[kept.find(b"\n") + 1 :]
    return kept + line


def _size_hint(size: int) -> str:
    return next((hint for bound, hint in _SIZE_HINTS if size <= bound), "20K+")
