"""/api/riff: flashcards (siyuan-api A11; kernel-facts 25)."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.notes_index import read_in_thread
from kernel.workspace.block_json import block_json, empty_block
from kernel.workspace.calendar_spans import calendar_span
from kernel.workspace.flashcards.counts import box_blocks, tree_blocks
from kernel.workspace.flashcards.decks import (
    BUILT_IN,
    Card,
    Deck,
    create_deck,
    deck_ids,
    load_deck,
    remove_deck,
    save_deck,
)
from kernel.workspace.flashcards.review import (
    Due,
    Limits,
    Round,
    add_cards,
    due_cards,
    limits_of,
    next_dues,
    remove_cards,
    review,
)
from kernel.workspace.flashcards.scheduling import NEVER
from kernel.workspace.index.queries import blocks_by_id
from kernel.workspace.names import clean_path

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call, SiyuanKernel
    from kernel.workspace.workspace import Workspace

# How many pages of nothing there are: what Go makes of a number that is none.
_NO_COUNT: Final = -(2**63)
_ROUND: Final = "flashcard_round"
_NO_BLOCK: Final = "Search content block does not exist"
_PAGE_SIZE: Final = 20
_STAMP: Final = "%Y%m%d%H%M%S"


def _round(kernel: SiyuanKernel) -> Round:
    found = kernel.state.get(_ROUND)
    if not isinstance(found, Round):
        found = kernel.state[_ROUND] = Round()
    return found


# --- decks -----------------------------------------------------------------------------------------------------------
def get_decks(call: Call) -> Any:
    """All decks but the built-in one, the latest first."""
    workspace = call.kernel.workspace
    decks = [load_deck(workspace, deck_id) for deck_id in deck_ids(workspace) if deck_id != BUILT_IN]
    known = sorted((deck for deck in decks if deck is not None), key=lambda deck: -deck.updated)
    return [_deck_json(call, deck) for deck in known]


def create(call: Call) -> Any:
    name = call.arguments.raw_str("name")
    workspace = call.kernel.workspace
    return _deck_json(call, create_deck(workspace, workspace.new_id(), name))


def rename(call: Call) -> Any:
    deck = _deck(call, call.arguments.raw_str("deckID"))
    deck.name = call.arguments.raw_str("name")
    save_deck(call.kernel.workspace, deck)


def remove(call: Call) -> Any:
    remove_deck(call.kernel.workspace, call.arguments.raw_str("deckID"))


def _deck(call: Call, deck_id: str) -> Deck:
    """A deck. Raises Panic for an unknown one, as the kernel's handlers do."""
    deck = load_deck(call.kernel.workspace, deck_id)
    if deck is None:
        raise Panic(deck_id)
    return deck


def _deck_json(call: Call, deck: Deck) -> dict[str, Any]:
    return {
        "id": deck.id,
        "name": deck.name,
        "size": len(deck.cards),
        "created": _shown(call, deck.created),
        "updated": _shown(call, deck.updated),
    }


def _shown(call: Call, at_ms: int) -> str:
    zone = call.kernel.clock.local().tzinfo or UTC
    return f"{datetime.fromtimestamp(at_ms / 1000, tz=zone):%Y-%m-%d %H:%M:%S}"


# --- cards -----------------------------------------------------------------------------------------------------------
def add(call: Call) -> Any:
    deck_id, block_ids = call.arguments.raw_str("deckID"), call.arguments.raw_str_list("blockIDs")
    add_cards(call.kernel.workspace, deck_id, block_ids)
    return _deck_json(call, _deck(call, deck_id))


def remove_riff_cards(call: Call) -> Any:
    deck_id, block_ids = call.arguments.raw_str("deckID"), call.arguments.raw_str_list("blockIDs")
    remove_cards(call.kernel.workspace, deck_id, block_ids)
    return _deck_json(call, _deck(call, deck_id)) if deck_id else None


async def get_cards(call: Call) -> Any:
    """The cards of a deck, or (``""``) of all."""
    workspace = call.kernel.workspace
    deck_id = call.arguments.raw_str("id")
    page, size = _page(call)
    decks = [load_deck(workspace, one) for one in (deck_ids(workspace) if not deck_id else [deck_id])]
    if decks == [None]:
        return _no_cards()
    return await _paged(call, [card for deck in decks if deck is not None for card in deck.cards.values()], page, size)


async def get_tree_cards(call: Call) -> Any:
    root_id = call.arguments.raw_str("id")
    page, size = _page(call)
    deck = load_deck(call.kernel.workspace, BUILT_IN)
    blocks = tree_blocks(call.kernel.workspace, root_id)
    return await _paged(call, deck.of_blocks(blocks) if deck is not None else [], page, size)


async def get_notebook_cards(call: Call) -> Any:
    box = call.arguments.raw_str("id")
    page, size = _page(call)
    deck = load_deck(call.kernel.workspace, BUILT_IN)
    if call.kernel.workspace.notebooks.get(box) is None or deck is None:
        return _no_cards()
    return await _paged(call, deck.of_blocks(box_blocks(call.kernel.workspace, box)), page, size)


