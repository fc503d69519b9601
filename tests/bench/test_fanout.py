"""Streams under load: who reads, who publishes, and how both are told apart from the server."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from typing import Any

import pytest

from kernel.bench import fanout
from kernel.bench.calls import OK, Address
from kernel.bench.rounds import Processors, Shape
from kernel.bench.targets import Target, own_kernel
from tests.bench.server import FINE, server

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
NS = 1_000_000_000


class Streams:
    """A server whose every connection gets the head, and what is published then."""

    def __init__(self, head: bytes = HEAD) -> None:
        self._head = head
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> Streams:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self.end()

    def publish(self, data: bytes) -> None:
        for sock in self._open:
            sock.sendall(data)

    def end(self) -> None:
        for sock in self._open:
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.recv(65_536)
            self._open.append(sock)
            if self._head:
                sock.sendall(self._head)
            else:
                sock.close()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "STREAMS", 3)


def order(port: int, **more: Any) -> dict[str, Any]:
    now = time.perf_counter_ns()
    return {"host": "127.0.0.1", "port": port, "measureNs": now, "endNs": now + 60 * NS, **more}


def closed(readers: fanout.Readers) -> None:
    for key in list(readers._selector.get_map().values()):
        assert isinstance(key.fileobj, socket.socket)
        key.fileobj.close()
    readers._selector.close()


def event(ago_ns: int) -> bytes:
    return b"event: bench\ndata: %019d/xxx\n\n" % (time.perf_counter_ns() - ago_ns)


def test_every_stream_is_read_and_each_message_counted_with_its_age(few: None) -> None:
    with Streams() as streams:
        readers = fanout.Readers(order(streams.port))
        streams.publish(event(5_000_000) + event(0))
        readers.read_until(2, time.perf_counter_ns() + 30 * NS)
        assert readers.counts == [2, 2, 2]
        told = readers.tally
        assert sum(window.counts[OK] for window in told.windows.values()) == 6
        ages = told.latencies[("delivery", OK)]
        # One age a read: the first message's.
        assert 1 <= ages.total <= 6
        assert ages.max_us >= 5_000
        assert told.bytes_read == 3 * len(event(0)) * 2
        closed(readers)


@pytest.mark.parametrize(("measure_s", "end_s"), [(100, 200), (-200, -100)])
def test_what_comes_before_or_after_the_measured_time_is_not_counted(few: None, measure_s: int, end_s: int) -> None:
    now = time.perf_counter_ns()
    with Streams() as streams:
        times = {"measureNs": now + measure_s * NS, "endNs": now + end_s * NS}
        readers = fanout.Readers(order(streams.port, **times))
        streams.publish(event(0))
        readers.read_until(1, now + 30 * NS)
        assert (readers.counts, readers.tally.windows, readers.tally.latencies) == ([1, 1, 1], {}, {})
        closed(readers)


def test_a_stream_without_messages_is_waited_for_until_the_deadline_and_an_ended_one_is_an_error(few: None) -> None:
    with Streams() as streams:
        readers = fanout.Readers(order(streams.port))
        readers.read_until(1, time.perf_counter_ns())
        assert readers.counts == [0, 0, 0]
        streams.end()
        with pytest.raises(ConnectionError, match="ended a stream"):
            readers.read_until(1, time.perf_counter_ns() + 30 * NS)
        closed(readers)
    with Streams(head=b"") as streams, pytest.raises(ConnectionError, match="a stream was refused"):
        fanout.Readers(order(streams.port))


class Reader:
    """A reading process that is not there: what it was told, and what it says."""

    def __init__(self, *answers: str) -> None:
        self.stdin = io.StringIO()
        self.stdout = io.StringIO("".join(answer + "\n" for answer in answers))


@pytest.mark.parametrize(("answers", "told"), [([""], ["-350"]), (["go on", ""], ["-350", "-300"])])
def test_the_publisher_says_how_far_it_is_and_ends_with_its_reader(answers: list[str], told: list[str]) -> None:
    bodies: list[bytes] = []

    def handle(data: bytes, _number: int) -> bytes:
        bodies.append(data)
        return FINE

    reader = Reader(*answers)
    with server(handle) as port:
        fanout._publish(Address("127.0.0.1", port, "/x/mcp"), reader, time.perf_counter_ns() + 60 * NS)  # type: ignore[arg-type]
    assert reader.stdin.getvalue().splitlines() == told
    assert bodies[0].startswith(b"POST /api/broadcast/publish HTTP/1.1\r\n")
    assert b"".join(bodies).count(b'name="bench"') == 50 * len(told)


def test_the_publisher_says_when_the_time_is_over() -> None:
    reader = Reader()
    with server(lambda _data, _number: FINE) as port:
        fanout._publish(Address("127.0.0.1", port, "/x/mcp"), reader, 0)  # type: ignore[arg-type]
    assert reader.stdin.getvalue() == "end\n"


def test_the_reading_program_takes_an_order_goes_on_as_it_is_told_and_tells_its_tally(
    few: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Streams() as streams:
        lines = [json.dumps({**order(streams.port), "processor": None}), "1", "end", "never read"]
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
        made: list[fanout.Readers] = []
        original = fanout.Readers

        def make(given: dict[str, Any]) -> fanout.Readers:
            made.append(original(given))
            streams.publish(event(0))
            return made[0]

        monkeypatch.setattr(fanout, "Readers", make)
        fanout.main()
        closed(made[0])
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["ready", "go on"]
    told = json.loads(said[2])
    assert told["processorS"] >= 0
    assert made[0].counts == [1, 1, 1]


@pytest.mark.wire
@pytest.mark.slow
def test_a_whole_round_delivers_every_message_to_every_stream() -> None:
    with own_kernel([]) as target:
        shape = Shape("fanout", connections=1, warm_up_s=0.0, duration_s=0.3)
        row = fanout.run_round(target, shape, Processors())
    assert row["endedPerS"][OK] > 0
    assert row["latencyUs"]["p50"] > 0


def test_a_round_without_a_server_says_why() -> None:
    from kernel.bench.rounds import LoadFailed

    target = Target("x", Address("127.0.0.1", 1, "/x/mcp"))
    with pytest.raises(LoadFailed, match="the load generator ended: ConnectionRefusedError"):
        fanout.run_round(target, Shape("fanout", connections=1), Processors())
