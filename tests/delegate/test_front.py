"""A front process's whole call: its file is staged first, its export is saved, and nothing half-made is left."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from kernel.canonical import digest_bytes
from kernel.delegate.delegate import ToolCall
from kernel.delegate.front import Front
from kernel.delegate.limits import DOWNLOAD_BYTES_MAX, DOWNLOAD_FILE_S_MAX, UPLOAD_BYTES_MAX, UPLOAD_S_MAX
from kernel.uploads.staging import upload_source
from tests.delegate.world import BREAK, Asked, Said, World, code_of, open_world, said, tool_result

ID = "20260101120000-abcdefg"
SAFETY = {"writeSafetyGuaranteed": False}
OCTETS = (("Content-Type", "application/octet-stream"),)


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with open_world(monkeypatch) as opened:
        yield opened


async def call(world: World, folder: Path, cancel: trio.Event | None = None, **arguments: Any) -> dict[str, Any]:
    front = Front(world.delegate, here=folder, home=folder / "home")
    params = {"name": "file", "arguments": arguments}
    return await front.call(ToolCall(params, can_write=True, cancel=trio.Event() if cancel is None else cancel))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- uploads -----------------------------------------------------------------------------------------------------
def receipt(name: str, content: bytes) -> Said:
    sha256 = digest_bytes(content)
    source = upload_source(name, sha256)
    return said({"uploadSource": source, "fileName": name, "bytes": len(content), "sha256": sha256})


async def uploads(asked: Asked) -> Said:
    return said(tool_result(asked, arguments=asked.json["params"]["arguments"]))


MISS = said({"error": "upload_source_not_found"}, 404)


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_file_is_asked_for_first_and_sent_only_if_it_is_not_there(
    autojump_clock: MockClock, world: World, tmp_path: Path, is_there: bool
) -> None:
    """R168, R177."""
    (tmp_path / "a.txt").write_bytes(b"bytes")
    stored = receipt("a.txt", b"bytes")
    world.coordinator.on("/transfer/lookup", stored if is_there else MISS)
    world.coordinator.on("/transfer/upload", stored)
    world.coordinator.on("/mcp", uploads)
    told = await call(world, tmp_path, action="upload_asset", localFilePath="a.txt", validateOnly=True)
    source = upload_source("a.txt", digest_bytes(b"bytes"))
    expected = {"action": "upload_asset", "validateOnly": True, "uploadSource": source}
    assert told["structuredContent"]["arguments"] == expected
    assert len(world.coordinator.calls("/transfer/upload")) == (not is_there)
    assert all(asked.headers["authorization"] == "Bearer secret" for asked in world.coordinator.asked)


async def test_a_replay_sends_its_source_and_reads_no_file(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """R185."""
    world.coordinator.on("/mcp", uploads)
    await call(world, tmp_path, action="upload_asset", uploadSource="0" * 64, localFilePath="gone.txt")
    assert [asked.path.rsplit("/", 1)[1] for asked in world.coordinator.asked] == ["mcp"]


@pytest.mark.parametrize(
    ("lookup", "upload", "code"),
    [
        (MISS, said({"message": "full"}, 429), "upload_capacity"),
        (MISS, said({"message": "off"}, 403), "action_disabled"),
        (MISS, BREAK, "write_coordinator_unavailable"),
        (BREAK, BREAK, "write_coordinator_unavailable"),
        (MISS, receipt("b.txt", b"bytes"), "write_coordinator_unavailable"),
        (receipt("a.txt", b"other"), BREAK, "write_coordinator_unavailable"),
    ],
)
async def test_a_file_that_cannot_be_staged_ends_the_call_before_it_is_sent(
    autojump_clock: MockClock, world: World, tmp_path: Path, lookup: Said, upload: Said, code: str
) -> None:
    (tmp_path / "a.txt").write_bytes(b"bytes")
    world.coordinator.on("/transfer/lookup", lookup)
    world.coordinator.on("/transfer/upload", upload)
    told = await call(world, tmp_path, action="upload_asset", localFilePath="a.txt")
    assert (code_of(told), told["structuredContent"]["writeAttempted"]) == (code, False)
    assert world.coordinator.calls("/mcp") == []


async def test_a_slow_lookup_is_a_miss_and_a_slow_upload_ends_the_call(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """R172."""

    async def hangs(_asked: Asked) -> Said:
        await trio.sleep_forever()
        raise AssertionError

    (tmp_path / "a.txt").write_bytes(b"bytes")
    world.coordinator.on("/transfer/lookup", hangs)

    async def trickles(_asked: Asked) -> Said:
        await trio.sleep(30)
        return Said(200, breaks=True)

    world.coordinator.on("/transfer/upload", hangs)
    started = trio.current_time()
    told = await call(world, tmp_path, action="upload_asset", localFilePath="a.txt")
    assert code_of(told) == "write_coordinator_unavailable"
    # The connection's own silence bound ends it before the transfer's.
    assert trio.current_time() - started <= UPLOAD_S_MAX + 5


async def test_a_missing_or_too_large_file_is_refused_here(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    assert code_of(await call(world, tmp_path, action="upload_asset", localFilePath="none")) == "validation_error"
    with (tmp_path / "big").open("wb") as file:
        file.truncate(UPLOAD_BYTES_MAX + 1)
    assert code_of(await call(world, tmp_path, action="upload_asset", localFilePath="big")) == "too_large"
    assert world.coordinator.asked == []


# --- archives ----------------------------------------------------------------------------------------------------
async def exports(asked: Asked) -> Said:
    arguments = asked.json["params"]["arguments"]
    assert "outputPath" not in arguments
    told = {"path": "temp/x.zip", "delivery": arguments["delivery"], "downloadPath": "/temp/x.zip", "safety": SAFETY}
    return said(tool_result(asked, **told))


def file(*pieces: bytes, breaks: bool = False, length: int | None = None) -> Said:
    extra = () if length is None else (("Content-Length", str(length)),)
    return Said(200, pieces, (*OCTETS, *extra), breaks)


async def test_an_archive_is_streamed_to_a_new_file_and_hashed(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """R187, R188."""
    world.coordinator.on("/mcp", exports)
    world.coordinator.on("/api/file/getFile", file(b"one ", b"two"))
    told = (await call(world, tmp_path, action="export_resources", paths=["/data"], outputPath="out.zip"))[
        "structuredContent"
    ]
    target = tmp_path / "out.zip"
    assert target.read_bytes() == b"one two"
    assert target.stat().st_mode & 0o777 == 0o600
    assert (told["outputPath"], told["bytes"]) == (str(target), 7)
    assert told["sha256"] == "sha256:v1:" + hashlib.sha256(b"one two").hexdigest()
    assert told["safety"] == SAFETY
    assert world.coordinator.calls("getFile")[0].json == {"path": "/temp/x.zip"}


async def test_a_lost_answer_is_fetched_and_the_export_saved_all_the_same(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """R249."""
    told = {"delivery": "download", "downloadPath": "/temp/x.zip"}
    kept = {"found": True, "state": "done", "result": {"content": [], "structuredContent": told}}
    world.coordinator.on("/mcp", BREAK)
    world.coordinator.on("/tasks", said(kept))
    world.coordinator.on("/api/file/getFile", file(b"zip"))
    answer = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert answer["structuredContent"]["bytes"] == 3
    assert len(world.coordinator.calls("/mcp")) == 1


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
async def test_an_output_that_is_there_is_not_overwritten_and_nothing_is_asked(
    autojump_clock: MockClock, world: World, tmp_path: Path, kind: str
) -> None:
    """R193."""
    target = tmp_path / "out.zip"
    if kind == "file":
        target.write_bytes(b"mine")
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to(tmp_path / "nowhere")
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert code_of(told) == "conflict"
    assert world.coordinator.asked == []
    assert target.is_symlink() or target.is_dir() or target.read_bytes() == b"mine"


async def test_a_file_that_appears_meanwhile_is_left_alone(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    async def made(asked: Asked) -> Said:
        (tmp_path / "out.zip").write_bytes(b"mine")
        return await exports(asked)

    world.coordinator.on("/mcp", made)
    world.coordinator.on("/api/file/getFile", file(b"zip"))
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert code_of(told) == "local_export_failed"
    assert (tmp_path / "out.zip").read_bytes() == b"mine"
    assert world.coordinator.calls("getFile") == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (file(b"part", breaks=True), "closed too early"),
        (BREAK, "closed too early"),
        (said({"code": 404}, 202), "not there"),
        (said({}, 500), "HTTP 500"),
        (file(b"x", length=DOWNLOAD_BYTES_MAX + 1, breaks=True), "larger"),
    ],
)
async def test_a_broken_download_leaves_nothing_and_does_not_begin_anew(
    autojump_clock: MockClock, world: World, tmp_path: Path, answer: Said, words: str
) -> None:
    """R191, R192."""
    world.coordinator.on("/mcp", exports)
    world.coordinator.on("/api/file/getFile", answer)
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert code_of(told) == "local_export_failed"
    assert words in told["structuredContent"]["error"]["message"]
    assert names_in(tmp_path) == []
    assert len(world.coordinator.calls("getFile")) == 1
    assert len(world.coordinator.calls("/mcp")) == 1


async def test_a_download_that_grows_over_its_bound_is_ended(
    autojump_clock: MockClock, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R189, without 512 MiB of bytes: the count is the core's and has a test there."""
    monkeypatch.setattr("kernel.delegate.exports.Allowance.__init__.__defaults__", (8,))
    world.coordinator.on("/mcp", exports)
    world.coordinator.on("/api/file/getFile", file(b"12345678"), file(b"1234", b"56789"))
    assert code_of(await call(world, tmp_path, action="export_resources", paths=[], outputPath="a")) is None
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="b")
    assert code_of(told) == "local_export_failed"
    assert names_in(tmp_path) == ["a"]


