"""Plays a recorded scenario against a whole kernel in this run: no process, no socket, and pauses that take no time."""

from __future__ import annotations

import base64
import json
import shlex
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import trio
from wsproto.events import BytesMessage, Event, Ping, RejectConnection, Request, TextMessage

from kernel.lab.inprocess import InProcessKernel, open_inprocess
from kernel.settings import Settings
from tests.golden import golden
from tests.http.conftest import Client, Peer

Exchange = dict[str, Any]

MCP_PATH: Final = "/sisyphus/mcp"
SWITCHING: Final = 101
LISTENING_S: Final = 0.2  # what the recorder waited after it had opened a WebSocket
FLUSH_S: Final = 0.3
PUSHED_S_MIN: Final = 0.05
_FIELDS: Final = {
    "--readonly": lambda value: {"is_readonly": value == "true"},
    "--accessAuthCode": lambda value: {"access_code": value},
    "--default-permission": lambda value: {"default_permission": value},
}


@asynccontextmanager
async def recorded_kernel(scenario: dict[str, Any], workspace: Path) -> AsyncIterator[InProcessKernel]:
    """A kernel as the scenario was recorded with: an empty workspace, and its flags."""
    settings = Settings(workspace)
    words = shlex.split(scenario.get("flags", ""))
    for flag, value in zip(words[::2], words[1::2], strict=True):
        settings = replace(settings, **_FIELDS[flag](value))
    async with open_inprocess(settings) as kernel:
        yield kernel


async def differing_exchanges(scenario: dict[str, Any], workspace: Path) -> dict[int, list[str]]:
    """The exchanges that come out otherwise than recorded: index → differences."""
    started = time.strftime("%Y-%m-%d")
    names = put_vaults(scenario.get("vaults", {}), workspace / "data" / "vaults")
    async with recorded_kernel(scenario, workspace) as kernel, trio.open_nursery() as nursery:
        player = Player(kernel, nursery, scenario.get("mcp", MCP_PATH))
        player.names |= names
        played = [exchange async for exchange in player.play(scenario["steps"])]
        nursery.cancel_scope.cancel()
    rows = {
        index: golden.differing(want, got, scenario["day"], started)
        for index, (want, got) in enumerate(zip(scenario["exchanges"], played, strict=True))
    }
    return {index: found for index, found in rows.items() if found}


def put_vaults(vaults: dict[str, str | dict[str, str]], folder: Path) -> dict[str, str]:
    """Put the files that a scenario finds on the machine where this kernel reads them (the real one: anywhere else)."""
    for path, content in vaults.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else base64.b64decode(content["base64"]))
    return {"vaults": str(folder)} if vaults else {}


