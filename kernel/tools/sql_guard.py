"""Whether a statement is one plain SELECT. Text and comments are masked before anything is looked for. Does no I/O."""

from __future__ import annotations

import re
from typing import Final

# Quoted text, quoted names, comments: in the order in which SQL reads them.
_MASKED: Final = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL
)
_WRITES: Final = re.compile(
    r"\b(?:insert|update|delete|replace\s+into|drop|alter|create|attach|detach|pragma|vacuum|reindex|analyze)\b",
    re.IGNORECASE,
)


class NotOneSelect(ValueError):
    """The statement is refused; the text says why."""


def checked_select(statement: str) -> str:
    """The statement without a closing semicolon.

    Raises:
        NotOneSelect: several statements, another kind than SELECT or WITH … SELECT, or a word that writes.
    """
    # A comment leaves blanks, a literal leaves letters: what follows the statement must stay behind its last word.
    masked = _MASKED.sub(lambda match: (" " if match[0][:2] in ("--", "/*") else "x") * len(match[0]), statement)
    end = len(masked.rstrip().rstrip(";").rstrip())
    body = masked[:end]
    if ";" in body:
        raise NotOneSelect("Only one statement may be given.")
    first = re.match(r"\s*(\w+)", body)
    word = first[1].lower() if first else ""
    if word not in ("select", "with"):
        raise NotOneSelect("Only SELECT, or WITH … SELECT, may be given.")
    if (found := _WRITES.search(body)) is not None:
        raise NotOneSelect(f"{found[0].upper()} is not allowed: the index is only read.")
    if word == "with" and not re.search(r"\bselect\b", body, re.IGNORECASE):
        raise NotOneSelect("WITH must end in a SELECT.")
    return statement[:end]
