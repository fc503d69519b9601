"""Push: which sessions listen at /ws, and the frames they get. The hub is synchronous; the sockets drain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.workspace.events import Event

SESSION_TYPES: Final = ("main", "protyle", "filetree")


@dataclass(slots=True)
class PushSession:
    """One listening socket: ``deliver`` queues a frame without waiting."""

    app: str
    id: str
    type: str
    deliver: Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class PushHub:
    """All listening sessions, in the order they came."""

    sessions: list[PushSession] = field(default_factory=list)

    def add(self, session: PushSession) -> None:
        self.sessions.append(session)

    def remove(self, session: PushSession) -> None:
        if session in self.sessions:
            self.sessions.remove(session)

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
        self.deliver(Event(cmd, data, to, code, msg, excludes=excludes, context=context))

    def deliver(self, event: Event) -> None:
        """Queue one event of the workspace as a frame, all members present as the kernel sends them."""
        frame = {
            "cmd": event.cmd,
            "reqId": 0,
            "app": event.app,
            "sid": event.session,
            "pushMode": event.push_mode,
            "callback": event.callback,
            "code": event.code,
            "msg": event.msg,
            "data": event.data,
        }
        if event.context:
            frame["context"] = event.context
        for session in list(self.sessions):
            if session.type in event.to and (session.app, session.id) != event.excludes:
                session.deliver(frame)
