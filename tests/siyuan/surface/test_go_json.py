"""Request bodies: what the kernel reads, and its own words for what it does not (measured)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.siyuan.go_json import BodyUnreadable, read_object


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{}", {}),
        (b"null", {}),
        (b' \n{"a":1} trailing', {"a": 1}),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":"\\ud800"}', {"a": "\ufffd"}),
        (b'{"a":["\\ud83d\\ude00"]} x', {"a": ["\U0001f600"]}),
        (b'{"a":"\xff"}', {"a": "\ufffd"}),
        (b'{"a":1e300,"b":-0.5e-400,"c":-0} x', {"a": 1e300, "b": 0.0, "c": 0}),
        (b'{"a":[],"b":{},"c":[1,[2]],"d":true,"e":false,"f":null} x',
         {"a": [], "b": {}, "c": [1, [2]], "d": True, "e": False, "f": None}),
        (b'{"a":"\\u00e9\\n\\"\\\\\\/"} x', {"a": 'é\n"\\/'}),
        (b'{"a":"1e999"}', {"a": "1e999"}),
    ],
)  # fmt: skip
def test_what_is_read(body: bytes, expected: object) -> None:
    assert read_object(body) == expected


UNREADABLE = {
    b"": "the request body is empty or truncated (EOF)",
    b" \r\n": "the request body is empty or truncated (EOF)",
    b"[1]": "json: cannot unmarshal array into Go value of type map[string]interface {}",
    b'"x"': "json: cannot unmarshal string into Go value of type map[string]interface {}",
    b"5 {}": "json: cannot unmarshal number into Go value of type map[string]interface {}",
    b"true": "json: cannot unmarshal bool into Go value of type map[string]interface {}",
    b"\xef\xbb\xbf{}": "invalid character 'ï' looking for beginning of value",
    b"\x00": "invalid character '\\x00' looking for beginning of value",
    b'{"a":}': "invalid character '}' looking for beginning of value",
    b'{"a":NaN}': "invalid character 'N' looking for beginning of value",
    '{"a":é}'.encode(): "invalid character 'Ã' looking for beginning of value",
    b"{a:1}": "invalid character 'a' looking for beginning of object key string",
    b"{'a':1}": "invalid character '\\'' looking for beginning of object key string",
    b'{"a":1,}': "invalid character '}' looking for beginning of object key string",
    b'{"a" 1}': "invalid character '1' after object key",
    b'{"a":1 "b"}': "invalid character '\"' after object key:value pair",
    b'{"a":01}': "invalid character '1' after object key:value pair",
    b'{"a":[1 2]}': "invalid character '2' after array element",
    b'{"a":"\x01"}': "invalid character '\\x01' in string literal",
    b'{"a":"\n"}': "invalid character '\\n' in string literal",
    b'{"a":"\\q"}': "invalid character 'q' in string escape code",
    b'{"a":"\\u12g4"}': "invalid character 'g' in \\u hexadecimal character escape",
    b'{"a":tru}': "invalid character '}' in literal true (expecting 'e')",
    b'{"a":nuxl}': "invalid character 'x' in literal null (expecting 'l')",
    b'{"a":-x}': "invalid character 'x' in numeric literal",
    b'{"a":1.}': "invalid character '}' after decimal point in numeric literal",
    b'{"a":1e}': "invalid character '}' in exponent of numeric literal",
    b'{"a":1e+}': "invalid character '}' in exponent of numeric literal",
    b'{"a":1e999}': "json: cannot unmarshal number 1e999 into Go value of type float64",
    b'{"a":[{"b":1e999}]}': "json: cannot unmarshal number 1e999 into Go value of type float64",
    b"[1,2": "unexpected EOF",
    b'{"a":1': "unexpected EOF",
    b'{"a':  "unexpected EOF",
    b"-": "unexpected EOF",
    b"[" * 100_000: "exceeded max depth",
}  # fmt: skip


@pytest.mark.parametrize(("body", "words"), UNREADABLE.items(), ids=[repr(body[:20]) for body in UNREADABLE])
def test_what_is_not_read_and_how_it_is_called(body: bytes, words: str) -> None:
    with pytest.raises(BodyUnreadable) as raised:
        read_object(body)
    assert str(raised.value) == words


_VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=5)
    | st.lists(st.text(max_size=3), max_size=3)
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=5), _VALUES, max_size=4))
def test_any_object_is_read_as_it_was_written_with_garbage_behind_it(value: dict[str, object]) -> None:
    assert read_object(json.dumps(value).encode()) == value
    assert read_object(json.dumps(value).encode() + b" }") == value


@settings(max_examples=50)
@given(st.binary(max_size=40))
def test_any_bytes_are_an_object_or_unreadable(body: bytes) -> None:
    try:
        value: object = read_object(body)
    except BodyUnreadable:
        value = {}
    assert isinstance(value, dict)
