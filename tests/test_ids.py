"""Ids from the operating system's chance: every letter as likely as any other."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

import pytest

from kernel.ids import NODE_ID, SystemIds

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def test_each_letter_stands_for_as_many_bytes_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_bytes", lambda size: bytes(range(256)))
    letters = SystemIds().text(252)
    assert {letter: letters.count(letter) for letter in ALPHABET} == dict.fromkeys(ALPHABET, 7)


@pytest.mark.parametrize("length", [0, 1, 7, 16, 100])
def test_a_text_has_its_length_though_some_bytes_are_left_out(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    drawn = iter([b"\xff" * 8, b"\xfc\x00", *[b"\x01\xff"] * 200])
    monkeypatch.setattr(secrets, "token_bytes", lambda size: next(drawn))
    text = SystemIds().text(length)
    assert len(text) == length
    assert text == ("ab" + "b" * 100)[:length]


def test_a_node_id_is_the_time_and_seven_letters() -> None:
    made = SystemIds().node_id(datetime(2026, 3, 1, 9, 0, 5, tzinfo=UTC))
    assert NODE_ID.fullmatch(made)
    assert made.startswith("20260301090005-")
