"""Calls that are told apart by name, for the scheduler's stories: works that wait, callers that keep what they hear."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import trio
import trio.testing

from scheduler import (
    Lane,
    Scheduler,
    Ticket,
)

settled = trio.testing.wait_all_tasks_blocked


class Hold:
    """A host call that ends when it is told to."""

    def __init__(self) -> None:
        self.entered = 0
        self.release = trio.Event()

    async def __call__(self, ticket: Ticket) -> str:
        self.entered += 1
        await self.release.wait()
        ticket.check_cancelled()
        return f"value {ticket.number}"


class Caller:
    """A task that makes one call and remembers what it heard."""

    def __init__(
        self, scheduler: Scheduler, lane: Lane, work: Callable[[Ticket], Awaitable[Any]], **admission: Any
    ) -> None:
        self.scheduler, self.lane, self.work = scheduler, lane, work
        self.scope = trio.CancelScope()
        self.heard: Any = None
        self.ticket = scheduler.admit(**admission)

    async def __call__(self) -> None:
        with self.scope, self.ticket:
            try:
                self.heard = await self.scheduler.perform(self.ticket, self.lane, self.work)
            except Exception as error:
                self.heard = error


def started(nursery: trio.Nursery, scheduler: Scheduler, lane: Lane, work: Any, **admission: Any) -> Caller:
    caller = Caller(scheduler, lane, work, **admission)
    nursery.start_soon(caller)
    return caller


class Crash(BaseException):
    """The end of the process, as the crash tests play it."""


def returns(value: Any) -> Callable[[Ticket], Awaitable[Any]]:
    async def work(_ticket: Ticket) -> Any:
        return value

    return work
