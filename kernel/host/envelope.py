"""How the kernel's answers are read: the ``{code, msg, data}`` envelope and everything that is not it. Does no I/O."""

from __future__ import annotations

from typing import Any, Final

from kernel.host.base import HostApiError, HostError, HostHttpError
from kernel.host.limits import HOST_MESSAGE_CHARS_MAX, QUOTED_ANSWER_CHARS_MAX
from kernel.json_text import read_json

_MISSING_FILE_STATUS: Final = 202
_MISSING_FILE_CODE: Final = 404
_UNAUTHORIZED: Final = frozenset({401, 403})
_TRANSIENT_STATUS: Final = frozenset({429, 500, 502, 503, 504})


def is_transient(status: int) -> bool:
    """Whether a read may be tried again after this HTTP status (R79)."""
    return status in _TRANSIENT_STATUS


def failure_code(error: HostError) -> str:
    """The code of ``kernel.errors`` for a host that did not answer as a note kernel does, or not at all."""
    if isinstance(error, HostHttpError) and error.status in _UNAUTHORIZED:
        return "host_unauthorized"
    if isinstance(error, HostHttpError) and error.status < 500 and not is_transient(error.status):
        return "host_malformed"
    return "host_unavailable"


def read_envelope(path: str, status: int, body: bytes, *, is_write: bool) -> Any:
    """``data`` of a JSON answer; None for an empty body (some handlers of the kernel answer nothing at all).

    Raises:
        HostApiError: ``code`` is not 0.
        HostHttpError: another status than 200, or not the envelope. A write is ambiguous unless it was refused (4xx).
    """
    if status != 200:
        refused = 400 <= status < 500
        raise HostHttpError(
            status, f"HTTP error: {status} {quoted(body)}".rstrip(), path=path, is_ambiguous=is_write and not refused
        )
    if not body:
        return None
    try:
        answer = read_json(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or type(answer.get("code")) is not int:
        raise HostHttpError(
            status, f"Invalid SiYuan API response from {path}: {quoted(body)}", path=path, is_ambiguous=is_write
        )
    return unwrap(path, answer["code"], _message(answer), answer.get("data"))


def unwrap(path: str, code: int, message: str, data: Any) -> Any:
    """``data``, or the kernel's refusal as an error in its own words.

    Raises:
        HostApiError: ``code`` is not 0.
    """
    if code != 0:
        raise HostApiError(code, message, path=path, data=data)
    return data


def read_file_answer(path: str, status: int, body: bytes) -> bytes | None:
    """``/api/file/getFile``: the file's bytes, or None where there is none (HTTP 202 with code 404).

    Raises:
        HostApiError: another refusal in the 202 envelope.
        HostHttpError: another status.
    """
    if status == 200:
        return body
    if status != _MISSING_FILE_STATUS:
        raise HostHttpError(status, f"HTTP error: {status} {quoted(body)}".rstrip(), path=path)
    try:
        answer = read_json(body)
    except ValueError:
        answer = {}
    code = answer.get("code") if isinstance(answer, dict) else None
    if code == _MISSING_FILE_CODE:
        return None
    message = _message(answer) if isinstance(answer, dict) else ""
    raise HostApiError(code if isinstance(code, int) else status, message, path=path)


def _message(answer: dict[str, Any]) -> str:
    return str(answer.get("msg") or "")[:HOST_MESSAGE_CHARS_MAX]


def quoted(body: bytes) -> str:
    """The beginning of a foreign answer, for a message."""
    return body[: QUOTED_ANSWER_CHARS_MAX * 4].decode("utf-8", "replace")[:QUOTED_ANSWER_CHARS_MAX]
