"""The emulated kernel as a note host: what it answers, refuses and serves, without HTTP in between."""

from __future__ import annotations

import errno
from typing import Any

import pytest
import trio

from kernel.host.base import HostApiError, HostError, HostHttpError
from kernel.host.embedded import EmbeddedHost
from kernel.host.limits import STREAM_CHUNK_BYTES
from kernel.siyuan.durable import Durable
from kernel.turns import Turns
from kernel.workspace.files import StorageError
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.fixture
def memory() -> MemoryKernel:
    return MemoryKernel()


@pytest.fixture
def host(memory: MemoryKernel) -> EmbeddedHost:
    return EmbeddedHost(memory.kernel)


async def test_a_call_answers_the_data_of_the_envelope(host: EmbeddedHost) -> None:
    made = await host.call("/api/notebook/createNotebook", {"name": "Box"})
    listed = await host.call("/api/notebook/lsNotebooks")
    assert [box["name"] for box in listed["notebooks"]] == ["Box"]
    assert made["notebook"]["id"] == listed["notebooks"][0]["id"]
    await host.aclose()
    assert await host.call("/api/system/version") == "3.7.3"


@pytest.mark.parametrize(
    ("path", "arguments", "error", "words"),
    [
        ("/api/block/getBlockInfo", {"id": "20200101000000-zzzzzzz"}, HostApiError, ""),
        ("/api/no/such", {}, HostHttpError, "The emulated kernel does not serve /api/no/such"),
        # Not the envelope but an answer of its own: its status counts.
        ("/api/file/getFile", {"path": "/data/none"}, HostHttpError, 'HTTP error: 202 {"code":404'),
    ],
)
async def test_a_refusal_is_an_error_in_the_kernels_own_words(
    host: EmbeddedHost, path: str, arguments: dict[str, Any], error: type[HostError], words: str
) -> None:
    with pytest.raises(error) as caught:
        await host.call(path, arguments)
    assert caught.value.path == path
    assert words in str(caught.value)
    assert not caught.value.is_ambiguous


@pytest.mark.parametrize("is_partial", [False, True])
async def test_only_a_disk_that_failed_in_the_middle_leaves_a_refused_write_in_doubt(
    memory: MemoryKernel, host: EmbeddedHost, monkeypatch: pytest.MonkeyPatch, is_partial: bool
) -> None:
    async def settle(_durable: Durable) -> None:
        raise StorageError("f: input/output error", is_partial=is_partial)

    monkeypatch.setattr(Durable, "settle", settle)
    with pytest.raises(HostApiError, match="write failed: f: input/output error") as caught:
        await host.call("/api/notebook/createNotebook", {"name": "Box"})
    assert caught.value.is_ambiguous is is_partial


async def test_a_file_is_read_as_it_was_written_and_none_where_there_is_none(host: EmbeddedHost) -> None:
    assert await host.read_file("/data/storage/x.json") is None
    await host.write_file("/data/storage/x.json", b"\x00\xff")
    assert await host.read_file("/data/storage/x.json") == b"\x00\xff"
    await host.write_file("/data/storage/x.json", b"")
    assert await host.read_file("data/storage/./x.json") == b""


async def test_a_file_on_its_way_to_the_disk_is_read_as_it_will_be(memory: MemoryKernel, host: EmbeddedHost) -> None:
    await host.write_file("/data/a.txt", b"old")
    files = memory.workspace.files
    files.write("data/a.txt", b"new")
    assert files.is_pending("data/a.txt")
    assert await host.read_file("/data/a.txt") == b"new"


async def test_a_file_that_the_disk_refuses_to_take_is_not_read_either(
    memory: MemoryKernel, host: EmbeddedHost
) -> None:
    """It will never be there: whoever read it would have seen what did not happen."""
    memory.workspace.files.write("data/a.txt", b"new")
    memory.backend.refusal = errno.ENOSPC
    with pytest.raises(HostApiError, match="write failed") as caught:
        await host.read_file("/data/a.txt")
    assert caught.value.path == "/api/file/getFile"
    memory.backend.refusal = 0
    assert await host.read_file("/data/a.txt") is None


