"""The host as one call sees it: cancellable between host calls, budgeted, its reads retried, its writes counted.

Nothing interrupts a host call that is under way: a cancel is looked for before and after each (R215, R226). The
budget is for ordinary reads only; a mutation's call has none, so its read-back is never cut short (R271, R272).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

import msgspec
import trio

from kernel.clock import Clock
from kernel.endpoints import is_write
from kernel.host.base import Host, HostError, HostHttpError, HostUnavailable
from kernel.host.budget import ReadBudget
from kernel.host.envelope import is_transient
from kernel.host.limits import SCOPED_RETRY_WAITS_S
from kernel.host.streams import closing_stream

T = TypeVar("T")


class Cancellable(Protocol):
    """The scheduler's ticket, as far as a host call looks at it."""

    def check_cancelled(self) -> None:
        """Raise if the call was cancelled; says nothing behind the commit boundary."""
        ...


class ScopedHost:
    """A ``Host`` for one call. ``retries``: how often a read is sent again after a transient failure."""

    def __init__(
        self,
        host: Host,
        ticket: Cancellable,
        clock: Clock,
        *,
        budget: ReadBudget | None = None,
        retries: int = len(SCOPED_RETRY_WAITS_S),
    ) -> None:
        self._host = host
        self._ticket = ticket
        self._clock = clock
        self._retry_waits_s = SCOPED_RETRY_WAITS_S[:retries]
        self.budget = budget
        self.calls = 0
        self.writes_sent = 0

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        writes = is_write(path)
        return await self._counted(lambda: self._host.call(path, arguments), writes=writes)

    async def read_file(self, path: str) -> bytes | None:
        return await self._counted(lambda: self._host.read_file(path), writes=False)

    async def write_file(self, path: str, content: bytes) -> None:
        await self._counted(lambda: self._host.write_file(path, content), writes=True)

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        return await self._counted(lambda: self._host.upload_asset(directory, name, content), writes=True)

    async def fetch_static(self, path: str) -> bytes | None:
        return await self._counted(lambda: self._host.fetch_static(path), writes=False)

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        """Never sent again once it began: bytes may have been used."""
        self._before(writes=False)
        async with closing_stream(self._host.stream_static(path)) as pieces:
            async for piece in pieces:
                self._after(piece)
                yield piece
        self._ticket.check_cancelled()

    async def aclose(self) -> None:
        """Nothing to close: the host belongs to the application."""

    async def _counted(self, send: Callable[[], Awaitable[T]], *, writes: bool) -> T:
        waits_s = iter(() if writes else self._retry_waits_s)
        while True:
            self._before(writes=writes)
            try:
                answer = await send()
            except HostError as error:
                self._ticket.check_cancelled()
                wait_s = next(waits_s, None)
                if wait_s is None or not _may_retry(error):
                    raise
            else:
                self._after(answer)
                return answer
            await trio.sleep(wait_s)

    def _before(self, *, writes: bool) -> None:
        self._ticket.check_cancelled()
        if self.budget is not None:
            self.budget.charge_request(self._clock.now())
        self.calls += 1
        self.writes_sent += writes

    def _after(self, answer: Any) -> None:
        self._ticket.check_cancelled()
        if self.budget is not None:
            self.budget.charge_bytes(decoded_bytes(answer))


def decoded_bytes(answer: Any) -> int:
    """The size of an answer as the budget counts it: UTF-8 text, raw bytes, else its JSON text."""
    if answer is None:
        return 0
    if isinstance(answer, bytes | bytearray | memoryview):
        return len(answer)
    if isinstance(answer, str):
        return len(answer.encode("utf-8", "surrogatepass"))
    return len(msgspec.json.encode(answer))


def _may_retry(error: HostError) -> bool:
    if isinstance(error, HostHttpError):
        return is_transient(error.status)
    return isinstance(error, HostUnavailable)
