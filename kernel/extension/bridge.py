"""The way to the official endpoint: discovery may be tried twice, a call is sent once. Holds no rules of selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import trio

from kernel.clock import Clock
from kernel.errors import ToolError
from kernel.extension.catalog import VERSION_MIN, Discovery, read_catalog, version_of
from kernel.host.base import Host, HostError


class EndpointLost(Exception):
    """The official endpoint did not answer. ``was_sent``: a call may have been executed."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class EndpointRefused(EndpointLost):
    """The official endpoint said that it does not carry the request out."""

    def __init__(self, message: str) -> None:
        super().__init__(message, was_sent=False)


class OfficialEndpoint(Protocol):
    """The kernel's own MCP endpoint, in process or over HTTP."""

    async def list_tools(self) -> list[Any]:
        """All pages of tools/list. Raises EndpointLost."""
        ...

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One tools/call, sent once: its result (content, structuredContent, isError). Raises EndpointLost."""
        ...

    async def aclose(self) -> None:
        """Give back what is held open."""
        ...


class Bridge:
    """Discovers and calls foreign tools. One per process; its state is in memory only."""

    def __init__(self, endpoint: OfficialEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._refreshing = trio.Lock()
        self._wanted = trio.Event()
        self.discovery = Discovery()

    def want(self) -> None:
        """The foreign tools will be asked for: let ``run`` look for them. Does not wait."""
        self._wanted.set()

    async def run(self, host: Host) -> None:
        """The first discovery, in the background: nobody who lists the other tools waits for it.

        Runs until it is cancelled, and closes the endpoint then.
        """
        try:
            await self._wanted.wait()
            await self.ensure(host)
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await self._endpoint.aclose()

    async def ensure(self, host: Host) -> Discovery:
        """What is known; looks for the first time if it never did."""
        if self.discovery.attempted_ms is None:
            await self.refresh(host)
        return self.discovery

    async def refresh(self, host: Host) -> Discovery:
        """Look again. Below the version that has the endpoint it is not touched (S3)."""
        async with self._refreshing:
            found = self.discovery
            found.attempted_ms = self._clock.wall_ms()
            try:
                found.version = str(await host.call("/api/system/version"))
            except HostError as error:
                found.failed(error.message)
                return found
            found.is_supported = version_of(found.version) >= VERSION_MIN
            if not found.is_supported:
                found.failed(f"The kernel {found.version} has no official endpoint.")
                return found
            try:
                listed = await self._listed()
            except EndpointLost as error:
                found.failed(str(error))
            else:
                found.succeeded(read_catalog(listed), self._clock.wall_ms())
            return found

    async def _listed(self) -> list[Any]:
        """Discovery only reads: a lost session is opened anew, once."""
        try:
            return await self._endpoint.list_tools()
        except EndpointLost:
            return await self._endpoint.list_tools()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Forward one call, once.

        Raises:
            ToolError: api_error (refused), host_unavailable (not sent), outcome_unknown (sent, and lost).
        """
        try:
            return await self._endpoint.call_tool(name, arguments)
        except EndpointRefused as error:
            raise ToolError("api_error", f"The official endpoint refused the call: {error}") from error
        except EndpointLost as error:
            if not error.was_sent:
                raise ToolError("host_unavailable", f"The official endpoint cannot be reached: {error}") from error
            raise ToolError(
                "outcome_unknown",
                f"The official tool {name} was called and no answer came: its execution status is unknown.",
                outer={"success": False, "writeAttempted": True},
            ) from error
