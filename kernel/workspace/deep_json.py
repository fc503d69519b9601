"""[core] A JSON reader that does not recurse, for files nested deeper than the interpreter's own reader can go."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()


class DeepJsonError(ValueError):
    """Not JSON; the message names the character."""


def loads_deep(text: str) -> Any:
    """The value that ``text`` holds, however deeply it is nested.

    Raises:
        DeepJsonError: the text is no JSON.
    """
    try:
        return _Reader(text).read()
    except json.JSONDecodeError as error:
        raise DeepJsonError(f"{error.msg} at character {error.pos}") from error


class _Reader:
    """One pass over the text with its own stack of open arrays and objects."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.open: list[list[Any] | dict[str, Any]] = []
        self.keys: list[str] = []  # the key under which each open object awaits its next value

    def read(self) -> Any:
        while True:
            value = self._begin()
            if value is _OPENED:
                continue
            while True:
                if not self.open:
                    self._skip()
                    if self.position != len(self.text):
                        raise self._error("extra data")
                    return value
                if self._place(value):
                    break
                value = self._close()

    def _begin(self) -> Any:
        """A scalar, an empty container, or ``_OPENED`` after the start of a filled one."""
        self._skip()
        head = self.text[self.position : self.position + 1]
        if head == "[":
            self.position += 1
            self._skip()
            if self._at("]"):
                return []
            self.open.append([])
            return _OPENED
        if head == "{":
            self.position += 1
            self._skip()
            if self._at("}"):
                return {}
            self.open.append({})
            self._key()
            return _OPENED
        return self._scalar()

    def _place(self, value: Any) -> bool:
        """Put a value into the innermost container; whether another one follows."""
        container = self.open[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            container[self.keys.pop()] = value
        self._skip()
        if not self._at(","):
            return False
        if isinstance(container, dict):
            self._skip()
            self._key()
        return True

    def _close(self) -> Any:
        container = self.open.pop()
        if not self._at("]" if isinstance(container, list) else "}"):
            raise self._error("expecting ',' or an end")
        return container

    def _key(self) -> None:
        if self.text[self.position : self.position + 1] != '"':
            raise self._error("expecting a key")
        self.keys.append(self._scalar())
        self._skip()
        if not self._at(":"):
            raise self._error("expecting ':'")

    def _scalar(self) -> Any:
        value, self.position = _DECODER.raw_decode(self.text, self.position)
        return value

    def _at(self, character: str) -> bool:
        if self.text[self.position : self.position + 1] != character:
            return False
        self.position += 1
        return True

    def _skip(self) -> None:
        match = _BLANKS.match(self.text, self.position)
        assert match is not None, "the pattern matches the empty string"
        self.position = match.end()

    def _error(self, message: str) -> DeepJsonError:
        return DeepJsonError(f"{message} at character {self.position}")


_OPENED: Final = object()
