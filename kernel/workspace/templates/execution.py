"""[core] Executing a read template, within bounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from kernel.workspace.limits import TEMPLATE_DEPTH_MAX, TEMPLATE_OUTPUT_CHARS_MAX, TEMPLATE_STEPS_MAX
from kernel.workspace.templates.errors import TemplateFailed
from kernel.workspace.templates.moments import method_of
from kernel.workspace.templates.reading import read_template
from kernel.workspace.templates.signatures import kind_at, wrong_literal, wrong_value
from kernel.workspace.templates.syntax import (
    Action,
    Branch,
    Chain,
    Command,
    Dot,
    Include,
    Jump,
    Literal,
    Name,
    Operand,
    Part,
    Pipeline,
    Place,
    Template,
    Text,
    Variable,
)
from kernel.workspace.templates.values import NO_VALUE, Record, is_true, printed, shown_of, type_of

Functions = Mapping[str, Callable[..., Any]]


class FunctionFailed(ValueError):
    """A function that gives an error; the message is worded as Go's own."""


class _Jumped(Exception):
    def __init__(self, kind: str) -> None:
        self.kind = kind


def render(source: str, data: Any, functions: Functions, *, left: str = "{{", right: str = "}}") -> str:
    """The text a template makes of ``data``. Raises TemplateFailed."""
    template = read_template(source, functions.keys(), left=left, right=right)
    data = NO_VALUE if data is None else data
    execution = _Execution(template, functions, data)
    execution.run(template.parts, data)
    return "".join(execution.output)


