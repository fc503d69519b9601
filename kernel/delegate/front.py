"""One call of a front process, whole: its files are staged, it is delegated, its export is saved (decision 45). Awaits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import trio

from kernel.delegate import exports, files, staging
from kernel.delegate.coordinator import CoordinatorUnavailable
from kernel.delegate.delegate import Delegate, ToolCall, error_result
from kernel.delegate.exports import NotSaved, Wanted
from kernel.errors import ToolError


class Front:
    """What the command line and the stdio server do with a call. ``here`` and ``home``: where exports are saved."""

    def __init__(self, delegate: Delegate, *, here: Path, home: Path) -> None:
        self.delegate = delegate
        self._here = here
        self._home = home

    async def call(self, call: ToolCall) -> dict[str, Any]:
        """The call's result. Raises Refused, as ``Delegate.call``."""
        tool = str(call.params.get("name") or "")
        given = call.params.get("arguments")
        arguments: dict[str, Any] = given if isinstance(given, dict) else {}
        try:
            path = staging.local_file_of(tool, arguments)
            if path is not None:
                coordinator = await self.delegate.find(is_coordinated=call.is_coordinated)
                arguments = staging.with_source(
                    arguments, await files.staged(coordinator, str(exports.place_of(path, self._here, self._home)))
                )
                call = _with(call, arguments)
            want = exports.wanted(tool, arguments, self._here, self._home)
            if want is None:
                return await self.delegate.call(call)
            files.check_place(want)
            result = await self.delegate.call(_with(call, exports.asking_for_download(arguments)))
            return result if result.get("isError") else await self._saved(call, want, result)
        except ToolError as error:
            return error_result(error)

    async def _saved(self, call: ToolCall, want: Wanted, result: dict[str, Any]) -> dict[str, Any]:
        told = result.get("structuredContent")
        if not isinstance(told, dict) or told.get("success") is False:
            return result
        try:
            payload = await self._fetched(call, want, told)
        except NotSaved as error:
            raise exports.not_saved(error, told) from None
        if payload is None:
            raise exports.not_saved(NotSaved("it was cancelled"), told, is_cancelled=True)
        text = json.dumps(payload, ensure_ascii=False)
        return {**result, "content": [{"type": "text", "text": text}], "structuredContent": payload}

    async def _fetched(self, call: ToolCall, want: Wanted, told: dict[str, Any]) -> dict[str, Any] | None:
        """None: it was cancelled, which stops this transfer only; the kernel's part is done (R224)."""
        payload: dict[str, Any] | None = None
        failure: NotSaved | None = None
        async with trio.open_nursery() as nursery:

            async def stop_on_cancel() -> None:
                await call.cancel.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(stop_on_cancel)
            try:
                coordinator = await self.delegate.discovery.find()
                payload = await files.saved(coordinator, want, told)
            except CoordinatorUnavailable as error:
                failure = NotSaved(str(error))
            except NotSaved as error:
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return payload


def _with(call: ToolCall, arguments: dict[str, Any]) -> ToolCall:
    return replace(call, params={**call.params, "arguments": arguments})
