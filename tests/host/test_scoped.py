"""The host as one call sees it: cancels, budget, retries, counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostError, HostHttpError, HostUnavailable
from kernel.host.budget import ReadBudget
from kernel.host.limits import READ_BYTES_MAX, READ_REQUESTS_MAX, SCOPED_RETRY_WAITS_S
from kernel.host.scoped import ScopedHost, decoded_bytes
from kernel.host.streams import closing_stream
from scheduler.ticket import RequestCancelled

READ = "/api/block/getBlockKramdown"
WRITE = "/api/block/updateBlock"


class Ticket:
    def __init__(self) -> None:
        self.is_cancelled = False

    def check_cancelled(self) -> None:
        if self.is_cancelled:
            raise RequestCancelled


class Scripted:
    """Answers with what it was given, in order; the last one again and again."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers) or ["ok"]
        self.calls: list[str] = []

    async def _answer(self, name: str) -> Any:
        await trio.lowlevel.checkpoint()
        self.calls.append(name)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return await self._answer(path)

    async def read_file(self, path: str) -> bytes | None:
        return await self._answer("read_file")

    async def write_file(self, path: str, content: bytes) -> None:
        await self._answer("write_file")

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        return await self._answer("upload_asset")

    async def fetch_static(self, path: str) -> bytes | None:
        return await self._answer("fetch_static")

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        for piece in self.answers:
            await trio.lowlevel.checkpoint()
            yield piece

    async def aclose(self) -> None:
        raise AssertionError("the application's host is not the call's to close")


def scoped(host: Scripted, *, budget: ReadBudget | None = None, retries: int = 3) -> tuple[ScopedHost, Ticket]:
    ticket = Ticket()
    return ScopedHost(host, ticket, ManualClock(), budget=budget, retries=retries), ticket


async def test_every_method_reaches_the_host_once_and_is_counted() -> None:
    host = Scripted()
    scope, _ = scoped(host)
    assert await scope.call(READ) == "ok"
    assert await scope.call(WRITE, {"id": "x"}) == "ok"
    assert await scope.read_file("/data/x") == "ok"
    await scope.write_file("/data/x", b"")
    await scope.upload_asset("/assets/", "a", b"")
    await scope.fetch_static("/templates/a.md")
    await scope.aclose()
    assert host.calls == [READ, WRITE, "read_file", "write_file", "upload_asset", "fetch_static"]
    assert (scope.calls, scope.writes_sent) == (6, 3)


async def test_a_cancelled_call_sends_nothing_more() -> None:
    host = Scripted()
    scope, ticket = scoped(host)
    ticket.is_cancelled = True
    with pytest.raises(RequestCancelled):
        await scope.call(READ)
    assert host.calls == []


@pytest.mark.parametrize("answer", ["ok", HostUnavailable("gone"), HostApiError(-1, "no")])
async def test_a_cancel_during_a_host_call_is_noticed_when_it_has_ended(answer: Any) -> None:
    """R215: the running host call is not interrupted."""
    scope, ticket = scoped(host := Scripted())

    def cancelled_meanwhile() -> Any:
        ticket.is_cancelled = True
        if isinstance(answer, Exception):
            raise answer
        return answer

    host.answers = [cancelled_meanwhile]
    with pytest.raises(RequestCancelled):
        await scope.call(READ)
    assert host.calls == [READ]


@pytest.mark.parametrize(
    ("failure", "is_repeated"),
    [
        (HostUnavailable("reset"), True),
        (HostHttpError(429, "slow down"), True),
        (HostHttpError(503, "busy"), True),
        (HostHttpError(404, "none"), False),
        (HostHttpError(200, "not JSON"), False),
        (HostApiError(-1, "no"), False),
        (HostError("other"), False),
    ],
)
async def test_only_transient_failures_of_reads_are_tried_again(
    failure: HostError, is_repeated: bool, autojump_clock: trio.testing.MockClock
) -> None:
    """R78, R79."""
    scope, _ = scoped(host := Scripted(failure, "ok"))
    if is_repeated:
        assert await scope.call(READ) == "ok"
        assert len(host.calls) == 2
    else:
        with pytest.raises(type(failure)):
            await scope.call(READ)
        assert len(host.calls) == 1


@pytest.mark.parametrize("failure", [HostUnavailable("reset", is_ambiguous=True), HostHttpError(503, "busy")])
async def test_a_write_is_sent_once_whatever_happens(failure: HostError) -> None:
    scope, _ = scoped(host := Scripted(failure, "ok"))
    with pytest.raises(type(failure)):
        await scope.call(WRITE)
    assert len(host.calls) == 1


async def test_a_path_that_is_in_no_table_counts_as_a_write() -> None:
    scope, _ = scoped(host := Scripted(HostUnavailable("reset")))
    with pytest.raises(HostUnavailable):
        await scope.call("/api/new/thing")
    assert (len(host.calls), scope.writes_sent) == (1, 1)


@pytest.mark.parametrize("retries", [0, 1, 2, 3])
async def test_so_many_retries_with_growing_waits(retries: int, autojump_clock: trio.testing.MockClock) -> None:
    scope, _ = scoped(host := Scripted(HostUnavailable("reset")), retries=retries)
    start = trio.current_time()
    with pytest.raises(HostUnavailable):
        await scope.call(READ)
    assert len(host.calls) == retries + 1
    assert trio.current_time() - start == pytest.approx(sum(SCOPED_RETRY_WAITS_S[:retries]))