async def test_a_file_has_120_seconds(autojump_clock: MockClock, world: World, tmp_path: Path) -> None:
    """R190."""

    async def slow(_asked: Asked) -> Said:
        await trio.sleep(50)
        return file(b"x", breaks=True)

    async def trickling(stream: trio.abc.Stream) -> None:
        await stream.receive_some(65536)
        await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await stream.send_all(b"1\r\nx\r\n")
            await trio.sleep(10)

    world.coordinator.on("/mcp", exports)
    served = world.coordinator.serve

    async def serve(stream: trio.abc.Stream) -> None:
        if world.coordinator.calls("/mcp"):
            try:
                await trickling(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
        await served(stream)

    world.coordinator.serve = serve  # type: ignore[method-assign]
    started = trio.current_time()
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert code_of(told) == "local_export_failed"
    assert trio.current_time() - started == pytest.approx(DOWNLOAD_FILE_S_MAX)
    assert names_in(tmp_path) == []


async def test_a_cancel_ends_the_transfer_alone(autojump_clock: MockClock, world: World, tmp_path: Path) -> None:
    """R224: the kernel's part is done, and is not asked to stop."""
    cancel = trio.Event()

    async def slow(_asked: Asked) -> Said:
        cancel.set()
        await trio.sleep_forever()
        raise AssertionError

    world.coordinator.on("/mcp", exports)
    world.coordinator.on("/tasks", said({"found": False}))
    world.coordinator.on("/api/file/getFile", slow)
    told = await call(world, tmp_path, cancel, action="export_resources", paths=[], outputPath="out.zip")
    assert code_of(told) == "local_export_cancelled"
    assert told["structuredContent"]["writeAttempted"] is True
    assert names_in(tmp_path) == []
    assert world.coordinator.calls("/tasks") == []


async def test_an_answer_whose_end_is_only_the_connections_is_not_taken_for_a_whole_file(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """Cut short it would look the same."""

    async def endless(stream: trio.abc.Stream) -> None:
        if not world.coordinator.calls("/mcp"):
            await served(stream)
            return
        await stream.receive_some(65536)
        await stream.send_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart of it")
        await stream.aclose()

    served = world.coordinator.serve
    world.coordinator.on("/mcp", exports)
    world.coordinator.serve = endless  # type: ignore[method-assign]
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert "where it ends" in told["structuredContent"]["error"]["message"]
    assert names_in(tmp_path) == []


async def test_a_folder_that_is_not_there_is_said(autojump_clock: MockClock, world: World, tmp_path: Path) -> None:
    world.coordinator.on("/mcp", exports)
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="no/out.zip")
    assert code_of(told) == "local_export_failed"


async def test_an_export_that_failed_there_is_not_saved_here(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    async def fails(asked: Asked) -> Said:
        return said(tool_result(asked, success=False, reason="why"))

    world.coordinator.on("/mcp", fails)
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert told["structuredContent"] == {"success": False, "reason": "why"}
    world.discovery.found = None
    told = await call(world, tmp_path, action="export_resources", paths=[], outputPath="out.zip")
    assert code_of(told) == "write_coordinator_unavailable"


# --- documents ---------------------------------------------------------------------------------------------------
def extracts(*assets: dict[str, Any]) -> Any:
    async def answer(asked: Asked) -> Said:
        told = {"docId": ID, "docName": "Plan", "markdown": "# Plan", "assets": list(assets), "safety": SAFETY}
        return said(tool_result(asked, transport="kernel", delivery="download", **told))

    return answer


async def test_a_document_is_saved_in_a_folder_of_its_own(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    world.coordinator.on("/mcp", extracts({"path": "assets/a.png"}, {"path": "assets/b/c.txt"}))
    world.coordinator.on("/api/file/getFile", file(b"png"), file(b"text"))
    told = (await call(world, tmp_path, action="extract_doc", id=ID, outputDir="out"))["structuredContent"]
    folder = tmp_path / "out" / "Plan-abcdefg"
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == {"Plan.md": b"# Plan", "assets/a.png": b"png", "assets/b/c.txt": b"text"}
    assert told["extractedDir"] == str(folder)
    assert (told["extractedAssetCount"], told["skippedAssetCount"], told["defaultOutputDirUsed"]) == (2, 0, False)
    assert {one["path"]: one["bytes"] for one in told["files"]} == {
        "Plan.md": 6,
        "assets/a.png": 3,
        "assets/b/c.txt": 4,
    }
    assert told["safety"] == SAFETY


async def test_without_a_place_it_goes_to_the_home_folder(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    world.coordinator.on("/mcp", extracts())
    told = (await call(world, tmp_path, action="extract_doc", id=ID))["structuredContent"]
    assert told["outputRoot"] == str(tmp_path / "home" / "siyuan-extracted")
    assert told["defaultOutputDirUsed"] is True


async def test_a_failed_extraction_removes_its_own_folder_and_nothing_else(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """R194."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    world.coordinator.on("/mcp", extracts({"path": "assets/a.png"}, {"path": "assets/b.png"}))
    world.coordinator.on("/api/file/getFile", file(b"png"), said({"code": 404}, 202))
    told = await call(world, tmp_path, action="extract_doc", id=ID, outputDir="out")
    assert code_of(told) == "local_export_failed"
    assert names_in(tmp_path / "out") == ["mine.txt"]


async def test_a_folder_of_an_earlier_extraction_is_left_as_it_is(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    """R193."""
    earlier = tmp_path / "out" / "Plan-abcdefg"
    earlier.mkdir(parents=True)
    (earlier / "Plan.md").write_text("earlier")
    world.coordinator.on("/mcp", extracts())
    told = await call(world, tmp_path, action="extract_doc", id=ID, outputDir="out")
    assert code_of(told) == "local_export_failed"
    assert (earlier / "Plan.md").read_text() == "earlier"


async def test_a_place_that_is_a_file_is_said(autojump_clock: MockClock, world: World, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    world.coordinator.on("/mcp", extracts())
    told = await call(world, tmp_path, action="extract_doc", id=ID, outputDir="out")
    assert code_of(told) == "local_export_failed"


async def test_an_asset_named_as_the_document_does_not_replace_it(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    world.coordinator.on("/mcp", extracts({"path": "Plan.md"}))
    world.coordinator.on("/api/file/getFile", file(b"other"))
    told = await call(world, tmp_path, action="extract_doc", id=ID, outputDir="out")
    assert code_of(told) == "local_export_failed"
    assert names_in(tmp_path / "out") == []
