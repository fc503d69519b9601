"""The way back of one POST: JSON if the answer comes first, an event stream once anything else must be said.

The producer side (``progress``, ``log``, ``ask``, ``finish``) is synchronous and bounded; the shell that owns the
connection waits with ``wait`` and writes. Holds no rule of an era but the ones a client's declaration sets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import trio
from msgspec import UNSET

from kernel.mcp.capabilities import declares
from kernel.mcp.jsonrpc import SSE_KEEP_ALIVE, Reply, notification_message, request_message, sse_event, sse_frame
from kernel.mcp.limits import (
    EVENTS_BUFFERED_MAX,
    KEEP_ALIVE_S,
    SEND_S_MAX,
    SERVER_REQUEST_S_MAX,
    TASK_INPUT_S_MAX,
)
from kernel.mcp.modern_era import reaches
from kernel.mcp.sessions import Session
from kernel.mcp.task_inputs import TaskInputs
from kernel.wire import ClientGone, StreamWriter


class InputRequired(Exception):
    """A handler cannot go on without the client's input (modern era): the result asks for it."""

    def __init__(self, requests: Mapping[str, Any], state: str | None = None) -> None:
        super().__init__("input required")
        self.requests = requests
        self.state = state

    def result(self) -> dict[str, Any]:
        wire: dict[str, Any] = {}
        if self.requests:
            wire["inputRequests"] = dict(self.requests)
        if self.state is not None:
            wire["requestState"] = self.state
        return wire


class ClientRefused(Exception):
    """The client answered a request of ours with an error, not at all, or cannot be asked."""


class PostChannel(msgspec.Struct, eq=False):
    """One request's channel. ``takes_events`` False: everything but the answer is dropped."""

    takes_events: bool
    capabilities: Mapping[str, Any]
    progress_token: int | str | None = None
    has_progress_message: bool = True  # the first revision has no such member
    log_level: str | None = None
    session: Session | None = None
    input_responses: Any = UNSET
    request_state: Any = None
    inputs: TaskInputs | None = None  # set where the call may become a task of the official extension
    on_finish: Callable[[], None] | None = None
    status: int = 200  # what the answer travels with as long as it travels alone
    is_watched: bool = False
    is_impatient: bool = False
    _events: deque[bytes] | None = None  # most calls say nothing but their answer
    _answer: bytes | None = None
    _waiter: trio.lowlevel.Task | None = None
    _progress: float | None = None

    # --- the producer's side ---

    @property
    def wants_progress(self) -> bool:
        return self.takes_events and self.progress_token is not None

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.progress_token is None or (self._progress is not None and progress <= self._progress):
            return
        self._progress = progress
        params: dict[str, Any] = {"progressToken": self.progress_token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None and self.has_progress_message:
            params["message"] = message
        self._push(notification_message("notifications/progress", params))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        if not reaches(level, self.log_level):
            return
        params = {"level": level, "data": data} if logger is None else {"level": level, "logger": logger, "data": data}
        self._push(notification_message("notifications/message", params))

    def declares(self, name: str) -> bool:
        """Whether the client declared that top-level capability."""
        return declares(self.capabilities, name)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send the client a request on this stream and wait for its reply (handshake sessions only).

        Raises:
            ClientRefused
        """
        session = self.session
        if session is None or not self.takes_events:
            raise ClientRefused("there is no session or no stream to ask on")
        session.requests_sent += 1
        request_id = session.requests_sent
        replies: list[Reply] = []
        arrived = trio.Event()

        def receive(reply: Reply) -> None:
            replies.append(reply)
            arrived.set()

        session.awaiting[request_id] = receive
        try:
            self._push(request_message(request_id, method, params))
            with trio.move_on_after(SERVER_REQUEST_S_MAX):
                await arrived.wait()
        finally:
            session.awaiting.pop(request_id, None)
        if not replies:
            self._push(notification_message("notifications/cancelled", {"requestId": request_id}))
            raise ClientRefused("no reply in time")
        if not isinstance(replies[0].result, dict):
            raise ClientRefused(str(replies[0].error))
        return replies[0].result

    async def ask_in_task(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put a question (``{method, params}``) to the client of a task and wait for its ``tasks/update``. The call
        becomes a task for it at once.

        Raises:
            ClientRefused: the call is no task, it has ended, or no answer came in time.
        """
        inputs = self.inputs
        if inputs is None:
            raise ClientRefused("the call cannot become a task")
        answers: list[dict[str, Any] | None] = []
        arrived = trio.Event()

        def receive(answer: dict[str, Any] | None) -> None:
            answers.append(answer)
            arrived.set()

        key = inputs.ask(request, receive)
        try:
            with trio.move_on_after(TASK_INPUT_S_MAX):
                await arrived.wait()
        finally:
            inputs.withdraw(key)
        if not answers or answers[0] is None:
            raise ClientRefused("no answer in time" if not answers else "the call is no task, or has ended")
        return answers[0]

    def finish(self, message: bytes, status: int = 200) -> None:
        """The answer, encoded. What comes after it is dropped."""
        assert self._answer is None, "a request is answered once"
        self._answer = message
        self.status = status
        if self.inputs is not None:
            self.inputs.close()
        if self.on_finish is not None:
            self.on_finish()
        self._wake()

    def _push(self, message: dict[str, Any]) -> None:
        # A client that does not read loses notifications, never its answer.
        if self._events is None:
            self._events = deque()
        if self.takes_events and self._answer is None and len(self._events) < EVENTS_BUFFERED_MAX:
            self._events.append(sse_event(message))
            self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            trio.lowlevel.reschedule(waiter)

    # --- the connection's side ---

    @property
    def answer(self) -> bytes | None:
        """The answer, if it is the only thing to be said."""
        return self._answer if not self._events else None

    @property
    def has_news(self) -> bool:
        return self._answer is not None or bool(self._events)

    def ask_for_watch(self) -> None:
        """It takes longer: ``wait`` returns once, so that the connection can be watched from now on."""
        if not self.is_watched:
            self.is_watched = True
            self._wake()

    def lose_patience(self) -> None:
        """The silence has lasted long enough: ``wait`` returns, and the answer becomes a stream."""
        if self.takes_events and not self.is_impatient:
            self.is_impatient = True
            self._wake()

    async def wait(self) -> None:
        """Until there is something to send, or until the sweep asks for a change of manner."""
        if self._answer is not None or self._events:
            return
        # One waiter, one wake-up: an Event would cost every call twice as much.
        assert self._waiter is None, "the connection waits once"
        self._waiter = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._leave)

    def _leave(self, _raise_cancel: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
        self._waiter = None
        return trio.lowlevel.Abort.SUCCEEDED

    async def produce(self, writer: StreamWriter) -> None:
        """Write everything, keep-alives in silence, and the answer last. Raises ClientGone."""
        while True:
            if self._events:
                waiting = b"".join(self._events)
                self._events.clear()
                await send(writer, waiting)
            elif self._answer is not None:
                await send(writer, sse_frame(self._answer))
                return
            else:
                with trio.move_on_after(KEEP_ALIVE_S):
                    await self.wait()
                if not self.has_news:
                    await send(writer, SSE_KEEP_ALIVE)


async def send(writer: StreamWriter, data: bytes) -> None:
    """Write one piece within ``SEND_S_MAX``. Raises ClientGone, also for a reader that does not read."""
    with trio.move_on_after(SEND_S_MAX) as scope:
        await writer.send(data)
    if scope.cancelled_caught:
        raise ClientGone("the client does not read")
