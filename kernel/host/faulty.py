"""A host that fails as planned, and tells a trace: before and after the effect of every host call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from kernel.endpoints import is_write
from kernel.faults.attributes import shuffled
from kernel.faults.calls import current_call
from kernel.faults.plan import Rule
from kernel.faults.points import STATIC, Moment, host_point
from kernel.faults.trigger import AnswerDropped, DiskRefused, FaultInjected, Trigger, deeds
from kernel.host.base import Host, HostApiError, HostHttpError, HostUnavailable, near
from kernel.host.records import keep_records
from kernel.host.streams import closing_stream
from kernel.workspace.records import Record

T = TypeVar("T")
_GET_FILE: Final = "/api/file/getFile"
_PUT_FILE: Final = "/api/file/putFile"
_UPLOAD: Final = "/api/asset/upload"
_FILE_POINTS: Final = (host_point(_GET_FILE, "before"), host_point(_GET_FILE, "after"))


class FaultyHost:
    """Wraps a ``Host``; a planned failure looks exactly like one of the wrapped host's own."""

    def __init__(self, host: Host, trigger: Trigger) -> None:
        self._host = host
        self._trigger = trigger
        self._calls = 0

    @property
    def is_quiet(self) -> bool:
        inner = near(self._host)
        return self._trigger.plan.is_empty and inner is not None and inner.is_quiet

    def moment(self) -> object | None:
        """None while a plan is about reading files: each look at one is a host call that may be struck."""
        inner = near(self._host)
        return inner.moment() if inner is not None and self._trigger.plan.points.isdisjoint(_FILE_POINTS) else None

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return await self._around(path, lambda: self._host.call(path, arguments))

    async def read_file(self, path: str) -> bytes | None:
        return await self._around(_GET_FILE, lambda: self._host.read_file(path))

    async def write_file(self, path: str, content: bytes) -> None:
        await self._around(_PUT_FILE, lambda: self._host.write_file(path, content))

    async def keep_records(self, records: Sequence[Record]) -> None:
        await self._around(_PUT_FILE, lambda: keep_records(self._host, records))

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        return await self._around(_UPLOAD, lambda: self._host.upload_asset(directory, name, content))

    async def fetch_static(self, path: str) -> bytes | None:
        return await self._around(STATIC, lambda: self._host.fetch_static(path))

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        await self._pass(STATIC, "before")
        async with closing_stream(self._host.stream_static(path)) as pieces:
            async for piece in pieces:
                yield piece
        await self._pass(STATIC, "after")

    async def aclose(self) -> None:
        await self._host.aclose()

    async def _around(self, path: str, send: Callable[[], Awaitable[T]]) -> T:
        if not self._trigger.trace.is_on:
            return await self._with_faults(path, send)
        trace, ticket = self._trigger.trace, current_call.get().number
        self._calls += 1
        number = self._calls
        trace.record("host_call", path=path, call=number, ticket=ticket)
        outcome = "cancelled"
        try:
            answer = await self._with_faults(path, send)
            outcome = "ok"
            return answer
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
            raise
        finally:
            trace.record("host_answer", path=path, call=number, ticket=ticket, outcome=outcome)

    async def _with_faults(self, path: str, send: Callable[[], Awaitable[T]]) -> T:
        struck = deeds(await self._pass(path, "before"))
        answer = await send()
        if "duplicate" in struck:
            # A proxy on the way has sent it again; what its first delivery was answered nobody hears.
            answer = await send()
        struck = deeds(await self._pass(path, "after"))
        if (rule := struck.get("shuffle_attributes")) is not None:
            self._calls += 1
            answer = shuffled(answer, f"{rule.seed}/{self._calls}")
        return answer

    async def _pass(self, path: str, moment: Moment) -> tuple[Rule, ...]:
        if self._trigger.plan.is_empty:
            return ()
        writes = path != STATIC and is_write(path)
        try:
            return await self._trigger.visit(host_point(path, moment))
        except AnswerDropped as fault:
            # Whether the effect came first is exactly what the caller of a write cannot know.
            raise HostUnavailable(
                "The note kernel did not answer: connection closed", path=path, is_ambiguous=writes
            ) from fault
        except DiskRefused as fault:
            raise HostApiError(-1, f"write failed: {fault.message}", path=path) from fault
        except FaultInjected as fault:
            if fault.status is None:
                raise HostApiError(fault.code, fault.message, path=path) from fault
            is_refusal = 400 <= fault.status < 500
            raise HostHttpError(
                fault.status,
                f"HTTP error: {fault.status} {fault.message}",
                path=path,
                is_ambiguous=writes and not is_refusal,
            ) from fault
