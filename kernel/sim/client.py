"""One client of a simulated world: HTTP/1.1 over memory streams, both eras, and all the ways to go away."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import h11
import trio

from kernel.sim.limits import ANSWER_S_MAX, CLIENT_IDLE_S_MAX
from kernel.sim.model import BrokenPromise
from kernel.sim.script import Era

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
ENDPOINT: Final = "/sisyphus/mcp"
TASKS: Final = "/sisyphus/tasks"
TASK: Final = "io.siyuan.sisyphus/taskId"
_META: Final = "io.modelcontextprotocol/"
_ACCEPT: Final = "application/json, text/event-stream"
_RECEIVE_BYTES: Final = 65_536
Stream = trio.StapledStream[Any, Any]


class Lost(Exception):
    """The connection ended before the answer was there."""


class LeftWithoutAnswer(Lost):
    """The server has closed the connection on a request: only a fault may make it do that."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def messages(self) -> list[Any]:
        """The JSON-RPC messages in it, whether JSON or events."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            return [json.loads(line[6:]) for line in self.body.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(self.body)] if self.body else []


class Connection:
    """One byte stream to the server, used by one request at a time."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._protocol = h11.Connection(h11.CLIENT)
        self._idle_since = trio.current_time()
        self.is_cut = False

    def cut(self) -> None:
        """Gone, without a word. Synchronous, so that it can happen at any moment."""
        self.is_cut = True
        self._stream.send_stream.close()
        self._stream.receive_stream.close()

    @property
    def is_usable(self) -> bool:
        # A server may close what was silent for long, and nobody can tell that from a loss: a client does not try.
        is_fresh = trio.current_time() - self._idle_since < CLIENT_IDLE_S_MAX
        return is_fresh and not self.is_cut and self._protocol.our_state is h11.IDLE

    async def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, *, split: int = 0
    ) -> HttpAnswer:
        """Send a request, in two pieces if ``split`` is inside it, and read its whole answer. Raises Lost."""
        lines = [("Host", "127.0.0.1"), ("Content-Length", str(len(body))), *headers.items()]
        protocol = self._protocol
        data = protocol.send(h11.Request(method=method, target=target, headers=lines)) or b""
        data += (protocol.send(h11.Data(body)) or b"") + (protocol.send(h11.EndOfMessage()) or b"")
        try:
            await self._stream.send_all(data[:split] if split else data)
            if split:
                await trio.sleep(0.001)
                await self._stream.send_all(data[split:])
            answer = await self._answer()
        except h11.RemoteProtocolError as error:
            raise BrokenPromise(f"the server spoke no HTTP: {error}") from error
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            if not self.is_cut:
                self.cut()
                raise LeftWithoutAnswer from error
            raise Lost from error
        if protocol.our_state is h11.DONE and protocol.their_state is h11.DONE:
            protocol.start_next_cycle()
            self._idle_since = trio.current_time()
        else:
            self.cut()
        return answer

    async def _answer(self) -> HttpAnswer:
        head: h11.Response | None = None
        pieces: list[bytes] = []
        while True:
            event = self._protocol.next_event()
            if event is h11.NEED_DATA:
                data = bytes(await self._stream.receive_some(_RECEIVE_BYTES))
                if not data:
                    # Every answer here says how long it is: the end before its end is a loss.
                    raise trio.BrokenResourceError
                self._protocol.receive_data(data)
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                pieces.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                headers = {name.decode(): value.decode() for name, value in head.headers}
                return HttpAnswer(head.status_code, headers, b"".join(pieces))


@dataclass(eq=False)
class InFlight:
    """A call that has not been answered: what it can be cancelled by."""

    identifier: int
    connection: Connection
    task_id: str | None = None


