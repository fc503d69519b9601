"""The staging area: what is kept, for how long, under which identifier, and what a look-up may find."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from kernel.uploads.limits import FILE_BYTES_MAX, FILE_NAME_CHARS_MAX, ITEM_TTL_S, ITEMS_MAX, TOTAL_BYTES_MAX
from kernel.uploads.staging import (
    Fingerprint,
    Staging,
    StagingFull,
    UploadInvalid,
    check_file_name,
    content_digest,
    read_fingerprint,
    upload_source,
)

HEX = hashlib.sha256(b"abc").hexdigest()


def fingerprint(content: bytes, name: str = "a.bin") -> Fingerprint:
    return Fingerprint(name, content_digest(hashlib.sha256(content).hexdigest()), len(content))


def stage(staging: Staging, content: bytes, name: str = "a.bin", *, now: float = 0) -> str:
    item, expires_at = staging.stage(name, content, fingerprint(content).digest, now=now)
    assert expires_at == now + ITEM_TTL_S
    return item.upload_source


# --- names and fingerprints ---


@pytest.mark.parametrize(
    "name", ["a", "note 中.bin", "x" * FILE_NAME_CHARS_MAX, "...", ".hidden", "50% off.png", "🐶.png"]
)
def test_a_plain_file_name_is_taken(name: str) -> None:
    assert check_file_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "x" * (FILE_NAME_CHARS_MAX + 1),
        "a/b",
        "..\\x",
        'a"b',
        "a\r\nb",
        "a\x00",
        "a\x7f",
        "\ud800",
        7,
        None,
    ],
)
def test_a_name_that_could_mean_more_than_a_file_is_refused(name: object) -> None:
    with pytest.raises(UploadInvalid):
        check_file_name(name)


@pytest.mark.parametrize("sha256", [HEX, "sha256:v1:" + HEX])
def test_a_fingerprint_is_name_digest_and_size(sha256: str) -> None:
    given = {"fileName": "a.bin", "sha256": sha256, "bytes": 3, "more": 1}
    assert read_fingerprint(given) == fingerprint(b"abc")


@pytest.mark.parametrize(
    "change",
    [
        {"fileName": ".."},
        {"fileName": None},
        {"sha256": HEX[:-1]},
        {"sha256": HEX.upper()},
        {"sha256": "sha256:v2:" + HEX},
        {"sha256": 7},
        {"bytes": -1},
        {"bytes": 3.0},
        {"bytes": True},
        {"bytes": "3"},
    ],
)
def test_a_malformed_fingerprint_is_an_error_and_no_miss(change: dict[str, Any]) -> None:
    with pytest.raises(UploadInvalid):
        read_fingerprint({"fileName": "a.bin", "sha256": HEX, "bytes": 3, **change})


@pytest.mark.parametrize("given", [None, [], "text", 7])
def test_a_fingerprint_is_an_object(given: object) -> None:
    with pytest.raises(UploadInvalid):
        read_fingerprint(given)


# --- identity ---


def test_the_identifier_is_the_digest_of_name_and_content_digest() -> None:
    text = json.dumps({"fileName": "a.bin", "hash": f"sha256:v1:{HEX}"}, separators=(",", ":"))
    assert upload_source("a.bin", f"sha256:v1:{HEX}") == hashlib.sha256(text.encode()).hexdigest()


def test_another_name_or_other_bytes_are_another_source() -> None:
    staging = Staging()
    sources = {stage(staging, b"abc"), stage(staging, b"abd"), stage(staging, b"abc", "b.bin")}
    assert len(sources) == 3
    assert stage(staging, b"abc") in sources
    assert staging.statistics(now=0) == {"items": 3, "bytes": 9}


# --- keeping ---


def test_a_staged_file_is_gone_after_ten_minutes() -> None:
    staging = Staging()
    source = stage(staging, b"abc")
    found = staging.find(source, now=ITEM_TTL_S - 0.001)
    assert found is not None
    assert (found.content, found.file_name) == (b"abc", "a.bin")
    assert staging.find(source, now=ITEM_TTL_S) is None
    assert staging.statistics(now=ITEM_TTL_S) == {"items": 0, "bytes": 0}


def test_staging_again_and_looking_up_keep_it_longer_and_using_it_does_not() -> None:
    staging = Staging()
    source = stage(staging, b"abc")
    stage(staging, b"abc", now=300)
    assert staging.lookup(fingerprint(b"abc"), now=600) is not None
    assert staging.find(source, now=1100) is not None
    assert staging.find(source, now=1200) is None


def test_the_oldest_expiry_is_found_whatever_was_refreshed_meanwhile() -> None:
    staging = Staging()
    first, second = stage(staging, b"1", now=0), stage(staging, b"2", now=1)
    stage(staging, b"1", now=2)
    assert staging.find(second, now=ITEM_TTL_S + 1) is None
    assert staging.find(first, now=ITEM_TTL_S + 1) is not None


def test_a_look_up_finds_the_whole_fingerprint_only_and_makes_nothing() -> None:
    staging = Staging()
    assert staging.lookup(fingerprint(b"abc"), now=0) is None
    stage(staging, b"abc")
    digest = fingerprint(b"abc").digest
    assert staging.lookup(Fingerprint("b.bin", digest, 3), now=0) is None
    assert staging.lookup(Fingerprint("a.bin", digest, 4), now=0) is None
    assert staging.lookup(fingerprint(b"abd"), now=0) is None
    assert staging.lookup(fingerprint(b"abc"), now=0) is not None
    assert staging.statistics(now=0) == {"items": 1, "bytes": 3}


def test_64_files_are_held_and_the_65th_is_refused_until_one_expires() -> None:
    staging = Staging()
    for number in range(ITEMS_MAX):
        stage(staging, b"%d" % number, now=0 if number == 0 else 1)
    with pytest.raises(StagingFull):
        stage(staging, b"more", now=1)
    stage(staging, b"5", now=1)  # the same file again has its place
    stage(staging, b"more", now=ITEM_TTL_S)
    assert staging.statistics(now=ITEM_TTL_S)["items"] == ITEMS_MAX


def test_32_mebibytes_are_held_and_one_byte_more_is_refused() -> None:
    staging = Staging()
    for letter in (b"a", b"b", b"c"):
        stage(staging, letter * FILE_BYTES_MAX)
    stage(staging, b"d" * (TOTAL_BYTES_MAX - 3 * FILE_BYTES_MAX))
    with pytest.raises(StagingFull):
        stage(staging, b"e")
    assert staging.statistics(now=0) == {"items": 4, "bytes": TOTAL_BYTES_MAX}


def test_a_receipt_tells_source_name_size_digest_and_expiry() -> None:
    staging = Staging()
    item, _ = staging.stage("a.bin", b"abc", fingerprint(b"abc").digest, now=0)
    assert item.receipt(7) == {
        "uploadSource": item.upload_source,
        "fileName": "a.bin",
        "bytes": 3,
        "sha256": f"sha256:v1:{HEX}",
        "expiresAt": 7,
    }
