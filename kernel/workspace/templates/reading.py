"""[core] Reading a template: tokens to parts."""

from __future__ import annotations

import math
import re
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
_BRANCHES: Final = frozenset({"if", "with", "range"})


def read_template(source: str, functions: Collection[str], *, left: str = "{{", right: str = "}}") -> Template:
    """A template's parts. Raises TemplateFailed."""
    reader = _Reader(source, tokens(source, left, right), frozenset(functions))
    parts, ended = reader.parts(())
    if ended is not None:
        raise failed(ended.line, f"unexpected {{{{{ended.text}}}}}")
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
    def parts(self, ends: tuple[str, ...]) -> tuple[list[Part], Token | None]:
        """Parts up to an action that ends them (its word), or to the end of the template."""
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
                    raise failed(word.line, f"unexpected {{{{{word.text}}}}}")
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
                name = self._quoted("template clause")
                pipeline = None if self._peek_solid().kind == "close" else self._pipeline("template clause", ("close",))
                self._close("template clause")
                return Include(name, pipeline, self._place(word, f'{{{{template "{name}"}}}}'))
            if word.text in ("break", "continue") and word.text not in self._functions:
                self._next_solid()
                if not self._loops:
                    raise failed(word.line, f"{{{{{word.text}}}}} outside {{{{range}}}}")
                self._close(word.text)
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
            if word.kind == "word" and word.text in _BRANCHES - {"range"}:
                self._next_solid()
                branch.otherwise = [self._branch(word.text)]
                del self._variables[known:]
                return branch
            self._close("else")
            branch.otherwise, _ = self.parts(("end",))
        self._close("end")
        del self._variables[known:]
        return branch

    def _definition(self, word: Token) -> Part | None:
        name = self._quoted(f"{word.text} clause")
        pipeline = self._pipeline("block clause", ("close",)) if word.text == "block" else None
        self._close(f"{word.text} clause")
        kept, self._variables = self._variables, ["$"]
        self.defined[name], _ = self.parts(("end",))
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
        variables, assigns = self._declared(is_range)
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
            commands.append(self._command(token, ends))
        for stage, command in enumerate(commands[1:], 2):
            if isinstance(command.operands[0], Literal | Dot):
                raise failed(command.place.line, f"non executable command in pipeline stage {stage}")
        for name in variables if not assigns else ():
            self._variables.append(name)
        return Pipeline(tuple(commands), variables, assigns)

    def _declared(self, is_range: bool) -> tuple[tuple[str, ...], bool]:
        """``$x :=``, ``$x =``, and in ranges ``$i, $x :=``."""
        first = self._peek_solid()
        if first.kind != "variable":
            return (), False
        read = [self._next_solid()]
        names = [first.text]
        while True:
            token = self._next()
            read.append(token)
            if token.kind == "space":
                continue
            if token.kind == "declare" or (token.kind == "mark" and token.text == "="):
                return tuple(names), token.kind != "declare"
            if is_range and token.kind == "mark" and token.text == "," and len(names) == 1:
                second = self._next_solid()
                if second.kind != "variable":
                    raise failed(second.line, "range can only initialize variables")
                names.append(second.text)
                continue
            self._kept += reversed(read)
            return (), False

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
        if not arguments:
            raise failed(first.line, "empty command")
        written = " ".join(self._text[first.at : self._peek().at].split())
        return Command(tuple(arguments), self._place(first, written))

    def _place(self, token: Token, written: str) -> Place:
        return Place(token.line, token.at - (self._text.rfind("\n", 0, token.at) + 1), written)

    def _operand(self) -> Operand:
        base = self._term()
        names = []
        while self._peek().kind == "field":
            names.append(self._next().text[1:])
        if not names:
            return base
        if isinstance(base, Literal):
            raise failed(self._peek().line, f"unexpected . after term {base.value!r}")
        if isinstance(base, Chain):
            return Chain(base.base, (*base.names, *names))
        return Chain(base, tuple(names))

    def _term(self) -> Operand:
        token = self._next_solid()
        if token.kind == "mark" and token.text == "(":
            pipeline = self._pipeline("parenthesized pipeline", (")",))
            self._next_solid()
            return pipeline
        if token.kind == "dot":
            return Dot()
        if token.kind == "field":
            return Chain(Dot(), (token.text[1:],))
        if token.kind == "variable":
            if token.text not in self._variables:
                raise failed(token.line, f'undefined variable "{token.text}"')
            return Variable(token.text)
        if token.kind in ("string", "raw", "char", "number"):
            return Literal(literal(token))
        if token.kind != "word":
            raise failed(token.line, f"unexpected {_shown(token)} in operand")
        if token.text in _CONSTANTS or token.text == "nil":
            return Literal(_CONSTANTS.get(token.text))
        if token.text not in self._functions:
            raise failed(token.line, f'function "{token.text}" not defined')
        return Name(token.text, self._place(token, token.text))


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
            raise failed(token.line, f"malformed character constant: {text}")
        return ord(said)
    plain = text.replace("_", "")
    try:
        if re.fullmatch(r"[+-]?0[0-7]+", plain):
            return int(plain, 8)
        return int(plain, 0)
    except ValueError:
        pass
    try:
        number = float(plain)
    except ValueError:
        raise failed(token.line, f'bad number syntax: "{text}"') from None
    if math.isinf(number):
        raise failed(token.line, f'illegal number syntax: "{text}"')
    return number


def _said(token: Token) -> str:
    """What stands between the quotes, its escapes read."""
    body = token.text[1:-1]
    if any(found[5] and found[5] not in _ESCAPES for found in _ESCAPE.finditer(body)):
        raise failed(token.line, "invalid syntax")
    return _ESCAPE.sub(_unescaped, body)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16))
    return chr(int(found[4], 8)) if found[4] else _ESCAPES[found[5]]


def _shown(token: Token) -> str:
    if token.kind == "end":
        return "EOF"
    return f'"{token.text}"' if token.kind != "string" else f'"\\"{token.text[1:-1]}\\""'
