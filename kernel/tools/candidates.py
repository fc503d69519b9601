"""Cards that a list named and a view may review together. Does no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.tools.limits import CARD_CANDIDATES_MAX, CARD_CANDIDATES_MS_MAX

_FIELDS: Final[tuple[str, ...]] = ("deckID", "cardID", "blockID")


@dataclass(slots=True)
class Candidates:
    """Token → (expiry in wall milliseconds, cards by their ids). In memory."""

    _kept: dict[str, tuple[int, tuple[dict[str, Any], ...]]] = field(default_factory=dict)

    def keep(self, token: str, cards: Sequence[dict[str, Any]], now_ms: int) -> None:
        """The oldest go first when there are too many."""
        self._kept = {one: row for one, row in self._kept.items() if row[0] > now_ms}
        while len(self._kept) >= CARD_CANDIDATES_MAX:
            del self._kept[next(iter(self._kept))]
        slim = tuple({name: card[name] for name in _FIELDS if name in card} for card in cards)
        self._kept[token] = (now_ms + CARD_CANDIDATES_MS_MAX, slim)

    def find(self, token: str, now_ms: int) -> tuple[dict[str, Any], ...] | None:
        """The cards; None for an unknown or expired token."""
        row = self._kept.get(token)
        return row[1] if row is not None and row[0] > now_ms else None
