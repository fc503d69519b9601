"""Fault plans from TOML and JSON files: every mistake is told with its line and its reason. No I/O.

The two forms say the same::

    description = "The second update is lost after it took effect."      {"description": "…", "rules": [
                                                                            {"point": "host.after:/api/block/*",
    [[rules]]                                                                "do": "drop", "nth": 2, "times": 1,
    point = "host.after:/api/block/*"                                        "tool": "block", "action": "update"}
    do = "drop"                                                           ]}
    nth = 2
    tool = "block"

In JSON the array of rules may also stand alone. ``point`` may hold ``*``. ``nth`` is the first matching visit that is
hit (1), ``times`` how many from there on (1; in JSON null and in TOML 0: all).
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from kernel.faults.calls import PHASES
from kernel.faults.deeds import COMMON, CUTS, DEEDS, EFFECTS, EXPIRABLE, NAMELESS, Deed
from kernel.faults.limits import DELAY_S_MAX, JUMP_S_MAX, RULES_MAX, STORM_MAX
from kernel.faults.plan import PlanInvalid, Rule
from kernel.faults.points import FAMILY_OF, POINTS
from kernel.json_text import read_json

Form = Literal["json", "toml"]
_TEXTS: Final = ("description", "good_client")
_DOCUMENT: Final = frozenset({*_TEXTS, "serve", "must_recover", "rules"})
_ARRAY_START: Final = re.compile(r"\[")
_BETWEEN: Final = re.compile(r"[\s,]*")
_TOML_HEADER: Final = re.compile(r"^\s*\[\[\s*rules\s*\]\]")
_TOML_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)")
_Line = Callable[[str | None], int]


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A whole plan file; what is not a rule is the laboratory's.

    ``serve``: options that the kernel is started with. ``must_recover``: a good client goes on to its end; without it a
    client may also give up, if it says so.
    """

    rules: tuple[Rule, ...]
    description: str = ""
    good_client: str = ""
    must_recover: bool = True
    serve: tuple[str, ...] = ()


def form_of(name: str) -> Form:
    """The form of a plan file by its name."""
    return "toml" if name.lower().endswith(".toml") else "json"


def read_plan(text: str, form: Form = "json") -> list[Rule]:
    """The rules of a plan file. Raises ``PlanInvalid`` as ``read_document``."""
    return list(read_document(text, form).rules)


def read_document(text: str, form: Form = "json") -> PlanDocument:
    """A plan file.

    Raises:
        PlanInvalid: not JSON or TOML, not a plan, an unknown point, field or deed, a value out of range, a deed at a
            point where it makes no sense.
    """
    document, line_of = _parsed_toml(text) if form == "toml" else _parsed_json(text)
    if not isinstance(document, dict) or "rules" not in document:
        raise PlanInvalid(1, 'a plan is an array of rules, or {"rules": [...]}')
    for name, value in document.items():
        if name not in _DOCUMENT:
            raise PlanInvalid(
                _line_of_key(text, name), f"a plan has no {name!r}: it has {', '.join(sorted(_DOCUMENT))}"
            )
        if name in _TEXTS and not isinstance(value, str):
            raise PlanInvalid(_line_of_key(text, name), f"{name} must be a text")
    rules, serve = document["rules"], document.get("serve", [])
    if not isinstance(rules, list):
        raise PlanInvalid(_line_of_key(text, "rules"), "rules must be an array")
    if not isinstance(serve, list) or not all(isinstance(option, str) for option in serve):
        raise PlanInvalid(_line_of_key(text, "serve"), "serve must be an array of texts")
    must_recover = document.get("must_recover", True)
    if not isinstance(must_recover, bool):
        raise PlanInvalid(_line_of_key(text, "must_recover"), "must_recover must be true or false")
    if len(rules) > RULES_MAX:
        raise PlanInvalid(1, f"a plan holds at most {RULES_MAX} rules")
    read = tuple(_read_rule(_from_toml(rule, form), line_of(index)) for index, rule in enumerate(rules))
    texts = {name: document.get(name, "") for name in _TEXTS}
    return PlanDocument(read, serve=tuple(serve), must_recover=must_recover, **texts)


