"""The small client on real sockets: one connection each, and whether anything was sent."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from kernel.delegate.http_client import ConnectionBroken, HttpClient, NotConnected
from kernel.delegate.limits import CHUNK_BYTES, SILENCE_S_MAX
from kernel.host.base import HostHttpError, HostUnavailable
from kernel.host.remote import RemoteHost

Serve = Callable[[trio.SocketStream], Awaitable[None]]
# An authority of the tests' own, and its certificate for localhost and 127.0.0.1; both until 2120.
CERTIFICATES = Path(__file__).parents[1] / "support" / "certificates"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[HttpClient]:
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        port = listeners[0].socket.getsockname()[1]
        yield HttpClient(f"http://127.0.0.1:{port}")
        nursery.cancel_scope.cancel()


def answering(*pieces: bytes) -> tuple[Serve, list[bytes]]:
    seen: list[bytes] = []

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            seen.append(bytes(await stream.receive_some(65536)))
            for piece in pieces:
                await stream.send_all(piece)

    return serve, seen


async def fetch(client: HttpClient, body: bytes = b"{}", bytes_max: int = 1000) -> bytes:
    async with client.send("POST", "/p", {"X-Own": "1"}, body) as reply:
        return await reply.read(bytes_max)


async def test_a_request_is_whole_and_says_that_the_connection_ends() -> None:
    serve, seen = answering(HEAD, b"Content-Length: 2\r\n\r\n", b"{", b"}")
    async with server(serve) as client:
        assert await fetch(client) == b"{}"
    head = seen[0].decode().lower()
    assert head.startswith("post /p http/1.1\r\n")
    for line in ("host: 127.0.0.1:", "connection: close", "content-length: 2", "x-own: 1", "accept-encoding: identity"):
        assert f"\r\n{line}" in head
    assert head.endswith("\r\n\r\n{}")


async def test_a_get_brings_no_body_and_an_interim_answer_is_passed_over() -> None:
    serve, seen = answering(b"HTTP/1.1 100 Continue\r\n\r\n", HEAD, b"Content-Length: 0\r\n\r\n")
    async with server(serve) as client, client.send("GET", "/", {}) as reply:
        assert (reply.status, await reply.read()) == (200, b"")
    assert b"content-length" not in seen[0].lower()


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ((), "closed too early"),
        ((b"SSH-2.0-OpenSSH\r\n\r\n",), "no HTTP"),
        ((HEAD, b"Content-Length: 9\r\n\r\n{"), "closed too early"),
        ((HEAD, b"Content-Length: 2000\r\n\r\n" + b"x" * 2000), "longer than 1000"),
    ],
)
async def test_an_answer_that_is_not_whole_leaves_the_request_uncertain(pieces: tuple[bytes, ...], words: str) -> None:
    serve, _ = answering(*pieces)
    async with server(serve) as client:
        with pytest.raises(ConnectionBroken, match=words):
            await fetch(client)


async def test_a_refusal_that_comes_before_the_body_is_read_is_heard() -> None:
    """A server may answer and close while the body still comes."""

    async def serve(stream: trio.SocketStream) -> None:
        await stream.receive_some(1024)
        await stream.send_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await stream.send_eof()
        while await stream.receive_some(1 << 20):
            pass

    async with server(serve) as client, client.send("POST", "/", {}, bytes(1 << 20)) as reply:
        assert reply.status == 413


async def test_nobody_there_means_nothing_sent() -> None:
    with trio.socket.socket() as free:
        await free.bind(("127.0.0.1", 0))
        client = HttpClient(f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(NotConnected, match="does not answer"):
            await fetch(client)
    with pytest.raises(NotConnected):
        await fetch(HttpClient("http://name.invalid:1"))


async def test_a_header_that_no_header_can_be_is_not_sent() -> None:
    serve, seen = answering()
    async with server(serve) as client:
        with pytest.raises(NotConnected, match="cannot be written"):
            async with client.send("POST", "/", {"Authorization": "Bearer a\nb"}):
                raise AssertionError
    assert seen in ([], [b""])


async def test_a_plain_server_behind_https_is_nobody() -> None:
    serve, _ = answering(b"HTTP/1.1 200 OK\r\n\r\n")
    async with server(serve) as client:
        with pytest.raises(NotConnected):
            await fetch(HttpClient(client.origin.replace("http:", "https:")))


async def test_a_server_that_takes_nothing_is_given_up(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deaf(trio.abc.Stream):
        async def send_all(self, data: bytes | bytearray | memoryview) -> None:
            await trio.sleep_forever()

        async def wait_send_all_might_not_block(self) -> None:
            await trio.sleep_forever()

        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            raise AssertionError

        async def aclose(self) -> None:
            return

    async def deaf(host: str, port: int) -> trio.abc.Stream:
        return Deaf()

    monkeypatch.setattr("trio.open_tcp_stream", deaf)
    began = trio.current_time()
    with pytest.raises(ConnectionBroken, match="nothing was taken for 60 s"):
        await fetch(HttpClient("http://127.0.0.1:1"), bytes(CHUNK_BYTES + 1))
    assert trio.current_time() - began == pytest.approx(SILENCE_S_MAX)


# --- TLS ---
@asynccontextmanager
async def tls_server(serve: Serve) -> AsyncIterator[HttpClient]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATES / "server.pem")

    async def secured(stream: trio.SocketStream) -> None:
        try:
            await serve(trio.SSLStream(stream, context, server_side=True, https_compatible=True))  # type: ignore[arg-type]
        except trio.BrokenResourceError:
            return

    async with server(secured) as client:
        yield HttpClient(client.origin.replace("http:", "https:"))


async def test_a_server_behind_tls_is_believed_by_its_authority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))
    body = b"x" * (3 * CHUNK_BYTES)
    taken = bytearray()

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            while len(taken) < len(body):
                taken.extend(await stream.receive_some(CHUNK_BYTES))
            for piece in (HEAD, b"Content-Length: 2\r\n\r\n", b"{", b"}"):
                await stream.send_all(piece)

    async with tls_server(serve) as client:
        assert await fetch(client, body) == b"{}"
        remote = RemoteHost(client.origin)
        taken.clear()
        with pytest.raises(HostHttpError, match="Invalid SiYuan API response"):
            await remote.call("/api/block/updateBlock", {"data": "x" * len(body)})
        await remote.aclose()
    assert bytes(taken).startswith(b"POST /api/block/updateBlock HTTP/1.1")


async def test_a_server_behind_tls_that_nobody_vouches_for_gets_nothing() -> None:
    serve, seen = answering(HEAD, b"Content-Length: 2\r\n\r\n{}")
    async with tls_server(serve) as client:
        with pytest.raises(NotConnected, match="certificate"):
            await fetch(client)
        remote = RemoteHost(client.origin, retry_waits_s=())
        with pytest.raises(HostUnavailable, match="certificate verify failed") as caught:
            await remote.call("/api/block/updateBlock", {})
        assert not caught.value.is_ambiguous
        await remote.aclose()
    assert b"POST" not in b"".join(seen)


async def test_a_certificate_is_for_its_own_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))
    serve, seen = answering(HEAD, b"Content-Length: 2\r\n\r\n{}")
    async with tls_server(serve) as client:
        other = client.origin.replace("127.0.0.1", "127.0.0.2")
        with pytest.raises(NotConnected):
            await fetch(HttpClient(other))
    assert b"POST" not in b"".join(seen)


async def test_a_connection_that_is_not_made_in_time_is_none(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(host: str, port: int) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr("trio.open_tcp_stream", hangs)
    with pytest.raises(NotConnected, match="not within 5 s"):
        await fetch(HttpClient("http://127.0.0.1:1"))
