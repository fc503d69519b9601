"""From a started tools/call to the HTTP answer: JSON if the answer comes first, else a stream. Awaits."""

from __future__ import annotations

from collections.abc import Callable

import trio

from kernel.mcp.answers import EVENT_HEADERS, answer
from kernel.mcp.calls import Call
from kernel.mcp.channel import PostChannel
from kernel.mcp.heads import Head
from kernel.mcp.patience import Patience
from kernel.wire import Exchange, Response, StreamResponse, StreamWriter


async def await_answer(
    exchange: Exchange, head: Head, call: Call, patience: Patience, cancel: Callable[[], None] | None
) -> Response | StreamResponse:
    """Wait for the call's channel. ``cancel``: what the client's departure does (None: nothing)."""
    told = await await_answer_for(None, exchange, head, call, patience, cancel)
    assert told is not None, "only who waits for a time can come away empty"
    return told


async def await_answer_for(
    for_s: float | None,
    exchange: Exchange,
    head: Head,
    call: Call,
    patience: Patience,
    cancel: Callable[[], None] | None,
) -> Response | StreamResponse | None:
    """``await_answer``, but no longer than ``for_s`` without any news: then None, and the call goes on.

    A call that asks its client in a task is not waited for: only as a task can it be answered.
    """
    channel = call.channel
    if call.is_performed:
        # What is being written is bounded, and shorter than anybody's patience: nobody needs to look after this wait.
        await channel.wait()
        if (message := channel.answer) is not None:
            return answer(head, message, channel.status)
    try:
        if for_s is None:
            await _await_news(exchange, channel, patience, cancel)
        else:
            with trio.move_on_after(for_s) as scope:
                if channel.inputs is not None:
                    channel.inputs.on_change = scope.cancel
                    if channel.inputs.requests:
                        scope.cancel()
                await _await_news(exchange, channel, patience, cancel)
            if scope.cancelled_caught and not channel.has_news:
                return None
    except trio.Cancelled:
        # The server ends, and the connection with it: nobody will read the answer.
        if cancel is not None:
            cancel()
        raise
    if channel.inputs is not None:
        channel.inputs.close()  # from here on it is a stream: nobody could name a task
    if (message := channel.answer) is not None:
        return answer(head, message, channel.status)

    async def produce(writer: StreamWriter) -> None:
        if cancel is None:
            await channel.produce(writer)
            return
        with exchange.watch_disconnect(cancel):
            await channel.produce(writer)

    return StreamResponse(200, EVENT_HEADERS, produce)


async def _await_news(
    exchange: Exchange, channel: PostChannel, patience: Patience, cancel: Callable[[], None] | None
) -> None:
    patience.enter(channel)
    try:
        if not channel.is_watched:
            await channel.wait()
        if cancel is None:
            while not (channel.has_news or channel.is_impatient):
                await channel.wait()
        elif not channel.has_news:
            with exchange.watch_disconnect(cancel):
                while not (channel.has_news or channel.is_impatient):
                    await channel.wait()
    finally:
        patience.leave(channel)
