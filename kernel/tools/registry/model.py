"""[core] What a row of the tool table says. Values only; the rows are in one module per tool. Does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kernel.safety.policy import Policy
from kernel.tools.registry.signature import Argument, Schema, parse


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong argument: where (``blocks[0].previousID``, empty for the whole call) and what is wrong."""

    path: str
    message: str

    def as_field(self) -> dict[str, str]:
        return {"path": self.path, "message": self.message}


# A rule over several arguments of one call; it yields what is wrong.
Rule = Callable[[Mapping[str, Any]], Iterable[Problem]]
Tier = Literal["basic", "advanced"]


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """One action of one tool: everything that is known of it before it runs. A row is itself and equals no other."""

    tool: str
    name: str
    summary: str
    policy: Policy
    arguments: tuple[Argument, ...]
    is_dangerous: bool = False
    is_on: bool = True
    tier: Tier = "advanced"
    rules: tuple[Rule, ...] = ()
    # Rules that are checked even when single arguments are wrong already.
    eager_rules: tuple[Rule, ...] = ()
    # Old spellings: alias → the argument it stands for.
    aliases: Mapping[str, str] = field(default_factory=dict)
    # Those of them that win over their argument where both are given; of any other, two different values are refused.
    winning: frozenset[str] = frozenset()
    # How the required arguments are named in the tool's description; "" derives it from the arguments.
    call_form: str = ""
    # Further lines for help: how arguments depend on each other, what to mind.
    notes: tuple[str, ...] = ()
    # Keeps foreign arguments until validation, so that a removed one gets a helpful error.
    keeps_unknown: bool = False
    # Derived: ``tool.name``; what its arguments may be called; what fills in for the ones that are left out.
    key: str = field(init=False, compare=False, repr=False)
    known: frozenset[str] = field(init=False, compare=False, repr=False)
    defaults: tuple[tuple[str, Any], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        # The target of an alias is known even where only the alias is shown.
        known = frozenset([*names, *self.aliases.values()])
        schemas = [(argument.name, argument.schema) for argument in self.arguments]
        defaults = tuple((name, schema["default"]) for name, schema in schemas if "default" in schema)
        for name, value in (("key", f"{self.tool}.{self.name}"), ("known", known), ("defaults", defaults)):
            object.__setattr__(self, name, value)

    def argument(self, name: str) -> Argument | None:
        return next((argument for argument in self.arguments if argument.name == name), None)


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One aggregate tool."""

    name: str
    title: str
    summary: str
    actions: tuple[Action, ...]
    # First lines of guidance in its description and help.
    guidance: tuple[str, ...] = ()
    _by_name: Mapping[str, Action] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # The first of a name, should there be two.
        object.__setattr__(self, "_by_name", {action.name: action for action in reversed(self.actions)})

    def action(self, name: str) -> Action | None:
        return self._by_name.get(name)


class ToolTable:
    """Collects the rows of one tool: ``fs = ToolTable("fs", …); fs.add("ls", READ, …)``."""

    def __init__(self, name: str, title: str, summary: str, *guidance: str) -> None:
        self.name, self.title, self.summary, self.guidance = name, title, summary, guidance
        self.named: dict[str, Schema] = {}
        self._actions: list[Action] = []

    def add(self, name: str, policy: Policy, summary: str, signature: str = "", **options: Any) -> None:
        """One row. ``options`` are the remaining fields of ``Action``."""
        arguments = parse(signature, self.named)
        self._actions.append(Action(self.name, name, summary, policy, arguments, **options))

    def done(self) -> Tool:
        return Tool(self.name, self.title, self.summary, tuple(self._actions), self.guidance)
