"""The trace: a bounded ring, off for nothing, and the form that Perfetto opens."""

from __future__ import annotations

import json
from itertools import count, pairwise
from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked

from kernel.emulator.tracing import scheduler_observer
from kernel.trace import NO_TRACE, Trace, json_lines, trace_events
from scheduler import Lane, RequestCancelled, Scheduler, Ticket, open_scheduler


def ticking(events_max: int = 1000) -> Trace:
    numbers = count()
    return Trace(lambda: next(numbers) / 1000, events_max=events_max)


def test_the_ring_keeps_the_youngest_and_counts_the_rest() -> None:
    trace = ticking(3)
    for number in range(3):
        trace.record("x", number=number)
    assert (trace.dropped, len(trace.events())) == (0, 3)
    trace.record("x", number=3)
    assert (trace.dropped, [event.number for event in trace.events()]) == (1, [1, 2, 3])
    assert [event.number for event in trace.events(since=3)] == [3]
    lines = [json.loads(line) for line in json_lines(trace.events()).splitlines()]
    assert lines[-1] == {"n": 3, "at": 0.003, "kind": "x", "number": 3}


def test_a_trace_that_is_off_keeps_nothing() -> None:
    NO_TRACE.record("x")
    trace = ticking()
    trace.is_on = False
    trace.record("x")
    assert trace.events() == NO_TRACE.events() == []


async def storm(scheduler: Scheduler, calls: int) -> None:
    """So many reads at once; half of them are cancelled while they wait or run."""
    release = trio.Event()

    async def work(ticket: Ticket) -> None:
        await release.wait()

    async def call(number: int) -> None:
        with scheduler.admit(number, session="s", label="block.read") as ticket:
            try:
                await scheduler.perform(ticket, Lane.READ, work)
            except RequestCancelled:
                return

    async with trio.open_nursery() as nursery:
        for number in range(calls):
            nursery.start_soon(call, number)
        await wait_all_tasks_blocked()
        for number in range(0, calls, 2):
            scheduler.cancel("s", number)
        release.set()


async def traced_storm(calls: int = 12) -> list[dict[str, Any]]:
    trace = ticking()
    async with open_scheduler(observer=scheduler_observer(trace)) as scheduler:
        await storm(scheduler, calls)
    return list(trace_events(trace.events())["traceEvents"])


async def test_every_lane_slot_is_a_track_and_no_two_runs_share_one_at_a_time() -> None:
    drawn = await traced_storm()
    names = {event["tid"]: event["args"]["name"] for event in drawn if event["name"] == "thread_name"}
    slices = [event for event in drawn if event["ph"] == "X"]
    assert {names[event["tid"]] for event in slices} == {f"read slot {number}" for number in range(1, 5)}
    for track in {event["tid"] for event in slices}:
        runs = sorted((event["ts"], event["ts"] + event["dur"]) for event in slices if event["tid"] == track)
        assert all(first[1] <= second[0] for first, second in pairwise(runs))


async def test_what_waits_begins_and_ends_and_the_count_comes_back_to_nought() -> None:
    drawn = await traced_storm()
    waits = [(event["ph"], event["id"]) for event in drawn if event["ph"] in "be"]
    assert sorted(waits) == sorted((phase, str(number)) for number in range(1, 13) for phase in "be")
    counted = [event["args"]["in flight"] for event in drawn if event["ph"] == "C"]
    assert (max(counted), counted[-1]) == (12, 0)
    cancels = [event for event in drawn if event["ph"] == "i" and event["name"] == "cancel_requested"]
    assert len(cancels) == 6


def test_host_calls_lie_in_their_slot_and_what_has_not_ended_is_marked() -> None:
    trace = ticking()
    trace.record("admitted", ticket=1, label="fs.read")
    trace.record("queued", ticket=1, lane="mutation")
    trace.record("started", ticket=1, lane="mutation")
    trace.record("host_call", ticket=1, call=7, path="/api/x")
    trace.record("host_answer", ticket=1, call=7, path="/api/x", outcome="ok")
    trace.record("committing", ticket=1)
    trace.record("host_call", ticket=1, call=8, path="/api/y")
    trace.record("request", exchange=1, method="POST", path="/mcp", rpc="tools/call", tool="fs", action="read")
    drawn = trace_events(trace.events())["traceEvents"]
    slices = {event["name"]: event for event in drawn if event["ph"] == "X"}
    assert {event["tid"] for event in slices.values()} == {1}
    assert (slices["/api/x"]["dur"], slices["/api/x"]["args"]["outcome"]) == (1000.0, "ok")
    assert slices["/api/y"]["args"]["open"] is True
    assert slices["fs.read #1"]["args"]["open"] is True
    assert any(event["ph"] == "b" and event["name"] == "tools/call fs read" for event in drawn)
    json.dumps(drawn)


def test_what_ends_without_having_begun_is_drawn_by_what_is_known() -> None:
    """A trace may be switched on in the middle of calls, and its oldest events make room."""
    trace = ticking()
    trace.record("finished", ticket=3, state="FINISHED")
    trace.record("slot_released", ticket=3)
    trace.record("host_answer", call=9, outcome="ok")
    trace.record("answer", exchange=4, status=200)
    trace.record("fault", point="write.commit.begun", do="fail", ticket=3)
    trace.record("started", ticket=5, lane="other")
    drawn = trace_events(trace.events())["traceEvents"]
    told = [(event["ph"], event["name"], event["tid"]) for event in drawn if event["ph"] != "M"]
    assert told == [
        ("C", "admitted", 0),
        ("e", "call #3 waits", 90),
        ("e", "", 91),
        ("i", "fault write.commit.begun", 90),
        ("e", "call #5 waits", 90),
        ("X", "call #5", 50),
    ]
    assert [event["args"] for event in drawn if event["ph"] == "C"] == [{"in flight": 0}]
    assert {"other slot 1", "waiting", "HTTP"} == {
        event["args"]["name"] for event in drawn if event["name"] == "thread_name"
    }


def test_a_listener_hears_each_event_as_it_happens() -> None:
    heard: list[str] = []
    trace = Trace(lambda: 0.5, listener=lambda event: heard.append(event.kind))
    trace.record("x")
    trace.is_on = False
    trace.record("y")
    assert heard == ["x"]
    assert (NO_TRACE.count, trace.count) == (0, 1)


def test_an_ended_call_carries_its_state() -> None:
    trace = ticking()
    trace.record("started", ticket=1, lane="read")
    trace.record("finished", ticket=1, state="CANCELLED")
    trace.record("slot_released", ticket=1)
    (run,) = [event for event in trace_events(trace.events())["traceEvents"] if event["ph"] == "X"]
    assert (run["tid"], run["args"]) == (10, {"ticket": 1, "state": "CANCELLED"})
