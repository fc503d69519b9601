"""The harness finds what it is for: each planted bug is caught by the sweep of a scenario, or the harness has rotted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio
from outcome import Error, Outcome

from scheduler import (
    CancelOutcome,
    CommitBoundary,
    CommitOverrun,
    Lane,
    RequestCancelled,
    Scheduler,
    Ticket,
    TicketEvent,
    TicketState,
)
from scheduler.admission import Admission
from scheduler.events import Finished, Started
from scheduler.runner import SlotRunner
from scheduler.testing import CancelInjector, cancel_everywhere
from tests.scheduler.world import read_path, write_path

Patch = Callable[[pytest.MonkeyPatch], None]


def cancelled_waiter_stays_in_the_queue(patch: pytest.MonkeyPatch) -> None:
    def finish(self: Admission, ticket: Ticket, event: TicketEvent) -> None:
        ticket.apply(event)
        if self.observer is not None:
            self.observer(Finished(ticket.number, ticket.state))
        if not ticket.holds:
            self._forget(ticket)

    patch.setattr(Admission, "finish", finish)


def cancelled_run_keeps_its_slot_for_ever(patch: pytest.MonkeyPatch) -> None:
    def end_run(self: Scheduler, ticket: Ticket, *, is_done: bool) -> None:
        if ticket.is_cancelled:
            return
        original(self, ticket, is_done=is_done)

    original = Scheduler._end_run
    patch.setattr(Scheduler, "_end_run", end_run)


def cancel_frees_the_slot_while_the_host_is_busy(patch: pytest.MonkeyPatch) -> None:
    def init(self: Scheduler, *arguments: Any, **options: Any) -> None:
        original_init(self, *arguments, **options)
        self._runners += [SlotRunner() for _ in range(4)]  # else the successor would have no task to run in
        self._idle = list(self._runners)

    def cancel_ticket(self: Scheduler, ticket: Ticket | None) -> CancelOutcome:
        outcome = original_cancel(self, ticket)
        if ticket is not None and ticket.is_cancelled and ticket.holds:
            freed[ticket] = True
            self._let_go(ticket)
        return outcome

    def end_run(self: Scheduler, ticket: Ticket, *, is_done: bool) -> None:
        if not freed.pop(ticket, False):
            original_end(self, ticket, is_done=is_done)

    freed: dict[Ticket, bool] = {}
    original_init, original_cancel, original_end = Scheduler.__init__, Scheduler.cancel_ticket, Scheduler._end_run
    patch.setattr(Scheduler, "__init__", init)
    patch.setattr(Scheduler, "cancel_ticket", cancel_ticket)
    patch.setattr(Scheduler, "_end_run", end_run)


def boundary_does_not_look_at_the_cancel(patch: pytest.MonkeyPatch) -> None:
    def enter_commit(self: Ticket) -> None:
        if self.state is TicketState.RUNNING:
            self.apply(TicketEvent.COMMIT)

    async def run(self: CommitBoundary, work: Callable[[], Awaitable[Any]]) -> Any:
        return await work()

    patch.setattr(Ticket, "enter_commit", enter_commit)
    patch.setattr(CommitBoundary, "run", run)


def boundary_looks_a_checkpoint_before_it_marks(patch: pytest.MonkeyPatch) -> None:
    async def run(self: CommitBoundary, work: Callable[[], Awaitable[Any]]) -> Any:
        await trio.lowlevel.checkpoint()
        if self.ticket.state is TicketState.RUNNING:
            self.ticket.apply(TicketEvent.COMMIT)
        return await work()

    patch.setattr(CommitBoundary, "enter_commit", lambda self: self.ticket.check_cancelled())
    patch.setattr(CommitBoundary, "run", run)


def work_runs_in_the_task_of_its_caller(patch: pytest.MonkeyPatch) -> None:
    async def perform(self: Scheduler, ticket: Ticket, lane: Lane, work: Any, *, on_answer: Any) -> Any:
        async def occupy(_ticket: Ticket) -> Any:
            started.set()
            await ended.wait()
            return result

        def answered(end: Outcome[Any]) -> None:
            on_answer(end)
            told.set()

        result: Any = None
        started, ended, told = trio.Event(), trio.Event(), trio.Event()
        self.submit(ticket, lane, occupy, on_answer=answered)
        try:
            await started.wait()
            result = await work(ticket)
        finally:
            ended.set()
        await told.wait()
        return result

    async def boundary_run(self: CommitBoundary, work: Callable[[], Awaitable[Any]]) -> Any:
        return await work()

    patch.setattr(Scheduler, "perform", perform)
    patch.setattr(CommitBoundary, "run", boundary_run)


def answer_comes_before_the_slot_is_free(patch: pytest.MonkeyPatch) -> None:
    def retire(self: Scheduler, runner: Any, ticket: Ticket, result: Outcome[Any] | None) -> None:
        if not ticket.state.is_terminal and result is not None:
            self._deliver(ticket, result)
        original(self, runner, ticket, result)

    original = Scheduler._retire
    patch.setattr(Scheduler, "_retire", retire)


def last_come_is_first_served(patch: pytest.MonkeyPatch) -> None:
    def start_next(self: Admission, lane: Lane) -> Ticket:
        ticket = self.queues[lane].pop()
        ticket.apply(TicketEvent.START)
        ticket.holds = 1
        if self.observer is not None:
            self.observer(Started(ticket.number, lane))
        return ticket

    patch.setattr(Admission, "start_next", start_next)


def overrun_frees_the_slot(patch: pytest.MonkeyPatch) -> None:
    async def run(self: CommitBoundary, work: Callable[[], Awaitable[Any]]) -> Any:
        ended = trio.Event()

        async def to_the_end() -> None:
            with trio.CancelScope(shield=True):
                await work()
            ended.set()

        self._nursery.start_soon(to_the_end)
        with trio.move_on_after(self.bound_s):
            await ended.wait()
            return "committed"
        raise CommitOverrun(self.bound_s)

    patch.setattr(CommitBoundary, "run", run)


def cancelled_call_is_answered_again_at_its_end(patch: pytest.MonkeyPatch) -> None:
    def deliver(self: Scheduler, ticket: Ticket, result: Outcome[Any]) -> None:
        kept[ticket.number] = ticket.on_answer or kept[ticket.number]
        original(self, ticket, result)

    def retire(self: Scheduler, runner: Any, ticket: Ticket, result: Outcome[Any] | None) -> None:
        was_answered = ticket.state.is_terminal
        original_retire(self, runner, ticket, result)
        if was_answered and ticket.number in kept:
            kept[ticket.number](result or Error(RequestCancelled()))

    kept: dict[int, Any] = {}
    original, original_retire = Scheduler._deliver, Scheduler._retire
    patch.setattr(Scheduler, "_deliver", deliver)
    patch.setattr(Scheduler, "_retire", retire)


def freed_slot_wakes_nobody(patch: pytest.MonkeyPatch) -> None:
    def let_go(self: Scheduler, ticket: Ticket) -> None:
        assert ticket.lane is not None
        if self._admission.let_go(ticket):
            self._slots.release(ticket.lane)

    patch.setattr(Scheduler, "_let_go", let_go)


def mark_does_not_refuse_a_cancel(patch: pytest.MonkeyPatch) -> None:
    def cancel(self: Admission, ticket: Ticket | None) -> CancelOutcome:
        if ticket is not None and ticket.state is TicketState.COMMITTING:
            ticket.state = TicketState.RUNNING
        return original(self, ticket)

    original = Admission.cancel
    patch.setattr(Admission, "cancel", cancel)


def departure_goes_unnoticed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Scheduler, "_caller_left", lambda self, ticket: None)


reads_by_name = partial(read_path, strike="name")
reads_left = partial(read_path, strike="leave")
writes_by_name = partial(write_path, strike="name")
writes_left = partial(write_path, strike="leave")
long_writes = partial(write_path, write_s=9.0)

PLANTED: list[tuple[Patch, Callable[[CancelInjector], Awaitable[None]], str]] = [
    (cancelled_waiter_stays_in_the_queue, writes_by_name, "START in CANCELLED"),
    (cancelled_run_keeps_its_slot_for_ever, reads_by_name, "TooSlowError"),
    (cancel_frees_the_slot_while_the_host_is_busy, reads_by_name, "3 reads in the host"),
    (boundary_does_not_look_at_the_cancel, writes_by_name, "S7"),
    (boundary_looks_a_checkpoint_before_it_marks, writes_by_name, "S7"),
    (work_runs_in_the_task_of_its_caller, writes_left, "S7"),
    (answer_comes_before_the_slot_is_free, read_path, "answered while it holds its slot"),
    (last_come_is_first_served, write_path, "S2"),
    (overrun_frees_the_slot, long_writes, "2 writes in the host"),
    (cancelled_call_is_answered_again_at_its_end, reads_by_name, "S3"),
    (freed_slot_wakes_nobody, read_path, "TooSlowError"),
    (mark_does_not_refuse_a_cancel, writes_by_name, "S3"),
    (departure_goes_unnoticed, reads_left, "its read ran on or did not"),
]


@pytest.mark.parametrize(("plant", "scenario", "finding"), PLANTED, ids=lambda value: getattr(value, "__name__", ""))
def test_the_sweep_catches(
    plant: Patch,
    scenario: Callable[[CancelInjector], Awaitable[None]],
    finding: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted bug is found, for its own reason, and the finding says how to replay it."""
    plant(monkeypatch)
    with pytest.raises(BaseException) as caught:
        cancel_everywhere(scenario)
    assert any(note.startswith("replay: seed=") for note in caught.value.__notes__)
    assert finding in "\n".join(texts(caught.value))


def texts(error: BaseException) -> list[str]:
    """The names and messages of an error and of everything grouped in it."""
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return [f"{type(error).__name__}: {error}", *(text for part in inner for text in texts(part))]