def _page(call: Call) -> tuple[int, int]:
    page = int(call.arguments.raw_number("page"))
    size = _PAGE_SIZE if call.arguments.get("pageSize") is None else int(call.arguments.raw_number("pageSize"))
    return page, size


def _no_cards() -> dict[str, Any]:
    """What is told of a deck or notebook that is not there, whatever the page."""
    return {"blocks": [], "total": 0, "pageCount": 0}


async def _paged(call: Call, cards: list[Card], page: int, size: int) -> dict[str, Any]:
    start, end = min((page - 1) * size, len(cards)), min(page * size, len(cards))
    if not 0 <= start <= end:
        raise Panic("page")
    shown = sorted(cards, key=lambda card: (card.memory.due, card.id))[start:end]
    return {
        "blocks": await _card_blocks(call, shown),
        "total": len(cards),
        "pageCount": math.ceil(len(cards) / size) if size else _NO_COUNT,
    }


async def _card_blocks(call: Call, cards: list[Card]) -> list[dict[str, Any]]:
    ids = [card.block_id for card in cards]
    rows = await read_in_thread(call.kernel, lambda reader: blocks_by_id(reader, ids), with_texts=False) if ids else []
    known = {row.id: row for row in rows}
    blocks = []
    for card in cards:
        row = known.get(card.block_id)
        if row is None:
            blocks.append({**empty_block(), "id": card.block_id, "content": _NO_BLOCK, **_card_json(call, None)})
        else:
            blocks.append({**block_json(row), **_card_json(call, card)})
    return blocks


def _card_json(call: Call, card: Card | None) -> dict[str, Any]:
    if card is None:
        return {"riffCardID": "", "riffCard": None}
    memory = card.memory
    due = call.kernel.clock.local() if memory.due == NEVER else memory.due
    return {
        "riffCardID": card.id,
        "riffCard": {
            "due": _instant(due),
            "reps": memory.reps,
            "lapses": memory.lapses,
            "state": memory.state,
            "lastReview": _instant(memory.last_review),
        },
    }


def _instant(moment: datetime) -> str:
    text = moment.isoformat()
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


async def get_cards_by_blocks(call: Call) -> Any:
    """The built-in deck's cards of these blocks, in this order; a block without one says so."""
    block_ids = call.arguments.raw_str_list("blockIDs")
    deck = load_deck(call.kernel.workspace, BUILT_IN)
    if deck is None:
        return {"blocks": []}
    blocks = {block["id"]: block for block in await _card_blocks(call, deck.of_blocks(frozenset(block_ids)))}
    nothing = {**empty_block(), "content": _NO_BLOCK, **_card_json(call, None)}
    return {"blocks": [blocks.get(block_id) or {**nothing, "id": block_id} for block_id in block_ids]}


# --- reviewing -------------------------------------------------------------------------------------------------------
def get_due(call: Call) -> Any:
    deck_id = call.arguments.raw_str("deckID")
    reviewed = _reviewed(call)
    deck = load_deck(call.kernel.workspace, deck_id or BUILT_IN)
    if deck is None:
        return _due_json(call, deck_id, Due(), is_null=bool(deck_id))
    return _due_json(call, deck.id, _due(call, deck, reviewed, frozenset(), limits_of(call.kernel.workspace)))


def get_tree_due(call: Call) -> Any:
    workspace = call.kernel.workspace
    root_id = call.arguments.raw_str("rootID")
    reviewed = _reviewed(call)
    deck = load_deck(workspace, BUILT_IN)
    if deck is None:
        return _due_json(call, BUILT_IN, Due(), is_null=True)
    blocks = tree_blocks(workspace, root_id)
    return _due_json(call, BUILT_IN, _due(call, deck, reviewed, blocks, limits_of(workspace, root_id)))


