"""[core] Very many ids in few bytes: a workspace has as many as blocks, and most of them are never asked for.

Two parts. ``PackedIds`` are the ids of one document, 22 bytes each, one after the other. ``Holders`` leads from an id to
the documents that may hold it, 8 bytes for each, found by bisection; it never forgets, so whoever asks it asks the
document too. Together they are exact, at a tenth of the memory of a dictionary from id to document.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Set
from typing import Final

from kernel.workspace.limits import DOCUMENTS_ENTERED_MAX, UNPACKED_HOLDINGS_MAX

_LENGTH: Final = len("20260101000000-abcdefg")
_NUMBER_BITS: Final = DOCUMENTS_ENTERED_MAX.bit_length()
_HASH_MASK: Final = (1 << (64 - _NUMBER_BITS)) - 1
_NUMBER_MASK: Final = (1 << _NUMBER_BITS) - 1
# Up to so many are put into their places one by one, more are sorted in when they are first asked for.
_PLACED_ONE_BY_ONE_MAX: Final = 16


class PackedIds(Set[str]):
    """A set of ids that cannot change. Those of another length than an id's are kept as they are."""

    __slots__ = ("_others", "_text")

    def __init__(self, text: str = "", others: frozenset[str] = frozenset()) -> None:
        """``text``: ids of the usual length, each once, one after the other."""
        self._text = text
        self._others = others

    @classmethod
    def of(cls, ids: Iterable[str]) -> PackedIds:
        """The ids, each once."""
        unique = ids if isinstance(ids, Set) else dict.fromkeys(ids)
        if all(length == _LENGTH for length in set(map(len, unique))):
            return cls("".join(unique))
        return cls(
            "".join(one for one in unique if len(one) == _LENGTH),
            frozenset(one for one in unique if len(one) != _LENGTH),
        )

    @classmethod
    def _from_iterable(cls, ids: Iterable[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(ids)

    @property
    def packed(self) -> tuple[str, frozenset[str]]:
        """What ``__init__`` takes, to be stored."""
        return self._text, self._others

    def changed(self, added: Collection[str], dropped: Collection[str]) -> PackedIds:
        """The set without ``dropped`` (ids in it) and with ``added`` (ids not in it). Cheap where both are few."""
        text, others = self._text, self._others
        for one in dropped:
            if (at := self._found(text, one)) >= 0:
                text = text[:at] + text[at + _LENGTH :]
        if added or (others and dropped):
            more = PackedIds.of(added)
            return PackedIds(text + more._text, others.difference(dropped) | more._others)
        return PackedIds(text, others)

    def __len__(self) -> int:
        return len(self._text) // _LENGTH + len(self._others)

    def __iter__(self) -> Iterator[str]:
        text = self._text
        for at in range(0, len(text), _LENGTH):
            yield text[at : at + _LENGTH]
        yield from self._others

    def __contains__(self, one: object) -> bool:
        return isinstance(one, str) and (self._found(self._text, one) >= 0 or one in self._others)

    def __hash__(self) -> int:
        return self._hash()

    @staticmethod
    def _found(text: str, one: str) -> int:
        """Where an id stands, -1 if it does not: an end of one and the start of the next may look like it."""
        at = text.find(one) if len(one) == _LENGTH else -1
        while at > 0 and at % _LENGTH:
            at = text.find(one, at + 1)
        return at


NO_IDS: Final = PackedIds()


class Holders:
    """From an id to the numbers of documents that may hold it.

    Each holding is one number of 64 bits: a hash of the id above, the document's number below. What has come lately is
    a list in order, what came before are runs in order, each at least twice as long as the next, so that there are few.
    """

    def __init__(self) -> None:
        self._runs: list[array[int]] = []
        self._late: list[int] = []
        self._is_late_in_order = True

    @property
    def size(self) -> int:
        """How many holdings are known."""
        return len(self._late) + sum(map(len, self._runs))

    @property
    def runs(self) -> int:
        """In how many runs most of them lie."""
        return len(self._runs)

    def add(self, ids: Collection[str], number: int) -> None:
        """A document holds these ids now. ``number``: at most ``DOCUMENTS_ENTERED_MAX``."""
        holdings = [(hash(one) & _HASH_MASK) << _NUMBER_BITS | number for one in ids]
        late = self._late
        if self._is_late_in_order and len(holdings) <= _PLACED_ONE_BY_ONE_MAX:
            for holding in holdings:
                # An id that comes and goes again and again takes no more room for that.
                if not self._holds(holding):
                    insort(late, holding)
        else:
            late += holdings
            self._is_late_in_order = False
        if len(late) > UNPACKED_HOLDINGS_MAX:
            self._pack()

    def candidates(self, one: str) -> list[int]:
        """The documents that may hold an id, the one that was numbered last first."""
        if not self._is_late_in_order:
            self._late.sort()
            self._is_late_in_order = True
        first = (hash(one) & _HASH_MASK) << _NUMBER_BITS
        found: list[int] = []
        for run in (self._late, *self._runs):
            at = bisect_left(run, first)
            while at < len(run) and run[at] <= first | _NUMBER_MASK:
                found.append(run[at] & _NUMBER_MASK)
                at += 1
        return sorted(set(found), reverse=True) if len(found) > 1 else found

    def _holds(self, holding: int) -> bool:
        for run in (self._late, *self._runs):
            at = bisect_left(run, holding)
            if at < len(run) and run[at] == holding:
                return True
        return False

    def _pack(self) -> None:
        self._late.sort()
        runs = self._runs
        runs.append(array("Q", self._late))
        self._late, self._is_late_in_order = [], True
        while len(runs) > 1 and 2 * len(runs[-1]) > len(runs[-2]):
            # Two runs in order: sorting them together is one pass.
            last, before = runs.pop(), runs.pop()
            runs.append(array("Q", sorted([*before, *last])))
