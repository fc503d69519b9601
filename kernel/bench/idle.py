"""Connections that are open and say nothing. Shell."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kernel.bench.targets import Target
from kernel.limits import OTHER_FILES_MAX
from kernel.open_files import raise_file_limit


class Idle:
    """``asked`` connections were wanted, ``opened`` came about; ``held`` counts those that the server keeps now."""

    def __init__(self, asked: int) -> None:
        self.asked = asked
        self.sockets: list[socket.socket] = []

    @property
    def opened(self) -> int:
        return len(self.sockets)

    def held(self) -> int:
        """A connection on which something has arrived (a refusal, the end) is kept no longer."""
        return sum(map(_is_quiet, self.sockets))


@contextmanager
def idle_connections(target: Target, count: int) -> Iterator[Idle]:
    """Open up to ``count`` connections, as many as this process may have, and close them at the end."""
    raise_file_limit(count + OTHER_FILES_MAX)
    idle = Idle(count)
    try:
        for _ in range(count):
            try:
                sock = socket.create_connection((target.address.host, target.address.port), timeout=5)
            except OSError:
                break  # the server's backlog or our own limit: the report says how many there are
            sock.setblocking(False)
            idle.sockets.append(sock)
        yield idle
    finally:
        for sock in idle.sockets:
            sock.close()


def _is_quiet(sock: socket.socket) -> bool:
    try:
        sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
