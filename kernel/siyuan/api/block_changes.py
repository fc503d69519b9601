"""/api/block, changing: insert, append, prepend, update, delete, move, fold (siyuan-api A3; siyuan-markdown section 8)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.ids import is_node_id
from kernel.siyuan.api.filetree import checked_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.workspace.daily_notes import daily_note
from kernel.workspace.documents import Refusal
from kernel.workspace.edits import give_id, is_task_item
from kernel.workspace.intake import dom_of_block, dom_of_blocks, markdown_dom, parsed_dom
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.nodes import CONTAINER_TYPES, KINDS
from kernel.workspace.operations import Operation, Transaction, transactions_json
from kernel.workspace.refs import redraw
from kernel.workspace.stamps import stamp_changed
from kernel.workspace.transactions import perform
from kernel.workspace.tree import Node
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

# The kernel asks for an unknown block a second time after so long, in seconds.
SECOND_LOOK_AFTER_S: Final = 1.0
HEADING_PARENT: Final = (
    "heading [%s] is a leaf block and cannot have children; to place a block below this heading, "
    "pass previousID=<heading id> or previousID=<last block below the heading> instead of parentID"
)
LEAF_PARENT: Final = (
    'block [%s] type "%s" is a leaf block and cannot have children; '
    "use previousID to place the block as its sibling instead"
)
ITEM_IN_ITEM: Final = (
    "a list-item cannot directly contain another list-item; to nest, first create a list (NodeList) under the outer "
    "list-item, then add the inner list-items to that list"
)


# --- arguments -----------------------------------------------------------------------------------------------------
def dom_of_data(call: Call, data: str, data_type: str) -> str:
    """The editor DOM that a block call's data stands for. Raises ApiError for an invalid id in Markdown."""
    if data_type != "markdown":
        return data
    try:
        return markdown_dom(call.kernel.workspace, data)
    except MarkdownError as error:
        if error.invalid_id:
            raise ApiError(f"data block DOM failed: found invalid ID [{error.invalid_id}]") from error
        raise Panic(str(error)) from error


def _text(source: dict[str, Any], name: str) -> str:
    value = source.get(name)
    if not isinstance(value, str):
        raise Panic(name)
    return value


def _optional_id(source: dict[str, Any], name: str) -> str:
    value = source.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Panic(name)
    if value and not is_node_id(value):
        raise ApiError("invalid ID argument")
    return value


def _required_id(source: dict[str, Any], name: str) -> str:
    value = _text(source, name)
    if not is_node_id(value):
        raise ApiError("invalid ID argument")
    return value


def _objects(call: Call, name: str = "blocks") -> list[dict[str, Any]]:
    values = call.arguments.raw_list(name)
    if not all(isinstance(one, dict) for one in values):
        raise Panic(name)
    return values


def check_container(call: Call, parent_id: str) -> None:
    """Blocks only go into containers. Raises ApiError."""
    kind = _type_of(call, parent_id)
    if kind is None:
        raise ApiError(f"parent block not found: {parent_id}")
    if kind == "NodeHeading":
        raise ApiError(HEADING_PARENT % parent_id)
    if kind not in CONTAINER_TYPES:
        raise ApiError(LEAF_PARENT % (parent_id, KINDS[kind].sql_type))


def _type_of(call: Call, block_id: str) -> str | None:
    try:
        return call.kernel.workspace.node(block_id)[1].type
    except (NotFound, CorruptDocument):
        return call.kernel.workspace.blocks.type_left_out(block_id)


# --- doing ---------------------------------------------------------------------------------------------------------
def run(call: Call, transactions: list[Transaction], *, tells: bool = True) -> list[dict[str, Any]] | None:
    """Do transactions one after the other and tell every window; failures are only heard over the sockets."""
    if not transactions:
        return None
    workspace = call.kernel.workspace
    for transaction in transactions:
        perform(workspace, transaction)
    done = transactions_json(transactions)
    if tells:
        workspace.emit("transactions", done)
    return done


def _insert_operation(call: Call, source: dict[str, Any]) -> Operation:
    data, data_type = _text(source, "data"), _text(source, "dataType")
    parent, previous, following = (_optional_id(source, name) for name in ("parentID", "previousID", "nextID"))
    if parent and not previous and not following:
        check_container(call, parent)
    dom = dom_of_data(call, data, data_type)
    return Operation(action="insert", data=dom, parentID=parent, previousID=previous, nextID=following)


def insert_block(call: Call) -> Any:
    return run(call, [Transaction([_insert_operation(call, call.arguments.values)])])


def batch_insert_block(call: Call) -> Any:
    operations = [_insert_operation(call, source) for source in _objects(call)]
    return run(call, [Transaction([operation]) for operation in operations])


