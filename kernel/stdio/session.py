"""What a message on standard input means: the two eras of one stdio client. Does no I/O.

Theory of operation. The process has one client, and that client shows its era with every message: a request that
carries the modern envelope is forwarded as it is; ``initialize`` opens the handshake era, whose requests are put into
the modern envelope on their way and whose answers lose the modern words on their way back. So nothing is remembered at
the coordinator, and its restart ends no session here. In both eras ``notifications/cancelled`` names a request by type
and value of its id; over stdio there is no stream that could be closed instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from kernel.delegate.coordinator import NOTHING_DONE
from kernel.errors import ToolError
from kernel.mcp.capabilities import APPS, TASK_CONTROL, TASKS, Offer
from kernel.mcp.classify import META_PREFIX
from kernel.mcp.handshake_era import HANDSHAKE_METHODS, Ping, SetLevel, check_batch, read_initialize
from kernel.mcp.jsonrpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    SERVER_BUSY,
    Batch,
    Notification,
    ProtocolError,
    Request,
    RequestId,
)
from kernel.mcp.versions import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE, Revision
from kernel.stdio.limits import IN_FLIGHT_MAX
from kernel.tools.registry import TOOLS, find_action

_VERSION: Final = META_PREFIX + "protocolVersion"
_CAPABILITIES: Final = META_PREFIX + "clientCapabilities"
_CLIENT: Final = META_PREFIX + "clientInfo"
_LEVEL: Final = META_PREFIX + "logLevel"
_MODERN_WORDS: Final = frozenset({"resultType", "ttlMs", "cacheScope"})
_EXTENSIONS: Final = "extensions"
_FOREIGN: Final = "extension"
_NOT_HERE: Final = frozenset({TASK_CONTROL, TASKS})


class Kind(Enum):
    """What has to be done for a request."""

    TOOL = "tool"
    REQUEST = "request"
    LOCAL = "local"
    INITIALIZE = "initialize"


@dataclass(frozen=True, slots=True)
class Task:
    """One request on its way. ``params``: as the coordinator gets them; ``result``: of a LOCAL one."""

    kind: Kind
    request_id: RequestId
    method: str
    params: dict[str, Any] = field(default_factory=dict)
    is_modern: bool = False
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Session:
    """The client of this process."""

    revision: Revision = HANDSHAKE_REVISIONS[LATEST_HANDSHAKE]
    capabilities: dict[str, Any] = field(default_factory=dict)
    client_info: dict[str, Any] | None = None
    log_level: str | None = None
    is_initialized: bool = False
    has_listed: bool = False  # the client has a list of tools, and is told when it may be an old one
    _in_flight: set[tuple[type, RequestId]] = field(default_factory=set)

    # --- requests ---

    def admit(self, request: Request) -> Task:
        """What to do for a request; it is in flight until ``end``.

        Raises:
            ProtocolError: with the request's id.
            ToolError: a second call with the id of one in flight (decision 14).
        """
        try:
            task = self._task(request)
            if self._key(request.id) in self._in_flight:
                if task.kind is Kind.TOOL:
                    raise ToolError("duplicate_request", "A call with this id is in flight", outer=dict(NOTHING_DONE))
                raise ProtocolError(INVALID_REQUEST, "Invalid Request: a request with this id is in flight")
            if len(self._in_flight) >= IN_FLIGHT_MAX:
                raise ProtocolError(SERVER_BUSY, f"More than {IN_FLIGHT_MAX} requests are not answered yet")
        except ProtocolError as error:
            error.request_id = request.id
            raise
        self._in_flight.add(self._key(request.id))
        self.has_listed = self.has_listed or task.method == "tools/list"
        return task

    def end(self, request_id: RequestId) -> None:
        """The request is answered, or never will be."""
        self._in_flight.discard(self._key(request_id))

    def cancelled_id(self, notification: Notification) -> tuple[type, RequestId] | None:
        """Which request in flight a ``notifications/cancelled`` names: 5 and "5" are two (R213)."""
        if notification.method != "notifications/cancelled" or notification.params is None:
            return None
        named = notification.params.get("requestId")
        if type(named) is not int and type(named) is not str:
            return None
        key = self._key(named)
        return key if key in self._in_flight else None

    def check_batch(self, batch: Batch) -> None:
        """Raises ProtocolError: batches exist in 2025-03-26 only."""
        check_batch(batch, self.revision, has_session=self.is_initialized)

    @staticmethod
    def _key(request_id: RequestId) -> tuple[type, RequestId]:
        return type(request_id), request_id

    def _task(self, request: Request) -> Task:
        params = request.params or {}
        meta = params.get("_meta")
        is_modern = isinstance(meta, dict) and _VERSION in meta and request.method != "initialize"
        if is_modern:
            kind = Kind.TOOL if request.method == "tools/call" else Kind.REQUEST
            return Task(kind, request.id, request.method, params, is_modern=True)
        if request.method == "initialize":
            return self._initialized(request)
        read = HANDSHAKE_METHODS.get(request.method)
        if read is None:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        operation = read(params)
        if isinstance(operation, Ping):
            return Task(Kind.LOCAL, request.id, request.method)
        if isinstance(operation, SetLevel):
            self.log_level = operation.level
            return Task(Kind.LOCAL, request.id, request.method)
        kind = Kind.TOOL if request.method == "tools/call" else Kind.REQUEST
        return Task(kind, request.id, request.method, {**params, "_meta": self._envelope(meta)})

    def _initialized(self, request: Request) -> Task:
        asked = read_initialize(request.params)
        self.revision, self.capabilities, self.client_info = asked.revision, asked.capabilities, asked.client_info
        return Task(Kind.INITIALIZE, request.id, request.method)

    def _envelope(self, meta: Any) -> dict[str, Any]:
        """A handshake client's declaration in modern words. Its form elicitation is left out: that era has another
        convention for dangerous calls, ``confirm:true`` (R133)."""
        shown = {key: self.capabilities[key] for key in (_EXTENSIONS,) if key in self.capabilities}
        envelope: dict[str, Any] = dict(meta) if isinstance(meta, dict) else {}
        envelope[_CAPABILITIES] = shown
        if self.client_info is not None:
            envelope[_CLIENT] = self.client_info
        if self.log_level is not None:
            envelope[_LEVEL] = self.log_level
        return envelope

    # --- answers ---

    def welcome(self, instructions: str) -> dict[str, Any]:
        """The ``initialize`` result."""
        return Offer(extensions={APPS: {}}).initialized(self.revision.name, instructions)

    def undress(self, task: Task, result: Mapping[str, Any]) -> dict[str, Any]:
        """A coordinator's result as the client's era writes it."""
        if task.is_modern:
            return _without_tasks(result) if task.method == "server/discover" else dict(result)
        bare = {key: value for key, value in result.items() if key not in _MODERN_WORDS and key != "_meta"}
        meta = result.get("_meta")
        kept = {} if not isinstance(meta, dict) else {k: v for k, v in meta.items() if not k.startswith(META_PREFIX)}
        return {**bare, "_meta": kept} if kept else bare

    def error_of(self, task: Task, error: Mapping[str, Any]) -> dict[str, Any]:
        """A coordinator's JSON-RPC error as the client's era writes it."""
        if not task.is_modern and task.method == "resources/read" and error.get("message") == "Resource not found":
            return {**error, "code": RESOURCE_NOT_FOUND}
        return dict(error)


def _without_tasks(result: Mapping[str, Any]) -> dict[str, Any]:
    """What the coordinator offers, without its two ways to follow a task: both need its HTTP side, or a call without
    the task id that every delegated call has."""
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        return dict(result)
    offered = {name: value for name, value in (capabilities.get("extensions") or {}).items() if name not in _NOT_HERE}
    return {**result, "capabilities": {**capabilities, "extensions": offered}}


def missed_change(message: Any) -> dict[str, Any] | None:
    """What to tell a client whose listening stream has begun (again), if that is what the message says: before it
    nobody would have told of a change. None for any other message."""
    if not isinstance(message, dict) or message.get("method") != "notifications/subscriptions/acknowledged":
        return None
    return {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def change_told(message: Any) -> dict[str, Any] | None:
    """A notification of the listening stream as a handshake client gets it; None for what it has no word for."""
    if not isinstance(message, dict) or not str(message.get("method", "")).endswith("/list_changed"):
        return None
    return {"jsonrpc": "2.0", "method": message["method"]}


def is_coordinated(params: Mapping[str, Any]) -> bool:
    """Whether a tools/call is a write or the preflight of one; unknown actions and foreign tools may be (R108)."""
    arguments = params.get("arguments")
    given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    tool, name = TOOLS.get(str(params.get("name"))), given.get("action")
    if tool is None or not isinstance(name, str) or name == "help":
        return False
    action = find_action(tool, name)
    return action is None or not action.policy.resolve(given).is_read


def can_write(params: Mapping[str, Any]) -> bool:
    """Whether a tools/call may change something: a preflight does not, but foreign tools know no preflight."""
    arguments = params.get("arguments")
    given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    is_preflight = given.get("validateOnly") is True and params.get("name") != _FOREIGN
    return is_coordinated(params) and not is_preflight
