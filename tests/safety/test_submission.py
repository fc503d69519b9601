"""Arguments parted from safety fields, and the targets they name."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.safety.intent import SAFETY_ARGUMENTS
from kernel.safety.submission import arguments_digest, checked_request_id, in_doubt, rejected
from kernel.safety.targets import observation, target_ids


def test_the_digest_of_a_call_does_not_see_its_safety_fields() -> None:
    business = {"id": "x", "data": "y"}
    assert arguments_digest({**business, **dict.fromkeys(SAFETY_ARGUMENTS, "z")}) == arguments_digest(business)
    assert arguments_digest({**business, "data": "z"}) != arguments_digest(business)
    assert arguments_digest({"data": "y", "id": "x"}) == arguments_digest(business)


@pytest.mark.parametrize("given", ["abcd", "0123456789abcdef" * 4])
def test_request_ids_of_the_right_form(given: str) -> None:
    assert checked_request_id(given) == given


@pytest.mark.parametrize("given", ["abc", "ABCD", "ab cd", "g123", "", 1234, True, "a" * 65, "abcd\n"])
def test_request_ids_of_the_wrong_form(given: Any) -> None:
    with pytest.raises(ToolError) as caught:
        checked_request_id(given)
    assert caught.value.code == "invalid_request_id"


def test_no_request_id_at_all() -> None:
    with pytest.raises(ToolError) as caught:
        checked_request_id(None)
    assert caught.value.code == "precondition_required"
    assert caught.value.details["expectedField"] == "requestId"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"id": "b"}, ("b",)),
        ({"items": [{"id": f"b{n:02}"} for n in range(11)]}, tuple(f"b{n:02}" for n in range(11))),
        ({"items": [{"id": "b"}, {"id": "b"}, {"id": "a"}, "x", {}]}, ("a", "b")),
        ({"ids": ["c", "a", "c"], "parentID": "p", "previousID": ""}, ("a", "c", "p")),
        ({"fromIDs": ["x"], "toID": "y"}, ("x", "y")),
        ({"fromPaths": ["/a.sy"], "toNotebook": "n", "toPath": "/"}, ("/a.sy",)),
        ({"notebook": "n", "paths": ["/b.sy"], "path": "/a.sy"}, ("/a.sy", "/b.sy", "n")),
        ({"from": "/x", "to": "/y"}, ("/x", "/y")),
        ({"oldLabel": "t", "newLabel": "u"}, ("t",)),
        ({"data": "id", "markdown": "x", "items": "no list"}, ()),
        ({"targets": [{"key": "k", "id": "i", "title": "t"}]}, ("i",)),
    ],
)
def test_targets_are_distinct_and_sorted(arguments: dict[str, Any], expected: tuple[str, ...]) -> None:
    """R22-R24: eleven blocks are eleven targets, the same one twice is one."""
    assert target_ids(arguments) == expected
    seen = observation(arguments, {"s": 1}, more=2)
    assert (seen.target_ids, seen.target_count, seen.summary) == (expected, len(expected), {"more": 2})


def test_a_write_in_doubt_was_attempted_and_says_no_more() -> None:
    assert in_doubt() == {**rejected(), "writeAttempted": True, "transactionState": "unknown"}
