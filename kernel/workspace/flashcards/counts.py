"""[core] How many cards lie in documents and notebooks: what the file tree of cards, and searches for it, show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from kernel.workspace.flashcards.decks import BUILT_IN, Card, Deck, load_deck
from kernel.workspace.flashcards.scheduling import NEVER

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CardCounts:
    """Cards never reviewed, cards due now, and blocks that have a card."""

    new: int = 0
    due: int = 0
    total: int = 0

    def to_json(self) -> dict[str, int]:
        return {"newFlashcardCount": self.new, "dueFlashcardCount": self.due, "flashcardCount": self.total}

    def to_texts(self) -> dict[str, str]:
        return {name: str(count) for name, count in self.to_json().items()}


NO_CARDS: Final = CardCounts()


class CardCounter:
    """Counts the cards of the built-in deck; without a deck, there are none."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.now: datetime = workspace.clock.local()
        deck: Deck | None = load_deck(workspace, BUILT_IN)
        self.cards: dict[str, list[Card]] = {}
        for card in deck.cards.values() if deck is not None else ():
            self.cards.setdefault(card.block_id, []).append(card)

    def in_blocks(self, block_ids: frozenset[str]) -> CardCounts:
        found = [cards for block_id, cards in self.cards.items() if block_id in block_ids]
        cards = [card for of_block in found for card in of_block]
        never = sum(card.memory.last_review == NEVER for card in cards)
        return CardCounts(never, sum(card.memory.due <= self.now for card in cards), len(found))

    def below(self, root_id: str) -> CardCounts:
        """Those of a document and of all below it; a notebook's own document stands for all of it."""
        return self.in_blocks(tree_blocks(self.workspace, root_id)) if self.cards else NO_CARDS

    def in_box(self, box: str) -> CardCounts:
        return self.in_blocks(box_blocks(self.workspace, box)) if self.cards else NO_CARDS


def tree_blocks(workspace: Workspace, root_id: str) -> frozenset[str]:
    """The blocks of a document and of all below it; a notebook's own document stands for all of it."""
    entry = workspace.blocks.entry_of(root_id)
    if entry is None:
        return frozenset()
    if root_id == entry.box:
        return box_blocks(workspace, entry.box)
    below = workspace.blocks.below(entry.box, entry.path)
    return frozenset(block_id for document in below for block_id in document.block_ids)


def box_blocks(workspace: Workspace, box: str) -> frozenset[str]:
    return frozenset(block_id for entry in workspace.blocks.in_box(box) for block_id in entry.block_ids)
