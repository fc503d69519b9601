"""Tool ``flashcard``: decks, cards and reviews."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from uuid import UUID

from kernel.errors import ToolError
from kernel.host.base import HostApiError
from kernel.safety.intent import Outcome
from kernel.tools.candidates import Candidates
from kernel.tools.context import Arguments, Handling, ToolContext, Written, on_notebook
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level
from kernel.tools.registry.small import CARD_SCOPES

BUILTIN_DECK: Final = "20230218211946-2kw8jgx"
# On a block: the decks that hold it, parted by commas.
_DECKS: Final = "custom-riff-decks"
_BUILTIN_NAME: Final = "Built-in Deck"
_CARDS_PAGE: Final = 512
_RATINGS: Final = (1, 2, 3, 4)
_CARD_PAGES_MAX: Final = 128
_DUE: Final[dict[str, str]] = {
    "all": "/api/riff/getRiffDueCards",
    "deck": "/api/riff/getRiffDueCards",
    "notebook": "/api/riff/getNotebookRiffDueCards",
    "tree": "/api/riff/getTreeRiffDueCards",
}


async def list_cards(context: ToolContext, arguments: Arguments) -> Any:
    scope, wanted = arguments["scope"], arguments["filter"]
    name = CARD_SCOPES[scope]
    place = {name: arguments[name]} if name else {"deckID": ""}
    data = await context.call(_DUE[scope], reviewedCards=arguments.get("reviewedCards"), **place)
    cards = [card for card in (data or {}).get("cards") or [] if wanted == "due" or _is_new(card) == (wanted == "new")]
    shown = {name: arguments[name]} if name else {}
    token = {"candidateToken": _kept(context, cards)} if context.caller.has_apps and cards else {}
    return {
        "action": "list_cards",
        **dict(data or {}),
        "cards": cards,
        "scope": scope,
        "filter": wanted,
        **shown,
        **token,
    }


def _kept(context: ToolContext, cards: Sequence[dict[str, Any]]) -> str:
    """Remember the listed cards for a review session in a view."""
    token = str(UUID(bytes=context.ids.entropy(16), version=4))
    candidates: Candidates = context.parts["candidates"]
    candidates.keep(token, cards, context.clock.wall_ms())
    return token


def _is_new(card: dict[str, Any]) -> bool:
    return not card.get("state") and not card.get("reps")


async def get_decks(context: ToolContext, arguments: Arguments) -> Any:
    return {"action": "get_decks", "decks": await _decks(context)}


async def _decks(context: ToolContext) -> list[dict[str, Any]]:
    """All decks; the built-in one, which the host never lists, first."""
    decks = [{**deck, "deckID": deck.get("id")} for deck in await context.call("/api/riff/getRiffDecks") or []]
    builtin = {"id": BUILTIN_DECK, "deckID": BUILTIN_DECK, "name": _BUILTIN_NAME, "builtin": True}
    return [builtin, *(deck for deck in decks if deck["id"] != BUILTIN_DECK)]


async def get_cards(context: ToolContext, arguments: Arguments) -> Any:
    deck, page, size = arguments["deckID"], arguments["page"], arguments["pageSize"]
    data = await context.call("/api/riff/getRiffCards", id=deck, page=page, pageSize=size) or {}
    blocks = data.get("blocks") or []
    readable = [block for block in blocks if not block.get("box") or context.readable(str(block["box"]))]
    total = int(data.get("total") or 0)
    return {
        "action": "get_cards",
        "deckID": deck,
        "page": page,
        "cards": readable,
        "total": total,
        "pageCount": math.ceil(total / size),
    }


async def review_card(context: ToolContext, arguments: Arguments) -> Written:
    deck, card = _named_deck(arguments["deckID"]), arguments["cardID"]
    payload: dict[str, Any] = {"action": "review_card", "deckID": deck, "cardID": card}
    if arguments.get("skip"):
        result = await context.call("/api/riff/skipReviewRiffCard", deckID=deck, cardID=card)
        return Written({**payload, "skip": True, "result": result})
    rating = arguments["rating"]
    result = await context.call(
        "/api/riff/reviewRiffCard",
        deckID=deck,
        cardID=card,
        rating=rating,
        reviewedCards=arguments.get("reviewedCards"),
    )
    return Written({**payload, "rating": rating, "result": result})


def _named_deck(deck: str) -> str:
    if not deck:
        raise refusal("A review needs its deck: deckID must not be empty.", "invalid_arguments")
    return deck


async def _guard_review(context: ToolContext, arguments: Arguments) -> None:
    """The host records a review of any id: a card that is not there must not seem reviewed."""
    deck, card = _named_deck(arguments["deckID"]), arguments["cardID"]
    if context.configuration.is_strict and not arguments.get("skip") and arguments["rating"] not in _RATINGS:
        # The host takes any other for an undo of this round's review.
        raise refusal("rating is 1 (again), 2 (hard), 3 (good) or 4 (easy).", "invalid_arguments")
    for page in range(1, _CARD_PAGES_MAX + 1):
        data = await context.call("/api/riff/getRiffCards", id=deck, page=page, pageSize=_CARDS_PAGE) or {}
        context.progress.found("Looked through the cards")
        for block in data.get("blocks") or []:
            own = (block.get("riffCardID"), (block.get("riffCard") or {}).get("id"))
            if card in own:
                if block.get("box"):
                    await context.require(str(block["box"]), Level.WRITE)
                return
        if page >= int(data.get("pageCount") or 0):
            break
    raise refusal(f"Deck {deck} has no card {card}.", "not_found", hint="List the cards first.")


async def create_card(context: ToolContext, arguments: Arguments) -> Written:
    deck = arguments["deckID"] or BUILTIN_DECK
    ids: list[str] = arguments["blockIDs"]
    result = await context.call("/api/riff/addRiffCards", deckID=deck, blockIDs=ids)
    if not context.configuration.is_strict and not await _have_cards(context, deck, ids):
        raise ToolError(
            "readback_mismatch",
            f"Not every block shows its new card in deck {deck}.",
            type="internal_error",
            hint="The host takes unknown blocks and decks without a word: look them up first.",
        )
    payload = {
        "action": "create_card",
        "mode": arguments.get("mode", "full"),
        "deckID": arguments["deckID"],
        "effectiveDeckID": deck,
        "blockIDs": ids,
        "result": result,
    }
    return Written(payload, changed=True)


def create_confirms(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """Every block names the deck."""

    async def confirm(outcome: Outcome) -> bool:
        return await _have_cards(context, outcome.payload["effectiveDeckID"], arguments["blockIDs"])

    return confirm


async def _have_cards(context: ToolContext, deck: str, ids: Sequence[str]) -> bool:
    """The host's own list of cards goes through its index; the attribute is in the tree."""
    found = await context.call("/api/attr/batchGetBlockAttrs", ids=ids) or {}
    return all(deck in str((found.get(one) or {}).get(_DECKS) or "").split(",") for one in ids)


