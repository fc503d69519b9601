"""Uploads over a real process: preflight, commit, replay, expiry, sizes and switches (R167-R186)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kernel.plugin_routes import LONG_PREFIX
from tests.cases.test_uploads import NAME, assets, commit, headers, staged, upload, url
from tests.support.notes import STORAGE, Notes, code_of, make_notes, preflight
from tests.support.process import running_kernel

pytestmark = pytest.mark.wire

UPLOAD = "asset/upload"


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with (
        running_kernel(tmp_path / "workspace", "--emulator-controls") as kernel,
        httpx.AsyncClient(timeout=90) as http,
    ):
        yield await make_notes(kernel, http)


async def checked(notes: Notes, content: bytes, **more: Any) -> dict[str, Any]:
    """Stage and preflight: the arguments of the commit."""
    source = (await upload(notes, content)).json()["uploadSource"]
    return await preflight(notes, "file", "upload_asset", assetsDirPath="/assets/", uploadSource=source, **more)


async def test_a_preflight_tells_source_and_size_and_takes_the_source_hash(notes: Notes) -> None:
    receipt = (await upload(notes, b"abc")).json()
    told = await notes.client.tool("file", "upload_asset", uploadSource=receipt["uploadSource"], validateOnly=True)
    told = told["structuredContent"]
    assert (told["uploadSource"], told["sourceSize"]) == (receipt["uploadSource"], 3)
    assert told["preconditionField"] == "expectedSourceHash"
    assert told["targetCount"] == 1
    assert await assets(notes) == []


async def test_an_upload_is_written_once_and_replayed_by_its_identifier_alone(notes: Notes) -> None:
    arguments = await checked(notes, b"abc")
    await notes.watch(UPLOAD)
    done = (await commit(notes, arguments))["structuredContent"]
    assert done["uploadedFileName"] == NAME
    assert done["safety"]["transactionState"] == "committed"
    assert len(await assets(notes)) == 1
    await notes.advance(11 * 60)  # the staged bytes are gone; the replay does not need them
    assert (await staged(notes))["items"] == 0
    again = (await commit(notes, arguments))["structuredContent"]
    assert (again["replayed"], again["requestId"]) == (True, arguments["requestId"])
    assert await notes.count(UPLOAD) == 1
    assert len(await assets(notes)) == 1


async def test_an_expired_source_writes_nothing_and_says_so(notes: Notes) -> None:
    arguments = await checked(notes, b"abc")
    await notes.advance(9 * 60)
    assert (await upload(notes, b"abc")).status_code == 200  # staging again keeps it
    await notes.advance(9 * 60)
    assert (await staged(notes))["items"] == 1
    await notes.advance(2 * 60)
    result = await notes.client.tool("file", "upload_asset", validateOnly=True, uploadSource=arguments["uploadSource"])
    assert code_of(result) == "upload_source_expired"
    assert await assets(notes) == []


async def test_a_local_path_is_refused_before_any_preflight_or_id_is_looked_at(notes: Notes) -> None:
    for more in ({"validateOnly": True}, {"requestId": "abcd", "expectedSourceHash": "abcd"}, {"confirm": True}):
        result = await notes.client.tool("file", "upload_asset", localFilePath="/etc/hostname", **more)
        assert code_of(result) == "kernel_local_file_unavailable", more
        assert result["structuredContent"]["writeAttempted"] is False


async def test_a_large_file_is_not_uploaded_before_its_user_agrees(notes: Notes) -> None:
    await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps({"file": {"uploadLargeFileThresholdMB": 1}}))
    content = bytes(1024 * 1024 + 1)
    arguments = await checked(notes, content)
    told = (await commit(notes, arguments))["structuredContent"]
    assert (told["success"], told["reason"], told["thresholdMB"]) == (False, "file_too_large", 1)
    assert told["safety"]["transactionState"] == "no_change"
    assert told["safety"]["writeExecuted"] is False
    assert await assets(notes) == []
    arguments = await checked(notes, content, confirmLargeFile=True)
    assert (await commit(notes, arguments))["structuredContent"]["largeFileConfirmed"] is True
    assert len(await assets(notes)) == 1


async def test_an_upload_whose_answer_was_lost_is_in_doubt_and_not_repeated(notes: Notes) -> None:
    arguments = await checked(notes, b"abc")
    await notes.fault(f"host.after:/api/{UPLOAD}", "drop")
    assert code_of(await commit(notes, arguments)) == "outcome_unknown"
    assert code_of(await commit(notes, arguments)) == "outcome_unknown"
    assert len(await assets(notes)) == 1


async def test_both_prefixes_share_one_staging_area(notes: Notes) -> None:
    long = notes.kernel.url + LONG_PREFIX + "/transfer/upload"
    first = (await notes.http.post(long, content=b"abc", headers=headers())).json()
    assert (await upload(notes, b"abc")).json()["uploadSource"] == first["uploadSource"]
    assert await staged(notes) == {"items": 1, "bytes": 3}


async def test_routes_take_posts_with_the_kernels_credential_and_the_action_on(notes: Notes) -> None:
    wrong = {"Authorization": "Token wrong"}
    for name in ("upload", "lookup"):
        assert (await notes.http.get(url(notes, name))).status_code == 405
        assert (await notes.http.post(url(notes, name), headers=wrong)).status_code == 401
    switched_off = {"file": {"actions": {"upload_asset": False}}}
    await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps(switched_off))
    assert (await upload(notes, b"abc")).status_code == 403
    assert (await notes.http.post(url(notes, "lookup"), json={})).status_code == 403


async def test_a_full_staging_area_says_when_to_come_again(notes: Notes) -> None:
    for letter in b"abc":
        assert (await upload(notes, bytes([letter]) * 10 * 1024 * 1024)).status_code == 200
    full = await upload(notes, bytes(2 * 1024 * 1024 + 1))
    assert (full.status_code, full.headers["retry-after"]) == (429, "1")
    assert (await upload(notes, bytes(2 * 1024 * 1024))).status_code == 200
    await notes.advance(10 * 60 + 1)
    assert (await upload(notes, b"room")).status_code == 200


@pytest.mark.parametrize(
    ("point", "do", "status"),
    [("http.request.read", "fail", 503), ("http.answer.before", "fail", 503), ("http.request.read", "drop", None)],
)
async def test_faults_strike_at_the_edges_of_http(notes: Notes, point: str, do: str, status: int | None) -> None:
    rest: dict[str, Any] = {} if status is None else {"status": status, "message": "planned"}
    await notes.fault(point, do, **rest)
    if status is None:
        with pytest.raises(httpx.HTTPError):
            await upload(notes, b"abc")
    else:
        assert (await upload(notes, b"abc")).status_code == status
    assert (await staged(notes))["items"] == (1 if point == "http.answer.before" else 0)
