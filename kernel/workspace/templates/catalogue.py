"""[core] All functions a template may call: Go's own, Sprig's that need neither network nor environment, the notes' own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kernel.workspace.templates.builtin_functions import BUILTINS
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.list_functions import LIST_FUNCTIONS
from kernel.workspace.templates.number_functions import NUMBER_FUNCTIONS, time_functions
from kernel.workspace.templates.text_functions import TEXT_FUNCTIONS
from kernel.workspace.templates.values import int_of

if TYPE_CHECKING:
    from kernel.ids import IdSource

_RANDOM_CHARS_MAX = 4096


def functions(now: datetime, ids: IdSource, notes: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Name → function. ``notes`` are those that look into the workspace."""

    def random_text(alphabet: str) -> Callable[[Any], str]:
        def made(count: Any) -> str:
            size = min(max(int_of(count), 0), _RANDOM_CHARS_MAX)
            return "".join(alphabet[byte % len(alphabet)] for byte in ids.entropy(size)) if size else ""

        return made

    def random_int(low: Any, high: Any) -> int:
        first, last = int_of(low), int_of(high)
        if last <= first:
            raise FunctionFailed("invalid argument to Intn")
        return first + int.from_bytes(ids.entropy(8), "big") % (last - first)

    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return {
        **TEXT_FUNCTIONS,
        **NUMBER_FUNCTIONS,
        **LIST_FUNCTIONS,
        **time_functions(now),
        **BUILTINS,
        "uuidv4": lambda: str(UUID(bytes=ids.entropy(16), version=4)),
        "randAlphaNum": random_text(letters + "0123456789"),
        "randAlpha": random_text(letters),
        "randNumeric": random_text("0123456789"),
        "randAscii": random_text("".join(chr(code) for code in range(33, 127))),
        "randInt": random_int,
        **notes,
    }
