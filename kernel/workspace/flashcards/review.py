"""[core] What is to be reviewed, reviewing it, and the mark that cards leave on their blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kernel.workspace.attributes import shown, tell_attributes
from kernel.workspace.flashcards.decks import (
    BUILT_IN,
    BUILT_IN_NAME,
    Card,
    Deck,
    create_deck,
    deck_ids,
    load_deck,
    log_review,
    save_deck,
    scheduler_of,
)
from kernel.workspace.flashcards.scheduling import NEW, RATINGS, Memory
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

DECKS_ATTRIBUTE: Final = "custom-riff-decks"
_NEW_FIRST, _OLD_FIRST = 1, 2
# The decks a block is in → those it is in afterwards.
DeckChange = Callable[[list[str]], list[str]]


@dataclass(slots=True)
class Round:
    """One round of reviewing: how cards were before they were reviewed, and which were skipped."""

    before: dict[str, Memory] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def clear(self) -> None:
        self.before.clear()
        self.skipped.clear()


@dataclass(slots=True)
class Due:
    """The cards to review now, and how many are left."""

    cards: list[Card] = field(default_factory=list)
    unreviewed: int = 0
    unreviewed_new: int = 0
    unreviewed_old: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Cards of one round."""

    new: int
    old: int
    mode: int = 0


def limits_of(workspace: Workspace, root_id: str = "") -> Limits:
    """By the settings, or by a document's own attributes."""
    conf = workspace.conf.section("flashcard")
    new, old = int(conf.get("newCardLimit", 20)), int(conf.get("reviewCardLimit", 200))
    entry = workspace.blocks.documents.get(root_id)
    if entry is not None:
        new = _int_or(entry.properties.get("custom-riff-new-card-limit"), new)
        old = _int_or(entry.properties.get("custom-riff-review-card-limit"), old)
    return Limits(new, old, int(conf.get("reviewMode", 0)))


def _int_or(text: str | None, default: int) -> int:
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        return 0


def due_cards(
    workspace: Workspace, deck: Deck, round_: Round, reviewed: list[str], blocks: frozenset[str], limits: Limits
) -> Due:
    """What of a deck is due now. ``blocks`` empty: all of it, which is the kernel's answer for an unknown document too."""
    if not reviewed:
        round_.clear()
    now = workspace.clock.local()
    counts = {True: 0, False: 0}
    for memory in round_.before.values():
        counts[memory.state == NEW] += 1
    found = Due()
    chosen: dict[bool, list[Card]] = {True: [], False: []}
    mixed: list[Card] = []
    for card in _by_block(deck, blocks):
        if card.memory.due > now or not workspace.block_exists(card.block_id) or card.id in round_.skipped:
            continue
        is_new = card.memory.state == NEW
        has_room = counts[is_new] < (limits.new if is_new else limits.old)
        if card.id not in reviewed:
            found.unreviewed += 1
            if has_room and is_new:
                found.unreviewed_new += 1
            elif has_room:
                found.unreviewed_old += 1
        if has_room:
            counts[is_new] += 1
            chosen[is_new].append(card)
            mixed.append(card)
    if limits.mode in (_NEW_FIRST, _OLD_FIRST):
        mixed = chosen[limits.mode == _NEW_FIRST] + chosen[limits.mode != _NEW_FIRST]
    found.cards = mixed
    return found


def _by_block(deck: Deck, blocks: frozenset[str]) -> Iterable[Card]:
    return {card.block_id: card for card in deck.cards.values() if not blocks or card.block_id in blocks}.values()


def next_dues(workspace: Workspace, card: Card) -> dict[int, Memory]:
    return scheduler_of(workspace).next_all(card.memory, workspace.clock.local())


def review(workspace: Workspace, deck: Deck, card: Card, round_: Round, rating: int) -> None:
    """Take a rating. A second one in the same round counts from where the card was before the first; one that is none
    takes the first back."""
    before = round_.before.get(card.id)
    if before is not None:
        card.memory = before
        round_.skipped.discard(card.id)
    else:
        before = round_.before[card.id] = card.memory
    if rating not in RATINGS:
        # The card is as before its first review, and no more is done.
        save_deck(workspace, deck)
        return
    card.memory = next_dues(workspace, card)[rating]
    save_deck(workspace, deck)
    log_review(workspace, card, rating, before)


# --- cards and blocks ------------------------------------------------------------------------------------------------
def add_cards(workspace: Workspace, deck_id: str, block_ids: list[str]) -> None:
    """Make cards of blocks, known or not. For an unknown deck the built-in one is made, and nothing else done."""
    if deck_id not in deck_ids(workspace):
        create_missing(workspace)
    _mark(workspace, block_ids, lambda known: [*known, deck_id])
    _tell_saved(workspace, "addFlashcards", deck_id, block_ids)
    deck = load_deck(workspace, deck_id)
    if deck is None:
        return
    for block_id in block_ids:
        if deck.of_block(block_id) is None:
            card_id = workspace.new_id()
            deck.cards[card_id] = Card(card_id, block_id)
    save_deck(workspace, deck)


def create_missing(workspace: Workspace) -> None:
    if BUILT_IN not in deck_ids(workspace):
        create_deck(workspace, BUILT_IN, BUILT_IN_NAME)


def remove_cards(workspace: Workspace, deck_id: str, block_ids: list[str]) -> None:
    """Take cards out of one deck, or (``""``) out of all."""
    known = deck_ids(workspace)
    if deck_id:
        _mark(workspace, block_ids, lambda decks: [one for one in decks if one != deck_id and one in known])
    else:
        _mark(workspace, block_ids, lambda _: [])
    _tell_saved(workspace, "removeFlashcards", deck_id, block_ids)
    for one in [deck_id] if deck_id else known:
        deck = load_deck(workspace, one)
        gone = deck.of_blocks(frozenset(block_ids)) if deck is not None else []
        if deck is not None and gone:
            for card in gone:
                del deck.cards[card.id]
            save_deck(workspace, deck)


def _tell_saved(workspace: Workspace, action: str, deck_id: str, block_ids: list[str]) -> None:
    """The documents of the blocks have been saved; the kernel marks cards by a transaction."""
    source = Transaction([Operation(action=action, deckID=deck_id, blockIDs=block_ids)])
    roots = dict.fromkeys(workspace.blocks.root_of(block_id) for block_id in block_ids)
    for root_id in filter(None, roots):
        workspace.emit("savedoc", {"rootID": root_id, "type": "tx", "sources": [source.to_json()]})


def _mark(workspace: Workspace, block_ids: list[str], change: DeckChange) -> None:
    """Write the decks of blocks into their attributes; unknown blocks are passed over."""
    for block_id in block_ids:
        try:
            workspace.edit(block_id)
            document, node = workspace.node(block_id)
        except (NotFound, CorruptDocument):
            continue
        old = shown(node.properties)
        known = [one for one in node.properties.get(DECKS_ATTRIBUTE, "").split(",") if one]
        decks = ",".join(dict.fromkeys(one for one in change(known) if one))
        if decks:
            node.properties[DECKS_ATTRIBUTE] = decks
        else:
            node.properties.pop(DECKS_ATTRIBUTE, None)
        workspace.save(document, [node])
        tell_attributes(workspace, document, node, old)
