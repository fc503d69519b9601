"""Values that no template can write down itself: records of the host."""

from __future__ import annotations

from kernel.workspace.templates.values import Record, is_true, kind_of, printed, type_of

_BLOCK = Record({"ID": "20240101000000-aaaaaaa", "Sort": 5})


def test_a_record_is_printed_with_its_fields_in_their_order() -> None:
    assert printed(_BLOCK) == "{20240101000000-aaaaaaa 5}"


def test_a_record_is_true_and_a_pointer_to_a_block() -> None:
    assert (is_true(Record()), kind_of(_BLOCK), type_of(_BLOCK)) == (True, "ptr", "*sql.Block")
