"""A planned failure looks exactly like one of the host's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest
import trio
import trio.testing

from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.trigger import Trigger
from kernel.host.base import HostApiError, HostError, HostHttpError, HostUnavailable
from kernel.host.faulty import FaultyHost
from kernel.host.records import keep_records
from kernel.trace import Trace
from kernel.workspace.records import Record

READ = "/api/block/getBlockKramdown"
WRITE = "/api/block/updateBlock"


class Recording:
    """A host that only remembers that it was reached."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        self.reached.append(path)
        return {"given": arguments}

    async def read_file(self, path: str) -> bytes | None:
        self.reached.append("read_file")
        return b"x"

    async def write_file(self, path: str, content: bytes) -> None:
        self.reached.append("write_file")

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        self.reached.append("upload_asset")
        return {}

    async def fetch_static(self, path: str) -> bytes | None:
        self.reached.append("fetch_static")
        return b"x"

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        self.reached.append("stream_static")
        yield b"x"

    async def aclose(self) -> None:
        self.reached.append("closed")


async def drained(host: FaultyHost) -> list[bytes]:
    return [piece async for piece in host.stream_static("/export/x")]


CALLS: dict[str, Callable[[FaultyHost], Awaitable[Any]]] = {
    READ: lambda host: host.call(READ),
    WRITE: lambda host: host.call(WRITE, {"id": "x"}),
    "/api/file/getFile": lambda host: host.read_file("/data/x"),
    "/api/file/putFile": lambda host: host.write_file("/data/x", b""),
    "/api/asset/upload": lambda host: host.upload_asset("/assets/", "a", b""),
    "static": lambda host: host.fetch_static("/assets/a"),
}
WRITES = {WRITE, "/api/file/putFile", "/api/asset/upload"}


async def failure_of(host: FaultyHost, path: str) -> HostError:
    with pytest.raises(HostError) as caught:
        await CALLS[path](host)
    return caught.value


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_dropped_answer_is_a_broken_connection_and_ambiguous_for_a_write(path: str, moment: str) -> None:
    inner = Recording()
    host = FaultyHost(inner, Trigger(FaultPlan.of([Rule(f"host.{moment}:{path}", "drop")])))
    error = await failure_of(host, path)
    assert isinstance(error, HostUnavailable)
    assert error.is_ambiguous is (path in WRITES)
    assert bool(inner.reached) is (moment == "after")
    await CALLS[path](host)


@pytest.mark.parametrize(
    ("rule", "kind", "is_ambiguous"),
    [
        ({"code": -1, "message": "no"}, HostApiError, False),
        ({"status": 503}, HostHttpError, True),
        ({"status": 404}, HostHttpError, False),
    ],
)
async def test_a_failure_is_the_envelope_or_the_status_that_was_planned(
    rule: dict[str, Any], kind: type[HostError], is_ambiguous: bool
) -> None:
    inner = Recording()
    host = FaultyHost(inner, Trigger(FaultPlan.of([Rule(f"host.before:{WRITE}", "fail", **rule)])))
    error = await failure_of(host, WRITE)
    assert isinstance(error, kind)
    assert error.path == WRITE
    assert error.is_ambiguous is is_ambiguous
    assert inner.reached == []
    if isinstance(error, HostApiError):
        assert (error.api_code, error.message) == (-1, "no")
    if isinstance(error, HostHttpError):
        assert error.status == rule["status"]


async def test_a_failed_read_is_never_ambiguous() -> None:
    host = FaultyHost(Recording(), Trigger(FaultPlan.of([Rule(f"host.after:{READ}", "fail", status=503)])))
    assert (await failure_of(host, READ)).is_ambiguous is False


async def test_without_a_plan_everything_passes() -> None:
    inner = Recording()
    host = FaultyHost(inner, Trigger())
    for call in CALLS.values():
        await call(host)
    assert await drained(host) == [b"x"]
    assert await host.call(READ, {"id": "x"}) == {"given": {"id": "x"}}
    await host.aclose()
    assert inner.reached == [
        READ,
        WRITE,
        "read_file",
        "write_file",
        "upload_asset",
        "fetch_static",
        "stream_static",
        READ,
        "closed",
    ]


