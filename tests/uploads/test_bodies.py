"""What an upload carries: header names, JSON bodies, strict base64."""

from __future__ import annotations

import base64
import json

import pytest

from kernel.uploads.bodies import is_octets, read_json_upload, read_name_header
from kernel.uploads.limits import BASE64_CHARS_MAX, FILE_BYTES_MAX
from kernel.uploads.staging import UploadInvalid, UploadTooLarge


def body(name: object, data: object) -> bytes:
    return json.dumps({"fileName": name, "dataBase64": data}).encode()


@pytest.mark.parametrize(
    ("value", "is_file"),
    [
        ("application/octet-stream", True),
        ("Application/Octet-Stream; charset=binary", True),
        ("application/json", False),
        ("", False),
        (None, False),
    ],
)
def test_only_octets_are_the_file_itself(value: str | None, is_file: bool) -> None:
    assert is_octets(value) == is_file


@pytest.mark.parametrize(
    ("value", "name"),
    [("note%20%E4%B8%AD.bin", "note 中.bin"), ("a+b.txt", "a+b.txt"), ("100%25.txt", "100%.txt"), ("a.txt", "a.txt")],
)
def test_the_header_name_is_percent_decoded(value: str, name: str) -> None:
    assert read_name_header(value) == name


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "%E4%B",
        "%E4%B8",
        "%",
        "%zz",
        "..%2Fx",
        "%2e%2e",
        "a%0D%0Ab",
        "a%00",
        "%ED%A0%80",
        "n\xf6te.txt",
        "%22",
    ],
)
def test_a_broken_or_dangerous_header_name_is_refused(value: str | None) -> None:
    with pytest.raises(UploadInvalid):
        read_name_header(value)


def test_a_json_upload_gives_name_and_bytes() -> None:
    assert read_json_upload(body("中.bin", "YWJj")) == ("中.bin", b"abc")
    assert read_json_upload(body("empty", "")) == ("empty", b"")


@pytest.mark.parametrize(
    "data",
    ["YR==", "YQ", "YQ=", "YQ==\n", " YQ==", "Y Q==", "YQ==YQ==", "_-8=", "ÄÖ==", "====", 7, None],
)
def test_base64_has_one_spelling(data: object) -> None:
    with pytest.raises(UploadInvalid):
        read_json_upload(body("a", data))


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"fileName":"a"}', b'{"dataBase64":""}', b"[" * 5000, body("..", "YQ==")],
)
def test_what_is_no_json_upload_is_refused(raw: bytes) -> None:
    with pytest.raises(UploadInvalid):
        read_json_upload(raw)


@pytest.mark.parametrize("size", [FILE_BYTES_MAX, FILE_BYTES_MAX + 1])
def test_ten_mebibytes_fit_and_one_byte_more_does_not(size: int) -> None:
    data = base64.b64encode(bytes(size))
    raw = b'{"fileName":"a","dataBase64":"%s"}' % data
    assert len(data) == BASE64_CHARS_MAX  # the base64 of both sizes is as long: only the bytes tell
    if size <= FILE_BYTES_MAX:
        assert len(read_json_upload(raw)[1]) == size
    else:
        with pytest.raises(UploadTooLarge):
            read_json_upload(raw)


def test_longer_base64_is_refused_undecoded() -> None:
    with pytest.raises(UploadTooLarge):
        read_json_upload(b'{"fileName":"a","dataBase64":"%s"}' % (b"!" * (BASE64_CHARS_MAX + 1)))
