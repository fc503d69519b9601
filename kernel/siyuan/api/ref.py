"""/api/ref: backlinks and mentions (siyuan-api A7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import Panic
from kernel.siyuan.notes_index import searchable_index, settled_index
from kernel.workspace.backlinks import (
    BEFORE_RUNES,
    UPDATED_DESC,
    Linked,
    definition,
    linked,
    mentioned,
    path_tree,
    paths,
    sorted_paths,
)
from kernel.workspace.block_info import breadcrumb
from kernel.workspace.block_json import with_notebook_name
from kernel.workspace.doc_pages import is_expanded
from kernel.workspace.highlights import highlight
from kernel.workspace.intake import dom_of_blocks
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.refs import block_ref_counts
from kernel.workspace.render.footnotes import section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace


async def get_backlink2(call: Call) -> Any:
    """Documents with backlinks and with mentions."""
    if call.arguments.get("id") is None:
        return None
    block_id, keyword, mention_keyword = (call.arguments.raw_str(name) for name in ("id", "k", "mk"))
    sort, mention_sort = _sort(call, "sort"), _sort(call, "mSort")
    with_children = _with_children(call)
    index = await searchable_index(call.kernel)
    target = definition(index.connection, block_id)
    shown = {"k": keyword, "mk": mention_keyword, "box": "" if target is None else target.box}
    if target is None:
        return {**shown, "backlinks": [], "backmentions": [], "linkRefsCount": 0, "mentionsCount": 0}
    found = linked(index.connection, target, keyword.split(), with_children=with_children)
    mentions = mentioned(index.connection, target, found, mention_keyword.strip(), _conf(call))
    backlinks = sorted_paths(paths(index.connection, found.blocks, with_blocks=False), sort)
    backmentions = sorted_paths(paths(index.connection, mentions.blocks, with_blocks=False), mention_sort)
    names = _box_names(call.kernel.workspace)
    with_notebook_name([*backlinks, *backmentions], names)
    return {
        **shown,
        "backlinks": backlinks,
        "backmentions": backmentions,
        "linkRefsCount": found.count,
        "mentionsCount": sum(path["count"] for path in backmentions),
    }


async def get_backlink(call: Call) -> Any:
    """The older form of the panel: documents with the blocks in them."""
    if call.arguments.get("id") is None:
        return None
    block_id, keyword, mention_keyword = (call.arguments.raw_str(name) for name in ("id", "k", "mk"))
    with_children = _with_children(call)
    before = BEFORE_RUNES if call.arguments.get("beforeLen") is None else int(call.arguments.raw_number("beforeLen"))
    index = await searchable_index(call.kernel)
    target = definition(index.connection, block_id)
    shown = {"k": keyword, "mk": mention_keyword, "box": "" if target is None else target.box}
    if target is None:
        return {**shown, "backlinks": [], "backmentions": [], "linkRefsCount": 0, "mentionsCount": 0}
    found = linked(index.connection, target, (), with_children=with_children)
    mentions = mentioned(index.connection, target, found, mention_keyword.strip(), _conf(call), before=before)
    return {
        **shown,
        "backlinks": path_tree(index.connection, found.blocks, keyword.strip()) or None,
        "backmentions": paths(index.connection, mentions.blocks, with_blocks=True) or None,
        "linkRefsCount": found.count,
        "mentionsCount": len(mentions.blocks),
    }


def _sort(call: Call, name: str) -> int:
    if call.arguments.get(name) is None:
        return UPDATED_DESC
    text = call.arguments.raw_str(name)
    return int(text) if text.lstrip("-").isdecimal() else 0


def _with_children(call: Call) -> bool:
    if "containChildren" not in call.arguments:
        return bool(call.kernel.workspace.conf.section("editor").get("backlinkContainChildren", True))
    return call.arguments.raw_bool("containChildren")


def _conf(call: Call) -> dict[str, Any]:
    return call.kernel.workspace.conf.section("search")


def _box_names(workspace: Workspace) -> dict[str, str]:
    boxes = workspace.blocks.boxes()
    return {box: notebook.name for box in boxes if (notebook := workspace.notebooks.get(box)) is not None}


# --- rendered -------------------------------------------------------------------------------------------------
async def get_backlink_doc(call: Call) -> Any:
    """The referring blocks of one document, as DOM."""
    def_id, tree_id, keyword = (call.arguments.raw_str(name) for name in ("defID", "refTreeID", "keyword"))
    with_children, has_highlight = _with_children(call), _highlight(call)
    keywords = list(dict.fromkeys(keyword.split()))
    index = await settled_index(call.kernel)
    target = definition(index.connection, def_id)
    workspace = call.kernel.workspace
    if target is None or workspace.blocks.root_of(tree_id) is None:
        return {"backlinks": [], "keywords": keywords}
    root_id = workspace.entry(tree_id).id
    found = linked(index.connection, target, keywords, with_children=with_children, root_id=root_id)
    ids = [block["id"] for block in found.blocks]
    marks = keywords if has_highlight else []
    return {"backlinks": _rendered(workspace, root_id, ids, found, marks), "keywords": keywords}


async def get_backmention_doc(call: Call) -> Any:
    """The blocks of one document that mention a definition, as DOM."""
    def_id, tree_id, keyword = (call.arguments.raw_str(name) for name in ("defID", "refTreeID", "keyword"))
    with_children, has_highlight = _with_children(call), _highlight(call)
    keywords = list(dict.fromkeys(keyword.split()))
    index = await searchable_index(call.kernel)
    target = definition(index.connection, def_id)
    if target is None:
        return {"backmentions": [], "keywords": keywords or None}
    found = linked(index.connection, target, keywords, with_children=with_children)
    mentions = mentioned(index.connection, target, found, keyword.strip(), _conf(call))
    ids = [block["id"] for block in mentions.blocks if block["rootID"] == tree_id]
    words = list(dict.fromkeys((*mentions.keywords, *keywords)))
    shown = list(dict.fromkeys((*keywords, *words)))
    marks = words if has_highlight else []
    workspace = call.kernel.workspace
    rendered = _rendered(workspace, tree_id, ids, found, marks) if ids else []
    return {"backmentions": rendered, "keywords": shown}


def _highlight(call: Call) -> bool:
    return True if "highlight" not in call.arguments else call.arguments.raw_bool("highlight")


def _rendered(
    workspace: Workspace, root_id: str, ids: Sequence[str], found: Linked, marks: list[str]
) -> list[dict[str, Any]]:
    document = workspace.document(root_id)
    places = {node.id: place for place, node in enumerate(document.root.walk()) if node.id}
    nodes = [node for block_id in ids if (node := document.node(block_id)) is not None]
    nodes.sort(key=lambda node: places[node.id])
    return [_backlink(workspace, document, node, found, marks) for node in nodes]


def _backlink(workspace: Workspace, document: Document, node: Node, found: Linked, marks: list[str]) -> dict[str, Any]:
    shown = [part.clone() for part in section(node)]
    below = [one for part in shown for one in part.walk() if one.type in BLOCK_TYPES]
    counts = block_ref_counts(workspace, [one.id for one in below])
    for one in below:
        if count := counts.get(one.id, 0):
            one.properties["refcount"] = str(count)
    if marks:
        highlight(shown, marks, document.id, document.id)
    is_nested = node.parent is not None and node.parent.type != "NodeDocument"
    crumbs = breadcrumb(workspace, document, node) if is_nested or _is_below_heading(node) else []
    return {
        "dom": dom_of_blocks(shown, first_index=None if is_nested else 1),
        # A place right below the document says nothing.
        "blockPaths": [] if len(crumbs) == 2 else crumbs,
        "expand": is_expanded(node, found.originals),
    }


def _is_below_heading(node: Node) -> bool:
    if node.type == "NodeHeading" or node.parent is None:
        return False
    return any(sibling.type == "NodeHeading" for sibling in node.parent.children[: node.index()])


def refresh_backlink(call: Call) -> Any:
    """Index the references anew; ours are never behind."""
    if not isinstance(call.arguments.get("id"), str):
        raise Panic("id")


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/ref/getBacklink": get_backlink,
    "/api/ref/getBacklink2": get_backlink2,
    "/api/ref/getBacklinkDoc": get_backlink_doc,
    "/api/ref/getBackmentionDoc": get_backmention_doc,
    "/api/ref/refreshBacklink": refresh_backlink,
}
