"""Bug cases of the kind ``upload``, over real sockets."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import trio

from tests.cases.conftest import OpenNotes
from tests.support.notes import Notes, code_of, make_notes, preflight, same_notes
from tests.support.process import kernels

pytestmark = pytest.mark.wire

FILE_BYTES_MAX = 10 * 1024 * 1024
NAME = "note 中.bin"


def url(notes: Notes, name: str) -> str:
    return notes.kernel.mcp.removesuffix("/mcp") + f"/transfer/{name}"


def headers(name: str = NAME) -> dict[str, str]:
    return {"Content-Type": "application/octet-stream", "X-Sisyphus-File-Name": quote(name, safe="")}


async def upload(notes: Notes, content: Any, name: str = NAME) -> httpx.Response:
    return await notes.http.post(url(notes, "upload"), content=content, headers=headers(name))


async def commit(notes: Notes, arguments: dict[str, Any]) -> dict[str, Any]:
    return await notes.client.tool("file", "upload_asset", confirm=True, **arguments)


async def staged(notes: Notes) -> dict[str, int]:
    return dict((await notes.health())["uploads"])


async def pieces(total: int) -> AsyncIterator[bytes]:
    """A body without a length, so it is sent in chunks."""
    for start in range(0, total, 65_536):
        yield bytes(min(65_536, total - start))


# The client library drops what it has not sent once it is answered; its own iterators complain of that.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_l05_ten_mebibytes_are_taken_and_one_byte_more_is_not(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        receipt = (await upload(notes, bytes(FILE_BYTES_MAX))).json()
        assert (receipt["fileName"], receipt["bytes"]) == (NAME, FILE_BYTES_MAX)
        assert receipt["sha256"] == "sha256:v1:" + hashlib.sha256(bytes(FILE_BYTES_MAX)).hexdigest()
        assert (await upload(notes, bytes(FILE_BYTES_MAX + 1))).status_code == 413
        again = await upload(notes, pieces(FILE_BYTES_MAX))
        assert (again.status_code, again.json()["uploadSource"]) == (200, receipt["uploadSource"])
        assert (await upload(notes, pieces(FILE_BYTES_MAX + 1))).status_code == 413
        assert await staged(notes) == {"items": 1, "bytes": FILE_BYTES_MAX}


async def test_l05_the_third_upload_is_turned_away_before_its_body(open_notes: OpenNotes) -> None:
    async with open_notes() as notes, trio.open_nursery() as nursery:
        holds = [await held_upload(notes) for _ in range(2)]
        await until_in_flight(notes, 2)
        third = await held_upload(notes)
        with trio.fail_after(90):
            answer = await read_head(third)
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 1" in answer.lower()
        for stream in holds:
            nursery.start_soon(stream.send_all, b"abc")
        for stream in holds:
            assert (await read_head(stream)).startswith(b"HTTP/1.1 200 ")
        assert (await upload(notes, b"abc")).status_code == 200
        for stream in (*holds, third):
            await stream.aclose()
        assert (await notes.health())["uploadsInFlight"] == 0


async def held_upload(notes: Notes) -> trio.SocketStream:
    """An upload of three bytes whose body is not sent yet."""
    parsed = httpx.URL(notes.kernel.url)
    stream = await trio.open_tcp_stream(parsed.host, parsed.port or 80)
    head = (
        f"POST /sisyphus/transfer/upload HTTP/1.1\r\nHost: 127.0.0.1:{parsed.port}\r\nContent-Length: 3\r\n"
        "Content-Type: application/octet-stream\r\nX-Sisyphus-File-Name: held\r\n\r\n"
    )
    await stream.send_all(head.encode())
    return stream


async def read_head(stream: trio.SocketStream) -> bytes:
    read = b""
    while b"\r\n\r\n" not in read and (piece := await stream.receive_some()):
        read += piece
    return read


async def until_in_flight(notes: Notes, count: int) -> None:
    with trio.fail_after(90):
        while (await notes.health())["uploadsInFlight"] != count:  # noqa: ASYNC110 - another process
            await trio.sleep(0.01)


async def test_l05_bad_names_and_bad_base64_are_400_and_the_place_is_free_again(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        for name in ("%E4%B", "..%2Fx", "a%0D%0Ab", "%22", ""):
            bad = {"Content-Type": "application/octet-stream", "X-Sisyphus-File-Name": name}
            answer = await notes.http.post(url(notes, "upload"), content=b"abc", headers=bad)
            assert answer.status_code == 400, name
        for data in ("YR==", "Y", "a b=", "_-=="):
            answer = await notes.http.post(url(notes, "upload"), json={"fileName": "a", "dataBase64": data})
            assert answer.status_code == 400, data
        health = await notes.health()
        assert (health["uploadsInFlight"], health["uploads"]) == (0, {"items": 0, "bytes": 0})
        assert (await upload(notes, b"abc")).status_code == 200


async def test_l05_json_and_binary_are_one_source_and_a_look_up_makes_none(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        wanted = {"fileName": NAME, "sha256": "sha256:v1:" + hashlib.sha256(b"abc").hexdigest(), "bytes": 3}
        assert (await notes.http.post(url(notes, "lookup"), json=wanted)).status_code == 404
        assert (await staged(notes))["items"] == 0
        binary = (await upload(notes, b"abc")).json()
        data = {"fileName": NAME, "dataBase64": base64.b64encode(b"abc").decode()}
        other = (await notes.http.post(url(notes, "upload"), json=data)).json()
        assert other["uploadSource"] == binary["uploadSource"]
        found = await notes.http.post(url(notes, "lookup"), json=wanted)
        assert (found.status_code, found.json()["uploadSource"]) == (200, binary["uploadSource"])
        assert (await notes.http.post(url(notes, "lookup"), json={**wanted, "bytes": 4})).status_code == 404
        assert (await notes.http.post(url(notes, "lookup"), json={**wanted, "sha256": "x"})).status_code == 400
        assert (await staged(notes))["items"] == 1


async def test_l05_new_bytes_cannot_be_committed_under_an_old_request_id(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        old = (await upload(notes, b"old")).json()["uploadSource"]
        arguments = await preflight(notes, "file", "upload_asset", assetsDirPath="/assets/", uploadSource=old)
        new = (await upload(notes, b"new")).json()["uploadSource"]
        assert new != old
        assert code_of(await commit(notes, {**arguments, "uploadSource": new})) == "idempotency_conflict"
        done = (await commit(notes, arguments))["structuredContent"]
        assert done["safety"]["transactionState"] == "committed"
        content = (await notes.http.get(f"{notes.kernel.url}/{quote(done['succMap'][NAME])}")).content
        assert content == b"old"


async def test_l05_after_a_restart_nothing_is_staged_and_nothing_written(tmp_path: Path) -> None:
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        notes = await make_notes(await start(), http)
        source = (await upload(notes, b"abc")).json()["uploadSource"]
        arguments = await preflight(notes, "file", "upload_asset", assetsDirPath="/assets/", uploadSource=source)
        assert await notes.kernel.stop() == 0
        notes = await same_notes(await start(), http, notes.ids)
        code = code_of(await commit(notes, arguments))
        assert code in ("upload_source_expired", "preflight_lease_invalid")
        assert await assets(notes) == []
        assert await notes.kernel.stop() == 0


async def assets(notes: Notes) -> list[str]:
    answer = (await notes.http.post(f"{notes.kernel.url}/api/file/readDir", json={"path": "/data/assets"})).json()
    return [entry["name"] for entry in answer["data"] or []]
