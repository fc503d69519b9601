"""[core] The modern era (2026-07-28): its method table, the request envelope, and the listen filter. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from kernel.mcp.capabilities import has_apps, has_form_elicitation
from kernel.mcp.classify import META_CAPABILITIES, META_PREFIX, ModernRequest
from kernel.mcp.params import SHARED_METHODS, Operation, Params, invalid, text
from kernel.tasks.control import canonical_task_id

META_CLIENT: Final = META_PREFIX + "clientInfo"
META_LOG_LEVEL: Final = META_PREFIX + "logLevel"
META_SUBSCRIPTION: Final = META_PREFIX + "subscriptionId"
META_TASK: Final = "io.siyuan.sisyphus/taskId"

LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Discover(msgspec.Struct, frozen=True):
    """``server/discover``."""


class Listen(msgspec.Struct, frozen=True):
    """``subscriptions/listen``: what the client asked to hear of."""

    wants_tools: bool
    wants_prompts: bool
    names_tasks: bool = False  # asked for, not served: the acknowledgement leaves it out, and tasks/get tells


class TaskOperation(msgspec.Struct, frozen=True):
    """``tasks/get``, ``tasks/update`` (with its ``inputResponses``) or ``tasks/cancel``."""

    kind: Literal["get", "update", "cancel"]
    task_id: str
    responses: dict[str, Any] = {}


class Envelope(msgspec.Struct, frozen=True):
    """What one modern request says about its client and itself."""

    capabilities: dict[str, Any]
    client_info: Any
    log_level: str | None
    progress_token: int | str | None
    task_id: str | None

    @property
    def has_form(self) -> bool:
        return has_form_elicitation(self.capabilities)

    @property
    def has_apps(self) -> bool:
        return has_apps(self.capabilities)


def _discover(_params: Params) -> Discover:
    return Discover()


def _listen(params: Params) -> Listen:
    notifications = params.get("notifications")
    if not isinstance(notifications, dict):
        raise invalid("notifications must be an object")
    for name in ("toolsListChanged", "promptsListChanged", "resourcesListChanged"):
        if not isinstance(notifications.get(name, False), bool):
            raise invalid(f"notifications.{name} must be a boolean")
    uris = notifications.get("resourceSubscriptions", [])
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise invalid("notifications.resourceSubscriptions must be an array of strings")
    task_ids = notifications.get("taskIds", [])
    if not isinstance(task_ids, list) or not all(isinstance(task_id, str) for task_id in task_ids):
        raise invalid("notifications.taskIds must be an array of strings")
    return Listen(
        notifications.get("toolsListChanged", False),
        notifications.get("promptsListChanged", False),
        names_tasks=bool(task_ids),
    )


def _get_task(params: Params) -> TaskOperation:
    return TaskOperation("get", text(params, "taskId"))


def _update_task(params: Params) -> TaskOperation:
    responses = params.get("inputResponses")
    if not isinstance(responses, dict):
        raise invalid("inputResponses must be an object")
    return TaskOperation("update", text(params, "taskId"), responses)


def _cancel_task(params: Params) -> TaskOperation:
    return TaskOperation("cancel", text(params, "taskId"))


ModernOperation = Operation | Discover | Listen | TaskOperation

MODERN_METHODS: Final[Mapping[str, Callable[[Params], ModernOperation]]] = {
    **SHARED_METHODS,
    "server/discover": _discover,
    "subscriptions/listen": _listen,
    "tasks/get": _get_task,
    "tasks/update": _update_task,
    "tasks/cancel": _cancel_task,
}


def read_envelope(modern: ModernRequest) -> Envelope:
    """The typed envelope.

    Raises:
        ProtocolError: -32602, a member of ``_meta`` has the wrong type.
    """
    meta = modern.meta
    capabilities = meta[META_CAPABILITIES]
    if not isinstance(capabilities, dict):
        raise invalid(f"{META_CAPABILITIES} must be an object")
    log_level = meta.get(META_LOG_LEVEL)
    if log_level is not None and log_level not in LOG_LEVELS:
        raise invalid(f"{META_LOG_LEVEL} must be one of {', '.join(LOG_LEVELS)}")
    # A client info of the wrong shape is served all the same: it is for display only.
    return Envelope(capabilities, meta.get(META_CLIENT), log_level, read_progress_token(meta), read_task_id(meta))


def read_operation(modern: ModernRequest) -> ModernOperation:
    """The request's parameters as an operation. Raises ProtocolError (-32602)."""
    return MODERN_METHODS[modern.request.method](modern.params)


def read_progress_token(meta: Mapping[str, Any]) -> int | str | None:
    token = meta.get("progressToken")
    if token is None or type(token) is int or type(token) is str:
        return token
    raise invalid("progressToken must be a string or an integer")


def read_task_id(meta: Mapping[str, Any]) -> str | None:
    """``io.siyuan.sisyphus/taskId`` in lower case, or None (R228)."""
    if META_TASK not in meta:
        return None
    task_id = canonical_task_id(meta[META_TASK])
    if task_id is None:
        raise invalid(f"{META_TASK} must be a UUID string")
    return task_id


def client_name(client_info: object) -> str:
    """``name/version`` for display; empty where the declaration is not understood."""
    if not isinstance(client_info, dict):
        return ""
    name, version = client_info.get("name"), client_info.get("version")
    if not isinstance(name, str):
        return ""
    return f"{name}/{version}" if isinstance(version, str) else name


def reaches(level: str, threshold: str | None) -> bool:
    """Whether a log entry of ``level`` is to be sent to a client that asked for ``threshold`` (None: for nothing)."""
    return threshold is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(threshold)
