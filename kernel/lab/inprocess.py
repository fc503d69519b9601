"""A whole kernel inside a Trio test: same run, in-memory connections, no threads, and the test's own clock.

With pytest-trio's ``autojump_clock`` hours pass in no time; without it the time is the machine's.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import h11
import trio
import trio.testing

from kernel.app import App, Doubles, open_app
from kernel.clock import SystemClock
from kernel.faults.plan import FaultPlan
from kernel.faults.reading import read_rule
from kernel.ids import SystemIds
from kernel.lab.mcp import modern_request, result_of
from kernel.settings import Settings
from kernel.siyuan.durable import Durable, write_inline

if TYPE_CHECKING:
    from trio import StapledStream

_MCP: Final = "/sisyphus/mcp"
_RECEIVE_BYTES: Final = 65_536


class RunClock(SystemClock):
    """Trio's clock, so that a virtual one moves the kernel's time too; the wall clock follows it."""

    def __init__(self) -> None:
        super().__init__()
        self._start_s = trio.current_time()
        self._start_wall_ms = super().wall_ms()
        self._jumped_s = 0.0

    def now(self) -> float:
        return trio.current_time() - self._start_s + self._jumped_s

    def wall_ms(self) -> int:
        return self._start_wall_ms + int(self.now() * 1000)

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("a clock only moves forward")
        self._jumped_s += seconds


class InProcessKernel:
    """One kernel in this run. The helpers have the names of ``LabKernel``'s; those that wait are awaited."""

    def __init__(self, app: App, nursery: trio.Nursery, clock: RunClock) -> None:
        self.app = app
        self.clock = clock
        self._nursery = nursery
        self._numbers = itertools.count(1)

    # --- connections ---

    def connect(self) -> StapledStream[Any, Any]:
        """A client's end of a new connection: raw HTTP/1.1 goes in and comes out."""
        ours, theirs = trio.testing.memory_stream_pair()
        self._nursery.start_soon(self.app.server.serve_stream, theirs)
        return ours

    async def request(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One exchange on a connection of its own: status, headers (lower case), body.

        Raises:
            h11.RemoteProtocolError: the connection ended before the answer was whole.
        """
        stream = self.connect()
        async with stream:
            return await _exchange(stream, method, path, body, headers or {})

    async def tool(self, name: str, action: str, /, **arguments: Any) -> dict[str, Any]:
        """One tools/call of the modern era: its result."""
        number = next(self._numbers)
        headers, body = modern_request(
            number, "tools/call", {"name": name, "arguments": {"action": action, **arguments}}
        )
        headers["Content-Type"] = "application/json"
        status, told, answer = await self.request("POST", _MCP, json.dumps(body).encode(), headers)
        result = result_of(told.get("content-type", ""), answer, number)
        if result is None or "result" not in result:
            raise AssertionError(f"{name}.{action}: HTTP {status} {answer[:500]!r}")
        return dict(result["result"])

    async def api(self, path: str, /, **arguments: Any) -> Any:
        """``data`` of one call of the kernel's own API."""
        _, _, body = await self.request("POST", f"/api/{path}", json.dumps(arguments).encode())
        answer = json.loads(body)
        if answer["code"] != 0:
            raise AssertionError(f"{path}: {answer['msg']}")
        return answer["data"]

    async def make_notes(self) -> dict[str, str]:
        """A notebook ``Box`` with the document ``/Plan``: ids of notebook, document and block."""
        notebook = (await self.api("notebook/createNotebook", name="Box"))["notebook"]["id"]
        markdown = "Alpha text\n\nBeta text\n\n## Part\n\nGamma text"
        document = await self.api("filetree/createDocWithMd", notebook=notebook, path="/Plan", markdown=markdown)
        block = (await self.api("block/getChildBlocks", id=document))[0]["id"]
        return {"notebook": notebook, "document": document, "block": block}

    # --- faults, clock, trace ---

    def fault(self, point: str, do: str, **fields: Any) -> None:
        """Add one rule. Raises PlanInvalid."""
        self.app.trigger.plan.add(read_rule({"point": point, "do": do, **fields}))

    def apply(self, plan: FaultPlan) -> None:
        self.app.trigger.plan.extend(plan.rules)

    def clear(self) -> None:
        self.app.trigger.plan.clear()

    async def wait_for(self, name: str, count: int = 1) -> None:
        """Return once the rules called ``name`` have struck ``count`` times."""
        await self.app.trigger.wait_struck(name, count)

    def release(self, name: str = "") -> int:
        return self.app.trigger.release(name)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def trace(self, since: int = 0) -> list[dict[str, Any]]:
        return [event.as_json() for event in self.app.trigger.trace.events(since)]


@asynccontextmanager
async def open_inprocess(settings: Settings) -> AsyncIterator[InProcessKernel]:
    """A kernel for the length of the block."""
    clock = RunClock()
    settings.workspace.mkdir(parents=True, exist_ok=True)
    async with (
        trio.open_nursery() as nursery,
        open_app(settings, clock, SystemIds(), Doubles(is_inline=True)) as app,
    ):
        # No threads: a virtual clock would jump over whatever one is doing.
        app.kernel.durable = Durable(app.kernel.workspace.files, app.kernel.workspace.reload, run=write_inline)
        app.kernel.state["statement_runner"] = _run_inline
        await nursery.start(app.server.serve)
        try:
            yield InProcessKernel(app, nursery, clock)
        finally:
            app.server.close_now()
            nursery.cancel_scope.cancel()


async def _run_inline(work: Callable[[], Any]) -> Any:
    await trio.lowlevel.checkpoint()
    return work()


async def _exchange(
    stream: StapledStream[Any, Any], method: str, path: str, body: bytes, headers: dict[str, str]
) -> tuple[int, dict[str, str], bytes]:
    client = h11.Connection(h11.CLIENT)
    head = [("Host", "127.0.0.1"), ("Content-Length", str(len(body))), *headers.items()]
    data = client.send(h11.Request(method=method, target=path, headers=head))
    await stream.send_all((data or b"") + (client.send(h11.Data(data=body)) or b""))
    client.send(h11.EndOfMessage())
    status, told, pieces = 0, {}, []
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(bytes(await stream.receive_some(_RECEIVE_BYTES)))
        elif isinstance(event, h11.Response):
            status = event.status_code
            told = {name.decode().lower(): value.decode("latin-1") for name, value in event.headers}
        elif isinstance(event, h11.Data):
            pieces.append(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage):
            return status, told, b"".join(pieces)
        elif isinstance(event, h11.ConnectionClosed):
            raise h11.RemoteProtocolError("the connection ended without an answer")
