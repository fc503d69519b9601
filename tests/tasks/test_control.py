"""The core of task control: what runs, what is kept, for how long, for whom, and how it is told."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from kernel.tasks.control import (
    OPERATIONS,
    Control,
    ControlInvalid,
    TaskControl,
    canonical_task_id,
    kept_reply,
    not_found_reply,
    read_control,
    running_reply,
)
from kernel.tasks.limits import RESULT_BYTES_MAX, RESULT_TTL_S, RESULTS_BYTES_MAX, RESULTS_MAX
from scheduler.ticket import Ticket, TicketState

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
BODY = b'{"content":[]}'


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def finish(tasks: TaskControl, task_id: str, body: bytes | None = BODY, *, owner: str = "me", now: float = 0) -> None:
    assert tasks.begin(owner, task_id, Ticket(1), now=now)
    tasks.end(owner, task_id, body, "v1", now=now)


def reply(tasks: TaskControl, operation: Any, *, now: float = 0, surface: str = "v1") -> dict[str, Any]:
    kept = tasks.kept("me", UUID, now=now)
    assert kept is not None
    told = kept_reply(Control(UUID, operation), kept, surface, now=now, wall_ms=5000)
    return dict(json.loads(msgspec.json.encode(told)))


def test_every_id_that_runs_or_is_kept_is_known_whoever_has_it() -> None:
    tasks = TaskControl()
    assert tasks.task_ids(now=0) == frozenset()
    finish(tasks, uuid(1))
    finish(tasks, uuid(2), owner="you", now=1)
    assert tasks.begin("me", uuid(3), Ticket(1), now=1)
    assert tasks.task_ids(now=1) == {uuid(1), uuid(2), uuid(3)}
    assert tasks.task_ids(now=RESULT_TTL_S) == {uuid(2), uuid(3)}


# --- ids and bodies ---


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (UUID, UUID),
        (UUID.upper(), UUID),
        ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"),
        (UUID[:35], None),
        (UUID + "0", None),
        (UUID.replace("-", ""), None),
        ("{" + UUID + "}", None),
        ("urn:uuid:" + UUID, None),
        ("", None),
        (7, None),
        (None, None),
        (["a"], None),
    ],
)
def test_a_task_id_is_a_uuid_of_36_characters_whatever_its_case(value: object, found: str | None) -> None:
    assert canonical_task_id(value) == found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_control_request_names_a_task_and_an_operation(operation: str) -> None:
    body = json.dumps({"taskId": UUID.upper(), "operation": operation, "more": 1}).encode()
    assert read_control(body) == Control(UUID, operation)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff",
        b"[" * 5000,
        b"{}",
        json.dumps({"operation": "status"}).encode(),
        json.dumps({"taskId": UUID}).encode(),
        json.dumps({"taskId": UUID, "operation": "pause"}).encode(),
        json.dumps({"taskId": UUID, "operation": ["status"]}).encode(),
        json.dumps({"taskId": "not-a-uuid", "operation": "status"}).encode(),
        json.dumps({"taskId": 7, "operation": "status"}).encode(),
    ],
)
def test_a_malformed_control_body_is_refused(body: bytes) -> None:
    with pytest.raises(ControlInvalid):
        read_control(body)


# --- running and kept ---


def test_an_id_is_refused_while_it_runs_and_while_its_end_is_kept() -> None:
    tasks = TaskControl()
    assert tasks.begin("me", UUID, Ticket(1), now=0)
    assert not tasks.begin("me", UUID, Ticket(2), now=0)
    tasks.end("me", UUID, BODY, "v1", now=1)
    assert not tasks.begin("me", UUID, Ticket(3), now=1 + RESULT_TTL_S - 0.001)
    assert tasks.begin("me", UUID, Ticket(4), now=1 + RESULT_TTL_S)


def test_another_credential_has_its_own_tasks() -> None:
    tasks = TaskControl()
    finish(tasks, UUID)
    assert tasks.kept("you", UUID, now=0) is None
    assert tasks.begin("you", UUID, Ticket(2), now=0)
    assert tasks.running("me", UUID) is None
    assert tasks.running("you", UUID) is not None


def test_a_call_without_a_result_frees_its_id() -> None:
    tasks = TaskControl()
    finish(tasks, UUID, None)
    assert tasks.kept("me", UUID, now=0) is None
    assert tasks.begin("me", UUID, Ticket(2), now=0)


def test_the_129th_end_pushes_out_the_oldest_and_never_what_runs() -> None:
    tasks = TaskControl()
    assert tasks.begin("me", UUID, Ticket(1), now=0)
    for number in range(RESULTS_MAX):
        finish(tasks, uuid(number))
    assert tasks.kept("me", uuid(0), now=0) is not None
    finish(tasks, uuid(RESULTS_MAX))
    assert tasks.kept("me", uuid(0), now=0) is None
    assert tasks.kept("me", uuid(1), now=0) is not None
    assert tasks.running("me", UUID) is not None
    assert tasks.statistics(now=0)["records"] == RESULTS_MAX


def test_eight_mebibytes_are_kept_and_one_byte_more_pushes_out_the_oldest() -> None:
    tasks = TaskControl()
    size = RESULT_BYTES_MAX
    count = RESULTS_BYTES_MAX // size
    for number in range(count):
        finish(tasks, uuid(number), b"x" * size)
    assert tasks.statistics(now=0)["bytes"] == RESULTS_BYTES_MAX
    assert tasks.kept("me", uuid(0), now=0) is not None
    finish(tasks, uuid(count), b"x")
    assert tasks.kept("me", uuid(0), now=0) is None
    assert tasks.statistics(now=0) | {"bytes": 0} == {
        "records": count,
        "bytes": 0,
        "running": 0,
        "ttlMs": 600_000,
        "capacity": 128,
        "maxBytes": 8 * 1024 * 1024,
        "maxResultBytes": 1024 * 1024,
    }
    assert tasks.statistics(now=0)["bytes"] == RESULTS_BYTES_MAX - size + 1


def test_the_oldest_end_goes_first_whoever_began_first() -> None:
    tasks = TaskControl()
    assert tasks.begin("me", uuid(1), Ticket(1), now=0)
    assert tasks.begin("me", uuid(2), Ticket(2), now=0)
    tasks.end("me", uuid(2), BODY, "v1", now=1)
    tasks.end("me", uuid(1), BODY, "v1", now=2)
    assert tasks.kept("me", uuid(2), now=1 + RESULT_TTL_S) is None
    assert tasks.kept("me", uuid(1), now=1 + RESULT_TTL_S) is not None
    assert tasks.statistics(now=2 + RESULT_TTL_S)["records"] == 0
    assert tasks.statistics(now=2 + RESULT_TTL_S)["bytes"] == 0


# --- replies ---


def test_a_result_is_told_only_to_who_asks_for_it() -> None:
    tasks = TaskControl()
    finish(tasks, UUID)
    told = {"found": True, "state": "done", "cancelRequested": False, "committing": False, "resultAvailable": True}
    assert reply(tasks, "status", now=60) == {**told, "expiresAt": 5000 + 540_000}
    assert reply(tasks, "result")["result"] == {"content": []}
    assert reply(tasks, "cancel") == {**told, "expiresAt": 605_000, "accepted": False}


@pytest.mark.parametrize(("size", "is_kept"), [(RESULT_BYTES_MAX, True), (RESULT_BYTES_MAX + 1, False)])
def test_a_result_over_one_mebibyte_keeps_its_end_only(size: int, is_kept: bool) -> None:
    tasks = TaskControl()
    finish(tasks, UUID, b'"' + b"x" * (size - 2) + b'"')
    told = reply(tasks, "result")
    assert told["state"] == "done"
    assert told["resultAvailable"] == is_kept
    assert ("result" in told) == is_kept
    assert told.get("reason") == (None if is_kept else "result_too_large")
    assert tasks.statistics(now=0)["bytes"] == (size if is_kept else 0)


@pytest.mark.parametrize("body", [BODY, b"x" * (RESULT_BYTES_MAX + 1)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_changed_access_closes_the_old_result(operation: str, body: bytes) -> None:
    tasks = TaskControl()
    finish(tasks, UUID, body)
    told = reply(tasks, operation, surface="v2")
    assert (told["found"], told["resultAvailable"], told["reason"]) == (True, False, "access_changed")
    assert told["nextStep"]
    assert "result" not in told


@pytest.mark.parametrize(
    ("state", "word", "is_committing", "is_cancelled"),
    [
        (TicketState.PREPARING, "preparing", False, False),
        (TicketState.QUEUED, "queued", False, False),
        (TicketState.RUNNING, "running", False, False),
        (TicketState.COMMITTING, "running", True, False),
        (TicketState.CANCELLED, "cancelled", False, True),
        (TicketState.COMPLETED, "running", False, False),
        (TicketState.FAILED, "running", False, False),
    ],
)
def test_a_running_call_is_told_by_its_ticket(
    state: TicketState, word: str, is_committing: bool, is_cancelled: bool
) -> None:
    told = running_reply(Control(UUID, "status"), Ticket(1, state=state))
    assert told == {
        "found": True,
        "state": word,
        "cancelRequested": is_cancelled,
        "committing": is_committing,
        "resultAvailable": False,
    }


def test_what_is_not_found_claims_nothing() -> None:
    told = not_found_reply(Control(UUID, "cancel"))
    assert told == {
        "found": False,
        "state": None,
        "cancelRequested": False,
        "committing": False,
        "resultAvailable": False,
        "accepted": False,
    }
    assert "accepted" not in not_found_reply(Control(UUID, "status"))


def test_a_cancelled_call_says_so_after_its_end() -> None:
    tasks = TaskControl()
    assert tasks.begin("me", UUID, Ticket(1, state=TicketState.CANCELLED), now=0)
    tasks.end("me", UUID, BODY, "v1", now=0)
    assert reply(tasks, "result")["cancelRequested"] is True
