"""Which call passes a fault point: what rules may be narrowed to, and what a deed may act on. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final, Literal, NamedTuple

import msgspec

# A strict write's two halves; everything else is plain.
Phase = Literal["preflight", "commit", "plain"]
PHASES: Final = ("preflight", "commit", "plain")


class CallFacts(NamedTuple):
    """One running call. ``ticket`` is the scheduler's, None where there is none yet.

    ``submitted``: the safety arguments, where they have been taken out of ``arguments``.
    """

    tool: str | None = None
    action: str | None = None
    arguments: Mapping[str, Any] = {}
    session: str | None = None
    ticket: Any = None
    submitted: Mapping[str, Any] = {}

    @property
    def phase(self) -> Phase | None:
        """Which half of a strict write it is; None where it is no tool's call."""
        if self.tool is None:
            return None
        for given in (self.submitted, self.arguments):
            if given.get("validateOnly") is True:
                return "preflight"
            if isinstance(given.get("requestId"), str):
                return "commit"
        return "plain"

    @property
    def number(self) -> int | None:
        """The ticket's number: what a trace calls the call."""
        return None if self.ticket is None else int(self.ticket.number)


NOBODY: Final = CallFacts()
# The call that the running task works for. Tasks that it starts inherit it.
current_call: Final[ContextVar[CallFacts]] = ContextVar("current_call", default=NOBODY)


def facts_of_request(body: bytes, session: str | None) -> CallFacts:
    """The facts of an MCP request that has only been read; any other request is nobody's call."""
    try:
        message = msgspec.json.decode(body) if body else None
    except (msgspec.MsgspecError, RecursionError):
        message = None
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict):
        return CallFacts(session=session)
    arguments = params.get("arguments")
    arguments = arguments if isinstance(arguments, dict) else {}
    return CallFacts(_text(params.get("name")), _text(arguments.get("action")), arguments, session)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
