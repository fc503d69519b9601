"""Planted bugs: one change of one place each, in the words of the source, and the tests that must notice.

A bug is a text of a module and what stands there instead. The texts are short and stand once in their file; when the
source moves on, ``test_table`` says which of them must follow.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """``name``: what the kernel does wrong. ``caught_by``: the test file (or one test) that must fail."""

    name: str
    file: str
    old: str
    new: str
    caught_by: str


ADMISSION = "scheduler/admission.py"
TICKET = "scheduler/ticket.py"
SCHEDULER = "scheduler/scheduler.py"
BOUNDARY = "scheduler/commit.py"
LEDGER = "kernel/safety/ledger.py"
STORE = "kernel/safety/ledger_store.py"
COORDINATOR = "kernel/safety/coordinator.py"
COMMIT = "kernel/safety/commit.py"
LEASES = "kernel/safety/leases.py"
VERDICT = "kernel/safety/verdict.py"
TASKS = "kernel/tasks/control.py"
CONFIRMATIONS = "kernel/mcp/elicitation.py"
CALLS = "kernel/mcp/calls.py"
DISK_SWEEP = "tests/sweeps/test_crash_at_every_disk_operation.py"

BUGS: tuple[Bug, ...] = (
    # --- scheduler ---
    Bug(
        "one request more than 128 is admitted",
        ADMISSION,
        "len(self.tickets) >= self.admitted_max",
        "len(self.tickets) > self.admitted_max",
        "tests/scheduler/test_admission.py",
    ),
    Bug(
        "the last to arrive is the first to run",
        ADMISSION,
        "self.queues[lane].append(ticket)",
        "self.queues[lane].appendleft(ticket)",
        "tests/scheduler/test_admission.py",
    ),
    Bug(
        "a cancelled waiter keeps its place in the queue",
        ADMISSION,
        "self.queues[ticket.lane].remove(ticket)",
        "assert ticket in self.queues[ticket.lane]",
        "tests/scheduler/test_admission.py",
    ),
    Bug(
        "a cancel behind the commit boundary is tried",
        ADMISSION,
        "is_accepted = TicketEvent.CANCEL in TRANSITIONS[ticket.state]",
        "is_accepted = not ticket.state.is_terminal",
        "tests/scheduler/test_admission.py",
    ),
    Bug(
        "a cancelled run never gives its slot back",
        ADMISSION,
        "ticket.holds -= 1\n        if ticket.holds:",
        "ticket.holds -= 1\n        if ticket.holds or ticket.is_cancelled:",
        "tests/scheduler/test_sweeps.py",
    ),
    Bug(
        "the boundary does not look at a cancel",
        TICKET,
        "        if self.state is TicketState.CANCELLED:\n            raise RequestCancelled\n        if self.lane is not",
        "        if self.lane is not",
        "tests/scheduler/test_ticket.py",
    ),
    Bug(
        "two runs at once in a lane of one slot",
        "scheduler/assignment.py",
        "return self.counts[lane] - self.taken[lane]",
        "return self.counts[lane] + 1 - self.taken[lane]",
        "tests/scheduler/test_assignment.py",
    ),
    Bug(
        "boundary work is cancelled with its caller",
        BOUNDARY,
        "with trio.CancelScope(shield=True):\n            try:",
        "with trio.CancelScope():\n            try:",
        "tests/scheduler/test_commit.py",
    ),
    Bug(
        "the bound of boundary work is not kept",
        BOUNDARY,
        "trio.move_on_after(self.bound_s, shield=True)",
        "trio.CancelScope(shield=True)",
        "tests/scheduler/test_commit.py",
    ),
    Bug(
        "an overrun frees the slot while the host still writes",
        BOUNDARY,
        "        self._admission.hold(self.ticket)\n",
        "",
        "tests/scheduler/test_commit.py",
    ),
    Bug(
        "the departure of a caller cancels what is to outlive it",
        SCHEDULER,
        "        if not ticket.outlives_caller:\n",
        "        if ticket is not None:\n",
        "tests/scheduler/test_departures.py",
    ),
    Bug(
        "the end of a session leaves its calls running",
        SCHEDULER,
        "return self._cancel_all(self._admission.of_session(session))",
        "return len(self._admission.of_session(session))",
        "tests/scheduler/test_cancels.py",
    ),
    # --- ledger ---
    Bug(
        "a claimed id can be claimed again",
        LEDGER,
        "        del self._issued[row.request_id]\n        begun",
        "        begun",
        "tests/safety/test_ledger.py",
    ),
    Bug(
        "an expired id can still be claimed",
        LEDGER,
        "if issued is None or self._clock.now() >= issued[1]:",
        "if issued is None:",
        "tests/safety/test_ledger.py",
    ),
    Bug(
        "an expired id is still found",
        LEDGER,
        "return issued[0] if self._clock.now() < issued[1] else None",
        "return issued[0]",
        "tests/safety/test_ledger.py",
    ),
    Bug(
        "a receipt is answered after its seven days",
        LEDGER,
        "return settled is not None and self._clock.wall_ms() >= settled + int(RECEIPT_TTL_S * _MS)",
        "return settled is None and self._clock.wall_ms() < 0",
        "tests/safety/test_ledger.py",
    ),
    Bug(
        "what was executing at a crash is not in doubt",
        STORE,
        "SET state=?, settled_wall_ms=? WHERE state='executing'",
        "SET state=?, settled_wall_ms=? WHERE state='nothing'",
        "tests/safety/test_ledger.py",
    ),
    Bug(
        "the file lets an id begin twice",
        STORE,
        "if stored is None or stored[0] not in",
        "if stored is None and stored not in",
        "tests/safety/test_ledger.py",
    ),
    Bug(
        "the ledger does not wait for its disk",
        "kernel/safety/ledger_file.py",
        'journal_mode=WAL")\n    connection.execute("PRAGMA synchronous=FULL")',
        'journal_mode=WAL")\n    connection.execute("PRAGMA synchronous=OFF")',
        DISK_SWEEP,
    ),
    # --- coordinator and commit ---
    Bug(
        "the host is written to before the ledger says so",
        COMMIT,
        "            await ledger.begin(self._row)\n",
        "",
        "tests/sweeps/test_crash_at_every_write_point.py",
    ),
    Bug(
        "an id is good for any call",
        COORDINATOR,
        "if row.binding != binding_of(intent):",
        "if row is None:",
        "tests/safety/test_refusals.py",
    ),
    Bug(
        "only the printed digits of the state are compared",
        COORDINATOR,
        "if lease.digest != state:",
        "if lease.digest[:14] != state[:14]:",
        "tests/safety/test_promises.py",
    ),
    Bug(
        "a lease is good for two writes",
        COORDINATOR,
        "if lease is not None and not self.leases.take(lease):",
        "if lease is not None and lease.digest == '':",
        "tests/safety/test_interleavings.py",
    ),
    Bug(
        "a write in doubt is told as a used-up id",
        COORDINATOR,
        "if row.state is not WriteState.ISSUED:\n            return self._replay(row)",
        "if row.state is WriteState.COMMITTED:\n            return self._replay(row)",
        "tests/safety/test_doubt.py",
    ),
    Bug(
        "an overrun write stays executing for ever",
        COMMIT,
        "        if not self._is_settling:\n",
        "        if self._is_settling:\n",
        "tests/safety/test_doubt.py",
    ),
    Bug(
        "a refusal is believed without a look",
        COMMIT,
        "return not seen.cause and seen.digest == self._previous",
        "return not seen.cause or seen.digest == self._previous",
        "tests/safety/test_doubt.py",
    ),
    Bug(
        "a lost answer is taken for a refusal",
        COMMIT,
        "if not _is_host_refusal(error) or (sent is not None and sent > 1):",
        "if sent is not None and sent > 1:",
        "tests/safety/test_doubt.py",
    ),
    Bug(
        "what did not begin costs the caller its lease",
        COMMIT,
        "            ledger.unclaim(self._row)\n            self._give_lease_back()\n",
        "            ledger.unclaim(self._row)\n",
        "tests/safety/test_ledger_trouble.py",
    ),
    Bug(
        "what did not begin costs the caller its id",
        COMMIT,
        "            ledger.unclaim(self._row)\n            self._give_lease_back()\n",
        "            self._give_lease_back()\n",
        "tests/safety/test_ledger_trouble.py",
    ),
    Bug(
        "a target that does not show the write is not looked at again",
        VERDICT,
        'Verdict(WriteEvent.MISMATCHED, "unknown", is_final=False, cause=cause)',
        'Verdict(WriteEvent.MISMATCHED, "unknown", is_final=True, cause=cause)',
        "tests/safety/test_verdict.py",
    ),
    Bug(
        "a change that the target does not show is called committed",
        VERDICT,
        "    if outcome.changed:\n        return _mismatched",
        "    if outcome.changed is False:\n        return _mismatched",
        "tests/safety/test_verdict.py",
    ),
    Bug(
        "a lease outlives its ten minutes",
        LEASES,
        "return lease if lease is not None and now < lease.expires_at else None",
        "return lease",
        "tests/safety/test_leases.py",
    ),
    Bug(
        "a lease that was pushed out can still be used",
        LEASES,
        "if self._by_key.get(lease.key) is not lease:\n            return False",
        "if self._by_key.get(lease.key) is not lease:\n            return True",
        "tests/safety/test_leases.py",
    ),
    # --- tasks ---
    Bug(
        "somebody else's task can be seen and cancelled",
        TASKS,
        "return self._running.get((owner, task_id))",
        "return next((one for (_, name), one in self._running.items() if name == task_id), None)",
        "tests/tasks",
    ),
    Bug(
        "a kept task id is taken for a new call",
        TASKS,
        "if key in self._running or key in self._kept:",
        "if key in self._running:",
        "tests/tasks",
    ),
    Bug(
        "a result is shown under permissions that came later",
        TASKS,
        "if kept.surface != surface:",
        "if kept.surface is None:",
        "tests/tasks",
    ),
    # --- confirmations ---
    Bug(
        "a confirmed state confirms twice",
        CONFIRMATIONS,
        "if answer is not Answer.MALFORMED:\n            del",
        "if answer is Answer.DECLINED:\n            del",
        "tests/mcp/test_elicitation.py",
    ),
    Bug(
        "another client may confirm",
        CONFIRMATIONS,
        "[nonce, binding.principal, binding.client, binding.operation]",
        "[nonce, binding.principal, binding.operation]",
        "tests/mcp/test_elicitation.py",
    ),
    Bug(
        "a forged state is accepted",
        CONFIRMATIONS,
        "if not hmac.compare_digest(mac.encode(), self._seal(nonce, binding).encode()):",
        "if not mac:",
        "tests/mcp/test_elicitation.py",
    ),
    Bug(
        "a state does not expire",
        CONFIRMATIONS,
        "            if now < oldest.expires_s:\n",
        "            if nonce:\n",
        "tests/mcp/test_elicitation.py",
    ),
    Bug(
        "confirm:true goes past the question",
        CALLS,
        "        if call.caller.has_form_elicitation:\n",
        '        if call.caller.has_form_elicitation and operation.arguments.get("confirm") is not True:\n',
        "tests/mcp/test_confirmation.py",
    ),
    # --- the notes' disk ---
    Bug(
        "a document is renamed into place before it is synced",
        "kernel/workspace/file_backends.py",
        "            if syncs:\n                os.fsync(descriptor)\n",
        "",
        DISK_SWEEP,
    ),
    Bug(
        "a rename is answered before its folder is synced",
        "kernel/workspace/file_backends.py",
        "            for folder in touched:\n                _sync_folder(folder)\n",
        "",
        DISK_SWEEP,
    ),
    Bug(
        "what the disk took in part is told as refused",
        "kernel/workspace/file_backends.py",
        "            if is_begun:\n",
        "            if not touched:\n",
        "tests/workspace/test_refusing_disk.py",
    ),
    # --- waiting for the ledger's disk ---
    Bug(
        "a slot that was left is released once more",
        "scheduler/admission.py",
        "        return not ticket.has_left_slot\n",
        "        return True\n",
        "tests/scheduler/test_leaving_slots.py",
    ),
    Bug(
        "a preflight keeps its slot until its id is durable",
        "kernel/safety/coordinator.py",
        "        leave_slot()\n        row",
        "        row",
        "tests/safety/test_group_commit.py",
    ),
    Bug(
        "an end that is on its way to the disk is not waited for",
        "kernel/safety/ledger.py",
        "            await settling.wait()\n",
        "            break\n",
        "tests/safety/test_group_commit.py",
    ),
)
