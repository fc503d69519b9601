"""[core] The reference model: a second, much simpler book of what was asked, written and answered, and what must hold.

Every write carries a *mark*, a number that no other write carries, in its text. The book sees marks in three places only:
in what the host was asked to do, in what clients were answered, and on the disk. From these follow the promises:

- at most one host write per mark, whatever is committed, replayed, cancelled, cut or restarted;
- an answer that says that nothing was attempted comes from a call that wrote nothing;
- a replay says what the first answer said (decision 53), and what was once begun never begins again;
- what a read shows, and what a crash leaves, is the last write or one that was under way; never an older one.

Steps are counted, not timed: many things happen in one moment of the virtual clock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.errors import ERRORS

MARK: Final = re.compile(r"qz(\d+)qz")
INITIAL: Final = 0
# What a replay repeats of the first answer: hashes may be shortened differently, the rest is the same.
_REPEATED: Final = ("requestId", "transactionState")
_HASHES: Final = ("previousHash", "resultHash")
# Ends after which a request id was begun.
_BEGUN: Final = frozenset({"outcome_unknown", "readback_mismatch"})


class BrokenPromise(Exception):
    """The kernel did what it must not do."""


@dataclass(slots=True, eq=False)
class HostWrite:
    """One write call that reached the note kernel. ``is_done``: whether it took effect; None while nobody knows."""

    mark: int
    began: int
    ended: int | None = None
    is_done: bool | None = None


@dataclass(slots=True, eq=False)
class Attempt:
    """One tools/call that may write, as its client sees it. ``answer`` None: lost, or not yet there."""

    mark: int
    request_id: str | None
    began: int
    ended: int | None = None
    is_lost: bool = False
    answer: Mapping[str, Any] | None = None

    @property
    def code(self) -> str:
        """The error code of the answer; "" for a success."""
        error = (self.answer or {}).get("error")
        return str(error.get("code", "?")) if isinstance(error, dict) else ""

    def overlaps(self, began: int, ended: int | None) -> bool:
        return (self.ended is None or self.is_lost or began <= self.ended) and (ended is None or self.began <= ended)


@dataclass(slots=True, eq=False)
class Identity:
    """A request id that was issued: its mark, and what the first committed answer said."""

    request_id: str
    mark: int
    first: Mapping[str, Any] | None = None
    is_in_doubt: bool = False


@dataclass(slots=True)
class Book:
    """What one world has seen. Methods raise ``BrokenPromise``."""

    step: int = 0
    keys: dict[int, str] = field(default_factory=dict)  # mark → what it writes to; "" for an addition
    writes: dict[int, list[HostWrite]] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    identities: dict[str, Identity] = field(default_factory=dict)
    _by_key: dict[str, list[HostWrite]] = field(default_factory=dict)

    def mark(self, key: str) -> int:
        """A new mark for a write to ``key``."""
        number = len(self.keys) + 1
        self.keys[number] = key
        return number

    # --- the host --------------------------------------------------------------------------------------------
    def host_begins(self, arguments: object) -> HostWrite | None:
        """A write call has reached the note kernel; None if it carries no mark."""
        found = MARK.search(json.dumps(arguments, ensure_ascii=False, default=str))
        if found is None:
            return None
        self.step += 1
        write = HostWrite(int(found[1]), self.step)
        made = self.writes.setdefault(write.mark, [])
        # One that the host refused has changed nothing.
        if any(one.is_done is not False for one in made):
            raise BrokenPromise(f"mark {write.mark} is written a second time")
        made.append(write)
        self._by_key.setdefault(self.keys[write.mark], []).append(write)
        return write

    def host_ends(self, write: HostWrite, *, is_done: bool | None) -> None:
        self.step += 1
        write.ended, write.is_done = self.step, is_done

    # --- the clients -----------------------------------------------------------------------------------------
    def attempt(self, mark: int, request_id: str | None) -> Attempt:
        """A call that carries a mark is sent."""
        self.step += 1
        attempt = Attempt(mark, request_id, self.step)
        self.attempts.append(attempt)
        return attempt

    def lost(self, attempt: Attempt) -> None:
        """Its answer will never come."""
        self.step += 1
        attempt.ended, attempt.is_lost = self.step, True

    def answered(self, attempt: Attempt, answer: Mapping[str, Any]) -> None:
        """Its answer is there: what may be said of it at once is checked at once."""
        self.step += 1
        if attempt.ended is not None:
            raise BrokenPromise(f"mark {attempt.mark} is answered twice")
        attempt.ended, attempt.answer = self.step, answer
        code = attempt.code
        if code and code not in ERRORS:
            raise BrokenPromise(f"an error code that no table knows: {code}")
        if answer.get("writeAttempted") is False and "validateOnly" not in answer:
            self._check_wrote_nothing(attempt)
        if attempt.request_id is not None:
            self._check_identity(attempt, self.identities[attempt.request_id])

    def issued(self, request_id: str, mark: int) -> None:
        """A preflight was answered with an id."""
        if request_id in self.identities:
            raise BrokenPromise(f"request id {request_id} is issued a second time")
        self.identities[request_id] = Identity(request_id, mark)

    def _check_wrote_nothing(self, attempt: Attempt) -> None:
        for write in self.writes.get(attempt.mark, ()):
            if write.is_done is False or not attempt.overlaps(write.began, write.ended):
                continue
            others = [one for one in self.attempts if one is not attempt and one.mark == attempt.mark]
            if not any(one.overlaps(write.began, write.ended) for one in others):
                raise BrokenPromise(
                    f"mark {attempt.mark}: answered {attempt.code or 'success'}, nothing attempted; written"
                )

    def _check_identity(self, attempt: Attempt, identity: Identity) -> None:
        if attempt.mark != identity.mark:
            if not attempt.code:
                raise BrokenPromise(f"{identity.request_id} was taken for a call that it was not issued for")
            return
        answer = attempt.answer or {}
        safety = answer.get("safety")
        if attempt.code:
            if attempt.code in _BEGUN:
                identity.is_in_doubt = True
            if identity.first is not None and attempt.code in _BEGUN:
                raise BrokenPromise(f"{identity.request_id} was committed, and is in doubt now")
            return
        if not isinstance(safety, Mapping) or safety.get("transactionState") not in ("committed", "no_change"):
            raise BrokenPromise(f"{identity.request_id}: a success without its receipt")
        if not any(write.is_done for write in self.writes.get(identity.mark, ())):
            raise BrokenPromise(f"{identity.request_id}: committed, and the note kernel was never written to")
        self._check_receipt(identity, safety)

    def _check_receipt(self, identity: Identity, safety: Mapping[str, Any]) -> None:
        first = identity.first
        if first is None:
            identity.first = dict(safety)
            return
        if safety.get("replayed") is not True and first.get("replayed") is not True:
            raise BrokenPromise(f"{identity.request_id} was committed twice")
        for name in _REPEATED:
            if safety.get(name) != first.get(name):
                raise BrokenPromise(f"{identity.request_id}: the replay says another {name}")
        for name in _HASHES:
            one, other = str(safety.get(name, "")), str(first.get(name, ""))
            if bool(one) != bool(other) or not (one.startswith(other) or other.startswith(one)):
                raise BrokenPromise(f"{identity.request_id}: the replay says another {name}: {one}, not {other}")

    # --- what may be seen ------------------------------------------------------------------------------------
    def possible(self, key: str, began: int, ended: int) -> set[int]:
        """The marks that ``key`` may show to somebody who looks between two steps."""
        writes = [one for one in self._by_key.get(key, ()) if one.began <= ended]
        before = [one for one in writes if one.is_done and one.ended is not None and one.ended < began]
        floor = max((one.began for one in before), default=0)
        seen = {INITIAL} if not before else set()
        for one in writes:
            is_over = one.is_done is False and one.ended is not None and one.ended < began
            is_superseded = one.ended is not None and one.ended < floor
            if not is_over and not is_superseded:
                seen.add(one.mark)
        return seen

    def check_seen(self, key: str, mark: int, began: int, what: str) -> None:
        """``what`` shows ``mark`` at ``key``; it began to look at step ``began``."""
        allowed = self.possible(key, began, self.step)
        if mark not in allowed:
            raise BrokenPromise(f"{what}: {key} shows mark {mark}, not one of {sorted(allowed)}")

    def check_left(self, left: Iterable[int], what: str) -> None:
        """The marks that lie on a disk after a crash, or at the end."""
        found = set(left)
        for key, writes in self._by_key.items():
            if not key:
                lasting = {one.mark for one in writes if one.is_done}
                if not lasting <= found:
                    raise BrokenPromise(f"{what}: the additions {sorted(lasting - found)} are gone")
                continue
            shown = found & {one.mark for one in writes}
            if len(shown) > 1:
                raise BrokenPromise(f"{what}: {key} shows the marks {sorted(shown)} at once")
            self.check_seen(key, shown.pop() if shown else INITIAL, self.step, what)

    def after_crash(self) -> None:
        """What ran has ended, nobody knows how: it may have taken effect, and may yet be found."""
        self.step += 1
        for writes in self.writes.values():
            for write in writes:
                if write.ended is None:
                    write.ended = self.step

    def check_settled(self) -> None:
        """At the end: every call was answered or lost its connection, and an id without a begun end wrote nothing."""
        for attempt in self.attempts:
            if attempt.ended is None:
                raise BrokenPromise(f"mark {attempt.mark} was never answered")
        for identity in self.identities.values():
            told = [one for one in self.attempts if one.request_id == identity.request_id and one.mark == identity.mark]
            if identity.first is not None or identity.is_in_doubt or any(one.is_lost for one in told):
                continue
            if any(write.is_done for write in self.writes.get(identity.mark, ())):
                raise BrokenPromise(f"{identity.request_id} wrote, and no answer ever said so")
