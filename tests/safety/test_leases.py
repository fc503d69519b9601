"""Leases: found by scope and state, used once, bounded, expired by comparison."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kernel.safety.leases import Lease, Leases, scope_of
from kernel.safety.limits import LEASE_TTL_S, LEASES_MAX, LEASES_PER_SCOPE_MAX


def test_expiry_is_exclusive() -> None:
    leases = Leases()
    leases.issue("s", "d", now=0.0, wall_ms=0)
    assert leases.resolve("s", "d", now=LEASE_TTL_S - 0.001) is not None
    assert leases.resolve("s", "d", now=LEASE_TTL_S) is None


def test_expired_leases_are_dropped_when_a_new_one_is_issued() -> None:
    leases = Leases()
    for number in range(3):
        leases.issue(f"s{number}", "d", now=float(number), wall_ms=0)
    leases.issue("new", "d", now=LEASE_TTL_S + 1, wall_ms=0)
    assert len(leases) == 2


def test_the_fifth_lease_of_a_scope_pushes_out_the_oldest() -> None:
    leases = Leases()
    for number in range(LEASES_PER_SCOPE_MAX + 1):
        leases.issue("s", f"d{number}", now=0.0, wall_ms=0)
    assert [leases.resolve("s", f"d{number}", now=0.0) is not None for number in range(5)] == [
        False,
        True,
        True,
        True,
        True,
    ]


def test_one_lease_more_than_allowed_pushes_out_the_oldest_of_all() -> None:
    leases = Leases()
    for number in range(LEASES_MAX):
        leases.issue(f"s{number}", "d", now=0.0, wall_ms=0)
    assert leases.resolve("s0", "d", now=0.0) is not None
    leases.issue("one more", "d", now=0.0, wall_ms=0)
    assert leases.resolve("s0", "d", now=0.0) is None
    assert leases.resolve("s1", "d", now=0.0) is not None
    assert len(leases) == LEASES_MAX


def test_the_same_state_refreshes_its_lease_and_becomes_the_youngest() -> None:
    leases = Leases()
    old = leases.issue("s", "d0", now=0.0, wall_ms=0)
    for number in range(1, 4):
        leases.issue("s", f"d{number}", now=1.0, wall_ms=0)
    new = leases.issue("s", "d0", now=2.0, wall_ms=2000)
    leases.issue("s", "d4", now=3.0, wall_ms=0)
    assert leases.resolve("s", "d0", now=LEASE_TTL_S + 1) is new
    assert leases.resolve("s", "d1", now=3.0) is None
    assert not leases.take(old)
    assert new.expires_wall_ms == 602_000


def test_a_taken_lease_is_gone_and_can_come_back_if_nothing_was_executed() -> None:
    leases = Leases()
    lease = leases.issue("s", "d", now=0.0, wall_ms=0)
    assert leases.take(lease)
    assert not leases.take(lease)
    assert leases.resolve("s", "d", now=0.0) is None
    leases.give_back(lease, now=1.0)
    assert leases.resolve("s", "d", now=1.0) is lease


def test_what_comes_back_too_late_stays_gone() -> None:
    leases = Leases()
    lease = leases.issue("s", "d", now=0.0, wall_ms=0)
    leases.take(lease)
    leases.give_back(lease, now=LEASE_TTL_S)
    assert len(leases) == 0


def test_what_comes_back_does_not_displace_a_younger_lease_on_the_same_state() -> None:
    leases = Leases()
    lease = leases.issue("s", "d", now=0.0, wall_ms=0)
    leases.take(lease)
    younger = leases.issue("s", "d", now=5.0, wall_ms=0)
    leases.give_back(lease, now=6.0)
    assert leases.resolve("s", "d", now=6.0) is younger


def test_what_comes_back_to_a_full_scope_pushes_out_nobody() -> None:
    leases = Leases()
    lease = leases.issue("s", "d", now=0.0, wall_ms=0)
    leases.take(lease)
    for number in range(LEASES_PER_SCOPE_MAX):
        leases.issue("s", f"d{number}", now=1.0, wall_ms=0)
    leases.give_back(lease, now=2.0)
    assert leases.resolve("s", "d", now=2.0) is None
    assert len(leases) == LEASES_PER_SCOPE_MAX


def test_scopes_keep_calls_apart() -> None:
    """R42: a short value alone opens nothing."""
    base = scope_of("block", "update", "a", ("t",))
    assert base == scope_of("block", "update", "a", ("t",))
    others = {
        scope_of("fs", "update", "a", ("t",)),
        scope_of("block", "move", "a", ("t",)),
        scope_of("block", "update", "b", ("t",)),
        scope_of("block", "update", "a", ("t", "u")),
    }
    assert base not in others
    assert len(others) == 4


class LeaseMachine(RuleBasedStateMachine):
    """Against a list of leases in order of issue, searched by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.leases = Leases()
        self.now = 0.0
        self.model: list[Lease] = []
        self.taken: list[Lease] = []

    def _alive(self) -> list[Lease]:
        return [lease for lease in self.model if self.now < lease.expires_at]

    @rule(scope=st.sampled_from("st"), state=st.sampled_from("abcdef"))
    def issue(self, scope: str, state: str) -> None:
        lease = self.leases.issue(scope, state, now=self.now, wall_ms=0)
        self.model = [old for old in self._alive() if old.key != lease.key] + [lease]
        of_scope = [old for old in self.model if old.scope == scope]
        if len(of_scope) > LEASES_PER_SCOPE_MAX:
            self.model.remove(of_scope[0])

    @rule(seconds=st.floats(0, LEASE_TTL_S))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(scope=st.sampled_from("st"), state=st.sampled_from("abcdef"))
    def take(self, scope: str, state: str) -> None:
        lease = self.leases.resolve(scope, state, now=self.now)
        expected = next((old for old in self._alive() if old.key == (scope, state)), None)
        assert lease is expected
        if lease is not None:
            assert self.leases.take(lease)
            self.model.remove(lease)
            self.taken.append(lease)

    @rule()
    def give_back(self) -> None:
        if not self.taken:
            return
        lease = self.taken.pop()
        self.leases.give_back(lease, now=self.now)
        of_scope = [old for old in self.model if old.scope == lease.scope]
        is_there = any(old.key == lease.key for old in self.model)
        if not is_there and self.now < lease.expires_at and len(of_scope) < LEASES_PER_SCOPE_MAX:
            self.model.insert(0, lease)

    @invariant()
    def what_resolves_is_what_the_model_holds(self) -> None:
        for scope in "st":
            for state in "abcdef":
                expected = next((old for old in self._alive() if old.key == (scope, state)), None)
                assert self.leases.resolve(scope, state, now=self.now) is expected


TestLeases = LeaseMachine.TestCase
TestLeases.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)


def test_whether_any_live_lease_is_on_a_state_is_known_across_scopes() -> None:
    leases = Leases()
    leases.issue("one scope", "state", now=0.0, wall_ms=0)
    assert leases.holds("state", now=LEASE_TTL_S - 0.001)
    assert not leases.holds("state", now=LEASE_TTL_S)
    assert not leases.holds("another", now=0.0)


def test_leases_that_are_cleared_are_gone_at_once() -> None:
    leases = Leases()
    lease = leases.issue("scope", "state", now=0.0, wall_ms=0)
    leases.clear()
    assert len(leases) == 0
    assert leases.resolve("scope", "state", now=0.0) is None
    assert not leases.take(lease)
