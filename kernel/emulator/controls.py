"""``/emulator/*``: what a real kernel cannot give (decisions 29 and 60): unserved routes, faults, the clock, the trace.

Loopback only, behind the kernel's own credential. All but ``unserved`` is served only when the process was started
with ``--emulator-controls`` (or a fault plan).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import msgspec
import trio

from kernel.faults.deeds import DEEDS
from kernel.faults.limits import WAIT_S_MAX
from kernel.faults.plan import PlanInvalid
from kernel.faults.points import FAMILY_OF
from kernel.faults.reading import read_plan
from kernel.limits import CONTROL_BODY_BYTES_MAX
from kernel.settings import is_loopback
from kernel.trace import json_lines, trace_events
from kernel.wire import Answer, Exchange, Request, Response, Route, json_response

if TYPE_CHECKING:
    from kernel.clock import SystemClock
    from kernel.faults.trigger import Trigger
    from kernel.plugin_routes import Authorize
    from kernel.siyuan.kernel import SiyuanKernel

PREFIX: Final = "/emulator"
# The clock jumps at most this far in one request: a year.
ADVANCE_MS_MAX: Final = 366 * 24 * 3600 * 1000
Told = dict[str, Any] | Response
Control = Callable[[Request], Awaitable[Told]]


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
                ("faults/points", {"GET": self._points}),
                ("faults/release", {"POST": self._release}),
                ("faults/wait", {"POST": self._wait}),
                ("clock", {"GET": self._time, "POST": self._advance}),
                ("trace", {"GET": self._trace, "POST": self._switch_trace}),
            ]
        for name, methods in controls:
            handler = _guarded(methods, authorize)
            path = f"{PREFIX}/{name}"
            yield Route(
                path, frozenset(methods), handler, CONTROL_BODY_BYTES_MAX, surface="plugin", has_fault_points=False
            )

    async def _unserved(self, request: Request) -> Told:
        return {"unserved": dict(sorted(self._kernel.unserved.items()))}

    # --- faults ---

    async def _faults(self, request: Request) -> Told:
        rules = self._trigger.plan.describe()
        for rule in rules:
            rule["held"] = self._trigger.held(str(rule.get("name", "")))
        return {"rules": rules}

    async def _add_faults(self, request: Request) -> Told:
        """Add the rules of a plan (JSON, or TOML if the type says so) to those in force; all of them, or none."""
        form = "toml" if "toml" in (request.headers.get("content-type") or "") else "json"
        try:
            rules = read_plan(request.body.decode("utf-8"), "toml" if form == "toml" else "json")
            self._trigger.check(rules)
            self._trigger.plan.extend(rules)
        except (PlanInvalid, UnicodeDecodeError) as error:
            raise ControlRefused(str(error)) from None
        return {"added": len(rules)}

    async def _clear_faults(self, request: Request) -> Told:
        self._trigger.plan.clear()
        return {"rules": []}

    async def _points(self, request: Request) -> Told:
        """Every point with the deeds that make sense there."""
        points = {
            point: [deed.name for deed in DEEDS.values() if family in deed.families]
            for point, family in FAMILY_OF.items()
        }
        return {"points": points}

    async def _release(self, request: Request) -> Told:
        return {"released": self._trigger.release(_name(request, 'release takes {"name": "…"}: the name of a hold'))}

    async def _wait(self, request: Request) -> Told:
        """Answer once the rules of a name have struck so often, or when the patience is over."""
        takes = f'wait takes {{"name": "…", "count": 1, "timeout_ms": 0 … {WAIT_S_MAX * 1000:.0f}}}'
        name, told = _name(request, takes), _object(request)
        count, timeout_ms = told.get("count", 1), told.get("timeout_ms", WAIT_S_MAX * 1000)
        if not _is_number(count, 1, 10**9) or not _is_number(timeout_ms, 0, WAIT_S_MAX * 1000):
            raise ControlRefused(takes)
        with trio.move_on_after(timeout_ms / 1000):
            await self._trigger.wait_struck(name, count)
        struck = self._trigger.plan.struck(name)
        return {"reached": struck >= count, "struck": struck, "held": self._trigger.held(name)}

    # --- clock ---

    async def _time(self, request: Request) -> Told:
        return {"wallMs": self._clock.wall_ms()}

    async def _advance(self, request: Request) -> Told:
        advance_ms = _object(request).get("advance_ms")
        if not isinstance(advance_ms, int) or isinstance(advance_ms, bool) or not 0 <= advance_ms <= ADVANCE_MS_MAX:
            raise ControlRefused(f'the clock takes {{"advance_ms": 0 … {ADVANCE_MS_MAX}}}')
        self._clock.advance(advance_ms / 1000)
        return {"wallMs": self._clock.wall_ms()}

    # --- trace ---

    async def _trace(self, request: Request) -> Told:
        """The trace from event ``since`` on: JSON lines, or ``format=perfetto``."""
        query = parse_qs(request.query)
        form, since = query.get("format", ["jsonl"])[0], query.get("since", ["0"])[0]
        if form not in ("jsonl", "perfetto") or not since.isdecimal():
            raise ControlRefused("trace takes format=jsonl|perfetto and since=<event number>")
        events = self._trigger.trace.events(int(since))
        if form == "perfetto":
            return json_response(200, msgspec.json.encode(trace_events(events)))
        dropped = ("X-Trace-Dropped", str(self._trigger.trace.dropped))
        return Response(200, (("Content-Type", "application/x-ndjson"), dropped), json_lines(events))

    async def _switch_trace(self, request: Request) -> Told:
        is_on = _object(request).get("on")
        if not isinstance(is_on, bool):
            raise ControlRefused('trace takes {"on": true or false}')
        self._trigger.trace.is_on = is_on
        return {"on": is_on, "events": self._trigger.trace.count, "dropped": self._trigger.trace.dropped}


def _object(request: Request) -> dict[str, Any]:
    try:
        return msgspec.json.decode(request.body or b"{}", type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise ControlRefused(f"the body is not a JSON object: {error}") from None


def _name(request: Request, takes: str) -> str:
    name = _object(request).get("name", "")
    if not isinstance(name, str):
        raise ControlRefused(takes)
    return name


def _is_number(value: Any, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _guarded(methods: Mapping[str, Control], authorize: Authorize) -> Callable[[Exchange], Awaitable[Answer]]:
    async def handle(exchange: Exchange) -> Answer:
        request = exchange.request
        if not is_loopback(request.peer):
            return Response(403, (("Content-Type", "text/plain"),), b"loopback only")
        refusal = authorize(request)
        if refusal is not None:
            return refusal
        try:
            told = await methods[request.method](request)
        except ControlRefused as error:
            return json_response(400, msgspec.json.encode({"error": {"code": "invalid", "message": str(error)}}))
        return told if isinstance(told, Response) else json_response(200, msgspec.json.encode(told))

    return handle
