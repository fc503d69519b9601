"""/api/bookmark: blocks by their bookmark; renaming and removing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.tag import refuse_markers
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.notes_index import settled_index
from kernel.siyuan.progress import PROCESSING, RENAMING, completed, covered, show, show_saving
from kernel.workspace.block_json import block_json
from kernel.workspace.documents import keep_version
from kernel.workspace.index.queries import bookmark_labels, bookmarked
from kernel.workspace.names import escaped_attribute, unescaped_attribute
from kernel.workspace.render.outline import heading_name

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Workspace

BOOKMARK_EMPTY: Final = "Bookmark cannot be empty"
MESSAGE_MS: Final = 5000


async def get_bookmark(call: Call) -> Any:
    index = await settled_index(call.kernel)
    labels: dict[str, list[dict[str, Any]]] = {}
    for row in bookmarked(index.connection):
        block = block_json(row, before=0)
        block["content"] = block["name"] or _shown(call.kernel.workspace, row.id)
        block["depth"] = 1
        labels.setdefault(unescaped_attribute(block["ial"].get("bookmark", "")), []).append(block)
    return [
        {"name": label, "blocks": labels[label], "type": "bookmark", "depth": 0, "count": len(labels[label])}
        for label in sorted(labels)
    ]


def _shown(workspace: Workspace, block_id: str) -> str:
    if not workspace.block_exists(block_id):
        return ""
    _, node = workspace.node(block_id)
    if node.type == "NodeDocument":
        return unescaped_attribute(node.properties.get("title", ""))
    return heading_name(node)


async def get_bookmark_labels(call: Call) -> Any:
    """The bookmarks in use."""
    index = await settled_index(call.kernel)
    return bookmark_labels(index.connection)


async def rename_bookmark(call: Call) -> Any:
    old = call.arguments.required_str("oldBookmark", may_be_empty=True)
    new = call.arguments.required_str("newBookmark", may_be_empty=True)
    refuse_markers(new)
    new = new.strip()
    if not new:
        raise ApiError(BOOKMARK_EMPTY, -1, {"closeTimeout": MESSAGE_MS})
    if old != new:
        with completed(call.kernel.workspace, RENAMING):
            await _change(call, old, new)


async def remove_bookmark(call: Call) -> Any:
    bookmark = call.arguments.required_str("bookmark", may_be_empty=True)
    with covered(call.kernel.workspace, PROCESSING):
        await _change(call, bookmark, "")


async def _change(call: Call, old: str, new: str) -> None:
    workspace = call.kernel.workspace
    index = await settled_index(call.kernel)
    roots = dict.fromkeys(row.root_id for row in bookmarked(index.connection))
    for root_id in roots:
        if root_id not in workspace.blocks.documents:
            continue
        document = workspace.edit(root_id)
        found = [
            node
            for node in document.nodes.values()
            if unescaped_attribute(node.properties.get("bookmark", "")) == old and "bookmark" in node.properties
        ]
        if not found:
            continue
        show(workspace, f"[{root_id}]")
        show_saving(workspace, root_id)
        keep_version(workspace, root_id, "replace")
        for node in found:
            if new:
                node.properties["bookmark"] = escaped_attribute(new)
            else:
                del node.properties["bookmark"]
        workspace.save(document)
    workspace.emit("reloadui", None, to=("main",))


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/bookmark/getBookmark": get_bookmark,
    "/api/attr/getBookmarkLabels": get_bookmark_labels,
    "/api/bookmark/renameBookmark": rename_bookmark,
    "/api/bookmark/removeBookmark": remove_bookmark,
}
