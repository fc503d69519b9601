"""A delegate's disk: reads what shall be uploaded, writes what was exported. Awaits; the rules are in the cores."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import trio

from kernel.delegate import exports, messages, staging
from kernel.delegate.coordinator import Coordinator
from kernel.delegate.exports import Allowance, Download, NotSaved, Saved, Wanted
from kernel.delegate.http_client import ConnectionBroken, HttpClient, NotConnected, Reply
from kernel.delegate.limits import DOWNLOAD_FILE_S_MAX, LOOKUP_S_MAX, UPLOAD_BYTES_MAX, UPLOAD_S_MAX
from kernel.delegate.messages import Post
from kernel.delegate.staging import LocalFile

_GET_FILE: Final = "/api/file/getFile"
_ABSENT: Final = 202  # the kernel's word for a file that is not there
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700


# --- uploads -----------------------------------------------------------------------------------------------------
async def staged(coordinator: Coordinator, path: str) -> str:
    """The ``uploadSource`` of a file of this machine: found there, or sent (R177). Raises ToolError."""
    file = staging.read_as(path, await trio.to_thread.run_sync(_head, path))
    with trio.move_on_after(LOOKUP_S_MAX):
        status, receipt = await _posted(coordinator, staging.lookup(file), file)
        if status == 200:
            return staging.source_of(receipt, file)
    with trio.move_on_after(UPLOAD_S_MAX):
        status, receipt = await _posted(coordinator, staging.upload(file), file)
        if status != 200:
            raise staging.upload_refused(status, receipt, file)
        return staging.source_of(receipt, file)
    raise staging.refused("write_coordinator_unavailable", f"{path} was not taken within {UPLOAD_S_MAX:g} s.")


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(UPLOAD_BYTES_MAX + 1)
    except OSError as error:
        raise staging.refused("validation_error", f"{path} cannot be read: {error.strerror}") from None


async def _posted(coordinator: Coordinator, post: Post, file: LocalFile) -> tuple[int, Any]:
    headers = {**post.headers, **coordinator.headers()}
    try:
        async with HttpClient(coordinator.origin).send("POST", post.path, headers, post.body) as reply:
            return reply.status, messages.read_message(await reply.read())
    except (NotConnected, ConnectionBroken) as error:
        words = f"{file.name} could not be staged: {error}"
        raise staging.refused("write_coordinator_unavailable", words) from None


# --- exports -----------------------------------------------------------------------------------------------------
def check_place(want: Wanted) -> None:
    """An output that is there already is refused before the kernel is asked (R193). Raises ToolError."""
    if want.kind == "archive" and os.path.lexists(want.place):
        raise staging.refused("conflict", f"{want.place} exists already and is not overwritten; nothing was exported.")


async def saved(coordinator: Coordinator, want: Wanted, told: dict[str, Any]) -> dict[str, Any]:
    """Fetch and save an export; the answer with what is on the disk now.

    Whatever ends it early, what this run has made is removed, and nothing else (R191, R194); it does not begin anew
    (R192).

    Raises:
        NotSaved
    """
    if want.kind == "archive":
        return await _saved_archive(coordinator, want, told)
    return await _saved_document(coordinator, want, told)


async def _saved_archive(coordinator: Coordinator, want: Wanted, told: dict[str, Any]) -> dict[str, Any]:
    download = Download(exports.archive_source(told), want.place.name)
    file = await _fetched(coordinator, download, want.place, Allowance())
    return exports.archive_result(told, want.place, file)


async def _saved_document(coordinator: Coordinator, want: Wanted, told: dict[str, Any]) -> dict[str, Any]:
    extraction = exports.extraction_of(told, want.document_id)
    allowance = Allowance()
    folder = want.place / extraction.folder
    try:
        want.place.mkdir(parents=True, exist_ok=True)
        folder.mkdir(_FOLDER_MODE)
    except FileExistsError:
        raise NotSaved(f"{folder} exists already and is not overwritten") from None
    except OSError as error:
        raise NotSaved(f"{folder} cannot be made: {error.strerror}") from None
    try:
        files = [_written(extraction, folder, allowance)]
        for asset in extraction.assets:
            target = folder / asset.target
            target.parent.mkdir(parents=True, exist_ok=True)
            files.append(await _fetched(coordinator, asset, target, allowance))
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NotSaved(f"{folder}: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return exports.document_result(told, want, extraction, files)


def _written(extraction: exports.Extraction, folder: Path, allowance: Allowance) -> Saved:
    allowance.take(len(extraction.markdown))
    with _opened(folder / extraction.markdown_file) as file:
        file.write(extraction.markdown)
    text = Saved(extraction.markdown_file)
    text.add(extraction.markdown)
    return text


async def _fetched(coordinator: Coordinator, download: Download, target: Path, allowance: Allowance) -> Saved:
    """One file, streamed to a path that did not exist; removed again if it does not become whole."""
    try:
        with _opened(target) as file:
            return await _streamed(coordinator, download, file.write, allowance)
    except FileExistsError:
        raise NotSaved(f"{target} exists already and is not overwritten") from None
    except OSError as error:
        _remove(target)
        raise NotSaved(f"{target}: {error.strerror}") from None
    except BaseException:
        _remove(target)
        raise


def _remove(target: Path) -> None:
    # Inline, so that no cancel can come between a broken transfer and the end of its file. A disk that refuses this too
    # must not hide why the transfer broke.
    with suppress(OSError):
        target.unlink(missing_ok=True)


def _opened(target: Path) -> BinaryIO:
    return os.fdopen(
        os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _FILE_MODE), "wb"
    )


async def _streamed(
    coordinator: Coordinator, download: Download, write: Callable[[bytes], Any], allowance: Allowance
) -> Saved:
    post = Post(_GET_FILE, {"Content-Type": "application/json"}, _path_body(download.source))
    file = Saved(download.target)
    with trio.move_on_after(DOWNLOAD_FILE_S_MAX):
        try:
            headers = {**post.headers, **coordinator.headers()}
            async with HttpClient(coordinator.origin).send("POST", post.path, headers, post.body) as reply:
                if reply.status != 200:
                    words = "it is not there" if reply.status == _ABSENT else f"HTTP {reply.status}"
                    raise NotSaved(f"{download.source}: {words}")
                allowance.announce(_announced_bytes(reply, download))
                while piece := await reply.receive():
                    allowance.take(len(piece))
                    file.add(piece)
                    write(piece)
        except (NotConnected, ConnectionBroken) as error:
            raise NotSaved(f"{download.source}: {error}") from None
        return file
    raise NotSaved(f"{download.source} did not come within {DOWNLOAD_FILE_S_MAX:g} s")


def _announced_bytes(reply: Reply, download: Download) -> int | None:
    """How long the file will be; None: its end is marked. Raises NotSaved where a broken file would look like a whole one."""
    length = reply.headers.get("content-length", "")
    if length.isdecimal():
        return int(length)
    if "transfer-encoding" not in reply.headers:
        raise NotSaved(f"{download.source}: the answer does not say where it ends")
    return None


def _path_body(path: str) -> bytes:
    return json.dumps({"path": path}, ensure_ascii=False).encode()
