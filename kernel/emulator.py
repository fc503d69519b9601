"""``/emulator/*``: what a real kernel cannot give (decisions 29 and 60): unserved routes, fault plans, the clock.

Loopback only, behind the kernel's own credential. Faults and the clock are served only when the process was started
with ``--emulator-controls`` (or a fault plan).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel.faults.plan import PlanInvalid, read_plan
from kernel.limits import CONTROL_BODY_BYTES_MAX
from kernel.settings import is_loopback
from kernel.wire import Answer, Exchange, Request, Response, Route, json_response

if TYPE_CHECKING:
    from kernel.clock import SystemClock
    from kernel.faults.trigger import Trigger
    from kernel.plugin_routes import Authorize
    from kernel.siyuan.kernel import SiyuanKernel

PREFIX: Final = "/emulator"
# The clock jumps at most this far in one request: a year.
ADVANCE_MS_MAX: Final = 366 * 24 * 3600 * 1000
Control = Callable[[Request], Awaitable[dict[str, Any]]]


class ControlRefused(Exception):
    """The request is not one this route takes; the message says what it takes (HTTP 400)."""


class Emulator:
    """The controls of one running kernel."""

    def __init__(self, kernel: SiyuanKernel, trigger: Trigger, clock: SystemClock) -> None:
        self._kernel = kernel
        self._trigger = trigger
        self._clock = clock

    def routes(self, authorize: Authorize, *, has_controls: bool) -> Iterator[Route]:
        """The routes to serve; without controls only what reads."""
        controls: list[tuple[str, Mapping[str, Control]]] = [("unserved", {"GET": self._unserved})]
        if has_controls:
            controls += [
                ("faults", {"GET": self._faults, "POST": self._add_faults, "DELETE": self._clear_faults}),
                ("faults/release", {"POST": self._release}),
                ("clock", {"GET": self._time, "POST": self._advance}),
            ]
        for name, methods in controls:
            handler = _guarded(methods, authorize)
            path = f"{PREFIX}/{name}"
            yield Route(
                path, frozenset(methods), handler, CONTROL_BODY_BYTES_MAX, surface="plugin", has_fault_points=False
            )

    async def _unserved(self, request: Request) -> dict[str, Any]:
        return {"unserved": dict(sorted(self._kernel.unserved.items()))}

    async def _faults(self, request: Request) -> dict[str, Any]:
        rules = self._trigger.plan.describe()
        for rule in rules:
            rule["held"] = self._trigger.held(str(rule.get("name", "")))
        return {"rules": rules}

    async def _add_faults(self, request: Request) -> dict[str, Any]:
        """Add the rules of a plan to those in force; all of them, or none."""
        try:
            rules = read_plan(request.body.decode("utf-8"))
            for rule in rules:
                self._trigger.plan.add(rule)
        except (PlanInvalid, UnicodeDecodeError) as error:
            raise ControlRefused(str(error)) from None
        return {"added": len(rules)}

    async def _clear_faults(self, request: Request) -> dict[str, Any]:
        self._trigger.plan.clear()
        return {"rules": []}

    async def _release(self, request: Request) -> dict[str, Any]:
        name = _object(request).get("name", "")
        if not isinstance(name, str):
            raise ControlRefused('release takes {"name": "…"}: the name of a hold rule')
        return {"released": self._trigger.release(name)}

    async def _time(self, request: Request) -> dict[str, Any]:
        return {"wallMs": self._clock.wall_ms()}

    async def _advance(self, request: Request) -> dict[str, Any]:
        advance_ms = _object(request).get("advance_ms")
        if not isinstance(advance_ms, int) or isinstance(advance_ms, bool) or not 0 <= advance_ms <= ADVANCE_MS_MAX:
            raise ControlRefused(f'the clock takes {{"advance_ms": 0 … {ADVANCE_MS_MAX}}}')
        self._clock.advance(advance_ms / 1000)
        return {"wallMs": self._clock.wall_ms()}


def _object(request: Request) -> dict[str, Any]:
    try:
        return msgspec.json.decode(request.body or b"{}", type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise ControlRefused(f"the body is not a JSON object: {error}") from None


def _guarded(methods: Mapping[str, Control], authorize: Authorize) -> Callable[[Exchange], Awaitable[Answer]]:
    async def handle(exchange: Exchange) -> Answer:
        request = exchange.request
        if not is_loopback(request.peer):
            return Response(403, (("Content-Type", "text/plain"),), b"loopback only")
        refusal = authorize(request)
        if refusal is not None:
            return refusal
        try:
            return json_response(200, msgspec.json.encode(await methods[request.method](request)))
        except ControlRefused as error:
            return json_response(400, msgspec.json.encode({"error": {"code": "invalid", "message": str(error)}}))

    return handle
