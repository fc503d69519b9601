"""Numbers of databases in every format, and texts that hold numbers."""

from __future__ import annotations

import pytest

from kernel.workspace.views.naming import duplicate_name
from kernel.workspace.views.numbers import format_number, plain_number, short_number, to_float
from kernel.workspace.views.similarity import similarity


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (12.5, "", "12.5"),
        (1e21, "", "1000000000000000000000"),
        (0.0000001, "", "0.0000001"),
        (1234567.891, "commas", "1,234,567.891"),
        (0.256, "percent", "25.6%"),
        (1234567.891, "USD", "$1,234,567.89"),
        (1234567.891, "usDollar", "$1,234,567.89"),
        (1234567.891, "EUR", "€1.234.567,89"),
        (1234567.5, "JPY", "¥1,234,568"),
        (1234567.891, "RUB", "₽1\u00a0234\u00a0567,89"),
        (1234567.891, "INR", "₹12,34,567.89"),
        (-1234.5, "ILS", "ILS₪\u200e-1,234.50"),
        (-1234.5, "GBP", "£-1,234.50"),
        (5.0, "no such format", "5"),
    ],
)
def test_a_number_is_written_as_its_format_wants(number: float, kind: str, text: str) -> None:
    assert format_number(number, kind) == text


def test_results_of_calculations_have_five_decimals_at_most() -> None:
    assert short_number(1 / 3) == "0.33333"
    assert short_number(3.0) == "3"


def test_numbers_that_are_none_have_names() -> None:
    assert [plain_number(one) for one in (float("inf"), float("-inf"), float("nan"))] == ["+Inf", "-Inf", "NaN"]


@pytest.mark.parametrize(("text", "number"), [("$1,234.5 each", 1234.5), ("-3", -3.0), ("none", None), ("1.2.3", None)])
def test_the_number_in_a_text_is_found(text: str, number: float | None) -> None:
    assert to_float(text) == number


def test_copies_are_numbered() -> None:
    assert [duplicate_name(name) for name in ("", "Plan", "Plan (1)", "Plan (x)")] == [
        "",
        "Plan (1)",
        "Plan (2)",
        "Plan (x) (1)",
    ]


def test_texts_that_begin_alike_are_more_alike() -> None:
    assert similarity("same", "same") == 1
    assert similarity("", "") == 1
    assert similarity("", "word") == similarity("abc", "xyz") == 0
    assert similarity("Searchable base", "Search") > similarity("A base to Search", "Search")
    assert round(similarity("MARTHA", "MARHTA"), 3) == 0.961
