"""An MCP endpoint without sockets: exchanges in memory, a small tool service, and a client for both eras."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import trio
import trio.testing

from kernel.canonical import digest
from kernel.errors import ToolError
from kernel.ids import SeededIds
from kernel.mcp.channel import PostChannel
from kernel.mcp.classify import NAMED_BY
from kernel.mcp.endpoint import MCPEndpoint
from kernel.mcp.patience import Patience
from kernel.tools.service import Caller, CallNamed, Confirmation, Prepared, Refused, ToolResult
from kernel.wire import Answer, Headers, Request, Response, StreamResponse
from scheduler import Lane, Scheduler, Ticket, open_scheduler

MODERN = "2026-07-28"
PV = "io.modelcontextprotocol/protocolVersion"
CC = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
TASK = "io.siyuan.sisyphus/taskId"
FORM = {"elicitation": {"form": {}}}
BOTH = "application/json, text/event-stream"


class TrioClock:
    """Trio's own clock, so that an autojumping test moves the endpoint's time too; ``skip`` jumps ahead."""

    def __init__(self) -> None:
        self.offset_s = 0.0

    def now(self) -> float:
        return trio.current_time() + self.offset_s

    def wall_ms(self) -> int:
        return int(self.now() * 1000)

    def local(self) -> Any:
        raise AssertionError("the endpoint records no local times")

    def skip(self, seconds: float) -> None:
        self.offset_s += seconds


class Exchange:
    """One request being answered; ``leave`` is the client going away."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.watchers: list[Callable[[], None]] = []
        self.is_gone = False

    def chunks(self) -> AsyncGenerator[bytes, None]:
        raise AssertionError("the MCP route does not stream its body")

    @contextmanager
    def watch_disconnect(self, gone: Callable[[], None]) -> Iterator[None]:
        if self.is_gone:
            gone()
        self.watchers.append(gone)
        try:
            yield
        finally:
            self.watchers.remove(gone)

    def leave(self) -> None:
        self.is_gone = True
        for gone in list(self.watchers):
            gone()


