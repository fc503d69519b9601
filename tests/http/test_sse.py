"""Event streams: framing, bounded backlogs, keep-alive, and publishers that never wait."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, assert_no_checkpoints, wait_all_tasks_blocked

from kernel.http.sse import KEEP_ALIVE, EventStream, Fanout, frame_event
from kernel.wire import ClientGone, RecordedWriter


@pytest.mark.parametrize(
    ("options", "data", "expected"),
    [
        ({}, "a", b"data:a\n\n"),
        ({}, "", b"data:\n\n"),
        ({}, "a\nb\r\nc\rd", b"data:a\ndata:b\ndata:c\ndata:d\n\n"),
        ({"event": "message", "id": "7", "retry_ms": 10}, "{}", b"id:7\nevent:message\nretry:10\ndata:{}\n\n"),
    ],
)
def test_an_event_is_framed_once(options: dict[str, object], data: str, expected: bytes) -> None:
    assert frame_event(data, **options) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\0"])
def test_names_cannot_smuggle_fields(value: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        frame_event("", event=value)


async def test_what_waits_goes_out_in_one_piece_and_in_order() -> None:
    stream, writer = EventStream(), RecordedWriter()
    with assert_no_checkpoints():
        for number in range(3):
            stream.publish(b"%d" % number)
    stream.end()
    await stream.produce(writer)
    assert writer.sent == [b"012"]
    assert not stream.is_open


async def test_events_are_sent_as_they_come(nursery: trio.Nursery) -> None:
    stream, writer = EventStream(), RecordedWriter()
    nursery.start_soon(stream.produce, writer)
    for number in range(3):
        await wait_all_tasks_blocked()
        stream.publish(b"%d" % number)
    await wait_all_tasks_blocked()
    assert writer.sent == [b"0", b"1", b"2"]
    stream.end()


async def test_a_silent_stream_says_that_it_lives(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    stream, writer = EventStream(keep_alive_s=15), RecordedWriter()
    nursery.start_soon(stream.produce, writer)
    await trio.sleep(31)
    assert writer.sent == [KEEP_ALIVE] * 2
    stream.end()


class StuckWriter:
    """A reader that takes nothing."""

    async def send(self, data: bytes) -> None:
        await trio.sleep_forever()


@pytest.mark.parametrize("bound", [{"events_max": 3}, {"bytes_max": 3}])
async def test_a_reader_that_falls_behind_is_cut_one_past_the_bound(
    bound: dict[str, int], nursery: trio.Nursery
) -> None:
    stream = EventStream(**bound)  # type: ignore[arg-type]
    outcome: list[type[Exception]] = []

    async def produce() -> None:
        try:
            await stream.produce(StuckWriter())
        except ClientGone:
            outcome.append(ClientGone)

    nursery.start_soon(produce)
    stream.publish(b"0")
    await wait_all_tasks_blocked()  # it is being sent, and stays so
    for _ in range(3):
        stream.publish(b"x")
    assert stream.is_open
    stream.publish(b"x")
    assert stream.is_cut
    stream.publish(b"x")
    await wait_all_tasks_blocked()
    assert outcome == [ClientGone]


async def test_a_fanout_forgets_the_cut_and_serves_the_rest() -> None:
    fanout = Fanout()
    slow, quick = EventStream(events_max=1), EventStream()
    fanout.add(slow)
    fanout.add(quick)
    assert fanout.publish(b"1") == 2
    assert fanout.publish(b"2") == 1
    assert len(fanout) == 1
    fanout.remove(slow)
    fanout.end()
    writer = RecordedWriter()
    await quick.produce(writer)
    assert writer.sent == [b"12"]
    assert len(fanout) == 0


def test_the_answer_of_a_stream_forbids_buffering() -> None:
    headers = dict(EventStream().response((("A", "b"),)).headers)
    assert headers["Content-Type"] == "text/event-stream"
    assert "no-cache" in headers["Cache-Control"]
    assert headers["X-Accel-Buffering"] == "no"
    assert headers["A"] == "b"
