"""Writing the content of blocks: insert, prepend, append, update, replace, and the daily note."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.safety.intent import Outcome
from kernel.tools import markdown_input, replacing, shown_text
from kernel.tools.context import FILETREE, Arguments, ToolContext, Written, protyle
from kernel.tools.failures import refusal
from kernel.tools.replacing import TextBlock
from kernel.tools.windows import COMPLEX_TYPES

ANCHORS: Final = ("nextID", "previousID", "parentID")
# Elements of a piece of editor DOM, void ones ("<br>") apart.
_TAGS: Final = re.compile(r"<(?P<close>/?)(?P<name>\w+)(?:\"[^\"]*\"|[^\">])*?(?P<void>/?)>")
_NODE_ID: Final = re.compile(r'data-node-id="([^"]+)"')
_VOID: Final = frozenset({"br", "img", "hr", "input", "wbr", "source"})
# Attributes that belong to the block itself: the host sets them.
_OWN: Final = frozenset({"id", "updated"})
_MANY_LINES_WARNING: Final = "update replaces one block: to add several, use insert, prepend or append."


async def insert(context: ToolContext, arguments: Arguments) -> Written:
    if "blocks" in arguments:
        return await _insert_batch(context, arguments)
    return await _add(context, "insert", "/api/block/insertBlock", arguments)


async def prepend(context: ToolContext, arguments: Arguments) -> Written:
    return await _add(context, "prepend", "/api/block/prependBlock", arguments)


async def append(context: ToolContext, arguments: Arguments) -> Written:
    return await _add(context, "append", "/api/block/appendBlock", arguments)


async def _add(context: ToolContext, action: str, path: str, arguments: Arguments) -> Written:
    data_type = arguments["dataType"]
    data = await markdown_input.prepared(context, data_type, arguments["data"])
    anchors = {name: arguments[name] for name in ANCHORS if arguments.get(name)}
    roots = await context.checked_roots(anchors.values())
    transactions = await context.call(path, dataType=data_type, data=data.text, **anchors)
    operation = _operations(action, transactions)[0]
    payload: dict[str, Any] = {"success": True, "action": action}
    created = created_ids(operation)
    if operation.get("id"):
        payload["id"] = operation["id"]
    if len(created) > 1:
        payload["createdBlockIDs"] = created
    payload.update({name: operation[name] for name in ANCHORS if operation.get(name)})
    payload["dataType"] = data_type
    return Written({**payload, **data.notes}, protyle(*roots), changed=True)


def added_confirms(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """Every block that the host says it made is there, with the plain text it was given. A host that names none made none."""
    given = arguments.get("blocks") or [arguments]
    texts = [shown_text.plain_text(block["dataType"], block["data"]) for block in given]

    async def confirm(outcome: Outcome) -> bool:
        ids = _made(outcome.payload)
        if not ids:
            return False
        found = await context.call("/api/block/checkBlocksExist", ids=ids)
        is_there = isinstance(found, dict) and all(found.get(block_id) for block_id in ids)
        return is_there and await shown_text.are_shown(context, ids, texts)

    return confirm


def _made(payload: Mapping[str, Any]) -> list[str]:
    """The new blocks that an answer names: by itself, or in its transactions."""
    created: list[Any] = payload.get("createdBlockIDs") or [payload.get("id")]
    if "id" not in payload and "createdBlockIDs" not in payload and payload.get("transactions"):
        operations = _operations("insert", payload["transactions"])
        created = [
            one for operation in operations for one in created_ids(operation) or [str(operation.get("id") or "")]
        ]
    return [str(block_id) for block_id in created if block_id]


async def _insert_batch(context: ToolContext, arguments: Arguments) -> Written:
    blocks: list[dict[str, Any]] = []
    notes: dict[str, Any] = {}
    anchor_ids: list[str] = []
    for block in arguments["blocks"]:
        data = await markdown_input.prepared(context, block["dataType"], block["data"])
        notes.update(data.notes)
        anchors = {name: block[name] for name in ANCHORS if block.get(name)}
        anchors = anchors or {name: arguments[name] for name in ANCHORS if arguments.get(name)}
        anchor_ids += anchors.values()
        blocks.append({"dataType": block["dataType"], "data": data.text, **anchors})
    roots = await context.checked_roots(anchor_ids)
    transactions = await context.call("/api/block/batchInsertBlock", blocks=blocks)
    operations = _operations("insert", transactions)
    created = [block_id for operation in operations for block_id in created_ids(operation)]
    payload = {
        "success": True,
        "action": "insert",
        "count": len(blocks),
        "createdBlockIDs": created,
        "transactions": transactions,
    }
    return Written({**payload, **notes}, protyle(*roots), changed=True)


def _operations(action: str, transactions: Any) -> list[dict[str, Any]]:
    operations = [
        operation for transaction in transactions or [] for operation in transaction.get("doOperations") or []
    ]
    if not operations:
        raise ToolError(
            "api_error",
            f"block.{action} was answered with an empty transaction: nothing was written.",
            reason="empty_transaction_result",
            hint="Check that the anchor exists and may have such a neighbour.",
        )
    return operations


def created_ids(operation: Mapping[str, Any]) -> list[str]:
    """The blocks one insert operation made at top level, read from its DOM."""
    found = []
    depth = 0
    for tag in _TAGS.finditer(str(operation.get("data") or "")):
        if tag["close"]:
            depth -= 1
            continue
        if depth == 0 and (match := _NODE_ID.search(tag[0])):
            found.append(match[1])
        depth += not (tag["void"] or tag["name"] in _VOID)
    return found


async def update(context: ToolContext, arguments: Arguments) -> Written:
    if "items" in arguments:
        return await _update_batch(context, arguments["items"])
    block_id, data_type = arguments["id"], arguments["dataType"]
    data = await markdown_input.prepared(context, data_type, arguments["data"])
    kept = await _attributes(context, block_id)
    await context.call("/api/block/updateBlock", id=block_id, dataType=data_type, data=data.text)
    if kept:
        await context.call("/api/attr/setBlockAttrs", id=block_id, attrs=kept)
    payload = {
        "success": True,
        "id": block_id,
        "dataType": data_type,
        "attributesPreserved": True,
        "preservedAttributeCount": len(kept),
    }
    if data_type == "markdown":
        payload["markdown"] = data.text
        if "\n" in data.text or "\r" in data.text:
            payload["warning"] = _MANY_LINES_WARNING
    expectation = shown_text.expects({block_id: shown_text.plain_text(data_type, data.text)})
    return Written({**payload, **data.notes}, protyle(await context.root_of(block_id)), expectation=expectation)


async def _update_batch(context: ToolContext, items: Sequence[Mapping[str, Any]]) -> Written:
    blocks, notes = [], {}
    for item in items:
        data = await markdown_input.prepared(context, item["dataType"], item["data"])
        notes.update(data.notes)
        blocks.append({"id": item["id"], "dataType": item["dataType"], "data": data.text})
    kept = await _attributes_of(context, [item["id"] for item in items])
    roots = await context.checked_roots(item["id"] for item in items)
    transactions = await context.call("/api/block/batchUpdateBlock", blocks=blocks)
    await _restore(context, kept)
    payload = {
        "success": True,
        "action": "update",
        "count": len(items),
        "transactions": transactions,
        "attributesPreserved": True,
        "preservedAttributeCount": sum(len(attributes) for attributes in kept.values()),
    }
    # Of several texts for one block the last one stands.
    expectation = shown_text.expects({one["id"]: shown_text.plain_text(one["dataType"], one["data"]) for one in blocks})
    return Written({**payload, **notes}, protyle(*roots), expectation=expectation)


async def _attributes(context: ToolContext, block_id: str) -> dict[str, str]:
    """What an update would lose and has to be set again."""
    attributes = await context.call("/api/attr/getBlockAttrs", id=block_id) or {}
    return {name: value for name, value in attributes.items() if name not in _OWN}


async def _attributes_of(context: ToolContext, block_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    data = await context.call("/api/attr/batchGetBlockAttrs", ids=list(dict.fromkeys(block_ids))) or {}
    kept = {
        block_id: {name: value for name, value in attributes.items() if name not in _OWN}
        for block_id, attributes in data.items()
    }
    return {block_id: attributes for block_id, attributes in kept.items() if attributes}


async def _restore(context: ToolContext, kept: Mapping[str, Mapping[str, str]]) -> None:
    if kept:
        rows = [{"id": block_id, "attrs": dict(attributes)} for block_id, attributes in kept.items()]
        await context.call("/api/attr/batchSetBlockAttrs", blockAttrs=rows)


async def replace(context: ToolContext, arguments: Arguments) -> Written:
    block_id = arguments["id"]
    edits = replacing.edits_of(arguments)
    data = await context.call("/api/block/getBlockKramdown", id=block_id)
    if not (data or {}).get("kramdown"):
        raise refusal(f"Block {block_id} has no text.", "no_match")
    blocks = await _as_children(context, block_id)
    kind = blocks[0].get("type") if blocks and blocks[0].get("id") == block_id else None
    if kind == "s":
        # A super block that is named is opened; one that is only met on the way is left out, as everywhere.
        blocks = await context.call("/api/block/getChildBlocks", id=block_id) or []
    elif kind in COMPLEX_TYPES:
        raise refusal(
            f"Block {block_id} is of a kind that Markdown cannot carry.", "unsupported", hint="Use block.update."
        )
    found = await replacing.candidates(context, blocks)
    changes = replacing.plan("block.replace", found.blocks, edits)
    notes = await write_texts(context, changes.changed)
    payload: dict[str, Any] = {
        "success": True,
        "action": "replace",
        "id": block_id,
        "changed": bool(changes.changed),
        "attributesPreserved": True,
        "editsApplied": len(edits),
        "replacements": changes.replacements,
    }
    if found.skipped:
        payload["skippedComplexBlocks"] = found.skipped
    root = await context.root_of(block_id)
    expectation = shown_text.expects(
        {one.id: shown_text.plain_text("markdown", one.markdown) for one in changes.changed}
    )
    refresh = protyle(root) if changes.changed else ()
    return Written({**payload, **notes}, refresh, changed=bool(changes.changed), expectation=expectation)


async def _as_children(context: ToolContext, block_id: str) -> list[dict[str, Any]]:
    """The block as its parent's getChildBlocks lists it; of a document, the blocks that it consists of."""
    crumbs = await context.call("/api/block/getBlockBreadcrumb", id=block_id, excludeTypes=[]) or []
    # Above a block: its document, headings, containers; the nearest one that lists it is its place.
    for ancestor in reversed(crumbs[:-1]):
        for child in await context.call("/api/block/getChildBlocks", id=ancestor["id"]) or []:
            if child.get("id") == block_id:
                return [dict(child)]
    root = await context.root_of(block_id)
    children = await context.call("/api/block/getChildBlocks", id=root) or []
    if root == block_id:
        return [dict(child) for child in children]
    for child in children:
        if child.get("id") == block_id:
            return [dict(child)]
    raise refusal(f"Block {block_id} could not be found in its document.", "block_not_found")


