"""The kernel's /ws: who listens to pushes, who is turned away, and the two commands a window may send (siyuan-api E1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import msgspec
import trio

from kernel.json_text import read_json
from kernel.siyuan.auth import AccessRules, Grant, is_local_origin, session_of
from kernel.siyuan.outbox import Outbox
from kernel.siyuan.push import PushSession
from kernel.siyuan.surface import GET, SurfaceRoute, handshake_refusal
from kernel.wire import Answer, ClientGone, Exchange, Request, WebSocket, WebSocketResponse

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

# The kernel writes its reason where the close code belongs: two blanks, then the words (kernel-facts, Push).
BLANKS_CODE: Final = 0x2020
_UNAUTHENTICATED: Final = (BLANKS_CODE, "unauthenticated")
_CLOSED_ON_REQUEST: Final = (BLANKS_CODE, "close websocket")
_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Window:
    """What a socket says of itself. Only with all three is it ever addressed."""

    app: str
    id: str
    type: str

    @property
    def is_addressable(self) -> bool:
        return bool(self.app and self.id and self.type)


def routes(kernel: SiyuanKernel, rules: Callable[[], AccessRules]) -> Iterator[SurfaceRoute]:
    async def open_socket(exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        refusal = handshake_refusal(request.headers)
        if refusal is not None:
            return refusal
        if not may_listen(request, rules(), wall_ms=kernel.clock.wall_ms()):
            return WebSocketResponse(_turn_away)
        return WebSocketResponse(PushSocket(kernel, window_of(request)).serve)

    yield SurfaceRoute("/ws", GET, open_socket, "public")


def may_listen(request: Request, rules: AccessRules, *, wall_ms: int) -> bool:
    """Whether a socket may hear pushes. The token is not looked at; the sign-in page may wait for its reload.

    The real kernel lets any web page listen while no access code is set; ours asks the page's Origin, as for calls.
    """
    if not rules.access_code:
        origin = request.headers.get("origin")
        return not origin or is_local_origin(origin)
    session = session_of(request, rules.seal, wall_ms=wall_ms)
    if session is not None and session.proves(rules.access_code, rules.seal):
        return True
    return "/ws?app=siyuan" in request.target and "&id=auth&type=auth" in request.target


def window_of(request: Request) -> Window:
    query = parse_qs(request.query)

    def first(name: str) -> str:
        return query.get(name, [""])[0].strip()

    return Window(first("app"), first("id"), first("type"))


async def _turn_away(socket: WebSocket) -> None:
    await socket.aclose(*_UNAUTHENTICATED)


class PushSocket:
    """One open /ws."""

    def __init__(self, kernel: SiyuanKernel, window: Window) -> None:
        self._kernel = kernel
        self._window = window
        self._outbox = Outbox()
        # After a message that the kernel's reader would break on, nothing the window says is heard any more.
        self._is_deaf = window.id == "auth"

    async def serve(self, socket: WebSocket) -> None:
        window = self._window
        session = PushSession(window.app, window.id, window.type, self._deliver, self._end)
        if window.is_addressable:
            self._kernel.push.add(session)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._outbox.send_to, socket)
                while True:
                    self._take(await socket.receive())
        except* ClientGone:
            pass
        finally:
            self._kernel.push.remove(session)

    def _deliver(self, frame: dict[str, Any]) -> None:
        self._outbox.put(_encode(frame).decode())

    def _end(self) -> None:
        self._outbox.end(*_CLOSED_ON_REQUEST)

    def _take(self, message: str | bytes) -> None:
        if self._is_deaf or isinstance(message, bytes):
            return
        try:
            request = read_json(message)
        except ValueError:
            request = None if message.strip() != "null" else {}
        if request is None and message.strip() == "null":
            request = {}
        if not isinstance(request, dict) or not self._window.app:
            self._refuse("Bad Request")
            return
        self._run(request)

    def _run(self, request: dict[str, Any]) -> None:
        command, number, parameters = request.get("cmd"), request.get("reqId"), request.get("param")
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not (isinstance(command, str) and is_number and isinstance(parameters, dict)):
            self._is_deaf = True
        elif command == "closews":
            self._kernel.push.close(self._window.id)
        elif command != "ping":
            self._refuse(f"can not find command [{command}]")

    def _refuse(self, words: str) -> None:
        frame = {"cmd": "", "reqId": 0, "app": "", "sid": "", "pushMode": 0, "callback": "", "code": -1}
        self._deliver({**frame, "msg": words, "data": None})
