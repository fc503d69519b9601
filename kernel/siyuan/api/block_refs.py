"""/api/block: who refers to whom, moving references, and documents' panels (siyuan-api A3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.block import found_node, id_list
from kernel.siyuan.api.filetree import checked_id, optional
from kernel.siyuan.api.messages import show_message
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.notes_index import settled_index
from kernel.workspace.attributes import block_not_found
from kernel.workspace.backlinks import containers_of
from kernel.workspace.doc_info import document_info
from kernel.workspace.events import MAIN
from kernel.workspace.index.queries import blocks_by_id, ids_by_anchor
from kernel.workspace.refs import references_to, transfer_references

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

PROCESSING: Final = "Processing, please wait..."


def check_block_ref(call: Call) -> Any:
    workspace = call.kernel.workspace
    wanted: list[str] = []
    for one in id_list(call):
        entry = workspace.blocks.documents.get(one)
        wanted += entry.block_ids if entry is not None else [one]
    return bool(references_to(workspace, [one for one in wanted if workspace.block_exists(one)]))


async def get_ref_ids(call: Call) -> Any:
    """Who refers to a block. A container stands for the paragraph in it that refers, and says so."""
    workspace = call.kernel.workspace
    block_id = optional(call, "id", str, "")
    entry = workspace.blocks.documents.get(block_id)
    wanted = entry.block_ids if entry is not None else [block_id]
    found: dict[str, list[str]] = {}
    for _, referring, target in references_to(workspace, wanted) if workspace.block_exists(block_id) else ():
        found.setdefault(referring, []).append(target)
    index = await settled_index(call.kernel)
    paragraphs = [row for row in blocks_by_id(index.connection, list(found)) if row.type == "p"]
    originals: dict[str, str] = {}
    shown = {one: one for one in found}
    for parent, paragraph, stands_for_it in containers_of(index.connection, paragraphs):
        originals[parent.id] = paragraph.id
        if stands_for_it:
            shown[paragraph.id] = parent.id
    return {
        "refDefs": [{"refID": shown[referring], "defIDs": targets} for referring, targets in found.items()],
        "originalRefBlockIDs": originals,
    }


async def get_block_def_ids_by_ref_text(call: Call) -> Any:
    """The blocks that an anchor means."""
    anchor = call.arguments.raw_str("anchor")
    index = await settled_index(call.kernel)
    is_case_sensitive = bool(call.kernel.workspace.conf.section("search")["caseSensitive"])
    found = ids_by_anchor(index.connection, anchor, is_case_sensitive=is_case_sensitive)
    return {"refDefs": [{"refID": one, "defIDs": []} for one in found]}


def get_ref_ids_by_file_annotation_id(call: Call) -> Any:
    workspace = call.kernel.workspace
    annotation = call.arguments.raw_str("id")
    found: dict[str, None] = {}
    for document in workspace.documents():
        for node in document.root.walk():
            if annotation and annotation in str(node.fields.get("TextMarkFileAnnotationRefID", "")):
                owner = node.parent
                while owner is not None and not owner.id:
                    owner = owner.parent
                if owner is not None:
                    found[owner.id] = None
    return {"refDefs": [{"refID": one, "defIDs": []} for one in found]}


def transfer_block_ref(call: Call) -> Any:
    workspace = call.kernel.workspace
    source, target = checked_id(call, "fromID"), checked_id(call, "toID")
    reloads = optional(call, "reloadUI", bool, True)
    ref_ids = optional(call, "refIDs", list, [])
    if not all(isinstance(one, str) for one in ref_ids):
        raise Panic("refIDs")
    found = found_node(call, target)
    if found is None:
        raise ApiError("block not found", data={"closeTimeout": 7000})
    show_message(call, PROCESSING, 7000)
    transfer_references(workspace, source, found[1], ref_ids)
    if reloads:
        workspace.emit("reloadui", to=MAIN)


def get_doc_info(call: Call) -> Any:
    block_id = call.arguments.raw_str("id")
    found = found_node(call, block_id)
    if found is None:
        raise ApiError(block_not_found(block_id))
    return document_info(call.kernel.workspace, found[0], block_id)


def get_docs_info(call: Call) -> Any:
    ids = id_list(call)
    counts_refs = call.arguments.raw_bool("refCount")
    call.arguments.raw_bool("av")
    found = [(one, pair) for one in ids if (pair := found_node(call, one)) is not None]
    if not found:
        raise ApiError(block_not_found(f"[{' '.join(ids)}]"))
    workspace = call.kernel.workspace
    return [document_info(workspace, pair[0], one, counts_refs=counts_refs) for one, pair in found]


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/block/checkBlockRef": check_block_ref,
    "/api/block/getRefIDs": get_ref_ids,
    "/api/block/getBlockDefIDsByRefText": get_block_def_ids_by_ref_text,
    "/api/block/getRefIDsByFileAnnotationID": get_ref_ids_by_file_annotation_id,
    "/api/block/transferBlockRef": transfer_block_ref,
    "/api/block/getDocInfo": get_doc_info,
    "/api/block/getDocsInfo": get_docs_info,
}
