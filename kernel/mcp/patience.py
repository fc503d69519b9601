"""One clockwork for all waiting POSTs: most calls end before anybody needs to look at their client.

Watching a connection and a timer per request would cost more than a small call itself. So a POST first only waits; the
one sweeping task wakes it when it has waited long enough to be watched, and again when its silence is to be broken.
"""

from __future__ import annotations

from math import inf
from typing import Final

import trio

from kernel.mcp.channel import PostChannel
from kernel.mcp.limits import SILENCE_S, UNWATCHED_S

_TICK_S: Final = UNWATCHED_S / 2


class Patience:
    """The waiting channels and since when. Run ``run`` in a long-lived nursery."""

    def __init__(self) -> None:
        self._since: dict[PostChannel, float] = {}
        self._arrived: trio.Event | None = None
        self._now = 0.0  # as of the last sweep: nobody here needs it better than a tick
        self._is_young = False  # somebody waits whose connection is not watched yet

    def __len__(self) -> int:
        return len(self._since)

    def enter(self, channel: PostChannel) -> None:
        if self._arrived is not None:
            self._now = trio.current_time()
            self._arrived.set()
            self._arrived = None
        self._since[channel] = self._now
        self._is_young = True

    def leave(self, channel: PostChannel) -> None:
        self._since.pop(channel, None)

    async def run(self) -> None:
        """Sweep while anybody has just begun to wait; otherwise sleep until somebody comes, or has waited long enough."""
        due = inf
        while True:
            if not self._is_young:
                self._arrived = trio.Event()
                with trio.move_on_at(due):
                    await self._arrived.wait()
                self._arrived = None
            if self._is_young:
                await trio.sleep(_TICK_S)
            self._now = trio.current_time()
            due = self._sweep(self._now)

    def _sweep(self, now: float) -> float:
        """Wake those whose time has come; when the next one's patience ends."""
        self._is_young, due = False, inf
        for channel, since in self._since.items():
            ends = since + SILENCE_S
            if now >= ends:  # compared as it is slept for: a difference could be rounded to less, for ever
                channel.lose_patience()
                continue
            due = min(due, ends)
            if now - since >= UNWATCHED_S:
                channel.ask_for_watch()
            else:
                self._is_young = True
        return due