class _Execution:
    def __init__(self, template: Template, functions: Functions, data: Any) -> None:
        self._template = template
        self._functions = functions
        self._variables: list[tuple[str, Any]] = [("$", data)]
        self._steps = 0
        self._depth = 0
        self._length = 0
        self._at = Place(1, 0, "")  # what was looked at last: errors say so
        self.output: list[str] = []

    # --- parts -----------------------------------------------------------------------------------------------------
    def run(self, parts: list[Part], dot: Any) -> None:
        for part in parts:
            self._step()
            if isinstance(part, Text):
                self._write(part.text)
            elif isinstance(part, Action):
                value = self._pipeline(part.pipeline, dot)
                if not part.pipeline.variables:
                    self._write(shown_of(value))
            elif isinstance(part, Branch):
                self._branch(part, dot)
            elif isinstance(part, Include):
                self._include(part, dot)
            else:
                assert isinstance(part, Jump)
                raise _Jumped(part.kind)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > TEMPLATE_STEPS_MAX:
            raise TemplateFailed(f"template: exceeded {TEMPLATE_STEPS_MAX} steps")

    def _write(self, text: str) -> None:
        self._length += len(text)
        if self._length > TEMPLATE_OUTPUT_CHARS_MAX:
            raise TemplateFailed(f"template: exceeded {TEMPLATE_OUTPUT_CHARS_MAX} characters")
        self.output.append(text)

    def _branch(self, branch: Branch, dot: Any) -> None:
        known = len(self._variables)
        try:
            value = self._pipeline(branch.pipeline, dot, is_range=branch.kind == "range")
            if branch.kind == "range":
                self._range(branch, value, dot)
            elif is_true(value):
                self.run(branch.body, value if branch.kind == "with" else dot)
            else:
                self.run(branch.otherwise, dot)
        finally:
            del self._variables[known:]

    def _range(self, branch: Branch, value: Any, dot: Any) -> None:
        pairs = self._pairs(branch, value)
        if not pairs:
            self.run(branch.otherwise, dot)
            return
        known = len(self._variables)
        names = branch.pipeline.variables
        for key, item in pairs:
            self._step()
            shown = [item] if len(names) == 1 else [key, item]
            for name, one in zip(names, shown, strict=False):
                if branch.pipeline.assigns:
                    self._assign(name, one)
                else:
                    self._variables.append((name, one))
            try:
                self.run(branch.body, item)
            except _Jumped as jump:
                if jump.kind == "break":
                    break
            finally:
                del self._variables[known:]

    def _pairs(self, branch: Branch, value: Any) -> list[tuple[Any, Any]]:
        if value is NO_VALUE or value is None:
            return []
        if isinstance(value, bool | str | float | datetime | Record):
            raise self._failed(f"range can't iterate over {printed(value)}")
        if isinstance(value, int):
            if value > TEMPLATE_STEPS_MAX:
                raise TemplateFailed(f"template: exceeded {TEMPLATE_STEPS_MAX} steps")
            return [(number, number) for number in range(value)]
        if isinstance(value, dict):
            return sorted(value.items(), key=lambda pair: printed(pair[0]))
        return list(enumerate(value))

    def _include(self, part: Include, dot: Any) -> None:
        self._at = part.place
        parts = self._template.defined.get(part.name)
        if parts is None:
            raise self._failed(f'template "{part.name}" not defined')
        if self._depth >= TEMPLATE_DEPTH_MAX:
            raise self._failed(f"exceeded maximum template depth ({TEMPLATE_DEPTH_MAX})")
        value = self._pipeline(part.pipeline, dot) if part.pipeline is not None else NO_VALUE
        kept, self._variables = self._variables, [("$", value)]
        self._depth += 1
        try:
            self.run(parts, value)
        finally:
            self._variables = kept
            self._depth -= 1

    # --- pipelines -------------------------------------------------------------------------------------------------
    def _pipeline(self, pipeline: Pipeline, dot: Any, *, is_range: bool = False) -> Any:
        self._at = pipeline.place
        value: Any = NO_VALUE
        for stage, command in enumerate(pipeline.commands):
            value = self._command(command, dot, [value] if stage else [])
        if not is_range:
            for name in pipeline.variables:
                if pipeline.assigns:
                    self._assign(name, value)
                else:
                    self._variables.append((name, value))
        return value

    def _assign(self, name: str, value: Any) -> None:
        at = next((at for at in range(len(self._variables) - 1, -1, -1) if self._variables[at][0] == name), None)
        if at is None:
            raise self._failed(f"undefined variable: {name}")
        self._variables[at] = (name, value)

    def _command(self, command: Command, dot: Any, final: list[Any]) -> Any:
        first, *others = command.operands
        if isinstance(first, Name):
            self._at = first.place
            if first.name in ("and", "or"):
                return self._and_or(first.name, others, dot, final)
            return self._call(first, others, dot, final, command.place)
        if isinstance(first, Chain):
            return self._chain(first, dot, others, final)
        if not isinstance(first, Pipeline):
            self._at = first.place
        if isinstance(first, Literal) and first.value is None:
            raise self._failed("nil is not a command")
        if others or final:
            raise self._failed(f"can't give argument to non-function {first.place.text}")
        return self._operand(first, dot)

    def _and_or(self, name: str, operands: list[Operand], dot: Any, final: list[Any]) -> Any:
        """They look no further than they must."""
        if not operands and not final:
            raise self._failed(f"wrong number of args for {name}: want at least 1 got 0")
        value: Any = NO_VALUE
        for operand in operands:
            value = self._operand(operand, dot)
            if is_true(value) == (name == "or"):
                return value
        return final[0] if final else value

    def _operand(self, operand: Operand, dot: Any) -> Any:
        if isinstance(operand, Pipeline):
            known = len(self._variables)
            value = self._pipeline(operand, dot)
            del self._variables[known:]
            return value
        self._at = operand.place
        if isinstance(operand, Literal):
            return operand.value
        if isinstance(operand, Dot):
            return dot
        if isinstance(operand, Variable):
            return next(value for name, value in reversed(self._variables) if name == operand.name)
        if isinstance(operand, Name):
            return self._call(operand, [], dot, [], operand.place)
        return self._chain(operand, dot, [], [])

    def _chain(self, chain: Chain, dot: Any, operands: list[Operand], final: list[Any]) -> Any:
        value = self._operand(chain.base, dot)
        if isinstance(chain.base, Dot | Variable):
            self._at = chain.place
        for name in chain.names[:-1]:
            value = self._field(value, name, dot, [], [])
        return self._field(value, chain.names[-1], dot, operands, final)

    def _field(self, value: Any, name: str, dot: Any, operands: list[Operand], final: list[Any]) -> Any:
        method = method_of(value, name)
        if method is not None:
            self._check_count(name, method, len(operands) + len(final))
            arguments = [self._argument(f".{name}", at, one, dot) for at, one in enumerate(operands)]
            try:
                return method(*arguments, *final)
            except (TypeError, ValueError, OverflowError) as error:
                raise self._failed(f"error calling {name}: {error}") from error
        if value is None:
            raise self._failed(f"nil pointer evaluating interface {{}}.{name}")
        if value is NO_VALUE:
            return NO_VALUE
        if isinstance(value, dict) and (name in value or not isinstance(value, Record)):
            if operands or final:
                raise self._failed(f"{name} is not a method but has arguments")
            return value.get(name, NO_VALUE)
        raise self._failed(f"can't evaluate field {name} in type {type_of(value)}")

    def _call(self, name: Name, operands: list[Operand], dot: Any, final: list[Any], place: Place) -> Any:
        self._step()
        function = self._functions[name.name]
        self._check_count(name.name, function, len(operands) + len(final))
        arguments = [self._argument(name.name, at, operand, dot) for at, operand in enumerate(operands)]
        for at, value in enumerate(final, len(operands)):
            self._at = name.place
            self._check(wrong_value(kind_at(name.name, at), value))
        try:
            return function(*arguments, *final)
        except (FunctionFailed, ValueError, LookupError, ArithmeticError, AttributeError, TypeError) as error:
            self._at = place
            raise self._failed(f"error calling {name.name}: {error}") from error

    def _argument(self, function: str, at: int, operand: Operand, dot: Any) -> Any:
        kind = kind_at(function, at)
        value = self._operand(operand, dot)
        if isinstance(operand, Literal):
            self._check(wrong_literal(kind, operand))
            value = int(value) if kind == "i" else float(value) if kind == "f" else value
        else:
            self._check(wrong_value(kind, value))
        return {} if kind == "m" and (value is None or value is NO_VALUE) else value

    def _check(self, wrong: str) -> None:
        if wrong:
            raise self._failed(wrong)

    def _check_count(self, name: str, function: Callable[..., Any], given: int) -> None:
        least, most = _counts(function)
        if given < least or (most is not None and given > most):
            wanted = f"want at least {least}" if most is None else f"want {least if given < least else most}"
            raise self._failed(f"wrong number of args for {name}: {wanted} got {given}")

    def _failed(self, words: str) -> TemplateFailed:
        place = self._at
        return TemplateFailed(f'template: :{place.line}:{place.column}: executing "" at <{place.text}>: {words}')


@lru_cache(maxsize=1024)
def _counts(function: Callable[..., Any]) -> tuple[int, int | None]:
    """How many arguments a function takes at least and at most."""
    parameters = inspect.signature(function).parameters.values()
    plain = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD or one.kind is one.POSITIONAL_ONLY]
    is_open = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    return sum(one.default is one.empty for one in plain), None if is_open else len(plain)