async def test_a_cancel_ends_the_retries(autojump_clock: trio.testing.MockClock) -> None:
    scope, ticket = scoped(host := Scripted(HostUnavailable("reset")))

    async def cancel() -> None:
        await trio.sleep(0.05)
        ticket.is_cancelled = True

    with pytest.RaisesGroup(RequestCancelled):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancel)
            await scope.call(READ)
    assert len(host.calls) == 1


# --- budget ---


async def test_the_budgets_last_call_and_byte_are_allowed_and_one_more_is_not() -> None:
    """R266, R267, at the limit and one past it."""
    budget = ReadBudget()
    scope, _ = scoped(host := Scripted("x"), budget=budget)
    for _ in range(READ_REQUESTS_MAX):
        await scope.call(READ)
    with pytest.raises(ToolError) as caught:
        await scope.call(READ)
    assert caught.value.code == "read_budget_exceeded"
    assert caught.value.payload()["complete"] is False
    assert caught.value.details["recovery"]["advancePage"] is False
    assert len(host.calls) == READ_REQUESTS_MAX

    budget = ReadBudget()
    budget.charge_bytes(READ_BYTES_MAX)
    with pytest.raises(ToolError, match="bytes"):
        budget.charge_bytes(1)


async def test_an_exceeded_budget_stays_exceeded_although_the_handler_swallowed_it() -> None:
    """R270."""
    budget = ReadBudget(bytes_max=10)
    scope, _ = scoped(host := Scripted(b"x" * 11), budget=budget)
    with pytest.raises(ToolError):
        await scope.call(READ)
    host.answers = [b""]
    with pytest.raises(ToolError):
        await scope.call(READ)
    assert len(host.calls) == 1
    with pytest.raises(ToolError):
        budget.check()


async def test_each_retry_counts_in_the_budget(autojump_clock: trio.testing.MockClock) -> None:
    budget = ReadBudget(requests_max=2)
    scope, _ = scoped(host := Scripted(HostUnavailable("reset")), budget=budget)
    with pytest.raises(ToolError) as caught:
        await scope.call(READ)
    assert caught.value.code == "read_budget_exceeded"
    assert len(host.calls) == 2


async def test_the_deadline_is_compared_before_each_call() -> None:
    budget = ReadBudget(deadline=5.0)
    budget.charge_request(4.999)
    with pytest.raises(ToolError) as caught:
        budget.charge_request(5.0)
    assert caught.value.code == "read_deadline_exceeded"
    with pytest.raises(ToolError):
        budget.charge_bytes(0)


async def test_an_allowance_raises_the_limit_for_bytes_alone() -> None:
    budget = ReadBudget(requests_max=1, bytes_max=10)
    budget.allow_bytes(5)
    budget.charge_bytes(15)
    assert budget.spent() == {"requests": 0, "bytes": 15}
    with pytest.raises(ToolError):
        budget.charge_bytes(1)


async def test_without_a_budget_nothing_is_limited() -> None:
    scope, _ = scoped(host := Scripted("x"))
    for _ in range(READ_REQUESTS_MAX + 1):
        await scope.call(READ)
    assert host.calls == [READ] * (READ_REQUESTS_MAX + 1)


async def pieces_of(scope: ScopedHost, seen: list[bytes], ticket: Ticket | None = None) -> None:
    async with closing_stream(scope.stream_static("/export/x")) as pieces:
        async for piece in pieces:
            seen.append(piece)
            if ticket is not None:
                ticket.is_cancelled = True


async def test_a_stream_is_one_call_and_its_pieces_are_bytes_of_the_budget() -> None:
    budget = ReadBudget(bytes_max=5)
    scope, _ = scoped(Scripted(b"abc", b"de"), budget=budget)
    seen: list[bytes] = []
    await pieces_of(scope, seen)
    assert seen == [b"abc", b"de"]
    assert budget.spent() == {"requests": 1, "bytes": 5}
    with pytest.raises(ToolError):
        await pieces_of(scope, seen)
    assert len(seen) == 2


async def test_a_cancelled_stream_ends_between_two_pieces() -> None:
    scope, ticket = scoped(Scripted(b"a", b"b", b"c"))
    seen: list[bytes] = []
    with pytest.raises(RequestCancelled):
        await pieces_of(scope, seen, ticket)
    assert seen == [b"a"]


async def test_a_stream_that_cannot_be_closed_is_read_all_the_same() -> None:
    class Plain:
        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            raise StopAsyncIteration

    async with closing_stream(Plain()) as pieces:
        assert [piece async for piece in pieces] == []


@pytest.mark.parametrize(
    ("answer", "size"), [(None, 0), (b"abc", 3), ("é", 2), ("\ud800", 3), ({"a": "é"}, 10), ([1, 2], 5), (True, 4)]
)
def test_decoded_bytes_are_utf8_or_raw_or_the_json_text(answer: Any, size: int) -> None:
    assert decoded_bytes(answer) == size
