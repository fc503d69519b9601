"""[core] Rules over several arguments of one call, made from a few words each. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernel.tools.registry.model import Problem, Rule


def given(arguments: Mapping[str, Any], name: str) -> bool:
    """Whether an argument is there with something in it (empty text counts as missing)."""
    return arguments.get(name) not in (None, "")


def one_form(*forms: tuple[str, ...], path: str = "", message: str = "") -> Rule:
    """Exactly one of several groups of arguments, whole, and nothing of another group."""
    words = message or "Give exactly one of: " + " | ".join(" + ".join(form) for form in forms) + "."

    def check(arguments: Mapping[str, Any]) -> Iterator[Problem]:
        names = {name for form in forms for name in form}
        present = {name for name in names if given(arguments, name)}
        if not any(present == set(form) for form in forms):
            yield Problem(path, words)

    return check


def any_of(*names: str, path: str | None = None, message: str = "") -> Rule:
    """At least one of these arguments."""
    words = message or "Give at least one of: " + ", ".join(names) + "."

    def check(arguments: Mapping[str, Any]) -> Iterator[Problem]:
        if not any(given(arguments, name) for name in names):
            yield Problem(names[0] if path is None else path, words)

    return check


def needs_when(name: str, argument: str, *values: Any) -> Rule:
    """``name`` is required while ``argument`` has one of ``values``."""

    def check(arguments: Mapping[str, Any]) -> Iterator[Problem]:
        if arguments.get(argument) in values and not given(arguments, name):
            yield Problem(name, f"Required when {argument} is {arguments[argument]!r}.")

    return check


def refuses(name: str, message: str) -> Rule:
    """An argument that is no longer taken."""

    def check(arguments: Mapping[str, Any]) -> Iterator[Problem]:
        if arguments.get(name) is not None:
            yield Problem(name, message)

    return check


def single_or_batch(batch: str, fields: tuple[str, ...], required: tuple[str, ...]) -> Rule:
    """Either a list of items under ``batch``, or one item's ``fields`` at top level with all ``required``."""

    def check(arguments: Mapping[str, Any]) -> Iterator[Problem]:
        if batch in arguments:
            if any(arguments.get(name) is not None for name in fields):
                yield Problem(batch, f"Give either {batch} or the fields of one item, not both.")
            return
        for name in required:
            if arguments.get(name) is None:
                yield Problem(name, f"Required unless {batch} is given.")

    return check
