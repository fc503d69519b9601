"""[core] The parts a template is read into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands (a line from 1, a column from 0) and how it is written."""

    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A value, or a function with its arguments."""

    operands: tuple[Operand, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, number, bool or nil as written."""

    value: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Dot:
    """The value the template stands at."""

    place: Place


@dataclass(frozen=True, slots=True)
class Name:
    """A function, and where it is called."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Variable:
    """``$x``; ``$`` is the value the template was given."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Chain:
    """Fields of an operand: ``$x.A.B``, ``.A``, ``(f).A``."""

    base: Operand
    names: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``$x := a | b c``: each command's value is the last argument of the next."""

    commands: tuple[Command, ...]
    place: Place
    variables: tuple[str, ...] = ()
    assigns: bool = False


Operand = Literal | Dot | Name | Variable | Chain | Pipeline


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    pipeline: Pipeline


@dataclass(slots=True)
class Branch:
    """``if``, ``with`` or ``range``."""

    kind: str
    pipeline: Pipeline
    body: list[Part] = field(default_factory=list)
    otherwise: list[Part] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Include:
    """``template "name" pipeline``."""

    name: str
    pipeline: Pipeline | None
    place: Place


@dataclass(frozen=True, slots=True)
class Jump:
    """``break`` or ``continue``."""

    kind: str


Part = Text | Action | Branch | Include | Jump


@dataclass(slots=True)
class Template:
    """A read template: its parts, and those it defines by name."""

    parts: list[Part]
    defined: dict[str, list[Part]]