@pytest.mark.parametrize(
    ("path", "code"), [("/data", 409), ("", -1), ("../x", 403), ("/data/../../x", 403), ("/data/assets/", 409)]
)
async def test_what_is_no_file_inside_the_workspace_is_refused(host: EmbeddedHost, path: str, code: int) -> None:
    await host.write_file("/data/assets/a.txt", b"x")
    with pytest.raises(HostApiError) as caught:
        await host.read_file(path)
    assert (caught.value.api_code, caught.value.path) == (code, "/api/file/getFile")


@pytest.mark.parametrize(("path", "code"), [("../x", 403), ("/data", 400), ("", 400)])
async def test_a_file_is_written_only_to_where_a_file_can_be(host: EmbeddedHost, path: str, code: int) -> None:
    with pytest.raises(HostApiError) as caught:
        await host.write_file(path, b"x")
    assert (caught.value.api_code, caught.value.path) == (code, "/api/file/putFile")


async def test_an_upload_answers_where_the_asset_is(host: EmbeddedHost) -> None:
    stored = await host.upload_asset("/assets/", "a b.png", b"PNG")
    (path,) = stored["succMap"].values()
    assert stored["succMap"].keys() == {"a b.png"}
    assert path.startswith("assets/a b-")
    assert await host.fetch_static("/" + path.replace(" ", "%20")) == b"PNG"
    with pytest.raises(HostApiError) as caught:
        await host.upload_asset("../../outside", "a.png", b"PNG")
    assert caught.value.path == "/api/asset/upload"


@pytest.mark.parametrize(
    ("static", "stored"),
    [
        ("/assets/a%20b.png?style=thumb", "/data/assets/a b.png"),
        ("/data/assets/c.png", "/data/assets/c.png"),
        ("/export/e.zip", "/temp/export/e.zip"),
        ("/temp/t.txt", "/temp/t.txt"),
    ],
)
async def test_a_static_resource_lies_where_the_kernel_serves_it_from(
    host: EmbeddedHost, static: str, stored: str
) -> None:
    assert await host.fetch_static(static) is None
    with pytest.raises(HostHttpError) as caught:
        [piece async for piece in host.stream_static(static)]
    assert (caught.value.status, caught.value.path) == (404, static)
    content = b"0123456789" * (STREAM_CHUNK_BYTES // 10 + 1)
    await host.write_file(stored, content)
    assert await host.fetch_static(static) == content
    pieces = [piece async for piece in host.stream_static(static)]
    assert [len(piece) for piece in pieces] == [STREAM_CHUNK_BYTES, len(content) - STREAM_CHUNK_BYTES]
    assert b"".join(pieces) == content


async def test_one_moment_lasts_until_something_is_written_or_the_loop_turns(memory: MemoryKernel) -> None:
    turns = Turns()
    host = EmbeddedHost(memory.kernel, turns)
    assert (EmbeddedHost(memory.kernel).moment(), host.moment()) == (None, None)
    trio.lowlevel.add_instrument(turns)
    await trio.lowlevel.checkpoint()
    first = host.moment()
    assert first is not None
    assert host.moment() == first
    memory.workspace.files.write("data/x", b"1")
    second = host.moment()
    assert second != first
    await trio.lowlevel.checkpoint()
    assert host.moment() not in (first, second)
    trio.lowlevel.remove_instrument(turns)


async def test_the_host_is_quiet_when_nothing_is_on_its_way_to_the_disk(
    memory: MemoryKernel, host: EmbeddedHost
) -> None:
    assert host.is_quiet
    memory.workspace.files.write("data/x", b"1")
    assert not host.is_quiet
    await host.write_file("/data/y", b"2")
    assert host.is_quiet
