"""The tools behind the MCP endpoint: lists them, prepares a call, and performs it in its lane.

One call: settings and permissions are read when execution starts (R206); a read runs on a budget, an external effect
and a write without strict mode run behind the commit boundary, a strict write goes to the coordinator.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import trio

from kernel.canonical import digest
from kernel.clock import Clock
from kernel.errors import ToolError
from kernel.faults.calls import CallFacts, current_call
from kernel.host.base import Host, HostError, near
from kernel.host.budget import ReadBudget
from kernel.host.progress import UNTOLD, Progress
from kernel.host.scoped import ScopedHost
from kernel.ids import IdSource
from kernel.safety.intent import CommitGate, Coordinator, Intent, Observation, Outcome
from kernel.safety.probes import observe
from kernel.tools import apps, extension, failures, resources, results, schema, skills
from kernel.tools import help as help_pages
from kernel.tools.app_sessions import HANDLERS as APP_HANDLERS
from kernel.tools.candidates import Candidates
from kernel.tools.configuration import Configuration, KernelOptions
from kernel.tools.context import Handling, ToolContext, Written
from kernel.tools.handlers import HANDLERS
from kernel.tools.limits import MEMORY_STALE_AFTER_MS
from kernel.tools.permissions import Level, Permissions
from kernel.tools.plugin_files import PluginFiles
from kernel.tools.preparation import (
    EXTENSION,
    HELP,
    Asked,
    asked,
    check_preflight,
    checked,
    confirmation,
    failed,
    named_action,
    offered,
    offered_tool,
    safety_frame,
)
from kernel.tools.refreshing import refreshed
from kernel.tools.registry import TOOLS, Action, Tool, find_action
from kernel.tools.service import Caller, CallNamed, Prepared, Refused, ToolResult
from kernel.tools.statistics import Statistics
from scheduler.ticket import Lane, RequestCancelled, Ticket


@dataclass(slots=True)
class ToolParts:
    """What the application puts together for the tools. ``boundary`` is ``Scheduler.boundary``."""

    host: Host
    clock: Clock
    ids: IdSource
    boundary: Callable[[Ticket], CommitGate]
    coordinator: Coordinator | None = None
    default_level: Level = Level.WRITE
    transport: str = "kernel"
    # False for a host that sends reads again by itself: two layers of retries would multiply.
    retries_reads: bool = True
    # Further parts for handlers, by name: uploads, extension, feedback.
    more: dict[str, Any] = field(default_factory=dict)


class Tools:
    """Implements ``kernel.tools.service.ToolService``."""

    def __init__(self, parts: ToolParts) -> None:
        self.parts = parts
        self.files = PluginFiles(parts.default_level)
        self.statistics = Statistics(parts.host, parts.clock, transport=parts.transport)
        self._surface: tuple[tuple[Any, ...], str] | None = None
        own: dict[str, Any] = {"statistics": self.statistics, "candidates": Candidates(), "shorten": self._shorten}
        # The application goes on filling in parts until it serves; theirs come first.
        self._parts_of_handlers = ChainMap(parts.more, own)
        self._near = near(parts.host)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the statistics, until cancelled. Without it each call writes its own, in its lane."""
        await self.statistics.run(task_status=task_status)

    # --- lists ---

    async def list_tools(self, caller: Caller) -> list[dict[str, Any]]:
        """Every tool with an enabled action; a broken settings file leaves the list as it is by default."""
        configuration = await self._listed_configuration()
        extension.want_discovery(configuration, self.parts.more)
        return self._listed(configuration)

    def _listed(self, configuration: Configuration) -> list[dict[str, Any]]:
        rows = [
            self._declaration(configuration, tool, actions)
            for tool in configuration.enabled_tools()
            if (actions := offered(configuration, tool))
        ]
        return [*rows, *apps.declarations(configuration)]

    def _declaration(self, configuration: Configuration, tool: Tool, actions: tuple[Action, ...]) -> dict[str, Any]:
        if tool.name == EXTENSION:
            exposed = extension.exposed_tools(configuration, self.parts.more)
            foreign = tuple(extension.dynamic_action(one) for one in exposed)
            return schema.declaration(tool, actions, foreign, is_strict=configuration.is_strict)
        known = configuration.declarations.get(tool.name)
        if known is None:
            known = schema.declaration(tool, actions, is_strict=configuration.is_strict)
            configuration.declarations[tool.name] = known
        return known

    async def surface_version(self, caller: Caller) -> str:
        """Changes when the tool list, the switches or the permissions change."""
        configuration = await self._listed_configuration()
        try:
            permissions = (await self.files.permissions(self.parts.host)).as_file().decode()
        except (ToolError, HostError):
            permissions = "unreadable"
        # The list follows from these three: as long as they stand, so does the digest of it.
        facts = (configuration.raw, permissions, tuple(extension.exposed_tools(configuration, self.parts.more)))
        if self._surface is None or self._surface[0] != facts:
            told = {"tools": self._listed(configuration), "raw": dict(configuration.raw), "rights": permissions}
            self._surface = (facts, digest(told))
        return self._surface[1]

    async def options(self) -> KernelOptions:
        """The kernel options in force; the defaults where the settings cannot be read."""
        return (await self._listed_configuration()).options

    def write_trouble(self) -> str:
        """Why strict writes are refused whatever they are, for /health; "" while they are not."""
        coordinator = self.parts.coordinator
        return coordinator.trouble() if coordinator is not None else "this process holds no write coordinator"

    async def takes_uploads(self) -> bool:
        """Whether ``file.upload_asset`` is switched on now: only then is anything staged."""
        action = find_action(TOOLS["file"], "upload_asset")
        assert action is not None, "the table has it"
        return (await self._listed_configuration()).is_enabled(action)

    async def _listed_configuration(self) -> Configuration:
        try:
            return await self.files.configuration(self.parts.host)
        except (ToolError, HostError):
            return Configuration()

    # --- texts ---

    async def instructions(self, caller: Caller) -> str:
        configuration = await self._listed_configuration()
        now_ms, written_ms = self.parts.clock.wall_ms(), configuration.memory_updated_ms
        return resources.instructions(configuration, now_ms, written_ms, MEMORY_STALE_AFTER_MS)

    async def list_resources(self, caller: Caller) -> list[dict[str, Any]]:
        return resources.listed(await self._listed_configuration())

    async def list_resource_templates(self, caller: Caller) -> list[dict[str, Any]]:
        return resources.templates()

    async def read_resource(self, uri: str, caller: Caller) -> list[dict[str, Any]] | None:
        return resources.read(uri, await self._listed_configuration())

    async def list_skills(self, caller: Caller) -> list[dict[str, Any]] | None:
        return skills.entries() if (await self._listed_configuration()).serves_skills else None

    async def list_prompts(self, caller: Caller) -> list[dict[str, Any]]:
        return resources.prompts()

    async def get_prompt(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any] | None:
        return resources.prompt(name, arguments)

    async def complete(self, reference: Mapping[str, Any], argument: Mapping[str, Any], caller: Caller) -> list[str]:
        return resources.completions(reference, argument)

    # --- prepare ---

    def prepare_at_once(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared | None:
        """What ``prepare`` gives, for a call that needs neither to wait nor to be refused; None for any other.

        No coroutine, and for its caller no scope in which a wait could be cancelled: most calls are of this kind.
        """
        configuration = None if self._near is None else self.files.known_configuration(self._near.moment())
        action_name = arguments.get("action")
        if configuration is None or type(action_name) is not str:
            return None
        row = configuration.rows.get((name, action_name))
        try:
            return None if row is None else self._prepared(name, checked(configuration, *row, arguments), configuration)
        except Refused:
            return None

    async def prepare(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared:
        """Raises Refused: the call ends with its result, nothing was executed."""
        try:
            return await self._prepare(name, arguments, caller)
        except Refused as refused:
            error = (refused.result.structured or {}).get("error") or {}
            action = arguments.get("action")
            await self._count_refusal(name, str(action) if action else "", str(error.get("code") or ""))
            raise

    async def _prepare(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared:
        try:
            configuration = await self.files.configuration(self.parts.host)
        except (ToolError, HostError) as error:
            told = error if isinstance(error, ToolError) else failures.from_host(error)
            raise Refused(self.error_result(told, asked=(name, arguments))) from error
        if (app := apps.find(name)) is not None:
            call = apps.asked(configuration, app, name, arguments, caller)
            return self._prepared(name, call, configuration)
        tool = offered_tool(configuration, name)
        action_name = named_action(arguments.get("action"), tool)
        if action_name == HELP:
            return Prepared(name, HELP, dict(arguments), None, False, state={"tool": tool})
        return self._prepared(name, asked(configuration, tool, action_name, arguments, self.parts.more), configuration)

    def _prepared(self, name: str, call: Asked, configuration: Configuration) -> Prepared:
        action, policy, near_host = call.action, call.policy, self._near
        # A view's calls share the lane of sessions.
        reads = policy.is_read and not call.is_app
        handling = HANDLERS.get(action.key) if reads and near_host is not None else None
        return Prepared(
            name,
            action.name,
            call.arguments,
            Lane.READ if reads else Lane.MUTATION,
            policy.is_mutation,
            confirmation(call),
            # A read that waits for nothing but the host, and a host that has everything at hand.
            handling is not None and handling.is_immediate and near_host is not None and near_host.is_quiet,
            {"asked": call, "configuration": configuration},
        )

    async def _count_refusal(self, tool: str, action: str, code: str) -> None:
        started = self.statistics.began(tool, action)
        await self.statistics.settle(self.statistics.ended(started, is_error=True, code=code, earns=False))

    # --- perform ---

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        """Do the work; failures of the tool are results. RequestCancelled passes through.

        The result may be told once its ``recorded`` is done: whoever waits for that holds no lane.
        """
        if prepared.action == HELP:
            return await self._help(prepared)
        call: Asked = prepared.state["asked"]
        statistics = self.statistics
        started = statistics.began(prepared.tool, prepared.action, prepared.arguments)
        try:
            result = await self._performed(call, prepared, ticket, caller)
        except BaseException as error:
            # A read that was cancelled while it ran, or a fault: nobody waits, and it is counted all the same (R217).
            code = "request_cancelled" if isinstance(error, RequestCancelled) else "internal_error"
            statistics.ended(started, is_error=True, code=code)
            raise
        error_told = (result.structured or {}).get("error") if result.is_error else None
        code = str(error_told.get("code") or "") if isinstance(error_told, dict) else ""
        first = result.content[0].get("text") if result.content else ""
        size = len(first) if isinstance(first, str) else 0
        result.recorded = statistics.ended(started, is_error=result.is_error, code=code, size=size)
        if not statistics.runs:
            await statistics.settle(result.recorded)
        return result

    async def _performed(self, call: Asked, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        configuration: Configuration = prepared.state["configuration"]
        facts = (call.action.tool, call.action.name, call.arguments, caller.session_id, ticket, call.submitted)
        current_call.set(CallFacts(*facts))
        files, host = self.files, self.parts.host
        moment = None if self._near is None else self._near.moment()
        try:
            fresh = files.known_configuration(moment)
            if fresh is None:
                fresh, moment = await files.configuration(host), None  # it may have waited: the moment is over
            configuration = fresh
            # Switched off since it was prepared: it waited in its lane, and the switch holds from execution on.
            is_new = configuration is not prepared.state["configuration"]
            if is_new and call.action.key in HANDLERS and not configuration.is_enabled(call.action):
                raise ToolError("action_disabled", f"{call.action.key} was switched off.", hint="List the tools again.")
            if is_new:
                check_preflight(configuration, call)
            permissions = files.known_permissions(moment) or await files.permissions(host)
            context = self._context(call, configuration, permissions, ticket, caller)
            payload = await self._run(call, context, ticket)
        except ToolError as error:
            return failed(configuration, call.action, error, call.policy)
        except HostError as error:
            return failed(configuration, call.action, failures.from_host(error), call.policy)
        except failures.MISREAD as error:
            # A host of another make may answer anything; what our own notes answer is our own fault.
            if self.parts.retries_reads or not call.policy.is_read:
                raise
            return failed(configuration, call.action, failures.misread(error, call.action.key), call.policy)
        if isinstance(payload, dict) and results.FOREIGN_KEY in payload:
            return results.foreign(payload)
        return results.success(
            payload,
            key=call.action.key,
            is_write=call.changes_something,
            slims=configuration.slims_results and not call.is_app,
        )

    def _context(
        self, call: Asked, configuration: Configuration, permissions: Permissions, ticket: Ticket, caller: Caller
    ) -> ToolContext:
        parts = self.parts
        options = configuration.options
        budget = None
        if call.policy.is_read and not call.is_app:
            deadline = parts.clock.now() + options.read_timeout_ms / 1000
            budget = ReadBudget(options.read_requests_max, options.read_mib_max * 1024 * 1024, deadline=deadline)
        host = ScopedHost(
            parts.host,
            ticket,
            parts.clock,
            budget=budget,
            retries=options.read_retries,
            host_retries=not parts.retries_reads,
            progress=_progress(call, configuration, caller),
        )
        return ToolContext(
            host,
            configuration,
            permissions,
            self.files,
            parts.clock,
            parts.ids,
            caller,
            parts=self._parts_of_handlers,
            aside=host.aside,
        )

    def _shorten(self, digest: str) -> str:
        """Digests for people are short ones of the common pool (R55); without a pool they stay whole."""
        coordinator = self.parts.coordinator
        return digest if coordinator is None else coordinator.shorten(digest)

    async def _run(self, call: Asked, context: ToolContext, ticket: Ticket) -> Any:
        handling = HANDLERS.get(call.action.key) or APP_HANDLERS.get(call.action.key) or _forwarding(call.action.name)
        if call.policy.is_mutation and context.configuration.is_strict:
            # The coordinator guards: a replay must be answered although its target is gone by its own doing.
            return await self._strict(call, handling, context, ticket)
        if handling.guard is not None:
            await handling.guard(context, call.arguments)
        if call.policy.is_read:
            found = await handling.run(context, call.arguments)
            if isinstance(context.host, ScopedHost) and context.host.budget is not None:
                # A handler that swallowed the excess must not pass a part off as the whole (R270).
                context.host.budget.check()
            return found
        await self._refuse_known_id(call)
        return await self._behind_boundary(call, handling, context, ticket)

    async def _refuse_known_id(self, call: Asked) -> None:
        """A request id that was used while strict mode was on never writes again after it went off (R85)."""
        request_id = call.submitted.get("requestId")
        coordinator = self.parts.coordinator
        if coordinator is None or not call.policy.is_mutation or not isinstance(request_id, str):
            return
        if await coordinator.was_begun(request_id):
            message = (
                f"The request id {request_id} was already used while strict safe writes were on: nothing was done."
            )
            raise ToolError("strict_mode_disabled", message, outer={"writeAttempted": False, "writeExecuted": False})

    async def _behind_boundary(self, call: Asked, handling: Handling, context: ToolContext, ticket: Ticket) -> Any:
        """External effects, and writes without strict mode: once, past the last cancel check, without a guarantee."""
        gate = self.parts.boundary(ticket)
        gate.enter_commit()
        written = _as_written(await gate.run(lambda: handling.run(context, call.arguments)))
        context.progress.stage("Written")
        payload = await refreshed(context, written)
        return {**payload, **safety_frame(context.configuration, call.policy)}

    async def _strict(self, call: Asked, handling: Handling, context: ToolContext, ticket: Ticket) -> Any:
        coordinator = self.parts.coordinator
        if coordinator is None:
            raise ToolError("write_coordinator_unavailable", "This process holds no write coordinator.")
        intent = self._intent(call, handling, context)
        if call.is_preflight:
            return {"action": call.action.name, **await coordinator.preflight(intent, ticket.leave_slot)}
        if handling.reserves is not None:
            intent.reserved = context.reserved = handling.reserves(context, call.arguments)
            intent.stages = context.stages
        written = Written({})

        async def write() -> Outcome:
            nonlocal written
            written = _as_written(await handling.run(context, call.arguments))
            context.progress.stage("Written")
            return Outcome(written.payload, written.changed, written.replay, written.expectation)

        payload = await coordinator.commit(intent, self.parts.boundary(ticket), write)
        return await refreshed(context, Written(payload, written.refresh))

    def _intent(self, call: Asked, handling: Handling, context: ToolContext) -> Intent:
        submitted = call.submitted
        field_name = call.policy.precondition.value
        scoped = context.host
        guard = handling.guard

        async def probe() -> Observation:
            if handling.probe is not None:
                seen = await handling.probe(context, call.arguments)
            else:
                seen = await observe(scoped, call.action.tool, call.action.name, call.arguments)
            context.progress.stage("Looked at the target")
            return seen

        return Intent(
            call.action.tool,
            call.action.name,
            call.arguments,
            call.policy.precondition,
            probe,
            guard=(lambda: guard(context, call.arguments)) if guard is not None else None,
            request_id=_request_id(submitted.get("requestId")),
            credential=_text_or_none(submitted.get(field_name) or submitted.get("expectedHash")),
            confirm=handling.confirms(context, call.arguments) if handling.confirms is not None else None,
            writes_sent=(lambda: scoped.writes_sent) if isinstance(scoped, ScopedHost) else None,
            creates=handling.creates,
        )

    async def _help(self, prepared: Prepared) -> ToolResult:
        configuration = await self._listed_configuration()
        tool: Tool = prepared.state["tool"]
        actions = offered(configuration, tool)
        name = prepared.arguments.get("topic")
        is_bridge = tool.name == EXTENSION
        if not isinstance(name, str) or not name:
            found = help_pages.overview(tool, actions)
            more = extension.help_summary(configuration, self.parts.more) if is_bridge else {}
            return results.success({**found, **more}, key="help", is_write=False, slims=False)
        if is_bridge and (foreign := extension.help_topic(configuration, self.parts.more, name)) is not None:
            return results.success(foreign, key="help", is_write=False, slims=False)
        action = find_action(tool, name)
        if action is None or action not in actions:
            return results.failure(failures.payload_of(help_pages.unknown_topic(tool, actions, name), tool.name, HELP))
        payload = help_pages.topic(tool, action, is_strict=configuration.is_strict)
        return results.success(payload, key="help", is_write=False, slims=False)

    def error_result(
        self, error: ToolError, prepared: Prepared | None = None, *, asked: CallNamed | None = None
    ) -> ToolResult:
        """A failure outside the tools (queue_full, request_cancelled, confirmation_*) as a result."""
        if prepared is not None and "asked" in prepared.state:
            call: Asked = prepared.state["asked"]
            return failed(prepared.state["configuration"], call.action, error, call.policy)
        name, arguments = asked if asked is not None else ("", {})
        tool = TOOLS.get(name)
        action = find_action(tool, str(arguments.get("action"))) if tool is not None else None
        if action is None:
            return results.failure(failures.payload_of(error, name))
        return failed(self.files.last_known, action, error, action.policy.resolve(arguments))


def _progress(call: Asked, configuration: Configuration, caller: Caller) -> Progress:
    """A write has stages: it looks, writes, and looks again; a preflight only looks, and who gives no guarantee only
    writes."""
    channel = caller.channel
    if channel is None or not channel.wants_progress:
        return UNTOLD
    stages = 0 if call.policy.is_read else 1
    if call.policy.is_mutation and configuration.is_strict and not call.is_preflight:
        stages = 3
    return Progress(channel.progress, stages)


def _forwarding(name: str) -> Handling:
    """How a foreign tool is done: forwarded, once."""

    async def run(context: ToolContext, arguments: Mapping[str, Any]) -> Written:
        return await extension.forward(context, name, arguments)

    return Handling(run)


def _as_written(value: Any) -> Written:
    return value if isinstance(value, Written) else Written(dict(value))


def _request_id(value: Any) -> str | None:
    """As submitted; what is no text is kept in a form that no request id has, so that it is refused as malformed."""
    return value if value is None or isinstance(value, str) else f"#{value!r}"


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
