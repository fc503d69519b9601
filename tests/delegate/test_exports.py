"""What is saved of an export, and what is refused before the first byte."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from kernel.delegate.exports import (
    Allowance,
    Download,
    NotSaved,
    Saved,
    Wanted,
    archive_source,
    asking_for_download,
    extraction_of,
    not_saved,
    wanted,
)
from kernel.delegate.limits import DOWNLOAD_BYTES_MAX

HERE, HOME = Path("/here"), Path("/home/me")
ID = "20260101120000-abcdefg"
TOLD: dict[str, Any] = {"delivery": "download", "docId": ID, "docName": "Plan", "markdown": "text", "assets": []}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"action": "export_resources", "outputPath": "x.zip"}, Wanted("archive", HERE / "x.zip")),
        ({"action": "export_resources", "outputPath": "~/x.zip"}, Wanted("archive", HOME / "x.zip")),
        ({"action": "export_resources", "outputPath": "/a/x.zip"}, Wanted("archive", Path("/a/x.zip"))),
        (
            {"action": "export_resources", "outputPath": "x", "delivery": "download"},
            Wanted("archive", HERE / "x"),
        ),
        ({"action": "export_resources"}, None),
        ({"action": "export_resources", "outputPath": "x", "delivery": "inline"}, None),
        ({"action": "export_resources", "outputPath": "x", "validateOnly": True}, None),
        ({"action": "extract_doc", "id": ID}, Wanted("document", HOME / "siyuan-extracted", True, ID)),
        ({"action": "extract_doc", "id": ID, "outputDir": "out"}, Wanted("document", HERE / "out", False, ID)),
        ({"action": "extract_doc", "id": ID, "delivery": "inline"}, None),
        ({"action": "extract_doc", "id": ID, "validateOnly": True}, None),
        ({"action": "export_md", "id": ID}, None),
    ],
)
def test_which_calls_end_on_the_disk_and_where(arguments: dict[str, Any], expected: Wanted | None) -> None:
    assert wanted("file", arguments, HERE, HOME) == expected
    assert wanted("fs", arguments, HERE, HOME) is None


def test_the_kernel_is_asked_for_a_download_and_not_told_where_to() -> None:
    """R187."""
    asked = asking_for_download({"action": "extract_doc", "id": ID, "outputDir": "out", "outputPath": "p"})
    assert asked == {"action": "extract_doc", "id": ID, "delivery": "download"}


@pytest.mark.parametrize(
    "path",
    ["/data/x.zip", "temp/x.zip", "/temp/../data/x", "/temp/a\\b", "/temp/a\nb", "/temp/a?b", "/temp/a:b", None, 5],
)
def test_an_archive_lies_below_temp(path: Any) -> None:
    with pytest.raises(NotSaved):
        archive_source({"delivery": "download", "downloadPath": path})
    with pytest.raises(NotSaved):
        archive_source({"downloadPath": "/temp/x.zip"})
    assert archive_source({"delivery": "download", "downloadPath": "/temp/export/文.zip"}) == "/temp/export/文.zip"


def test_a_document_becomes_a_folder_of_its_own_name_and_id() -> None:
    told = {**TOLD, "assets": [{"path": "assets/a%20b.png"}, {"path": "assets/c/d.txt"}, {"path": "assets/c/d.txt"}]}
    found = extraction_of(told, ID)
    assert (found.folder, found.markdown_file, found.markdown) == ("Plan-abcdefg", "Plan.md", b"text")
    assert found.assets == (
        Download("/data/assets/a%20b.png", "assets/a%20b.png"),
        Download("/data/assets/c/d.txt", "assets/c/d.txt"),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"delivery": "inline"},
        {"docId": "20260101120000-0000000"},
        {"markdown": None},
        {"assets": None},
        {"docName": None},
        {"docName": ""},
        {"docName": ".."},
        {"docName": "a/b"},
        {"docName": 'a"b'},
        {"docName": "a\\b"},
        {"docName": "x" * 256},
        {"assets": [{"path": "assets/x.png", "error": "unreadable"}]},
        {"assets": ["assets/x.png"]},
        {"assets": [{}]},
        *(
            {"assets": [{"path": path}]}
            for path in (
                "../x",
                "a/../x",
                "a/..",
                "/etc/passwd",
                "",
                "a//b",
                "./a",
                "a\\b",
                "C:/x",
                "a?b",
                "a#b",
                "a\x00b",
            )
        ),
    ],
)
def test_a_name_that_could_lead_elsewhere_or_a_missing_part_stops_it_before_anything_is_made(
    change: dict[str, Any],
) -> None:
    with pytest.raises(NotSaved):
        extraction_of({**TOLD, **change}, ID)


def test_512_mebibytes_fit_and_one_byte_more_does_not() -> None:
    """R189."""
    allowance = Allowance()
    allowance.announce(None)
    allowance.announce(DOWNLOAD_BYTES_MAX)
    allowance.take(DOWNLOAD_BYTES_MAX - 1)
    allowance.take(1)
    with pytest.raises(NotSaved, match="larger"):
        allowance.take(1)
    with pytest.raises(NotSaved, match="larger"):
        Allowance().announce(DOWNLOAD_BYTES_MAX + 1)


def test_a_file_is_hashed_as_it_comes() -> None:
    """R188, R58: whole, with its prefix."""
    file = Saved("a.txt")
    for piece in (b"one ", b"two"):
        file.add(piece)
    digest = hashlib.sha256(b"one two").hexdigest()
    assert file.facts() == {"path": "a.txt", "bytes": 7, "sha256": f"sha256:v1:{digest}"}


@pytest.mark.parametrize(("is_cancelled", "code"), [(False, "local_export_failed"), (True, "local_export_cancelled")])
def test_an_export_that_was_not_saved_says_that_it_was_made(is_cancelled: bool, code: str) -> None:
    safety = {"writeSafetyGuaranteed": False}
    error = not_saved(NotSaved("the disk is full"), {"safety": safety}, is_cancelled=is_cancelled)
    assert error.code == code
    assert error.payload()["writeAttempted"] is True
    assert error.payload()["safety"] == safety
    assert "safety" not in not_saved(NotSaved("x"), {}).payload()
