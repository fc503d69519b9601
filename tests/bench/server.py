"""A server of a few lines, for what is given load. Not a test."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Handle = Callable[[bytes, int], bytes | None]


@contextmanager
def server(handle: Handle) -> Iterator[int]:
    """``handle(request, number)`` gives the answer's bytes; None closes the connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    counter = iter(range(1_000_000))

    def serve(sock: socket.socket) -> None:
        with sock:
            while data := _received(sock):
                answer = handle(data, next(counter))
                if answer is None:
                    _end(sock)
                    return
                try:
                    sock.sendall(answer)
                except OSError:
                    return

    def accept() -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _end(sock: socket.socket) -> None:
    """Close in order: with a piece of the request unread, the close would be a reset."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
    while _received(sock):
        pass


def _received(sock: socket.socket) -> bytes:
    try:
        return sock.recv(65536)
    except OSError:
        return b""
