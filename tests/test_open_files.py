"""The limit of open files goes up as far as it may, and never down."""

from __future__ import annotations

import pytest

from kernel.open_files import raise_file_limit

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ((256, 4096), 1000, (1000, 4096)),
        ((256, 4096), 10_000, (4096, 4096)),
        ((2000, 4096), 1000, None),
        ((256, -1), 10_000, (10_000, -1)),
        ((-1, -1), 10_000, None),
    ],
)
def test_the_limit_is_raised_within_what_is_allowed(
    before: tuple[int, int], wanted: int, after: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[int, int]] = []
    assert resource.RLIM_INFINITY == -1
    monkeypatch.setattr(resource, "getrlimit", lambda _what: before)
    monkeypatch.setattr(resource, "setrlimit", lambda _what, limits: said.append(limits))
    raise_file_limit(wanted)
    assert said == ([] if after is None else [after])


def test_a_system_that_refuses_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_what: int, _limits: tuple[int, int]) -> None:
        raise ValueError("not permitted")

    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1, 10))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    raise_file_limit(5)
