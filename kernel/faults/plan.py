"""[core] Which fault happens where, and at which visit: a fault plan as a value. A leaf; no I/O, no chance of its own.

A rule strikes a visit that is about its point and its call, from the ``nth`` such visit on, ``times`` times (None: for
ever). With a ``probability`` it strikes only some of them: which ones follows from ``seed`` and the number of the
visit alone, so the same seed is the same run. ``kernel.faults.reading`` reads plans from TOML and JSON.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from kernel.faults.calls import CallFacts, Phase
from kernel.faults.deeds import COMMON, DEEDS, Effect, Name
from kernel.faults.limits import RULES_MAX
from kernel.faults.points import FAMILY_OF, HTTP_POINTS, POINTS, effect_of

if TYPE_CHECKING:
    from kernel.faults.builder import RuleDraft


class PlanInvalid(Exception):
    """A fault plan that says nothing sensible: the line (from 1) and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault. The fields of a deed are those of ``DEEDS``.

    ``tool`` and ``action`` may hold ``*``. ``session``: a session's id, or the how-maniest session that comes to the
    point (from 1). ``phase``: a strict write's preflight or commit; ``effect``: host calls that read, or write. ``code``: the host's
    envelope code; ``status``: an HTTP status instead; ``seconds``: a delay, a lag, a jump of the clock.
    """

    point: str
    do: Name
    name: str = ""
    nth: int = 1
    times: int | None = 1
    tool: str | None = None
    action: str | None = None
    session: str | int | None = None
    phase: Phase | None = None
    effect: Effect | None = None
    probability: float = 1.0
    seed: int = 0
    seconds: float | None = None
    code: int = -1
    status: int | None = None
    message: str = "injected fault"
    retry_after_s: int | None = None
    how: str = "rst"
    bytes: int | None = None
    what: str = ""
    count: int = 1
    id: str | None = None
    text: str | None = None

    def is_about(self, point: str, call: CallFacts) -> bool:
        """Whether the rule is about this point and this call (session and counting aside)."""
        return (
            (self.point == point or self._covers(point))
            and _fits(self.tool, call.tool)
            and _fits(self.action, call.action)
            and (self.phase is None or self.phase == call.phase)
            and (self.effect is None or self.effect == effect_of(point))
        )

    def _covers(self, point: str) -> bool:
        # A pattern means those of its points where the deed makes sense.
        return fnmatch.fnmatchcase(point, self.point) and FAMILY_OF.get(point) in DEEDS[self.do].families

    def as_json(self) -> dict[str, Any]:
        """The rule as it would stand in a file: what differs from the defaults."""
        told: dict[str, Any] = {"point": self.point, "do": self.do, "nth": self.nth, "times": self.times}
        for name in sorted((COMMON | DEEDS[self.do].fields) - told.keys()):
            value = getattr(self, name)
            if value != Rule.__dataclass_fields__[name].default:
                told[name] = value
        return told


@dataclass(slots=True)
class _Counted:
    rule: Rule
    visits: int = 0
    struck: int = 0
    sessions: list[str] = field(default_factory=list)

    def strikes(self, call: CallFacts) -> bool:
        """Count one visit that the rule is about; whether it is struck."""
        rule = self.rule
        if rule.session is not None and not self._is_its_session(rule.session, call.session):
            return False
        self.visits += 1
        if self.visits < rule.nth or (rule.times is not None and self.struck >= rule.times):
            return False
        if rule.probability < 1.0 and _chance(rule.seed, self.visits) >= rule.probability:
            return False
        self.struck += 1
        return True

    def _is_its_session(self, wanted: str | int, session: str | None) -> bool:
        if session is None:
            return False
        if isinstance(wanted, str):
            return wanted == session
        if session not in self.sessions:
            self.sessions.append(session)
        return self.sessions.index(session) + 1 == wanted


class FaultPlan:
    """The rules in force and how often each was met and struck."""

    __slots__ = ("_rules", "points", "strikes_http")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules: list[_Counted] = []
        # The points that some rule is about; whether one of them is passed by exchanges.
        self.points: frozenset[str] = frozenset()
        self.strikes_http = False
        self.extend(list(rules))

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> FaultPlan:
        return cls(rules)

    @property
    def is_empty(self) -> bool:
        return not self._rules

    @property
    def rules(self) -> list[Rule]:
        return [counted.rule for counted in self._rules]

    def at(self, point: str) -> RuleDraft:
        """Begin a rule: ``FaultPlan().at("write.commit.checked").for_tool("block", "update").nth(2).hold("x")``."""
        from kernel.faults.builder import RuleDraft

        return RuleDraft(self, point)

    def add(self, rule: Rule) -> None:
        self.extend([rule])

    def extend(self, rules: list[Rule]) -> None:
        """Add rules: all of them, or, past the bound, none."""
        if len(self._rules) + len(rules) > RULES_MAX:
            raise PlanInvalid(1, f"a plan holds at most {RULES_MAX} rules")
        self._rules += [_Counted(rule) for rule in rules]
        if rules:
            self._look_at(self.points.union(*(_meant(rule.point) for rule in rules)))

    def clear(self) -> None:
        self._rules.clear()
        self._look_at(frozenset())

    def _look_at(self, points: frozenset[str]) -> None:
        self.points = points
        self.strikes_http = not points.isdisjoint(HTTP_POINTS)

    def visit(self, point: str, call: CallFacts) -> list[Rule]:
        """Count one visit; the rules that strike it, in the plan's order."""
        return [counted.rule for counted in self._rules if counted.rule.is_about(point, call) and counted.strikes(call)]

    def struck(self, name: str) -> int:
        """How often rules of this name have struck."""
        return sum(counted.struck for counted in self._rules if counted.rule.name == name)

    def describe(self) -> list[dict[str, Any]]:
        """The rules with how often each was met and struck (``/emulator/faults``)."""
        return [
            {**counted.rule.as_json(), "visits": counted.visits, "struck": counted.struck} for counted in self._rules
        ]

    def as_json(self) -> dict[str, Any]:
        """The plan as it would stand in a file."""
        return {"rules": [rule.as_json() for rule in self.rules]}


def _meant(pattern: str) -> Iterable[str]:
    return (pattern,) if pattern in POINTS else (pattern, *fnmatch.filter(POINTS, pattern))


def _fits(wanted: str | None, given: str | None) -> bool:
    return wanted is None or (given is not None and (wanted == given or fnmatch.fnmatchcase(given, wanted)))


def _chance(seed: int, visit: int) -> float:
    """A number from 0 to 1 that follows from the two alone."""
    return int.from_bytes(sha256(f"{seed}/{visit}".encode()).digest()[:8], "big") / 2**64
