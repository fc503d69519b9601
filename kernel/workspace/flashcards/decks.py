"""[core] Decks of flashcards as they lie on disk: ``data/storage/riff/<deck>.deck`` and ``.cards``, in MessagePack."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel.workspace.flashcards.scheduling import NEVER, Memory, Scheduler

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

BUILT_IN: Final = "20230218211946-2kw8jgx"
BUILT_IN_NAME: Final = "Built-in Deck"
FOLDER: Final = "data/storage/riff"


@dataclass(slots=True)
class Card:
    """One card: a block to be remembered."""

    id: str
    block_id: str
    memory: Memory = field(default_factory=Memory)


@dataclass(slots=True)
class Deck:
    """A deck. ``created`` and ``updated`` in Unix milliseconds."""

    id: str
    name: str
    created: int
    updated: int
    cards: dict[str, Card] = field(default_factory=dict)

    def of_block(self, block_id: str) -> Card | None:
        return next((card for card in self.cards.values() if card.block_id == block_id), None)

    def of_blocks(self, block_ids: frozenset[str]) -> list[Card]:
        return [card for card in self.cards.values() if card.block_id in block_ids]

    def block_ids(self) -> list[str]:
        return sorted({card.block_id for card in self.cards.values()})


def deck_ids(workspace: Workspace) -> list[str]:
    """The decks there are."""
    if not workspace.files.is_dir(FOLDER):
        return []
    return [entry.name[:-5] for entry in workspace.files.list(FOLDER) if entry.name.endswith(".deck")]


def load_deck(workspace: Workspace, deck_id: str) -> Deck | None:
    """A deck; None if there is none, or it cannot be read."""
    if deck_id not in deck_ids(workspace):
        return None
    try:
        head = msgspec.msgpack.decode(workspace.files.read(f"{FOLDER}/{deck_id}.deck"))
        deck = Deck(deck_id, str(head["Name"]), int(head["Created"]), int(head["Updated"]))
        cards_path = f"{FOLDER}/{deck_id}.cards"
        if workspace.files.exists(cards_path):
            stored = msgspec.msgpack.decode(workspace.files.read(cards_path))
            deck.cards = {card_id: _card(card_id, value) for card_id, value in (stored or {}).items()}
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        return None
    return deck


def save_deck(workspace: Workspace, deck: Deck) -> None:
    deck.updated = workspace.clock.wall_ms()
    for name, content in encoded_deck(deck).items():
        workspace.files.write(f"{FOLDER}/{name}", content)


def encoded_deck(deck: Deck) -> dict[str, bytes]:
    """A deck as its two files."""
    cards = {card.id: _stored(card) for card in deck.cards.values()}
    head = {
        "ID": deck.id,
        "Name": deck.name,
        "Algo": "fsrs",
        "Desc": "",
        "Created": deck.created,
        "Updated": deck.updated,
    }
    return {f"{deck.id}.cards": msgspec.msgpack.encode(cards), f"{deck.id}.deck": msgspec.msgpack.encode(head)}


def create_deck(workspace: Workspace, deck_id: str, name: str) -> Deck:
    now_ms = workspace.clock.wall_ms()
    deck = Deck(deck_id, name, now_ms, now_ms)
    save_deck(workspace, deck)
    return deck


def remove_deck(workspace: Workspace, deck_id: str) -> None:
    """No complaint if there is none."""
    if deck_id in deck_ids(workspace):
        for suffix in ("deck", "cards"):
            if workspace.files.exists(f"{FOLDER}/{deck_id}.{suffix}"):
                workspace.files.remove(f"{FOLDER}/{deck_id}.{suffix}")


def scheduler_of(workspace: Workspace) -> Scheduler:
    """The scheduler by the settings."""
    conf = workspace.conf.section("flashcard")
    return Scheduler.of(
        str(conf.get("weights", "")),
        float(conf.get("requestRetention", 0.9)),
        float(conf.get("maximumInterval", 36500)),
    )


def log_review(workspace: Workspace, card: Card, rating: int, before: Memory) -> None:
    """One line in the month's log of reviews."""
    path = f"{FOLDER}/logs/{workspace.clock.local():%Y%m}.msgpack"
    known: Any = []
    if workspace.files.exists(path):
        try:
            known = msgspec.msgpack.decode(workspace.files.read(path), type=list[Any])
        except msgspec.DecodeError:
            known = []
    line = {
        "ID": workspace.new_id(),
        "CardID": card.id,
        "Rating": rating,
        "ScheduledDays": before.scheduled_days,
        "ElapsedDays": card.memory.elapsed_days,
        "Reviewed": workspace.clock.wall_ms() // 1000,
        "State": before.state,
    }
    workspace.files.write(path, msgspec.msgpack.encode([*known, line]))


def _stored(card: Card) -> dict[str, Any]:
    memory = card.memory
    return {
        "CID": card.id,
        "BID": card.block_id,
        "NDues": None,
        "C": {
            "Due": memory.due,
            "Stability": memory.stability,
            "Difficulty": memory.difficulty,
            "ElapsedDays": memory.elapsed_days,
            "ScheduledDays": memory.scheduled_days,
            "Reps": memory.reps,
            "Lapses": memory.lapses,
            "State": memory.state,
            "LastReview": memory.last_review,
        },
    }


def _card(card_id: str, stored: dict[str, Any]) -> Card:
    memory = stored["C"]
    return Card(
        card_id,
        str(stored["BID"]),
        Memory(
            _moment(memory["Due"]),
            float(memory["Stability"]),
            float(memory["Difficulty"]),
            int(memory["ElapsedDays"]),
            int(memory["ScheduledDays"]),
            int(memory["Reps"]),
            int(memory["Lapses"]),
            int(memory["State"]),
            _moment(memory["LastReview"]),
        ),
    )


def _moment(value: Any) -> datetime:
    return value.astimezone(UTC) if isinstance(value, datetime) and value.year > 1 else NEVER
