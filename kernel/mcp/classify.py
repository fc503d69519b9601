"""[core] The validation ladder: one POST → its era and its message, or the first rung it fails on. Pure; no I/O.

Theory of operation. The body is the source of truth and headers mirror it, so the order of the checks is part of the
protocol (mcp-requirements 4.3); clients and the conformance suite test it:

    content type, accept   415, 406     before anything of the body is looked at
    parse, envelope        -32700, -32600, -32602 (``kernel.mcp.jsonrpc``)
    repeated header        -32020       two values cannot both mirror the body
    envelope fields        -32602       ``_meta`` with version and capabilities; *before* the header comparison
    header == body         -32020       version, method, name; *before* the version is judged
    version served         -32022
    method known           -32601/404   per era: ``ping`` and ``initialize`` do not exist in the modern one
    Mcp-Param-*            -32020
    parameters             -32602       (``kernel.mcp.modern_era``, ``kernel.mcp.params``)
    capabilities           -32021

A request is modern when its version header is not one of the handshake revisions, or when its body carries the
modern envelope and is no ``initialize``. Everything else follows the session rules of ``kernel.mcp.handshake_era``.
Eras are decided per request: both are served on one URL, and a connection remembers nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kernel.mcp.heads import Head, decode_wrapped
from kernel.mcp.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Batch,
    Message,
    Notification,
    ProtocolError,
    Request,
)
from kernel.mcp.versions import MODERN_VERSIONS, is_handshake

META_PREFIX: Final = "io.modelcontextprotocol/"
META_VERSION: Final = META_PREFIX + "protocolVersion"
META_CAPABILITIES: Final = META_PREFIX + "clientCapabilities"

# Which parameter the Mcp-Name header mirrors.
NAMED_BY: Final[dict[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


class ModernRequest(msgspec.Struct, frozen=True):
    """A request that passed the ladder down to its method; ``meta`` holds at least version and capabilities."""

    request: Request
    params: dict[str, Any]
    meta: dict[str, Any]


class HandshakeMessage(msgspec.Struct, frozen=True):
    """A message for the session rules; ``header_version`` is a handshake revision or None."""

    message: Message | Batch
    header_version: str | None


class Dropped(msgspec.Struct, frozen=True):
    """A modern notification: accepted and ignored (mcp-requirements 4.9)."""


class HeaderParameter(msgspec.Struct, frozen=True):
    """One argument that a tool wants mirrored in ``Mcp-Param-<X>``."""

    header: str  # lower case, with the prefix
    path: tuple[str, ...]
    type: str  # string, integer or boolean


HeaderParameters = Mapping[str, Sequence[HeaderParameter]]


def check_transport(head: Head) -> None:
    """Content type and Accept of a POST.

    Raises:
        ProtocolError: 415 or 406.
    """
    if not head.has_json_body:
        raise ProtocolError(INVALID_REQUEST, "Content-Type must be application/json", status=415)
    if not (head.takes_json or head.takes_events):
        raise ProtocolError(
            INVALID_REQUEST, "Not Acceptable: accept application/json and text/event-stream", status=406
        )


def classify(
    head: Head, message: Message | Batch, methods: Mapping[str, object], mirrored: HeaderParameters
) -> ModernRequest | HandshakeMessage | Dropped:
    """The era of ``message`` and, for a modern one, the rungs down to its method (``methods``: the modern table).

    Raises:
        ProtocolError: the first rung that fails, with the status it travels with.
    """
    if isinstance(message, Request):
        if not head.is_handshake or (_has_envelope(message) and message.method != "initialize"):
            try:
                return _climb(head, message, methods, mirrored)
            except ProtocolError as error:
                error.request_id = message.id
                raise
    elif not head.is_handshake:
        if not isinstance(message, Notification):
            raise ProtocolError(INVALID_REQUEST, "Invalid Request: one request or notification per POST")
        if head.repeated is not None:
            raise _repeated(head)
        _check_served(str(head.version))
        return Dropped()
    return HandshakeMessage(message, head.version)


def _has_envelope(request: Request) -> bool:
    meta = request.params.get("_meta") if request.params else None
    return isinstance(meta, dict) and META_VERSION in meta


def _climb(head: Head, request: Request, methods: Mapping[str, object], mirrored: HeaderParameters) -> ModernRequest:
    if head.repeated is not None:
        raise _repeated(head)
    params = request.params
    meta = params.get("_meta") if params else None
    if params is None or not isinstance(meta, dict) or META_VERSION not in meta or META_CAPABILITIES not in meta:
        raise _incomplete(head, meta)
    version = meta[META_VERSION]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: {META_VERSION} must be a string")
    _check_mirror(head, request, params, version)
    _check_served(version)
    if request.method not in methods:
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
    if mirrored and request.method == "tools/call":
        _check_parameters(head, params, mirrored)
    return ModernRequest(request, params, meta)


def _repeated(head: Head) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, f"Header mismatch: {head.repeated} stands there more than once")


def _incomplete(head: Head, meta: object) -> ProtocolError:
    present = meta if isinstance(meta, dict) else {}
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in present]
    message = f"Invalid params: params._meta needs {' and '.join(missing)}"
    if not is_handshake(head.version) and head.version not in MODERN_VERSIONS:
        # Handshake clients that sent a version nobody knows look for these words (mcp-requirements 5.3).
        message = f"Unsupported protocol version; {message}"
    return ProtocolError(INVALID_PARAMS, message, data={"missing": missing})


def _check_mirror(head: Head, request: Request, params: dict[str, Any], version: str) -> None:
    method = request.method
    if head.version != version:
        raise _mismatch("MCP-Protocol-Version", head.version, META_VERSION)
    if head.method != method:
        raise _mismatch("Mcp-Method", head.method, "method")
    field = NAMED_BY.get(method)
    expected = params.get(field) if field is not None else None
    # Where the body itself has no name, the parameter check answers; the header is not demanded.
    if isinstance(expected, str) and (head.has_bad_name or head.name != expected):
        raise _mismatch("Mcp-Name", head.name, f"params.{field}")


def _mismatch(header: str, value: str | None, field: str) -> ProtocolError:
    fault = "is missing" if value is None else "does not match"
    return ProtocolError(HEADER_MISMATCH, f"Header mismatch: {header} {fault} (it mirrors {field})")


def _check_served(version: str) -> None:
    if version not in MODERN_VERSIONS:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            data={"supported": list(MODERN_VERSIONS), "requested": version},
        )


def _check_parameters(head: Head, params: dict[str, Any], mirrored: HeaderParameters) -> None:
    arguments = params.get("arguments")
    for parameter in mirrored.get(str(params.get("name")), ()):
        values = [value for name, value in head.parameters if name == parameter.header]
        expected = _argument(arguments, parameter.path)
        if len(values) > 1 or bool(values) != (expected is not None):
            raise ProtocolError(HEADER_MISMATCH, f"Header mismatch: {parameter.header} and its argument differ")
        if values and not _mirrors(values[0], expected, parameter.type):
            raise ProtocolError(HEADER_MISMATCH, f"Header mismatch: {parameter.header} does not match its argument")


def _argument(arguments: object, path: tuple[str, ...]) -> object:
    value = arguments
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _mirrors(raw: str, expected: object, type_: str) -> bool:
    value = decode_wrapped(raw)
    if value is None:
        return False
    if type_ == "boolean" or isinstance(expected, bool):
        return isinstance(expected, bool) and value == ("true" if expected else "false")
    if type_ == "integer" and isinstance(expected, int | float):
        try:
            return (int(value) if value.lstrip("-").isdigit() else float(value)) == expected
        except ValueError:
            return False
    return value == expected


def header_parameters(tools: Sequence[Mapping[str, Any]]) -> dict[str, list[HeaderParameter]]:
    """The ``x-mcp-header`` annotations of tool definitions, by tool name (properties reachable by properties only)."""
    found: dict[str, list[HeaderParameter]] = {}
    for tool in tools:
        annotated = list(_annotated(tool.get("inputSchema", {}), ()))
        if annotated:
            found[tool["name"]] = annotated
    return found


def _annotated(schema: Mapping[str, Any], path: tuple[str, ...]) -> list[HeaderParameter]:
    found: list[HeaderParameter] = []
    for name, field in schema.get("properties", {}).items():
        header = field.get("x-mcp-header")
        if header:
            found.append(HeaderParameter(f"mcp-param-{header.lower()}", (*path, name), field.get("type", "string")))
        found.extend(_annotated(field, (*path, name)))
    return found
