"""How far one call is, for a client that asked to be told: what is done is counted, whatever the call consists of.

The count only grows, and never past a total that is told with it. A list is told of in at most so many notes, so that a
long one costs no more than a short one; a call whose client did not ask counts nothing. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, TypeVar

from kernel.host.base import Host
from kernel.host.limits import PROGRESS_NOTES_PER_LIST_MAX

T = TypeVar("T")
# (how much is done, of how much as far as it is known, what was done last)
Tell = Callable[[float, float | None, str | None], None]


class Progress:
    """One call's. ``tell``: how its client is told; None: it does not want to be. ``stages``: how many of its stages
    are known to come beside the lists it will work through."""

    __slots__ = ("_done", "_stages_left", "_tell")

    def __init__(self, tell: Tell | None = None, stages: int = 0) -> None:
        self._tell = tell
        self._done = 0
        self._stages_left = stages

    def steps(self, items: Collection[T], doing: str) -> Iterable[T]:
        """Each item in turn; its client is told after each, with a total."""
        return items if self._tell is None else self._told(self._tell, items, doing)

    def found(self, doing: str) -> None:
        """One more is done of a number that is not known yet: told without a total, at lengthening intervals."""
        if self._tell is not None:
            self._done += 1
            if self._done & (self._done - 1) == 0 or self._done % PROGRESS_NOTES_PER_LIST_MAX == 0:
                self._tell(self._done, None, doing)

    def stage(self, done: str) -> None:
        """One of the announced stages is over; a repeated one counts no further than announced."""
        if self._tell is not None and self._stages_left:
            self._stages_left -= 1
            self._done += 1
            self._tell(self._done, self._done + self._stages_left, done)

    def _told(self, tell: Tell, items: Collection[T], doing: str) -> Iterator[T]:
        count, noted = len(items), 0
        total = self._done + count + self._stages_left
        for index, item in enumerate(items, 1):
            yield item
            self._done += 1
            due = index * PROGRESS_NOTES_PER_LIST_MAX // count
            if due > noted:
                noted = due
                tell(self._done, total, f"{doing} {index} of {count}")


UNTOLD: Final = Progress()


def progress_of(host: Host) -> Progress:
    """The progress of the call that this host belongs to; of nothing, where it belongs to none."""
    found = getattr(host, "progress", None)
    return found if isinstance(found, Progress) else UNTOLD
