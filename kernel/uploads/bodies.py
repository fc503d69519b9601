"""What an upload carries: the name in its header, or name and bytes in a JSON object. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec

from kernel.uploads import limits
from kernel.uploads.staging import UploadInvalid, UploadTooLarge, check_file_name

NAME_HEADER: Final = "x-sisyphus-file-name"
OCTETS: Final = "application/octet-stream"

_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class JsonUpload(msgspec.Struct, frozen=True, rename="camel"):
    """``{fileName, dataBase64}`` (R173); further members are tolerated."""

    file_name: str
    data_base64: str


def is_octets(content_type: str | None) -> bool:
    """Whether the body is the file itself; anything else is taken for JSON."""
    return (content_type or "").partition(";")[0].strip().lower() == OCTETS


def read_name_header(value: str | None) -> str:
    """The file name in its percent-encoded form (R171): UTF-8, every escape whole.

    Raises:
        UploadInvalid
    """
    if value is None:
        raise UploadInvalid("the header X-Sisyphus-File-Name is missing")
    if _BAD_ESCAPE.search(value) is not None or not value.isascii():
        raise UploadInvalid("X-Sisyphus-File-Name is not percent-encoded")
    try:
        name = unquote_to_bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise UploadInvalid("X-Sisyphus-File-Name is not UTF-8 behind its percent-encoding") from None
    return check_file_name(name)


def read_json_upload(body: bytes) -> tuple[str, bytes]:
    """File name and bytes of a JSON upload. The base64 must be canonical: one spelling for one content.

    Raises:
        UploadInvalid, UploadTooLarge
    """
    try:
        given = msgspec.json.decode(body, type=JsonUpload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UploadInvalid(f"the body is not {{fileName, dataBase64}}: {error}") from None
    name = check_file_name(given.file_name)
    if len(given.data_base64) > limits.BASE64_CHARS_MAX:
        raise UploadTooLarge
    try:
        content = binascii.a2b_base64(given.data_base64.encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeEncodeError):
        raise UploadInvalid("dataBase64 is not base64") from None
    if base64.b64encode(content).decode("ascii") != given.data_base64:
        raise UploadInvalid("dataBase64 is not canonical base64")
    if len(content) > limits.FILE_BYTES_MAX:
        raise UploadTooLarge
    return name, content
