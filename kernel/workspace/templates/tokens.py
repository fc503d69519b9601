"""[core] Templates cut into text and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kernel.workspace.templates.errors import TemplateFailed

_BLANK: Final = " \t\r\n"
_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<raw>`[^`]*`)
    |(?P<char>'(?:[^'\\\n]|\\.)*')
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*
        |(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]*)?))
    |(?P<variable>\$[\w]*)
    |(?P<field>\.[^\W\d][\w]*)
    |(?P<dot>\.)
    |(?P<word>[^\W\d][\w]*)
    |(?P<declare>:=)
    |(?P<mark>[=|(),])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """``kind``: text, open, close, end, or a kind of the expression above."""

    kind: str
    text: str
    line: int
    at: int = 0  # the character it begins with, in the whole source


def tokens(source: str, left: str, right: str) -> Iterator[Token]:
    """The tokens of a template, as far as it can be read. Raises TemplateFailed at the place that cannot."""
    at, trims = 0, False
    while (start := source.find(left, at)) >= 0:
        text = source[at:start].lstrip(_BLANK) if trims else source[at:start]
        inside = start + len(left)
        if source[inside : inside + 1] == "-" and source[inside + 1 : inside + 2] in tuple(_BLANK):
            text = text.rstrip(_BLANK)
            inside += 2
        if text:
            yield Token("text", text, _line(source, at))
        if source.startswith("/*", inside):
            at, trims = _comment_end(source, inside, right)
            continue
        yield Token("open", left, _line(source, start))
        for token, end, cuts in _action(source, inside, right):
            at, trims = end, cuts
            yield token
    if text := source[at:].lstrip(_BLANK) if trims else source[at:]:
        yield Token("text", text, _line(source, at))
    yield Token("end", "", _line(source, len(source)))


def _comment_end(source: str, at: int, right: str) -> tuple[int, bool]:
    end = source.find("*/", at)
    if end < 0:
        raise failed(_line(source, at), "unclosed comment")
    end += 2
    found = _right_end(source, end, right)
    if found is None:
        raise failed(_line(source, at), "comment ends before closing delimiter")
    return found


def _right_end(source: str, at: int, right: str) -> tuple[int, bool] | None:
    """Where the closing delimiter at ``at`` ends, and whether it trims what follows."""
    if source[at : at + 1] in tuple(_BLANK) and source.startswith(f"-{right}", at + 1):
        return at + 2 + len(right), True
    if source.startswith(right, at):
        return at + len(right), False
    return None


def _action(source: str, at: int, right: str) -> Iterator[tuple[Token, int, bool]]:
    depth = 0
    while True:
        ended = _right_end(source, at, right)
        line = _line(source, at)
        if ended is not None:
            if depth:
                raise failed(line, "unclosed left paren")
            yield Token("close", right, line, at), *ended
            return
        if at >= len(source):
            raise failed(line, "unclosed action")
        found = _TOKEN.match(source, at)
        if found is None:
            raise failed(line, _unreadable(source[at]))
        at = found.end()
        kind = str(found.lastgroup)
        if kind == "number" and (source[at : at + 1].isalnum() or source[at : at + 1] == "_"):
            raise failed(line, f'bad number syntax: "{source[found.start() : at + 1]}"')
        depth += {"(": 1, ")": -1}.get(found[0], 0) if kind == "mark" else 0
        if depth < 0:
            raise failed(line, "unexpected right paren")
        yield Token(kind, found[0], line, found.start()), at, False


def _unreadable(char: str) -> str:
    if char == '"':
        return "unterminated quoted string"
    if char == "`":
        return "unterminated raw quoted string"
    if char == "'":
        return "unterminated character constant"
    return f'unexpected "{char}" in command'


def failed(line: int, words: str) -> TemplateFailed:
    """An error of a template without a name, as Go words it."""
    return TemplateFailed(f"template: :{line}: {words}")


def _line(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1
