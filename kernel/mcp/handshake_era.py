"""[core] The handshake era (2024-11-05 … 2025-11-25): initialize, the session rules, the method table. Pure.

Theory of operation. A client opens a session with ``initialize`` and names it in ``Mcp-Session-Id`` from then on:

    initialize, no or a dead session header   → a new session (decision 15)
    initialize in a live session              → -32600/400
    named session unknown, ended or foreign   → 404, one text for all three
    any other request without a session       → served, outside every session: no batch, no cancel, no log level
    notification or reply                     → 202, whatever it says; unknown ones are ignored

A request that was dispatched is answered with HTTP 200 even if it failed: only the envelope, the session and the
transport have statuses of their own. A disconnect is never a cancel; ``notifications/cancelled`` is, and it finds its
call by session, type and value of the id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from kernel.mcp.jsonrpc import INVALID_REQUEST, Batch, ProtocolError, Request
from kernel.mcp.modern_era import LOG_LEVELS
from kernel.mcp.params import SHARED_METHODS, Operation, Params, invalid, text
from kernel.mcp.versions import ASSUMED_HANDSHAKE, HANDSHAKE_REVISIONS, Revision, negotiate


class Initialize(msgspec.Struct, frozen=True):
    """``initialize``: the revision it will be answered with, and the client."""

    revision: Revision
    capabilities: dict[str, Any]
    client_info: dict[str, Any]


class Ping(msgspec.Struct, frozen=True):
    """``ping``."""


class SetLevel(msgspec.Struct, frozen=True):
    """``logging/setLevel``."""

    level: str


class Subscribe(msgspec.Struct, frozen=True):
    """``resources/subscribe`` and ``resources/unsubscribe``."""

    uri: str
    is_wanted: bool


HandshakeOperation = Operation | Ping | SetLevel | Subscribe


def read_initialize(params: Params | None) -> Initialize:
    """Raises ProtocolError (-32602): protocolVersion, capabilities and clientInfo are required."""
    params = params or {}
    requested = text(params, "protocolVersion")
    capabilities, client_info = params.get("capabilities"), params.get("clientInfo")
    if not isinstance(capabilities, dict) or not isinstance(client_info, dict):
        raise invalid("capabilities and clientInfo must be objects")
    return Initialize(negotiate(requested), capabilities, client_info)


def _ping(_params: Params) -> Ping:
    return Ping()


def _set_level(params: Params) -> SetLevel:
    level = text(params, "level")
    if level not in LOG_LEVELS:
        raise invalid(f"level must be one of {', '.join(LOG_LEVELS)}")
    return SetLevel(level)


def _subscribe(params: Params) -> Subscribe:
    return Subscribe(text(params, "uri"), is_wanted=True)


def _unsubscribe(params: Params) -> Subscribe:
    return Subscribe(text(params, "uri"), is_wanted=False)


HANDSHAKE_METHODS: Final[Mapping[str, Callable[[Params], HandshakeOperation]]] = {
    **SHARED_METHODS,
    "ping": _ping,
    "logging/setLevel": _set_level,
}
SUBSCRIPTION_METHODS: Final[Mapping[str, Callable[[Params], HandshakeOperation]]] = {
    "resources/subscribe": _subscribe,
    "resources/unsubscribe": _unsubscribe,
}


def sessionless_revision(header_version: str | None) -> Revision:
    """What a request outside every session speaks."""
    return HANDSHAKE_REVISIONS[header_version or ASSUMED_HANDSHAKE]


def check_batch(batch: Batch, revision: Revision, *, has_session: bool) -> None:
    """Batches exist in 2025-03-26 sessions only, and never hold ``initialize`` (decision 16).

    Raises:
        ProtocolError: -32600/400.
    """
    if not (has_session and revision.has_batches):
        raise ProtocolError(INVALID_REQUEST, "Invalid Request: batches exist in 2025-03-26 sessions only")
    for entry in batch.entries:
        if isinstance(entry, Request) and entry.method == "initialize":
            raise ProtocolError(INVALID_REQUEST, "Invalid Request: initialize cannot be part of a batch")


def session_not_found() -> ProtocolError:
    """Unknown, expired, ended and foreign sessions look alike."""
    return ProtocolError(INVALID_REQUEST, "Session not found", status=404)


def session_missing() -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, "Mcp-Session-Id is missing", status=400)
