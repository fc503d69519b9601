"""[core] When a change of a database happens, and where its ids come from: arguments, never read from the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

STAMP_LENGTH: Final = 14
SECOND_MS: Final = 1000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Broken(Exception):
    """The kernel's handler panics here; what it has written so far stays."""


class TooShortId(Broken):
    """An id without the time it was made at."""


@dataclass(frozen=True, slots=True)
class Moment:
    """``now_ms`` is Unix time in milliseconds, ``zone`` the machine's time zone."""

    now_ms: int
    zone: tzinfo
    new_id: Callable[[], str]

    @classmethod
    def of(cls, workspace: Workspace) -> Moment:
        zone = workspace.clock.local().tzinfo
        assert zone is not None, "local times know their zone"
        return cls(workspace.clock.wall_ms(), zone, workspace.new_id)

    def local(self, unix_ms: int) -> datetime:
        """A time of the machine's zone; times that no calendar holds are the nearest it does."""
        try:
            return (_EPOCH + timedelta(milliseconds=unix_ms)).astimezone(self.zone)
        except OverflowError:
            return datetime.max.replace(tzinfo=self.zone) if unix_ms > 0 else datetime.min.replace(tzinfo=self.zone)

    @property
    def now(self) -> datetime:
        return self.local(self.now_ms)

    @property
    def today(self) -> datetime:
        """Midnight before now."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def of_stamp(self, stamp: str) -> int | None:
        """A stamp yyyyMMddHHmmss as Unix milliseconds; None if it is none."""
        if len(stamp) != STAMP_LENGTH or not stamp.isdigit():
            return None
        try:
            return unix_ms(datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=self.zone))
        except ValueError:
            return None

    def made_at(self, block_id: str) -> int:
        """When an id was made; now, if it does not say. Raises TooShortId."""
        if len(block_id) < STAMP_LENGTH:
            raise TooShortId(block_id)
        made = self.of_stamp(block_id[:STAMP_LENGTH])
        return self.now_ms if made is None else made

    def day_text(self, unix: int) -> str:
        return date_text(self.local(unix))

    def minute_text(self, unix: int) -> str:
        when = self.local(unix)
        return f"{date_text(when)} {when:%H:%M}"


def unix_ms(when: datetime) -> int:
    return (when - _EPOCH) // timedelta(milliseconds=1)


def date_text(when: datetime) -> str:
    return f"{when.year:04d}-{when:%m-%d}"
