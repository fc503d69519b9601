"""What counts as the same answer of two kernels: ids, hashes and times may differ, but must differ consistently."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.lab.likeness import Names, Translation, canonical, difference, readable

A, B, C = "20260101000000-aaaaaaa", "20260101000000-bbbbbbb", "20270101000000-ccccccc"


@pytest.mark.parametrize(
    ("recorded", "live", "where"),
    [
        ({"id": A, "next": B}, {"id": B, "next": C}, None),
        ({"id": A, "next": A}, {"id": B, "next": C}, "$.next"),
        ({"text": f"see {A} and {A}"}, {"text": f"see {C} and {C}"}, None),
        ({"requestId": "ab12", "stateHash": "ffff"}, {"requestId": "0001", "stateHash": "0002"}, None),
        ({"text": '{"requestId": "ab12"}', "requestId": "ab12"}, {"text": '{"requestId": "77aa"}', "requestId": "77aa"}, None),
        ({"text": '{"requestId": "ab12"}', "requestId": "ab12"}, {"text": '{"requestId": "77aa"}', "requestId": "77ab"}, "$.requestId"),
        ({"expiresAtMs": 5, "updated": "20260101000000"}, {"expiresAtMs": 6, "updated": "20270101000000"}, None),
        ({"at": "2026-01-01T00:00:00Z"}, {"at": "2027-01-01T00:00:00.5+01:00"}, None),
        ({"count": 5}, {"count": 6}, "$.count"),
        ({"a": 1}, {"a": 1, "b": 2}, "$.b"),
        ({"a": 1, "b": 2}, {"a": 1}, "$.b"),
        ([1, 2], [1], "$.length"),
        ([1, {"x": [0]}], [1, {"x": [1]}], "$[1].x[0]"),
        (1, True, "$"),
    ],
)  # fmt: skip
def test_two_answers_are_alike_or_differ_first_at_a_place(recorded: Any, live: Any, where: str | None) -> None:
    found = Translation().first_difference(recorded, live)
    assert (found[0] if found is not None else None) == where


def test_what_was_recorded_is_said_in_the_other_kernels_words() -> None:
    translation = Translation({"Old notes": "New notes"})
    translation.session("abcdefgh", "ijklmnop")
    assert translation.first_difference({"id": A, "requestId": "ab12"}, {"id": C, "requestId": "00ff"}) is None
    said = translation.request(f'{{"id": "{A}", "requestId": "ab12", "text": "ab12 in Old notes", "s": "abcdefgh"}}')
    assert said == f'{{"id": "{C}", "requestId": "00ff", "text": "ab12 in New notes", "s": "ijklmnop"}}'


def test_names_are_given_in_the_order_of_appearance() -> None:
    names = Names()
    assert canonical([A, B, A, {"requestId": "ab12"}], names) == [
        "<id 1>",
        "<id 2>",
        "<id 1>",
        {"requestId": "<hash 1>"},
    ]
    assert difference({}, {}) is None


@pytest.mark.parametrize(
    ("kind", "body", "read"),
    [
        ("application/json", b'{"a": 1}', {"a": 1}),
        ("text/event-stream", b'data:{"id":1}\n\n: x\n\ndata:{"id":2}\n\n', [{"id": 1}, {"id": 2}]),
        ("text/plain", b"words", "words"),
        ("", b"", ""),
    ],
)
def test_a_body_is_read_for_what_it_is(kind: str, body: bytes, read: Any) -> None:
    assert readable(kind, body) == read