def read_rule(value: Any, *, line: int = 1) -> Rule:
    """One rule from its object. Raises ``PlanInvalid`` with the given ``line``."""
    return _read_rule(value, lambda _field: line)


# --- forms ---------------------------------------------------------------------------------------------------------


def _parsed_json(text: str) -> tuple[Any, Callable[[int], _Line]]:
    try:
        document = read_json(text)
    except ValueError as error:
        line, reason = (error.lineno, error.msg) if isinstance(error, json.JSONDecodeError) else (1, str(error))
        raise PlanInvalid(line, f"not JSON: {reason}") from error
    if isinstance(document, list):
        document = {"rules": document}
    spans = _json_spans(text, document["rules"]) if isinstance(document, dict) and "rules" in document else []

    def line_of(index: int) -> _Line:
        start, end = spans[index] if index < len(spans) else (0, len(text))
        return lambda field: _line_at(text, _place_of(text, start, end, field, r'"{}"\s*:'))

    return document, line_of


def _json_spans(text: str, rules: Any) -> list[tuple[int, int]]:
    """Where each rule of the array stands in the text."""
    if not isinstance(rules, list):
        return []
    decoder = json.JSONDecoder()
    # The array of rules is the one that reads as it: others may stand before it (serve, texts with a bracket).
    start = next(start for start in _ARRAY_START.finditer(text) if _array_at(decoder, text, start.start()) == rules)
    return _item_spans(decoder, text, start.end())


def _array_at(decoder: json.JSONDecoder, text: str, position: int) -> Any:
    """The array that begins there; None where none does, only a bracket in a text."""
    try:
        return decoder.raw_decode(text, position)[0]
    except json.JSONDecodeError:
        return None


def _item_spans(decoder: json.JSONDecoder, text: str, position: int) -> list[tuple[int, int]]:
    spans = []
    position = _end_of_gap(text, position)
    while text[position] != "]":
        _, end = decoder.raw_decode(text, position)
        spans.append((position, end))
        position = _end_of_gap(text, end)
    return spans


def _parsed_toml(text: str) -> tuple[Any, Callable[[int], _Line]]:
    import tomllib  # only a plan in TOML needs it

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _TOML_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise PlanInvalid(line, f"not TOML: {_TOML_LINE.sub('', str(error)).strip()}") from error
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _TOML_HEADER.match(line)]
    offsets = [sum(len(line) + 1 for line in lines[:number]) for number in starts]

    def line_of(index: int) -> _Line:
        if index >= len(offsets):  # an inline array: its line is all that can be said
            return lambda _field: _line_of_key(text, "rules")
        end = offsets[index + 1] if index + 1 < len(offsets) else len(text)
        return lambda field: _line_at(text, _place_of(text, offsets[index], end, field, r"(?m)^\s*{}\s*="))

    return document, line_of


def _from_toml(rule: Any, form: Form) -> Any:
    """TOML has no null: there ``times = 0`` says for ever."""
    if form == "toml" and isinstance(rule, dict) and rule.get("times") == 0 and rule["times"] is not False:
        return {**rule, "times": None}
    return rule


def _place_of(text: str, start: int, end: int, field: str | None, pattern: str) -> int:
    if field is not None:
        found = re.compile(pattern.format(re.escape(field))).search(text, start, end)
        if found is not None:
            return found.start() + len(found[0]) - len(found[0].lstrip())
    return start


def _line_of_key(text: str, name: str) -> int:
    found = re.search(rf'(?m)(?:^\s*\[*\s*|"){re.escape(name)}\b', text)
    return 1 if found is None else _line_at(text, found.end())


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _end_of_gap(text: str, position: int) -> int:
    gap = _BETWEEN.match(text, position)
    assert gap is not None
    return gap.end()


# --- one rule ------------------------------------------------------------------------------------------------------


