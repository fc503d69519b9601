"""Requests as bytes, and what the stories of a connection start with. Not a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.http.conftest import World

Start = Callable[..., Awaitable[World]]
ANY = frozenset({"GET", "POST", "HEAD"})
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def post(body: bytes, *headers: str, path: str = "/") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(*chunks: bytes, ends: bool = True) -> bytes:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + (b"0\r\n\r\n" if ends else b"")