@dataclass(eq=False)
class SimulatedClient:
    """A client. ``connect`` opens a new stream to whatever kernel lives; it raises Lost while none does."""

    name: str
    era: Era
    connect: Callable[[], Stream]
    chance: random.Random
    session: str | None = None
    in_flight: list[InFlight] = field(default_factory=list)
    has_form: bool = False
    _idle: list[Connection] = field(default_factory=list)
    _open: list[Connection] = field(default_factory=list)
    _next_id: int = 0

    def sever(self) -> None:
        """The machine at the other end has died: every connection is gone, and so is the session."""
        for connection in self._open:
            connection.cut()
        self._idle.clear()
        self._open.clear()
        self.session = None

    # --- HTTP --------------------------------------------------------------------------------------------------
    def _connection(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                return connection
        connection = Connection(self.connect())
        self._open.append(connection)
        return connection

    async def _exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, flight: InFlight | None = None
    ) -> HttpAnswer:
        connection = self._connection() if flight is None else flight.connection
        split = self.chance.randrange(1, 200) if self.chance.random() < 0.1 else 0
        with trio.move_on_after(ANSWER_S_MAX):
            answer = await connection.exchange(method, target, headers, body, split=split)
            if connection.is_usable:
                self._idle.append(connection)
            return answer
        raise BrokenPromise(f"{self.name}: no answer within {ANSWER_S_MAX:g} s")

    async def get(self, target: str) -> HttpAnswer:
        return await self._exchange("GET", target, {}, b"")

    async def post(self, target: str, value: object) -> HttpAnswer:
        return await self._exchange("POST", target, {"Content-Type": "application/json"}, json.dumps(value).encode())

    # --- MCP ---------------------------------------------------------------------------------------------------
    async def request(self, method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        """One JSON-RPC request: the ``result`` or ``error`` of its one answer. Raises Lost."""
        identifier: int = options.pop("identifier", None) or self._new_id()
        task_id: str | None = options.pop("task_id", None)
        headers, body = self._message(identifier, method, params, task_id)
        flight = InFlight(identifier, self._connection(), task_id)
        self.in_flight.append(flight)
        try:
            answer = await self._exchange("POST", ENDPOINT, headers, body, flight)
        finally:
            self.in_flight.remove(flight)
        return self._read(answer, identifier)

    async def call(self, name: str, action: str, arguments: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """One tools/call: its structured result, or the question that it ends in. Raises Lost."""
        params: dict[str, Any] = {"name": name, "arguments": {"action": action, **arguments}, **options.pop("more", {})}
        told = await self.request("tools/call", params, **options)
        if "error" in told:
            raise BrokenPromise(f"{self.name}: tools/call {name}.{action} failed as a request: {told['error']}")
        result = told["result"]
        if "requestState" in result:
            return {"question": result}
        structured = result.get("structuredContent")
        if not isinstance(structured, dict):
            raise BrokenPromise(f"{self.name}: {name}.{action} has no structured content: {result}")
        if bool(result.get("isError")) is not ("error" in structured):
            raise BrokenPromise(f"{self.name}: {name}.{action} is and is no error: {result}")
        return structured

    async def open(self) -> None:
        """A session, for a client of the handshake era that has none. Raises Lost."""
        if self.era == "modern" or self.session is not None:
            return
        capabilities: dict[str, Any] = {"elicitation": {}} if self.has_form else {}
        params = {
            "protocolVersion": HANDSHAKE,
            "capabilities": capabilities,
            "clientInfo": {"name": "s", "version": "1"},
        }
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
        answer = await self._exchange("POST", ENDPOINT, self._headers(None), body)
        if answer.status == 503:
            return
        self.session = answer.headers["mcp-session-id"]
        await self.notify("notifications/initialized", {})

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
        answer = await self._exchange("POST", ENDPOINT, self._headers(self.session), body)
        if answer.status not in (202, 404):
            raise BrokenPromise(f"{self.name}: {method} is answered with {answer.status}")
        if answer.status == 404:
            self.session = None

    async def close_session(self) -> None:
        if self.session is None:
            return
        session, self.session = self.session, None
        answer = await self._exchange("DELETE", ENDPOINT, {"Mcp-Session-Id": session}, b"")
        if answer.status not in (200, 404):
            raise BrokenPromise(f"{self.name}: DELETE of a session is answered with {answer.status}")

    async def listen(self, seconds: float) -> None:
        """Hold a stream of notifications open for a while, then leave."""
        if self.era == "modern":
            params = {"notifications": {"toolsListChanged": True}}
            headers, body = self._message(self._new_id(), "subscriptions/listen", params, None)
            method = "POST"
        else:
            method, body = "GET", b""
            headers = {"Accept": "text/event-stream", "Mcp-Session-Id": self.session or "none"}
        connection = self._connection()
        with trio.move_on_after(seconds):
            try:
                await connection.exchange(method, ENDPOINT, headers, body)
            except Lost:
                return
        connection.cut()

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _headers(self, session: str | None) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": _ACCEPT}
        if session is not None:
            headers["Mcp-Session-Id"] = session
        return headers

    def _message(
        self, identifier: int, method: str, params: dict[str, Any], task_id: str | None
    ) -> tuple[dict[str, str], bytes]:
        headers = self._headers(self.session)
        if self.era == "modern":
            capabilities: dict[str, Any] = {"elicitation": {"form": {}}} if self.has_form else {}
            meta = {f"{_META}protocolVersion": MODERN, f"{_META}clientCapabilities": capabilities}
            if task_id is not None:
                meta[TASK] = task_id
            params = {**params, "_meta": meta}
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        return headers, json.dumps(message).encode()

    def _read(self, answer: HttpAnswer, identifier: int) -> dict[str, Any]:
        if answer.status == 404 and self.era == "handshake":
            self.session = None
            raise Lost
        ends = [one for one in answer.messages() if "method" not in one]
        if len(ends) != 1 or ends[0].get("id") != identifier:
            raise BrokenPromise(f"{self.name}: request {identifier} has the answers {ends} (HTTP {answer.status})")
        return dict(ends[0])
