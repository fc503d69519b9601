"""Probes of blocks, references, tags and replacements."""

from __future__ import annotations

from collections.abc import Mapping

from kernel.errors import ToolError
from kernel.safety.digest import seen_part
from kernel.safety.intent import Observation
from kernel.safety.limits import MANIFEST_BLOCKS_MAX
from kernel.safety.probes.reading import MISSING, Arguments, Reading, State, texts, unreadable
from kernel.safety.targets import observation


async def blocks(reading: Reading, arguments: Arguments) -> Observation:
    """block.update, replace, set_attrs, set_fold_state; search.find_replace: the named blocks themselves."""
    ids = texts(arguments.get("id")) + texts(arguments.get("ids"))
    ids += [item["id"] for item in arguments.get("items") or () if isinstance(item, Mapping)]
    return observation(arguments, await reading.blocks(ids))


async def block_with_children(reading: Reading, arguments: Arguments) -> Observation:
    """block.delete: the block, and what a folded heading would take along."""
    block_id = str(arguments["id"])
    state: State = {"block": await reading.block(block_id)}
    if state["block"] != MISSING:
        children = await reading.call("/api/block/getChildBlocks", id=block_id)
        state["children"] = seen_part(children)
    return observation(arguments, state)


async def block_places(reading: Reading, arguments: Arguments) -> Observation:
    """block.move: where the blocks stand, and who stands where they are to go."""
    ids = texts(arguments.get("id")) + texts(arguments.get("ids"))
    anchors = texts(arguments.get("parentID")) + texts(arguments.get("previousID"))
    exist = await reading.exist([*ids, *anchors])
    state: State = {"exist": exist, "places": {}, "siblings": {}}
    for block_id in dict.fromkeys([*ids, *anchors]):
        if exist[block_id]:
            state["places"][block_id] = await reading.call("/api/block/getBlockSiblingID", id=block_id)
    for parent in dict.fromkeys(texts(arguments.get("parentID"))):
        if exist[parent]:
            children = await reading.call("/api/block/getChildBlocks", id=parent)
            state["siblings"][parent] = [child.get("id") for child in children or ()]
    return observation(arguments, state)


async def references(reading: Reading, arguments: Arguments) -> Observation:
    """block.transfer_references: both ends, and the blocks that refer to the first."""
    source, destination = str(arguments["fromID"]), str(arguments["toID"])
    referring = texts(arguments.get("refIDs"))
    if not referring:
        found = await reading.call("/api/block/getRefIDs", id=source)
        defined = found.get("refDefs") if isinstance(found, dict) else None
        referring = sorted({str(entry["refID"]) for entry in defined or ()})
    _check_manifest(len(referring))
    state = {
        "ends": await reading.exist([source, destination]),
        "references": await reading.blocks(referring),
    }
    return observation(arguments, state, referenceCount=len(referring))


async def tagged_blocks(reading: Reading, arguments: Arguments) -> Observation:
    """tag.rename, tag.remove: the blocks that carry the tag. The index names them, their state is read live."""
    label = str(arguments.get("oldLabel") or arguments.get("label") or "").strip("#")
    # "#a#" and everything below it, "#a/b#". The kernel's SQL reader knows no ESCAPE, so no pattern is used.
    exact, below = (f"instr(tag, '#{label.replace(chr(39), chr(39) * 2)}{end}') > 0" for end in "#/")
    statement = f"SELECT id FROM blocks WHERE {exact} OR {below} ORDER BY id LIMIT {MANIFEST_BLOCKS_MAX + 1}"
    rows = await reading.call("/api/query/sql", stmt=statement)
    if not isinstance(rows, list):
        raise unreadable("which blocks carry the tag")
    ids = [str(row["id"]) for row in rows]
    _check_manifest(len(ids))
    return observation(arguments, await reading.blocks(ids), affectedBlocks=len(ids))


def _check_manifest(count: int) -> None:
    if count > MANIFEST_BLOCKS_MAX:
        raise ToolError(
            "too_large", f"More than {MANIFEST_BLOCKS_MAX} blocks would be changed by one call: do it in parts."
        )
