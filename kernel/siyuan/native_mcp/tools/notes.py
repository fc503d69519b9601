"""Tools ``attr``, ``ref``, ``tag`` and ``bookmark``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action, comma_list, json_text
from kernel.siyuan.native_mcp.tools.documents import reload_tree
from kernel.workspace.attributes import set_attributes

if TYPE_CHECKING:
    from kernel.siyuan.native_mcp.base import Action

_ATTRS_NEEDED: Final = "attrs (key-value object) is required"


# --- attr ------------------------------------------------------------------------------------------------------
async def attr_get(call: ToolCall) -> str:
    block_id = call.needed("id")
    found = await call.api("/api/attr/getBlockAttrs", id=block_id)
    attrs: dict[str, str] = (found.data if found.code == 0 else None) or {}
    if not attrs or not call.workspace.block_exists(block_id):
        return "no custom attributes"
    return f"Attributes for {block_id}:\n\n{_attribute_lines(attrs)}"


def _attribute_lines(attrs: dict[str, str]) -> str:
    return "".join(f"- {name}: {value}\n" for name, value in attrs.items())


async def attr_set(call: ToolCall) -> str:
    """Values of any kind become texts; null is the text ``<nil>``."""
    block_id = call.needed("id")
    attrs = call.arguments.get("attrs")
    if not isinstance(attrs, dict) or not attrs:
        raise ToolFailed(_ATTRS_NEEDED)
    if not is_node_id(block_id):
        raise ToolFailed("set attrs failed: tree not found")
    values = {name: json_text(value) for name, value in attrs.items()}
    await call.run(lambda one: set_attributes(one.kernel.workspace, block_id, values), "set attrs failed: ")
    await reload_tree(call)
    return f"attributes set for: {block_id}"


async def attr_batch_get(call: ToolCall) -> str:
    ids = comma_list(call.needed("ids", "ids (comma-separated) is required"))
    found: dict[str, dict[str, str]] = await call.data("/api/attr/batchGetBlockAttrs", ids=ids)
    if not found:
        return "no attributes found"
    blocks = "".join(f"--- {one} ---\n{_attribute_lines(attrs)}" for one, attrs in found.items())
    return f"Batch attributes ({len(found)} blocks):\n\n{blocks}"


# --- ref -------------------------------------------------------------------------------------------------------
async def _backlinks(call: ToolCall, **arguments: Any) -> dict[str, Any]:
    answer = await call.api("/api/ref/getBacklink2", id=call.text("id"), **arguments)
    return answer.data if answer.code == 0 and answer.data else {}


def _ref_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"- [{one['nodeType']}] {one['hPath']} (id: {one['id']})\n" for one in rows)


async def ref_backlinks(call: ToolCall) -> str:
    found = await _backlinks(call, k=call.text("keyword"), mk="", sort=str(call.number("sort", 0)), mSort="0")
    rows = found.get("backlinks") or []
    return f"Backlinks ({len(rows)}):\n\n{_ref_lines(rows)}" if rows else "no backlinks found"


async def ref_mentions(call: ToolCall) -> str:
    found = await _backlinks(call, k="", mk=call.text("keyword"), sort="0", mSort=str(call.number("sort", 0)))
    rows = found.get("backmentions") or []
    return f"Mentions ({len(rows)}):\n\n{_ref_lines(rows)}" if rows else "no mentions found"


async def ref_refresh(call: ToolCall) -> str:
    block_id = call.text("id")
    if is_node_id(block_id):
        await call.api("/api/ref/refreshBacklink", id=block_id)
    return f"backlink refreshed for: {block_id}"


# --- tag -------------------------------------------------------------------------------------------------------
async def tag_list(call: ToolCall) -> str:
    """Found parts are marked with ``<mark>``, as in the user interface."""
    found = await call.data("/api/search/searchTag", k=call.text("keyword"))
    tags = found["tags"]
    if not tags:
        return "no tags found"
    return f"Tags ({len(tags)}):\n\n{''.join(f'- #{tag}' + chr(10) for tag in tags)}"


async def tag_rename(call: ToolCall) -> str:
    old, new = call.all_needed("old", "new")
    await call.data("/api/tag/renameTag", "rename tag failed: ", oldLabel=old, newLabel=new)
    return f"tag renamed: #{old} -> #{new}"


async def tag_remove(call: ToolCall) -> str:
    label = call.needed("label")
    await call.data("/api/tag/removeTag", "remove tag failed: ", label=label)
    return f"tag removed: #{label}"


# --- bookmark --------------------------------------------------------------------------------------------------
async def bookmark_list(call: ToolCall) -> str:
    found = await call.data("/api/bookmark/getBookmark")
    lines = "".join(f"- {one['name']}: {one['count']} blocks\n" for one in found or [])
    return f"Bookmarks ({len(found or [])}):\n\n{lines}"


async def bookmark_labels(call: ToolCall) -> str:
    labels = await call.data("/api/attr/getBookmarkLabels")
    if not labels:
        return "no bookmark labels found"
    lines = "".join(f"- {label}\n" for label in labels)
    return f"Bookmark labels ({len(labels)}):\n\n{lines}"


async def bookmark_remove(call: ToolCall) -> str:
    label = call.needed("label")
    await call.data("/api/bookmark/removeBookmark", "remove bookmark failed: ", bookmark=label)
    return f"bookmark removed: {label}"


async def bookmark_rename(call: ToolCall) -> str:
    old, new = call.all_needed("old", "new")
    await call.data("/api/bookmark/renameBookmark", "rename bookmark failed: ", oldBookmark=old, newBookmark=new)
    return f"bookmark renamed: {old} -> {new}"


TOOLS: Final[dict[str, Action]] = {
    "attr": by_action({"get": attr_get, "set": attr_set, "batch-get": attr_batch_get}),
    "ref": by_action({"backlinks": ref_backlinks, "mentions": ref_mentions, "refresh": ref_refresh}),
    "tag": by_action({"list": tag_list, "rename": tag_rename, "remove": tag_remove}),
    "bookmark": by_action(
        {"list": bookmark_list, "labels": bookmark_labels, "remove": bookmark_remove, "rename": bookmark_rename}
    ),
}
