"""/api/search: blocks by text, by reference, and what a search replaces (siyuan-api A6; kernel-facts 20)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.notes_index import is_small, read_in_thread, settled_index
from kernel.siyuan.progress import uncover
from kernel.workspace.block_json import block_json, with_notebook_name, without_own_title
from kernel.workspace.documents import keep_version, rename_document
from kernel.workspace.index.queries import blocks_by_id, ref_counts, tag_labels
from kernel.workspace.markdown.inlines import parse_inlines
from kernel.workspace.marking import escaped, marked
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.recent_targets import recent_targets
from kernel.workspace.reference_search import search_for_reference
from kernel.workspace.refs import redraw, ref_text
from kernel.workspace.render.footnotes import BLOCK_LINK
from kernel.workspace.render.inlines import is_mark
from kernel.workspace.replace import Replacement, pattern_of, replace_in
from kernel.workspace.search import (
    KEYWORD,
    QUERY_SYNTAX,
    REGEX,
    SQL,
    Found,
    SearchQuery,
    SearchSettings,
    is_box_path,
    is_for_trigrams,
    needs_texts,
    search,
    search_by_trigrams,
)
from kernel.workspace.stamps import stamp_changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call, SiyuanKernel
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Workspace

ALL_PAGES: Final = 1 << 31
NO_REPLACE_BY_SQL: Final = "SQL search mode does not support the replace operation, please use another search method"
NO_REPLACE_BY_GROUP: Final = "After grouping by doc, replacement is not supported, please change to no grouping"
MESSAGE_MS: Final = 5000


def settings_of(kernel: SiyuanKernel) -> SearchSettings:
    return SearchSettings.of(kernel.workspace.conf.section("search"))


# --- fullTextSearchBlock --------------------------------------------------------------------------------------
UNGROUPED, BY_DOCUMENT = 0, 1
# Orders by a date, which the hits under a document no longer know: they stay as they were found.
_DATE_ORDERS: Final = (1, 2, 3, 4)


async def full_text_search_block(call: Call) -> Any:
    return await full_text_search_in(call, *_places(call))


async def full_text_search_in(call: Call, boxes: tuple[str, ...], paths: tuple[str, ...]) -> Any:
    """The search of a call's arguments, but in these notebooks, below these paths."""
    query, group_by = _query(call)
    query = replace(query, boxes=boxes, paths=paths)
    if query.method == SQL and not call.is_admin:
        raise ApiError("SQL search requires administrator privileges")
    found = await find(call, query)
    settings = settings_of(call.kernel)
    blocks = [block_json(row, found.keywords, is_case_sensitive=settings.is_case_sensitive) for row in found.rows]
    # Any other number shows the hits one by one, but as they are.
    if group_by in (UNGROUPED, BY_DOCUMENT):
        index = await settled_index(call.kernel)
        counts = ref_counts(index.connection, [block["id"] for block in blocks])
        for block in blocks:
            block["refCount"] = counts.get(block["id"], 0)
    if group_by == BY_DOCUMENT:
        blocks = await _by_document(call, blocks, query.order_by)
    elif group_by == UNGROUPED:
        without_own_title(blocks)
    return {
        "blocks": blocks,
        "matchedBlockCount": found.block_count,
        "matchedRootCount": found.root_count,
        "pageCount": -(-found.block_count // query.page_size),
        "docMode": found.is_by_document,
    }


async def find(call: Call, query: SearchQuery) -> Found:
    """Run a search on a reader, off the loop unless there is little to look through.

    What the trigrams can tell is not asked of the full-text index: that takes long to build, and longer to search.
    """
    settings, hidden = settings_of(call.kernel), list(call.kernel.workspace.blocks.hidden)
    is_light = query.method in (KEYWORD, QUERY_SYNTAX) and is_small(call.kernel)
    if is_for_trigrams(query, settings):
        by_trigrams = await read_in_thread(
            call.kernel,
            lambda reader: search_by_trigrams(reader, query, settings, hidden),
            with_texts=False,
            with_trigrams=True,
            is_light=is_light,
        )
        if by_trigrams is not None:
            return by_trigrams
    return await read_in_thread(
        call.kernel,
        lambda reader: search(reader, query, settings, hidden),
        with_texts=needs_texts(query),
        is_light=is_light,
    )


def _query(call: Call) -> tuple[SearchQuery, int]:
    arguments = call.arguments
    boxes, paths = _places(call)
    types, subtypes = _chosen(call, "types"), _chosen(call, "subTypes")
    query = SearchQuery(
        text=_or(call, "query", str, ""),
        boxes=boxes,
        paths=paths,
        types=types if arguments.get("types") is not None else None,
        subtypes=subtypes,
        method=int(_or(call, "method", float, 0)),
        order_by=int(_or(call, "orderBy", float, 0)),
        page=max(1, int(_or(call, "page", float, 1))),
        page_size=page_size if (page_size := int(_or(call, "pageSize", float, 32))) > 0 else 32,
    )
    return query, int(_or(call, "groupBy", float, 0))


def _or(call: Call, name: str, kind: type, default: Any) -> Any:
    """An unchecked argument that may be missing."""
    if call.arguments.get(name) is None:
        return default
    return call.arguments.raw_number(name) if kind is float else call.arguments.raw_str(name)


def _places(call: Call) -> tuple[tuple[str, ...], tuple[str, ...]]:
    boxes: dict[str, None] = {}
    paths: dict[str, None] = {}
    if call.arguments.get("paths") is not None:
        for place in call.arguments.raw_str_list("paths"):
            box = place.split("/")[0].strip()
            path = place.removeprefix(box).strip()
            if not is_box_path(box, path):
                continue
            boxes[box] = None
            if path:
                paths[path] = None
    return tuple(boxes), tuple(paths)


def _chosen(call: Call, name: str) -> frozenset[str]:
    if call.arguments.get(name) is None:
        return frozenset()
    chosen = call.arguments.raw_object(name)
    if not all(isinstance(value, bool) for value in chosen.values()):
        raise Panic(name)
    return frozenset(kind for kind, is_chosen in chosen.items() if is_chosen)


async def _by_document(call: Call, blocks: list[dict[str, Any]], order_by: int) -> list[dict[str, Any]]:
    """Hits under their documents, in the order the documents were first hit."""
    index = await settled_index(call.kernel)
    roots = list(dict.fromkeys(block["rootID"] for block in blocks))
    shown = []
    for row in blocks_by_id(index.connection, roots):
        root = block_json(row)
        children = [block for block in blocks if block["rootID"] == row.id]
        if order_by == 5:
            _sort_by_content(call, row.id, children)
        elif order_by not in _DATE_ORDERS:
            children.sort(key=lambda block: block["sort"])
        root["children"] = children or None
        shown.append(root)
    if order_by == 5:
        shown.sort(key=lambda root: str((root["ial"] or {}).get("updated", "")), reverse=True)
    return shown


def _sort_by_content(call: Call, root_id: str, children: list[dict[str, Any]]) -> None:
    nodes = (node for node in call.kernel.workspace.document(root_id).root.walk() if node.id)
    places = {node.id: place for place, node in enumerate(nodes)}
    for block in children:
        block["sort"] = places.get(block["id"], 0)
    children.sort(key=lambda block: block["sort"])


# --- references and tags --------------------------------------------------------------------------------------
_REF_SWITCHES: Final = ("isSquareBrackets", "isDatabase")


async def search_ref_block(call: Call) -> Any:
    """Candidates for a reference that is being typed."""
    arguments = call.arguments
    request_id = arguments.get("reqId")
    if arguments.get("id") is None:
        return {"reqId": request_id}
    try:
        switches = {name: arguments.get(name) is not None and arguments.raw_bool(name) for name in _REF_SWITCHES}
        block_id, root_id = arguments.raw_str("id"), arguments.raw_str("rootID")
        keyword, before = arguments.raw_str("k"), int(arguments.raw_number("beforeLen"))
    except Panic:
        return {"reqId": request_id}
    settings = settings_of(call.kernel)
    workspace = call.kernel.workspace
    used = recent_targets(workspace)
    rows = await read_in_thread(
        call.kernel, lambda reader: search_for_reference(reader, keyword, settings, used), with_texts=True
    )
    blocks = []
    for row in rows:
        block = block_json(row, before=before)
        # Of what matches the keyword the asking block and its document are left out, of the recent targets nothing.
        if keyword and row.id in (block_id, root_id) and row.type != "av":
            continue
        if workspace.block_exists(row.id):
            block["refText"] = ref_text(workspace.node(row.id)[1])
        blocks.append(block)
    index = await settled_index(call.kernel)
    counts = ref_counts(index.connection, [block["id"] for block in blocks])
    for block in blocks:
        block["refCount"] = counts.get(block["id"], 0)
    with_notebook_name(blocks, _notebook_names(workspace))
    without_own_title(blocks)
    return {
        "blocks": blocks,
        "newDoc": switches["isDatabase"] or _is_new_document(workspace, block_id, keyword),
        "k": escaped(keyword),
        "reqId": request_id,
    }


def _notebook_names(workspace: Workspace) -> dict[str, str]:
    names = {}
    for box in workspace.blocks.boxes():
        notebook = workspace.notebooks.get(box)
        names[box] = notebook.name if notebook is not None else ""
    return names


def _is_new_document(workspace: Workspace, block_id: str, keyword: str) -> bool:
    entry = workspace.blocks.entry_of(block_id)
    if entry is None or not keyword:
        return False
    hpath = f"{entry.hpath.rstrip('/')}/{keyword.strip('/')}"
    return not workspace.blocks.at_hpath(entry.box, hpath)


async def search_tag(call: Call) -> Any:
    """Labels that contain a keyword, with the hits marked."""
    keyword = call.arguments.raw_str("k")
    index = await settled_index(call.kernel)
    limit = settings_of(call.kernel).limit
    labels = tag_labels(index.connection, keyword, limit)
    words = [word for word in keyword.split(" ") if word]
    shown = {marked(label, words, 1024) if words else escaped(label) for label in labels}
    return {"tags": sorted(shown), "k": keyword}


async def list_invalid_block_refs(call: Call) -> Any:
    """Blocks that refer to blocks which do not exist."""
    page = int(_or(call, "page", float, 1))
    page_size = int(_or(call, "pageSize", float, 32))
    page, page_size = max(page, 1), page_size if page_size > 0 else 32
    referring = sorted(set(_referring_to_nothing(call.kernel.workspace)))
    start = (page - 1) * page_size
    if start > len(referring):
        raise Panic("page")
    index = await settled_index(call.kernel)
    rows = blocks_by_id(index.connection, referring[start : start + page_size])
    roots = {call.kernel.workspace.blocks.root_of(block_id) for block_id in referring}
    return {
        "blocks": [block_json(row) for row in rows],
        "matchedBlockCount": len(referring),
        "matchedRootCount": len(roots),
        "pageCount": -(-len(referring) // page_size),
    }


def _referring_to_nothing(workspace: Workspace) -> list[str]:
    found = []
    for document in workspace.documents():
        for block in document.nodes.values():
            for node in block.children:
                target = _target(node)
                if target is not None and not workspace.block_exists(target):
                    found.append(block.id)
    return found


def _target(node: Node) -> str | None:
    """The id an inline points to, None where it points nowhere."""
    if is_mark(node, "block-ref"):
        return str(node.fields.get("TextMarkBlockRefID", ""))
    if is_mark(node, "a"):
        href = str(node.fields.get("TextMarkAHref", ""))
        if href.startswith(BLOCK_LINK):
            return href.removeprefix(BLOCK_LINK).partition("?")[0]
    return None


# --- findReplace ----------------------------------------------------------------------------------------------
async def find_replace(call: Call) -> Any:
    arguments = call.arguments
    query, group_by = _query(call)
    keyword, text = arguments.raw_str("k"), arguments.raw_str("r")
    ids = list(dict.fromkeys(arguments.raw_str_list("ids")))
    kinds = _chosen(call, "replaceTypes")
    if query.method == SQL:
        raise ApiError(NO_REPLACE_BY_SQL, 1, {"closeTimeout": MESSAGE_MS})
    if group_by != 0:
        raise ApiError(NO_REPLACE_BY_GROUP, 1, {"closeTimeout": MESSAGE_MS})
    if keyword == text:
        return
    if not ids:
        ids = await _ids_everywhere(call, query, keyword)
    pattern = pattern_of(keyword) if query.method == REGEX else None
    if query.method == REGEX and pattern is None:
        return
    is_case_sensitive = settings_of(call.kernel).is_case_sensitive
    _replace(call, ids, Replacement(keyword, text, kinds, pattern, is_case_sensitive, inlines=parse_inlines))
    uncover(call.kernel.workspace)


async def _ids_everywhere(call: Call, query: SearchQuery, keyword: str) -> list[str]:
    """Every block that the search finds, over all pages."""
    everywhere = SearchQuery(
        keyword,
        query.boxes,
        query.paths,
        query.types,
        query.subtypes,
        KEYWORD if query.method == QUERY_SYNTAX else query.method,
        query.order_by,
        page_size=ALL_PAGES,
    )
    return [row.id for row in (await find(call, everywhere)).rows]


def _replace(call: Call, ids: Sequence[str], change: Replacement) -> None:
    workspace = call.kernel.workspace
    changed: dict[str, None] = {}
    titles: dict[str, str] = {}
    for block_id in ids:
        root_id = workspace.blocks.root_of(block_id)
        if root_id is None:
            continue
        if root_id not in changed:
            keep_version(workspace, root_id, "replace")
        document = workspace.edit(root_id)
        node = document.node(block_id)
        if node is None:
            continue
        changed[root_id] = None
        if node.type == "NodeDocument":
            title = unescaped_attribute(node.properties.get("title", ""))
            new = change.applied(title, replacement=change.text.replace("/", "／"))
            if "docTitle" in change.kinds and new != title:
                titles[root_id] = new
        elif replace_in(node, change):
            stamp_changed(node, workspace.now_stamp())
    for root_id in changed:
        workspace.save(workspace.edit(root_id))
    for root_id, title in titles.items():
        entry = workspace.entry(root_id)
        rename_document(workspace, entry.box, entry.path, title)
    redraw(workspace, *changed)


def semantic_search_block(call: Call) -> Any:
    """Nothing: no embedding model is configured, as in a fresh kernel."""
    _places(call)
    _query(call)
    return {"blocks": [], "matchedBlockCount": 0, "matchedRootCount": 0, "pageCount": 0}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/search/fullTextSearchBlock": full_text_search_block,
    "/api/search/searchRefBlock": search_ref_block,
    "/api/search/searchTag": search_tag,
    "/api/search/listInvalidBlockRefs": list_invalid_block_refs,
    "/api/search/findReplace": find_replace,
    "/api/search/semanticSearchBlock": semantic_search_block,
}
