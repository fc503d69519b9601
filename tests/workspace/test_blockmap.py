"""The map of blocks: what it counts is what a walk through all documents would count, whatever comes and goes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace import blockmap
from kernel.workspace.block_ids import PackedIds
from kernel.workspace.blockmap import BlockMap, DocumentEntry, head_of, refs_in

BOXES = ("20240101000000-boxaaaa", "20240101000000-boxbbbb")


def block_id(number: int) -> str:
    return f"20240101{number:06d}-block00"


def entry(root: str, box: str, blocks: set[int], refs: set[int], hidden: bool) -> DocumentEntry:
    properties = {"title": root, **({"custom-hidden": "true"} if hidden else {})}
    ids, targets = (PackedIds.of(map(block_id, sorted(some))) for some in (blocks, refs))
    return DocumentEntry(root, box, f"/{root}.sy", properties, 10 * len(blocks), block_ids=ids, ref_ids=targets)


NUMBERS = st.sets(st.integers(0, 12), max_size=5)
STEP = st.tuples(
    st.sampled_from(["put", "remove", "move"]),
    st.sampled_from(["one", "two", "three"]),
    st.sampled_from(BOXES),
    NUMBERS,
    NUMBERS,
    st.booleans(),
)


@pytest.mark.parametrize("entered_max", [3, 1000])
@given(steps=st.lists(STEP, max_size=20))
@settings(max_examples=80, deadline=None)
def test_what_is_counted_and_found_is_what_a_walk_through_all_documents_gives(
    entered_max: int, steps: list[tuple[str, str, str, set[int], set[int], bool]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernel.workspace.blockmap.DOCUMENTS_ENTERED_MAX", entered_max)
        blocks = BlockMap()
        for kind, root, box, ids, refs, hidden in steps:
            if kind == "put":
                blocks.put(entry(root, box, ids, refs, hidden))
            elif kind == "remove":
                blocks.remove(root)
            elif root in blocks.documents:
                blocks.move(root, box, f"/{root}.sy")
            check(blocks)


def check(blocks: BlockMap) -> None:
    entries = list(blocks.documents.values())
    assert blocks.block_count == sum(len(one.block_ids) for one in entries)
    assert blocks.size == sum(one.size for one in entries)
    assert set(blocks.hidden) == {one.id for one in entries if one.is_hidden}
    assert set(blocks.boxes()) == {one.box for one in entries}
    assert blocks.referring() == [one for one in entries if one.ref_ids]
    for box in BOXES:
        assert blocks.in_box(box) == [one for one in entries if one.box == box]
    for number in range(13):
        holders = {one.id for one in entries if block_id(number) in one.block_ids}
        root = blocks.root_of(block_id(number))
        assert root in holders if holders else root is None
        referrers = sorted(one.id for one in entries if block_id(number) in one.ref_ids)
        assert blocks.referrers([block_id(number)]) == referrers


def test_a_block_left_out_names_its_document_until_that_goes_or_is_entered_anew() -> None:
    blocks = BlockMap()
    blocks.put(entry("one", BOXES[0], {1}, set(), hidden=False))
    blocks.leave_out("one", {block_id(2): "NodeParagraph"})
    assert blocks.root_of(block_id(2)) == "one"
    assert blocks.type_left_out(block_id(2)) == "NodeParagraph"
    assert blocks.left_out_of({"one"}) == [block_id(2)]
    blocks.remove("one")
    blocks.put(entry("one", BOXES[0], {1}, set(), hidden=False))
    assert blocks.root_of(block_id(2)) is None
    assert blocks.type_left_out(block_id(2)) is None
    assert blocks.left_out_of({"one"}) == []
    blocks.leave_out("one", {block_id(2): "NodeParagraph"})
    blocks.deleted([block_id(2)])
    assert blocks.root_of(block_id(2)) is None


def test_what_was_looked_for_lately_is_looked_for_anew_once_the_map_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kernel.workspace.blockmap.LATELY_FOUND_MAX", 2)
    blocks = BlockMap()

    def put(root: str, *numbers: int) -> None:
        blocks.put(entry(root, BOXES[0], set(numbers), set(), False))

    put("one", 1)
    assert [blocks.root_of(block_id(1)) for _ in range(2)] == ["one", "one"]
    # It moves: for a moment two documents hold it, and the one that was entered last is asked first.
    put("two", 1)
    assert blocks.root_of(block_id(1)) == "two"
    put("one")
    blocks.remove("two")
    assert blocks.root_of(block_id(1)) is None
    put("one", 1, 2, 3, 4)
    assert {blocks.root_of(block_id(number)) for number in (1, 2, 3, 4, 1)} == {"one"}


def test_numbers_of_documents_that_are_gone_are_given_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockmap, "DOCUMENTS_ENTERED_MAX", 2)
    blocks = BlockMap()
    for number in range(5):
        root = f"2024010100000{number}-abcdefg"
        block, target = f"2024010200000{number}-abcdefg", f"2024010300000{number}-abcdefg"
        place = (root, "box", f"/{root}.sy")
        blocks.put(
            DocumentEntry(*place, {"title": "t"}, 1, block_ids=PackedIds.of([block]), ref_ids=PackedIds.of([target]))
        )
        assert (blocks.root_of(block), blocks.referrers([target])) == (root, [root])
        if number < 3:
            blocks.remove(root)
    assert [entry.order for entry in blocks.in_box("box")] == [0, 1]


def test_only_so_many_ids_that_were_left_out_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockmap, "LEFT_OUT_IDS_MAX", 2)
    blocks = BlockMap()
    root = "20240101000000-abcdefg"
    blocks.put(
        DocumentEntry(
            root, "box", f"/{root}.sy", {"title": "t"}, 1, block_ids=PackedIds.of([]), ref_ids=PackedIds.of([])
        )
    )
    blocks.leave_out(root, {"a": "NodeParagraph", "b": "NodeList", "c": "NodeParagraph"})
    assert [blocks.type_left_out(one) for one in "abc"] == [None, "NodeList", "NodeParagraph"]
    assert blocks.left_out_of({root}) == ["b", "c"]
    blocks.deleted(["b"])
    assert blocks.root_of("b") is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "the file is not a document"),
        (b'{"ID":"x","Type":"NodeParagraph"}', "its top node is not a NodeDocument"),
        (b'{"Type":"NodeDocument"}', "its top node is not a NodeDocument"),
    ],
)
def test_bytes_that_are_no_document_have_no_head(content: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        head_of(content)


def test_references_in_bytes_are_those_of_marks_and_of_statements() -> None:
    ids = [f"2024010100000{number}-abcdefg" for number in range(3)]
    mark = f'{{"Type":"NodeTextMark","TextMarkBlockRefID":"{ids[0]}"}}'
    embed = f'{{"Type":"NodeBlockQueryEmbedScript","Data":"id IN (\'{ids[1]}\', \'{ids[2]}\')"}}'
    assert set(refs_in(mark.encode())) == {ids[0]}
    assert set(refs_in(f"[{mark},{embed}]".encode())) == set(ids)
    assert refs_in(b'{"Type":"NodeText"}') == frozenset()
