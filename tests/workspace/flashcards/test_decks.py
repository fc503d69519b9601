"""Decks of flashcards: on disk, counted, reviewed within limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kernel.workspace.flashcards.counts import NO_CARDS, CardCounter, CardCounts, tree_blocks
from kernel.workspace.flashcards.decks import BUILT_IN, FOLDER, Card, create_deck, load_deck, log_review, remove_deck
from kernel.workspace.flashcards.review import (
    Limits,
    Round,
    add_cards,
    create_missing,
    due_cards,
    limits_of,
    remove_cards,
)
from kernel.workspace.flashcards.scheduling import AGAIN, EASY, GOOD, HARD, LEARNING, REVIEW, Memory, Scheduler
from tests.siyuan.kernel_in_memory import MemoryKernel

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GONE = "20200101000000-zzzzzzz"
WEIGHTS = (
    "0.40255, 1.18385, 3.173, 15.69105, 7.1949, 0.5345, 1.4604, 0.0046, 1.54575, 0.1192, 1.01925, 1.9395, 0.11, "
    "0.29605, 2.2698, 0.2315, 2.9898, 0.51655, 0.6621"
)


async def two_cards(kernel: MemoryKernel) -> tuple[str, str, list[str]]:
    """(notebook, document, blocks) with a card for each of two blocks."""
    box = await kernel.notebook()
    document = await kernel.document(box, "/d", "one\n\ntwo\n\nthree")
    blocks = await kernel.children(document)
    create_missing(kernel.workspace)
    create_missing(kernel.workspace)
    add_cards(kernel.workspace, BUILT_IN, blocks[:2])
    return box, document, blocks


def test_a_card_that_is_learned_takes_longer_steps_the_better_it_is_known() -> None:
    scheduler = Scheduler.of(WEIGHTS, 0.9, 36500)
    learning = scheduler.next_all(Memory(), NOW)[GOOD]
    assert learning.state == LEARNING
    following = scheduler.next_all(learning, learning.due)
    spans = {rating: following[rating].due - learning.due for rating in (AGAIN, HARD, GOOD, EASY)}
    assert spans[AGAIN] == timedelta(minutes=5)
    assert spans[HARD] == timedelta(minutes=10)
    assert timedelta(days=1) <= spans[GOOD] < spans[EASY]
    assert following[EASY].state == REVIEW


# --- on disk ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("content", [b"\xff\xff", b"\x80", b"\x90"])
async def test_a_deck_that_cannot_be_read_is_none(content: bytes) -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write(f"{FOLDER}/x.deck", content)
    assert load_deck(kernel.workspace, "x") is None
    assert load_deck(kernel.workspace, "y") is None


async def test_a_deck_may_have_no_cards_and_goes_with_them() -> None:
    workspace = MemoryKernel().workspace
    create_deck(workspace, "x", "X")
    workspace.files.remove(f"{FOLDER}/x.cards")
    deck = load_deck(workspace, "x")
    assert deck is not None
    assert deck.cards == {}
    remove_deck(workspace, "x")
    remove_deck(workspace, "x")
    create_deck(workspace, "y", "Y")
    remove_deck(workspace, "y")
    assert [entry.name for entry in workspace.files.list(FOLDER)] == []


async def test_a_log_that_cannot_be_read_begins_anew() -> None:
    workspace = MemoryKernel().workspace
    path = f"{FOLDER}/logs/{workspace.clock.local():%Y%m}.msgpack"
    workspace.files.write(path, b"\xff")
    log_review(workspace, Card("c", "b"), GOOD, Memory())
    log_review(workspace, Card("c", "b"), GOOD, Memory())
    assert workspace.files.read(path)[0] == 0x92, "a list of two"


# --- how many --------------------------------------------------------------------------------------------------------
async def test_cards_are_counted_below_documents_and_in_notebooks() -> None:
    kernel = MemoryKernel()
    empty = CardCounter(kernel.workspace)
    assert empty.below(GONE) == empty.in_box(GONE) == NO_CARDS
    box, document, blocks = await two_cards(kernel)
    counter = CardCounter(kernel.workspace)
    both = CardCounts(2, 2, 2)
    assert counter.below(document) == counter.below(box) == counter.in_box(box) == both
    assert counter.below(GONE) == CardCounts()
    assert both.to_texts() == {"newFlashcardCount": "2", "dueFlashcardCount": "2", "flashcardCount": "2"}
    assert set(blocks) < tree_blocks(kernel.workspace, document)


# --- what is due -----------------------------------------------------------------------------------------------------
async def test_a_document_has_limits_of_its_own() -> None:
    kernel = MemoryKernel()
    _, document, _ = await two_cards(kernel)
    usual = limits_of(kernel.workspace)
    assert limits_of(kernel.workspace, document) == usual
    attributes = {"custom-riff-new-card-limit": "1", "custom-riff-review-card-limit": "many"}
    await kernel.call("attr/setBlockAttrs", id=document, attrs=attributes)
    found = limits_of(kernel.workspace, document)
    assert (found.new, found.old, found.mode) == (1, 0, usual.mode)


@pytest.mark.parametrize(("mode", "first_is_new"), [(0, True), (1, True), (2, False)])
async def test_new_cards_come_before_or_after_old_ones_as_asked(mode: int, first_is_new: bool) -> None:
    kernel = MemoryKernel()
    _, _, blocks = await two_cards(kernel)
    deck = load_deck(kernel.workspace, BUILT_IN)
    assert deck is not None
    old = deck.of_block(blocks[1])
    assert old is not None
    old.memory = Memory(state=REVIEW, due=kernel.clock.local() - timedelta(days=1))
    due = due_cards(kernel.workspace, deck, Round(), [], frozenset(), Limits(5, 5, mode))
    assert (due.unreviewed, due.unreviewed_new, due.unreviewed_old) == (2, 1, 1)
    assert [card.block_id == blocks[0] for card in due.cards] == ([True, False] if first_is_new else [False, True])
    seen = due_cards(kernel.workspace, deck, Round(), [old.id], frozenset(), Limits(5, 5, mode))
    assert (seen.unreviewed, len(seen.cards)) == (1, 2)
    none = due_cards(kernel.workspace, deck, Round(), [], frozenset(), Limits(0, 0, mode))
    assert (none.unreviewed, none.unreviewed_new, none.cards) == (2, 0, [])


# --- cards of blocks -------------------------------------------------------------------------------------------------
async def test_cards_go_out_of_every_deck_or_of_one() -> None:
    kernel = MemoryKernel()
    _, _, blocks = await two_cards(kernel)
    workspace = kernel.workspace
    create_deck(workspace, "x", "X")
    add_cards(workspace, "x", blocks[:1])
    add_cards(workspace, "x", [blocks[0], GONE])
    deck = load_deck(workspace, "x")
    assert deck is not None
    assert deck.block_ids() == sorted([blocks[0], GONE])
    remove_cards(workspace, "", blocks[:1])
    counts = {one: load_deck(workspace, one) for one in (BUILT_IN, "x")}
    assert [deck.block_ids() for deck in counts.values() if deck is not None] == [[blocks[1]], [GONE]]
    assert "custom-riff-decks" not in await kernel.call("attr/getBlockAttrs", id=blocks[0])
    remove_cards(workspace, "x", blocks[1:])
    remove_cards(workspace, "gone", blocks[1:])
    deck = load_deck(workspace, BUILT_IN)
    assert deck is not None
    assert deck.block_ids() == [blocks[1]]


async def test_a_deck_that_cannot_be_read_takes_no_card() -> None:
    kernel = MemoryKernel()
    _, _, blocks = await two_cards(kernel)
    kernel.workspace.files.write(f"{FOLDER}/x.deck", b"\xff")
    add_cards(kernel.workspace, "x", blocks[:1])
    remove_cards(kernel.workspace, "x", blocks[:1])
    assert load_deck(kernel.workspace, "x") is None
    unknown: Any = load_deck(kernel.workspace, BUILT_IN)
    assert unknown.block_ids() == sorted(blocks[:2])
