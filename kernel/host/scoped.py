"""The host as one call sees it: cancellable between host calls, budgeted, its reads retried, its writes counted.

Nothing interrupts a host call that is under way: a cancel is looked for before and after each (R215, R226). The
budget is for ordinary reads only; a mutation's call has none, so its read-back is never cut short (R271, R272).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

import msgspec
import trio

from kernel.clock import Clock
from kernel.endpoints import is_write
from kernel.host.base import Host, HostError, HostHttpError, HostUnavailable
from kernel.host.budget import ReadBudget
from kernel.host.envelope import is_transient
from kernel.host.limits import SCOPED_RETRY_WAITS_S
from kernel.host.progress import UNTOLD, Progress
from kernel.host.retries import RetryTerms, retry_terms
from kernel.host.streams import closing_stream

T = TypeVar("T")
_encode: Final = msgspec.json.Encoder().encode


class Cancellable(Protocol):
    """The scheduler's ticket, as far as a host call looks at it."""

    def check_cancelled(self) -> None:
        """Raise if the call was cancelled; says nothing behind the commit boundary."""
        ...


class ScopedHost:
    """A ``Host`` for one call. ``retries``: how often a read is sent again after a transient failure; with
    ``host_retries`` the host does that itself, on these terms."""

    def __init__(
        self,
        host: Host,
        ticket: Cancellable,
        clock: Clock,
        *,
        budget: ReadBudget | None = None,
        retries: int = len(SCOPED_RETRY_WAITS_S),
        host_retries: bool = False,
        progress: Progress = UNTOLD,
    ) -> None:
        self._host = host
        self._ticket = ticket
        self._clock = clock
        self._retry_waits_s = () if host_retries else SCOPED_RETRY_WAITS_S[:retries]
        self._terms = RetryTerms(retries, lambda: self._before(writes=False)) if host_retries else None
        self.budget = budget
        self.progress = progress
        self.calls = 0
        self.writes_sent = 0

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        send = self._sent if self._terms is None else self._counted
        return await send(is_write(path), self._host.call, path, arguments)

    async def read_file(self, path: str) -> bytes | None:
        return await self._counted(False, self._host.read_file, path)

    async def write_file(self, path: str, content: bytes) -> None:
        await self._counted(True, self._host.write_file, path, content)

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        return await self._counted(True, self._host.upload_asset, directory, name, content)

    async def fetch_static(self, path: str) -> bytes | None:
        return await self._counted(False, self._host.fetch_static, path)

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        """Never sent again once it began: bytes may have been used."""
        self._before(writes=False)
        async with closing_stream(self._host.stream_static(path)) as pieces:
            async for piece in pieces:
                self._after(piece)
                yield piece
        self._ticket.check_cancelled()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is sent inside changes no note (a snapshot to compare with): ``writes_sent`` does not count it."""
        before = self.writes_sent
        try:
            yield
        finally:
            self.writes_sent = before

    async def aclose(self) -> None:
        """Nothing to close: the host belongs to the application."""

    async def _counted(self, writes: bool, send: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        if self._terms is None:
            return await self._sent(writes, send, *arguments)
        token = retry_terms.set(self._terms)
        try:
            return await self._sent(writes, send, *arguments)
        finally:
            retry_terms.reset(token)

    async def _sent(self, writes: bool, send: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        tries = 0
        while True:
            self._before(writes=writes)
            try:
                answer = await send(*arguments)
            except HostError as error:
                self._ticket.check_cancelled()
                waits_s = () if writes else self._retry_waits_s
                if tries == len(waits_s) or not _may_retry(error):
                    raise
            else:
                self._after(answer)
                return answer
            await trio.sleep(waits_s[tries])
            tries += 1

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
    if isinstance(answer, str):
        return len(answer) if answer.isascii() else len(answer.encode("utf-8", "surrogatepass"))
    if isinstance(answer, bytes | bytearray | memoryview):
        return len(answer)
    return len(_encode(answer))


def _may_retry(error: HostError) -> bool:
    if isinstance(error, HostHttpError):
        return is_transient(error.status)
    return isinstance(error, HostUnavailable)
