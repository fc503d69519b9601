"""What all connections of one server share: the resolver, the clock, the bounds and what is left of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import trio

from kernel.clock import Clock
from kernel.faults.trigger import NO_FAULTS, Trigger
from kernel.http import limits
from kernel.http.exchange import HeadCache
from kernel.http.router import Resolver
from kernel.http.turnstile import Turnstile
from kernel.limits import CONNECTIONS_MAX


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one server; the defaults are those of ``kernel.http.limits``, tests take smaller ones."""

    head_s_max: float = limits.HEAD_S_MAX
    idle_s_max: float = limits.IDLE_S_MAX
    body_grace_s_max: float = limits.BODY_GRACE_S_MAX
    body_bytes_per_s_min: int = limits.BODY_BYTES_PER_S_MIN
    bodies_bytes_max: int = limits.BODIES_BYTES_MAX
    skipped_body_bytes_max: int = limits.SKIPPED_BODY_BYTES_MAX
    send_stall_s_max: float = limits.SEND_STALL_S_MAX
    answers_owed_bytes_max: int = limits.ANSWERS_OWED_BYTES_MAX
    connections_max: int = CONNECTIONS_MAX
    websocket_message_bytes_max: int = limits.WEBSOCKET_MESSAGE_BYTES_MAX


class BodiesFull(Exception):
    """All bodies together would pass the bound (503)."""


@dataclass(slots=True)
class BodyBudget:
    """How many body bytes are being held, over all connections."""

    bytes_max: int
    held_bytes: int = 0

    def hold(self, size_bytes: int) -> None:
        """Raises BodiesFull, and then holds nothing."""
        if self.held_bytes + size_bytes > self.bytes_max:
            raise BodiesFull
        self.held_bytes += size_bytes

    def release(self, size_bytes: int) -> None:
        assert size_bytes <= self.held_bytes, "more body bytes given back than taken"
        self.held_bytes -= size_bytes


class SlowReader(Protocol):
    """A connection whose peer does not take its answer as fast as it is sent."""

    def give_way(self) -> None:
        """Abort it."""
        ...


@dataclass(slots=True)
class OwedAnswers:
    """What slow readers have still to take, over all connections: a reader that takes a byte now and then would keep
    its answer in memory as long as it likes."""

    bytes_max: int
    owed_bytes: int = 0
    _readers: dict[SlowReader, int] = field(default_factory=dict)

    def take(self, reader: SlowReader, size_bytes: int) -> None:
        """``reader`` owes that much from now on. Past the bound the others give way, the longest waiting first."""
        self._readers[reader] = size_bytes
        self.owed_bytes += size_bytes
        while self.owed_bytes > self.bytes_max and len(self._readers) > 1:
            longest = next(iter(self._readers))
            self.give_back(longest)
            longest.give_way()

    def give_back(self, reader: SlowReader) -> None:
        """It has taken all, or is gone."""
        self.owed_bytes -= self._readers.pop(reader, 0)


@dataclass(slots=True)
class Services:
    """One per server."""

    resolve: Resolver
    clock: Clock
    nursery: trio.Nursery
    limits: Limits
    budget: BodyBudget
    now: Callable[[], float]  # Trio's clock: what deadlines are told by
    turnstile: Turnstile
    owed: OwedAnswers
    trigger: Trigger = NO_FAULTS
    heads: HeadCache = field(default_factory=HeadCache)
    # Set once the server stops: every further answer ends its connection.
    draining: trio.Event = field(default_factory=trio.Event)
