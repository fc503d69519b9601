"""[core] How the kernel spells a statement before SQLite sees it: the names of unnamed result columns come from it.

The kernel parses a query and prints it anew: names in double quotes, keywords in capitals, one blank around operators.
``select max(updated) from blocks`` therefore answers under ``max("updated")``, and a name that is no column becomes a
text. This prints token by token; what the kernel's parser would refuse is left as it is (``None``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TOKENS: Final = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<text>[xX]?'(?:[^']|'')*')
  | (?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
  | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<bind>\?\d*|[:@$][\w]+)
  | (?P<operator>\|\||->>|->|<<|>>|<=|>=|<>|!=|==|[-+*/%&|~<>=(),.;])
    """,
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS: Final = frozenset(
    [
        "ALL",
        "AND",
        "AS",
        "ASC",
        "BETWEEN",
        "BY",
        "CASE",
        "CAST",
        "CROSS",
        "CURRENT",
        "DESC",
        "DISTINCT",
        "ELSE",
        "END",
        "ESCAPE",
        "EXCEPT",
        "EXISTS",
        "FALSE",
        "FILTER",
        "FIRST",
        "FOLLOWING",
        "FROM",
        "FULL",
        "GLOB",
        "GROUP",
        "HAVING",
        "IN",
        "INDEXED",
        "INNER",
        "INTERSECT",
        "IS",
        "ISNULL",
        "JOIN",
        "LAST",
        "LEFT",
        "LIKE",
        "LIMIT",
        "MATCH",
        "NATURAL",
        "NOT",
        "NOTNULL",
        "NULL",
        "NULLS",
        "OFFSET",
        "ON",
        "OR",
        "ORDER",
        "OUTER",
        "OVER",
        "PARTITION",
        "PRECEDING",
        "RANGE",
        "RECURSIVE",
        "REGEXP",
        "RIGHT",
        "ROWS",
        "SELECT",
        "THEN",
        "TRUE",
        "UNBOUNDED",
        "UNION",
        "USING",
        "VALUES",
        "WHEN",
        "WHERE",
        "WINDOW",
        "WITH",
    ]
)
# After these an operand is due: a sign is a sign, a star stands for all columns.
_OPERAND_DUE: Final = _KEYWORDS - frozenset(["END", "FALSE", "ISNULL", "NOTNULL", "NULL", "TRUE", "CURRENT"])
_SPELLINGS: Final = {"==": "=", "<>": "!="}
_UNKNOWN: Final = frozenset({"->", "->>"})
# Operators and joins that are also functions.
_ALSO_CALLS: Final = frozenset({"LIKE", "GLOB", "REGEXP", "MATCH", "LEFT", "RIGHT"})


class Token(NamedTuple):
    """One word of a statement; ``kind`` is text, name, number, word, bind, operator or call."""

    kind: str
    text: str

    @property
    def keyword(self) -> str:
        """The word in capitals if it is a keyword here, else ``""``."""
        upper = self.text.upper()
        return upper if self.kind == "word" and upper in _KEYWORDS else ""


def tokens(statement: str) -> list[Token] | None:
    """The statement's words without blanks and comments; None where something cannot be read."""
    found: list[Token] = []
    position = 0
    while position < len(statement):
        match = _TOKENS.match(statement, position)
        if match is None:
            return None
        position = match.end()
        if match.lastgroup != "blank":
            found.append(Token(match.lastgroup or "", match.group()))
    return found


def has_outer_limit(words: list[Token]) -> bool:
    """Whether LIMIT stands outside all brackets."""
    depth = 0
    for word in words:
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0 and word.keyword == "LIMIT":
            return True
    return False


def respelled(words: list[Token]) -> str | None:
    """The statement as the kernel prints it; None if its parser would refuse it."""
    if any(word.text in _UNKNOWN for word in words):
        return None
    # A collation is understood after ORDER BY and nowhere else.
    for position, word in enumerate(words):
        if word.text.upper() == "COLLATE" and not any(before.keyword == "ORDER" for before in words[:position]):
            return None
    return "".join(_pieces(_with_calls(words))).strip()


def _with_calls(words: list[Token]) -> list[Token]:
    """``regexp(a, b)`` is a call, ``a REGEXP (b)`` is not."""
    found: list[Token] = []
    for position, word in enumerate(words):
        is_before_bracket = position + 1 < len(words) and words[position + 1].text == "("
        if is_before_bracket and word.keyword in _ALSO_CALLS and _operand_is_due(found[-1] if found else None):
            word = Token("call", word.text)
        found.append(word)
    return found


def _pieces(words: list[Token]) -> Iterator[str]:
    before: Token | None = None
    was_sign = False
    casts: list[bool] = []
    for position, word in enumerate(words):
        after = words[position + 1] if position + 1 < len(words) else None
        if word.text == "(":
            casts.append(before is not None and before.keyword == "CAST")
        elif word.text == ")" and casts:
            casts.pop()
        is_sign = word.text in ("-", "+", "~") and _operand_is_due(before)
        if before is not None and not was_sign and _has_gap(before, word):
            yield " "
        is_type = bool(casts and casts[-1] and before is not None and before.keyword == "AS")
        yield word.text if is_type else _spelled(word, after)
        before, was_sign = word, is_sign


def _spelled(word: Token, after: Token | None) -> str:
    if word.kind == "name":
        inner = word.text[1:-1]
        if word.text[0] in '"`':
            inner = inner.replace(word.text[0] * 2, word.text[0])
        return _quoted(inner)
    if word.kind != "word":
        return _SPELLINGS.get(word.text, word.text)
    if word.keyword:
        return word.keyword
    if after is not None and after.text == "(":
        return word.text
    if word.text.upper() in ("COLLATE", "NOCASE", "BINARY", "RTRIM", "INTEGER", "MATERIALIZED"):
        return word.text
    return _quoted(word.text)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _operand_is_due(before: Token | None) -> bool:
    if before is None:
        return True
    if before.kind == "operator":
        return before.text != ")"
    return before.keyword in _OPERAND_DUE


def _has_gap(before: Token, word: Token) -> bool:
    if word.text in (",", ")", ".", ";") or before.text in ("(", "."):
        return False
    if word.text == "(":
        # A call's bracket touches its name; OVER and FILTER, IN and EXISTS keep the gap.
        return before.kind not in ("word", "call") or (bool(before.keyword) and before.keyword != "CAST")
    if word.text == "*" and _operand_is_due(before):
        return before.text != "("
    return True
