"""The official endpoint of the emulated kernel in this process: no socket, no session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kernel.extension.bridge import EndpointLost, EndpointRefused
from kernel.siyuan.kernel import SiyuanKernel
from kernel.siyuan.native_mcp.endpoint import NoAnswer, OfficialMCP

_READ_ONLY: Final = "This operation is not supported in read-only mode"


class EmbeddedEndpoint:
    """Implements ``kernel.extension.bridge.OfficialEndpoint``."""

    def __init__(self, kernel: SiyuanKernel, official: OfficialMCP) -> None:
        self._kernel = kernel
        self._official = official

    async def list_tools(self) -> list[Any]:
        self._refuse_if_readonly()
        return self._official.tools()

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._refuse_if_readonly()
        try:
            return await self._official.call(name, arguments)
        except NoAnswer as error:
            raise EndpointLost("the answer is empty", was_sent=True) from error

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _refuse_if_readonly(self) -> None:
        """As over HTTP: in read-only mode the endpoint takes no message at all."""
        if self._kernel.options.is_readonly:
            raise EndpointRefused(_READ_ONLY)
