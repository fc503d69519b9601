"""[core] Reading a template: tokens to parts."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Iterator
from typing import Any, Final

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
from kernel.workspace.templates.tokens import Token, failed, tokens
from kernel.workspace.templates.values import quoted, whole_number

_KEYWORDS: Final = frozenset(
    {"block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with"}
)
_TERMS: Final = frozenset({"string", "raw", "char", "number", "variable", "field", "dot", "word"})
_SHOWN_CHARACTERS_MAX: Final = 10
_OCTAL_MAX: Final = 0o377
_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3})|(.))", re.DOTALL)
_CONSTANTS: Final = {"true": True, "false": False}
# Underscores stand between digits, or behind a prefix.
_GROUPED: Final = re.compile(r"[+-]?(?:0[xXoObB])?_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_BRANCHES: Final = frozenset({"if", "with", "range"})


def read_template(source: str, functions: Collection[str], *, left: str = "{{", right: str = "}}") -> Template:
    """A template's parts. Raises TemplateFailed."""
    reader = _Reader(source, tokens(source, left, right), frozenset(functions))
    parts, _ = reader.parts(())
    return Template(parts, reader.defined)


class _Reader:
    def __init__(self, text: str, source: Iterator[Token], functions: frozenset[str]) -> None:
        self._text = text
        self._source = source
        self._functions = functions
        self._kept: list[Token] = []
        self._variables = ["$"]
        self._loops = 0
        self.defined: dict[str, list[Part]] = {}

    # --- tokens ----------------------------------------------------------------------------------------------------
    def _next(self) -> Token:
        return self._kept.pop() if self._kept else next(self._source)

    def _peek(self) -> Token:
        token = self._next()
        self._kept.append(token)
        return token

    def _next_solid(self) -> Token:
        token = self._next()
        return self._next() if token.kind == "space" else token

    def _peek_solid(self) -> Token:
        token = self._next_solid()
        self._kept.append(token)
        return token

    # --- parts -----------------------------------------------------------------------------------------------------
    def parts(self, ends: tuple[str, ...], where: str = "") -> tuple[list[Part], Token | None]:
        """Parts up to an action that ends them (its word), or to the end of the template; ``where`` is said of others."""
        found: list[Part] = []
        while True:
            token = self._next()
            if token.kind == "end":
                if ends:
                    raise failed(token.line, "unexpected EOF")
                return found, None
            if token.kind == "text":
                found.append(Text(token.text))
                continue
            word = self._peek_solid()
            if word.kind == "word" and word.text in ("end", "else"):
                self._next_solid()
                if word.text not in ends:
                    raise failed(word.line, _misplaced(word.text, ends, where))
                return found, word
            part = self._action()
            if part is not None:
                found.append(part)

    def _action(self) -> Part | None:
        word = self._peek_solid()
        if word.kind == "word":
            if word.text in _BRANCHES:
                self._next_solid()
                return self._branch(word.text)
            if word.text in ("define", "block"):
                self._next_solid()
                return self._definition(word)
            if word.text == "template":
                self._next_solid()
                named = self._peek_solid()
                name = self._quoted("template clause")
                pipeline = None if self._peek_solid().kind == "close" else self._pipeline("template clause", ("close",))
                self._close("template clause")
                given = f" {pipeline.place.text}" if pipeline is not None else ""
                return Include(name, pipeline, self._place(named, f'{{{{template "{name}"{given}}}}}'))
            if word.text in ("break", "continue") and word.text not in self._functions:
                self._next_solid()
                if not self._loops:
                    raise failed(word.line, f"{{{{{word.text}}}}} outside {{{{range}}}}")
                self._close(f"{{{{{word.text}}}}}")
                return Jump(word.text)
        pipeline = self._pipeline("command", ("close",))
        self._close("command")
        return Action(pipeline)

    def _branch(self, kind: str) -> Branch:
        known = len(self._variables)
        pipeline = self._pipeline(kind, ("close",), is_range=kind == "range")
        self._close(kind)
        branch = Branch(kind, pipeline)
        self._loops += kind == "range"
        branch.body, ended = self.parts(("end", "else"))
        self._loops -= kind == "range"
        if ended is not None and ended.text == "else":
            word = self._peek_solid()
            if word.kind == "word" and word.text == kind and kind != "range":
                self._next_solid()
                branch.otherwise = [self._branch(kind)]
                del self._variables[known:]
                return branch
            self._close("input" if word.text in ("if", "with") else "else")
            branch.otherwise, _ = self.parts(("end",), "end")
        self._close("end")
        del self._variables[known:]
        return branch

    def _definition(self, word: Token) -> Part | None:
        name = self._quoted(f"{word.text} clause")
        pipeline = self._pipeline("block clause", ("close",)) if word.text == "block" else None
        self._close(f"{word.text} clause")
        kept, self._variables = self._variables, ["$"]
        self.defined[name], _ = self.parts(("end",), f"{word.text} clause")
        self._variables = kept
        self._close("end")
        return Include(name, pipeline, self._place(word, name)) if word.text == "block" else None

    def _quoted(self, where: str) -> str:
        token = self._next_solid()
        if token.kind not in ("string", "raw"):
            raise failed(token.line, f"unexpected {_shown(token)} in {where}")
        return str(literal(token))

    def _close(self, where: str) -> None:
        token = self._next_solid()
        if token.kind != "close":
            raise failed(token.line, f"unexpected {_shown(token)} in {where}")

    # --- pipelines -------------------------------------------------------------------------------------------------
    def _pipeline(self, where: str, ends: tuple[str, ...], *, is_range: bool = False) -> Pipeline:
        first = self._peek_solid()
        variables, assigns = self._declared(where, is_range)
        commands: list[Command] = []
        while True:
            token = self._peek_solid()
            is_end = token.kind in ends or (token.kind == "mark" and token.text in ends)
            if is_end or (token.kind == "mark" and token.text == "|"):
                if not commands:
                    words = f"missing value for {where}" if is_end else f'unexpected "|" in {where}'
                    raise failed(token.line, words)
                if is_end:
                    break
                self._next_solid()
                continue
            if token.kind not in _TERMS and token.text != "(":
                raise failed(token.line, f"unexpected {_shown(token)} in {where}")
            commands.append(self._command(token, ends))
        for stage, command in enumerate(commands[1:], 2):
            if isinstance(command.operands[0], Literal | Dot):
                raise failed(command.place.line, f"non executable command in pipeline stage {stage}")
        return Pipeline(tuple(commands), self._written(first), variables, assigns)

    def _declared(self, where: str, is_range: bool) -> tuple[tuple[str, ...], bool]:
        """``$x :=``, ``$x =``, and in ranges ``$i, $x :=``."""
        names: list[str] = []
        while self._peek_solid().kind == "variable":
            variable = self._next_solid()
            behind = self._next()
            sign = self._next() if behind.kind == "space" else behind
            if sign.kind == "declare" or (sign.kind == "mark" and sign.text == "="):
                names.append(variable.text)
                self._variables.append(variable.text)
                return tuple(names), sign.kind != "declare"
            if sign.kind != "mark" or sign.text != ",":
                self._kept += [sign, behind, variable] if sign is not behind else [behind, variable]
                break
            names.append(variable.text)
            self._variables.append(variable.text)
            if not is_range or len(names) > 1:
                raise failed(sign.line, f"too many declarations in {where}")
            if self._peek_solid().kind not in ("variable", "close"):
                raise failed(sign.line, "range can only initialize variables")
        return tuple(names), False

    def _command(self, first: Token, ends: tuple[str, ...]) -> Command:
        arguments: list[Operand] = []
        while True:
            token = self._peek_solid()
            if token.kind in ends or (token.kind == "mark" and token.text in (*ends, "|")):
                break
            arguments.append(self._operand())
            after = self._peek()
            if after.kind not in ("space", "close") and not (after.kind == "mark" and after.text in ("|", ")")):
                raise failed(after.line, f"unexpected {_shown(after)} in operand")
        return Command(tuple(arguments), self._written(first))

    def _written(self, first: Token) -> Place:
        """All that stands from a token to the next one, in one line."""
        return self._place(first, " ".join(self._text[first.at : self._peek().at].split()))

    def _place(self, token: Token, written: str) -> Place:
        return Place(token.line, token.at - (self._text.rfind("\n", 0, token.at) + 1), written)

    def _operand(self) -> Operand:
        first = self._peek_solid()
        base = self._term()
        at = self._peek()
        names: list[str] = []
        while self._peek().kind == "field":
            names.append(self._next().text[1:])
        if not names:
            return base
        if isinstance(base, Literal):
            raise failed(at.line, f"unexpected . after term {quoted(first.text, chr(34))}")
        written = self._text[first.at : self._peek().at].strip()
        if isinstance(base, Chain):
            return Chain(base.base, (*base.names, *names), self._place(at, written))
        return Chain(base, tuple(names), self._place(at, written))

    def _term(self) -> Operand:
        token = self._next_solid()
        place = self._place(token, token.text)
        if token.kind == "mark" and token.text == "(":
            pipeline = self._pipeline("parenthesized pipeline", (")",))
            self._next_solid()
            return pipeline
        if token.kind == "dot":
            return Dot(place)
        if token.kind == "field":
            return Chain(Dot(place), (token.text[1:],), place)
        if token.kind == "variable":
            if token.text not in self._variables:
                raise failed(token.line, f'undefined variable "{token.text}"')
            return Variable(token.text, place)
        if token.kind in ("string", "raw", "char", "number"):
            return Literal(literal(token), place)
        if token.kind != "word":
            raise failed(token.line, f"unexpected {_shown(token)} in operand")
        if token.text in _CONSTANTS or token.text == "nil":
            return Literal(_CONSTANTS.get(token.text), place)
        if token.text not in self._functions:
            raise failed(token.line, f'function "{token.text}" not defined')
        return Name(token.text, place)


