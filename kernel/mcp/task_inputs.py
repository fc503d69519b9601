"""What a running task asks of its client, until each question is answered (official Tasks extension). No I/O.

Theory of operation. Questions stand under keys that are minted here and never used again in the same task, so a late or
repeated answer cannot be taken for another's. An answered question is gone at once; an answer under an unknown key, or
one that is no object, changes nothing. ``close`` ends them all: the call has ended, or it can be no task any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Answered = Callable[[dict[str, Any] | None], None]
"""Told the client's answer once; None: there will be none."""

_KEY: Final = "input-"


class TaskInputs:
    """The open questions of one call. ``on_change`` is told whenever their number has changed."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] | None = None
        self.is_closed = False
        self._asked = 0
        self._open: dict[str, tuple[dict[str, Any], Answered]] = {}

    @property
    def requests(self) -> dict[str, Any]:
        """``inputRequests``: key → the request that waits for its answer."""
        return {key: request for key, (request, _) in self._open.items()}

    def ask(self, request: dict[str, Any], answered: Answered) -> str:
        """Put a question (``{method, params}``); its key. After ``close`` it is answered with None at once."""
        self._asked += 1
        key = f"{_KEY}{self._asked}"
        if self.is_closed:
            answered(None)
            return key
        self._open[key] = request, answered
        self._tell()
        return key

    def withdraw(self, key: str) -> None:
        """Nobody waits for that answer any more. An answered key is left alone."""
        if self._open.pop(key, None) is not None:
            self._tell()

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Take ``inputResponses``: any part of what is asked."""
        taken = [(key, response) for key, response in responses.items() if key in self._open]
        taken = [(key, response) for key, response in taken if isinstance(response, dict)]
        for key, response in taken:
            _, answered = self._open.pop(key)
            answered(response)
        if taken:
            self._tell()

    def close(self) -> None:
        """Every open question gets None, and so does every later one."""
        self.is_closed = True
        waiting = list(self._open.values())
        self._open.clear()
        for _, answered in waiting:
            answered(None)

    def _tell(self) -> None:
        if self.on_change is not None:
            self.on_change()
