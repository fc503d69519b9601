"""The generator against a server of a few lines: what it sends, when, and how it counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from random import Random

import pytest

from kernel.bench.calls import CANCELLED, FAILED, OK, REFUSED, Address, outcome_of, structured
from kernel.bench.generator import Generator, Load
from kernel.bench.tally import UNFINISHED, Tally
from kernel.bench.wire import Reply
from kernel.bench.worker import gaps, load_of
from kernel.bench.workloads import WORKLOADS, Operation, Place, Step, Work
from tests.bench.server import FINE, server

MS = 1_000_000


def begin(*steps: Step) -> Callable[[], tuple[str, Operation]]:
    def operation() -> Operation:
        outcome = OK
        for step in steps:
            reply = yield step
            outcome = CANCELLED if reply is None else outcome_of(reply)
        return outcome

    return lambda: ("one", operation())


def run(
    port: int, begins: list[Callable[[], tuple[str, Operation]]], operations: int, gap_ns: int | None = None
) -> Tally:
    generator = Generator("127.0.0.1", port, begins, time.perf_counter_ns)
    generator.connect()
    now = time.perf_counter_ns()
    gap = None if gap_ns is None else lambda: gap_ns
    return generator.run(Load(now, now, now + 5_000 * MS, gap, operations))


def test_a_closed_loop_does_every_operation_once() -> None:
    seen: list[bytes] = []

    def handle(data: bytes, _number: int) -> bytes:
        seen.append(data)
        return FINE

    with server(handle) as port:
        tally = run(port, [begin(Step(b"call"))] * 3, 30)
    assert tally.latencies[("one", OK)].total == 30
    assert seen == [b"call"] * 30
    assert tally.ended() == {OK: 30}
    assert tally.bytes_read == 30 * len(FINE)


def test_an_open_loop_counts_the_wait_for_a_connection() -> None:
    """Twenty operations intended at once, one connection, a millisecond each: the last has waited for all of them."""
    gate = threading.Event()

    def handle(_data: bytes, number: int) -> bytes:
        if number == 0:
            gate.wait(0.02)  # the server stalls once; a closed loop would see one slow call
        return FINE

    with server(handle) as port:
        tally = run(port, [begin(Step(b"call"))], 20, gap_ns=1)
    histogram = tally.latencies[("one", OK)]
    assert histogram.total == 20
    assert min(value for value, _ in histogram.curve()) >= 19_000
    assert tally.lateness.percentile(50) >= 19_000


def test_steps_follow_one_another_and_have_latencies_of_their_own() -> None:
    with server(lambda _data, _number: FINE) as port:
        tally = run(port, [begin(Step(b"a", "first"), Step(b"b", "second"))], 5)
    assert {key: one.total for key, one in tally.latencies.items()} == {
        ("first", OK): 5,
        ("second", OK): 5,
        ("one", OK): 5,
    }


def test_an_abandoned_step_closes_its_connection_and_the_next_one_opens_another() -> None:
    hold = threading.Event()

    def handle(data: bytes, _number: int) -> bytes | None:
        if data == b"slow":
            hold.wait(5)
            return None
        return FINE

    with server(handle) as port:
        tally = run(port, [begin(Step(b"slow", "", 0.005))], 3)
        hold.set()
    assert tally.ended() == {CANCELLED: 3}


def test_a_lost_connection_is_a_failure_with_its_words() -> None:
    with server(lambda _data, number: None if number == 1 else FINE) as port:
        tally = run(port, [begin(Step(b"call"))], 4)
    assert tally.ended() == {OK: 3, FAILED: 1}
    assert tally.errors == {"closed by the server": 1}


def test_what_is_no_http_is_a_failure() -> None:
    with server(lambda _data, _number: b"nonsense\r\n\r\n") as port:
        tally = run(port, [begin(Step(b"call"))], 2)
    assert tally.ended() == {FAILED: 2}
    assert "no status line" in next(iter(tally.errors))


def test_a_large_request_is_sent_in_pieces() -> None:
    wanted, got = 8_000_000, []

    def handle(data: bytes, _number: int) -> bytes:
        got.append(len(data))
        return FINE if sum(got) == wanted else b""

    with server(handle) as port:
        tally = run(port, [begin(Step(b"x" * wanted))], 1)
    assert tally.ended() == {OK: 1}


def test_what_is_open_at_the_end_counts_with_its_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.bench.generator.GRACE_S", 0.01)
    hold = threading.Event()
    with server(lambda _data, _number: None if hold.wait(5) else b"") as port:
        generator = Generator("127.0.0.1", port, [begin(Step(b"call"))], time.perf_counter_ns)
        generator.connect()
        now = time.perf_counter_ns()
        tally = generator.run(Load(now, now, now + 20 * MS, lambda: 5 * MS))
        hold.set()
    assert tally.latencies[("one", UNFINISHED)].total == 1
    assert tally.latencies[("waiting", UNFINISHED)].total >= 2
    assert tally.latencies[("one", UNFINISHED)].max_us >= 30_000


def test_what_has_hung_since_the_warm_up_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.bench.generator.GRACE_S", 0.01)
    hold = threading.Event()
    with server(lambda _data, _number: None if hold.wait(5) else b"") as port:
        generator = Generator("127.0.0.1", port, [begin(Step(b"call"))], time.perf_counter_ns)
        generator.connect()
        now = time.perf_counter_ns()
        tally = generator.run(Load(now, now + 10 * MS, now + 20 * MS))
        hold.set()
    assert tally.latencies[("one", UNFINISHED)].total == 1


def test_a_backlog_that_is_too_long_ends_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.bench.generator.BACKLOG_MAX", 10)
    with server(lambda _data, _number: FINE) as port, pytest.raises(RuntimeError, match="more than 10"):
        run(port, [begin(Step(b"call"))], 1_000, gap_ns=1)


def test_a_call_of_a_session_carries_it_and_one_without_carries_its_version() -> None:
    modern = Address("::1", 1, "/mcp").tool("t", {"a": 1}, 7)
    assert modern.startswith(b"POST /mcp HTTP/1.1\r\nHost: [::1]:1\r\n")
    assert b"Mcp-Name: t\r\n" in modern
    assert b'"io.modelcontextprotocol/protocolVersion": "2026-07-28"' in modern
    legacy = Address("h", 1, "/mcp", session="s1").tool("t", {})
    assert b"Mcp-Session-Id: s1\r\n" in legacy
    assert b"_meta" not in legacy
    assert b"Mcp-Session-Id" not in Address("h", 1, "/mcp", session="").tool("t", {})


@pytest.mark.parametrize(
    "body",
    [
        b'{"result":{"structuredContent":{"a":1}}}',
        b'event: message\ndata: {"method":"x"}\n\ndata: {"result":{"structuredContent":{"a":1}}}\n\n',
    ],
)
def test_content_is_found_in_json_and_in_event_streams(body: bytes) -> None:
    assert structured(Reply(200, body)) == {"a": 1}
    with pytest.raises(ValueError):
        structured(Reply(200, b""))


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(200, b'{"result":{"isError":false}}'), OK),
        (Reply(200, b'{"result":{"isError":true}}'), FAILED),
        (Reply(200, b'{"result":{"isError":true,"x":"queue_full"}}'), REFUSED),
        (Reply(200, b'{"error":{"code":-32602}}'), FAILED),
        (Reply(503, b""), REFUSED),
        (Reply(429, b""), REFUSED),
        (Reply(404, b""), FAILED),
    ],
)
def test_answers_are_judged(reply: Reply, outcome: str) -> None:
    assert outcome_of(reply) == outcome


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_has_operations_that_end(name: str) -> None:
    place = Place(blocks=["b1", "b2"], words=["w"], large="l")
    work = Work(name, Address("h", 1, "/mcp"), place, 0, Random(1))
    told = b'{"result":{"structuredContent":{"preconditionField":"f","f":"x","requestId":"r"}}}'
    for _ in range(30):
        kind, operation = work.begin()
        assert kind
        assert carried_through(operation, told) in (OK, CANCELLED)


def carried_through(operation: Operation, body: bytes) -> str:
    """The outcome of an operation whose every step is answered with ``body``."""
    step = next(operation)
    while True:
        assert step.data.startswith(b"POST /mcp HTTP/1.1\r\n")
        try:
            step = operation.send(None if step.abandon_after_s else Reply(200, body))
        except StopIteration as done:
            return str(done.value)


def test_a_write_that_is_refused_ends_with_its_preflight() -> None:
    work = Work("writes", Address("h", 1, "/mcp"), Place(blocks=["b"]), 0, Random(1))
    _, operation = work.begin()
    next(operation)
    with pytest.raises(StopIteration) as done:
        operation.send(Reply(503, b""))
    assert done.value.value == REFUSED


def test_arrivals_have_the_rate_that_was_asked_for() -> None:
    assert gaps(0.0, "poisson", Random(1)) is None
    even, poisson = gaps(1_000, "even", Random(1)), gaps(1_000, "poisson", Random(1))
    assert even is not None
    assert poisson is not None
    assert even() == MS
    found = [poisson() for _ in range(20_000)]
    mean = sum(found) / len(found)
    assert mean == pytest.approx(MS, rel=0.03)
    # Exponential: as much deviation as mean.
    assert (sum((one - mean) ** 2 for one in found) / len(found)) ** 0.5 == pytest.approx(mean, rel=0.05)


def test_an_order_becomes_times() -> None:
    order = {
        "warmUpS": 0.5,
        "durationS": 2,
        "ratePerS": 0,
        "arrivals": "even",
        "seed": 1,
        "first": 0,
        "operationsMax": 7,
    }
    assert load_of(order, 100) == Load(100, 100 + 500 * MS, 100 + 2_500 * MS, None, 7)
