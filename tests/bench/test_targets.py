"""Servers under load: eras, sessions, lanes, silent connections, and what cannot be had."""

from __future__ import annotations

import json
import time

import pytest

from kernel.bench.calls import Address
from kernel.bench.client import Asking, RequestRefused
from kernel.bench.idle import idle_connections
from kernel.bench.rounds import LoadFailed, Processors, Shape, hear, run_round, start_program
from kernel.bench.sampler import Sampler, processor_s, resident_mib
from kernel.bench.targets import Target, TargetFailed, own_kernel, peer, running
from kernel.bench.wire import Reply
from tests.bench.server import FINE, server

RESULT = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"version":"1"}}}'


def answer(body: bytes, *more: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def address_of(port: int) -> Address:
    return Address("127.0.0.1", port, "/x/mcp")


def test_a_server_of_the_modern_era_is_called_without_a_session() -> None:
    with server(lambda _data, _number: answer(RESULT)) as port:
        target = running(f"http://127.0.0.1:{port}/x/mcp", tool="t", arguments={}, token="secret")
    assert target.address == Address("127.0.0.1", port, "/x/mcp", token="secret")
    assert b"Authorization: Token secret\r\n" in target.address.tool("t", {})
    assert not target.is_kernel


def test_a_server_of_the_older_era_gets_a_session() -> None:
    def handle(data: bytes, _number: int) -> bytes:
        if b'"initialize"' in data:
            return answer(b"{}", "mcp-session-id: s1")
        return answer(RESULT) if b"Mcp-Session-Id: s1\r\n" in data else answer(b"no", status=400)

    with server(handle) as port:
        target = running(f"http://127.0.0.1:{port}/x/mcp", tool="t", arguments={})
    assert target.address.session == "s1"


@pytest.mark.parametrize(
    ("initialize", "words"),
    [(answer(b"no", status=500), "initialize is answered with 500"), (answer(b"{}"), "t is answered with 404")],
)
def test_a_server_that_takes_neither_is_refused(initialize: bytes, words: str) -> None:
    def handle(data: bytes, _number: int) -> bytes:
        return initialize if b'"initialize"' in data else answer(b"nothing", status=404)

    with server(handle) as port, pytest.raises(TargetFailed, match=words):
        running(f"http://127.0.0.1:{port}/x/mcp", tool="t", arguments={})


def test_the_api_is_asked_and_its_refusals_are_told() -> None:
    told = {
        "/api/a": {"code": 0, "data": 7},
        "/api/b": {"code": -1, "msg": "no such block", "data": None},
        "/api/c": [],
    }

    def handle(data: bytes, _number: int) -> bytes:
        return answer(json.dumps(told[data.split()[1].decode()]).encode(), "Connection: close")

    with server(handle) as port, Asking(address_of(port)) as asking:
        assert asking.api("a") == 7
        with pytest.raises(RequestRefused, match="b: no such block"):
            asking.api("b")
        with pytest.raises(RequestRefused, match="c: HTTP 200"):
            asking.api("c")


def test_a_closed_connection_is_an_error_and_the_next_request_opens_another() -> None:
    with server(lambda _data, number: None if number == 0 else FINE) as port, Asking(address_of(port)) as asking:
        with pytest.raises(ConnectionError, match="without an answer"):
            asking.ask(b"x")
        assert asking.ask(b"x") == Reply(200, b"{}")


def test_lanes_are_looked_at_until_the_end_and_misses_are_counted() -> None:
    queue = {"readsRunning": 2, "exclusiveRunning": 1, "queued": 3, "inFlight": 6, "refused": 0}
    good, bad = answer(json.dumps({"queue": queue}).encode()), answer(b"{}")
    with server(lambda _data, number: bad if number == 0 else good) as port:
        target = Target("kernel", address_of(port), health="/x/health")
        now = time.perf_counter_ns()
        with Asking(target.address) as asking, Sampler(target, asking, now, now + 10**10) as sampler:
            while not sampler.samples:
                sampler._thread.join(0.01)
    assert sampler.missed == 1
    row = dict(sampler.samples[0])
    assert row.pop("at") >= 0
    assert row == {"reads": 2, "mutations": 1, "queued": 3, "inFlight": 6, "refused": 0}


def test_silent_connections_are_counted_while_the_server_keeps_them() -> None:
    with server(lambda _data, _number: FINE) as port, idle_connections(Target("x", address_of(port)), 5) as idle:
        assert (idle.asked, idle.opened, idle.held()) == (5, 5, 5)
        idle.sockets[0].send(b"x")
        idle.sockets[0].setblocking(True)
        idle.sockets[0].recv(1)
        idle.sockets[0].setblocking(False)
        assert idle.held() == 4  # something has arrived: it is silent no longer
    with idle_connections(Target("x", address_of(1)), 5) as none:
        assert none.opened == 0


def test_a_worker_that_cannot_connect_says_why() -> None:
    with pytest.raises(LoadFailed, match="refused"):
        run_round(Target("x", address_of(1)), Shape("trivial", connections=1), Processors())


def test_a_worker_without_an_order_is_one_line() -> None:
    worker = start_program("kernel.bench.worker", {})
    with pytest.raises(LoadFailed, match="the load generator ended: KeyError"):
        hear(worker)
    worker.wait()
    for stream in (worker.stdin, worker.stdout, worker.stderr):
        assert stream is not None
        stream.close()


@pytest.mark.wire
def test_a_kernel_that_does_not_start_is_told_in_its_own_words() -> None:
    with (
        pytest.raises(TargetFailed, match=r"the kernel did not start: .*--read-slots"),
        own_kernel(["--read-slots", "0"]),
    ):
        pass


def test_a_peer_that_nobody_knows_is_told() -> None:
    with pytest.raises(TargetFailed, match="nobody does not answer"), peer("nobody"):
        pass


def test_processors_are_shared_out_and_may_be_unknown() -> None:
    assert Processors.here(pins=False) == Processors()
    assert Processors().of_worker(3) is None
    assert [Processors(0, (1, 2)).of_worker(number) for number in range(3)] == [1, 2, 1]


def test_a_process_that_is_gone_has_no_numbers() -> None:
    assert (processor_s(2**30), resident_mib(2**30)) == (0.0, 0.0)
