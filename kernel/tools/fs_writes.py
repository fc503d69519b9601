"""Writing notes as files: write, replace, remove, move, reorder. One host write each, but for a move with a new name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.safety.intent import Outcome
from kernel.tools import fs_virtual, markdown_input, ordering, replacing, shown_text
from kernel.tools.block_content import write_texts
from kernel.tools.context import FILETREE, Arguments, Handling, ToolContext, Written, protyle
from kernel.tools.failures import refusal
from kernel.tools.fs_paths import VIRTUAL_PATHS, NewPlace, Place, document, new_place, normalised, resolve
from kernel.tools.limits import OVERWRITE_DESCENDANTS_MAX, PROTECTED_BLOCKS_SHOWN_MAX
from kernel.tools.permissions import Level
from kernel.tools.windows import COMPLEX_TYPES

_PROTECTED_NAMES: Final = ("name", "alias", "memo", "bookmark", "style")
_FOR_COMPLEX: Final = ("file.export_md", "block.dom", "block.update", "block.append", "av")
_FOR_PROTECTED: Final = ("block.update", "block.append", "block.prepend", "block.insert", "fs.replace", "timeline")
_FOR_SKIPPED: Final = ("block.dom", "block.update", "av", "file.export_md")
_SKIPPED_WARNING: Final = "Some blocks were left out: Markdown cannot carry them."


async def write(context: ToolContext, arguments: Arguments) -> Written:
    shown = normalised(arguments["path"])
    if shown in VIRTUAL_PATHS:
        return await fs_virtual.write(context, shown, arguments["markdown"])
    there = await _existing(context, shown, may_repeat=_may_repeat(context, arguments))
    if there is None:
        return await _create(context, await new_place(context, shown), arguments["markdown"])
    if not arguments.get("overwrite"):
        raise refusal(f"Document already exists at {shown}.", "conflict", hint="Pass overwrite:true to replace it.")
    await _check_overwrite(context, there)
    text = markdown_input.without_title(arguments["markdown"], shown.rsplit("/", 1)[-1])
    data = await markdown_input.markdown(context, text)
    # Updating the document's own block replaces all of its text in one step and keeps its attributes.
    await context.call("/api/block/updateBlock", id=there.id, dataType="markdown", data=data.text)
    payload = {"success": True, "path": there.path, "id": there.id, "overwritten": True, **data.notes}
    expectation = shown_text.expects({there.id: shown_text.plain_text("markdown", data.text)})
    return Written(payload, (*protyle(there.id), FILETREE), expectation=expectation)


def write_confirms(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """A new document is there with its plain text; the agents' memory holds what was written."""
    shown = normalised(arguments["path"])

    async def confirm(outcome: Outcome) -> bool:
        if shown in VIRTUAL_PATHS:
            return await fs_virtual.holds(context, shown, arguments["markdown"])
        if not outcome.payload.get("created"):
            # Overwritten: its state tells, by the expectation.
            return True
        block_id = str(outcome.payload.get("id"))
        if not await context.call("/api/block/checkBlockExist", id=block_id):
            return False
        text = markdown_input.without_title(arguments["markdown"], shown.rsplit("/", 1)[-1])
        return await shown_text.are_shown(context, [block_id], [shown_text.plain_text("markdown", text)])

    return confirm


def _may_repeat(context: ToolContext, arguments: Arguments) -> bool:
    """Without strict mode a name that several documents have already gets one more of them, as document.create makes it."""
    return not (arguments.get("overwrite") or context.configuration.is_strict)


async def _existing(context: ToolContext, shown: str, *, may_repeat: bool = False) -> Place | None:
    """The document at a path, or None. A notebook or the root is no place for text."""
    try:
        place = await resolve(context, shown, Level.WRITE)
    except ToolError as error:
        if error.code == "not_found" or (error.code == "ambiguous_path" and may_repeat):
            return None
        raise
    return await document(context, shown, Level.WRITE) if place.kind == "document" else None


async def _create(context: ToolContext, place: NewPlace, markdown: str) -> Written:
    context.permissions.require(place.notebook, Level.WRITE, name=place.parent.notebook_name)
    data = await markdown_input.markdown(context, markdown_input.without_title(markdown, place.title))
    block_id = await context.call(
        "/api/filetree/createDocWithMd", notebook=place.notebook, path=place.hpath, markdown=data.text
    )
    payload = {"success": True, "path": place.path, "id": block_id, "created": True, **data.notes}
    return Written(payload, (*protyle(block_id), FILETREE), changed=True)


