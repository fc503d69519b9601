"""Calls outside the guarantee: external effects, and every mutation while strict mode is off (R104-R112, R152-R154).

They are sent once, behind the same commit boundary, and say themselves that nothing is guaranteed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from kernel.errors import ToolError
from kernel.safety.intent import CommitGate
from kernel.safety.receipt import unguarded_safety
from kernel.safety.submission import rejected

EXTERNAL_REASON: Final = "external_uncontrolled"
_EXTERNAL_HINT: Final = (
    "Nothing was executed. External effects cannot be read back, so they have no preflight: with your user's consent,"
    " send the same business arguments without validateOnly, requestId and hashes."
)


def refuse_external_preflight(tool: str, action: str, *, strict: bool) -> ToolError:
    """The answer to ``validateOnly`` on an external action: nothing ran, and what to do instead (R107)."""
    mode = "strict" if strict else "legacy"
    outer = rejected(mode)
    outer["safety"] = unguarded_safety(mode, EXTERNAL_REASON)
    return ToolError(
        "preflight_unavailable",
        f"{tool}.{action} is an external effect: it has no preflight.",
        outer=outer,
        hint=_EXTERNAL_HINT,
    )


def refuse_preflight_while_off() -> ToolError:
    """The answer to ``validateOnly`` on a mutation while strict mode is off."""
    return ToolError(
        "strict_mode_disabled",
        "Strict safe writes are off: there is no preflight, and nothing was executed.",
        outer=rejected("legacy"),
    )


async def run_external(
    gate: CommitGate, effect: Callable[[], Awaitable[dict[str, Any]]], *, strict: bool = True
) -> dict[str, Any]:
    """Run an external effect once, behind the boundary (R110, R223); the payload with its ``safety`` object."""
    gate.enter_commit()
    payload = await gate.run(effect)
    return {**payload, "safety": unguarded_safety("strict" if strict else "legacy", EXTERNAL_REASON)}


async def run_without_guarantee(gate: CommitGate, write: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Run a mutation once while strict mode is off (R153, R154); the payload with its ``safety`` object."""
    gate.enter_commit()
    payload = await gate.run(write)
    return {**payload, "safety": unguarded_safety("legacy")}
