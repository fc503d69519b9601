"""[core] Patterns of users, in the syntax and with the messages of Go's regexp: the kernel is written in Go.

RE2 is the engine that Go's was made after: no look-around, no back-references, and time linear in the text, so that no
pattern holds the process. Python's ``re`` would hold every thread of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

# What RE2 says → what Go's parser says.
_PROBLEMS: Final = (
    ("missing ):", "missing closing )"),
    ("unexpected ):", "unexpected )"),
    ("missing ]:", "missing closing ]"),
    ("no argument for repetition operator:", "missing argument to repetition operator"),
    ("bad repetition operator:", "invalid nested repetition operator"),
    ("invalid repetition size:", "invalid repeat count"),
    ("invalid named capture group:", "invalid named capture"),
    ("invalid perl operator:", "invalid or unsupported Perl syntax"),
    ("invalid character class range:", "invalid character class range"),
    ("invalid escape sequence:", "invalid escape sequence"),
    ("trailing \\", "trailing backslash at end of expression"),
)
# Problems that Go shows with the whole pattern.
_WHOLE: Final = frozenset({"missing closing )", "unexpected )"})
_GROUP: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+)|(\$))")
# Compiled patterns kept; a statement's pattern is asked for once for every row.
_KEPT_MAX: Final = 64


class PatternInvalid(ValueError):
    """Not a pattern; the message is ``error parsing regexp: …`` as Go's parser words it."""


class Pattern:
    """A compiled pattern. Positions are in code points."""

    def __init__(self, source: str) -> None:
        # Three MiB that most workspaces never need: not before the first pattern.
        import re2

        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled: Any = re2.compile(source, options)
        except re2.error as error:
            raise PatternInvalid(f"error parsing regexp: {_problem(source, error)}") from None

    def matches(self, text: str) -> bool:
        """Whether the pattern is found somewhere in the text."""
        return self._compiled.search(text) is not None

    def finds(self, text: str) -> Iterator[str]:
        """The texts of all matches, from left to right."""
        return (match.group() for match in self._compiled.finditer(text))

    def replaced(self, text: str, new: Callable[[str], str]) -> str:
        """Every match given to ``new``."""
        return str(self._compiled.sub(lambda match: new(match.group()), text))

    def expanded(self, text: str, template: str) -> str:
        """Every match replaced by a template: ``$1``, ``${name}`` and ``$$`` as Go expands them."""
        return str(self._compiled.sub(lambda match: _GROUP.sub(lambda found: _piece(match, found), template), text))

    def split(self, text: str, parts_max: int) -> list[str]:
        """The texts between matches, at most ``parts_max`` (0: all of them)."""
        return [text] if parts_max == 1 else list(self._compiled.split(text, maxsplit=max(parts_max - 1, 0)))


@lru_cache(maxsize=_KEPT_MAX)
def compiled(source: str) -> Pattern:
    """The pattern of a text.

    Raises:
        PatternInvalid: it is none.
    """
    return Pattern(source)


def _piece(match: Any, found: re.Match[str]) -> str:
    if found[3]:
        return "$"
    name = found[1] or found[2]
    try:
        return match.group(int(name) if name.isdecimal() else name) or ""
    except (IndexError, KeyError):
        return ""


def _problem(source: str, error: Exception) -> str:
    told = error.args[0]
    text = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
    for start, words in _PROBLEMS:
        if text.startswith(start):
            where = source if words in _WHOLE else text[len(start) :].strip()
            if where in ("(?<=", "(?<!"):
                # Go takes them for the start of a name.
                words, where = "invalid named capture", source[source.index(where) :]
            return f"{words}: `{where}`"
    return f"{text}: `{source}`"
