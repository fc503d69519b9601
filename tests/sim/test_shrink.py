"""A failing script becomes small and still fails in the same way."""

from __future__ import annotations

from kernel.sim.script import Script, write_script
from kernel.sim.shrink import kind_of, shrink


def fails_with(operations: set[int], mishaps: set[int]) -> tuple[list[Script], object]:
    runs: list[Script] = []

    def run(script: Script) -> str:
        runs.append(script)
        has = {one.number for one in script.operations} >= operations and {
            one.number for one in script.mishaps
        } >= mishaps
        return f"mark {len(runs)} is written a second time" if has else ""

    return runs, run


def test_only_what_is_needed_is_left() -> None:
    script = write_script(11)
    runs, run = fails_with({3, 17}, {0})
    small = shrink(script, "mark 9 is written a second time", run)  # type: ignore[arg-type]
    assert {one.number for one in small.operations} == {3, 17}
    assert {one.number for one in small.mishaps} == {0}
    assert len(runs) < 200


def test_another_failure_is_another_matter() -> None:
    script = write_script(11)
    _, run = fails_with({3}, set())
    assert shrink(script, "something else", run) == script  # type: ignore[arg-type]


def test_a_failure_of_everything_shrinks_to_nothing() -> None:
    small = shrink(write_script(11), "always", lambda _script: "always")
    assert (small.operations, small.mishaps) == ((), ())


def test_numbers_and_hashes_do_not_tell_two_failures_apart() -> None:
    assert kind_of("mark 3 is written, not one of [1, 2]") == kind_of("mark 14 is written, not one of [7]")
    assert kind_of("ab12 was committed twice") == kind_of("0f3e was committed twice")
    assert kind_of("mark 3 is gone") != kind_of("mark 3 is there")
