"""Tool ``block``: single blocks. Content is written in ``block_content``; here are structure, attributes and reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.tools import block_content
from kernel.tools.context import (
    Arguments,
    Handling,
    ToolContext,
    Written,
    both,
    into_notebook,
    on_block,
    protyle,
)
from kernel.tools.failures import from_host
from kernel.tools.limits import RECENT_BLOCKS_SAMPLED_MAX
from kernel.tools.permissions import Level
from kernel.tools.results import filtered_out, page_of
from kernel.tools.windows import clean

_LOW_LEVEL_HINT: Final = "documents groups the blocks that changed; items lists them one by one."
# What an item's error calls what a whole call's error has other names for.
_ITEM_NAMES: Final = {"current_permission": "currentPermission", "required_permission": "requiredPermission"}
_PAGES_HINT: Final = "Turn pages with page, or raise pageSize."
_AV_WARNING: Final = "This block showed a database. The database itself still exists."


async def delete(context: ToolContext, arguments: Arguments) -> Written:
    block_id = arguments["id"]
    root = await context.root_of(block_id)
    attributes = await context.call("/api/attr/getBlockAttrs", id=block_id) or {}
    is_database = any(name.startswith("custom-sy-av-view") or name == "av-id" for name in attributes)
    is_database = is_database or "NodeAttributeView" in await _dom(context, block_id)
    await context.call("/api/block/deleteBlock", id=block_id)
    payload: dict[str, Any] = {"success": True, "id": block_id}
    if is_database:
        payload |= {"databaseBlock": True, "warning": _AV_WARNING, "avToolHint": av_tool_hint()}
    return Written(payload, protyle(root))


def av_tool_hint() -> dict[str, str]:
    """Which calls of tool av read and change a database."""
    return {
        "read": 'av(action="render"|"get", avID="<av-id>")',
        "write": 'av(action="set_cells"|"add_rows"|"remove_rows"|"add_column"|"remove_column", avID="<av-id>", ...)',
    }


async def _dom(context: ToolContext, block_id: str) -> str:
    data = await context.call("/api/block/getBlockDOM", id=block_id)
    return str((data or {}).get("dom") or "")


async def move(context: ToolContext, arguments: Arguments) -> Written:
    """Several blocks are moved last first, so that each lands right behind the anchor and their order is ``ids``."""
    anchors = {name: arguments[name] for name in ("previousID", "parentID") if arguments.get(name)}
    ids: list[str] = arguments["ids"] if "ids" in arguments else [arguments["id"]]
    roots = await context.checked_roots([*ids, *anchors.values()])
    order = list(reversed(ids))
    for block_id in context.progress.steps(order, "Moved block"):
        await context.call("/api/block/moveBlock", id=block_id, **anchors)
    if "ids" not in arguments:
        return Written({"success": True, "id": ids[0], **anchors}, protyle(*roots))
    payload = {"success": True, "ids": ids, "finalOrder": ids, "apiCallOrder": order, "count": len(ids), **anchors}
    return Written(payload, protyle(*roots))


async def set_fold_state(context: ToolContext, arguments: Arguments) -> Written:
    block_id, folded = arguments["id"], arguments["folded"]
    await context.call(f"/api/block/{'fold' if folded else 'unfold'}Block", id=block_id)
    return Written({"success": True, "id": block_id, "folded": folded}, protyle(await context.root_of(block_id)))


async def transfer_references(context: ToolContext, arguments: Arguments) -> Written:
    source, target = arguments["fromID"], arguments["toID"]
    await context.call("/api/block/transferBlockRef", fromID=source, toID=target, refIDs=arguments.get("refIDs"))
    roots = await context.checked_roots([source, target])
    return Written({"success": True, "fromID": source, "toID": target}, protyle(*roots))


async def set_attrs(context: ToolContext, arguments: Arguments) -> Written:
    block_id, attributes = arguments["id"], arguments["attrs"]
    await context.call("/api/attr/setBlockAttrs", id=block_id, attrs=attributes)
    payload = {"success": True, "id": block_id, "attrs": attributes}
    return Written(payload, protyle(await context.root_of(block_id)))


async def get_kramdown(context: ToolContext, arguments: Arguments) -> Any:
    data = dict(await context.call("/api/block/getBlockKramdown", id=arguments["id"]) or {})
    return {**data, "kramdown": clean(str(data.get("kramdown") or ""))}


async def batch_kramdown(context: ToolContext, arguments: Arguments) -> Any:
    """Each id answers for itself; order and repeats are kept."""
    ids: list[str] = arguments["ids"]
    refused: dict[str, dict[str, Any]] = {}
    for block_id in context.progress.steps(dict.fromkeys(ids), "Looked up"):
        try:
            await context.require_block(block_id, Level.READ)
        except ToolError as error:
            refused[block_id] = _item_error(error)
        except HostError as error:
            refused[block_id] = {"type": "resolution_error", "message": from_host(error).message}
    wanted = [block_id for block_id in dict.fromkeys(ids) if block_id not in refused]
    found: Mapping[str, Any] = {}
    if wanted:
        found = await context.call("/api/block/getBlockKramdowns", ids=wanted, mode=arguments["mode"]) or {}
    items = [_kramdown_item(block_id, found, refused) for block_id in ids]
    succeeded = sum(item["ok"] for item in items)
    return {
        "items": items,
        "requested": len(ids),
        "succeeded": succeeded,
        "failed": len(ids) - succeeded,
        "partial": 0 < succeeded < len(ids),
    }


def _kramdown_item(block_id: str, found: Mapping[str, Any], refused: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    if block_id in refused:
        return {"id": block_id, "ok": False, "error": refused[block_id]}
    if found.get(block_id):
        return {"id": block_id, "ok": True, "kramdown": clean(str(found[block_id]))}
    return {"id": block_id, "ok": False, "error": {"type": "not_found", "message": "The block is gone."}}


def _item_error(error: ToolError) -> dict[str, Any]:
    details = {_ITEM_NAMES.get(name, name): value for name, value in error.details.items()}
    return {"type": error.kind.type, "message": error.message, **details}


async def get_children(context: ToolContext, arguments: Arguments) -> Any:
    children = await context.call("/api/block/getChildBlocks", id=arguments["id"]) or []
    page = page_of(children, arguments["page"], arguments["pageSize"])
    return {**page, "hint": _PAGES_HINT} if page["pageCount"] > 1 else page


async def get_attrs(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/attr/getBlockAttrs", id=arguments["id"])


async def info(context: ToolContext, arguments: Arguments) -> Any:
    return await context.block_info(arguments["id"])


async def breadcrumb(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call(
        "/api/block/getBlockBreadcrumb", id=arguments["id"], excludeTypes=arguments.get("excludeTypes")
    )


async def dom(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/block/getBlockDOM", id=arguments["id"])


async def word_count(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/block/getBlocksWordCount", ids=arguments["ids"])


async def docs_info(context: ToolContext, arguments: Arguments) -> Any:
    ids = arguments["ids"] if "ids" in arguments else [arguments["id"]]
    return await context.call("/api/block/getDocsInfo", ids=ids, refCount=arguments["refCount"], av=arguments["av"])


async def recent_updated(context: ToolContext, arguments: Arguments) -> Any:
    blocks: list[dict[str, Any]] = await context.call("/api/block/getRecentUpdatedBlocks") or []
    readable = [block for block in blocks if context.readable(str(block.get("box")))]
    count = arguments.get("count")
    # As a slice has it: a negative count leaves out so many of the oldest.
    shown = readable if count is None else readable[: int(count)]
    documents = _by_document(shown)
    payload = {
        "documents": documents,
        "documentCount": len(documents),
        "count": len(shown),
        "containsLowLevelBlocks": any(block.get("type") != "NodeDocument" for block in shown),
        "grouping": "document",
        "primaryView": "documents",
        "items": shown,
        "hint": _LOW_LEVEL_HINT,
    }
    removed = filtered_out(len(blocks) - len(readable))
    removed.pop("permissionSummary", None)
    return {**payload, **removed}


def _by_document(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    documents: dict[str, dict[str, Any]] = {}
    for block in blocks:
        root = str(block.get("rootID"))
        document = documents.setdefault(
            root,
            {
                "documentId": root,
                "notebook": block.get("box"),
                "path": block.get("path"),
                "hPath": block.get("hPath"),
                "name": str(block.get("hPath") or "").rsplit("/", 1)[-1],
                "updatedBlockCount": 0,
                "sampleBlocks": [],
            },
        )
        document["updatedBlockCount"] += 1
        if len(document["sampleBlocks"]) < RECENT_BLOCKS_SAMPLED_MAX:
            document["sampleBlocks"].append({name: block.get(name) for name in ("id", "type", "path")})
    return list(documents.values())


async def _guard_insert(context: ToolContext, arguments: Arguments) -> None:
    """Where it goes may be written to. Without strict mode a block without a place is left to the host, which drops it."""
    places = [arguments, *arguments.get("blocks", ())]
    if context.configuration.is_strict and not any(
        place.get(name) for place in places for name in block_content.ANCHORS
    ):
        raise ToolError(
            "validation_error",
            "Say where: nextID, previousID or parentID.",
            fields=[{"path": "previousID", "message": "Say where: nextID, previousID or parentID."}],
            hint='block(action="help", topic="insert") shows what it takes.',
        )
    for place in places:
        for name in block_content.ANCHORS:
            if place.get(name):
                await context.require_block(place[name], Level.WRITE)


async def _guard_update(context: ToolContext, arguments: Arguments) -> None:
    items = arguments.get("items", [arguments])
    for item in items:
        await context.require_block(item["id"], Level.WRITE)


_READ: Final = on_block(Level.READ, "id", "ids")
_WRITE: Final = on_block(Level.WRITE, "id")

HANDLERS: Final[dict[str, Handling]] = {
    "block.insert": Handling(block_content.insert, _guard_insert, confirms=block_content.added_confirms),
    "block.prepend": Handling(block_content.prepend, _guard_insert, confirms=block_content.added_confirms),
    "block.append": Handling(block_content.append, _guard_insert, confirms=block_content.added_confirms),
    "block.update": Handling(block_content.update, _guard_update),
    "block.replace": Handling(block_content.replace, _WRITE),
    "block.delete": Handling(delete, on_block(Level.DELETE, "id")),
    "block.move": Handling(
        move, both(on_block(Level.DELETE, "id", "ids"), on_block(Level.WRITE, "previousID", "parentID"))
    ),
    "block.set_fold_state": Handling(set_fold_state, _WRITE),
    "block.get_kramdown": Handling(get_kramdown, _READ, is_immediate=True),
    "block.batch_kramdown": Handling(batch_kramdown),
    "block.get_children": Handling(get_children, _READ, is_immediate=True),
    "block.transfer_references": Handling(transfer_references, on_block(Level.WRITE, "fromID", "toID")),
    "block.set_attrs": Handling(set_attrs, _WRITE),
    "block.get_attrs": Handling(get_attrs, _READ, is_immediate=True),
    "block.info": Handling(info, _READ, is_immediate=True),
    "block.breadcrumb": Handling(breadcrumb, _READ),
    "block.dom": Handling(dom, _READ),
    "block.recent_updated": Handling(recent_updated),
    "block.word_count": Handling(word_count, _READ),
    "block.add_to_daily_note": Handling(
        block_content.add_to_daily_note,
        into_notebook,
        confirms=block_content.added_confirms,
    ),
    "block.docs_info": Handling(docs_info, _READ),
}
