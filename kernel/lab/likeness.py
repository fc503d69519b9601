"""Whether two kernels said the same: ids, hashes and times may differ, but must differ consistently. No I/O.

Every identity (a block's id, a request id, a short hash, a session) is named by the order in which it first appeared,
on each side for itself. Two answers are alike when they read the same under those names; and what the recorded client
sent is translated for the other kernel by the same names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.lab.mcp import messages_in

_NODE: Final = re.compile(r"\b\d{14}-[0-9a-z]{7}\b")
# In structures a key tells what a short hexadecimal text is; in a part of a JSON text its key stands before it.
_NAMED: Final = re.compile(r'(\\?"(?:requestId|\w*Hash)\\?"\s*:\s*\\?")([0-9a-f]{4,64})')
_HEX_KEY: Final = re.compile(r"requestId|\w*Hash")
_HEX: Final = re.compile(r"[0-9a-f]{4,64}")
_STAMP: Final = re.compile(r"\b20\d{12}\b")
_ISO: Final = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_TIME_KEY: Final = re.compile(r"(?i).*(?:ms|at|time|updated|created|mtime)")


@dataclass(slots=True)
class Names:
    """The identities of one side, named in the order of their appearance."""

    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def name(self, kind: str, identity: str) -> str:
        number = self._numbers.get((kind, identity))
        if number is None:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            self._numbers[kind, identity] = number
        return f"<{kind} {number}>"

    def identities(self) -> dict[tuple[str, int], str]:
        return {(kind, number): identity for (kind, identity), number in self._numbers.items()}


def canonical(value: Any, names: Names, key: str = "") -> Any:
    """A JSON value with every identity under its name and every time under one."""
    if isinstance(value, str):
        return _canonical_text(value, names, key)
    if isinstance(value, dict):
        return {name: canonical(item, names, name) for name, item in value.items()}
    if isinstance(value, list):
        return [canonical(item, names, key) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and _TIME_KEY.fullmatch(key):
        return "<time>"
    return value


def _canonical_text(text: str, names: Names, key: str) -> str:
    if _HEX_KEY.fullmatch(key) and _HEX.fullmatch(text):
        return names.name("hash", text)
    if text.startswith(("{", "[")):
        # A structure told as a text, as the content beside a structured result is.
        try:
            return json.dumps(canonical(json.loads(text), names), ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    text = _NODE.sub(lambda found: names.name("id", found[0]), text)
    text = _NAMED.sub(lambda found: found[1] + names.name("hash", found[2]), text)
    return _ISO.sub("<time>", _STAMP.sub("<time>", text))


class Translation:
    """Both sides of a replay: what was recorded, and what is heard now."""

    def __init__(self, given: dict[str, str] | None = None) -> None:
        self.recorded = Names()
        self.live = Names()
        self._given = given or {}

    def request(self, text: str) -> str:
        """What the recorded client sent, in the identities of the other kernel."""
        live = self.live.identities()
        known = {
            identity: live[name] for name, identity in self.recorded.identities().items() if name in live
        } | self._given
        for old in sorted(known, key=len, reverse=True):
            if len(old) > len("0000"):
                text = text.replace(old, known[old])
            else:  # a short one could be a part of anything: only where a key says what it is
                text = re.sub(rf'(:\s*"){re.escape(old)}(")', _between(known[old]), text)
        return text

    def session(self, recorded: str | None, live: str | None) -> None:
        """An answer opened a session."""
        if recorded and live:
            self.recorded.name("session", recorded)
            self.live.name("session", live)

    def first_difference(self, recorded: Any, live: Any) -> tuple[str, Any, Any] | None:
        """Path, recorded and live value of the first difference under the names; None where they are alike."""
        return difference(canonical(recorded, self.recorded), canonical(live, self.live))


def _between(new: str) -> Callable[[re.Match[str]], str]:
    return lambda found: found[1] + new + found[2]


def difference(recorded: Any, live: Any, path: str = "$") -> tuple[str, Any, Any] | None:
    """Where two JSON values first differ."""
    if isinstance(recorded, dict) and isinstance(live, dict):
        for key in [*recorded, *(key for key in live if key not in recorded)]:
            if key not in live or key not in recorded:
                return f"{path}.{key}", recorded.get(key, "(nothing)"), live.get(key, "(nothing)")
            if (found := difference(recorded[key], live[key], f"{path}.{key}")) is not None:
                return found
        return None
    if isinstance(recorded, list) and isinstance(live, list):
        for index, (one, other) in enumerate(zip(recorded, live, strict=False)):
            if (found := difference(one, other, f"{path}[{index}]")) is not None:
                return found
        return None if len(recorded) == len(live) else (f"{path}.length", len(recorded), len(live))
    same = recorded == live and isinstance(recorded, bool) == isinstance(live, bool)
    return None if same else (path, recorded, live)


def readable(content_type: str, body: bytes) -> Any:
    """A body as something to compare: JSON, the messages of an event stream, or its text."""
    if content_type.startswith("text/event-stream"):
        return list(messages_in(content_type, body))
    try:
        return json.loads(body) if body else ""
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
