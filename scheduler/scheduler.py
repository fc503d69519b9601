"""The scheduler: one nursery that owns every run. Decides nothing; the cores decide and it acts on what they return.

Who owns what. The caller's task owns the ticket while it is PREPARING. From its arrival at a lane the ticket belongs to
the scheduler: the work runs in one of the scheduler's slot runners (one task per slot, reused), and the caller only
waits for the answer. That is why a cancelled call can be answered while its host call still runs, why a write survives
its connection, and why an answer may overtake the work when a bound is over. The price is two wake-ups per call, about
5 µs (docs/adr/0001); works that never wait can save it with ``perform_inline``.

A slot runner is shielded. Only the end of the scheduler aborts works, and then only those before their commit boundary.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import trio
from outcome import Error, Outcome, Value

from scheduler.admission import Admission, CancelOutcome
from scheduler.assignment import Slots, assign
from scheduler.commit import CommitBoundary
from scheduler.events import CallerLeft, Observer, report_undelivered
from scheduler.limits import ADMITTED_REQUESTS_MAX, MUTATION_SLOTS, READ_SLOTS, RUNS_PER_STEP_MAX
from scheduler.preparing import Preparing
from scheduler.runner import SlotRunner
from scheduler.statistics import SchedulerStatistics, TicketStatus, scheduler_statistics, ticket_status
from scheduler.ticket import (
    TERMINAL,
    Key,
    Lane,
    LocalProtocolError,
    RequestCancelled,
    Ticket,
    TicketEvent,
    TicketState,
)

T = TypeVar("T")
Work = Callable[[Ticket], Awaitable[T]]


class RunAborted(Exception):
    """The run ended without an outcome of its own: it crashed, and the scheduler with it. What it did is unknown."""


class Scheduler:
    """Admission, two lanes and the commit boundary. Run it with ``open_scheduler`` or ``nursery.start(s.run)``.

    Every method but ``run``, ``perform``, ``perform_inline`` and ``drain`` is synchronous and has no checkpoint.
    """

    def __init__(
        self,
        read_slots: int = READ_SLOTS,
        mutation_slots: int = MUTATION_SLOTS,
        admitted_max: int = ADMITTED_REQUESTS_MAX,
        *,
        observer: Observer | None = None,
    ) -> None:
        self._slots = Slots({Lane.READ: read_slots, Lane.MUTATION: mutation_slots})
        self._admission = Admission(admitted_max=admitted_max, observer=observer)
        self._admission.is_open = False
        self._nursery: trio.Nursery | None = None
        self._runners = [SlotRunner() for _ in range(read_slots + mutation_slots)]
        self._idle = list(self._runners)
        self._is_ended = False
        self._drains = trio.lowlevel.ParkingLot()

    # --- life ---

    async def run(self, *, task_status: trio.TaskStatus[Scheduler] = trio.TASK_STATUS_IGNORED) -> None:
        """Own the runs until cancelled. Then nothing new is admitted, what is before its commit boundary is cancelled
        and aborted, and what is behind it is run to its end before this returns."""
        if self._nursery is not None:
            raise LocalProtocolError("a scheduler runs once")
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for runner in self._runners:
                nursery.start_soon(self._serve_slot, runner, name="scheduler slot")
            self._admission.is_open = True
            task_status.started(self)
            try:
                await trio.sleep_forever()
            finally:
                self._end_nowait()

    def _end_nowait(self) -> None:
        self._is_ended = True
        self._admission.is_open = False
        self._cancel_all(list(self._admission.tickets.values()))
        for runner in self._runners:
            if runner.ticket is None or runner.ticket.state is not TicketState.COMMITTING:
                runner.abort()

    async def drain(self, deadline: float = math.inf) -> bool:
        """Admit nothing more and wait until nothing is in flight; True if that was reached.

        At ``deadline`` (Trio's clock) everything before its commit boundary is cancelled and False is returned at once
        if something is still in flight: a host call that has not ended, or a commit. Drain again to wait for it.
        """
        self._admission.is_open = False
        if self._admission.tickets:
            self._admission.on_empty = self._wake_drains
            with trio.move_on_at(deadline):
                await self._drains.park()
        else:
            await trio.lowlevel.checkpoint()
        self._cancel_all(list(self._admission.tickets.values()))
        return not self._admission.tickets

    # --- requests ---

    def admit(
        self,
        key: Key = None,
        *,
        session: Hashable = None,
        task_id: str | None = None,
        outlives_caller: bool = False,
        label: str = "",
    ) -> Ticket:
        """Admit one request; use the ticket as a context manager.

        ``key`` names it within ``session`` (no session: it has no name); ``task_id`` names it globally.
        ``outlives_caller``: the departure of its caller (its task is cancelled) is not a cancel.

        Raises:
            QueueFull: as many requests as may be are in flight (SchedulerClosed: none are taken). Nothing was executed.
            DuplicateKey: a request of that name is in flight.
        """
        ticket = self._admission.admit(
            key, session=session, task_id=task_id, outlives_caller=outlives_caller, label=label
        )
        ticket.vacate = self._vacate
        return ticket

    def preparing(self, ticket: Ticket) -> Preparing:
        """``with scheduler.preparing(ticket):`` interrupts the block when the ticket is cancelled by name.

        The block then ends in RequestCancelled. Without it a cancel is noticed when ``perform`` is called, which is
        soon enough for a preparation that does not wait.
        """
        return Preparing(ticket)

    async def perform(
        self,
        ticket: Ticket,
        lane: Lane,
        work: Work[T],
        *,
        on_answer: Callable[[Outcome[T]], None] | None = None,
    ) -> T:
        """Queue for a slot of ``lane``, run ``work(ticket)`` in it, and return its value or raise its error.

        Arrival, and the start if a slot is free and nobody waits, happen before the first checkpoint. If the calling
        task is cancelled it leaves at once: the ticket is cancelled too, unless it ``outlives_caller`` or is behind its
        commit boundary; then the work runs on and its value is dropped.

        ``on_answer`` is called exactly once, synchronously, with what the caller is told, whether or not it is still
        there to hear it: for whoever keeps results. It must not raise. The work runs in a task of the scheduler and does not see the
        caller's context variables.

        Raises:
            RequestCancelled: cancelled by name before the commit boundary; nothing was attempted.
            LocalProtocolError: the ticket was performed before.
        """
        self._require_runners()
        try:
            self._admission.enqueue(ticket, lane)
        except RequestCancelled as error:
            if on_answer is not None:
                on_answer(Error(error))
            raise
        ticket.work = work
        ticket.on_answer = on_answer
        self._start_assigned()
        return cast("T", await self._answer(ticket))

    def submit(self, ticket: Ticket, lane: Lane, work: Work[T], *, on_answer: Callable[[Outcome[T]], None]) -> None:
        """``perform`` for a caller that waits for other things too: it hears through ``on_answer`` only, exactly once.

        Raises:
            RequestCancelled: cancelled by name before; ``on_answer`` is not called.
            LocalProtocolError: the ticket was performed before.
        """
        self._require_runners()
        self._admission.enqueue(ticket, lane)
        ticket.work = work
        ticket.on_answer = on_answer
        self._start_assigned()

    def can_start(self, lane: Lane) -> bool:
        """A slot of the lane is free and nobody waits for one: what arrives now starts now."""
        slots = self._slots
        return slots.taken[lane] < slots.counts[lane] and not self._admission.queues[lane]

    async def perform_inline(self, ticket: Ticket, lane: Lane, work: Work[T]) -> T:
        """``perform`` for a work that does not wait: it runs in the calling task if it ``can_start``; otherwise it queues
        as any other.

        No checkpoint lies inside, so no cancel can arrive and no promise of a lane is touched. A work that does wait
        keeps every bound all the same, but nobody can be answered before it: its caller is busy with it.
        """
        if not self.can_start(lane):
            return await self.perform(ticket, lane, work)
        assert self._nursery is not None, "nobody is admitted to a scheduler that does not run"
        self._admission.start_at_once(ticket, lane)
        self._slots.take(lane)
        is_done = False
        try:
            value = await work(ticket)
            is_done = True
        finally:
            self._end_run(ticket, is_done=is_done)
        # A work that cancels its own ticket has been answered by that: the one transition stands.
        ticket.check_cancelled()
        return value

    def boundary(self, ticket: Ticket, *, bound_s: float) -> CommitBoundary:
        """The commit boundary of a running mutation, its work bounded to ``bound_s`` seconds of waiting."""
        nursery = self._require_runners()
        return CommitBoundary(ticket, bound_s=bound_s, nursery=nursery, admission=self._admission, let_go=self._let_go)

    def detach(self, ticket: Ticket) -> None:
        """From now on the departure of its caller does not cancel the ticket."""
        ticket.outlives_caller = True

    # --- cancel ---

    def cancel(self, session: Hashable, key: object) -> CancelOutcome:
        """Cancel by the name the peer gave. ``key`` may be any JSON value: what is no id finds nothing."""
        return self.cancel_ticket(self._admission.find(session, key))

    def cancel_task(self, task_id: str) -> CancelOutcome:
        """Cancel by task id."""
        return self.cancel_ticket(self._admission.find_task(task_id))

    def cancel_ticket(self, ticket: Ticket | None) -> CancelOutcome:
        """Cancel, and answer whoever waits: at once, even if the current host call keeps the slot for a while."""
        outcome = self._admission.cancel(ticket)
        if outcome is CancelOutcome.ACCEPTED and ticket is not None:
            self._deliver(ticket, Error(RequestCancelled()))
        return outcome

    def close_session(self, session: Hashable) -> int:
        """Cancel everything of the session that is before its commit boundary; how many that were."""
        return self._cancel_all(self._admission.of_session(session))

    def _cancel_all(self, tickets: list[Ticket]) -> int:
        return [self.cancel_ticket(ticket) for ticket in tickets].count(CancelOutcome.ACCEPTED)

    # --- looking ---

    def status(self, task_id: str) -> TicketStatus | None:
        """The ticket with that task id while it is in flight."""
        ticket = self._admission.find_task(task_id)
        return None if ticket is None else ticket_status(ticket)

    def is_busy(self, session: Hashable) -> bool:
        """A ticket of the session is in flight."""
        return bool(self._admission.of_session(session))

    def is_full(self) -> bool:
        """As many requests as may be are in flight: whoever comes now is refused."""
        return len(self._admission.tickets) >= self._admission.admitted_max

    def tickets(self) -> tuple[Ticket, ...]:
        """Everything in flight, in order of admission: for people who ask what holds a lane. Do not change them."""
        return tuple(self._admission.tickets.values())

    def statistics(self) -> SchedulerStatistics:
        return scheduler_statistics(self._admission, self._slots)

    # --- the shell's own work ---

    def _require_runners(self) -> trio.Nursery:
        if self._nursery is None:
            raise LocalProtocolError("the scheduler does not run: use open_scheduler")
        return self._nursery

    def _start_assigned(self) -> None:
        for ticket in assign(self._admission, self._slots):
            (self._idle.pop() if self._idle else self._one_more_runner()).take(ticket)

    def _one_more_runner(self) -> SlotRunner:
        """There are as many runners as slots; only runs that have left their slot can keep all of them busy."""
        runner = SlotRunner()
        self._runners.append(runner)
        self._require_runners().start_soon(self._serve_slot, runner, name="scheduler slot")
        return runner

    async def _answer(self, ticket: Ticket) -> Any:
        task = trio.lowlevel.current_task()

        def deliver(outcome: Outcome[Any]) -> None:
            trio.lowlevel.reschedule(task, outcome)

        def leave(_raise_cancel: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            ticket.deliver = None
            self._caller_left(ticket)
            return trio.lowlevel.Abort.SUCCEEDED

        ticket.deliver = deliver
        return await trio.lowlevel.wait_task_rescheduled(leave)

    def _caller_left(self, ticket: Ticket) -> None:
        if self._admission.observer is not None:
            self._admission.observer(CallerLeft(ticket.number))
        if not ticket.outlives_caller:
            self.cancel_ticket(ticket)

    def _deliver(self, ticket: Ticket, result: Outcome[Any]) -> None:
        """Tell whoever waits; exactly once per performed ticket, for it follows the one terminal transition."""
        deliver, ticket.deliver = ticket.deliver, None
        on_answer, ticket.on_answer = ticket.on_answer, None
        if on_answer is not None:
            try:
                on_answer(result)
            except Exception as error:
                # A fault of one call's receiver must not take the lanes down with it.
                report_undelivered(self._admission.observer, ticket.number, error)
        if deliver is not None:
            deliver(result)
        elif on_answer is None:
            self._report_lost(ticket, result)

    def _report_lost(self, ticket: Ticket, result: Outcome[Any] | None) -> None:
        # A lost value is no loss, its caller chose to leave; a lost error may be a fault that nobody else will see.
        if isinstance(result, Error) and not isinstance(result.error, RequestCancelled):
            report_undelivered(self._admission.observer, ticket.number, result.error)

    async def _serve_slot(self, runner: SlotRunner) -> None:
        with runner.scope:
            runs = 0
            while not self._is_ended:
                if runner.ticket is None:
                    await runner.park()
                    runs = 0
                elif runs == RUNS_PER_STEP_MAX:
                    # The next ticket is ours already: the loop must not stand still while a long queue runs off.
                    await trio.lowlevel.cancel_shielded_checkpoint()
                    runs = 0
                else:
                    await self._run_in(runner, runner.ticket)
                    runs += 1
            if runner.ticket is not None:
                self._retire(runner, runner.ticket, None)

    async def _run_in(self, runner: SlotRunner, ticket: Ticket) -> None:
        result: Outcome[Any] | None = None
        try:
            # A cancel between the assignment and this step: the work never begins.
            if ticket.state is TicketState.RUNNING and ticket.work is not None:
                result = Value(await ticket.work(ticket))
        except Exception as error:
            result = Error(error)
        finally:
            self._retire(runner, ticket, result)

    def _retire(self, runner: SlotRunner, ticket: Ticket, result: Outcome[Any] | None) -> None:
        runner.ticket = None
        self._idle.append(runner)
        was_answered = ticket.state in TERMINAL
        self._end_run(ticket, is_done=isinstance(result, Value))
        if was_answered:
            self._report_lost(ticket, result)
        else:
            self._deliver(ticket, Error(RunAborted("the run crashed")) if result is None else result)

    def _end_run(self, ticket: Ticket, *, is_done: bool) -> None:
        """The synchronous end of a run: terminal state, slot, successor. The answer comes after all three."""
        if ticket.state not in TERMINAL:
            self._admission.finish(ticket, TicketEvent.COMPLETE if is_done else TicketEvent.FAIL)
        ticket.work = None
        self._let_go(ticket)

    def _let_go(self, ticket: Ticket) -> None:
        if self._admission.let_go(ticket):
            self._release_slot(ticket)

    def _vacate(self, ticket: Ticket) -> None:
        self._admission.leave_slot(ticket)
        self._release_slot(ticket)

    def _release_slot(self, ticket: Ticket) -> None:
        assert ticket.lane is not None
        self._slots.release(ticket.lane)
        if self._admission.has_queued:
            self._start_assigned()

    def _wake_drains(self) -> None:
        self._drains.unpark_all()


@asynccontextmanager
async def open_scheduler(
    read_slots: int = READ_SLOTS,
    mutation_slots: int = MUTATION_SLOTS,
    admitted_max: int = ADMITTED_REQUESTS_MAX,
    *,
    observer: Observer | None = None,
) -> AsyncIterator[Scheduler]:
    """A running scheduler. Leaving the block ends it as described in ``Scheduler.run``; drain before, if wanted."""
    scheduler = Scheduler(read_slots, mutation_slots, admitted_max, observer=observer)
    async with trio.open_nursery() as nursery:
        await nursery.start(scheduler.run)
        try:
            yield scheduler
        finally:
            nursery.cancel_scope.cancel("the scheduler's block was left")