async def _check_overwrite(context: ToolContext, place: Place) -> None:
    """Nothing is overwritten that Markdown could not give back: complex blocks, attributes, inbound references.

    Raises:
        ToolError: with what is in the way.
    """
    blocks = await _descendants(context, place.id)
    complex_blocks = [{"id": b["id"], "type": b["type"]} for b in blocks if b.get("type") in COMPLEX_TYPES]
    if complex_blocks:
        raise ToolError(
            "complex_blocks_not_supported_by_fs",
            f"{place.path} holds blocks that Markdown cannot carry.",
            path=place.path,
            id=place.id,
            complexBlocks=complex_blocks,
            recommendedTools=list(_FOR_COMPLEX),
            hint="Change its blocks one by one.",
        )
    protected = await _protected(context, [str(block["id"]) for block in blocks])
    if protected:
        raise ToolError(
            "structured_assets_overwrite_rejected",
            f"{place.path} holds blocks with attributes or references that overwriting would lose.",
            path=place.path,
            id=place.id,
            protectedBlockCount=len(protected),
            protectedBlocks=protected[:PROTECTED_BLOCKS_SHOWN_MAX],
            truncated=len(protected) > PROTECTED_BLOCKS_SHOWN_MAX,
            recommendedTools=list(_FOR_PROTECTED),
            recommendedFlow="Read the document with block ids, then change the blocks that matter.",
        )


async def _descendants(context: ToolContext, root: str) -> list[Mapping[str, Any]]:
    """All blocks below a document, containers opened."""
    found: list[Mapping[str, Any]] = []
    waiting = list(reversed(await context.call("/api/block/getChildBlocks", id=root) or []))
    while waiting:
        block = waiting.pop()
        found.append(block)
        context.progress.found("Looked through the blocks")
        if len(found) > OVERWRITE_DESCENDANTS_MAX:
            raise refusal(
                f"The document has more than {OVERWRITE_DESCENDANTS_MAX} blocks: it cannot be checked.", "too_large"
            )
        if block.get("type") in ("l", "i", "b", "s", "callout"):
            waiting.extend(reversed(await context.call("/api/block/getChildBlocks", id=block["id"]) or []))
    return found


async def _protected(context: ToolContext, ids: Sequence[str]) -> list[dict[str, Any]]:
    if not ids:
        return []
    attributes = await context.call("/api/attr/batchGetBlockAttrs", ids=list(ids)) or {}
    referenced = await _referenced(context, ids)
    rows = []
    for block_id in ids:
        own = attributes.get(block_id) or {}
        kinds = [name for name in _PROTECTED_NAMES if own.get(name)]
        if any(name.startswith("custom-") for name in own):
            kinds.append("custom-attrs")
        if block_id in referenced:
            kinds.append("inbound-ref")
        if kinds:
            rows.append({"id": block_id, "assetKinds": kinds})
    return rows


async def _referenced(context: ToolContext, ids: Sequence[str]) -> set[str]:
    """Which of these blocks are the target of a reference. Asked of the index: the only place that knows."""
    listed = ",".join(f"'{block_id}'" for block_id in ids)
    statement = f"SELECT DISTINCT def_block_id FROM refs WHERE def_block_id IN ({listed}) LIMIT {len(ids)}"
    return {str(row.get("def_block_id")) for row in await context.sql(statement)}


async def replace(context: ToolContext, arguments: Arguments) -> Written:
    shown = normalised(arguments["path"])
    if shown in VIRTUAL_PATHS:
        return await fs_virtual.replace(context, shown, arguments)
    edits = replacing.edits_of(arguments)
    place = await document(context, shown, Level.WRITE)
    blocks = await context.call("/api/block/getChildBlocks", id=place.id) or []
    found = await replacing.candidates(context, blocks)
    changes = replacing.plan("fs.replace", found.blocks, edits)
    notes = await write_texts(context, changes.changed)
    payload: dict[str, Any] = {
        "success": True,
        "path": place.path,
        "changed": bool(changes.changed),
        "editsApplied": len(edits),
        "replacements": changes.replacements,
        **notes,
    }
    if found.skipped:
        payload |= {
            "warning": _SKIPPED_WARNING,
            "skippedComplexBlocks": found.skipped,
            "recommendedTools": list(_FOR_SKIPPED),
        }
    texts = [shown_text.plain_text("markdown", block.markdown) for block in changes.changed]
    expectation = shown_text.expects_below(place.id, texts)
    refresh = (*protyle(place.id), FILETREE)
    return Written(payload, refresh, changed=bool(changes.changed), expectation=expectation)


async def rm(context: ToolContext, arguments: Arguments) -> Written:
    shown = normalised(arguments["path"])
    if shown in VIRTUAL_PATHS:
        return await fs_virtual.clear(context, shown)
    place = await document(context, shown, Level.DELETE)
    await context.call("/api/filetree/removeDocByID", id=place.id)
    return Written({"success": True, "path": place.path}, (*protyle(place.id), FILETREE))


