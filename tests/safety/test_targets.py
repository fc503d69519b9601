"""The targets that a call's arguments name."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.safety.targets import observation, target_ids


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
        ({"oldPath": ["/a", ["/b", 5]], "data": {"id": "x"}}, ("/a", "/b")),
        ({"targets": [{"key": "k", "id": "i", "title": "t"}]}, ("i",)),
    ],
)
def test_targets_are_distinct_and_sorted(arguments: dict[str, Any], expected: tuple[str, ...]) -> None:
    """R22-R24: eleven blocks are eleven targets, the same one twice is one."""
    assert target_ids(arguments) == expected
    seen = observation(arguments, {"s": 1}, more=2)
    assert (seen.target_ids, seen.target_count, seen.summary) == (expected, len(expected), {"more": 2})
