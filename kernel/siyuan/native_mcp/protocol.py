"""[core] JSON-RPC as the official endpoint reads it: loosely, one message a body, no batches (siyuan-api F2)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from kernel.siyuan.go_json import BodyUnreadable, Checker
from kernel.siyuan.machine import KERNEL_VERSION

VERSION_DEFAULT: Final = "2025-06-18"
VERSION_STATELESS: Final = "2026-07-28"
VERSIONS: Final = frozenset({VERSION_DEFAULT, "2024-11-05", VERSION_STATELESS})
PARSE_ERROR: Final = (-32700, "Parse error")
INVALID_REQUEST: Final = (-32600, "Invalid Request")
METHOD_NOT_FOUND: Final = (-32601, "Method not found")
INVALID_PARAMS: Final = (-32602, "Invalid params")
NAME_REQUIRED: Final = (-32602, "Invalid params: name is required")
_SPACE: Final = " \t\r\n"
_DIGITS_EXACT_MAX: Final = 15  # so many digits a double holds without loss
_WHOLE_END: Final = 1e21  # from here on numbers are written with an exponent
_MEMBERS: Final = ("jsonrpc", "method", "params", "id")
_STATELESS_METHODS: Final = frozenset({"server/discover", "ping", "tools/list", "tools/call"})
_SESSION_METHODS: Final = frozenset({"initialize", "notifications/initialized", "ping", "tools/list", "tools/call"})


class Unreadable(ValueError):
    """The body is not one message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. An id of null counts as none: the message is a notification."""

    jsonrpc: str
    method: str
    params: Any
    id: Any

    @property
    def is_notification(self) -> bool:
        return self.id is None

    @property
    def is_valid(self) -> bool:
        return self.jsonrpc == "2.0" and bool(self.method)


def read_message(body: bytes) -> Message:
    """One message. Member names count in any case, the last one of a name; unknown members do not.

    Raises:
        Unreadable: no JSON, more than one value, no object, or a member of the wrong type.
    """
    text = body.decode("utf-8", "replace")
    start = len(text) - len(text.lstrip(_SPACE))
    try:
        end = Checker(text).check(start)
    except (BodyUnreadable, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if text[end:].strip(_SPACE):
        raise Unreadable("more than one value")
    pairs = json.loads(text, object_pairs_hook=_Pairs, parse_float=_double, parse_int=_whole)
    if pairs is None:
        return Message("", "", None, None)
    if not isinstance(pairs, _Pairs):
        raise Unreadable("not an object")
    values: dict[str, Any] = {}
    for name, value in pairs:
        member = name.lower()
        if member in _MEMBERS and not (value is None and member in ("jsonrpc", "method")):
            values[member] = _plain(value)
    jsonrpc, method = values.get("jsonrpc", ""), values.get("method", "")
    if not isinstance(jsonrpc, str) or not isinstance(method, str):
        raise Unreadable("not a text")
    return Message(jsonrpc, method, values.get("params"), values.get("id"))


def _double(digits: str) -> float:
    """Numbers are doubles; what is none makes the whole message unreadable."""
    value = float(digits)
    if math.isinf(value):
        raise Unreadable("a number that is no double")
    return value


def _whole(digits: str) -> int | float:
    """A whole number that a double cannot hold comes back with the digits that name the nearest one."""
    if len(digits) <= _DIGITS_EXACT_MAX:
        return int(digits)
    value = _double(digits)
    return value if abs(value) >= _WHOLE_END else int(Decimal(repr(value)))


class _Pairs(list[tuple[str, Any]]):
    """An object whose repeated members are still seen."""


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {name: _plain(inner) for name, inner in value}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def result(message: Message, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "result": value, "id": message.id}


def error(message_id: Any, what: tuple[int, str]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": what[0], "message": what[1]}, "id": message_id}


def is_known(method: str, *, is_stateless: bool) -> bool:
    return method in (_STATELESS_METHODS if is_stateless else _SESSION_METHODS)


def introduction(version: str) -> dict[str, Any]:
    """The result of initialize and server/discover."""
    return {
        "capabilities": {"tools": {"listChanged": False}},
        "protocolVersion": version,
        "serverInfo": {"name": "SiYuan", "version": KERNEL_VERSION},
    }


def agreed_version(params: Any) -> str:
    """The protocol version of a session: the client's, where it is known."""
    wanted = params.get("protocolVersion") if isinstance(params, dict) else None
    return wanted if isinstance(wanted, str) and wanted in VERSIONS else VERSION_DEFAULT


def tool_named(names: list[str], wanted: str) -> str | None:
    """The tool that a name means: blanks and case do not count, nor does ``siyuan_`` in front."""
    wanted = wanted.strip()
    if wanted in names:
        return wanted
    lower = wanted.lower()
    for candidate in (lower, lower.removeprefix("siyuan_")):
        for name in names:
            if name.lower() == candidate:
                return name
    return None


def text_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """The result of a call."""
    shown: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if is_error:
        shown["isError"] = True
    return shown
