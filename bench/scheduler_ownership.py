"""Who should own a running call? The cost per call of each answer, on this machine (docs/adr/0001).

    python bench/scheduler_ownership.py [--calls 20000] [--repeat 5]

Each caller makes calls of a work that returns at once, and takes one checkpoint between two calls, as a connection does.
The figure is the best of ``repeat`` rounds, in microseconds per call; "bare" is the loop with nothing in it.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Awaitable, Callable

import outcome
import trio
import trio.testing

from scheduler import Lane, Scheduler, Ticket, open_scheduler

Call = Callable[[], Awaitable[object]]


async def work(_ticket: Ticket | None = None) -> int:
    return 1


def refuse(_raise_cancel: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
    return trio.lowlevel.Abort.FAILED


# --- the candidates, reduced to the question: whose task runs the work? ---


async def bare() -> int:
    return await work()


async def in_a_scope_of_its_caller() -> int:
    with trio.CancelScope():
        return await work()


def in_a_task_of_its_own(nursery: trio.Nursery, *, with_scope: bool) -> Call:
    async def run(caller: trio.lowlevel.Task) -> None:
        if with_scope:
            with trio.CancelScope(shield=True):
                value = await work()
        else:
            value = await work()
        trio.lowlevel.reschedule(caller, outcome.Value(value))

    async def call() -> object:
        nursery.start_soon(run, trio.lowlevel.current_task())
        return await trio.lowlevel.wait_task_rescheduled(refuse)

    return call


def in_a_reused_task(nursery: trio.Nursery, tasks: int) -> Call:
    idle: list[trio.lowlevel.Task] = []
    waiting: deque[trio.lowlevel.Task] = deque()

    async def serve() -> None:
        me = trio.lowlevel.current_task()
        while True:
            if waiting:
                caller = waiting.popleft()
            else:
                idle.append(me)
                caller = await trio.lowlevel.wait_task_rescheduled(lambda _raise: trio.lowlevel.Abort.SUCCEEDED)
            trio.lowlevel.reschedule(caller, outcome.Value(await work()))

    for _ in range(tasks):
        nursery.start_soon(serve)

    async def call() -> object:
        me = trio.lowlevel.current_task()
        if idle:
            trio.lowlevel.reschedule(idle.pop(), outcome.Value(me))
        else:
            waiting.append(me)
        return await trio.lowlevel.wait_task_rescheduled(refuse)

    return call


# --- the scheduler as it is, bookkeeping included ---


def performed(scheduler: Scheduler) -> Call:
    async def call() -> object:
        with scheduler.admit(None) as ticket:
            return await scheduler.perform(ticket, Lane.READ, work)

    return call


def performed_inline(scheduler: Scheduler) -> Call:
    async def work(_ticket: Ticket) -> object:
        return 1

    async def call() -> object:
        with scheduler.admit(None) as ticket:
            return await scheduler.perform_inline(ticket, Lane.READ, work)

    return call


async def microseconds(call: Call, *, callers: int, calls: int) -> float:
    async def caller() -> None:
        for _ in range(calls // callers):
            await call()
            await trio.lowlevel.checkpoint()

    begun = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(callers):
            nursery.start_soon(caller)
    return (time.perf_counter() - begun) / calls * 1e6


async def main(calls: int, repeat: int) -> None:
    callers = (1, 16)
    async with trio.open_nursery() as nursery, open_scheduler() as scheduler:
        candidates: dict[str, Call] = {
            "bare": bare,
            "caller's task, a scope per call": in_a_scope_of_its_caller,
            "reused task per slot": in_a_reused_task(nursery, 4),
            "task per call": in_a_task_of_its_own(nursery, with_scope=False),
            "task and scope per call": in_a_task_of_its_own(nursery, with_scope=True),
            "Scheduler.perform_inline": performed_inline(scheduler),
            "Scheduler.perform": performed(scheduler),
        }
        await trio.testing.wait_all_tasks_blocked()
        best = {(name, count): float("inf") for name in candidates for count in callers}
        for _ in range(repeat):  # interleaved, so that a busy moment of the machine hits all alike
            for (name, count), before in best.items():
                found = await microseconds(candidates[name], callers=count, calls=calls)
                best[name, count] = min(before, found)
        nursery.cancel_scope.cancel()
    print(f"{'µs per call':34}" + "".join(f"{f'{count} callers':>12}" for count in callers))
    for name in candidates:
        print(f"{name:34}" + "".join(f"{best[name, count]:12.1f}" for count in callers))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    trio.run(main, arguments.calls, arguments.repeat)
