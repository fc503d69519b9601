"""[core] JSON-RPC 2.0 messages as values: bytes in, one message (or a batch) out; nothing of eras or HTTP verbs.

Key presence decides, never truthiness: ``0`` and ``""`` are ids, ``null`` is a broken one, and an object without the
key is a notification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from kernel.mcp.limits import BATCH_ENTRIES_MAX, JSON_DEPTH_MAX

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
SERVER_BUSY: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002  # handshake era only
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

# The one table from code to HTTP status (mcp-requirements 3.5 and 4.4). A dispatched handshake request travels with
# 200 whatever its code; refusals that are about the session or the transport name their own status.
HTTP_STATUS: Final[dict[int, int]] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    METHOD_NOT_FOUND: 404,
    INVALID_PARAMS: 400,
    INTERNAL_ERROR: 200,
    SERVER_BUSY: 503,
    RESOURCE_NOT_FOUND: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}

RequestId = int | str


class ProtocolError(Exception):
    """A JSON-RPC error. ``status`` overrides the table; ``request_id`` is echoed when it could be read."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        data: dict[str, Any] | None = None,
        request_id: RequestId | UnsetType = UNSET,
        status: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id
        self.status = HTTP_STATUS[code] if status is None else status
        self.headers = headers

    def object(self) -> dict[str, Any]:
        """The whole error message; without ``id`` where none could be read (mcp-requirements 3.4)."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        if self.request_id is UNSET:
            return {"jsonrpc": "2.0", "error": error}
        return {"jsonrpc": "2.0", "id": self.request_id, "error": error}


class Request(msgspec.Struct, frozen=True):
    """A call that wants an answer."""

    id: RequestId
    method: str
    params: dict[str, Any] | None


class Notification(msgspec.Struct, frozen=True):
    """A message without id: never answered."""

    method: str
    params: dict[str, Any] | None


class Reply(msgspec.Struct, frozen=True):
    """The client's answer to a request of ours."""

    id: RequestId
    result: Any = UNSET
    error: Any = UNSET


class Batch(msgspec.Struct, frozen=True):
    """A 2025-03-26 array. Broken entries are kept as the error they are answered with."""

    entries: tuple[Request | Notification | Reply | ProtocolError, ...]


Message = Request | Notification | Reply


class _Envelope(msgspec.Struct):
    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET
    params: Any = UNSET
    result: Any = UNSET
    error: Any = UNSET


class _Plain(msgspec.Struct, tag_field="jsonrpc", tag="2.0", forbid_unknown_fields=True):
    """A request as nearly all of them are: nothing to be said against it once its id is an id."""

    id: Any
    method: str
    params: dict[str, Any]


_decode_plain: Final[Callable[[bytes], _Plain]] = msgspec.json.Decoder(_Plain).decode
_decode_envelope: Final[Callable[[bytes], _Envelope]] = msgspec.json.Decoder(_Envelope).decode
_decode_any: Final[Callable[[bytes], Any]] = msgspec.json.Decoder().decode
encode: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode


def parse(body: bytes) -> Message | Batch:
    """One POST body as a message.

    Raises:
        ProtocolError: not JSON, too deep, a number out of range, a lone surrogate (-32700, decision 38); not a
            JSON-RPC message (-32600); parameters that are no object (-32602).
    """
    if body[:1] == b"{":
        if body.count(b"{") + body.count(b"[") <= JSON_DEPTH_MAX:
            try:
                plain = _decode_plain(body)
            except msgspec.MsgspecError:
                pass  # what is wrong with it, or else is it, is said below
            else:
                request_id = plain.id
                if type(request_id) is int or type(request_id) is str:
                    return Request(request_id, plain.method, plain.params)
        return _message(_decoded(_decode_envelope, body))
    value = _decoded(_decode_any, body)
    if isinstance(value, dict):
        return _message(_convert(value))
    if isinstance(value, list):
        return _batch(value)
    raise ProtocolError(INVALID_REQUEST, "Invalid Request: a message is a JSON object")


def parse_value(encoded: bytes) -> Any:
    """Any JSON value of our own making."""
    return _decode_any(encoded)


def is_request_id(value: object) -> bool:
    """Whether ``value`` may be an id: a string or an integer; ``true``, floats and null are not (decision 14)."""
    return type(value) is int or type(value) is str


