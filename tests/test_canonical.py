"""Canonical JSON: one state, one text, one digest, in every process."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest

from kernel.canonical import DIGEST_PREFIX, canonical_json, digest, digest_bytes


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [2, "é"]}, '{"a":[2,"é"],"b":1}'),
        # By code point, not by the alphabet of a locale: capitals first, accents last.
        ({"é": 0, "z": 0, "Z": 0, "笔": 0}, '{"Z":0,"z":0,"é":0,"笔":0}'),
        ({1: "number as key"}, '{"1":"number as key"}'),
        ((1, (2, [])), "[1,[2,[]]]"),
        ([-0.0, 0.0, 1.0, 1.5, -3.0], "[0,0,1,1.5,-3]"),
        ([1e21], "[1000000000000000000000]"),
        ([math.nan, math.inf, -math.inf], '[{"$number":"nan"},{"$number":"inf"},{"$number":"-inf"}]'),
        ([True, False, None, 0, 1], "[true,false,null,0,1]"),
        ('a"\\\n/\u2028', '"a\\"\\\\\\n/\u2028"'),
    ],
)
def test_a_value_has_one_text(value: Any, text: str) -> None:
    assert canonical_json(value).decode() == text
    assert digest(value) == "sha256:v1:" + hashlib.sha256(text.encode()).hexdigest()


def test_half_of_a_surrogate_pair_is_a_state_like_any_other() -> None:
    assert canonical_json("\ud83d") == b'"\xed\xa0\xbd"'
    assert digest("\ud83d") != digest("\ud83e")


@pytest.mark.parametrize("value", [object(), {"a": {1, 2}}, [b"bytes"]])
def test_what_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_bytes_are_digested_as_they_are() -> None:
    assert digest_bytes(b"") == DIGEST_PREFIX + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_bytes(b'"a"') == digest("a")
