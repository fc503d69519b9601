"""What a call submits for safety, checked by its form, and the words of a refusal. Does no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kernel.canonical import digest
from kernel.errors import ToolError
from kernel.safety.intent import SAFETY_ARGUMENTS

# Upper case is refused here, unlike in credentials (decision 39): an id is copied, never typed.
_REQUEST_ID: Final = re.compile(r"[a-f0-9]{4,64}")


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """The digest of the business arguments: what a request id and a lease are bound to."""
    return digest({name: value for name, value in arguments.items() if name not in SAFETY_ARGUMENTS})


def checked_request_id(value: object) -> str:
    """A well-formed request id.

    Raises:
        ToolError: ``precondition_required`` (none given), ``invalid_request_id`` (not ours by its form).
    """
    if value is None:
        raise ToolError(
            "precondition_required",
            "This action needs the requestId of a preflight.",
            outer=rejected(),
            expectedField="requestId",
        )
    if not isinstance(value, str) or _REQUEST_ID.fullmatch(value) is None:
        raise ToolError(
            "invalid_request_id",
            "A requestId is 4 to 64 lower-case hexadecimal digits, as a preflight issued it.",
            outer=rejected(),
        )
    return value


def rejected() -> dict[str, Any]:
    """The keys beside ``error`` of a strict call that executed nothing."""
    return {
        "success": False,
        "writeSafetyMode": "strict",
        "writeAttempted": False,
        "writeExecuted": False,
        "transactionState": "rejected",
    }


def in_doubt() -> dict[str, Any]:
    """The keys beside ``error`` of a strict call whose effect is not known."""
    return {**rejected(), "writeAttempted": True, "transactionState": "unknown"}