@dataclass
class Tools:
    """A tool service: ``echo`` reads, ``slow`` waits for ``release``, ``write`` mutates, ``wipe`` is dangerous."""

    release: trio.Event = field(default_factory=trio.Event)
    surface: str = "v1"
    surface_error: Exception | None = None
    performed: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    prepare_gate: trio.Event | None = None
    skills: list[dict[str, Any]] | None = None

    async def list_tools(self, caller: Caller) -> list[dict[str, Any]]:
        return [
            {"name": name, "description": name, "inputSchema": {"type": "object"}}
            for name in ("echo", "slow", "write", "wipe")
        ]

    async def prepare(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared:
        if self.prepare_gate is not None:
            await self.prepare_gate.wait()
        if name not in ("echo", "slow", "write", "wipe", "help", "crash", "chatty", "odd"):
            raise Refused(self.error_result(ToolError("unknown_tool", f"unknown tool {name}")))
        is_mutation = name in ("write", "wipe")
        lane = None if name == "help" else Lane.MUTATION if is_mutation else Lane.READ
        prepared = Prepared(name, "run", dict(arguments), lane, is_mutation)
        if name == "wipe" and not arguments.get("validateOnly"):
            business = {key: value for key, value in arguments.items() if key != "confirm"}
            prepared.confirmation = Confirmation("Wipe it?", digest([name, business]))
        return prepared

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        self.performed.append((prepared.tool, prepared.arguments))
        if prepared.tool == "slow":
            await self.release.wait()
            ticket.check_cancelled()
        if prepared.tool == "crash":
            raise RuntimeError("secret text")
        if prepared.tool == "odd":
            return ToolResult([{"type": "text", "text": object()}])
        if prepared.tool == "chatty" and caller.channel is not None:
            for step in (1, 2, 2, 1, 3):
                caller.channel.progress(step, 3, f"step {step}")
            caller.channel.log("info", "quiet")
            caller.channel.log("error", "loud", "notes")
            await self.release.wait()
        return ToolResult([{"type": "text", "text": "done"}], {"tool": prepared.tool, "arguments": prepared.arguments})

    def error_result(
        self, error: ToolError, prepared: Prepared | None = None, *, asked: CallNamed | None = None
    ) -> ToolResult:
        payload = {"success": False, **error.payload()}
        return ToolResult([{"type": "text", "text": json.dumps(payload)}], payload, is_error=True)

    async def instructions(self, caller: Caller) -> str:
        return "Read before you write."

    async def list_resources(self, caller: Caller) -> list[dict[str, Any]]:
        return [{"uri": "help://rules", "name": "rules", "description": "The rules"}]

    async def list_resource_templates(self, caller: Caller) -> list[dict[str, Any]]:
        return []

    async def read_resource(self, uri: str, caller: Caller) -> list[dict[str, Any]] | None:
        return [{"uri": uri, "text": "rules"}] if uri == "help://rules" else None

    async def list_skills(self, caller: Caller) -> list[dict[str, Any]] | None:
        return self.skills

    async def list_prompts(self, caller: Caller) -> list[dict[str, Any]]:
        return [{"name": "tidy"}]

    async def get_prompt(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any] | None:
        return {"messages": []} if name == "tidy" else None

    async def complete(self, reference: Mapping[str, Any], argument: Mapping[str, Any], caller: Caller) -> list[str]:
        return [f"{argument['value']}{index}" for index in range(120)]

    async def surface_version(self, caller: Caller) -> str:
        if self.surface_error is not None:
            raise self.surface_error
        return self.surface


@dataclass
class Reply:
    """One HTTP answer; ``messages``: the JSON-RPC messages in it, whether JSON or events."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def messages(self) -> list[Any]:
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            lines = self.body.decode().splitlines()
            return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        if not self.body:
            return []
        value = json.loads(self.body)
        return value if isinstance(value, list) else [value]

    @property
    def message(self) -> Any:
        (message,) = self.messages
        return message

    @property
    def result(self) -> Any:
        return self.message["result"]

    @property
    def error(self) -> Any:
        return self.message["error"]

    @property
    def rpc(self) -> tuple[int, int]:
        """JSON-RPC code and HTTP status of an error."""
        return self.error["code"], self.status

    @property
    def code(self) -> str:
        """The code of a failed tool call."""
        assert self.status == 200
        assert self.result["isError"] is True
        return str(self.result["structuredContent"]["error"]["code"])


@dataclass
class Stream:
    """A stream that is being read; ``take`` waits for the next piece."""

    head: StreamResponse
    exchange: Exchange
    pieces: trio.MemoryReceiveChannel[bytes]
    scope: trio.CancelScope

    async def take(self) -> bytes:
        return await self.pieces.receive()

    async def message(self) -> Any:
        """The next message, comments skipped."""
        while True:
            piece = await self.take()
            for line in piece.decode().splitlines():
                if line.startswith("data: "):
                    return json.loads(line[6:])

    async def rest(self) -> list[Any]:
        """Every message up to the end of the stream."""
        found = []
        async for piece in self.pieces:
            found.extend(json.loads(line[6:]) for line in piece.decode().splitlines() if line.startswith("data: "))
        return found


@dataclass
class World:
    """The endpoint, its doubles, and ways to talk to it."""

    endpoint: MCPEndpoint
    tools: Tools
    scheduler: Scheduler
    clock: TrioClock
    nursery: trio.Nursery
    exchanges: list[Exchange] = field(default_factory=list)

    # --- raw ---

    async def send(
        self, method: str, headers: list[tuple[str, str]], body: bytes = b"", *, query: str = ""
    ) -> tuple[Answer, Exchange]:
        target = "/sisyphus/mcp" + (f"?{query}" if query else "")
        lowered = Headers((name.lower(), value) for name, value in headers)
        exchange = Exchange(Request(method, target, "/sisyphus/mcp", query, lowered, body))
        self.exchanges.append(exchange)
        return await self.endpoint.handle(exchange), exchange

    async def ask(self, method: str, headers: list[tuple[str, str]], body: bytes = b"", *, query: str = "") -> Reply:
        """One request, its whole answer read."""
        answer, _ = await self.send(method, headers, body, query=query)
        return await drain(answer)

    async def open(self, method: str, headers: list[tuple[str, str]], body: bytes = b"") -> Stream:
        answer, exchange = await self.send(method, headers, body)
        assert isinstance(answer, StreamResponse), answer
        return self.read(answer, exchange)

    def read(self, answer: StreamResponse, exchange: Exchange) -> Stream:
        send, receive = trio.open_memory_channel[bytes](100)
        scope = trio.CancelScope()

        async def produce() -> None:
            with scope, send:
                await answer.produce(ChannelWriter(send))

        self.nursery.start_soon(produce)
        return Stream(answer, exchange, receive, scope)

    # --- modern ---

    async def modern(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        id: Any = 1,
        capabilities: Any = None,
        meta: dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: str = BOTH,
    ) -> Reply:
        answer, _ = await self.send(
            "POST",
            modern_headers(method, params, accept=accept, extra=headers),
            modern_body(method, params, id=id, capabilities=capabilities, meta=meta),
        )
        return await drain(answer)

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Reply:
        """A modern tools/call; ``params`` adds members beside name and arguments."""
        params = {"name": name, "arguments": arguments or {}, **options.pop("params", {})}
        return await self.modern("tools/call", params, **options)

    # --- handshake ---

    async def initialize(self, version: str = "2025-11-25", *, token: str | None = None, **params: Any) -> str:
        """A new session's id."""
        reply = await self.post_old(None, initialize_message(version, **params), token=token)
        assert reply.status == 200, reply
        return reply.headers["mcp-session-id"]

    async def post_old(
        self,
        session: str | None,
        message: Any,
        *,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        accept: str = BOTH,
    ) -> Reply:
        return await self.ask("POST", old_headers(session, headers, token, accept), json.dumps(message).encode())

    async def old(
        self, session: str | None, method: str, params: dict[str, Any] | None = None, *, id: Any = 1, **options: Any
    ) -> Reply:
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        return await self.post_old(session, message, **options)

    async def old_call(
        self, session: str | None, name: str, arguments: dict[str, Any] | None = None, **options: Any
    ) -> Reply:
        return await self.old(session, "tools/call", {"name": name, "arguments": arguments or {}}, **options)

    async def cancel(self, session: str | None, request_id: Any, **options: Any) -> Reply:
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
        return await self.post_old(session, message, **options)

    # --- concurrency ---

    async def start(self, call: Callable[[], Any]) -> Pending:
        """Begin ``call`` in the background and let everything settle."""
        pending = Pending()

        async def run() -> None:
            pending.reply = await call()
            pending.done.set()

        self.nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked()
        return pending


@dataclass
class Pending:
    """A request in the background."""

    reply: Reply | None = None
    done: trio.Event = field(default_factory=trio.Event)

    async def wait(self) -> Reply:
        with trio.fail_after(3600):
            await self.done.wait()
        assert self.reply is not None
        return self.reply


def look_at_clients(endpoint: MCPEndpoint) -> None:
    """From now on the endpoint looks at once for every client that waits, not only after a while.

    In virtual time no call takes that long, and no departure would ever be seen.
    """
    patience = endpoint._patience
    enter = Patience.enter

    def enter_watched(channel: PostChannel) -> None:
        enter(patience, channel)
        channel.ask_for_watch()

    patience.enter = enter_watched  # type: ignore[method-assign]
    for channel in list(patience._since):
        channel.ask_for_watch()


class ChannelWriter:
    """A StreamWriter into a memory channel."""

    def __init__(self, channel: trio.MemorySendChannel[bytes]) -> None:
        self._channel = channel

    async def send(self, data: bytes) -> None:
        await self._channel.send(data)


class ListWriter:
    def __init__(self) -> None:
        self.sent: list[bytes] = []

    async def send(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        self.sent.append(data)


async def drain(answer: Answer) -> Reply:
    headers = {name.lower(): value for name, value in answer.headers}
    if isinstance(answer, Response):
        return Reply(answer.status, headers, answer.body)
    assert isinstance(answer, StreamResponse)
    writer = ListWriter()
    await answer.produce(writer)
    return Reply(answer.status, headers, b"".join(writer.sent))


def modern_headers(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    accept: str = BOTH,
    extra: Mapping[str, str | None] | None = None,
) -> list[tuple[str, str]]:
    headers: dict[str, str | None] = {
        "Content-Type": "application/json",
        "Accept": accept,
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
    }
    name = (params or {}).get(NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = name
    headers.update(extra or {})
    return [(key, value) for key, value in headers.items() if value is not None]


def modern_body(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: Any = 1,
    capabilities: Any = None,
    meta: Mapping[str, Any] | None = None,
) -> bytes:
    full_meta = {PV: MODERN, CC: {} if capabilities is None else capabilities, **(meta or {})}
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": full_meta}}
    return json.dumps(message).encode()


def old_headers(
    session: str | None, extra: Mapping[str, str] | None = None, token: str | None = None, accept: str = BOTH
) -> list[tuple[str, str]]:
    headers = {"Content-Type": "application/json", "Accept": accept}
    if session is not None:
        headers["Mcp-Session-Id"] = session
    if token is not None:
        headers["Authorization"] = f"Token {token}"
    headers.update(extra or {})
    return list(headers.items())


def initialize_message(version: str = "2025-11-25", *, id: Any = 0, **params: Any) -> dict[str, Any]:
    full = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}, **params}
    return {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": full}


@asynccontextmanager
async def open_world(
    tools: Any = None, *, scheduler: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[World]:
    """A running endpoint in its world."""
    async with open_scheduler(**(scheduler or {})) as running, trio.open_nursery() as nursery:
        service = tools if tools is not None else Tools()
        clock = TrioClock()
        endpoint = MCPEndpoint(service, running, clock, SeededIds(7), **options)
        await nursery.start(endpoint.run)
        yield World(endpoint, service, running, clock, nursery)
        nursery.cancel_scope.cancel()