async def _guard_create(context: ToolContext, arguments: Arguments) -> None:
    """Its blocks may be written to. The host takes unknown decks and blocks without a word: the deck is asked for before,
    a block for a strict write only."""
    ids: Sequence[str] = arguments["blockIDs"]
    is_strict = context.configuration.is_strict
    for block_id in context.progress.steps(ids, "Looked up"):
        if not await context.call("/api/block/checkBlockExist", id=block_id):
            if not is_strict:
                continue
            raise refusal(f"There is no block {block_id}.", "block_not_found", hint="Look the block up first.")
        await context.require_block(block_id, Level.WRITE)
    deck = arguments["deckID"]
    if deck and deck not in {str(row.get("id")) for row in await _decks(context)}:
        raise refusal(f"There is no deck {deck}.", "not_found", hint="List the decks.")


async def remove_card(context: ToolContext, arguments: Arguments) -> Written:
    deck = arguments["deckID"] or BUILTIN_DECK
    ids: list[str] = arguments["blockIDs"]
    result = await context.call("/api/riff/removeRiffCards", deckID=deck, blockIDs=ids)
    payload = {
        "action": "remove_card",
        "deckID": arguments["deckID"],
        "effectiveDeckID": deck,
        "blockIDs": ids,
        "result": result,
    }
    return Written(payload)


async def _guard_remove(context: ToolContext, arguments: Arguments) -> None:
    """Cards of blocks that are gone may be removed; cards of blocks that are there need the right to."""
    if context.configuration.is_strict:
        await _require_card(context, arguments)
    for block_id in context.progress.steps(arguments["blockIDs"], "Looked up"):
        if await context.call("/api/block/checkBlockExist", id=block_id):
            await context.require_block(block_id, Level.DELETE)


async def _require_card(context: ToolContext, arguments: Arguments) -> None:
    """A strict write changes something: no card at all is nothing to remove."""
    found = await context.call("/api/riff/getRiffCardsByBlockIDs", blockIDs=arguments["blockIDs"]) or {}
    deck = arguments["deckID"] or BUILTIN_DECK
    attributes = await context.call("/api/attr/batchGetBlockAttrs", ids=arguments["blockIDs"]) or {}
    has_card = any(row.get("riffCardID") for row in found.get("blocks") or [])
    if not has_card and not any(deck in str(one.get(_DECKS) or "") for one in attributes.values()):
        raise refusal(f"None of these blocks has a card in deck {deck}.", "not_found", hint="List the cards.")


async def _guard_list(context: ToolContext, arguments: Arguments) -> None:
    await on_notebook(Level.READ, "notebook")(context, arguments)
    if root := arguments.get("rootID"):
        try:
            await context.require_block(root, Level.READ)
        except HostApiError:
            # An unknown root has no cards; the host says so itself.
            return


HANDLERS: Final[dict[str, Handling]] = {
    "flashcard.list_cards": Handling(list_cards, _guard_list),
    "flashcard.get_decks": Handling(get_decks),
    "flashcard.get_cards": Handling(get_cards),
    "flashcard.review_card": Handling(review_card, _guard_review),
    "flashcard.create_card": Handling(create_card, _guard_create, confirms=create_confirms),
    "flashcard.remove_card": Handling(remove_card, _guard_remove),
}