def _misplaced(word: str, ends: tuple[str, ...], where: str) -> str:
    """What is said of an ``else`` or ``end`` that nothing waits for."""
    if where == "end":
        return f"expected end; found {{{{{word}}}}}"
    return f"unexpected {{{{{word}}}}}" + (f" in {where}" if where else "")


def literal(token: Token) -> Any:
    """The value of a string, character or number."""
    text = token.text
    if token.kind == "raw":
        return text[1:-1]
    if token.kind in ("string", "char"):
        said = _said(token)
        if token.kind == "string":
            return said
        if len(said) != 1:
            raise failed(token.line, f"malformed character constant: {text}" if said else "invalid syntax")
        return ord(said)
    return _number(token)


def _number(token: Token) -> int | float:
    """A number; a whole one that an int64 does not hold is none."""
    text = token.text
    whole = whole_number(text.replace("_", "") if _GROUPED.fullmatch(text) else text, None)
    if whole is not None:
        return whole
    try:
        number = float.fromhex(text) if "p" in text.lower() else float(text)
    except (ValueError, OverflowError):
        raise failed(token.line, f'illegal number syntax: "{text}"') from None
    if not any(mark in text for mark in ".eEpP"):
        raise failed(token.line, f'integer overflow: "{text}"')
    if math.isinf(number):
        raise failed(token.line, f'illegal number syntax: "{text}"')
    return number


def _said(token: Token) -> str:
    """What stands between the quotes, its escapes read."""
    mark, body = token.text[0], token.text[1:-1]
    for found in _ESCAPE.finditer(body):
        code = int(found[1] or found[2] or "0", 16)
        is_strange = found[5] is not None and (found[5] not in _ESCAPES or found[5] in "'\"".replace(mark, ""))
        if is_strange or int(found[4] or "0", 8) > _OCTAL_MAX or 0xD800 <= code <= 0xDFFF or code > sys.maxunicode:
            raise failed(token.line, "invalid syntax")
    return _ESCAPE.sub(_unescaped, body)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16))
    return chr(int(found[4], 8)) if found[4] else _ESCAPES[found[5]]


def _shown(token: Token) -> str:
    """A token as errors show it."""
    if token.kind == "word" and token.text in _KEYWORDS:
        return f"<{token.text}>"
    if len(token.text) > _SHOWN_CHARACTERS_MAX:
        return f"{quoted(token.text[:_SHOWN_CHARACTERS_MAX], chr(34))}..."
    return quoted(token.text, '"')
