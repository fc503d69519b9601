"""One ledger row as a value: everything that is kept of a write, and nothing of a note (R82-R84). Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from kernel.safety.receipt import Receipt
from kernel.safety.write import WriteState

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Binding(msgspec.Struct, frozen=True):
    """What a request id was issued for; a commit must bring the same (R86)."""

    tool: str
    action: str
    arguments_digest: str


class Row(msgspec.Struct, frozen=True):
    """A request id and what became of it. All times are wall milliseconds, for the record and for lapsing."""

    request_id: str
    state: WriteState
    binding: Binding
    issued_wall_ms: int
    expires_wall_ms: int
    target_ids: tuple[str, ...] = ()
    begun_wall_ms: int | None = None
    settled_wall_ms: int | None = None
    previous: str | None = None
    result: str | None = None
    transaction_state: str | None = None
    error_code: str | None = None
    extra: Mapping[str, Any] = msgspec.field(default_factory=lambda: _NOTHING)

    def receipt(self) -> Receipt:
        """The receipt of a committed row."""
        return Receipt(
            self.request_id, self.transaction_state or "committed", self.previous, self.result, dict(self.extra)
        )
