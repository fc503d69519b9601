"""The words for a failed connection: the first that the error or what is behind it has."""

from __future__ import annotations

import pytest

from kernel.host.reasons import reason_of


def caused(error: Exception, cause: BaseException | None) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no"), "ValueError no"),
        (ValueError(), "ValueError"),
        (caused(ValueError("no"), OSError(111, "refused")), "ValueError no"),
        (caused(ValueError(), OSError(111, "refused")), "ValueError refused"),
        (caused(ValueError(), caused(KeyError(), OSError(111, "refused"))), "ValueError refused"),
        (caused(ValueError(), ExceptionGroup("all", [OSError(1, "first"), OSError(2, "second")])), "ValueError first"),
    ],
)
def test_the_first_words_behind_an_error_are_its_reason(error: Exception, words: str) -> None:
    assert reason_of(error) == words


def test_an_error_that_is_its_own_context_ends() -> None:
    first, second = ValueError(), ValueError()
    first.__context__, second.__context__ = second, first
    assert reason_of(first) == "ValueError"
