"""/api/outline: the headings of a document as a tree (siyuan-api A7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.siyuan.arguments import ApiError
from kernel.workspace.block_json import empty_block
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.render.outline import OutlineHeading, outline
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Document, Workspace

FOLDS_PATH: Final = "data/storage/outline.json"


def get_doc_outline(call: Call) -> Any:
    """null without headings, [] for an unknown document."""
    if call.arguments.get("id") is None:
        return None
    is_preview = call.arguments.get("preview") is not None and call.arguments.raw_bool("preview")
    block_id = call.arguments.raw_str("id")
    if not is_node_id(block_id):
        raise ApiError("invalid ID argument")
    workspace = call.kernel.workspace
    try:
        document = workspace.document(block_id)
    except (NotFound, CorruptDocument):
        return []
    shows_title = is_preview and bool(workspace.conf.section("export").get("addTitle", True))
    title = unescaped_attribute(document.root.properties.get("title", "")) if shows_title else ""
    expanded = _expanded_ids(workspace, block_id)
    headings = outline(document.root, title=title)
    return [_top(heading, document, expanded) for heading in headings] or None


def _top(heading: OutlineHeading, document: Document, expanded: frozenset[str] | None) -> dict[str, Any]:
    blocks = [_block(child, document, expanded, 1) for child in heading.children]
    return {
        "id": heading.id,
        "box": document.box,
        "name": heading.name,
        "hPath": "",
        "type": "outline",
        "nodeType": "NodeHeading",
        "subType": f"h{heading.level}",
        **({"blocks": blocks} if blocks else {}),
        "depth": 0,
        "count": len(heading.children),
        "folded": expanded is not None and heading.id not in expanded,
        "updated": "",
        "created": "",
    }


def _block(heading: OutlineHeading, document: Document, expanded: frozenset[str] | None, depth: int) -> dict[str, Any]:
    children = [_block(child, document, expanded, depth + 1) for child in heading.children]
    return {
        **empty_block(),
        "box": document.box,
        "path": document.path,
        "id": heading.id,
        "rootID": document.id,
        "content": heading.name,
        "folded": expanded is not None and heading.id not in expanded,
        "type": "NodeHeading",
        "subType": f"h{heading.level}",
        "children": children or None,
        "depth": depth,
        "count": len(heading.children),
    }


def _expanded_ids(workspace: Workspace, root_id: str) -> frozenset[str] | None:
    """Which headings the panel has open; None while nobody has folded any."""
    try:
        kept = read_json(workspace.files.read(FOLDS_PATH))
        ids = kept[root_id]["expandIds"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return frozenset(block_id for block_id in ids if isinstance(block_id, str)) if isinstance(ids, list) else None


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/outline/getDocOutline": get_doc_outline}