async def mv(context: ToolContext, arguments: Arguments) -> Written:
    source, target = await _move(context, arguments)
    stored_parent = source.hpath.rpartition("/")[0]
    moves = (source.notebook, stored_parent) != (target.notebook, target.parent.hpath)
    if moves:
        parent = target.parent.id or target.notebook
        await context.call("/api/filetree/moveDocsByID", fromIDs=[source.id], toID=parent)
    if target.title != source.hpath.rsplit("/", 1)[-1]:
        await context.call("/api/filetree/renameDocByID", id=source.id, title=target.title)
    payload = {"success": True, "path": source.path, "movedTo": target.path}
    return Written(payload, (*protyle(source.id), FILETREE))


async def _move(context: ToolContext, arguments: Arguments) -> tuple[Place, NewPlace]:
    """Where from and where to, both checked."""
    for path in (normalised(arguments["from"]), normalised(arguments["to"])):
        if path in VIRTUAL_PATHS:
            raise refusal(f"{path} is a virtual file: it cannot be moved.", "invalid_path")
    source = await document(context, arguments["from"], Level.WRITE)
    shown = normalised(arguments["to"])
    if await _existing(context, shown) is not None:
        raise refusal(f"Destination already exists at {shown}.", "conflict", hint="Choose another name.")
    target = await new_place(context, shown)
    context.permissions.require(target.notebook, Level.WRITE, name=target.parent.notebook_name)
    if (target.parent.path + "/").startswith(source.path + "/"):
        raise refusal("A document cannot be moved below itself.", "invalid_path")
    return source, target


async def reorder(context: ToolContext, arguments: Arguments) -> Written:
    place, below, order = await _order(context, arguments)
    result = await ordering.reorder(context, below, order)
    names = {child.id: f"{place.path}/{child.name}" for child in result.before}
    payload = {
        "success": True,
        "path": place.path,
        "parentID": place.id or place.notebook,
        "notebook": place.notebook,
        "changed": result.changed,
        "orderChanged": result.order_changed,
        "sortModeChanged": result.mode_changed,
        "previousOrder": [names[child.id] for child in result.before],
        "order": [names[block_id] for block_id in order],
    }
    return Written(payload, (FILETREE,), changed=result.changed, expectation=ordering.reads_back_as(order))


async def _order(context: ToolContext, arguments: Arguments) -> tuple[Place, ordering.Place, list[str]]:
    """The parent, and the new order as ids: complete, or refused."""
    place = await _parent(context, arguments["path"])
    below = ordering.Place(place.notebook, place.stored)
    before = await ordering.children(context, below)
    by_path = {f"{place.path}/{child.name}": child.id for child in before}
    order = [by_path.get(normalised(path), path) for path in arguments["orderedPaths"]]
    ordering.checked_permutation(before, order)
    return place, below, order


async def _parent(context: ToolContext, path: str) -> Place:
    place = await resolve(context, path)
    if place.kind not in ("notebook", "document"):
        raise refusal(f"The order below {place.path} cannot be changed.", "invalid_path")
    context.permissions.require(place.notebook, Level.WRITE, name=place.notebook_name)
    return place


# --- who may: the same look-ups the handlers make, remembered for them ---


async def _guard_write(context: ToolContext, arguments: Arguments) -> None:
    shown = normalised(arguments["path"])
    if shown in VIRTUAL_PATHS:
        fs_virtual.writable(shown)
    elif await _existing(context, shown, may_repeat=_may_repeat(context, arguments)) is None:
        target = await new_place(context, shown)
        context.permissions.require(target.notebook, Level.WRITE, name=target.parent.notebook_name)
        await context.require_open(target.notebook)


def _guard_document(level: Level) -> Any:
    async def guard(context: ToolContext, arguments: Arguments) -> None:
        shown = normalised(arguments["path"])
        if shown in VIRTUAL_PATHS:
            fs_virtual.writable(shown)
        else:
            await document(context, shown, level)

    return guard


async def _guard_move(context: ToolContext, arguments: Arguments) -> None:
    await _move(context, arguments)


async def _guard_reorder(context: ToolContext, arguments: Arguments) -> None:
    await _order(context, arguments)


HANDLERS: Final[dict[str, Handling]] = {
    "fs.write": Handling(write, _guard_write, confirms=write_confirms),
    "fs.replace": Handling(replace, _guard_document(Level.WRITE)),
    "fs.rm": Handling(rm, _guard_document(Level.DELETE)),
    "fs.mv": Handling(mv, _guard_move),
    "fs.reorder": Handling(reorder, _guard_reorder),
}
