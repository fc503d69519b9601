"""What the MCP endpoint asks of the tools, and in which words. Values only; the work is in ``call.py``.

One tool call is: ``prepare`` (arguments, switches, confirmation need; takes no lane), then, in its lane, ``perform``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from kernel.errors import ToolError
    from scheduler.ticket import Lane, Ticket

Era = Literal["handshake", "modern", "internal"]
# A tool's name and the arguments of one call, as they came.
CallNamed = tuple[str, Mapping[str, Any]]


class Channel(Protocol):
    """What a running call may send its client before its answer. Never blocks; drops what the client did not ask for."""

    @property
    def wants_progress(self) -> bool:
        """Whether its client asked to be told how far the call is."""
        ...

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """``notifications/progress``; nothing without a progress token. ``progress`` must grow."""
        ...

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """``notifications/message``; nothing below the level that the client asked for."""
        ...


class Caller(msgspec.Struct, frozen=True):
    """Who calls, as far as the protocol tells."""

    era: Era
    principal: str = "local"  # the credential, hashed; never a secret itself
    client: str = ""  # name/version as declared: display and binding of confirmations only
    session_id: str | None = None
    has_form_elicitation: bool = False
    has_apps: bool = False
    transport: str = "kernel"
    channel: Channel | None = None


class Recorded(Protocol):
    """The statistics of one call on their way to the store."""

    @property
    def is_done(self) -> bool: ...

    def when_written(self, tell: Callable[[], None]) -> None:
        """Call ``tell`` (synchronously, once) when they are written: now, or later by whoever wrote them."""
        ...


class ToolResult(msgspec.Struct):
    """A tools/call result before it is dressed for an era."""

    content: list[dict[str, Any]]
    structured: dict[str, Any] | None = None
    is_error: bool = False
    meta: dict[str, Any] | None = None
    # The answer waits for it (R211), behind the lane; None: for nothing.
    recorded: Recorded | None = None


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A dangerous call that its user must agree to: what to show, and what exactly is agreed to."""

    message: str
    operation: str  # digest of tool, action and canonical arguments: what a requestState is bound to


class Prepared(msgspec.Struct):
    """A call that may go on. ``lane`` None: it is answered at once (help)."""

    tool: str
    action: str
    arguments: dict[str, Any]
    lane: Lane | None
    is_mutation: bool
    confirmation: Confirmation | None = None
    # Nothing that it does now has to wait for anything: it may run in its caller's task if its lane is free.
    is_immediate: bool = False
    # Whatever call.py wants to carry from prepare to perform.
    state: dict[str, Any] = msgspec.field(default_factory=dict)


class Refused(Exception):
    """``prepare`` ends the call with this result; nothing was executed and no lane was taken."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__("refused")
        self.result = result


class ToolService(Protocol):
    """The product's tools, resources and prompts behind the MCP endpoint (and the conformance fixtures' twin)."""

    async def list_tools(self, caller: Caller) -> list[dict[str, Any]]: ...

    async def prepare(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared:
        """Arguments → enabled? → does it need a confirmation (decision 21). Raises Refused."""
        ...

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        """Do the work, in the lane. Never raises for tool-level failures: they are results."""
        ...

    def error_result(
        self, error: ToolError, prepared: Prepared | None = None, *, asked: CallNamed | None = None
    ) -> ToolResult:
        """How a failure outside the tools (queue_full, request_cancelled, confirmation_*) looks as a result.

        ``asked``: the call as it came, where it was not prepared (yet): an error about a write says what it did, too.
        """
        ...

    async def instructions(self, caller: Caller) -> str: ...

    async def list_resources(self, caller: Caller) -> list[dict[str, Any]]: ...

    async def list_resource_templates(self, caller: Caller) -> list[dict[str, Any]]: ...

    async def read_resource(self, uri: str, caller: Caller) -> list[dict[str, Any]] | None:
        """The ``contents``; None for an unknown URI."""
        ...

    async def list_skills(self, caller: Caller) -> list[dict[str, Any]] | None:
        """``{uri, frontmatter, resources}`` of each skill; None while skills are not served."""
        ...

    async def list_prompts(self, caller: Caller) -> list[dict[str, Any]]: ...

    async def get_prompt(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any] | None:
        """``{description?, messages}``; None for an unknown prompt."""
        ...

    async def complete(
        self, reference: Mapping[str, Any], argument: Mapping[str, Any], caller: Caller
    ) -> list[str]: ...

    async def surface_version(self, caller: Caller) -> str:
        """A digest of the exposed tool list and its configuration: changes mean ``tools/list_changed``."""
        ...
