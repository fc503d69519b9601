"""How tools read arguments and print values."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, comma_list, cut, go_text, json_text
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"),
        (True, "true"),
        (False, "false"),
        ("x", "x"),
        (0, "0"),
        (5, "5"),
        (-10, "-10"),
        (100.25, "100.25"),
        (123456, "123456"),
        (1_000_000, "1e+06"),
        (1_234_567, "1.234567e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-1.5e300, "-1.5e+300"),
        ([1, "x", None], "[1 x <nil>]"),
        ({"b": 1, "a": [True]}, "map[a:[true] b:1]"),
    ],
)
def test_decoded_json_is_printed_as_the_kernel_prints_it(value: Any, text: str) -> None:
    assert json_text(value) == text


def test_a_cell_keeps_whole_numbers_whole_and_names_what_is_no_number() -> None:
    assert go_text(1_234_567) == "1234567"
    assert [go_text(float(one)) for one in ("nan", "inf", "-inf")] == ["NaN", "+Inf", "-Inf"]
    assert go_text([1_000_000, {"a": 1_000_000}]) == "[1000000 map[a:1000000]]"


def test_a_long_text_is_cut_by_bytes() -> None:
    assert cut("a" * 200) == "a" * 200
    assert cut("a" * 201) == "a" * 200 + "..."
    assert cut("é" * 101) == "é" * 100 + "..."


def test_arguments_of_the_wrong_type_count_as_missing() -> None:
    call = ToolCall(MemoryKernel().kernel, "t", {"text": 5, "number": "5", "flag": "true", "yes": True, "two": 2.9})
    assert (call.text("text"), call.number("number", 7), call.flag("flag")) == ("", 7, False)
    assert (call.number("yes", 1), call.flag("yes"), call.number("two", 1)) == (1, True, 2)
    with pytest.raises(ToolFailed, match=r"^text is required$"):
        call.needed("text")
    with pytest.raises(ToolFailed, match=r"^a, b and c are required$"):
        call.all_needed("a", "b", "c")


async def test_an_endpoint_that_is_not_emulated_is_an_error_of_the_tool() -> None:
    with pytest.raises(ToolFailed, match="/api/nope/nothing is not emulated"):
        await ToolCall(MemoryKernel().kernel, "t", {}).api("/api/nope/nothing")


def test_parts_between_commas_are_trimmed_and_empty_ones_kept() -> None:
    assert comma_list(" a, b,,") == ["a", "b", "", ""]
