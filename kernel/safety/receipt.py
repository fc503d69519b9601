"""[core] What is kept of a write and how it is told: receipts, the ``safety`` object, preflight answers. Does no I/O.

Receipts hold full digests; only what leaves the process is shortened, through the one pool (R53-R56).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from kernel.safety.intent import Observation, Precondition
from kernel.safety.leases import Lease
from kernel.safety.short_hashes import ShortHashes

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Receipt:
    """The immutable result of a settled write. ``extra``: an AV creation's small receipt (R83), else empty."""

    request_id: str
    transaction_state: str  # "committed" or "no_change"
    previous: str | None = None
    result: str | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


def preflight_answer(
    request_id: str,
    expires_wall_ms: int,
    precondition: Precondition,
    seen: Observation,
    lease: Lease | None,
    pool: ShortHashes,
) -> dict[str, Any]:
    """The answer to ``validateOnly`` without its ``action`` (R9-R24). An addition has no credential and no count."""
    answer: dict[str, Any] = {
        "validateOnly": True,
        "writeSafetyMode": "strict",
        "writeAttempted": False,
        "writeExecuted": False,
        "requestId": request_id,
        "requestIdExpiresAt": expires_wall_ms,
    }
    if lease is not None:
        short = pool.short(lease.digest)
        answer["preconditionField"] = precondition.value
        answer[precondition.value] = short
        answer["hashPrefixLength"] = len(short)
        answer["leaseExpiresAt"] = lease.expires_wall_ms
        answer["targetCount"] = seen.target_count
    return {**answer, **{name: value for name, value in seen.summary.items() if name not in answer}}


def safety_object(
    receipt: Receipt, pool: ShortHashes, *, is_replay: bool, was_attempted: bool = True
) -> dict[str, Any]:
    """The ``safety`` object of a success; a replay attempted nothing (decision 53)."""
    attempted = was_attempted and not is_replay
    told: dict[str, Any] = {
        "requestId": receipt.request_id,
        "writeSafetyMode": "strict",
        "writeSafetyGuaranteed": True,
        "writeAttempted": attempted,
        "writeExecuted": attempted,
        "replayed": is_replay,
        "transactionState": receipt.transaction_state,
    }
    if receipt.previous is not None:
        told["previousHash"] = receipt.previous
    if receipt.result is not None:
        told["resultHash"] = receipt.result
    return pool.shorten(told)


def replay_answer(receipt: Receipt, pool: ShortHashes) -> dict[str, Any]:
    """The whole payload of a replay: the first answer's safety block, and an AV creation's receipt; never a body."""
    safety = safety_object(receipt, pool, is_replay=True)
    answer: dict[str, Any] = {"success": True, **dict(receipt.extra), **safety, "safety": safety}
    if receipt.extra:
        answer["receipt"] = dict(receipt.extra)
    return answer
