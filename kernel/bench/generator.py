"""The load of one process: many connections, one plain select loop. Shell.

No event-loop framework on purpose: a generator that costs as much per request as the server would measure itself. Its
own ceiling and how late it was with its sends stand in every report.

Open loop: operations are intended at times that the server has no say in; one that finds no free connection waits, and
the wait counts. Closed loop: each connection begins its next operation when the last one is over.
"""

from __future__ import annotations

import heapq
import select
import selectors
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kernel.bench.calls import FAILED, OK
from kernel.bench.limits import BACKLOG_MAX, GRACE_S, RECEIVE_BYTES
from kernel.bench.tally import UNFINISHED, Tally
from kernel.bench.wire import BadAnswer, Reply, ReplyReader
from kernel.bench.workloads import Operation, Step

_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Load:
    """How much, and when. Times are nanoseconds of the machine's monotonic clock; ``gap_ns``: to the next intended
    operation (None: closed loop)."""

    start_ns: int
    measure_ns: int
    end_ns: int
    gap_ns: Callable[[], int] | None = None
    operations_max: int | None = None


class _Connection:
    __slots__ = ("begun_ns", "begun_step_ns", "kind", "operation", "out", "patience", "reader", "sock", "step")

    def __init__(self) -> None:
        self.sock: socket.socket | None = None
        self.reader = ReplyReader()
        self.operation: Operation | None = None
        self.kind = ""
        self.begun_ns = 0  # when the running operation was intended
        self.begun_step_ns = 0
        self.step = Step(b"")
        self.out = b""  # what the socket has not taken yet
        self.patience = 0  # which step a deadline belongs to


