"""What the log says at ``--log-level info``: one line for each exchange of the plugin's routes. No bodies, no tokens.

At ``debug`` every event of the trace is a line too. A session is named by the beginning of its id: the whole of it is
a key.
"""

from __future__ import annotations

import logging
from typing import Final

from kernel.trace import Event

SESSION_CHARS_SHOWN: Final = 8
# Requests that wait for their answer; the front never has more exchanges than connections.
OPEN_EXCHANGES_MAX: Final = 20_000
_log: Final = logging.getLogger("kernel.calls")


class CallLog:
    """Hears the events of a trace, in order."""

    def __init__(self) -> None:
        self._open: dict[object, Event] = {}

    def __call__(self, event: Event) -> None:
        if event.kind == "request":
            if len(self._open) >= OPEN_EXCHANGES_MAX:
                self._open.pop(next(iter(self._open)))
            self._open[event.facts.get("exchange")] = event
        elif event.kind == "answer":
            self._answered(event)
        elif _log.isEnabledFor(logging.DEBUG):
            _log.debug("%s %s", event.kind, " ".join(f"{name}={value}" for name, value in _shown(event.facts).items()))

    def _answered(self, event: Event) -> None:
        asked = self._open.pop(event.facts.get("exchange"), None)
        if asked is None or not _log.isEnabledFor(logging.INFO):
            return
        facts = _shown(asked.facts)
        what = [str(facts.get("method")), str(facts.get("path"))]
        what += [f"{name}={facts[name]}" for name in ("rpc", "rpcId", "tool", "action", "session") if name in facts]
        outcome = event.facts.get("status", event.facts.get("error"))
        took_ms = round((event.at_s - asked.at_s) * 1000, 1)
        _log.info("%s -> %s %s bytes %s ms", " ".join(what), outcome, event.facts.get("bytes", 0), took_ms)


def _shown(facts: dict[str, object]) -> dict[str, object]:
    session = facts.get("session")
    return {**facts, "session": session[:SESSION_CHARS_SHOWN]} if isinstance(session, str) else facts
