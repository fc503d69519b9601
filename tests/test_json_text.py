"""JSON of others: one way to say no, and no second reader beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernel.json_text import read_json

KERNEL = Path(__file__).parents[1] / "kernel"
# They read what this program itself wrote, or are told to read the text in a way of their own.
OWN_READERS = {
    "json_text.py",
    "cli/flags.py",
    "safety/ledger_reading.py",
    "safety/ledger_store.py",
    "siyuan/distribution.py",
    "siyuan/native_mcp/protocol.py",
    "tools/registry/signature.py",
    "workspace/sy.py",
}
OWN_PACKAGES = ("bench/", "lab/", "sim/")


def test_a_json_text_becomes_its_value() -> None:
    assert read_json('{"a": [1, null]}') == {"a": [1, None]}
    assert read_json(b"\xef\xbb\xbf[]") == []


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe{", b"\xff", '{"a": ' + "1" * 5_000 + "}"],
    ids=["empty", "open", "deep list", "deep object", "half of UTF-16", "no UTF-8", "endless number"],
)
def test_what_cannot_be_read_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        read_json(text)


def test_nobody_else_reads_the_json_of_others() -> None:
    found = {
        path.relative_to(KERNEL).as_posix()
        for path in KERNEL.rglob("*.py")
        if re.search(r"(?<!msgspec\.)\bjson\.loads\(", path.read_text(encoding="utf-8"))
    }
    assert {name for name in found if not name.startswith(OWN_PACKAGES)} == OWN_READERS