def _decoded(decode: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        if not body.isascii():
            # The decoder skips unknown members without looking at their bytes.
            body.decode()
        value = decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ProtocolError(PARSE_ERROR, f"Parse error: {error}") from None
    except RecursionError:
        raise _too_deep() from None
    # Only a body with that many brackets can be that deep, so ordinary ones are not walked.
    if body.count(b"{") + body.count(b"[") > JSON_DEPTH_MAX and _depth_exceeds(value, JSON_DEPTH_MAX):
        raise _too_deep()
    return value


def _too_deep() -> ProtocolError:
    return ProtocolError(PARSE_ERROR, f"Parse error: nested deeper than {JSON_DEPTH_MAX} levels")


def _depth_exceeds(value: Any, depth_max: int) -> bool:
    """Whether a decoded value nests deeper than ``depth_max``; level by level, no recursion."""
    level: list[Any] = [value]
    for _ in range(depth_max):
        level = [child for parent in level for child in _children(parent) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, _Envelope):
        return (value.params, value.result, value.error)
    return value if isinstance(value, list) else ()


def _convert(value: dict[str, Any]) -> _Envelope:
    known = {key: value[key] for key in _Envelope.__struct_fields__ if key in value}
    return _Envelope(**known)


def _batch(values: list[Any]) -> Batch:
    if not values:
        raise ProtocolError(INVALID_REQUEST, "Invalid Request: an empty batch")
    if len(values) > BATCH_ENTRIES_MAX:
        raise ProtocolError(INVALID_REQUEST, f"Invalid Request: a batch has at most {BATCH_ENTRIES_MAX} entries")
    return Batch(tuple(_entry(value) for value in values))


def _entry(value: Any) -> Message | ProtocolError:
    if not isinstance(value, dict):
        return ProtocolError(INVALID_REQUEST, "Invalid Request: a message is a JSON object")
    try:
        return _message(_convert(value))
    except ProtocolError as error:
        return error


def _message(envelope: _Envelope) -> Message:
    request_id = envelope.id
    if request_id is not UNSET and not is_request_id(request_id):
        raise ProtocolError(INVALID_REQUEST, "Invalid Request: id must be a string or an integer")
    if envelope.jsonrpc != "2.0":
        raise _invalid('jsonrpc must be "2.0"', request_id)
    is_reply = envelope.result is not UNSET or envelope.error is not UNSET
    if envelope.method is UNSET:
        return _reply(envelope) if is_reply else _fail("method is missing", request_id)
    if is_reply:
        raise _invalid("a message has a method or a result, not both", request_id)
    if not isinstance(envelope.method, str):
        raise _invalid("method must be a string", request_id)
    params = envelope.params
    if request_id is UNSET:
        # A notification cannot be answered, so odd parameters are no reason to refuse it either.
        return Notification(envelope.method, params if isinstance(params, dict) else None)
    if params is not UNSET and not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: params must be an object", request_id=request_id)
    return Request(request_id, envelope.method, None if params is UNSET else params)


def _reply(envelope: _Envelope) -> Reply:
    if envelope.id is UNSET:
        return _fail("a response needs an id", UNSET)
    if (envelope.result is UNSET) == (envelope.error is UNSET):
        return _fail("a response has a result or an error, not both", envelope.id)
    return Reply(envelope.id, envelope.result, envelope.error)


def _invalid(reason: str, request_id: RequestId | UnsetType) -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, f"Invalid Request: {reason}", request_id=request_id)


def _fail(reason: str, request_id: RequestId | UnsetType) -> Reply:
    raise _invalid(reason, request_id)


def result_message(request_id: RequestId, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def notification_message(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    if params is None:
        return {"jsonrpc": "2.0", "method": method}
    return {"jsonrpc": "2.0", "method": method, "params": params}


def request_message(request_id: RequestId, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def sse_event(message: dict[str, Any]) -> bytes:
    """One message as one event."""
    return sse_frame(encode(message))


def sse_frame(encoded: bytes) -> bytes:
    """Encoded JSON as one event: it stands on one line, because readers parse line by line."""
    return b"event: message\ndata: " + encoded + b"\n\n"


SSE_KEEP_ALIVE: Final = b": keep-alive\n\n"
