"""/api/block, reading: Kramdown, DOM, children, paths, neighbours (siyuan-api A3; kernel-facts 4, 6, 17)."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.api.filetree import checked_id, optional
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.dispatch import Envelope
from kernel.workspace.attributes import block_not_found
from kernel.workspace.block_info import (
    breadcrumb,
    child_block,
    children_of,
    is_block_folded,
    relevant_ids,
    sibling_ids,
    top_index,
    tree_info,
    unfolded_parent_id,
)
from kernel.workspace.intake import dom_of_block, kramdown_of, parsed_dom
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.refs import block_text, ref_text
from kernel.workspace.render.counts import TextCounts, counts
from kernel.workspace.sections import folded_heading_above
from kernel.workspace.views.tables import view_text
from kernel.workspace.workspace import CorruptDocument, Document, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.intake import Mode
    from kernel.workspace.tree import Node

INDEXING: Final = "Data indexing is in progress. Please wait until indexing completes before trying to open"
# The kernel looks for an unknown block on disk at most this often, in seconds; meanwhile it says that it is indexing.
DISK_SEARCH_EVERY_S: Final = 3.0
TAIL_DEFAULT: Final = 7


def found_node(call: Call, block_id: str) -> tuple[Document, Node] | None:
    """A block and its document; None if there is none, or its document cannot be read."""
    try:
        return call.kernel.workspace.node(block_id)
    except (NotFound, CorruptDocument):
        return None


def id_list(call: Call, name: str = "ids") -> list[str]:
    return call.arguments.raw_str_list(name)


# --- text ----------------------------------------------------------------------------------------------------------
def _mode(call: Call) -> Mode:
    mode = optional(call, "mode", str, "md")
    if mode not in ("md", "textmark"):
        raise ApiError("Invalid mode")
    return "textmark" if mode == "textmark" else "md"


def get_block_kramdown(call: Call) -> Any:
    block_id = checked_id(call, "id")
    mode = _mode(call)
    found = found_node(call, block_id)
    return {"id": block_id, "kramdown": kramdown_of(call.kernel.workspace, *found, mode) if found is not None else ""}


def get_block_kramdowns(call: Call) -> Any:
    ids = [one for one in id_list(call) if is_node_id(one)]
    mode = _mode(call)
    found = {one: found_node(call, one) for one in ids}
    return {one: kramdown_of(call.kernel.workspace, *pair, mode) for one, pair in found.items() if pair is not None}


def drawn(node: Node) -> str:
    """The DOM of one block; what a folded heading hides names that heading."""
    hidden = [
        (below, above) for below in node.walk() if below.type in BLOCK_TYPES and (above := folded_heading_above(below))
    ]
    if not hidden:
        return dom_of_block(node)
    for below, above in hidden:
        below.properties["parent-heading"] = above.id
    try:
        return dom_of_block(node)
    finally:
        for below, _ in hidden:
            del below.properties["parent-heading"]


def get_block_dom(call: Call) -> Any:
    block_id = call.arguments.raw_str("id")
    found = found_node(call, block_id)
    return {"id": block_id, "dom": drawn(found[1]) if found is not None else ""}


def get_block_doms(call: Call) -> Any:
    found = {one: found_node(call, one) for one in id_list(call)}
    return {one: drawn(pair[1]) for one, pair in found.items() if pair is not None}


def _view_text(call: Call) -> Callable[[str], str]:
    """What a database says, to be asked by its id."""
    return partial(view_text, call.kernel.workspace)


def get_child_blocks(call: Call) -> Any:
    found = found_node(call, checked_id(call, "id"))
    return [child_block(child, _view_text(call)) for child in children_of(found[1])] if found is not None else []


def get_tail_child_blocks(call: Call) -> Any:
    found = found_node(call, checked_id(call, "id"))
    count = int(optional(call, "n", (int, float), TAIL_DEFAULT))
    children = children_of(found[1]) if found is not None else []
    tail = list(reversed(children))[: count if count > 0 else TAIL_DEFAULT]
    return [child_block(child, _view_text(call)) for child in tail]


def get_ref_text(call: Call) -> Any:
    block_id = checked_id(call, "id")
    found = found_node(call, block_id)
    if found is None:
        return "block not found"
    text = (ref_text(found[1]) or block_id).replace("&quot;", "&#34;").replace("'", "&#39;")
    return text.replace("\\", "&#92;") if not text.strip("\\") else text


def get_dom_text(call: Call) -> Any:
    blocks = parsed_dom(call.kernel.workspace, call.arguments.raw_str("dom"))
    return block_text(blocks[0]) if blocks else ""


# --- counts --------------------------------------------------------------------------------------------------------
def get_blocks_word_count(call: Call) -> Any:
    ids = id_list(call)
    found = [found_node(call, one) for one in ids]
    total = sum((counts(pair[1]) for pair in found if pair is not None), TextCounts())
    return {"reqId": call.arguments.get("reqId"), "stat": total.stat(len(ids))}


def get_tree_stat(call: Call) -> Any:
    found = found_node(call, call.arguments.raw_str("id"))
    if found is None:
        return {"reqId": call.arguments.get("reqId"), "stat": None}
    root = found[0].root
    blocks = sum(1 for node in root.walk() if node.type in BLOCK_TYPES) - 1
    return {"reqId": call.arguments.get("reqId"), "stat": counts(root).stat(blocks)}


def get_content_word_count(call: Call) -> Any:
    from kernel.workspace.tree import Node

    text = Node("NodeText", data=call.arguments.raw_str("content"))
    paragraph = Node("NodeParagraph", children=[text])
    return {"reqId": call.arguments.get("reqId"), "stat": counts(paragraph).stat(0)}


# --- where ---------------------------------------------------------------------------------------------------------
def check_block_exist(call: Call) -> Any:
    return call.kernel.workspace.block_exists(call.arguments.raw_str("id"))


def check_blocks_exist(call: Call) -> Any:
    workspace = call.kernel.workspace
    ids = [one for one in call.arguments.raw_list("ids") if isinstance(one, str) and is_node_id(one)]
    return {one: workspace.block_exists(one) for one in ids}


def get_block_info(call: Call) -> Any:
    block_id = call.arguments.raw_str("id")
    workspace = call.kernel.workspace
    if not workspace.block_exists(block_id):
        if block_id and not _may_search_disk(call):
            return Envelope(3, INDEXING, None)
        raise ApiError(block_not_found(block_id))
    document, _ = workspace.node(block_id)
    properties = document.root.properties
    return {
        "box": document.box,
        "path": document.path,
        "rootID": document.id,
        "rootTitle": html.unescape(unescaped_attribute(properties.get("title", ""))),
        "rootTitleEmpty": properties.get("custom-sy-title-empty") == "true",
        "rootChildID": document.id,
        "rootIcon": unescaped_attribute(properties.get("icon", "")),
    }


def _may_search_disk(call: Call) -> bool:
    state = call.kernel.state
    now = call.kernel.clock.now()
    last = state.get("disk_search_at")
    if last is not None and now - last < DISK_SEARCH_EVERY_S:
        return False
    state["disk_search_at"] = now
    return True


def get_block_breadcrumb(call: Call) -> Any:
    block_id = call.arguments.raw_str("id")
    if not all(isinstance(one, str) for one in optional(call, "excludeTypes", list, [])):
        raise Panic("excludeTypes")
    found = found_node(call, block_id)
    return breadcrumb(call.kernel.workspace, *found) if found is not None else []


def get_block_index(call: Call) -> Any:
    found = found_node(call, call.arguments.raw_str("id"))
    return top_index(*found) if found is not None else 0


def get_blocks_indexes(call: Call) -> Any:
    ids = id_list(call)
    first = found_node(call, ids[0]) if ids else None
    if first is None:
        return {}
    document = first[0]
    nodes = {one: document.node(one) for one in ids}
    return {one: top_index(document, node) if node is not None else 0 for one, node in nodes.items()}


def get_block_tree_infos(call: Call) -> Any:
    found = {one: found_node(call, one) for one in id_list(call)}
    return {one: tree_info(pair[1]) for one, pair in found.items() if pair is not None}


def get_block_sibling_id(call: Call) -> Any:
    found = found_node(call, call.arguments.raw_str("id"))
    return sibling_ids(found[1]) if found is not None else {"parent": "", "next": "", "previous": ""}


def get_block_relevant_ids(call: Call) -> Any:
    found = found_node(call, call.arguments.raw_str("id"))
    if found is None:
        raise ApiError("tree not found", data={"closeTimeout": 7000})
    return relevant_ids(found[1])


def get_unfolded_parent_id(call: Call) -> Any:
    found = found_node(call, call.arguments.raw_str("id"))
    return {"parentID": unfolded_parent_id(found[1]) if found is not None else ""}


def check_block_fold(call: Call) -> Any:
    found = found_node(call, call.arguments.raw_str("id"))
    if found is None:
        return {"isFolded": False, "isRoot": False}
    return {"isFolded": is_block_folded(found[1]), "isRoot": found[1] is found[0].root}


_READS: Final[dict[str, Callable[[Call], Any]]] = {
    "getBlockKramdown": get_block_kramdown,
    "getBlockKramdowns": get_block_kramdowns,
    "getBlockDOM": get_block_dom,
    "getBlockDOMs": get_block_doms,
    "getChildBlocks": get_child_blocks,
    "getTailChildBlocks": get_tail_child_blocks,
    "getRefText": get_ref_text,
    "getDOMText": get_dom_text,
    "getBlocksWordCount": get_blocks_word_count,
    "getTreeStat": get_tree_stat,
    "getContentWordCount": get_content_word_count,
    "checkBlockExist": check_block_exist,
    "checkBlocksExist": check_blocks_exist,
    "getBlockInfo": get_block_info,
    "getBlockBreadcrumb": get_block_breadcrumb,
    "getBlockIndex": get_block_index,
    "getBlocksIndexes": get_blocks_indexes,
    "getBlockTreeInfos": get_block_tree_infos,
    "getBlockSiblingID": get_block_sibling_id,
    "getBlockRelevantIDs": get_block_relevant_ids,
    "getUnfoldedParentID": get_unfolded_parent_id,
    "checkBlockFold": check_block_fold,
}
HANDLERS: Final[dict[str, ApiHandler]] = {f"/api/block/{name}": handler for name, handler in _READS.items()}
