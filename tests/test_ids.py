"""Ids: their form, whether chance or a seed makes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from kernel.ids import IdSource, SeededIds, SystemIds, is_node_id

MOMENT = datetime(2026, 3, 1, 9, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("ids", [SystemIds(), SeededIds(7)])
def test_every_source_makes_the_same_forms(ids: IdSource) -> None:
    node = ids.node_id(MOMENT)
    assert re.fullmatch(r"20260301090507-[0-9a-z]{7}", node)
    assert is_node_id(node)
    assert [len(ids.text(length)) for length in (0, 1, 7, 1000)] == [0, 1, 7, 1000]
    assert re.fullmatch(r"[0-9a-f]{64}", ids.digest_hex())
    assert len(ids.token()) >= 22  # 128 bits in six to a character
    assert re.fullmatch(r"[0-9A-Za-z_-]+", ids.token())
    assert [len(ids.entropy(size)) for size in (0, 1, 32)] == [0, 1, 32]
    assert len({ids.node_id(MOMENT) for _ in range(200)}) == 200


def test_one_seed_makes_one_row_of_ids_and_another_seed_another() -> None:
    def row(seed: int) -> list[object]:
        ids = SeededIds(seed)
        return [ids.node_id(MOMENT), ids.digest_hex(), ids.token(), ids.entropy(8), ids.text(5)]

    assert row(1) == row(1)
    assert not set(map(str, row(1))) & set(map(str, row(2)))


def test_all_letters_come_equally_often_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes past the last multiple of 36 are drawn again, or the first letters would come more often."""
    drawn = iter([bytes([252, 253, 254, 255, 0, 35]), bytes([36, 251, 255, 255, 255, 255])])
    monkeypatch.setattr("kernel.ids.secrets.token_bytes", lambda size: next(drawn))
    assert SystemIds().text(3) == "a9a"
    with pytest.raises(StopIteration):
        SystemIds().text(1)


@pytest.mark.parametrize(
    "text",
    ["", "20260301090507", "20260301090507-abcdef", "20260301090507-abcdefgh", "20260301090507-ABCDEFG", "x" * 22],
)
def test_other_forms_are_no_ids(text: str) -> None:
    assert not is_node_id(text)