async def test_a_stream_fails_before_its_first_piece_or_after_its_last() -> None:
    inner = Recording()
    host = FaultyHost(inner, Trigger(FaultPlan.of([Rule("host.before:static", "drop")])))
    with pytest.raises(HostUnavailable):
        await drained(host)
    assert inner.reached == []
    host = FaultyHost(inner, Trigger(FaultPlan.of([Rule("host.after:static", "drop")])))
    with pytest.raises(HostUnavailable):
        await drained(host)
    assert inner.reached == ["stream_static"]


@pytest.mark.parametrize(
    ("deed", "words"),
    [("disk_full", "database or disk is full"), ("read_only", "attempt to write a readonly database")],
)
async def test_a_full_disk_is_told_as_the_kernel_tells_it(deed: Any, words: str) -> None:
    error = await failure_of(
        FaultyHost(Recording(), Trigger(FaultPlan.of([Rule(f"host.before:{WRITE}", deed)]))), WRITE
    )
    assert isinstance(error, HostApiError)
    assert (error.api_code, error.message, error.is_ambiguous) == (-1, f"write failed: {words}", False)


async def test_a_duplicated_write_reaches_the_host_twice_and_answers_once() -> None:
    inner = Recording()
    host = FaultyHost(inner, Trigger(FaultPlan.of([Rule(f"host.before:{WRITE}", "duplicate")])))
    assert await host.call(WRITE, {"id": "x"}) == {"given": {"id": "x"}}
    assert inner.reached == [WRITE, WRITE]
    await host.call(WRITE)
    assert inner.reached == [WRITE] * 3


async def test_shuffled_attributes_differ_from_answer_to_answer_and_never_in_what_they_say() -> None:
    plan = FaultPlan.of([Rule(f"host.after:{READ}", "shuffle_attributes", seed=1, times=None)])
    kramdown = "text\n{: " + " ".join(f'k{number}="{number}"' for number in range(9)) + "}"
    host = FaultyHost(Recording(), Trigger(plan))
    answers = [(await host.call(READ, {"kramdown": kramdown}))["given"]["kramdown"] for _ in range(4)]
    assert len(set(answers)) > 1
    assert {tuple(sorted(answer)) for answer in answers} == {tuple(sorted(kramdown))}


class Near(Recording):
    """A host that is this process."""

    is_quiet = True

    def moment(self) -> object | None:
        return "now"


async def test_a_plan_about_reading_files_makes_a_near_host_far() -> None:
    """Each look at a file is a host call that a rule may strike: nothing is remembered from one to the next."""
    trigger = Trigger()
    host = FaultyHost(Near(), trigger)
    assert (host.is_quiet, host.moment()) == (True, "now")
    trigger.plan.add(Rule(f"host.before:{WRITE}", "fail"))
    assert (host.is_quiet, host.moment()) == (False, "now"), "a plan about other calls leaves looks at files alone"
    trigger.plan.add(Rule("host.before:/api/file/*", "fail"))
    assert (host.is_quiet, host.moment()) == (False, None)
    far = FaultyHost(Recording(), Trigger())
    assert (far.is_quiet, far.moment()) == (False, None)


async def test_the_trace_tells_each_call_and_how_it_ended(autojump_clock: trio.testing.MockClock) -> None:
    trace = Trace(lambda: 0.0)
    plan = FaultPlan.of(
        [
            Rule(f"host.before:{READ}", "fail", nth=2, message="no"),
            Rule("host.before:/api/file/getFile", "delay", seconds=9),
        ]
    )
    host = FaultyHost(Recording(), Trigger(plan, trace=trace))
    await host.call(READ)
    await failure_of(host, READ)
    with trio.move_on_after(1):
        await host.read_file("/data/x")
    await keep_records(host, [Record("/data/r", b"1")])
    calls = [event.facts for event in trace.events() if event.kind == "host_call"]
    answers = [event.facts for event in trace.events() if event.kind == "host_answer"]
    assert [(call["call"], call["path"]) for call in calls] == [
        (1, READ),
        (2, READ),
        (3, "/api/file/getFile"),
        (4, "/api/file/putFile"),
    ]
    assert [(answer["call"], answer["outcome"]) for answer in answers] == [
        (1, "ok"),
        (2, "HostApiError: no"),
        (3, "cancelled"),
        (4, "ok"),
    ]
