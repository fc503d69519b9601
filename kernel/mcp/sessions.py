"""[core] Handshake sessions: at most 256, the least recently used idle one goes first, a busy one never (decision 15).

Expiry is lazy, by comparison with ``now``: there is no timer, and a look-up is the moment of truth. Does no I/O.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kernel.mcp.jsonrpc import Reply
from kernel.mcp.limits import SESSION_IDLE_S, SESSIONS_MAX
from kernel.mcp.versions import Revision


class SessionsFull(Exception):
    """Every session is busy: nothing can be dropped (decision 34)."""


@dataclass(slots=True, eq=False)
class Session:
    """One handshake. ``use_count`` counts running calls and open streams; a used session is busy."""

    id: str
    principal: str
    revision: Revision
    client_info: dict[str, Any]
    capabilities: dict[str, Any]
    used_s: float
    log_level: str | None = None
    use_count: int = 0
    is_ended: bool = False
    subscriptions: set[str] = field(default_factory=set)
    # What to tell when the session ends: streams to close, calls to cancel.
    on_end: list[Callable[[], None]] = field(default_factory=list)
    # Requests of ours that wait for the client's reply, by our id.
    awaiting: dict[int | str, Callable[[Reply], None]] = field(default_factory=dict)
    requests_sent: int = 0

    def is_expired(self, now: float) -> bool:
        return self.use_count == 0 and now - self.used_s >= SESSION_IDLE_S


class SessionTable:
    """All sessions of the endpoint, least recently used first."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._sessions_max = sessions_max

    def __len__(self) -> int:
        return len(self._sessions)

    def open(
        self,
        session_id: str,
        principal: str,
        revision: Revision,
        client_info: dict[str, Any],
        capabilities: dict[str, Any],
        *,
        now: float,
    ) -> Session:
        """A new session; an idle one is ended where there is no room.

        Raises:
            SessionsFull: all of them are busy.
        """
        self.expire(now)
        if len(self._sessions) >= self._sessions_max:
            self._drop_idle()
        session = Session(session_id, principal, revision, client_info, capabilities, now)
        assert session_id not in self._sessions, "session ids are unguessable, hence unique"
        self._sessions[session_id] = session
        return session

    def find(self, session_id: str, principal: str, *, now: float) -> Session | None:
        """The live session of that credential, marked as used; None for unknown, expired, ended and foreign ones."""
        session = self._sessions.get(session_id)
        if session is None:
            return None
        if session.is_expired(now):
            self.end(session)
            return None
        if session.principal != principal:
            return None
        self._touch(session, now)
        return session

    def hold(self, session: Session) -> None:
        """Mark the session busy until ``release``."""
        session.use_count += 1

    def release(self, session: Session, *, now: float) -> None:
        assert session.use_count > 0, "released more often than held"
        session.use_count -= 1
        if not session.is_ended:
            self._touch(session, now)

    def end(self, session: Session) -> None:
        """Forget the session and tell its streams and calls."""
        if session.is_ended:
            return
        session.is_ended = True
        del self._sessions[session.id]
        session.awaiting.clear()
        told, session.on_end = session.on_end, []
        for tell in told:
            tell()

    def expire(self, now: float) -> None:
        """End every session that has been idle for too long."""
        for session in list(self._sessions.values()):
            if now - session.used_s < SESSION_IDLE_S:
                break  # least recently used first: the rest is younger
            if session.is_expired(now):
                self.end(session)

    def end_all(self) -> None:
        """End every session, busy or not (a fault: as if the endpoint had forgotten them)."""
        for session in list(self._sessions.values()):
            self.end(session)

    def statistics(self) -> dict[str, int]:
        """Counts for /health: sessions, and how many of them are busy."""
        return {"sessions": len(self._sessions), "busy": sum(1 for s in self._sessions.values() if s.use_count)}

    def _touch(self, session: Session, now: float) -> None:
        session.used_s = now
        self._sessions.move_to_end(session.id)

    def _drop_idle(self) -> None:
        for session in self._sessions.values():
            if session.use_count == 0:
                self.end(session)
                return
        raise SessionsFull
