"""Which fault happens where, and at which visit: a fault plan as a value, and its JSON form. A leaf; no I/O.

A plan file is a JSON array of rules (or ``{"rules": [...]}``)::

    [
      {"point": "host.before:/api/block/updateBlock", "do": "hold", "name": "update"},
      {"point": "host.after:/api/block/*", "do": "drop", "nth": 2, "times": 1, "tool": "block", "action": "update"},
      {"point": "host.before:/api/block/getBlockKramdown", "do": "fail", "status": 503},
      {"point": "write.commit.written", "do": "crash"}
    ]

``point`` may hold ``*``. ``nth`` is the first matching visit that is hit (1), ``times`` how many from there on
(1; null: all). ``tool`` and ``action`` narrow a rule to calls of that tool action.
"""

from __future__ import annotations

import fnmatch
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from kernel.faults.points import POINTS

Deed = Literal["delay", "hold", "fail", "drop", "crash"]
DEEDS: Final = ("delay", "hold", "fail", "drop", "crash")
DELAY_S_MAX: Final = 3600.0
RULES_MAX: Final = 1000

_FIELDS: Final = frozenset(
    {"point", "do", "nth", "times", "tool", "action", "seconds", "name", "code", "status", "message"}
)
_OF_DEED: Final[Mapping[str, frozenset[str]]] = {
    "delay": frozenset({"seconds"}),
    "hold": frozenset({"name"}),
    "fail": frozenset({"code", "status", "message"}),
    "drop": frozenset(),
    "crash": frozenset(),
}
_COMMON: Final = frozenset({"point", "do", "nth", "times", "tool", "action"})
_ARRAY_START: Final = re.compile(r'\s*(?:\{\s*"rules"\s*:\s*)?\[')
_BETWEEN: Final = re.compile(r"[\s,]*")


class PlanInvalid(Exception):
    """A fault plan that says nothing sensible: the line (from 1) and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault. ``code``: the host's envelope code; ``status``: an HTTP status instead; ``seconds``: a delay."""

    point: str
    do: Deed
    nth: int = 1
    times: int | None = 1
    tool: str | None = None
    action: str | None = None
    seconds: float = 0.0
    name: str = ""
    code: int = -1
    status: int | None = None
    message: str = "injected fault"

    def matches(self, point: str, tool: str | None, action: str | None) -> bool:
        """Whether the rule is about this visit (counting aside)."""
        return (
            (self.tool is None or self.tool == tool)
            and (self.action is None or self.action == action)
            and (self.point == point or fnmatch.fnmatchcase(point, self.point))
        )

    def as_json(self) -> dict[str, Any]:
        """The rule as it would stand in a file."""
        told: dict[str, Any] = {"point": self.point, "do": self.do, "nth": self.nth, "times": self.times}
        for name in ("tool", "action"):
            if getattr(self, name) is not None:
                told[name] = getattr(self, name)
        for name in sorted(_OF_DEED[self.do]):
            if getattr(self, name) is not None:
                told[name] = getattr(self, name)
        return told


@dataclass(slots=True)
class _Counted:
    rule: Rule
    visits: int = 0


@dataclass(slots=True)
class FaultPlan:
    """The rules in force and how often each was met."""

    _rules: list[_Counted] = field(default_factory=list)

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> FaultPlan:
        plan = cls()
        for rule in rules:
            plan.add(rule)
        return plan

    @property
    def is_empty(self) -> bool:
        return not self._rules

    def add(self, rule: Rule) -> None:
        if len(self._rules) >= RULES_MAX:
            raise PlanInvalid(1, f"a plan holds at most {RULES_MAX} rules")
        self._rules.append(_Counted(rule))

    def clear(self) -> None:
        self._rules.clear()

    def visit(self, point: str, *, tool: str | None = None, action: str | None = None) -> list[Rule]:
        """Count one visit; the rules that strike it, in the plan's order."""
        struck = []
        for counted in self._rules:
            rule = counted.rule
            if rule.matches(point, tool, action):
                counted.visits += 1
                if counted.visits >= rule.nth and (rule.times is None or counted.visits < rule.nth + rule.times):
                    struck.append(rule)
        return struck

    def describe(self) -> list[dict[str, Any]]:
        """The rules with how often each was met (``/emulator/faults``)."""
        return [{**counted.rule.as_json(), "visits": counted.visits} for counted in self._rules]


def read_plan(text: str) -> list[Rule]:
    """The rules of a plan file.

    Raises:
        PlanInvalid: not JSON, not an array of rules, an unknown point, field or deed, a value out of range.
    """
    try:
        plan = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanInvalid(error.lineno, f"not JSON: {error.msg}") from error
    if isinstance(plan, dict) and "rules" in plan and len(plan) > 1:
        raise PlanInvalid(1, "a plan holds no more than rules")
    start = _ARRAY_START.match(text)
    if start is None:
        raise PlanInvalid(1, 'a plan is an array of rules, or {"rules": [...]}')
    decoder = json.JSONDecoder()
    rules = []
    position = _end_of_gap(text, start.end())
    while text[position] != "]":
        value, end = decoder.raw_decode(text, position)
        rules.append(read_rule(value, line=text.count("\n", 0, position) + 1))
        position = _end_of_gap(text, end)
    return rules


def read_rule(value: Any, *, line: int = 1) -> Rule:
    """One rule from its JSON object. Raises ``PlanInvalid`` with the given ``line``."""
    if not isinstance(value, dict):
        raise PlanInvalid(line, "a rule is an object")
    for name in value:
        if name not in _FIELDS:
            raise PlanInvalid(line, f"unknown field {name!r}")
    deed = value.get("do")
    if deed not in DEEDS:
        raise PlanInvalid(line, f"do must be one of {', '.join(DEEDS)}, not {deed!r}")
    for name in value:
        if name not in _COMMON and name not in _OF_DEED[deed]:
            raise PlanInvalid(line, f"{name!r} means nothing to {deed!r}")
    _check_point(value.get("point"), line)
    _check_whole(value, "nth", 1, line)
    if value.get("times", 1) is not None:
        _check_whole(value, "times", 1, line)
    _check_whole(value, "code", None, line)
    if "status" in value:
        _check_whole(value, "status", 100, line)
    for name in ("tool", "action", "name", "message"):
        if not isinstance(value.get(name, ""), str):
            raise PlanInvalid(line, f"{name} must be a text")
    if deed == "drop" and not value["point"].startswith(("host.", "http.")):
        raise PlanInvalid(line, "only an answer can be dropped: at a host.* or http.* point")
    if deed == "delay":
        _check_seconds(value.get("seconds"), line)
    return Rule(**value)


def _check_point(point: Any, line: int) -> None:
    if not isinstance(point, str):
        raise PlanInvalid(line, "point is missing")
    if point not in POINTS and not fnmatch.filter(POINTS, point):
        raise PlanInvalid(line, f"no fault point is named {point!r}")


def _check_whole(value: Mapping[str, Any], name: str, least: int | None, line: int) -> None:
    given = value.get(name, least if least is not None else 0)
    if not isinstance(given, int) or isinstance(given, bool) or (least is not None and given < least):
        raise PlanInvalid(line, f"{name} must be a whole number" + ("" if least is None else f" from {least} on"))


def _check_seconds(given: Any, line: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise PlanInvalid(line, "seconds must be a number")
    if not 0 <= given <= DELAY_S_MAX:
        raise PlanInvalid(line, f"seconds must be 0 to {DELAY_S_MAX:g}")


def _end_of_gap(text: str, position: int) -> int:
    gap = _BETWEEN.match(text, position)
    assert gap is not None
    return gap.end()