class Player:
    """One client: its MCP session, its WebSocket, the names that its steps have saved."""

    def __init__(self, kernel: InProcessKernel, nursery: trio.Nursery, mcp: str) -> None:
        conf = kernel.app.kernel.workspace.conf
        self._kernel = kernel
        self._nursery = nursery
        self._mcp = mcp
        self._token = conf.token
        self._session: dict[str, str] | None = None
        self._calls = 0
        self._frames: list[Any] | None = None
        self.names: dict[str, str] = {}

    async def play(self, steps: list[dict[str, Any]]) -> AsyncIterator[Exchange]:
        for step in steps:
            result = await self._perform(golden.fill(step, self.names))
            if result is not None:
                golden.keep(step, result, self.names)
                yield {"step": step, "result": result, "names": dict(self.names)}
            if step.get("then_flush"):
                await self._send("POST", "/api/sqlite/flushTransaction", {"Content-Type": "application/json"}, b"{}")
                await trio.sleep(FLUSH_S)

    async def _perform(self, step: dict[str, Any]) -> dict[str, Any] | None:
        if "pause" in step:
            await trio.sleep(step["pause"])
            return None
        if "modern" in step:
            self._calls += 1
            request = golden.modern_request(self._calls, step["mcp"], step.get("params", {}), step["modern"])
            return golden.decoded(await self._send("POST", self._mcp, *request))
        if "tool" in step:
            return await self._call("tools/call", {"name": step["tool"], "arguments": step.get("arguments", {})})
        if "mcp" in step:
            return await self._call(step["mcp"], step.get("params", {}))
        if "listen" in step:
            return await self._listen(step["listen"])
        if "push" in step:
            return await self._pushed(step["push"], step.get("cmds"))
        return await self._send(*golden.request_of(step))

    async def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self._session is None:
            self._calls += 1
            opened = golden.decoded(await self._send("POST", self._mcp, *golden.opening_request(self._calls)))
            self._session = golden.session_headers(opened)
            notified = golden.handshake_request(None, "notifications/initialized", None, self._session)
            await self._send("POST", self._mcp, *notified)
        self._calls += 1
        request = golden.handshake_request(self._calls, method, params, self._session)
        return golden.decoded(await self._send("POST", self._mcp, *request))

    async def _send(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> dict[str, Any]:
        status, told, answer = await self._exchange(method, path, {**self._credentials(headers), **headers}, body)
        return golden.answered(status, told.get("content-type"), told.get("mcp-session-id"), answer)

    def _credentials(self, headers: dict[str, str]) -> dict[str, str]:
        return {} if "Authorization" in headers else {"Authorization": f"Token {self._token}"}

    async def _exchange(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None
    ) -> tuple[int, dict[str, str], bytes]:
        """The bytes that the recorder's client sent: h11 would not let a recorded mistake through."""
        implied = {"Host": "127.0.0.1", "Accept-Encoding": "identity"}
        if body is not None or method in ("POST", "PUT", "PATCH"):
            implied["Content-Length"] = str(len(body or b""))
        sent = {name.lower() for name in headers}
        whole = {name: value for name, value in implied.items() if name.lower() not in sent} | headers
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in whole.items()), "", ""]
        async with self._kernel.connect() as stream:
            client = Client(stream)
            await client.send("\r\n".join(lines).encode() + (body or b""))
            status, told, answer = await client.answer(method)
            return status, {name.lower(): value for name, value in told.items()}, answer

    async def _listen(self, target: str) -> dict[str, Any]:
        peer = Peer(Client(self._kernel.connect()), target, Authorization=f"Token {self._token}")
        request = Request(host="127.0.0.1", target=target, extra_headers=peer.headers)
        await peer.client.send(peer.protocol.send(request))
        opened = await peer.event()
        if isinstance(opened, RejectConnection):
            return {"status": opened.status_code}
        self._frames = []
        self._nursery.start_soon(self._hear, peer, self._frames)
        await trio.sleep(LISTENING_S)
        return {"status": SWITCHING}

    async def _hear(self, peer: Peer, frames: list[Any]) -> None:
        text = ""
        async for event in _events(peer):
            if isinstance(event, Ping):
                await peer.send(event.response())
            elif isinstance(event, (TextMessage, BytesMessage)):
                text += event.data if isinstance(event.data, str) else bytes(event.data).decode("utf-8", "replace")
                if event.message_finished:
                    frames.append(_read(text))
                    text = ""

    async def _pushed(self, seconds: float, cmds: list[str] | None) -> dict[str, Any]:
        await trio.sleep(max(seconds, PUSHED_S_MIN))
        if self._frames is None:
            return {"status": 0, "json": None}
        told, self._frames[:] = list(self._frames), []
        return {"status": 0, "json": [frame for frame in told if cmds is None or golden.dig(frame, "cmd") in cmds]}


async def _events(peer: Peer) -> AsyncIterator[Event]:
    while True:
        for event in peer.protocol.events():
            yield event
        data = await peer.client.stream.receive_some()
        if not data:
            return
        peer.protocol.receive_data(data)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
