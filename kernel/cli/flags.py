"""Flags of one action, derived from its row in the tool table: names, types, and back to the call's arguments. No I/O
but the files that a value names."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kernel.tools.registry import Action
from kernel.tools.registry.signature import Argument, Schema

if TYPE_CHECKING:
    _Type = click.ParamType[Any]  # generic since click 8.5 only
else:
    _Type = click.ParamType

_WORD_END: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})
_JSON_WORD: Final = "JSON"


def kebab(name: str) -> str:
    """``includeBlockIds``, ``include_block_ids`` and ``include-block-ids`` are one flag."""
    return _WORD_END.sub("-", name.replace("IDs", "Ids")).replace("_", "-").lower()


class TextValue(_Type):
    """Text: as it is, ``@file`` for a file's text, ``-`` for standard input, ``@@…`` for text that begins with @."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if text.startswith("@@"):
            return text[1:]
        try:
            if text == "-":
                return sys.stdin.buffer.read().decode("utf-8")
            if text.startswith("@") and len(text) > 1:
                return Path(text[1:]).read_bytes().decode("utf-8")
            text.encode("utf-8")
        except OSError as error:
            self.fail(f"{text[1:]} cannot be read: {error.strerror} (write @{text} for the text itself)", param, ctx)
        except UnicodeError:
            self.fail("it is not UTF-8", param, ctx)
        return text


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that JSON can hold")
    return number


class JsonValue(TextValue):
    """JSON: inline, ``@file``, or ``-``."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        try:
            found = json.loads(text, parse_float=_finite, parse_constant=_finite)
            # An escaped half of a pair is no text that could be sent.
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        except UnicodeError:
            self.fail("it is not JSON: it holds half of a surrogate pair", param, ctx)
        except ValueError as error:
            self.fail(f"it is not JSON: {error}", param, ctx)
        except RecursionError:
            self.fail("it is not JSON: it is nested too deeply", param, ctx)
        return found


class NumberValue(_Type):
    """A number; a whole one stays one."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = click.FLOAT.convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number that JSON can hold", param, ctx)
        return int(number) if number.is_integer() else number


TEXT: Final = TextValue()
NUMBER: Final = NumberValue()
JSON: Final = JsonValue()


def options_of(action: Action) -> list[click.Option]:
    """The options of an action's arguments. A required one may also be given without its flag, in order."""
    return [option for argument in action.arguments for option in _options(argument)]


def _options(argument: Argument) -> Iterator[click.Option]:
    flag = f"--{kebab(argument.name)}"
    schema, key = argument.schema, argument.name
    common: dict[str, Any] = {"hidden": argument.is_hidden, "help": _help(argument), "default": None}
    match schema.get("type"):
        case "string" if "enum" in schema:
            yield click.Option([key, flag], type=click.Choice(schema["enum"]), metavar=_choice(schema), **common)
        case "string":
            yield click.Option([key, flag], type=TEXT, **common)
        case "integer":
            yield click.Option([key, flag], type=click.INT, **common)
        case "number":
            yield click.Option([key, flag], type=NUMBER, **common)
        case "boolean":
            yield click.Option([key, f"{flag}/--no-{kebab(argument.name)}"], **common)
        case "array" if schema.get("items", {}).get("type") in _SCALARS:
            item = {"integer": click.INT, "number": NUMBER}.get(schema["items"]["type"], TEXT)
            yield click.Option(
                [key, flag], type=item, multiple=True, **{**common, "help": common["help"] + " Repeatable."}
            )
            yield click.Option([f"{key}_json", f"{flag}-json"], type=JSON, hidden=True, default=None)
        case _:
            # Lists of objects, objects, and whatever a cell may hold.
            yield click.Option([key, f"{flag}-json", flag], type=JSON, metavar=_JSON_WORD, **common)


def _choice(schema: Schema) -> str:
    # The kernel's own spelling; the flag takes it in any.
    return f"[{'|'.join(schema['enum'])}]"


def _help(argument: Argument) -> str:
    schema = argument.schema
    words = ["Required."] if argument.is_required else []
    if "default" in schema:
        words.append(f"Default: {json.dumps(schema['default'], ensure_ascii=False)}.")
    words.extend(_bounds(schema))
    return " ".join(words)


def _bounds(schema: Schema) -> Iterator[str]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if high is not None and abs(high) < 2**53 - 1:
        yield f"{low} to {high}."
    elif low is not None and low > -(2**53) + 1:
        yield f"At least {low}."


@dataclass(frozen=True, slots=True)
class Word:
    """What stands together on a command line: a flag (``flag``: its name) with its value, or one word by itself."""

    tokens: tuple[str, ...]
    flag: str = ""


def words_of(params: Iterable[click.Parameter], tokens: Sequence[str]) -> list[Word]:
    """A command line in words; a switch that is given a value (``--open=false``) is written as the one that says so.

    Raises:
        click.BadParameter: the value is neither true nor false.
    """
    options = {name: one for one in params if isinstance(one, click.Option) for name in one.opts}
    words: list[Word] = []
    waiting = list(tokens)
    while waiting:
        token = waiting.pop(0)
        if token == "--":
            return [*words, *(Word((one,)) for one in (token, *waiting))]
        written, equals, value = token.partition("=")
        flag = f"--{kebab(written[2:])}" if written.startswith("--") else written
        option = options.get(flag)
        if option is None:
            words.append(Word((token,)))
        elif not option.is_flag:
            words.append(Word((token, waiting.pop(0)) if not equals and waiting else (token,), flag))
        elif not equals:
            words.append(Word((token,), flag))
        # An empty value is mostly a variable that is not set: nobody's word.
        elif click.BOOL.convert(value or "(empty)", option, None):
            words.append(Word((flag,), flag))
        else:
            words.append(Word(tuple(option.secondary_opts[:1]), flag))
    return words


def arguments_of(action: Action, given: Mapping[str, Any], plain: Sequence[str]) -> dict[str, Any]:
    """The call's arguments: flags, and values without one for the required arguments in order.

    Raises:
        click.UsageError: more values than required arguments are left, a value that does not fit, one that is missing.
    """
    arguments: dict[str, Any] = {}
    for argument in action.arguments:
        value = given.get(f"{argument.name}_json")
        if value is None:
            value = given.get(argument.name)
        if value is None or value == ():
            continue
        arguments[argument.name] = list(value) if isinstance(value, tuple) else value
    _take_plain(action, arguments, plain)
    missing = [one for one in action.arguments if one.is_required and one.name not in arguments]
    if missing:
        raise click.UsageError("Missing " + ", ".join(f"--{kebab(one.name)}" for one in missing) + ".")
    return arguments


def _take_plain(action: Action, arguments: dict[str, Any], plain: Sequence[str]) -> None:
    places = [one for one in action.arguments if one.is_required and one.name not in arguments]
    if len(plain) > len(places):
        extra = plain[len(places)]
        raise click.UsageError(f"{extra!r} belongs to no required argument; name its flag.")
    for argument, value in zip(places, plain, strict=False):
        option = next(_options(argument))
        converted = option.type.convert(value, option, None)
        arguments[argument.name] = [converted] if option.multiple else converted
