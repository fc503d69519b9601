"""Ids in few bytes: the same answers as sets and dictionaries give, whatever comes and goes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace.block_ids import NO_IDS, Holders, PackedIds

# Few letters, so that the end of one id and the start of the next often look like an id; one of another length.
ID = st.one_of(
    st.text("01", min_size=22, max_size=22),
    st.sampled_from(["", "short", "x" * 23, "é" * 22, "20240101000000-abcdefg"]),
)


@given(ids=st.lists(ID, max_size=12), asked=st.lists(ID, max_size=12))
@settings(deadline=None)
def test_packed_ids_are_a_set(ids: list[str], asked: list[str]) -> None:
    packed = PackedIds.of(ids)
    assert packed == set(ids)
    assert set(ids) == packed
    assert len(packed) == len(set(ids))
    assert sorted(packed) == sorted(set(ids))
    assert [one in packed for one in asked] == [one in set(ids) for one in asked]
    assert packed | set(asked) == set(ids) | set(asked)
    assert packed - set(asked) == set(ids) - set(asked)
    assert hash(packed) == hash(PackedIds.of(reversed(ids)))
    assert PackedIds(*packed.packed) == packed
    assert 7 not in packed


@given(ids=st.sets(ID, max_size=12), added=st.sets(ID, max_size=4), dropped=st.sets(ID, max_size=4))
@settings(deadline=None)
def test_a_changed_set_has_what_was_added_and_not_what_was_dropped(
    ids: set[str], added: set[str], dropped: set[str]
) -> None:
    packed = PackedIds.of(ids)
    changed = packed.changed(added - ids, dropped & ids)
    assert changed == (ids - dropped) | (added - ids)
    assert packed == ids


def test_nothing_is_in_no_ids() -> None:
    assert not NO_IDS
    assert "" not in NO_IDS


STEP = st.tuples(st.sets(st.integers(0, 40), max_size=25), st.integers(0, 6))


@pytest.mark.parametrize("unpacked_max", [3, 1000])
@given(steps=st.lists(STEP, max_size=25))
@settings(max_examples=50, deadline=None)
def test_an_id_leads_to_every_document_that_was_said_to_hold_it(
    unpacked_max: int, steps: list[tuple[set[int], int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernel.workspace.block_ids.UNPACKED_HOLDINGS_MAX", unpacked_max)
        holders, expected = Holders(), dict[str, set[int]]()
        for numbers, document in steps:
            holders.add([f"id-{number}" for number in numbers], document)
            for number in numbers:
                expected.setdefault(f"id-{number}", set()).add(document)
            one = f"id-{len(expected)}"
            assert holders.candidates(one) == sorted(expected.get(one, ()), reverse=True)
        for one, documents in expected.items():
            assert holders.candidates(one) == sorted(documents, reverse=True)
        assert holders.candidates("unknown") == []


def test_ids_with_one_hash_lead_to_the_documents_of_each() -> None:
    class SameHash(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 7

    holders = Holders()
    holders.add([SameHash("a")], 1)
    holders.add([SameHash("b")], 2)
    assert holders.candidates(SameHash("a")) == [2, 1]


def test_an_id_that_comes_and_goes_again_and_again_takes_no_more_room() -> None:
    holders = Holders()
    for _ in range(100):
        holders.add(["one"], 1)
    assert holders.size == 1


def test_runs_are_few_however_many_ids_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.workspace.block_ids.UNPACKED_HOLDINGS_MAX", 10)
    holders = Holders()
    for number in range(1000):
        holders.add([f"id-{number}"], number)
    assert holders.size == 1000
    assert holders.runs <= 8


def test_an_id_that_only_shows_across_two_others_is_not_in_the_set() -> None:
    first, second = "20240101120000-abcdefg", "20240101120000-hijklmn"
    packed = PackedIds.of([first, second])
    across = packed.packed[0][3:25]
    assert across not in packed
    assert second in packed
