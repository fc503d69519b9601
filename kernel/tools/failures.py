"""How failures become errors of a tool: the host's words translated, the fields every error carries."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostError
from kernel.host.envelope import failure_code
from kernel.tools.registry.model import Action, Problem

_log: Final = logging.getLogger("kernel.tools")
LEGACY_SAFETY: Final[Mapping[str, Any]] = {"writeSafetyMode": "legacy", "writeSafetyGuaranteed": False}
# What a handler stumbles with over an answer of another kind.
MISREAD: Final = (AttributeError, LookupError, TypeError, ValueError)
# Errors that are the caller's to correct; soft mode hands them over without isError.
SOFT_TYPES: Final = frozenset(
    {"validation_error", "invalid_arguments", "not_found", "ambiguous_path", "invalid_path", "action_disabled"}
)
# The kernel's own short messages that say more than "it failed".
_TRANSLATED: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"notebook \[.*\] not found"), "notebook_not_found"),
    (re.compile(r"block not found(?: \[.*\])?"), "block_not_found"),
    (re.compile(r"Content block with id \[.*\] not found"), "block_not_found"),
    (re.compile(r"(?:attribute )?view not found"), "av_not_found"),
)
# Said of an id that nobody knows: the code tells it, and the type stays the kernel's, as clients of this plugin know it.
_UNKNOWN_ID: Final = "Content block with id ["
_HINTS: Final[Mapping[str, str]] = {
    "Query notebook failed": "The notebook is closed or does not exist: list the notebooks.",
    "tree not found": "No document has this id: look it up again.",
}


def refusal(message: str, code: str = "internal_error", **details: Any) -> ToolError:
    """A handler's own refusal. Its coarse type is ``internal_error``, as clients of this plugin know it; ``code`` says more."""
    details.setdefault("hint", "Correct the call; action=help explains the action.")
    return ToolError(code, message, type="internal_error", **details)


def not_found(message: str, code: str = "not_found", **details: Any) -> ToolError:
    details.setdefault("hint", "Look the target up first.")
    return ToolError(code, message, **details)


def unknown_block(block_id: str) -> HostApiError:
    """What the kernel says of an id that it does not know, whenever it is asked."""
    return HostApiError(-1, f"{_UNKNOWN_ID}{block_id}] not found", path="/api/block/getBlockInfo")


def from_host(error: HostError) -> ToolError:
    """The error a caller sees for a failed host call. An ambiguous write says that its outcome is unknown."""
    if error.is_ambiguous:
        return ToolError("outcome_unknown", f"The write was sent and no certain answer came: {error.message}")
    if isinstance(error, HostApiError):
        words = error.message.strip()
        for pattern, code in _TRANSLATED:
            if pattern.fullmatch(words):
                details: dict[str, Any] = {"type": "api_error"} if words.startswith(_UNKNOWN_ID) else {}
                return ToolError(code, words, hint="Look the target up again.", apiCode=error.api_code, **details)
        hint = next((text for part, text in _HINTS.items() if part in words), "The note kernel refused this call.")
        return ToolError("api_error", f"SiYuan API error: {error.api_code} - {words}", hint=hint)
    return ToolError(failure_code(error), error.message)


def misread(error: Exception, key: str) -> ToolError:
    """What a note kernel answered is not of the kind that its place asks for: text where an object should be. Logged
    with its place, for whoever has to find out which answer that was."""
    _log.warning("an answer of the note kernel was not understood by %s", key, exc_info=error)
    return ToolError("host_malformed", f"The note kernel answered something else than expected: {error}")


def invalid(action: Action, problems: list[Problem]) -> ToolError:
    """The error for arguments that do not fit the row."""
    return ToolError(
        "validation_error",
        f'Invalid arguments for {action.tool}(action="{action.name}").',
        fields=[problem.as_field() for problem in problems],
        hint=f'{action.tool}(action="help", topic="{action.name}") shows what it takes.',
    )


def payload_of(error: ToolError, tool: str = "", action: str = "") -> dict[str, Any]:
    """An error's structured content, with the call it belongs to."""
    payload = error.payload()
    body = dict(payload["error"])
    if tool:
        body.setdefault("tool", tool)
    if action:
        body.setdefault("action", action)
    return {**payload, "error": body}
