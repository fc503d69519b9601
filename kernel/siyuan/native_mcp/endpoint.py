"""The kernel's own MCP endpoint ``/mcp``: sessions, methods, tools (siyuan-api F2; kernel-facts, Official MCP).

Not the plugin's endpoint: this one emulates the kernel's, with the kernel's rules. Its tools are native ones and those
of kernel plugins (``kernel.siyuan.plugin_host``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api_calls import encoded_json
from kernel.siyuan.arguments import ApiError, EmptyAnswer, Panic
from kernel.siyuan.auth import Grant
from kernel.siyuan.limits import OFFICIAL_SESSIONS_MAX
from kernel.siyuan.native_mcp import protocol
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed
from kernel.siyuan.native_mcp.catalog import native_tools
from kernel.siyuan.native_mcp.protocol import Message
from kernel.siyuan.plugin_host import PluginHost
from kernel.siyuan.surface import GET, POST, SurfaceRoute
from kernel.wire import JSON_UTF8, Answer, Exchange, Response

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

PATH: Final = "/mcp"
SESSION_HEADER: Final = "Mcp-Session-Id"
SESSION_ID_CHARS: Final = 16
LIST_TTL_MS: Final = 60_000
_JSON: Final = (("Content-Type", JSON_UTF8),)
_ACCEPTED: Final = Response(202)
_NO_MATCH: Final = "Mcp-Method header does not match body method"


class NoAnswer(Exception):
    """The kernel's tool would break down: HTTP 200 without a body."""


class OfficialMCP:
    """The endpoint of one emulated kernel. Sessions live in memory; the oldest go when there are too many."""

    def __init__(self, kernel: SiyuanKernel) -> None:
        self._kernel = kernel
        self._plugins = PluginHost(kernel)
        self._natives = native_tools()
        self._sessions: dict[str, None] = {}

    def routes(self) -> list[SurfaceRoute]:
        """POST and DELETE fall under read-only mode, GET does not."""
        return [
            SurfaceRoute(PATH, POST, self._post, "admin", is_guarded=True),
            SurfaceRoute(PATH, GET, self._get, "admin"),
            SurfaceRoute(PATH, frozenset({"DELETE"}), self._delete, "admin", is_guarded=True),
        ]

    # --- in process ------------------------------------------------------------------------------------------
    def tools(self) -> list[dict[str, Any]]:
        """Every tool by name: native ones, and those of the kernel plugins that run now."""
        listed = [*self._natives, *(tool.shown() for tool in self._plugins.tools())]
        return sorted(listed, key=lambda tool: str(tool["name"]))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One call of one tool; its result.

        Raises:
            NoAnswer: there is none.
        """
        plugin_tools = {tool.name: tool for tool in self._plugins.tools()}
        # The tools bring half of the kernel's interface along: only who calls one of them pays for that.
        from kernel.siyuan.native_mcp.tools import TOOLS

        found = protocol.tool_named([*TOOLS, *plugin_tools], name)
        if found is None:
            return protocol.text_result(f"tool not found: {name}", is_error=True)
        if found in plugin_tools:
            text, is_error = plugin_tools[found].answer(arguments)
            return protocol.text_result(text, is_error=is_error)
        try:
            return protocol.text_result(await TOOLS[found](ToolCall(self._kernel, found, arguments)))
        except ToolFailed as failure:
            return protocol.text_result(str(failure), is_error=True)
        except ApiError as failure:
            return protocol.text_result(failure.message, is_error=True)
        except (EmptyAnswer, Panic) as failure:
            raise NoAnswer from failure

    # --- HTTP ------------------------------------------------------------------------------------------------
    async def _get(self, exchange: Exchange, grant: Grant) -> Answer:
        return Response(405)

    async def _delete(self, exchange: Exchange, grant: Grant) -> Answer:
        """Any id will do."""
        session = exchange.request.headers.get("mcp-session-id")
        if not session:
            return Response(400)
        self._sessions.pop(session, None)
        return Response(200)

    async def _post(self, exchange: Exchange, grant: Grant) -> Answer:
        headers = exchange.request.headers
        try:
            message = protocol.read_message(exchange.request.body)
        except protocol.Unreadable:
            return await _json(200, protocol.error(None, protocol.PARSE_ERROR))
        if not message.is_valid:
            return await _json(200, protocol.error(message.id, protocol.INVALID_REQUEST))
        if headers.get("mcp-protocol-version") == protocol.VERSION_STATELESS:
            named = headers.get("mcp-method")
            if named and named != message.method:
                return await _json(400, {"error": _NO_MATCH})
            return await self._answer(message, is_stateless=True)
        if message.method == "initialize":
            return await self._initialize(message)
        session = headers.get("mcp-session-id")
        if not session:
            return await _json(400, {"error": f"{SESSION_HEADER} required"})
        if session not in self._sessions:
            return await _json(404, {"error": "session not found"})
        return await self._answer(message, is_stateless=False)

    async def _initialize(self, message: Message) -> Response:
        """A session is made even for a notification."""
        session = self._kernel.ids.text(SESSION_ID_CHARS)
        while len(self._sessions) >= OFFICIAL_SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[session] = None
        header = ((SESSION_HEADER, session),)
        if message.is_notification:
            return Response(202, header)
        version = protocol.agreed_version(message.params)
        answer = await _json(200, protocol.result(message, protocol.introduction(version)))
        return Response(200, (*answer.headers, *header), answer.body)

    async def _answer(self, message: Message, *, is_stateless: bool) -> Response:
        if message.is_notification or (message.method == "notifications/initialized" and not is_stateless):
            return _ACCEPTED
        if not protocol.is_known(message.method, is_stateless=is_stateless):
            return await _json(200, protocol.error(message.id, protocol.METHOD_NOT_FOUND))
        if message.method == "tools/call":
            return await self._call(message)
        value: dict[str, Any] = {}
        if message.method == "tools/list":
            value = {"tools": self.tools()}
            if is_stateless:
                value |= {"ttlMs": LIST_TTL_MS, "cacheScope": "user"}
        elif message.method == "server/discover":
            value = protocol.introduction(protocol.VERSION_STATELESS)
        return await _json(200, protocol.result(message, value))

    async def _call(self, message: Message) -> Response:
        params = message.params
        if not isinstance(params, dict):
            return await _json(200, protocol.error(message.id, protocol.INVALID_PARAMS))
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not name:
            return await _json(200, protocol.error(message.id, protocol.NAME_REQUIRED))
        try:
            value = await self.call(name, arguments if isinstance(arguments, dict) else {})
        except NoAnswer:
            return Response(200)
        return await _json(200, protocol.result(message, value))


async def _json(status: int, value: Any) -> Response:
    return Response(status, _JSON, await encoded_json(value))
