"""Push: which sessions listen at /ws, and the frames they get. The hub is synchronous; the sockets drain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.workspace.events import Event

SESSION_TYPES: Final = ("main", "protyle", "filetree")
# Sockets of the sign-in page: they hear only that somebody signed in.
AUTH_ID: Final = "auth"


def _nothing() -> None:
    return


@dataclass(slots=True, eq=False)
class PushSession:
    """One listening socket: ``deliver`` queues a frame without waiting, ``end`` closes it."""

    app: str
    id: str
    type: str
    deliver: Callable[[dict[str, Any]], None]
    end: Callable[[], None] = _nothing


@dataclass(slots=True)
class PushHub:
    """All listening sessions, in the order they came."""

    sessions: list[PushSession] = field(default_factory=list)
    # Whether a main window has ever listened: until then the settings say that the interface is starting.
    had_main: bool = False

    def add(self, session: PushSession) -> None:
        """A second socket of the same window takes the place of the first, which stays open and hears nothing more."""
        self.sessions = [other for other in self.sessions if (other.app, other.id) != (session.app, session.id)]
        self.sessions.append(session)
        self.had_main = self.had_main or session.type == "main"

    def remove(self, session: PushSession) -> None:
        if session in self.sessions:
            self.sessions.remove(session)

    def close(self, session_id: str) -> None:
        """Close every socket of that session id, whatever its app (the windows' command ``closews``)."""
        for session in list(self.sessions):
            if session.id == session_id:
                self.sessions.remove(session)
                session.end()

    def push(
        self,
        cmd: str,
        data: Any = None,
        *,
        to: tuple[str, ...] = SESSION_TYPES,
        code: int = 0,
        msg: str = "",
        excludes: tuple[str, str] | None = None,
        context: dict[str, Any] | None = None,
    ) -> None:
        """Queue one frame for every session of the given types but the (app, id) in ``excludes``."""
        self.deliver(Event(cmd, data, to, code, msg, excludes=excludes), context)

    def deliver(self, event: Event, context: dict[str, Any] | None = None) -> None:
        """Queue one event of the workspace as a frame, all members present as the kernel sends them."""
        listening = [
            one
            for one in self.sessions
            if _hears(one, event) and (one.app, one.id) != event.excludes and one.app != event.excludes_app
        ]
        if not listening:
            return
        data = event.data
        if callable(data):
            data = data()
            if data is None:
                return
        frame = {
            "cmd": event.cmd,
            "reqId": 0,
            "app": event.app,
            "sid": event.session,
            "pushMode": event.push_mode,
            "callback": event.callback,
            "code": event.code,
            "msg": event.msg,
            "data": data,
        }
        if event.context:
            frame["context"] = event.context
        for session in listening:
            session.deliver(frame)


def _hears(session: PushSession, event: Event) -> bool:
    if session.id == AUTH_ID:
        # The sign-in page waits for one thing only.
        return event.to == (AUTH_ID,)
    # What goes to all goes to windows of unknown types too.
    return session.type in event.to or all(known in event.to for known in SESSION_TYPES)
