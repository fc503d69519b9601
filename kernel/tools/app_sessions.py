"""What opens an App: its first content, read in the lane of sessions and without a budget of its own (S1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.tools import mascot, timeline
from kernel.tools.candidates import Candidates
from kernel.tools.context import Arguments, Handling, ToolContext
from kernel.tools.failures import refusal
from kernel.tools.limits import APP_CARDS_MAX
from kernel.tools.permissions import Level

_POINTS: Final = 100


async def open_timeline(context: ToolContext, arguments: Arguments) -> Any:
    document, tag = arguments.get("documentId"), arguments.get("tag")
    asked = {"scope": "all" if document else "global", "documentId": document, "page": 1, "pageSize": _POINTS}
    told = await timeline.list_nodes(context, asked)
    place = {name: value for name, value in (("documentId", document), ("tag", tag)) if value}
    return {"app": "timeline", **place, **told}


async def _guard_timeline(context: ToolContext, arguments: Arguments) -> None:
    if document := arguments.get("documentId"):
        await context.require_block(document, Level.READ)


async def open_review(context: ToolContext, arguments: Arguments) -> Any:
    """The chosen cards with the text of their blocks; one whose block cannot be read comes without."""
    cards = []
    for card in _chosen(context, arguments)[:APP_CARDS_MAX]:
        cards.append({**card, **await _text_of(context, str(card.get("blockID") or ""))})
    reason = arguments.get("selectionReason")
    return {"app": "flashcardReview", "cards": cards, **({"selectionReason": reason} if reason else {})}


def _chosen(context: ToolContext, arguments: Arguments) -> Sequence[dict[str, Any]]:
    if "cards" in arguments:
        cards: list[dict[str, Any]] = arguments["cards"]
        return cards
    candidates: Candidates = context.parts["candidates"]
    found = candidates.find(arguments["candidateToken"], context.clock.wall_ms())
    if found is None:
        raise refusal("This candidateToken is unknown or older than ten minutes.", "not_found", hint="List the cards.")
    return found


async def _text_of(context: ToolContext, block_id: str) -> dict[str, str]:
    if not block_id:
        return {}
    try:
        await context.require_block(block_id, Level.READ)
        data = await context.call("/api/block/getBlockKramdown", id=block_id, mode="textmark")
    except (HostError, ToolError):
        # Its block may be gone or not be ours to read; the card is there to be reviewed all the same.
        return {}
    lines = str((data or {}).get("kramdown") or "").splitlines()
    return {"content": "\n".join(line for line in lines if not line.lstrip().startswith("{:"))}


async def open_shop(context: ToolContext, arguments: Arguments) -> Any:
    return {"app": "mascotShop", **await mascot.shop(context, arguments)}


HANDLERS: Final[dict[str, Handling]] = {
    "timeline_app.open": Handling(open_timeline, _guard_timeline),
    "flashcard_review_session.open": Handling(open_review),
    "mascot_shop_app.open": Handling(open_shop),
}
