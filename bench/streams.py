"""Server-sent events to 64 open streams: ``python -m bench.streams [--seconds 5]``.

64 clients subscribe to one broadcast channel; a publisher posts forms of many messages, each of which goes to every
stream. Counted are the events that the clients have read, per second, and the processor time of the kernel per delivery.
The publisher waits for each answer, and for the slowest stream when it is a bound behind: nothing is dropped.
"""

from __future__ import annotations

import argparse
import http.client
import selectors
import signal
import socket
import threading
import time
from typing import Final
from urllib.parse import urlsplit

from bench.__main__ import start_kernel, wait_until_ready
from kernel.bench.sampler import processor_s

STREAMS: Final = 64
MESSAGES_PER_FORM: Final = 50
MESSAGE: Final = b"x" * 200
BEHIND_MAX: Final = 400  # messages; a stream may owe its reader 1,024
_BOUNDARY: Final = b"bench-boundary"
_END_OF_EVENT: Final = b"\n\n"


class Readers:
    """All streams, read by one thread; ``counts`` are events per stream."""

    def __init__(self, host: str, port: int) -> None:
        self.counts = [0] * STREAMS
        self.is_over = False
        self._selector = selectors.DefaultSelector()
        for index in range(STREAMS):
            sock = socket.create_connection((host, port))
            sock.sendall(b"GET /es/broadcast/subscribe?channel=bench HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while _END_OF_EVENT.replace(b"\n", b"\r\n") not in sock.recv(65536):
                pass
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ, index)

    def run(self) -> None:
        while not self.is_over:
            for key, _ in self._selector.select(timeout=0.1):
                data = key.fileobj.recv(262_144)  # type: ignore[union-attr]
                # A message's mark, not the end of an event: that may lie between two reads.
                self.counts[key.data] += data.count(b"data:")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.streams", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    peer = start_kernel()
    try:
        wait_until_ready(peer)
        parts = urlsplit(peer.url)
        assert parts.hostname is not None
        assert parts.port is not None
        readers = Readers(parts.hostname, parts.port)
        thread = threading.Thread(target=readers.run)
        thread.start()
        spent_s, begun = processor_s(peer.process.pid), time.perf_counter()
        published = publish(parts.hostname, parts.port, readers, begun + options.seconds)
        took_s, spent_s = time.perf_counter() - begun, processor_s(peer.process.pid) - spent_s
        readers.is_over = True
        thread.join()
        read = sum(readers.counts)
        print(f"published {published:,} messages to {STREAMS} streams in {took_s:.1f} s; read {read:,} events")
        print(f"{read / took_s:,.0f} deliveries/s, {spent_s / read * 1e6:.2f} µs of the kernel's processor time each")
        print(f"{read / spent_s:,.0f} deliveries per second of processor time")
    finally:
        peer.process.send_signal(signal.SIGTERM)
        peer.process.wait(timeout=30)


def publish(host: str, port: int, readers: Readers, end: float) -> int:
    """Post until ``end``, then wait until everything has been read; how many messages."""
    connection = http.client.HTTPConnection(host, port, timeout=60)
    part = b'--%b\r\nContent-Disposition: form-data; name="bench"\r\n\r\n%b\r\n' % (_BOUNDARY, MESSAGE)
    body = part * MESSAGES_PER_FORM + b"--" + _BOUNDARY + b"--\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY.decode()}"}
    published = 0
    while time.perf_counter() < end:
        connection.request("POST", "/api/broadcast/publish", body, headers)
        assert connection.getresponse().read().startswith(b'{"code":0')
        published += MESSAGES_PER_FORM
        while published - min(readers.counts) > BEHIND_MAX:
            time.sleep(0.001)
    while min(readers.counts) < published and time.perf_counter() < end + 30:
        time.sleep(0.005)
    return published


if __name__ == "__main__":
    main()