class Generator:
    """One load on one address. ``begin[i]`` gives the next operation of connection i; ``now_ns``: monotonic."""

    def __init__(
        self,
        host: str,
        port: int,
        begin: list[Callable[[], tuple[str, Operation]]],
        now_ns: Callable[[], int],
    ) -> None:
        self.tally = Tally()
        self._where = (host, port)
        self._begin = begin
        self._load = Load(0, 0, 0)
        self._now_ns = now_ns
        self._selector = selectors.DefaultSelector()
        self._connections = [_Connection() for _ in begin]
        self._free: deque[int] = deque(range(len(begin)))
        self._backlog: deque[int] = deque()
        self._due_ns = 0
        self._deadlines: list[tuple[int, int, int]] = []
        self._left: int | None = None

    def connect(self) -> None:
        """Open every connection. Raises OSError."""
        for index in range(len(self._connections)):
            self._open(index)

    def run(self, load: Load) -> Tally:
        """Give load until its end, and a moment for what is open then."""
        self._load, self._due_ns, self._left = load, load.start_ns, load.operations_max
        try:
            while self._step():
                pass
            self._count_unfinished()
        finally:
            for connection in self._connections:
                if connection.sock is not None:
                    connection.sock.close()
            self._selector.close()
        return self.tally

    # --- the loop ---

    def _step(self) -> bool:
        now = self._now_ns()
        # First of all: an abandoned call frees a connection.
        while self._deadlines and self._deadlines[0][0] <= now:
            _, index, patience = heapq.heappop(self._deadlines)
            if self._connections[index].patience == patience:
                self._abandon(index)
        is_over = now >= self._load.end_ns or self._left == 0
        if not is_over:
            self._intend(now)
        elif (len(self._free) == len(self._connections) and not self._backlog) or now >= self._load.end_ns + int(
            GRACE_S * _NS
        ):
            return False
        while self._backlog and self._free:
            self._start(self._free.popleft(), self._backlog.popleft())
        for key, events in self._wait(self._timeout_s()):
            if events & selectors.EVENT_READ:
                self._read(key.data)
            elif events & selectors.EVENT_WRITE:
                self._write(key.data)
        return True

    def _intend(self, now: int) -> None:
        """What is to begin by now joins the backlog with its intended time."""
        if now < self._load.start_ns:
            return
        gap = self._load.gap_ns
        if gap is None:
            while self._free and self._left != 0 and len(self._backlog) < len(self._free):
                self._take(now)
            return
        while self._due_ns <= now and self._left != 0:
            if len(self._backlog) >= BACKLOG_MAX:
                raise RuntimeError(f"more than {BACKLOG_MAX} operations wait for a connection")
            self._take(self._due_ns)
            self._due_ns += gap()

    def _take(self, intended_ns: int) -> None:
        self._backlog.append(intended_ns)
        if self._left is not None:
            self._left -= 1

    def _timeout_s(self) -> float:
        now = self._now_ns()
        until = self._load.end_ns if now < self._load.end_ns else self._load.end_ns + int(GRACE_S * _NS)
        if now < self._load.start_ns:
            until = self._load.start_ns
        elif self._load.gap_ns is not None and now < self._load.end_ns:
            until = min(until, self._due_ns)
        if self._deadlines:
            until = min(until, self._deadlines[0][0])
        return max(0.0, (until - now) / _NS)

    def _wait(self, timeout_s: float) -> list[tuple[selectors.SelectorKey, int]]:
        # epoll counts whole milliseconds, select microseconds: an open loop would be late by up to one.
        if 0.0 < timeout_s < 0.05 and isinstance(self._selector, _MILLISECOND_SELECTORS):
            select.select([self._selector.fileno()], [], [], timeout_s)
            timeout_s = 0.0
        return self._selector.select(timeout_s)

    # --- one connection ---

    def _open(self, index: int) -> None:
        connection = self._connections[index]
        sock = socket.create_connection(self._where, timeout=10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        connection.sock, connection.reader, connection.out = sock, ReplyReader(), b""
        self._selector.register(sock, selectors.EVENT_READ, index)

    def _close(self, index: int) -> None:
        connection = self._connections[index]
        if connection.sock is not None:
            self._selector.unregister(connection.sock)
            connection.sock.close()
            connection.sock = None

    def _start(self, index: int, intended_ns: int) -> None:
        connection = self._connections[index]
        connection.kind, connection.operation = self._begin[index]()
        connection.begun_ns = intended_ns
        try:
            if connection.sock is None:
                self._open(index)
            self._send(index, next(connection.operation), intended_ns)
        except OSError as error:
            self._lost(index, error)
            return
        if intended_ns >= self._load.measure_ns:
            self.tally.lateness.record((self._now_ns() - intended_ns) // 1000)

    def _send(self, index: int, step: Step, begun_ns: int) -> None:
        connection = self._connections[index]
        connection.step, connection.begun_step_ns = step, begun_ns
        connection.patience += 1
        if step.abandon_after_s:
            due = self._now_ns() + int(step.abandon_after_s * _NS)
            heapq.heappush(self._deadlines, (due, index, connection.patience))
        assert connection.sock is not None
        try:
            sent = connection.sock.send(step.data)
        except BlockingIOError:
            sent = 0
        if sent < len(step.data):
            connection.out = step.data[sent:]
            self._selector.modify(connection.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, index)

    def _write(self, index: int) -> None:
        connection = self._connections[index]
        assert connection.sock is not None
        try:
            connection.out = connection.out[connection.sock.send(connection.out) :]
        except BlockingIOError:
            return
        except OSError as error:
            self._lost(index, error)
            return
        if not connection.out:
            self._selector.modify(connection.sock, selectors.EVENT_READ, index)

    def _read(self, index: int) -> None:
        connection = self._connections[index]
        if connection.sock is None:
            return
        try:
            data = connection.sock.recv(RECEIVE_BYTES)
            reply = connection.reader.feed(data) if data else connection.reader.end()
        except BlockingIOError:
            return
        except (OSError, BadAnswer) as error:
            self._lost(index, error)
            return
        self.tally.bytes_read += len(data)
        if reply is None:
            if not data:
                self._lost(index, ConnectionError("closed by the server"))
            return
        if reply.closes or not data:
            self._close(index)
        if connection.operation is not None:
            self._go_on(index, reply)

    def _go_on(self, index: int, reply: Reply | None) -> None:
        """Give the operation its answer; send its next step, or count it."""
        connection = self._connections[index]
        now = self._now_ns()
        if connection.step.kind and connection.begun_ns >= self._load.measure_ns:
            self.tally.record(connection.step.kind, OK, (now - connection.begun_step_ns) // 1000)
        assert connection.operation is not None
        try:
            step = connection.operation.send(reply)
            if connection.sock is None:
                self._open(index)
            self._send(index, step, now)
        except StopIteration as done:
            self._count(index, str(done.value), now)
        except OSError as error:
            self._lost(index, error)
        except (ValueError, KeyError, TypeError) as error:
            self._blame(f"an answer without {error}")
            self._count(index, FAILED, now)

    def _abandon(self, index: int) -> None:
        self._close(index)
        self._go_on(index, None)

    def _lost(self, index: int, error: Exception) -> None:
        """The connection is gone; an operation on it has failed."""
        self._close(index)
        connection = self._connections[index]
        if connection.operation is not None:
            self._blame(str(error) or type(error).__name__)
            connection.operation.close()
            self._count(index, FAILED, self._now_ns())

    def _blame(self, words: str) -> None:
        self.tally.errors[words] = self.tally.errors.get(words, 0) + 1

    def _count(self, index: int, outcome: str, now: int) -> None:
        connection = self._connections[index]
        connection.operation = None
        connection.patience += 1
        self._free.append(index)
        self._tell(connection.kind, outcome, connection.begun_ns, now)

    def _tell(self, kind: str, outcome: str, intended_ns: int, now: int) -> None:
        latency_us = (now - intended_ns) // 1000
        if intended_ns >= self._load.measure_ns or outcome == UNFINISHED:
            self.tally.record(kind, outcome, latency_us)
        if self._load.measure_ns <= now < self._load.end_ns:
            self.tally.record_window((now - self._load.measure_ns) / _NS, outcome, latency_us)

    def _count_unfinished(self) -> None:
        """What is open at the end has at least its age as latency; leaving it out would flatter the server."""
        now = self._now_ns()
        for connection in self._connections:
            if connection.operation is not None:
                connection.operation.close()
                self._tell(connection.kind, UNFINISHED, connection.begun_ns, now)
        for intended_ns in self._backlog:
            self._tell("waiting", UNFINISHED, intended_ns, now)


_MILLISECOND_SELECTORS: Final[tuple[Any, ...]] = tuple(
    kind for name in ("EpollSelector", "DevpollSelector") if (kind := getattr(selectors, name, None)) is not None
)