def _read_rule(value: Any, line: _Line) -> Rule:
    if not isinstance(value, dict):
        raise PlanInvalid(line(None), "a rule is an object")
    name = value.get("do")
    deed = DEEDS.get(name) if isinstance(name, str) else None
    _check_fields(value, deed, line)
    assert deed is not None
    _check_point(value, deed, line)
    for field, check in _CHECKS.items():
        if field in value:
            reason = check(value[field])
            if reason is not None:
                raise PlanInvalid(line(field), f"{field} must be {reason}")
    if deed.name == "delay" and value["seconds"] > DELAY_S_MAX:
        raise PlanInvalid(line("seconds"), f"seconds must be 0 to {DELAY_S_MAX:g}")
    return Rule(**value)


def _check_fields(value: Mapping[str, Any], deed: Deed | None, line: _Line) -> None:
    known = COMMON.union(*(one.fields for one in DEEDS.values()))
    for field in value:
        if field not in known:
            raise PlanInvalid(line(field), f"unknown field {field!r}")
    if deed is None:
        raise PlanInvalid(line("do"), f"do must be one of {', '.join(DEEDS)}, not {value.get('do')!r}")
    for field in value:
        if field not in COMMON and field not in deed.fields:
            raise PlanInvalid(line(field), f"{field!r} means nothing to {deed.name!r}")
    for field in sorted(deed.required):
        if field not in value:
            raise PlanInvalid(line("do"), f"{deed.name!r} needs {field!r}")


def _check_point(value: Mapping[str, Any], deed: Deed, line: _Line) -> None:
    point = value.get("point")
    if not isinstance(point, str):
        raise PlanInvalid(line("point"), "point is missing")
    points = [point] if point in POINTS else fnmatch.filter(POINTS, point)
    if not points:
        raise PlanInvalid(line("point"), f"no fault point is named {point!r}")
    families = {FAMILY_OF[one] for one in points}
    if not families & deed.families:
        raise PlanInvalid(line("point"), f"{deed.name!r} makes no sense at {point}: {deed.because}")
    for field in ("tool", "action", "session", "phase"):
        if field in value and families <= NAMELESS:
            raise PlanInvalid(line(field), f"{field!r} means nothing at {point}: no request has been read there")
    if "effect" in value and not any(one.startswith("host.") for one in points):
        raise PlanInvalid(line("effect"), f"'effect' means nothing at {point}: it tells host calls apart")


def _whole(least: int | None, most: int | None = None) -> Callable[[Any], str | None]:
    def check(given: Any) -> str | None:
        is_whole = isinstance(given, int) and not isinstance(given, bool)
        if is_whole and (least is None or given >= least) and (most is None or given <= most):
            return None
        if most is not None:
            return f"a whole number, {least} to {most}"
        return "a whole number" + ("" if least is None else f" from {least} on")

    return check


def _seconds(given: Any) -> str | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:  # NaN
        return "a number"
    return None if 0 <= given <= JUMP_S_MAX else f"0 to {JUMP_S_MAX:g}"


def _text(given: Any) -> str | None:
    return None if isinstance(given, str) else "a text"


def _one_of(choices: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda given: None if given in choices else f"one of {', '.join(choices)}"


def _times(given: Any) -> str | None:
    return None if given is None else _whole(1)(given)


def _session(given: Any) -> str | None:
    return None if isinstance(given, str) or _whole(1)(given) is None else "a session's id or its number from 1 on"


def _probability(given: Any) -> str | None:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return None if is_number and 0 < given <= 1 else "a number above 0, at most 1"


_CHECKS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "nth": _whole(1),
    "times": _times,
    "session": _session,
    "probability": _probability,
    "seed": _whole(None),
    "code": _whole(None),
    "status": _whole(100, 599),
    "retry_after_s": _whole(0),
    "bytes": _whole(0),
    "count": _whole(1, STORM_MAX),
    "phase": _one_of(PHASES),
    "effect": _one_of(EFFECTS),
    "how": _one_of(CUTS),
    "what": _one_of(EXPIRABLE),
    "seconds": _seconds,
    **dict.fromkeys(("tool", "action", "name", "message", "id", "text"), _text),
}
