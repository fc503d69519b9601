"""What happened, in order, in a bounded ring: admissions, lanes, cancels, commits, host calls, faults and answers.

A leaf: whoever has something to tell asks ``trace.is_on`` first, which is all that a kernel without a laboratory pays.
Two forms to read it in: JSON lines, and the Trace Event format of Perfetto and browsers, with one track per lane slot.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

# Events kept; older ones make room and are counted.
TRACE_EVENTS_MAX: Final = 100_000
_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Event:
    """One event. ``at_s``: monotonic seconds; ``facts``: JSON values, ``ticket`` names the call where there is one."""

    number: int
    at_s: float
    kind: str
    facts: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"n": self.number, "at": round(self.at_s, 6), "kind": self.kind, **self.facts}


class Trace:
    """The ring. ``is_on`` may be switched at any time."""

    __slots__ = ("_events", "_listener", "_now", "count", "is_on")

    def __init__(
        self,
        now: Callable[[], float],
        *,
        is_on: bool = True,
        events_max: int = TRACE_EVENTS_MAX,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        self._now = now
        self._listener = listener
        self._events: deque[Event] = deque(maxlen=events_max)
        self.count = 0
        self.is_on = is_on

    @property
    def dropped(self) -> int:
        """How many events have made room for younger ones."""
        return self.count - len(self._events)

    def record(self, kind: str, /, **facts: Any) -> None:
        """Keep one event; nothing while the trace is off."""
        if self.is_on:
            event = Event(self.count, self._now(), kind, facts)
            self._events.append(event)
            self.count += 1
            if self._listener is not None:
                self._listener(event)

    def events(self, since: int = 0) -> list[Event]:
        """The events from number ``since`` on that are still kept."""
        return [event for event in self._events if event.number >= since]


NO_TRACE: Final = Trace(lambda: 0.0, is_on=False, events_max=1)


def json_lines(events: Iterable[Event]) -> bytes:
    """One JSON object a line."""
    return b"".join(json.dumps(event.as_json(), ensure_ascii=False).encode() + b"\n" for event in events)


# --- Trace Event format --------------------------------------------------------------------------------------------

_PROCESS: Final = 1
_WAITING_TRACK: Final = 90
_HTTP_TRACK: Final = 91
_LANE_BASE: Final = {"mutation": 1, "read": 10}


@dataclass(slots=True)
class _Slots:
    """Which slot of its lane a ticket occupies: the lowest free one, as a reader would draw it."""

    taken: dict[int, str] = field(default_factory=dict)
    of_ticket: dict[int, int] = field(default_factory=dict)

    def take(self, ticket: int, lane: str) -> int:
        track = _LANE_BASE.get(lane, 50)
        while track in self.taken:
            track += 1
        self.taken[track] = lane
        self.of_ticket[ticket] = track
        return track

    def release(self, ticket: int) -> int | None:
        track = self.of_ticket.pop(ticket, None)
        if track is not None:
            self.taken.pop(track, None)
        return track


def trace_events(events: Iterable[Event]) -> dict[str, Any]:
    """The trace as a Trace Event document: slots as tracks, host calls inside them, waiting and HTTP beside them."""
    drawing = _Drawing()
    for event in events:
        drawing.take(event)
    return {"traceEvents": [*drawing.names(), *drawing.drawn, *drawing.open_ends()], "displayTimeUnit": "ms"}


class _Drawing:
    def __init__(self) -> None:
        self.drawn: list[dict[str, Any]] = []
        self._slots = _Slots()
        self._tracks: dict[int, str] = {_WAITING_TRACK: "waiting", _HTTP_TRACK: "HTTP"}
        self._began: dict[tuple[str, Any], tuple[float, int, str, dict[str, Any]]] = {}
        self._labels: dict[int, str] = {}
        self._in_flight = 0
        self._last_us = 0.0

    def take(self, event: Event) -> None:
        at_us, facts = event.at_s * _US, event.facts
        self._last_us = at_us
        ticket = facts.get("ticket")
        match event.kind:
            case "admitted":
                self._labels[ticket or 0] = str(facts.get("label", ""))
                self._count(at_us, 1)
            case "queued":
                self._async("b", at_us, ticket, _WAITING_TRACK, f"{self._name(ticket)} waits")
            case "started":
                self._start(at_us, int(ticket or 0), str(facts.get("lane")))
            case "slot_released":
                self._end(("slot", ticket), at_us)
                self._slots.release(int(ticket or 0))
            case "finished":
                self._finish(at_us, ticket, facts)
            case "host_call":
                track = self._slots.of_ticket.get(ticket or 0, _WAITING_TRACK)
                self._began[("host", facts.get("call"))] = (at_us, track, str(facts.get("path")), dict(facts))
            case "host_answer":
                self._end(("host", facts.get("call")), at_us, outcome=facts.get("outcome"))
            case "request":
                self._async("b", at_us, facts.get("exchange"), _HTTP_TRACK, _request_name(facts))
            case "answer":
                self._async("e", at_us, facts.get("exchange"), _HTTP_TRACK, _request_name(facts), facts)
            case _:
                self._instant(at_us, event.kind, ticket, facts)

    def names(self) -> Iterator[dict[str, Any]]:
        yield {"ph": "M", "pid": _PROCESS, "tid": 0, "name": "process_name", "args": {"name": "sisyphus kernel"}}
        for track, name in sorted(self._tracks.items()):
            yield {"ph": "M", "pid": _PROCESS, "tid": track, "name": "thread_name", "args": {"name": name}}
            yield {"ph": "M", "pid": _PROCESS, "tid": track, "name": "thread_sort_index", "args": {"sort_index": track}}

    def open_ends(self) -> Iterator[dict[str, Any]]:
        """What had begun and not ended when the trace was read."""
        for at_us, track, name, facts in self._began.values():
            yield _slice(at_us, self._last_us, track, name, {**facts, "open": True})

    def _start(self, at_us: float, ticket: int, lane: str) -> None:
        self._async("e", at_us, ticket, _WAITING_TRACK, f"{self._name(ticket)} waits")
        track = self._slots.take(ticket, lane)
        self._tracks.setdefault(track, f"{lane} slot {track - _LANE_BASE.get(lane, 50) + 1}")
        self._began[("slot", ticket)] = (at_us, track, self._name(ticket), {"ticket": ticket})

    def _finish(self, at_us: float, ticket: Any, facts: dict[str, Any]) -> None:
        self._count(at_us, -1)
        if ticket in self._slots.of_ticket:
            # A ticket in a slot has a run that is being drawn: both begin and end together.
            self._began[("slot", ticket)][3]["state"] = facts.get("state")
        else:
            self._async("e", at_us, ticket, _WAITING_TRACK, f"{self._name(ticket)} waits")

    def _end(self, key: tuple[str, Any], at_us: float, **facts: Any) -> None:
        began = self._began.pop(key, None)
        if began is not None:
            start_us, track, name, known = began
            self.drawn.append(_slice(start_us, at_us, track, name, {**known, **facts}))

    def _async(
        self, phase: str, at_us: float, number: Any, track: int, name: str, facts: dict[str, Any] | None = None
    ) -> None:
        self.drawn.append(
            {
                "ph": phase,
                "cat": self._tracks[track],
                "id": str(number),
                "pid": _PROCESS,
                "tid": track,
                "ts": at_us,
                "name": name,
                "args": facts or {},
            }
        )

    def _instant(self, at_us: float, kind: str, ticket: Any, facts: dict[str, Any]) -> None:
        track = self._slots.of_ticket.get(ticket or 0, _WAITING_TRACK)
        name = f"{kind} {facts['point']}" if "point" in facts else kind
        self.drawn.append(
            {"ph": "i", "s": "t", "pid": _PROCESS, "tid": track, "ts": at_us, "name": name, "args": dict(facts)}
        )

    def _count(self, at_us: float, change: int) -> None:
        self._in_flight = max(0, self._in_flight + change)
        counted = {"in flight": self._in_flight}
        self.drawn.append({"ph": "C", "pid": _PROCESS, "tid": 0, "ts": at_us, "name": "admitted", "args": counted})

    def _name(self, ticket: Any) -> str:
        return f"{self._labels.get(ticket or 0) or 'call'} #{ticket}"


def _slice(start_us: float, end_us: float, track: int, name: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": track,
        "ts": start_us,
        "dur": max(0.0, end_us - start_us),
        "name": name,
        "args": facts,
    }


def _request_name(facts: dict[str, Any]) -> str:
    words = (facts.get("rpc") or facts.get("method"), facts.get("tool") or facts.get("path"), facts.get("action"))
    return " ".join(str(word) for word in words if word)
