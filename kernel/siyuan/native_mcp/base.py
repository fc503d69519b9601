"""What a tool of the official endpoint works with: its loosely read arguments, the kernel's own /api, its answer."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import Arguments, EmptyAnswer
from kernel.siyuan.dispatch import ApiHandler, Envelope, RawAnswer, UnknownRoute, dispatch, run_handler
from kernel.siyuan.kernel import Call

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel
    from kernel.workspace.workspace import Workspace

CUT_BYTES: Final = 200  # a block's text in a list is cut here
# Powers of ten from and below which a double is written without an exponent.
_PLAIN_POWER_MIN: Final = -4
_PLAIN_POWER_END: Final = 6


class ToolFailed(Exception):
    """The tool answers with an error; the message is the kernel's."""


@dataclass(slots=True)
class ToolCall:
    """One call of one tool. What is of the wrong type counts as missing."""

    kernel: SiyuanKernel
    name: str
    arguments: Mapping[str, Any]

    @property
    def workspace(self) -> Workspace:
        return self.kernel.workspace

    def text(self, name: str) -> str:
        value = self.arguments.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str, default: int) -> int:
        value = self.arguments.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return default
        return int(value)

    def flag(self, name: str) -> bool:
        return self.arguments.get(name) is True

    def needed(self, name: str, problem: str = "") -> str:
        """A text that must be there. Raises ToolFailed."""
        value = self.text(name)
        if not value:
            raise ToolFailed(problem or f"{name} is required")
        return value

    def all_needed(self, *names: str) -> list[str]:
        """Texts that must all be there: ``a, b and c are required``. Raises ToolFailed."""
        values = [self.text(name) for name in names]
        if not all(values):
            raise ToolFailed(f"{', '.join(names[:-1])} and {names[-1]} are required")
        return values

    # --- the kernel's own /api ---------------------------------------------------------------------------------
    async def api(self, path: str, /, **arguments: Any) -> Envelope:
        """Run one endpoint.

        Raises:
            ToolFailed: the endpoint is not emulated.
            EmptyAnswer: it answers nothing, and so does the tool.
        """
        try:
            answer = await dispatch(Call(self.kernel, path, Arguments(arguments)))
        except UnknownRoute:
            raise ToolFailed(f"{path} is not emulated") from None
        return _enveloped(answer)

    async def data(self, path: str, failure: str = "", /, **arguments: Any) -> Any:
        """The data of one endpoint. Raises ToolFailed with the endpoint's message behind ``failure``."""
        envelope = await self.api(path, **arguments)
        if envelope.code != 0:
            raise ToolFailed(f"{failure}{envelope.msg}")
        return envelope.data

    async def run(self, handler: ApiHandler, failure: str = "", /, **arguments: Any) -> Any:
        """Run a handler of our own like an endpoint: durable and told when it returns. Raises ToolFailed."""
        envelope = _enveloped(await run_handler(Call(self.kernel, "/mcp", Arguments(arguments)), handler))
        if envelope.code != 0:
            raise ToolFailed(f"{failure}{envelope.msg}")
        return envelope.data


Action = Callable[[ToolCall], Awaitable[str]]


def _enveloped(answer: Envelope | RawAnswer) -> Envelope:
    if isinstance(answer, RawAnswer):
        raise EmptyAnswer
    return answer


def by_action(actions: Mapping[str, Action]) -> Action:
    """A tool that is chosen by its argument ``action``."""
    known = ", ".join(actions)

    async def handle(call: ToolCall) -> str:
        action = call.text("action")
        chosen = actions.get(action)
        if chosen is None:
            raise ToolFailed(f"unknown action '{action}', expected one of: [{known}]")
        return await chosen(call)

    return handle


def comma_list(text: str) -> list[str]:
    """The trimmed parts of ``a, b``, empty ones kept."""
    return [part.strip() for part in text.split(",")]


def cut(text: str, bytes_max: int = CUT_BYTES) -> str:
    """A text for a list. The kernel cuts bytes; of a character cut in two nothing readable remains."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= bytes_max:
        return text
    return raw[:bytes_max].decode("utf-8", "replace") + "..."


def go_text(value: Any) -> str:
    """A decoded JSON value or a cell as the kernel prints it into prose."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _number_text(value)
        case list():
            return f"[{' '.join(go_text(item) for item in value)}]"
        case dict():
            return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
        case _:
            return str(value)


def json_text(value: Any) -> str:
    """Like ``go_text`` for what came as JSON, where every number is a double."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _number_text(float(value))
    if isinstance(value, list):
        return f"[{' '.join(json_text(item) for item in value)}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{json_text(value[key])}' for key in sorted(value))}]"
    return go_text(value)


def _number_text(value: float) -> str:
    """A double with the fewest digits that name it; large and tiny ones with an exponent of two digits or more."""
    if math.isnan(value) or math.isinf(value):
        return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    if _PLAIN_POWER_MIN <= power < _PLAIN_POWER_END or value == 0:
        return format(Decimal(repr(value)).normalize(), "f")
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    mantissa = f"{first}.{rest}" if rest else first
    return f"{'-' if sign else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
