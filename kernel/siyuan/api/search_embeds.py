"""/api/search: block queries, shown where they stand (siyuan-api A6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.api.search import settings_of
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.notes_index import index_of, read_in_thread, settled_index
from kernel.workspace.block_info import breadcrumb, crumb_name
from kernel.workspace.block_json import block_json, empty_block
from kernel.workspace.doc_pages import shown_copy
from kernel.workspace.index import statements
from kernel.workspace.index.queries import blocks_by_id, ref_counts
from kernel.workspace.index.rows import BlockRow, embedded_id
from kernel.workspace.intake import dom_of_siblings
from kernel.workspace.nodes import CONTAINER_TYPES
from kernel.workspace.render.content import shown_content
from kernel.workspace.render.embeds import HEADING_CONTENT_ONLY, HEADING_ONLY
from kernel.workspace.render.footnotes import section

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.tree import Node

IDS_MAX: Final = 1024
NO_RESULT: Final = "no query result"


async def search_embed_block(call: Call) -> Any:
    """The blocks that a query finds, as DOM."""
    arguments = call.arguments
    embed_id, statement = arguments.raw_str("embedBlockID"), arguments.raw_str("stmt")
    excluded = [value for value in arguments.raw_list("excludeIDs") if value is not None]
    if not all(isinstance(value, str) for value in excluded):
        raise Panic("excludeIDs")
    mode, shows_path = _mode(call), _shows_path(call)
    limit = settings_of(call.kernel).limit
    try:
        rows = await read_in_thread(
            call.kernel, lambda reader: _found(reader, statement, limit), with_texts="_fts" in statement.lower()
        )
    except statements.StatementRefused as error:
        raise ApiError(str(error)) from error
    kept = [row for row in rows if row.id not in excluded]
    return await _shown(call, embed_id, embedded_id(statement), kept, mode, shows_path=shows_path)


def _found(reader: apsw.Connection, statement: str, limit: int) -> list[BlockRow]:
    statements.check_query(reader, statement)
    columns = len(BlockRow._fields)
    found: list[BlockRow] = []
    try:
        for row in reader.execute(statement):
            if len(row) != columns or len(found) > limit:
                break
            found.append(BlockRow(*row))
    except statements.STEP_ERRORS:
        pass  # a fault on the way ends the results early
    return found


async def get_embed_block(call: Call) -> Any:
    """These blocks, as a query would show them."""
    embed_id, ids = call.arguments.raw_str("embedBlockID"), call.arguments.raw_str_list("includeIDs")
    mode, shows_path = _mode(call), _shows_path(call)
    index = await settled_index(call.kernel)
    wanted = [block_id for block_id in dict.fromkeys(ids) if is_node_id(block_id)][:IDS_MAX]
    rows = blocks_by_id(index.connection, wanted)
    return await _shown(call, embed_id, "", rows, mode, shows_path=shows_path)


def update_embed_block(call: Call) -> Any:
    """What the index holds as the text of a query."""
    block_id, content = call.arguments.raw_str("id"), call.arguments.raw_str("content")
    workspace = call.kernel.workspace
    if not workspace.block_exists(block_id):
        raise ApiError("block not found")
    if workspace.node(block_id)[1].type != "NodeBlockQueryEmbed":
        raise ApiError("not query embed block")
    index_of(call.kernel).set_content(block_id, content)


def _mode(call: Call) -> int:
    return 0 if call.arguments.get("headingMode") is None else int(call.arguments.raw_number("headingMode"))


def _shows_path(call: Call) -> bool:
    return False if call.arguments.get("breadcrumb") is None else call.arguments.raw_bool("breadcrumb")


async def _shown(
    call: Call, embed_id: str, whole_id: str, rows: Sequence[BlockRow], mode: int, *, shows_path: bool
) -> dict[str, Any]:
    workspace = call.kernel.workspace
    index = await settled_index(call.kernel)
    shown: list[dict[str, Any]] = []
    for row in rows:
        # A query inside a query is not shown again.
        if row.type == "query_embed" or not workspace.block_exists(row.id):
            continue
        document, node = workspace.node(row.id)
        nodes = _nodes(node, mode)
        counts = ref_counts(index.connection, [below.id for one in nodes for below in one.walk() if below.id])
        text = "".join(shown_content(one) for one in nodes if one.type != "NodeBlockQueryEmbed")
        box = workspace.notebooks.get(document.box)
        block = {
            **empty_block(),
            "box": document.box,
            "path": document.path,
            "hPath": f"{box.name if box is not None else ''}{row.hpath}",
            "id": node.id,
            "content": dom_of_siblings(shown_copy(nodes, node.id, counts), place=nodes[0] if nodes else None),
            "markdown": text,
            "type": node.type,
            "ial": block_json(row)["ial"],
        }
        allows = whole_id == node.id and node.type in CONTAINER_TYPES
        crumbs = _crumbs(call, node, mode) if shows_path else []
        shown.append({"block": block, "blockPaths": crumbs, "allowChildOperation": allows})
    index.note_content(embed_id, "".join(entry["block"]["markdown"] for entry in shown) or NO_RESULT)
    return {"blocks": shown}


def _nodes(node: Node, mode: int) -> list[Node]:
    """A block as a query shows it: a heading with what is under it, unless folded or otherwise wanted."""
    if node.type == "NodeDocument":
        return [child for child in node.children if child.properties.get("heading-fold") != "1"]
    if node.type != "NodeHeading" or mode == HEADING_ONLY:
        return [node]
    below: list[Node] = []
    if node.properties.get("fold") != "1":
        below = [child for child in section(node)[1:] if child.properties.get("heading-fold") != "1"]
    return below if mode == HEADING_CONTENT_ONLY else [node, *below]


def _crumbs(call: Call, node: Node, mode: int) -> list[dict[str, Any]]:
    """The place of a shown block; of what it stands in only documents and headings keep their names, and the block
    itself has one where it is a document, or a heading of which only what is under it is shown."""
    document = call.kernel.workspace.document(node.id)
    around: set[str] = set()
    above = node.parent
    while above is not None and above.type != "NodeDocument":
        around.add(above.id)
        above = above.parent
    workspace = call.kernel.workspace
    if node is document.root:
        return [
            {**crumb, "name": crumb_name(workspace, document, node)} for crumb in breadcrumb(workspace, document, node)
        ]
    crumbs = breadcrumb(workspace, document, node)
    crumbs = [{**crumb, "name": ""} if crumb["id"] in around else crumb for crumb in crumbs]
    if node.type == "NodeHeading" and mode == HEADING_CONTENT_ONLY:
        crumbs = [
            {**crumb, "name": crumb_name(workspace, document, node)} if crumb["id"] == node.id else crumb
            for crumb in crumbs
        ]
    return crumbs


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/search/searchEmbedBlock": search_embed_block,
    "/api/search/getEmbedBlock": get_embed_block,
    "/api/search/updateEmbedBlock": update_embed_block,
}
