"""/api/av/createAttributeViewItem: a new item, from a template or empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.av.guard import guarded
from kernel.workspace.documents import Refusal
from kernel.workspace.go_struct import written
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.transactions import perform
from kernel.workspace.views.database import Database, ViewError
from kernel.workspace.views.format import DATE, VALUE, Json, made
from kernel.workspace.views.item_templates import CURRENT_TIME, template_of
from kernel.workspace.views.rendering import Around, around
from kernel.workspace.views.store import load
from kernel.workspace.views.values import date_content

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


def create_item(call: Call) -> Any:
    arguments, workspace = call.arguments, call.kernel.workspace
    database_id = arguments.required_str("avID", may_be_empty=True)
    block_id = arguments.required_str("blockID", may_be_empty=True)
    names = ("viewID", "templateID", "previousID", "groupID", "app", "session")
    view_id, template_id, previous_id, group_id, _app, _session = (arguments.optional_str(name) for name in names)
    database = load(workspace, database_id)
    template = template_of(database, template_id) if template_id else None
    if template_id and template is None:
        raise ViewError(f"new item template [{template_id}] not found")
    if not workspace.block_exists(block_id):
        raise ViewError("block not found")
    place = around(workspace)
    item_id = workspace.new_id()
    content = _primary_text(call, template)
    source = {"itemID": item_id, "id": item_id, "content": content, "isDetached": True}
    insert = Operation(
        action="insertAttrViewBlock",
        avID=database_id,
        blockID=block_id,
        viewID=view_id,
        groupID=group_id,
        previousID=previous_id,
        srcs=[source],
    )
    cells = [
        Operation(action="updateAttrViewCell", id=workspace.new_id(), avID=database_id, keyID=key_id, rowID=item_id)
        for key_id in _presets(place, database, template)
    ]
    for operation, value in zip(cells, _presets(place, database, template).values(), strict=True):
        operation["data"] = value
    stamp = Operation(action="doUpdateUpdated", id=block_id, data=workspace.now_stamp())
    undo = [Operation(action="removeAttrViewBlock", avID=database_id, srcIDs=[item_id])]
    transaction = Transaction([insert, *cells, stamp], undo, place.moment.now_ms)
    failure = perform(workspace, transaction, tells_errors=False)
    if failure is not None:
        raise Refusal(failure)
    workspace.emit("transactions", [transaction.to_json()])
    return {"itemID": item_id, "blockID": item_id, "content": content, "isDetached": True}


def _primary_text(call: Call, template: Json | None) -> str:
    """The text that a template gives its items. Raises ViewError for documents, which are not made here yet."""
    if template is None:
        return ""
    if template["targetType"] != "detached":
        raise ViewError("items that are documents are not made by this kernel")
    return str(template["primaryKeyTemplate"]).strip()


def _presets(place: Around, database: Database, template: Json | None) -> dict[str, Json]:
    """Key → the value that a template gives its items."""
    found = {}
    for key in database.all_keys():
        preset = ((template or {}).get("fieldValues") or {}).get(key["id"])
        if preset is None:
            continue
        value = preset["value"]
        if preset["mode"] == CURRENT_TIME:
            is_day = key["date"] is None or not key["date"]["fillSpecificTime"]
            blank = made(DATE, content=place.moment.now_ms, isNotTime=is_day)
            value = made(VALUE, type="date", date=date_content(blank, place.moment))
        if value is not None:
            found[key["id"]] = written(VALUE, value)
    return found


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/av/createAttributeViewItem": guarded(create_item)}
