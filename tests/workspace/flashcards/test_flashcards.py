"""Flashcards: scheduling, decks on disk, rounds of reviews."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel.workspace.calendar_spans import calendar_span
from kernel.workspace.flashcards.decks import BUILT_IN, load_deck
from kernel.workspace.flashcards.scheduling import (
    AGAIN,
    EASY,
    GOOD,
    HARD,
    LEARNING,
    RELEARNING,
    REVIEW,
    Memory,
    Scheduler,
)
from tests.siyuan.kernel_in_memory import MemoryKernel

WEIGHTS = (
    "0.40255, 1.18385, 3.173, 15.69105, 7.1949, 0.5345, 1.4604, 0.0046, 1.54575, 0.1192, 1.01925, 1.9395, 0.11, "
    "0.29605, 2.2698, 0.2315, 2.9898, 0.51655, 0.6621"
)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_new_card_takes_short_steps_unless_it_is_easy() -> None:
    following = Scheduler.of(WEIGHTS, 0.9, 36500).next_all(Memory(), NOW)
    assert [following[rating].due - NOW for rating in (AGAIN, HARD, GOOD, EASY)] == [
        timedelta(minutes=1),
        timedelta(minutes=5),
        timedelta(minutes=10),
        timedelta(days=16),
    ]
    assert [following[rating].state for rating in (AGAIN, EASY)] == [LEARNING, REVIEW]


def test_a_known_card_grows_and_a_forgotten_one_is_learned_anew() -> None:
    scheduler = Scheduler.of(WEIGHTS, 0.9, 36500)
    known = scheduler.next_all(Memory(), NOW)[EASY]
    later = scheduler.next_all(known, known.due)
    assert later[HARD].scheduled_days <= later[GOOD].scheduled_days < later[EASY].scheduled_days
    assert later[GOOD].scheduled_days > known.scheduled_days
    assert (later[AGAIN].state, later[AGAIN].lapses) == (RELEARNING, 1)
    assert later[AGAIN].due - known.due == timedelta(minutes=5)


def test_broken_weights_count_as_zero() -> None:
    assert Scheduler.of("x, 1", 0.9, 10).weights == (0.0, 1.0, *[0.0] * 17)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (NOW + timedelta(days=16), NOW, "16 days"),
        (NOW + timedelta(minutes=1), NOW, "1 minute"),
        (NOW, NOW + timedelta(seconds=59), ""),
        (datetime(2027, 5, 3, 13, 2, tzinfo=UTC), NOW, "1 year 2 months 2 days 1 hour 2 minutes"),
        (datetime(2026, 4, 1, 11, tzinfo=UTC), NOW, "30 days 23 hours"),
        (datetime(2027, 2, 1, 12, tzinfo=UTC), datetime(2026, 11, 1, 12, tzinfo=UTC), "3 months"),
    ],
)
def test_spans_are_counted_by_the_calendar(first: datetime, second: datetime, text: str) -> None:
    assert calendar_span(first, second) == text


async def deck_of_two(kernel: MemoryKernel) -> tuple[str, list[str]]:
    kernel.kernel.state["statement_runner"] = run_now
    document = await kernel.document(await kernel.notebook(), "/d", "one\n\ntwo")
    blocks = [block["id"] for block in await kernel.call("block/getChildBlocks", id=document)]
    await kernel.call("riff/addRiffCards", deckID=BUILT_IN, blockIDs=[])
    await kernel.call("riff/addRiffCards", deckID=BUILT_IN, blockIDs=blocks)
    return document, blocks


async def run_now(work: object) -> object:
    assert callable(work)
    return work()


async def test_cards_survive_on_disk_and_mark_their_blocks() -> None:
    kernel = MemoryKernel()
    _, blocks = await deck_of_two(kernel)
    deck = load_deck(kernel.workspace, BUILT_IN)
    assert deck is not None
    assert [card.block_id for card in deck.cards.values()] == blocks
    assert (await kernel.call("attr/getBlockAttrs", id=blocks[0]))["custom-riff-decks"] == BUILT_IN
    await kernel.call("riff/removeRiffCards", deckID=BUILT_IN, blockIDs=blocks[:1])
    assert "custom-riff-decks" not in await kernel.call("attr/getBlockAttrs", id=blocks[0])
    assert (await kernel.call("riff/getRiffCards", id=BUILT_IN, page=1))["total"] == 1


@pytest.mark.parametrize(
    ("page", "size", "told"),
    [(1, 1, (1, 2)), (2, 1, (1, 2)), (9, 1, (0, 2)), (1, 0, (0, -(2**63))), (0, 0, (0, -(2**63)))],
)
async def test_cards_come_in_pages_and_pages_of_nothing_are_counted_as_go_does(
    page: int, size: int, told: tuple[int, int]
) -> None:
    kernel = MemoryKernel()
    document, _ = await deck_of_two(kernel)
    found = await kernel.call("riff/getTreeRiffCards", id=document, page=page, pageSize=size)
    assert (len(found["blocks"]), found["pageCount"]) == told
    assert found["total"] == 2


async def test_of_an_unknown_deck_or_notebook_no_page_is_wrong() -> None:
    kernel = MemoryKernel()
    await deck_of_two(kernel)
    nothing = {"blocks": [], "total": 0, "pageCount": 0}
    for route in ("getRiffCards", "getNotebookRiffCards"):
        assert await kernel.call(f"riff/{route}", id="20200101000000-unknown", page=0, pageSize=1) == nothing
    # The real kernel's handler breaks off where a page begins before the first card.
    answer = await kernel.answer("riff/getRiffCards", id=BUILT_IN, page=0, pageSize=1)
    assert (answer.code, answer.data) == (0, None)


async def test_what_has_been_reviewed_is_due_later() -> None:
    kernel = MemoryKernel()
    document, _ = await deck_of_two(kernel)
    due = await kernel.call("riff/getTreeRiffDueCards", rootID=document)
    assert (due["unreviewedCount"], due["unreviewedNewCardCount"], len(due["cards"])) == (2, 2, 2)
    first = due["cards"][0]
    assert first["nextDues"] == {"1": "1 minute", "2": "5 minutes", "3": "10 minutes", "4": "16 days"}
    assert first["lastReview"] == -62135596800000
    await kernel.call("riff/reviewRiffCard", deckID=BUILT_IN, cardID=first["cardID"], rating=4)
    left = await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN)
    assert [card["cardID"] for card in left["cards"]] == [due["cards"][1]["cardID"]]
    logs = [path for path, _ in kernel.workspace.files.walk("data/storage/riff/logs")]
    assert len(logs) == 1


async def test_a_second_rating_in_one_round_replaces_the_first() -> None:
    kernel = MemoryKernel()
    await deck_of_two(kernel)
    card = (await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN))["cards"][0]["cardID"]
    reviewed = [{"cardID": card}]
    for rating in (1, 4):
        await kernel.call("riff/reviewRiffCard", deckID=BUILT_IN, cardID=card, rating=rating, reviewedCards=reviewed)
    deck = load_deck(kernel.workspace, BUILT_IN)
    assert deck is not None
    assert (deck.cards[card].memory.reps, deck.cards[card].memory.state) == (1, REVIEW)


async def test_a_rating_that_is_none_takes_back_what_the_round_has_done() -> None:
    kernel = MemoryKernel()
    await deck_of_two(kernel)
    card = (await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN))["cards"][0]["cardID"]
    reviewed = [{"cardID": card}]
    for rating, reps in ((0, 0), (3, 1), (9, 0), (2, 1)):
        await kernel.call("riff/reviewRiffCard", deckID=BUILT_IN, cardID=card, rating=rating, reviewedCards=reviewed)
        deck = load_deck(kernel.workspace, BUILT_IN)
        assert deck is not None
        assert deck.cards[card].memory.reps == reps


async def test_skipped_cards_wait_for_the_next_round_and_reset_ones_begin_anew() -> None:
    kernel = MemoryKernel()
    document, blocks = await deck_of_two(kernel)
    cards = (await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN))["cards"]
    ids = [card["cardID"] for card in cards]
    await kernel.call("riff/skipReviewRiffCard", deckID=BUILT_IN, cardID=ids[0])
    left = await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN, reviewedCards=[{"cardID": "x"}])
    assert [card["cardID"] for card in left["cards"]] == ids[1:]
    due = [{"id": ids[1], "due": "29990101000000"}]
    await kernel.call("riff/batchSetRiffCardsDueTime", cardDues=due)
    assert len((await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN))["cards"]) == 1
    await kernel.call("riff/resetRiffCards", type="tree", id=document, deckID=BUILT_IN)
    again = (await kernel.call("riff/getRiffDueCards", deckID=BUILT_IN))["cards"]
    assert {card["blockID"] for card in again} == set(blocks)
    assert not {card["cardID"] for card in again} & set(ids)


async def test_a_round_is_bounded_by_the_settings_or_the_document() -> None:
    kernel = MemoryKernel()
    document, _ = await deck_of_two(kernel)
    await kernel.call("attr/setBlockAttrs", id=document, attrs={"custom-riff-new-card-limit": "1"})
    due = await kernel.call("riff/getTreeRiffDueCards", rootID=document)
    assert (len(due["cards"]), due["unreviewedCount"], due["unreviewedNewCardCount"]) == (1, 2, 1)
