"""[core] Preflight leases: who may write once, from which state, until when (R8, R38-R43, decision 24).

A lease binds one state (a full digest) to one scope: tool, action, business arguments and targets. It is found by
scope and digest together, so knowing a printed short hash opens nothing. Expiry is a comparison with ``now``
(exclusive: at ``expires_at`` the lease is gone), there are no timers.

Life of a lease::

    issue ── resolve* ── take ── (write) ── gone
                 │         └─ give_back: the write never began, or was refused before it began
                 └─ expired, or pushed out by 4 younger ones of its scope or 1,024 of all

Does no I/O.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from kernel.canonical import digest
from kernel.safety.limits import LEASE_TTL_S, LEASES_MAX, LEASES_PER_SCOPE_MAX


def scope_of(tool: str, action: str, arguments_digest: str, target_ids: tuple[str, ...]) -> str:
    """The digest under which the leases of one exact call are kept (R38)."""
    return digest({"tool": tool, "action": action, "arguments": arguments_digest, "targets": sorted(target_ids)})


@dataclass(frozen=True, slots=True)
class Lease:
    """A right to one write. ``expires_at``: monotonic seconds; ``expires_wall_ms``: the same moment, for the reader."""

    scope: str
    digest: str
    expires_at: float
    expires_wall_ms: int

    @property
    def key(self) -> tuple[str, str]:
        return self.scope, self.digest


class Leases:
    """All live leases of a coordinator, oldest first."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[tuple[str, str], Lease] = OrderedDict()
        # Oldest first as well; a dict as an ordered set.
        self._by_scope: dict[str, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def issue(self, scope: str, state: str, *, now: float, wall_ms: int) -> Lease:
        """A fresh lease on ``state`` (a full digest). The same state in the same scope refreshes its lease."""
        self._drop_expired(now)
        lease = Lease(scope, state, now + LEASE_TTL_S, wall_ms + int(LEASE_TTL_S * 1000))
        self._remove(lease.key)
        self._by_key[lease.key] = lease
        in_scope = self._by_scope.setdefault(scope, {})
        in_scope[state] = None
        if len(in_scope) > LEASES_PER_SCOPE_MAX:
            self._remove((scope, next(iter(in_scope))))
        if len(self._by_key) > LEASES_MAX:
            self._remove(next(iter(self._by_key)))
        return lease

    def resolve(self, scope: str, state: str, *, now: float) -> Lease | None:
        """The live lease on ``state`` in this scope, if there is one."""
        lease = self._by_key.get((scope, state))
        return lease if lease is not None and now < lease.expires_at else None

    def holds(self, state: str, *, now: float) -> bool:
        """Whether any live lease is on ``state``, in whatever scope."""
        return any(lease.digest == state and now < lease.expires_at for lease in self._by_key.values())

    def take(self, lease: Lease) -> bool:
        """Use the lease up; False if it is no longer the one in force (used, pushed out or refreshed meanwhile)."""
        if self._by_key.get(lease.key) is not lease:
            return False
        self._remove(lease.key)
        return True

    def give_back(self, lease: Lease, *, now: float) -> None:
        """Undo ``take``: nothing was executed. A younger lease on the same state stands; an expired one stays gone."""
        if lease.key in self._by_key or now >= lease.expires_at:
            return
        self._by_key[lease.key] = lease
        self._by_key.move_to_end(lease.key, last=False)
        others = self._by_scope.get(lease.scope, {})
        self._by_scope[lease.scope] = {lease.digest: None, **others}
        # It comes back as the oldest, so a bound that was reached meanwhile pushes out this one and no younger one.
        if len(self._by_scope[lease.scope]) > LEASES_PER_SCOPE_MAX or len(self._by_key) > LEASES_MAX:
            self._remove(lease.key)

    def clear(self) -> None:
        """Every lease is gone (a fault: as if their time were over)."""
        self._by_key.clear()
        self._by_scope.clear()

    def _drop_expired(self, now: float) -> None:
        while self._by_key:
            lease = next(iter(self._by_key.values()))
            if now < lease.expires_at:
                return
            self._remove(lease.key)

    def _remove(self, key: tuple[str, str]) -> None:
        if self._by_key.pop(key, None) is None:
            return
        scope, state = key
        in_scope = self._by_scope[scope]
        del in_scope[state]
        if not in_scope:
            del self._by_scope[scope]
