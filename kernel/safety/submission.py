"""A call's arguments, parted into what it wants done and what it submits for safety. Does no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kernel.canonical import digest
from kernel.errors import ToolError
from kernel.safety.intent import SAFETY_ARGUMENTS, Precondition

# Upper case is refused here, unlike in credentials (decision 39): an id is copied, never typed.
_REQUEST_ID: Final = re.compile(r"[a-f0-9]{4,64}")


@dataclass(frozen=True, slots=True)
class Submission:
    """``business``: the arguments without the safety fields; the rest as it was submitted, unchecked."""

    business: dict[str, Any]
    is_preflight: bool
    request_id: Any = None
    credentials: Mapping[str, Any] | None = None

    def credential(self, precondition: Precondition) -> Any:
        """What was submitted under the precondition's own field (``expectedHash`` counts for the state hash)."""
        credentials = self.credentials or {}
        if precondition is Precondition.STATE:
            return credentials.get(precondition.value, credentials.get("expectedHash"))
        return credentials.get(precondition.value)

    @property
    def safety_fields(self) -> tuple[str, ...]:
        """Which safety fields were given, sorted (for refusals that name them)."""
        names = set(self.credentials or {})
        if self.request_id is not None:
            names.add("requestId")
        return tuple(sorted(names))


def part(arguments: Mapping[str, Any]) -> Submission:
    """Part the arguments of one call (R17). ``validateOnly`` counts only when it is exactly ``true``."""
    return Submission(
        business={name: value for name, value in arguments.items() if name not in SAFETY_ARGUMENTS},
        is_preflight=arguments.get("validateOnly") is True,
        request_id=arguments.get("requestId"),
        credentials={
            name: value
            for name, value in arguments.items()
            if name in SAFETY_ARGUMENTS and name not in ("validateOnly", "requestId") and value is not None
        },
    )


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


def rejected(mode: str = "strict") -> dict[str, Any]:
    """The keys beside ``error`` of a call that executed nothing. ``mode``: ``strict`` or ``legacy``."""
    return {
        "success": False,
        "writeSafetyMode": mode,
        "writeAttempted": False,
        "writeExecuted": False,
        "transactionState": "rejected",
    }


def in_doubt() -> dict[str, Any]:
    """The keys beside ``error`` of a strict call whose effect is not known."""
    return {**rejected(), "writeAttempted": True, "transactionState": "unknown"}