def _end_operation(call: Call, source: dict[str, Any], action: str) -> Operation:
    data, data_type = _text(source, "data"), _text(source, "dataType")
    parent = _required_id(source, "parentID")
    check_container(call, parent)
    return Operation(action=action, data=dom_of_data(call, data, data_type), parentID=parent)


def append_block(call: Call) -> Any:
    return run(call, [Transaction([_end_operation(call, call.arguments.values, "appendInsert")])])


def prepend_block(call: Call) -> Any:
    return run(call, [Transaction([_end_operation(call, call.arguments.values, "prependInsert")])])


def batch_append_block(call: Call) -> Any:
    return run(call, [Transaction([_end_operation(call, one, "appendInsert")]) for one in _objects(call)])


def batch_prepend_block(call: Call) -> Any:
    return run(call, [Transaction([_end_operation(call, one, "prependInsert")]) for one in _objects(call)])


def _daily(call: Call, action: str) -> Any:
    data, data_type = call.arguments.raw_str("data"), call.arguments.raw_str("dataType")
    box = checked_id(call, "notebook")
    dom = dom_of_data(call, data, data_type)
    try:
        document, _ = daily_note(call.kernel.workspace, box, call.kernel.state.get("render_template"))
    except (NotFound, Refusal) as error:
        raise ApiError(f"create daily note failed: {error}") from error
    return run(call, [Transaction([Operation(action=action, data=dom, parentID=document.id)])])


def append_daily_note_block(call: Call) -> Any:
    return _daily(call, "appendInsert")


def prepend_daily_note_block(call: Call) -> Any:
    return _daily(call, "prependInsert")


# --- update --------------------------------------------------------------------------------------------------------
async def _known_type(call: Call, block_id: str) -> str:
    """A block's type; one of no document is asked for a second time after a second. Raises ApiError."""
    workspace = call.kernel.workspace
    if not workspace.block_exists(block_id):
        await trio.sleep(SECOND_LOOK_AFTER_S)
    try:
        return workspace.node(block_id)[1].type
    except (NotFound, CorruptDocument) as error:
        what = "block" if workspace.block_exists(block_id) else "tree"
        raise ApiError(f"get block failed: {what} not found") from error


def _update_operations(call: Call, block_id: str, kind: str, dom: str, blocks: list[Node]) -> list[Operation]:
    workspace = call.kernel.workspace
    if kind == "NodeDocument":
        removed = workspace.document(block_id).root.children
        deletes = [Operation(action="delete", id=node.id, data={"createEmptyParagraph": False}) for node in removed]
        return [*deletes, Operation(action="appendInsert", data=dom, parentID=block_id)]
    first = blocks[0]
    if kind == "NodeListItem" and first.type == "NodeList" and first.children:
        item = first.children[0].detach()
        blocks = [*blocks[1:], item]
        first = blocks[0]
    give_id(first, block_id)
    return [Operation(action="update", id=block_id, data=dom_of_blocks(blocks, first_index=1))]


async def _prepared(call: Call, source: dict[str, Any]) -> tuple[str, str, str, list[Node]]:
    data, data_type = _text(source, "data"), _text(source, "dataType")
    block_id = _required_id(source, "id")
    dom = dom_of_data(call, data, data_type)
    blocks = parsed_dom(call.kernel.workspace, dom, keeps_unknown_refs=True)
    if not blocks:
        raise ApiError("parse tree failed")
    return block_id, await _known_type(call, block_id), dom, blocks


async def update_block(call: Call) -> Any:
    prepared = await _prepared(call, call.arguments.values)
    return run(call, [Transaction(_update_operations(call, *prepared))])


async def batch_update_block(call: Call) -> Any:
    values = call.arguments.required_list("blocks")
    if not values:
        raise ApiError("Field [blocks] must not be empty")
    prepared = []
    for source in values:
        if not isinstance(source, dict):
            raise Panic("blocks")
        _required_id(source, "id")
        prepared.append(await _prepared(call, source))
    operations = [operation for one in prepared for operation in _update_operations(call, *one)]
    return run(call, [Transaction(operations)])


# --- delete, move, fold --------------------------------------------------------------------------------------------
def delete_block(call: Call) -> Any:
    return run(call, [Transaction([Operation(action="delete", id=checked_id(call, "id"))])])


def move_block(call: Call) -> Any:
    workspace = call.kernel.workspace
    block_id = checked_id(call, "id")
    source = workspace.blocks.entry_of(block_id)
    if source is None:
        raise ApiError(f"block not found [id={block_id}]")
    values = call.arguments.values
    parent = _optional_id(values, "parentID")
    previous = _optional_id(values, "previousID")
    if values.get("previousID") is not None and _type_of(call, previous) in (None, "NodeDocument"):
        raise ApiError("`previousID` can not be the ID of a document")
    target = workspace.blocks.entry_of(previous or parent)
    if target is None:
        raise ApiError(f"target block not found [id={parent}]")
    if not previous:
        if _type_of(call, parent) == "NodeListItem" == _type_of(call, block_id):
            raise ApiError(ITEM_IN_ITEM)
        check_container(call, parent)
    operation = Operation(action="move", id=block_id, previousID=previous, parentID=parent)
    run(call, [Transaction([operation])], tells=False)
    redraw(workspace, *dict.fromkeys((source.id, target.id)))


