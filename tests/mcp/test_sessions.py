"""Sessions: the cap, who is dropped, lazy expiry, binding; and a model that must agree."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from kernel.mcp.limits import SESSION_IDLE_S, SESSIONS_MAX
from kernel.mcp.sessions import Session, SessionsFull, SessionTable
from kernel.mcp.versions import negotiate

REVISION = negotiate("2025-11-25")


def opened(table: SessionTable, name: str, now: float = 0.0, principal: str = "local") -> Session:
    return table.open(name, principal, REVISION, {}, {}, now=now)


def test_a_session_is_found_by_its_id_and_its_credential_only() -> None:
    table = SessionTable()
    session = opened(table, "a")
    assert table.find("a", "local", now=1.0) is session
    assert table.find("a", "other", now=1.0) is None
    assert table.find("b", "local", now=1.0) is None


def test_a_foreign_look_up_does_not_keep_a_session_alive() -> None:
    table = SessionTable()
    opened(table, "a")
    assert table.find("a", "other", now=SESSION_IDLE_S - 1) is None
    assert table.find("a", "local", now=SESSION_IDLE_S) is None


def test_an_idle_session_expires_at_its_limit_and_not_before() -> None:
    table = SessionTable()
    session = opened(table, "a")
    assert table.find("a", "local", now=SESSION_IDLE_S - 0.5) is session
    assert table.find("a", "local", now=2 * SESSION_IDLE_S - 0.5) is None
    assert session.is_ended
    assert len(table) == 0


def test_a_busy_session_does_not_expire_and_its_idleness_begins_at_release() -> None:
    table = SessionTable()
    session = opened(table, "a")
    table.hold(session)
    table.expire(10 * SESSION_IDLE_S)
    assert table.find("a", "local", now=10 * SESSION_IDLE_S) is session
    table.release(session, now=20 * SESSION_IDLE_S)
    assert table.find("a", "local", now=21 * SESSION_IDLE_S - 1) is session
    assert table.find("a", "local", now=22 * SESSION_IDLE_S) is None


def test_at_the_limit_nothing_is_dropped_and_one_past_it_the_least_recently_used_idle_one() -> None:
    table = SessionTable()
    sessions = [opened(table, str(index), now=float(index)) for index in range(SESSIONS_MAX)]
    assert len(table) == SESSIONS_MAX
    assert not any(session.is_ended for session in sessions)
    table.hold(sessions[0])
    table.find("1", "local", now=500.0)
    opened(table, "new", now=501.0)
    assert [session.id for session in sessions if session.is_ended] == ["2"]
    assert len(table) == SESSIONS_MAX


def test_while_all_are_busy_there_is_no_room() -> None:
    table = SessionTable(sessions_max=2)
    busy = [opened(table, name) for name in "ab"]
    for session in busy:
        table.hold(session)
    with pytest.raises(SessionsFull):
        opened(table, "c")
    table.release(busy[1], now=1.0)
    opened(table, "c", now=2.0)
    assert [session.is_ended for session in busy] == [False, True]


def test_ending_a_session_tells_its_streams_once_and_forgets_what_it_waited_for() -> None:
    table = SessionTable()
    session = opened(table, "a")
    told: list[int] = []
    session.on_end.append(lambda: told.append(1))
    session.awaiting[1] = lambda _reply: None
    table.end(session)
    table.end(session)
    assert told == [1]
    assert session.awaiting == {}
    assert table.find("a", "local", now=0.0) is None


def test_a_session_may_be_released_after_its_end() -> None:
    table = SessionTable()
    session = opened(table, "a")
    table.hold(session)
    table.end(session)
    table.release(session, now=1.0)
    assert session.use_count == 0
    assert len(table) == 0


def test_all_sessions_are_counted() -> None:
    table = SessionTable()
    sessions = [opened(table, name) for name in "abc"]
    table.hold(sessions[0])
    assert table.statistics() == {"sessions": 3, "busy": 1}
    table.end(sessions[0])
    assert table.statistics() == {"sessions": 2, "busy": 0}


class SessionModel(RuleBasedStateMachine):
    """The table against a plain dict: (last use, uses) per id."""

    def __init__(self) -> None:
        super().__init__()
        self.table = SessionTable(sessions_max=3)
        self.model: dict[str, list[float]] = {}
        self.sessions: dict[str, Session] = {}
        self.now = 0.0
        self.opened = 0

    names = Bundle("names")

    def _expire(self) -> None:
        for name, (used, uses) in list(self.model.items()):
            if uses == 0 and self.now - used >= SESSION_IDLE_S:
                del self.model[name]

    @rule(target=names)
    def open(self) -> str:
        self.opened += 1
        name = str(self.opened)
        self._expire()
        idle = [key for key, value in sorted(self.model.items(), key=lambda item: item[1][0]) if value[1] == 0]
        if len(self.model) >= 3 and not idle:
            with pytest.raises(SessionsFull):
                opened(self.table, name, self.now)
            return name
        if len(self.model) >= 3:
            del self.model[idle[0]]
        self.sessions[name] = opened(self.table, name, self.now)
        self.model[name] = [self.now, 0]
        return name

    @rule(name=names)
    def find(self, name: str) -> None:
        self.now += 0.001  # uses are ordered in time, as monotonic clocks order them
        self._expire()
        found = self.table.find(name, "local", now=self.now)
        assert (found is not None) == (name in self.model)
        if found is not None:
            self.model[name][0] = self.now

    @rule(name=names)
    def hold(self, name: str) -> None:
        self._expire()
        if name in self.model:
            self.table.hold(self.sessions[name])
            self.model[name][1] += 1

    @rule(name=names)
    def release(self, name: str) -> None:
        if name in self.model and self.model[name][1]:
            self.now += 0.001
            self.table.release(self.sessions[name], now=self.now)
            self.model[name] = [self.now, self.model[name][1] - 1]

    @rule(name=names)
    def end(self, name: str) -> None:
        if name in self.model:
            self.table.end(self.sessions[name])
            del self.model[name]

    @rule(seconds=st.sampled_from([1.0, SESSION_IDLE_S / 2, SESSION_IDLE_S]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self._expire()
        self.table.expire(self.now)

    @invariant()
    def agrees(self) -> None:
        assert len(self.table) <= 3
        for name, (_, uses) in self.model.items():
            assert not self.sessions[name].is_ended
            assert self.sessions[name].use_count == uses


SessionModel.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestSessionModel = SessionModel.TestCase
