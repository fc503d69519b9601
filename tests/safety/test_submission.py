"""Arguments parted from safety fields, and the targets they name."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.safety.intent import SAFETY_ARGUMENTS, Precondition
from kernel.safety.submission import arguments_digest, checked_request_id, part
from kernel.safety.targets import observation, target_ids


def test_the_digest_of_a_call_does_not_see_its_safety_fields() -> None:
    business = {"id": "x", "data": "y"}
    assert arguments_digest({**business, **dict.fromkeys(SAFETY_ARGUMENTS, "z")}) == arguments_digest(business)
    assert arguments_digest({**business, "data": "z"}) != arguments_digest(business)
    assert arguments_digest({"data": "y", "id": "x"}) == arguments_digest(business)


@pytest.mark.parametrize(
    ("given", "is_preflight"), [(True, True), (False, False), ("true", False), (1, False), (None, False)]
)
def test_only_true_is_a_preflight(given: Any, is_preflight: bool) -> None:
    parted = part({"id": "x", "validateOnly": given, "requestId": "b72f"})
    assert parted.is_preflight is is_preflight
    assert parted.business == {"id": "x"}
    assert parted.request_id == "b72f"


def test_a_credential_counts_only_under_its_own_field() -> None:
    parted = part({"expectedStateHash": "8ac2", "expectedManifestHash": None})
    assert parted.credential(Precondition.STATE) == "8ac2"
    assert parted.credential(Precondition.MANIFEST) is None
    assert parted.credential(Precondition.STRUCTURE) is None
    assert parted.safety_fields == ("expectedStateHash",)
    assert part({"requestId": "ab12"}).safety_fields == ("requestId",)


def test_the_old_name_counts_for_the_state_hash_alone() -> None:
    parted = part({"expectedHash": "8ac2"})
    assert parted.credential(Precondition.STATE) == "8ac2"
    assert parted.credential(Precondition.STRUCTURE) is None
    assert part({"expectedHash": "aaaa", "expectedStateHash": "bbbb"}).credential(Precondition.STATE) == "bbbb"


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
