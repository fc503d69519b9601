"""In front of another SiYuan our address is no kernel of its own: it passes exported files on, and nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from kernel.host.base import HostHttpError, HostUnavailable
from kernel.remote_routes import GET_FILE, exported_file, remote_resolver
from kernel.wire import RecordedWriter, Response, Route, StreamResponse


class Files:
    """A host that serves one file; ``broken``: what happens after its first piece."""

    def __init__(self, pieces: tuple[bytes, ...] = (b"one", b"two"), broken: Exception | None = None) -> None:
        self.pieces, self.broken = pieces, broken
        self.asked: list[str] = []

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        self.asked.append(path)
        for piece in self.pieces:
            yield piece
        if self.broken is not None:
            raise self.broken


async def answered(host: Files, body: Any) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    exchange: Any = SimpleNamespace(request=SimpleNamespace(body=content))
    fake: Any = host
    return await exported_file(fake)(exchange)


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/temp/export/a.zip", "/export/a.zip"),
        ("/temp/export/a b#%.zip", "/export/a%20b%23%25.zip"),
        ("/data/assets/\u540d/x.png", "/assets/%E5%90%8D/x.png"),
    ],
)
async def test_an_exported_file_is_passed_on_piece_by_piece(path: str, served: str) -> None:
    host = Files()
    answer = await answered(host, {"path": path})
    assert isinstance(answer, StreamResponse)
    writer = RecordedWriter()
    await answer.produce(writer)
    assert (answer.status, writer.sent, host.asked) == (200, [b"one", b"two"], [served])


async def test_an_empty_file_is_a_file() -> None:
    answer = await answered(Files(()), {"path": "/data/assets/x"})
    writer = RecordedWriter()
    await answer.produce(writer)
    assert (answer.status, writer.sent) == (200, [])


@pytest.mark.parametrize(
    "body",
    [
        {"path": "/conf/conf.json"},
        {"path": "/temp/export/../../conf/conf.json"},
        {"path": "/temp/export//etc"},
        {"path": "/temp/export/"},
        {"path": "temp/export/a.zip"},
        {"path": 5},
        {},
        [],
        b"{",
    ],
)
async def test_nothing_else_of_the_workspace_is_passed_on(body: Any) -> None:
    host = Files()
    answer = await answered(host, body)
    assert (answer.status, json.loads(answer.body)["code"], host.asked) == (202, 403, [])


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (HostHttpError(404, "none"), 202, 404),
        (HostHttpError(500, "broken"), 502, -1),
        (HostUnavailable("nobody"), 502, -1),
    ],
)
async def test_a_file_that_cannot_be_had_is_an_answer(error: Exception, status: int, code: int) -> None:
    answer = await answered(Files((), error), {"path": "/data/assets/x"})
    assert (answer.status, json.loads(answer.body)["code"]) == (status, code)


async def test_a_transfer_that_breaks_off_is_not_made_whole() -> None:
    answer = await answered(Files((b"one",), HostUnavailable("gone")), {"path": "/data/assets/x"})
    writer = RecordedWriter()
    with pytest.raises(HostUnavailable):
        await answer.produce(writer)
    assert writer.sent == [b"one"]


def test_the_kernels_own_surface_is_off() -> None:
    """Decision 2: who takes our address for the kernel's is told where that is, and writes nowhere."""

    async def handler(exchange: Any) -> Response:
        raise AssertionError

    resolve = remote_resolver("http://notes.test", handler, lambda head: Response(200, (), b"own"))
    for method, path in (("POST", "/api/notebook/createNotebook"), ("POST", "/mcp"), ("GET", "/"), ("GET", GET_FILE)):
        head: Any = SimpleNamespace(method=method, path=path)
        answer = resolve(head)
        assert isinstance(answer, Response), path
        assert (answer.status, "http://notes.test" in answer.body.decode()) == (404, True)
    own: Any = SimpleNamespace(method="GET", path="/api/system/bootProgress")
    assert resolve(own) == Response(200, (), b"own")
    files: Any = SimpleNamespace(method="POST", path=GET_FILE)
    assert isinstance(resolve(files), Route)
