"""Files that a call brings along: which, under what name, and whose receipt counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.canonical import digest_bytes
from kernel.delegate.limits import UPLOAD_BYTES_MAX
from kernel.delegate.staging import (
    LocalFile,
    local_file_of,
    lookup,
    read_as,
    source_of,
    upload,
    upload_refused,
    with_source,
)
from kernel.errors import ToolError
from kernel.uploads import limits
from kernel.uploads.bodies import is_octets, read_name_header
from kernel.uploads.staging import Staging, read_fingerprint, upload_source

FILE = LocalFile("报告 1.txt", b"bytes", digest_bytes(b"bytes"))
SOURCE = upload_source(FILE.name, FILE.sha256)
RECEIPT = {"uploadSource": SOURCE, "fileName": FILE.name, "bytes": 5, "sha256": FILE.sha256}


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("file", {"action": "upload_asset", "localFilePath": "a.txt"}, "a.txt"),
        ("file", {"action": "upload_asset", "file": "a.txt"}, "a.txt"),
        ("file", {"action": "upload_asset", "localFilePath": "a.txt", "uploadSource": SOURCE}, None),
        ("file", {"action": "upload_asset", "uploadSource": SOURCE, "requestId": "ab12"}, None),
        ("file", {"action": "upload_asset", "localFilePath": 5}, None),
        ("file", {"action": "export_md", "localFilePath": "a.txt"}, None),
        ("fs", {"action": "upload_asset", "localFilePath": "a.txt"}, None),
    ],
)
def test_only_an_upload_without_its_source_brings_a_file(
    tool: str, arguments: dict[str, Any], path: str | None
) -> None:
    """R185: a replay needs the source alone."""
    assert local_file_of(tool, arguments) == path


def test_the_kernel_gets_the_source_and_no_path() -> None:
    given = {"action": "upload_asset", "localFilePath": "/home/me/a", "file": "a", "assetsDirPath": "/assets/"}
    assert with_source(given, SOURCE) == {"action": "upload_asset", "assetsDirPath": "/assets/", "uploadSource": SOURCE}


def test_ten_mebibytes_are_sent_and_one_byte_more_is_not() -> None:
    """R168."""
    assert UPLOAD_BYTES_MAX == limits.FILE_BYTES_MAX
    assert read_as("/x/a.bin", bytes(UPLOAD_BYTES_MAX)).name == "a.bin"
    with pytest.raises(ToolError) as caught:
        read_as("/x/a.bin", bytes(UPLOAD_BYTES_MAX + 1))
    assert (caught.value.code, caught.value.outer["writeAttempted"]) == ("too_large", False)


@pytest.mark.parametrize("path", ["/", "/x/..", '/x/a"b', "/x/a\nb"])
def test_a_name_that_no_asset_can_have_is_refused_here(path: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_as(path, b"")
    assert caught.value.code == "validation_error"


def test_what_is_asked_and_sent_is_what_the_staging_area_reads() -> None:
    """R170, R171, R177: read by the other side's own code."""
    asked = lookup(FILE)
    fingerprint = read_fingerprint(json.loads(asked.body))
    staging = Staging()
    assert staging.lookup(fingerprint, now=0.0) is None
    sent = upload(FILE)
    assert is_octets(sent.headers["Content-Type"])
    name = read_name_header(sent.headers["X-Sisyphus-File-Name"])
    item, _ = staging.stage(name, sent.body, digest_bytes(sent.body), now=0.0)
    assert staging.lookup(fingerprint, now=0.0) is not None
    assert source_of(item.receipt(0), FILE) == SOURCE
    assert (asked.path.rsplit("/", 1)[1], sent.path.rsplit("/", 1)[1]) == ("lookup", "upload")


@pytest.mark.parametrize("change", [{"uploadSource": "0" * 64}, {"fileName": "b"}, {"bytes": 6}, {"sha256": "x"}])
def test_a_receipt_for_another_file_is_not_believed(change: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="another file"):
        source_of({**RECEIPT, **change}, FILE)
    with pytest.raises(ToolError, match="another file"):
        source_of(None, FILE)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "validation_error"),
        (403, "action_disabled"),
        (413, "too_large"),
        (429, "upload_capacity"),
        (408, "write_coordinator_unavailable"),
        (500, "write_coordinator_unavailable"),
    ],
)
def test_a_refused_upload_says_why(status: int, code: str) -> None:
    assert upload_refused(status, {"message": "why"}, FILE).code == code
    assert "why" in upload_refused(status, {"message": "why"}, FILE).message
    assert f"HTTP {status}" in upload_refused(status, None, FILE).message
