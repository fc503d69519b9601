"""The official Tasks extension (``io.modelcontextprotocol/tasks``, mcp-requirements 8.7) on the core of task control.

The server decides what becomes a task: a tools/call of a client that declared the extension and that has no answer, and
nothing to report, after ``TASK_AFTER_S``. The call itself does not notice: it goes on in its lane, and what would have
been its answer is kept under the task's id. What it asks on its way stands in ``tasks/get`` until ``tasks/update`` answers
it. The product asks for confirmations before the lane, so its own tasks never do; the conformance fixtures' do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec

from kernel.clock import Clock
from kernel.errors import ToolError
from kernel.ids import IdSource
from kernel.mcp.calls import Call
from kernel.mcp.capabilities import TASKS, missing_capability, takes_tasks
from kernel.mcp.limits import TASK_POLL_MS
from kernel.mcp.modern_era import TaskOperation
from kernel.mcp.params import invalid
from kernel.mcp.results import tool_result
from kernel.mcp.task_inputs import TaskInputs
from kernel.tasks.control import Kept, TaskControl
from kernel.tasks.limits import RESULT_TTL_S
from kernel.tools.service import ToolService
from scheduler.scheduler import Scheduler
from scheduler.ticket import Ticket

_ID_BYTES: Final = 16


@dataclass(slots=True)
class _Shown:
    """What the extension tells of a task beside what task control keeps. Times are RFC 3339, UTC."""

    created: str
    updated: str
    inputs: TaskInputs


class OfficialTasks:
    """The tasks that this endpoint made itself. Their ids are unguessable and bound to the credential."""

    def __init__(self, service: ToolService, scheduler: Scheduler, clock: Clock, ids: IdSource) -> None:
        self.control = TaskControl()
        self._service = service
        self._scheduler = scheduler
        self._clock = clock
        self._ids = ids
        self._shown: dict[str, _Shown] = {}  # by task id

    def adopt(self, call: Call, ticket: Ticket) -> dict[str, Any]:
        """Make a task of a running call; the result that tells its client so. No checkpoint."""
        owner = call.caller.principal
        task_id = str(UUID(bytes=self._ids.entropy(_ID_BYTES), version=4))
        is_new = self.control.begin(owner, task_id, ticket, now=self._clock.now())
        assert is_new, "an id of 122 random bits came twice"
        self._scheduler.detach(ticket)
        self._forget()
        created, inputs = self._stamp(), call.channel.inputs
        assert inputs is not None, "only a call that may become a task is adopted"
        shown = self._shown[task_id] = _Shown(created, created, inputs)
        inputs.on_change = partial(self._touch, shown)
        call.channel.takes_events = False  # nobody reads this stream any more
        call.channel.on_finish = lambda: self._end(call, task_id)
        task = self._running_task(task_id)
        task.pop("inputRequests", None)  # what is asked is told by tasks/get alone
        return {"resultType": "task", **task}

    async def serve(self, operation: TaskOperation, call: Call) -> dict[str, Any]:
        """Answer one method of the extension.

        Raises:
            ProtocolError: -32021, the client has not declared it; -32602, no such task of this credential.
        """
        if not takes_tasks(call.channel.capabilities):
            raise missing_capability({"extensions": {TASKS: {}}})
        owner, task_id = call.caller.principal, operation.task_id
        ticket = self.control.running(owner, task_id)
        kept = self.control.kept(owner, task_id, now=self._clock.now())
        if ticket is None and kept is None:
            raise invalid("unknown task")
        if operation.kind == "cancel" and ticket is not None:
            self._scheduler.cancel_ticket(ticket)
        if operation.kind == "update":
            self._shown[task_id].inputs.answer(operation.responses)
        if operation.kind != "get":
            return {}  # the acknowledgement is empty; what became of it is told by tasks/get
        if kept is None:
            return self._running_task(task_id)
        return self._task(task_id, *self._outcome(kept, await self._service.surface_version(call.caller)))

    def _end(self, call: Call, task_id: str) -> None:
        assert call.channel.answer is not None, "it is told when there is an answer"
        now = self._clock.now()
        self._touch(self._shown[task_id])
        message = msgspec.json.decode(call.channel.answer, type=dict[str, msgspec.Raw])
        told = {name: message[name] for name in ("result", "error") if name in message}
        self.control.end(call.caller.principal, task_id, msgspec.json.encode(told), call.surface, now=now)

    def _outcome(self, kept: Kept, surface: str) -> tuple[str, dict[str, Any]]:
        """Status and what goes with it. ``failed`` is for protocol errors: a tool's own failure is a result."""
        if kept.is_cancelled:
            return "cancelled", {}
        if kept.surface != surface:
            return "completed", {"result": self._refusal("access_changed", "Permissions or tools have changed since")}
        if kept.body is None:
            return "completed", {"result": self._refusal("result_too_large", "The result was too large to be kept")}
        told: dict[str, Any] = msgspec.json.decode(kept.body, type=dict[str, msgspec.Raw])
        return ("failed" if "error" in told else "completed"), told

    def _refusal(self, code: str, message: str) -> dict[str, Any]:
        return {"resultType": "complete", **tool_result(self._service.error_result(ToolError(code, message)))}

    def _running_task(self, task_id: str) -> dict[str, Any]:
        requests = self._shown[task_id].inputs.requests
        return self._task(task_id, "input_required", {"inputRequests": requests}) if requests else self._task(task_id)

    def _task(self, task_id: str, status: str = "working", more: dict[str, Any] | None = None) -> dict[str, Any]:
        shown = self._shown[task_id]
        return {
            "taskId": task_id,
            "status": status,
            "createdAt": shown.created,
            "lastUpdatedAt": shown.updated,
            "ttlMs": RESULT_TTL_S * 1000,
            "pollIntervalMs": TASK_POLL_MS,
            **(more or {}),
        }

    def _touch(self, shown: _Shown) -> None:
        shown.updated = self._stamp()

    def _stamp(self) -> str:
        moment = datetime.fromtimestamp(self._clock.wall_ms() / 1000, UTC)
        return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"

    def _forget(self) -> None:
        known = self.control.task_ids(now=self._clock.now())
        self._shown = {task_id: shown for task_id, shown in self._shown.items() if task_id in known}
