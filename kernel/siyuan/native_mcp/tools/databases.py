"""Tool ``database``: attribute views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import EmptyAnswer
from kernel.siyuan.go_json import BodyUnreadable, read_object
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action, comma_list, json_text

if TYPE_CHECKING:
    from kernel.siyuan.native_mcp.base import Action

PAGE_SIZE_DEFAULT: Final = 50


async def search(call: ToolCall) -> str:
    keyword = call.needed("keyword")
    found = await call.data("/api/av/searchAttributeView", keyword=keyword)
    rows = (found or {}).get("results") or []
    if not rows:
        return "no attribute views found"
    lines = "".join(f"- {one['avName']} (id: {one['avID']}, hPath: {one['hPath']})\n" for one in rows)
    return f"Attribute views matching '{keyword}' ({len(rows)}):\n\n{lines}"


async def _database(call: ToolCall) -> dict[str, Any]:
    database_id = call.needed("id")
    answer = await call.api("/api/av/getAttributeView", id=database_id)
    found: dict[str, Any] | None = (answer.data or {}).get("av") if answer.code == 0 else None
    if not found:
        raise ToolFailed(f"attribute view not found: {database_id}")
    return found


async def get(call: ToolCall) -> str:
    found = await _database(call)
    keys = [one["key"] for one in found["keyValues"] or []]
    views = found["views"] or []
    key_lines = "".join(f"- {key['name']} ({key['type']}): {key.get('icon', '')}\n" for key in keys)
    view_lines = "".join(
        f"- {view['name']} ({view['type']}, pageSize: {view.get('pageSize', PAGE_SIZE_DEFAULT)})\n" for view in views
    )
    head = f"Attribute View: {call.text('id')}\n\nName: {found['name']}\n"
    return f"{head}Keys ({len(keys)}):\n{key_lines}\nViews ({len(views)}):\n{view_lines}"


async def render(call: ToolCall) -> str:
    """The rows of a table. The kernel prints addresses of its memory for the cells; ours their contents."""
    database_id = call.needed("id")
    page = call.number("page", 1)
    found = await call.data(
        "/api/av/renderAttributeView",
        "render failed: ",
        id=database_id,
        viewID=call.text("viewID"),
        query=call.text("query"),
        page=page,
        pageSize=call.number("pageSize", PAGE_SIZE_DEFAULT),
        createIfNotExist=False,
    )
    rows = ((found or {}).get("view") or {}).get("rows") or []
    lines = "".join(" | ".join(_cell_text(cell["value"]) for cell in row["cells"]) + "\n" for row in rows)
    return f"Attribute View Render (page {page}):\n\n{lines}"


def _cell_text(value: dict[str, Any] | None) -> str:
    content = (value or {}).get((value or {}).get("type", ""))
    if isinstance(content, list):
        return ", ".join(_content_text(one) for one in content)
    return _content_text(content)


def _content_text(content: Any) -> str:
    if not isinstance(content, dict):
        return ""
    for name in ("formattedContent", "content", "checked"):
        if content.get(name) not in (None, ""):
            return json_text(content[name])
    return ""


async def keys(call: ToolCall) -> str:
    found = await _database(call)
    rows = [one["key"] for one in found["keyValues"] or []]
    lines = "".join(f"- {key['id']} ({key['name']}) [{key['type']}]\n" for key in rows)
    return f"Keys for {call.text('id')} ({found['name']}):\n\n{lines}"


async def key_add(call: ToolCall) -> str:
    """A kind that does not exist is dropped without a word."""
    database_id, name, kind = call.all_needed("id", "name", "type")
    key_id = call.workspace.new_id()
    await call.data(
        "/api/av/addAttributeViewKey",
        "add key failed: ",
        avID=database_id,
        keyID=key_id,
        keyName=name,
        keyType=kind,
        keyIcon=call.text("icon"),
        previousKeyID=call.text("prev"),
    )
    return f"key added: {key_id} ({name})"


async def key_remove(call: ToolCall) -> str:
    database_id, key_id = call.all_needed("id", "keyID")
    await call.data(
        "/api/av/removeAttributeViewKey",
        "remove key failed: ",
        avID=database_id,
        keyID=key_id,
        removeRelationDest=call.flag("removeRelationDest"),
    )
    return f"key removed: {key_id}"


async def item_add(call: ToolCall) -> str:
    database_id = call.needed("id")
    is_detached, block_id, content = call.flag("detached"), call.text("blockID"), call.text("content")
    if not is_detached and not block_id:
        raise ToolFailed("blockID is required for non-detached rows")
    source: dict[str, Any] = {"isDetached": is_detached}
    if block_id:
        source["id"] = block_id
    if content:
        source["content"] = content
    await call.data(
        "/api/av/addAttributeViewBlocks",
        "add item failed: ",
        avID=database_id,
        srcs=[source],
        blockID=block_id,
        viewID=call.text("viewID"),
        groupID=call.text("groupID"),
        previousID=call.text("previousID"),
        ignoreDefaultFill=call.flag("ignoreDefaultFill"),
    )
    return "item added"


async def item_remove(call: ToolCall) -> str:
    database_id, listed = call.all_needed("id", "itemIDs")
    ids = comma_list(listed)
    await call.data("/api/av/removeAttributeViewBlocks", "remove items failed: ", avID=database_id, srcIDs=ids)
    return f"{len(ids)} item(s) removed"


async def item_update(call: ToolCall) -> str:
    """For a column that is not there the kernel breaks down: no answer at all."""
    database_id, key_id, item_id, text = call.all_needed("id", "keyID", "itemID", "value")
    try:
        value = read_object(text.encode("utf-8", "replace"))
    except BodyUnreadable as error:
        raise ToolFailed(f"invalid JSON value: {error}") from error
    answer = await call.api("/api/av/getAttributeView", id=database_id)
    keys = ((answer.data or {}).get("av") or {}).get("keyValues") or []
    if keys and all(one["key"]["id"] != key_id for one in keys):
        raise EmptyAnswer
    await call.data(
        "/api/av/setAttributeViewBlockAttr",
        "update cell failed: ",
        avID=database_id,
        keyID=key_id,
        itemID=item_id,
        value=value,
    )
    return "cell updated"


async def unused(call: ToolCall) -> str:
    found = await call.data("/api/av/getUnusedAttributeViews")
    rows = found if isinstance(found, list) else next(iter((found or {}).values()), None) or []
    if not rows:
        return "no unused databases found"
    lines = "".join(f"- {one['item']} ({one['name']})\n" for one in rows)
    return f"Unused databases ({len(rows)}):\n\n{lines}"


async def clean(call: ToolCall) -> str:
    database_id = call.text("id")
    if database_id:
        await call.api("/api/av/removeUnusedAttributeView", id=database_id)
        return f"unused database cleaned: {database_id}"
    found = await call.data("/api/av/removeUnusedAttributeViews")
    return f"{len((found or {}).get('paths') or [])} unused database(s) cleaned"


_ACTIONS: Final[dict[str, Action]] = {
    "search": search,
    "get": get,
    "render": render,
    "keys": keys,
    "key_add": key_add,
    "key_remove": key_remove,
    "item_add": item_add,
    "item_remove": item_remove,
    "item_update": item_update,
    "unused": unused,
    "clean": clean,
}
TOOLS: Final[dict[str, Action]] = {"database": by_action(_ACTIONS)}
