"""Tools ``mascot`` and ``feedback``: the purse that calls fill, and a word to the makers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from kernel.tools.configuration import PLUGIN_FOLDER
from kernel.tools.context import Arguments, Handling, ToolContext, Written
from kernel.tools.failures import refusal
from kernel.tools.statistics import Statistics

FEEDBACK_FILE: Final = PLUGIN_FOLDER + "feedback.jsonl"
FEEDBACK_FILE_BYTES_MAX: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Item:
    """Something the shop sells. ``cost`` is in calls."""

    id: str
    label: str
    cost: int
    type: str
    emoji: str

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "label": self.label, "cost": self.cost, "type": self.type, "emoji": self.emoji}


ITEMS: Final = (
    Item("cat-food", "Cat Food", 5, "food", "🍖"),
    Item("milk", "Milk", 3, "drink", "🥛"),
    Item("dried-fish", "Dried Fish", 4, "food", "🐟"),
    Item("can-food", "Canned Food", 6, "food", "🥫"),
    Item("catnip", "Catnip", 5, "snack", "🌿"),
    Item("chicken-leg", "Chicken Leg", 7, "food", "🍗"),
    Item("cheese", "Cheese", 4, "snack", "🧀"),
)


async def get_balance(context: ToolContext, arguments: Arguments) -> Any:
    purse = await _statistics(context).balance()
    return {"action": "get_balance", "balance": purse.balance, "totalEarned": purse.total_calls}


async def shop(context: ToolContext, arguments: Arguments) -> Any:
    purse = await _statistics(context).balance()
    items = [item.as_json() for item in ITEMS]
    return {"action": "shop", "balance": purse.balance, "totalEarned": purse.total_calls, "items": items}


async def buy(context: ToolContext, arguments: Arguments) -> Written:
    item = _item(arguments["item_id"])
    try:
        purse = await _statistics(context).spend(item.cost, f"buy:{item.id}")
    except ValueError as error:
        raise refusal(f"{item.label} costs {item.cost}: {error}.", "conflict", hint="Every call earns one.") from error
    payload = {
        "success": True,
        "action": "buy",
        "item_id": item.id,
        "item": item.label,
        "type": item.type,
        "emoji": item.emoji,
        "cost": item.cost,
        "balance": purse.balance,
        "totalEarned": purse.total_calls,
    }
    return Written(payload, changed=True)


def _item(item_id: str) -> Item:
    found = next((item for item in ITEMS if item.id == item_id), None)
    if found is None:
        raise refusal(f"The shop has no {item_id!r}.", "not_found", hint='mascot(action="shop") lists what it has.')
    return found


async def _guard_buy(context: ToolContext, arguments: Arguments) -> None:
    item = _item(arguments["item_id"])
    purse = await _statistics(context).balance()
    if purse.balance < item.cost:
        raise refusal(
            f"{item.label} costs {item.cost}, and the purse holds {purse.balance}.",
            "conflict",
            hint="Every call earns one.",
        )


def _statistics(context: ToolContext) -> Statistics:
    statistics: Statistics = context.parts["statistics"]
    return statistics


async def submit(context: ToolContext, arguments: Arguments) -> Written:
    """Kept in a file of the workspace: nothing leaves the machine (decision 55)."""
    stamp = context.clock.wall_ms()
    line = json.dumps({"createdTs": stamp, **arguments}, ensure_ascii=False).encode() + b"\n"
    kept = await context.host.read_file(FEEDBACK_FILE) or b""
    if len(kept) + len(line) > FEEDBACK_FILE_BYTES_MAX:
        raise refusal("The feedback file is full.", "too_large", hint=f"Send and empty {FEEDBACK_FILE}.")
    await context.host.write_file(FEEDBACK_FILE, kept + line)
    return Written({"action": "submit", "success": True, "createdTs": stamp, "storedAt": FEEDBACK_FILE})


HANDLERS: Final[dict[str, Handling]] = {
    "mascot.get_balance": Handling(get_balance),
    "mascot.shop": Handling(shop),
    "mascot.buy": Handling(buy, _guard_buy),
    "feedback.submit": Handling(submit),
}