def _fold(call: Call, *, folds: bool) -> None:
    block_id = checked_id(call, "id")
    kind = _type_of(call, block_id)
    if kind is None:
        raise ApiError(f"block tree not found [id={block_id}]")
    if kind == "NodeDocument":
        raise ApiError(f"document can not be {'folded' if folds else 'unfolded'}")
    if kind == "NodeHeading":
        operation = Operation(action="foldHeading" if folds else "unfoldHeading", id=block_id)
    else:
        operation = Operation(action="setAttrs", id=block_id, data='{"fold":"1"}' if folds else '{"fold":""}')
    run(call, [Transaction([operation])])


def fold_block(call: Call) -> Any:
    _fold(call, folds=True)


def unfold_block(call: Call) -> Any:
    _fold(call, folds=False)


def move_outline_heading(call: Call) -> Any:
    block_id = checked_id(call, "id")
    values = call.arguments.values
    parent, previous = _optional_id(values, "parentID"), _optional_id(values, "previousID")
    operation = Operation(action="moveOutlineHeading", id=block_id, previousID=previous, parentID=parent)
    return run(call, [Transaction([operation])])


# --- task items ----------------------------------------------------------------------------------------------------
async def _marked_item(call: Call, block_id: str, marker: str) -> Operation:
    """The update that gives a task item another mark. Raises ApiError."""
    if await _known_type(call, block_id) != "NodeListItem":
        raise ApiError("block is not a list item")
    workspace = call.kernel.workspace
    item = workspace.node(block_id)[1]
    if not is_task_item(item):
        raise ApiError("block is not a task list item")
    if len(marker.encode()) != 1:
        raise ApiError("task list item marker length should be 1")
    if marker in "[]":
        raise ApiError("task list item marker can not be [ or ]")
    copy = item.clone()
    mark = next((child for child in copy.children if child.type == "NodeTaskListItemMarker"), None)
    if mark is None:
        raise ApiError("task list item marker not found")
    mark.fields["TaskListItemMarker"] = ord(marker)
    mark.fields["TaskListItemChecked"] = marker != " "
    stamp_changed(copy, workspace.now_stamp())
    return Operation(action="update", id=block_id, data=dom_of_block(copy))


async def update_task_list_item_marker(call: Call) -> Any:
    block_id = call.arguments.required_str("id")
    marker = call.arguments.required_str("marker", may_be_empty=True)
    if not is_node_id(block_id):
        raise ApiError("invalid ID argument")
    return run(call, [Transaction([await _marked_item(call, block_id, marker)])])


async def batch_update_task_list_item_marker(call: Call) -> Any:
    items = call.arguments.required_list("items")
    if not items:
        raise ApiError("Field [items] must not be empty")
    markers: dict[str, str] = {}
    for item in items:
        if not isinstance(item, dict):
            raise ApiError("invalid item: each item must be an object")
        arguments = type(call.arguments)(item)
        block_id = arguments.required_str("id")
        marker = arguments.required_str("marker", may_be_empty=True)
        if not is_node_id(block_id):
            raise ApiError("invalid ID argument")
        markers[block_id] = marker
    return run(call, [Transaction([await _marked_item(call, one, marker) for one, marker in markers.items()])])


_WRITES: Final[dict[str, Callable[[Call], Any] | Callable[[Call], Awaitable[Any]]]] = {
    "insertBlock": insert_block,
    "batchInsertBlock": batch_insert_block,
    "appendBlock": append_block,
    "prependBlock": prepend_block,
    "batchAppendBlock": batch_append_block,
    "batchPrependBlock": batch_prepend_block,
    "appendDailyNoteBlock": append_daily_note_block,
    "prependDailyNoteBlock": prepend_daily_note_block,
    "updateBlock": update_block,
    "batchUpdateBlock": batch_update_block,
    "deleteBlock": delete_block,
    "moveBlock": move_block,
    "foldBlock": fold_block,
    "unfoldBlock": unfold_block,
    "moveOutlineHeading": move_outline_heading,
    "updateTaskListItemMarker": update_task_list_item_marker,
    "batchUpdateTaskListItemMarker": batch_update_task_list_item_marker,
}
HANDLERS: Final[dict[str, ApiHandler]] = {f"/api/block/{name}": handler for name, handler in _WRITES.items()}
