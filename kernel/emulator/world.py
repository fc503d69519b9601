"""Deeds of a fault plan that change the world around a call: the clock, leases, sessions, somebody else's edit.

The application gives the parts; the trigger calls the deed where the plan says so. Holds no rule of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kernel.faults.calls import CallFacts
from kernel.faults.plan import Rule
from kernel.host.base import Host, HostError
from kernel.siyuan.notes_index import index_of

if TYPE_CHECKING:
    from kernel.clock import SystemClock
    from kernel.faults.trigger import WorldDeed
    from kernel.mcp.endpoint import MCPEndpoint
    from kernel.safety.coordinator import WriteCoordinator
    from kernel.siyuan.kernel import SiyuanKernel
    from scheduler import Scheduler

# How far the real kernel's index lags at worst (decision 44).
STALE_INDEX_S: Final = 3.0
EDIT_TEXT: Final = "Edited by somebody else."


class World:
    """The parts of one kernel that a deed may change. ``host`` is the bare one: no plan strikes somebody else."""

    def __init__(
        self,
        kernel: SiyuanKernel,
        host: Host,
        clock: SystemClock,
        scheduler: Scheduler,
        coordinator: WriteCoordinator,
        endpoint: MCPEndpoint,
        *,
        is_embedded: bool,
    ) -> None:
        self._kernel = kernel
        self._host = host
        self._clock = clock
        self._scheduler = scheduler
        self._coordinator = coordinator
        self._endpoint = endpoint
        self._is_embedded = is_embedded

    def deeds(self) -> Mapping[str, WorldDeed]:
        """What can be done here, by the name of the deed."""
        index = {"stale_index": self._stale_index} if self._is_embedded else {}
        return {
            **index,
            "edit": self._edit,
            "expire": self._expire,
            "list_changed": self._list_changed,
            "clock": self._jump,
            "cancel": self._cancel,
        }

    async def _stale_index(self, rule: Rule, call: CallFacts) -> None:
        index = index_of(self._kernel)
        # What was true before is known to it: an index that nobody had asked yet would be an empty one.
        index.flush()
        index.lag_s = STALE_INDEX_S if rule.seconds is None else rule.seconds

    async def _edit(self, rule: Rule, call: CallFacts) -> None:
        target = rule.id or await self._target(call.arguments)
        text = rule.text or EDIT_TEXT
        if target is None:
            return
        try:
            info = await self._host.call("/api/block/getBlockInfo", {"id": target})
            if info.get("rootID") == target:
                body = {"dataType": "markdown", "data": text, "parentID": target}
                await self._host.call("/api/block/appendBlock", body)
            else:
                body = {"dataType": "markdown", "data": text, "id": target}
                await self._host.call("/api/block/updateBlock", body)
        except HostError:
            return  # the target is not there: nobody could have edited it either

    async def _target(self, arguments: Mapping[str, Any]) -> str | None:
        """The block or document that a call is about, by its id or its human path."""
        for name in ("id", "blockId", "documentId"):
            if isinstance(arguments.get(name), str):
                return str(arguments[name])
        path = arguments.get("path")
        if not isinstance(path, str):
            return None
        box, _, rest = path.strip("/").partition("/")
        notebooks = (await self._host.call("/api/notebook/lsNotebooks", {}))["notebooks"]
        for notebook in notebooks:
            if box in (notebook["name"], notebook["id"]):
                wanted = {"notebook": notebook["id"], "path": f"/{rest}"}
                ids = await self._host.call("/api/filetree/getIDsByHPath", wanted)
                return str(ids[0]) if ids else None
        return None

    async def _expire(self, rule: Rule, call: CallFacts) -> None:
        if rule.what == "leases":
            self._coordinator.leases.clear()
        else:
            self._endpoint.sessions.end_all()

    async def _list_changed(self, rule: Rule, call: CallFacts) -> None:
        self._endpoint.subscriptions.storm(rule.count)

    async def _jump(self, rule: Rule, call: CallFacts) -> None:
        self._clock.advance(rule.seconds or 0.0)

    async def _cancel(self, rule: Rule, call: CallFacts) -> None:
        if call.ticket is not None:
            self._scheduler.cancel_ticket(call.ticket)
