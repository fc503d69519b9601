"""The official endpoint of a kernel over HTTP: a session of its own, dropped after any failure, never replayed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
import trio

from kernel.extension.bridge import EndpointLost, EndpointRefused
from kernel.extension.limits import (
    ANSWER_BYTES_MAX,
    ENDPOINT_CONNECT_S_MAX,
    ENDPOINT_REQUEST_S_MAX,
    LIST_PAGES_MAX,
    LIST_S_MAX,
)
from kernel.host.reasons import reason_of
from kernel.host.streams import closing_stream
from kernel.host.trust import context_for
from kernel.json_text import read_json

PROTOCOL: Final = "2025-03-26"
# What the official endpoint asks of a session (S3, discovery).
NEEDS_ADMINISTRATOR: Final = "the official endpoint needs an administrator's session and a valid API token"
_ACCEPT: Final = "application/json, text/event-stream"
_SESSION_HEADER: Final = "Mcp-Session-Id"
_INIT_ID: Final = "init"
_INTERNAL_ERROR: Final = -32603
_LINE_END: Final = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class _Answer:
    """An HTTP answer, read whole."""

    body: bytes
    is_stream: bool
    session: str | None


class HttpEndpoint:
    """``<url>/mcp``. Implements ``kernel.extension.bridge.OfficialEndpoint``."""

    def __init__(self, url: str, token: str = "", *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        headers = {"Accept": _ACCEPT, **({"Authorization": f"Token {token}"} if token else {})}
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers=headers,
            timeout=httpx.Timeout(ENDPOINT_REQUEST_S_MAX, connect=ENDPOINT_CONNECT_S_MAX),
            transport=transport,
            verify=context_for(url),
            trust_env=False,
        )
        self._opening = trio.Lock()
        self._session: dict[str, str] | None = None
        self._last_id = 0

    async def list_tools(self) -> list[Any]:
        with trio.move_on_after(LIST_S_MAX):
            return await self._pages()
        self._session = None
        raise EndpointLost(f"tools/list took longer than {LIST_S_MAX:g} s", was_sent=False)

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return await self._request("tools/call", {"name": name, "arguments": dict(arguments)}, ANSWER_BYTES_MAX)

    @property
    def is_closed(self) -> bool:
        return self._client.is_closed

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _pages(self) -> list[Any]:
        tools: list[Any] = []
        seen: set[str] = set()
        cursor: str | None = None
        left = ANSWER_BYTES_MAX
        for _ in range(LIST_PAGES_MAX):
            result, size = await self._sized("tools/list", {"cursor": cursor} if cursor else {}, left)
            left -= size
            page = result.get("tools") or []
            if not isinstance(page, list):
                raise EndpointLost("tools/list gave no list", was_sent=False)
            tools += page
            cursor = result.get("nextCursor")
            if not cursor:
                return tools
            if not isinstance(cursor, str):
                raise EndpointLost("tools/list gave a cursor that is no text", was_sent=False)
            if cursor in seen:
                raise EndpointLost("tools/list repeats a cursor", was_sent=False)
            seen.add(cursor)
        raise EndpointLost(f"tools/list has more than {LIST_PAGES_MAX} pages", was_sent=False)

    # --- one request ---

    async def _request(self, method: str, params: dict[str, Any], bytes_max: int) -> dict[str, Any]:
        return (await self._sized(method, params, bytes_max))[0]

    async def _sized(self, method: str, params: dict[str, Any], bytes_max: int) -> tuple[dict[str, Any], int]:
        """The result, and how long its answer was."""
        session = await self._opened()
        self._last_id += 1
        message_id = self._last_id
        message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        try:
            answer = await self._post(message, session, bytes_max)
            return _result(answer, message_id, was_sent=True), len(answer.body)
        except EndpointLost:
            if self._session is session:
                self._session = None
            raise

    async def _opened(self) -> dict[str, str]:
        """The headers of the session; one that is opened serves whoever else waits for it."""
        async with self._opening:
            if self._session is None:
                try:
                    self._session = await self._open()
                except EndpointLost as error:
                    raise EndpointLost(str(error), was_sent=False) from error
            return self._session

    async def _open(self) -> dict[str, str]:
        client = {"name": "sisyphus-kernel", "version": "1"}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        message = {"jsonrpc": "2.0", "id": _INIT_ID, "method": "initialize", "params": params}
        answer = await self._post(message, {}, ANSWER_BYTES_MAX)
        _result(answer, _INIT_ID, was_sent=False)
        session = {_SESSION_HEADER: answer.session} if answer.session else {}
        await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session, ANSWER_BYTES_MAX)
        return session

    async def _post(self, message: dict[str, Any], session: dict[str, str], bytes_max: int) -> _Answer:
        try:
            with trio.fail_after(ENDPOINT_REQUEST_S_MAX):
                async with self._client.stream("POST", "/mcp", json=message, headers=session) as response:
                    return await _read(response, bytes_max)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise EndpointLost(reason_of(error), was_sent=False) from error
        except httpx.HTTPError as error:
            raise EndpointLost(reason_of(error), was_sent=True) from error
        except trio.TooSlowError as error:
            words = f"no whole answer within {ENDPOINT_REQUEST_S_MAX:g} s"
            raise EndpointLost(words, was_sent=True) from error


async def _read(response: httpx.Response, bytes_max: int) -> _Answer:
    status = response.status_code
    if status in (401, 403):
        raise EndpointLost(f"HTTP {status}: {NEEDS_ADMINISTRATOR}", was_sent=False)
    if status >= 300:
        # A redirect is not followed and 4xx was refused, both before any tool ran; 5xx may have come from one.
        raise EndpointLost(f"HTTP {status}", was_sent=status >= 500)
    body = bytearray()
    async with closing_stream(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > bytes_max:
                raise EndpointLost(f"the answer is longer than {ANSWER_BYTES_MAX} bytes", was_sent=True)
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    return _Answer(bytes(body), is_stream, response.headers.get(_SESSION_HEADER))


def _result(answer: _Answer, message_id: str | int, *, was_sent: bool) -> dict[str, Any]:
    """The result in a JSON or SSE answer: of several SSE messages the one with our id."""
    text = answer.body.decode("utf-8", "replace").removeprefix("\ufeff")
    for candidate in events_of(text) if answer.is_stream else [text]:
        try:
            message = read_json(candidate)
        except ValueError:
            if answer.is_stream:
                continue
            raise EndpointLost("the answer is not JSON", was_sent=was_sent) from None
        if not isinstance(message, dict) or (answer.is_stream and not _answers(message, message_id)):
            continue
        if isinstance(message.get("result"), dict):
            return dict(message["result"])
        refusal = message.get("error")
        if isinstance(refusal, dict) and refusal.get("code") != _INTERNAL_ERROR:
            # An error of the protocol means that no tool ran; an internal one may have come from a tool.
            raise EndpointRefused(str(refusal.get("message") or "no message"))
        words = refusal.get("message") if isinstance(refusal, dict) else "no result"
        raise EndpointLost(str(words), was_sent=was_sent)
    raise EndpointLost("the answer holds no result", was_sent=was_sent)


def _answers(message: dict[str, Any], message_id: str | int) -> bool:
    return message.get("id") == message_id and ("result" in message or "error" in message)


def events_of(text: str) -> list[str]:
    """The data of each whole event of a stream: lines end in CR LF, LF or CR; an event that is cut off is none."""
    events: list[str] = []
    data: list[str] = []
    # Behind the last line end stands what was cut off, or nothing.
    for line in _LINE_END.split(text)[:-1]:
        if not line:
            if data:
                events.append("\n".join(data))
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    return events
