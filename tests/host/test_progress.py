"""How far a call is: counts that grow, totals that hold, few notes."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.host.limits import PROGRESS_NOTES_PER_LIST_MAX
from kernel.host.progress import UNTOLD, Progress, progress_of
from kernel.host.scoped import ScopedHost

Note = tuple[float, float | None, str | None]


def told(stages: int = 0) -> tuple[Progress, list[Note]]:
    notes: list[Note] = []
    return Progress(lambda *note: notes.append(note), stages), notes


def test_each_item_of_a_list_is_told_with_a_total_once_it_is_done() -> None:
    progress, notes = told()
    for item in progress.steps(["a", "b"], "Read"):
        assert len(notes) == "ab".index(item)
    assert notes == [(1, 2, "Read 1 of 2"), (2, 2, "Read 2 of 2")]


def test_lists_and_stages_add_up_and_no_count_passes_its_total() -> None:
    progress, notes = told(stages=3)
    assert list(progress.steps("abc", "Looked up")) == ["a", "b", "c"]
    progress.stage("Looked at the target")
    progress.stage("Written")
    list(progress.steps("ab", "Read"))
    progress.stage("Looked at the target")
    progress.stage("Looked at the target")  # once more, while a read-back waits
    assert [note[:2] for note in notes] == [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 8), (7, 8), (8, 8)]


@pytest.mark.parametrize("count", [0, 1, PROGRESS_NOTES_PER_LIST_MAX, PROGRESS_NOTES_PER_LIST_MAX + 1, 10_000])
def test_a_long_list_is_told_of_in_no_more_notes_than_a_short_one(count: int) -> None:
    progress, notes = told()
    assert sum(1 for _ in progress.steps(range(count), "Read")) == count
    assert len(notes) == min(count, PROGRESS_NOTES_PER_LIST_MAX)
    assert sorted({note[0] for note in notes}) == [note[0] for note in notes]
    assert not count or notes[-1] == (count, count, f"Read {count} of {count}")


def test_a_number_that_is_not_known_is_told_without_a_total_and_ever_more_seldom() -> None:
    progress, notes = told()
    for _ in range(200):
        progress.found("Listed")
    assert notes == [(count, None, "Listed") for count in (1, 2, 4, 8, 16, 32, 64, 128, 192)]


def test_nobody_who_did_not_ask_is_told_and_the_items_are_the_list_itself() -> None:
    items = ["a"]
    assert UNTOLD.steps(items, "Read") is items
    UNTOLD.found("Listed")
    UNTOLD.stage("Written")


def test_a_host_of_one_call_carries_its_progress_and_any_other_carries_none() -> None:
    progress, _ = told()
    anything: Any = object()
    assert progress_of(ScopedHost(anything, anything, anything, progress=progress)) is progress
    assert progress_of(anything) is UNTOLD
