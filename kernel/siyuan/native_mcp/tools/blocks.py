"""Tool ``block``: read and change single blocks. Unlike /api/block it tells of no transactions, only to reload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.siyuan.api.block import found_node
from kernel.siyuan.api.block_changes import (
    ITEM_IN_ITEM,
    SECOND_LOOK_AFTER_S,
    check_container,
    dom_of_data,
)
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action, comma_list, cut
from kernel.workspace.block_info import child_block
from kernel.workspace.edits import give_id
from kernel.workspace.intake import dom_of_blocks, parsed_dom
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.render.content import tags_of
from kernel.workspace.transactions import perform

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call
    from kernel.siyuan.native_mcp.base import Action
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document

_MARKDOWN: Final = "markdown"
_STATISTICS: Final = ("rune", "word", "block", "link", "image", "ref")


# --- reading ---------------------------------------------------------------------------------------------------
async def get(call: ToolCall) -> str:
    block_id = call.needed("id")
    if not call.workspace.block_exists(block_id):
        await trio.sleep(SECOND_LOOK_AFTER_S)  # the kernel looks twice
    found = await call.run(lambda one: found_node(one, block_id))
    if found is None:
        raise ToolFailed("get block failed: tree not found")
    document, node = found
    hpath = call.workspace.entry(document.id).hpath
    content, markdown = texts_of(node)
    lines = {
        "ID": node.id,
        "Type": node.type,
        "HPath": hpath,
        "Content": content,
        "Markdown": markdown,
        "Tags": tags_of(node),
        "Created": "",
        "Updated": "",
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def texts_of(node: Node) -> tuple[str, str]:
    """Content and Markdown of a block; a document has no Markdown of its own."""
    child = child_block(node)
    return child.get("content", ""), "" if node.type == "NodeDocument" else child.get("markdown", "")


async def get_kramdown(call: ToolCall) -> str:
    block_id = call.needed("id")
    found = await call.api("/api/block/getBlockKramdown", id=block_id)
    text = found.data["kramdown"] if found.code == 0 else ""
    if not text:
        raise ToolFailed(f"block not found or empty: {block_id}")
    return str(text)


async def get_children(call: ToolCall) -> str:
    found = await call.api("/api/block/getChildBlocks", id=call.needed("id"))
    children: list[dict[str, str]] = found.data if found.code == 0 else []
    if not children:
        return "no child blocks found"
    return "".join(f"- [{one['type']}] {cut(_shown(one))} ({one['id']})\n" for one in children)


def _shown(child: dict[str, str]) -> str:
    return child.get("markdown") or child.get("content", "")


async def tree_stat(call: ToolCall) -> str:
    found = await call.data("/api/block/getTreeStat", id=call.needed("id"))
    stat = found["stat"]
    if stat is None:
        raise ToolFailed("document not found or empty")
    names = ("Characters", "Words", "Blocks", "Links", "Images", "Refs")
    lines = [f"- {name}: {stat[f'{key}Count']}" for name, key in zip(names, _STATISTICS, strict=True)]
    return "\n".join(["Document statistics:", *lines])


async def dom(call: ToolCall) -> str:
    block_id = call.needed("id")
    found = await call.data("/api/block/getBlockDOM", id=block_id)
    if not found["dom"]:
        raise ToolFailed(f"block not found or empty: {block_id}")
    return str(found["dom"])


async def breadcrumb(call: ToolCall) -> str:
    path = await call.data("/api/block/getBlockBreadcrumb", "breadcrumb failed: ", id=call.needed("id"))
    return "".join(f"{one['type']}/{one['name']} ({one['id']})\n" for one in path or [])


async def batch_get(call: ToolCall) -> str:
    ids = comma_list(call.needed("ids", "ids is required (comma-separated)"))
    answer = await call.api("/api/block/getDocsInfo", ids=ids, refCount=False, av=False)
    infos = answer.data if answer.code == 0 else []
    lines = [f"Batch get {len(ids)} blocks (found {len(infos)}):\n"]
    lines += [f"- {one['id']}: {one['name']} (rootID: {one['rootID']}, refCount: {one['refCount']})" for one in infos]
    known = {one["id"] for one in infos}
    lines += [f"- {one}: not found" for one in ids if one not in known]
    return "\n".join(lines) + "\n"


async def batch_kramdown(call: ToolCall) -> str:
    ids = comma_list(call.needed("ids", "ids is required (comma-separated)"))
    found: dict[str, str] = await call.data("/api/block/getBlockKramdowns", ids=ids)
    texts = "".join(f"--- {one} ---\n{found.get(one, '(not found)')}\n\n" for one in ids)
    return f"Batch kramdown {len(ids)} blocks (found {len(found)}):\n\n{texts}"


# --- changing --------------------------------------------------------------------------------------------------
def _data(call: ToolCall) -> tuple[str, str]:
    return call.needed("data"), call.text("dataType") or _MARKDOWN


async def perform_operation(call: ToolCall, operation: Operation, reload_id: str) -> None:
    """Do one operation and tell editors to read the document anew."""
    root_before = call.workspace.blocks.root_of(reload_id)

    def handle(one: Call) -> None:
        workspace = one.kernel.workspace
        perform(workspace, Transaction([operation]))
        root_id = workspace.blocks.root_of(reload_id) or root_before
        if root_id:
            workspace.emit("reload", root_id, to=("protyle",))

    await call.run(handle)


async def dom_from(call: ToolCall, data: str, data_type: str) -> str:
    """The editor DOM of what a call brings. Raises ToolFailed."""
    if data_type != _MARKDOWN:
        return data
    made = await call.run(lambda one: dom_of_data(one, data, data_type), "convert markdown failed: ")
    if not made:
        raise ToolFailed("convert markdown failed: empty result")
    return str(made)


async def _check_parent(call: ToolCall, parent_id: str) -> None:
    await call.run(lambda one: check_container(one, parent_id))


async def insert(call: ToolCall) -> str:
    data, data_type = _data(call)
    parent, previous, following = (call.text(name) for name in ("parentID", "previousID", "nextID"))
    if parent and not previous and not following:
        await _check_parent(call, parent)
    drawn = await dom_from(call, data, data_type)
    operation = Operation(action="insert", data=drawn, parentID=parent, previousID=previous, nextID=following)
    await perform_operation(call, operation, following or previous or parent)
    return "block inserted"


async def _at_end(call: ToolCall, action: str, done: str) -> str:
    data, data_type = _data(call)
    parent = call.needed("parentID")
    await _check_parent(call, parent)
    drawn = await dom_from(call, data, data_type)
    await perform_operation(call, Operation(action=action, data=drawn, parentID=parent), parent)
    return done


async def append(call: ToolCall) -> str:
    return await _at_end(call, "appendInsert", "block appended")


async def prepend(call: ToolCall) -> str:
    return await _at_end(call, "prependInsert", "block prepended")


async def update(call: ToolCall) -> str:
    """Success is said of an unknown block too."""
    block_id = call.needed("id")
    data, data_type = _data(call)
    drawn = await dom_from(call, data, data_type)

    def pinned(one: Call) -> str:
        blocks = parsed_dom(one.kernel.workspace, drawn)
        if not blocks:
            return drawn
        if blocks[0].type == "NodeList" and blocks[0].children:
            blocks = [*blocks[1:], blocks[0].children[0].detach()]
        give_id(blocks[0], block_id)
        return dom_of_blocks(blocks, first_index=1)

    drawn = await call.run(pinned)
    await perform_operation(call, Operation(action="update", id=block_id, data=drawn), block_id)
    return "block updated"


async def delete(call: ToolCall) -> str:
    block_id = call.needed("id")
    await perform_operation(call, Operation(action="delete", id=block_id), block_id)
    return f"block deleted: {block_id}"


async def move(call: ToolCall) -> str:
    block_id, parent = call.needed("id"), call.needed("parentID")
    previous = call.text("previousID")
    if not previous:
        await call.run(lambda one: _check_nesting(one, parent, block_id))
        await _check_parent(call, parent)
    await perform_operation(call, Operation(action="move", id=block_id, parentID=parent, previousID=previous), block_id)
    return f"block moved: {block_id}"


def _check_nesting(call: Call, parent_id: str, block_id: str) -> None:
    found = [_kind(found_node(call, one), one) for one in (parent_id, block_id)]
    if found == ["NodeListItem", "NodeListItem"]:
        raise ApiError(ITEM_IN_ITEM)


def _kind(found: tuple[Document, Any] | None, block_id: str) -> str:
    return str(found[1].type) if found is not None else ""


_ACTIONS: Final[dict[str, Action]] = {
    "get": get,
    "get_kramdown": get_kramdown,
    "get_children": get_children,
    "tree_stat": tree_stat,
    "dom": dom,
    "insert": insert,
    "append": append,
    "prepend": prepend,
    "update": update,
    "delete": delete,
    "move": move,
    "breadcrumb": breadcrumb,
    "batch_get": batch_get,
    "batch_kramdown": batch_kramdown,
}
TOOLS: Final[dict[str, Action]] = {"block": by_action(_ACTIONS)}
