"""/api/filetree/getDoc: a document, or a part of it, as an editor draws it (siyuan-api A2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.filetree import optional
from kernel.siyuan.api.search import settings_of
from kernel.siyuan.arguments import Panic
from kernel.siyuan.dispatch import Envelope
from kernel.workspace.doc_pages import MODE_ONLY, PageRequest, page_of, shown_copy
from kernel.workspace.highlights import highlight, keywords_of, with_marked_code, words_of
from kernel.workspace.intake import dom_of_blocks
from kernel.workspace.limits import SHOWN_BLOCKS_DEFAULT
from kernel.workspace.patterns import PatternInvalid, compiled
from kernel.workspace.refs import block_ref_counts
from kernel.workspace.search import KEYWORD, QUERY_SYNTAX, REGEX, sql_types
from kernel.workspace.views.binding import name_databases
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Document

BLOCK_GONE: Final = 3


def _request(call: Call) -> PageRequest:
    request = PageRequest(call.arguments.raw_str("id"))
    request.index = int(optional(call, "index", (int, float), 0))
    optional(call, "query", str, "")
    optional(call, "queryMethod", (int, float), 0)
    for name in ("queryTypes", "querySubTypes"):
        if not all(isinstance(one, bool) for one in optional(call, name, dict, {}).values()):
            raise Panic(name)
    request.mode = int(optional(call, "mode", (int, float), MODE_ONLY))
    request.size = int(optional(call, "size", (int, float), SHOWN_BLOCKS_DEFAULT))
    start, end = call.arguments.get("startID"), call.arguments.get("endID")
    if start is not None and end is not None:
        if not isinstance(start, str) or not isinstance(end, str):
            raise Panic("startID")
        request.start_id, request.end_id = start, end
        request.size = _dynamic_load_blocks(call)
    request.is_backlink = optional(call, "isBacklink", bool, False)
    request.originals = optional(call, "originalRefBlockIDs", dict, {})
    if not all(isinstance(one, str) for one in request.originals.values()):
        raise Panic("originalRefBlockIDs")
    return request


def _words(call: Call, document: Document, query: str) -> list[str]:
    """What of a document's text a search has found; a statement finds blocks, but no words."""
    method = int(optional(call, "queryMethod", (int, float), KEYWORD))
    if method in (KEYWORD, QUERY_SYNTAX):
        return keywords_of(document, query, _types(call))
    if method != REGEX:
        return []
    try:
        return words_of(document, compiled(query).finds, _types(call))
    except PatternInvalid:
        return []


def _types(call: Call) -> frozenset[str]:
    """The kinds of blocks whose words are marked: those named, else those of the search settings."""
    named = call.arguments.get("queryTypes")
    if named is None:
        return sql_types(settings_of(call.kernel).kinds)
    return sql_types(kind for kind, is_chosen in named.items() if is_chosen)


def _dynamic_load_blocks(call: Call) -> int:
    return int(call.kernel.workspace.conf.section("editor")["dynamicLoadBlocks"])


def get_doc(call: Call) -> Any:
    workspace = call.kernel.workspace
    request = _request(call)
    query = optional(call, "query", str, "")
    is_highlighted = optional(call, "highlight", bool, True)
    try:
        document = workspace.document(request.block_id)
    except NotFound:
        return Envelope(1, "tree not found", None)
    except CorruptDocument as error:
        return Envelope(1, f"the document cannot be read: {error}", None)
    page = page_of(document.root, request, _dynamic_load_blocks(call))
    nodes = shown_copy(page.nodes, request.block_id, block_ref_counts(workspace, document.nodes))
    name_databases(workspace, nodes)
    keywords = _words(call, document, query) if query else []
    if keywords and is_highlighted:
        highlight(nodes, keywords, request.block_id, document.id)
    drawn = dom_of_blocks(nodes, first_index=page.first_index)
    return {
        "id": request.block_id,
        "mode": request.mode,
        "parentID": page.parent_id,
        "parent2ID": page.parent2_id,
        "rootID": document.id,
        "type": page.type,
        "content": with_marked_code(drawn) if keywords and is_highlighted else drawn,
        "blockCount": page.block_count,
        "eof": page.is_end,
        "scroll": page.scrolls,
        "box": document.box,
        "path": document.path,
        "isSyncing": False,
        "isBacklinkExpand": page.is_backlink_expanded,
        "keywords": keywords or None,
        "reqId": call.arguments.get("reqId"),
    }


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/filetree/getDoc": get_doc}
