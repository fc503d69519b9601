"""Turns of the event loop: what was looked up in a turn need not be looked up again in it.

One turn is one wait for sockets and everything it woke. A request that is served in a turn had begun to arrive before
that turn began, so what was read from the disk since then is as fresh as its own look would be.
"""

from __future__ import annotations

import trio


class Turns(trio.abc.Instrument):
    """Counts them. Install it with ``trio.lowlevel.add_instrument``; without that the number stays 0 and says nothing."""

    def __init__(self) -> None:
        self.number = 0

    def after_io_wait(self, timeout: float) -> None:
        self.number += 1