def get_notebook_due(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = call.arguments.raw_str("notebook")
    reviewed = _reviewed(call)
    folder = clean_path(f"data/{box}")
    if ".." not in folder and not workspace.files.is_dir(folder):
        raise ApiError(f"open {workspace.files.absolute(folder)}: no such file or directory")
    deck = load_deck(workspace, BUILT_IN)
    if deck is None:
        return _due_json(call, BUILT_IN, Due(), is_null=True)
    return _due_json(call, BUILT_IN, _due(call, deck, reviewed, box_blocks(workspace, box), limits_of(workspace)))


def _due(call: Call, deck: Deck, reviewed: list[str], blocks: frozenset[str], limits: Limits) -> Due:
    return due_cards(call.kernel.workspace, deck, _round(call.kernel), reviewed, blocks, limits)


def _due_json(call: Call, deck_id: str, due: Due, *, is_null: bool = False) -> dict[str, Any]:
    return {
        "cards": None if is_null else [_due_card(call, deck_id, card) for card in due.cards],
        "unreviewedCount": due.unreviewed,
        "unreviewedNewCardCount": due.unreviewed_new,
        "unreviewedOldCardCount": due.unreviewed_old,
    }


def _due_card(call: Call, deck_id: str, card: Card) -> dict[str, Any]:
    now = call.kernel.clock.local()
    memory = card.memory
    return {
        "deckID": deck_id,
        "cardID": card.id,
        "blockID": card.block_id,
        "lapses": memory.lapses,
        "reps": memory.reps,
        "state": memory.state,
        "lastReview": round(memory.last_review.timestamp() * 1000),
        "nextDues": {
            str(rating): calendar_span(following.due, now)
            for rating, following in next_dues(call.kernel.workspace, card).items()
        },
    }


def _reviewed(call: Call) -> list[str]:
    if call.arguments.get("reviewedCards") is None:
        return []
    ids = []
    for card in call.arguments.raw_list("reviewedCards"):
        if not isinstance(card, dict) or not isinstance(card.get("cardID"), str):
            raise Panic("reviewedCards")
        ids.append(card["cardID"])
    return ids


def review_card(call: Call) -> Any:
    deck_id, card_id = call.arguments.raw_str("deckID"), call.arguments.raw_str("cardID")
    rating = int(call.arguments.raw_number("rating"))
    reviewed = _reviewed(call)
    deck = _deck(call, deck_id)
    card = deck.cards.get(card_id)
    if card is None:
        return
    workspace, round_ = call.kernel.workspace, _round(call.kernel)
    review(workspace, deck, card, round_, rating)
    # Without the list of reviewed cards each review begins a round of its own, as in the kernel.
    if not due_cards(workspace, deck, round_, reviewed, frozenset(), limits_of(workspace)).unreviewed:
        round_.clear()


def skip_card(call: Call) -> Any:
    deck = _deck(call, call.arguments.raw_str("deckID"))
    card_id = call.arguments.raw_str("cardID")
    if card_id in deck.cards:
        _round(call.kernel).skipped.add(card_id)


def reset_cards(call: Call) -> Any:
    """Cards begin anew: given ones, or those of a notebook, or of a document with all below it.

    A whole deck is never reset: the kernel forgets which blocks it has found there.
    """
    kind, scope_id = call.arguments.raw_str("type"), call.arguments.raw_str("id")
    deck_id = call.arguments.raw_str("deckID")
    workspace = call.kernel.workspace
    block_ids: list[str] = []
    if call.arguments.get("blockIDs") is not None:
        block_ids = call.arguments.raw_str_list("blockIDs")
    if not block_ids:
        within = {"notebook": box_blocks, "tree": tree_blocks}.get(kind)
        deck = load_deck(workspace, BUILT_IN)
        if deck is None or within is None:
            return
        kept = within(workspace, scope_id)
        block_ids = [block_id for block_id in deck.block_ids() if block_id in kept]
    targets = [deck_id] if deck_id else [one for one in deck_ids(workspace) if _holds(workspace, one, block_ids)]
    for target in targets:
        remove_cards(workspace, target, block_ids)
        add_cards(workspace, target, block_ids)


def _holds(workspace: Workspace, deck_id: str, block_ids: list[str]) -> bool:
    deck = load_deck(workspace, deck_id)
    return deck is not None and bool(deck.of_blocks(frozenset(block_ids)))


def set_due_times(call: Call) -> Any:
    """Due times of the built-in deck's cards, as stamps of local time; unknown cards are passed over."""
    dues = []
    for one in call.arguments.raw_list("cardDues"):
        if not isinstance(one, dict) or not isinstance(one.get("id"), str) or not isinstance(one.get("due"), str):
            raise Panic("cardDues")
        dues.append((one["id"], one["due"]))
    workspace = call.kernel.workspace
    deck = load_deck(workspace, BUILT_IN)
    if deck is None:
        return
    zone = call.kernel.clock.local().tzinfo
    for card_id, stamp in dues:
        card = deck.cards.get(card_id)
        if card is None:
            continue
        try:
            due = datetime.strptime(stamp, _STAMP).replace(tzinfo=zone)
        except ValueError:
            words = f'parsing time "{stamp}" as "20060102150405": cannot parse "{stamp}" as "2006"'
            raise ApiError(words) from None
        card.memory = replace(card.memory, due=due)
    save_deck(workspace, deck)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/riff/getRiffDecks": get_decks,
    "/api/riff/createRiffDeck": create,
    "/api/riff/renameRiffDeck": rename,
    "/api/riff/removeRiffDeck": remove,
    "/api/riff/addRiffCards": add,
    "/api/riff/removeRiffCards": remove_riff_cards,
    "/api/riff/getRiffCards": get_cards,
    "/api/riff/getTreeRiffCards": get_tree_cards,
    "/api/riff/getNotebookRiffCards": get_notebook_cards,
    "/api/riff/getRiffCardsByBlockIDs": get_cards_by_blocks,
    "/api/riff/getRiffDueCards": get_due,
    "/api/riff/getTreeRiffDueCards": get_tree_due,
    "/api/riff/getNotebookRiffDueCards": get_notebook_due,
    "/api/riff/reviewRiffCard": review_card,
    "/api/riff/skipReviewRiffCard": skip_card,
    "/api/riff/resetRiffCards": reset_cards,
    "/api/riff/batchSetRiffCardsDueTime": set_due_times,
}