async def write_texts(context: ToolContext, blocks: Sequence[TextBlock]) -> dict[str, Any]:
    """Write the edited text blocks in one host write, and set their attributes again; notes for the author."""
    if not blocks:
        return {}
    rows, notes = [], {}
    for block in context.progress.steps(blocks, "Prepared block"):
        data = await markdown_input.markdown(context, block.markdown)
        notes.update(data.notes)
        rows.append({"id": block.id, "dataType": "markdown", "data": data.text})
    kept = await _attributes_of(context, [block.id for block in blocks])
    if len(rows) == 1:
        await context.call("/api/block/updateBlock", **rows[0])
    else:
        await context.call("/api/block/batchUpdateBlock", blocks=rows)
    await _restore(context, kept)
    return notes


async def add_to_daily_note(context: ToolContext, arguments: Arguments) -> Written:
    notebook, position, data_type = arguments["notebook"], arguments["position"], arguments["dataType"]
    data = await markdown_input.prepared(context, data_type, arguments["data"])
    transactions = await context.call(
        f"/api/block/{position}DailyNoteBlock", notebook=notebook, dataType=data_type, data=data.text
    )
    _operations("add_to_daily_note", transactions)
    payload = {
        "success": True,
        "action": "add_to_daily_note",
        "notebook": notebook,
        "dataType": data_type,
        "position": position,
        "transactions": transactions,
    }
    return Written({**payload, **data.notes}, (FILETREE,), changed=True)
