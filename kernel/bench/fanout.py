"""Server-sent events to many streams: every published message goes to each of them. Shell.

The streams are read by a process of their own (this module as a program), the publisher is this one; messages carry the
time at which they were published. Latency is taken from the first message of each read: to look at every one would make
the reader slower than the server.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from kernel.bench.calls import OK, Address
from kernel.bench.client import Asking
from kernel.bench.limits import GRACE_S, RECEIVE_BYTES, WINDOW_S
from kernel.bench.tally import Tally, Window

if TYPE_CHECKING:
    from kernel.bench.rounds import Processors, Shape
    from kernel.bench.targets import Target

STREAMS: Final = 64
_MESSAGES_PER_FORM: Final = 50
_PADDING: Final = b"x" * 180
# A stream may owe its reader 1,024 events; the publisher waits when the slowest is this far behind.
_BEHIND_MAX: Final = 400
_NS: Final = 1_000_000_000
_BOUNDARY: Final = b"bench-boundary"
_MARK: Final = re.compile(rb"data:[ ]?(\d{19})/")


def run_round(target: Target, shape: Shape, processors: Processors) -> dict[str, Any]:
    """One round: as many messages as the streams take. Raises LoadFailed."""
    from kernel.bench.results import round_as_json
    from kernel.bench.rounds import hear, start_program
    from kernel.bench.sampler import processor_s, resident_mib

    begins_ns = time.perf_counter_ns() + _NS
    measure_ns = begins_ns + int(shape.warm_up_s * _NS)
    end_ns = measure_ns + int(shape.duration_s * _NS)
    order = {"host": target.address.host, "port": target.address.port, "measureNs": measure_ns, "endNs": end_ns}
    reader = start_program("kernel.bench.fanout", {**order, "processor": processors.of_worker(0)})
    try:
        hear(reader)
        spent_s = processor_s(target.pid)
        _publish(target.address, reader, end_ns)
        told = json.loads(hear(reader))
        spent_s = processor_s(target.pid) - spent_s
    finally:
        reader.kill()
        reader.wait()
        for stream in (reader.stdin, reader.stdout, reader.stderr):
            if stream is not None:
                stream.close()
    return round_as_json(
        Tally.from_json(told),
        [],
        duration_s=shape.duration_s,
        server_s=spent_s,
        generator_s=told["processorS"],
        resident_mib=resident_mib(target.pid) if target.pid else 0.0,
        looks_missed=0,
    )


def _publish(address: Address, reader: subprocess.Popen[str], end_ns: int) -> None:
    """Post forms of many messages until the end; the reader says how far the slowest stream is."""
    headers = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY.decode()}"}
    published = 0
    assert reader.stdin is not None
    assert reader.stdout is not None
    with Asking(address) as asking:
        while time.perf_counter_ns() < end_ns:
            part = b'--%b\r\nContent-Disposition: form-data; name="bench"\r\n\r\n%019d/%b\r\n' % (
                _BOUNDARY, time.perf_counter_ns(), _PADDING
            )  # fmt: skip
            body = part * _MESSAGES_PER_FORM + b"--" + _BOUNDARY + b"--\r\n"
            asking.ask(address.post("/api/broadcast/publish", body, headers))
            published += _MESSAGES_PER_FORM
            reader.stdin.write(f"{published - _BEHIND_MAX}\n")
            reader.stdin.flush()
            if not reader.stdout.readline().strip():
                return  # the reader is over
        reader.stdin.write("end\n")
        reader.stdin.flush()


class Readers:
    """All streams of this process."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.counts = [0] * STREAMS
        self.tally = Tally()
        self._measure_ns, self._end_ns = int(order["measureNs"]), int(order["endNs"])
        self._selector = selectors.DefaultSelector()
        for index in range(STREAMS):
            sock = socket.create_connection((order["host"], order["port"]), timeout=10)
            sock.sendall(b"GET /es/broadcast/subscribe?channel=bench HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = b""
            while b"\r\n\r\n" not in head:
                piece = sock.recv(RECEIVE_BYTES)
                if not piece:
                    sock.close()
                    raise ConnectionError("a stream was refused")
                head += piece
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ, index)

    def read_until(self, count: int, deadline_ns: int) -> None:
        """Return once every stream has had ``count`` messages, or the time is over."""
        while min(self.counts) < count and time.perf_counter_ns() < deadline_ns:
            self._read(0.05)
        self._read(0.0)

    def _read(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            assert isinstance(key.fileobj, socket.socket)
            data = key.fileobj.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionError("the server ended a stream")
            found = data.count(b"data:")
            self.counts[key.data] += found
            self._count(data, found)

    def _count(self, data: bytes, found: int) -> None:
        now = time.perf_counter_ns()
        if not self._measure_ns <= now < self._end_ns:
            return
        window = self.tally.windows.setdefault(int((now - self._measure_ns) / _NS / WINDOW_S), Window())
        window.counts[OK] = window.counts.get(OK, 0) + found
        self.tally.bytes_read += len(data)
        if (mark := _MARK.search(data)) is not None:
            latency_us = (now - int(mark[1])) // 1000
            self.tally.record("delivery", OK, latency_us)
            window.latency.record(latency_us)


def main() -> None:
    import os

    from kernel.bench.worker import pin, say

    order = json.loads(sys.stdin.readline())
    pin(order["processor"])
    readers = Readers(order)
    say("ready")
    deadline_ns = order["endNs"] + int(GRACE_S * _NS)
    before = os.times()
    for line in sys.stdin:
        if line.strip() == "end":
            break
        readers.read_until(int(line), deadline_ns)
        say("go on")
    after = os.times()
    spent_s = after.user - before.user + after.system - before.system
    say(json.dumps({**readers.tally.as_json(), "processorS": spent_s}))


if __name__ == "__main__":
    main()
