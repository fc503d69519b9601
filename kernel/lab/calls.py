"""What a client did, in the product's words: preflights, commits, reads, cancels, and what each was answered. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from kernel.canonical import digest
from kernel.lab.exchanges import Exchange
from kernel.lab.mcp import messages_in, result_of
from kernel.safety.intent import SAFETY_ARGUMENTS
from kernel.tools.registry import TOOLS, find_action

Kind = Literal["read", "preflight", "commit", "plain"]
# ok; error: the tool's own; lost: no whole answer; refused: an HTTP or JSON-RPC error.
Outcome = Literal["ok", "error", "lost", "refused"]
# The client knows that a write was begun, or may have been, and not what became of it.
IN_DOUBT: Final = frozenset({"outcome_unknown", "readback_mismatch", "idempotency_unavailable"})
_CONFIRMATIONS: Final = frozenset({"confirm"})


@dataclass(frozen=True, slots=True)
class ClientCall:
    """One tools/call on the wire. ``business``: a digest of tool, action and business arguments."""

    exchange: Exchange
    rpc_id: Any
    tool: str
    action: str
    arguments: dict[str, Any]
    business: str
    kind: Kind
    request_id: str | None
    session: str | None
    outcome: Outcome
    code: str = ""  # of the tool's error, or "HTTP 503", "JSON-RPC -32602"
    retry_after_s: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)  # the structured result

    @property
    def sent_s(self) -> float:
        return self.exchange.sent_s

    @property
    def known_s(self) -> float:
        """When the client could know how it ended."""
        return self.exchange.ended_s

    @property
    def is_in_doubt(self) -> bool:
        """A write of which its client cannot know whether it happened."""
        return self.kind in ("commit", "plain") and (self.outcome == "lost" or self.code in IN_DOUBT or self._is_5xx)

    @property
    def _is_5xx(self) -> bool:
        return self.code.startswith("HTTP 5")

    @property
    def is_final(self) -> bool:
        """The answer says for certain what became of the write."""
        return self.outcome != "lost" and not self.is_in_doubt

    def named(self) -> str:
        words = f"{self.tool}.{self.action} {self.kind}"
        return f"{words} {self.request_id}" if self.request_id else words

    def told(self) -> str:
        """Its outcome in a word or two."""
        return {"ok": "ok", "lost": "no answer"}.get(self.outcome, self.code)


@dataclass(frozen=True, slots=True)
class Cancel:
    """A ``notifications/cancelled`` on the wire."""

    session: str | None
    rpc_id: Any
    sent_s: float


def calls_of(exchanges: Iterable[Exchange]) -> tuple[list[ClientCall], list[Cancel]]:
    """The tool calls and cancels of a recording, in the order of their sending."""
    calls, cancels = [], []
    for exchange in exchanges:
        if exchange.method != "POST" or not exchange.is_request_whole:
            continue
        for message in messages_in("application/json", exchange.body):
            params = message.get("params")
            params = params if isinstance(params, dict) else {}
            if message.get("method") == "tools/call":
                calls.append(_call(exchange, message.get("id"), params))
            elif message.get("method") == "notifications/cancelled":
                session = exchange.headers.get("mcp-session-id")
                cancels.append(Cancel(session, params.get("requestId"), exchange.sent_s))
    return calls, cancels


def business_digest(tool: str, arguments: dict[str, Any]) -> str:
    """What is the same for a preflight, its commit, and a second try under another request id."""
    left = {name: value for name, value in arguments.items() if name not in SAFETY_ARGUMENTS | _CONFIRMATIONS}
    return digest({"tool": tool, "arguments": left})


def _call(exchange: Exchange, rpc_id: Any, params: dict[str, Any]) -> ClientCall:
    tool = str(params.get("name", ""))
    arguments = params.get("arguments")
    arguments = arguments if isinstance(arguments, dict) else {}
    action = str(arguments.get("action", ""))
    request_id = arguments.get("requestId")
    outcome, code, retry_after_s, facts = _outcome(exchange, rpc_id)
    return ClientCall(
        exchange,
        rpc_id,
        tool,
        action,
        arguments,
        business_digest(tool, arguments),
        _kind(tool, action, arguments),
        request_id if isinstance(request_id, str) else None,
        exchange.headers.get("mcp-session-id"),
        outcome,
        code,
        retry_after_s,
        facts,
    )


def _kind(tool: str, action: str, arguments: dict[str, Any]) -> Kind:
    if arguments.get("validateOnly") is True:
        return "preflight"
    if isinstance(arguments.get("requestId"), str):
        return "commit"
    known = find_action(TOOLS[tool], action) if tool in TOOLS else None
    return "read" if known is None or known.policy.is_read else "plain"


def _outcome(exchange: Exchange, rpc_id: Any) -> tuple[Outcome, str, float, dict[str, Any]]:
    retry_after_s = _number(exchange.answer_headers.get("retry-after"))
    message = result_of(exchange.answer_headers.get("content-type", ""), exchange.answer, rpc_id)
    if message is None:
        # An event stream may have brought the answer and been cut behind it; a body that was cut is no answer.
        if exchange.is_lost or exchange.status < 400:
            return "lost", "", 0.0, {}
        return "refused", f"HTTP {exchange.status}", retry_after_s, {}
    if "error" in message:
        error = message["error"] if isinstance(message["error"], dict) else {}
        code = f"HTTP {exchange.status}" if exchange.status >= 400 else f"JSON-RPC {error.get('code')}"
        return "refused", code, retry_after_s, error
    result = message.get("result")
    facts = result.get("structuredContent") if isinstance(result, dict) else None
    facts = facts if isinstance(facts, dict) else {}
    if isinstance(result, dict) and result.get("isError"):
        told = facts.get("error")
        error = told if isinstance(told, dict) else {}
        wait_ms = error.get("retryAfterMs", 0)
        wait_s = wait_ms / 1000 if isinstance(wait_ms, int | float) else 0.0
        return "error", str(error.get("code", "")), wait_s, facts
    return "ok", "", 0.0, facts


def _number(text: str | None) -> float:
    try:
        return float(json.loads(text)) if text else 0.0
    except (ValueError, TypeError):
        return 0.0
