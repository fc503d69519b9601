"""MCP messages of a client, as the laboratory's own programs write and read them. Does no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

MODERN: Final = "2026-07-28"
META: Final = "io.modelcontextprotocol/"
ACCEPT: Final = "application/json, text/event-stream"


def modern_request(
    request_id: int | str, method: str, params: dict[str, Any] | None = None
) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of one stateless request."""
    params = dict(params or {})
    params["_meta"] = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}}
    headers = {"Accept": ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if name := params.get("name") or params.get("uri"):
        headers["Mcp-Name"] = str(name)
    return headers, {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def messages_in(content_type: str, body: bytes) -> Iterator[dict[str, Any]]:
    """Every JSON-RPC message of an answer, JSON or event stream; what is no message is passed over."""
    text = body.decode("utf-8", "replace")
    if content_type.startswith("text/event-stream"):
        pieces = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    else:
        pieces = [text] if text else []
    for piece in pieces:
        try:
            told = json.loads(piece)
        except (json.JSONDecodeError, RecursionError):
            continue
        yield from (one for one in (told if isinstance(told, list) else [told]) if isinstance(one, dict))


def result_of(content_type: str, body: bytes, request_id: Any) -> dict[str, Any] | None:
    """The answer to ``request_id`` in a body, result or error; None if there is none."""
    for message in messages_in(content_type, body):
        if "method" not in message and message.get("id") == request_id:
            return message
    return None
