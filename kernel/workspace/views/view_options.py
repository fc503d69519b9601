"""[core] The small settings of views, fields and keys, as operations of ``/api/transactions`` make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.views.database import Database, ViewError, is_grouped, option_of, values_in
from kernel.workspace.views.format import CALC, DATE_RULE, LAYOUTS, TIME_RULE, Json, fields_of, made
from kernel.workspace.views.grouping import HIDDEN_BY_HAND, SHOWN, group_by_id, ungroup
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.store import load, save
from kernel.workspace.views.values import empty_content, is_empty

if TYPE_CHECKING:
    from kernel.workspace.operations import Operation
    from kernel.workspace.workspace import Workspace

ALIGNMENTS: Final = ("", "left", "center", "right")
Change = Callable[[Database, Json, Any, "Operation"], None]


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise Broken("data is no string")
    return data


def _flag(data: Any) -> bool:
    if not isinstance(data, bool):
        raise Broken("data is no boolean")
    return data


def _whole(data: Any) -> int:
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise Broken("data is no number")
    return int(data)


def _field(view: Json, key_id: str) -> Json | None:
    return next((one for one in fields_of(view) if one["id"] == key_id), None)


# --- of a field in a view ----------------------------------------------------------------------------------------------
def _set_width(database: Database, view: Json, data: Any, operation: Operation) -> None:
    placed = _field(view, operation.id)
    if view["type"] == "table" and placed is not None:
        placed["width"] = _text(data)


def _set_alignment(database: Database, view: Json, data: Any, operation: Operation) -> None:
    if view["type"] != "table":
        return
    if data not in ALIGNMENTS:
        raise ViewError("invalid column align")
    placed = _field(view, operation.id)
    if placed is not None:
        placed["align"] = data


def _set_pinned(database: Database, view: Json, data: Any, operation: Operation) -> None:
    placed = _field(view, operation.id)
    if view["type"] == "table" and placed is not None:
        placed["pin"] = _flag(data)


def _set_hidden(database: Database, view: Json, data: Any, operation: Operation) -> None:
    placed = _field(view, operation.id)
    if placed is not None:
        placed["hidden"] = _flag(data)


def _set_wrapped(database: Database, view: Json, data: Any, operation: Operation) -> None:
    wraps = _flag(data)
    placed = _field(view, operation.id)
    if placed is not None:
        placed["wrap"] = wraps
    view[view["type"]]["wrapField"] = wraps and all(one["wrap"] for one in fields_of(view))


def _set_calc(database: Database, view: Json, data: Any, operation: Operation) -> None:
    if view["type"] != "table":
        return
    try:
        calc = read(CALC, data)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    placed = _field(view, operation.id)
    if placed is not None:
        placed["calc"] = calc


# --- of a view -------------------------------------------------------------------------------------------------------------
def _wrap_all(database: Database, view: Json, data: Any, operation: Operation) -> None:
    wraps = _flag(data)
    view[view["type"]]["wrapField"] = wraps
    for one in fields_of(view):
        one["wrap"] = wraps


def _of_layout(name: str, check: Callable[[Any], Any], layouts: tuple[str, ...] = ("gallery", "kanban")) -> Change:
    def change(database: Database, view: Json, data: Any, operation: Operation) -> None:
        if view["type"] in layouts:
            view[view["type"]][name] = check(data)

    return change


def _set_cover_key(database: Database, view: Json, data: Any, operation: Operation) -> None:
    if view["type"] in ("gallery", "kanban"):
        view[view["type"]]["coverFromAssetKeyID"] = operation["keyID"]


def _set_page_size(database: Database, view: Json, data: Any, operation: Operation) -> None:
    view["pageSize"] = _whole(data)


def _hide_name(database: Database, view: Json, data: Any, operation: Operation) -> None:
    view["hideAttrViewName"] = _flag(data)


def _hide_group(database: Database, view: Json, data: Any, operation: Operation) -> None:
    hidden, group = _whole(data), group_by_id(view, operation.id)
    if group is not None:
        group["groupHidden"] = hidden


def _hide_groups(database: Database, view: Json, data: Any, operation: Operation) -> None:
    hidden = HIDDEN_BY_HAND if _flag(data) else SHOWN
    for group in view["groups"] or ():
        group["groupHidden"] = hidden


def _fold_group(database: Database, view: Json, data: Any, operation: Operation) -> None:
    folded, group = _flag(data), group_by_id(view, operation.id)
    if is_grouped(view) and group is not None:
        group["groupFolded"] = folded


def _remove_group(database: Database, view: Json, data: Any, operation: Operation) -> None:
    ungroup(view)


# Operation → what it does to the view that its block shows.
VIEW_CHANGES: Final[dict[str, Change]] = {
    "setAttrViewColWidth": _set_width,
    "setAttrViewColAlign": _set_alignment,
    "setAttrViewColPin": _set_pinned,
    "setAttrViewColHidden": _set_hidden,
    "setAttrViewColWrap": _set_wrapped,
    "setAttrViewColCalc": _set_calc,
    "setAttrViewWrapField": _wrap_all,
    "setAttrViewShowIcon": _of_layout("showIcon", _flag, LAYOUTS),
    "setAttrViewPageSize": _set_page_size,
    "setAttrViewCoverFrom": _of_layout("coverFrom", _whole),
    "setAttrViewCoverFromAssetKeyID": _set_cover_key,
    "setAttrViewCardSize": _of_layout("cardSize", _whole),
    "setAttrViewCardAspectRatio": _of_layout("cardAspectRatio", _whole),
    "setAttrViewFitImage": _of_layout("fitImage", _flag),
    "setAttrViewDisplayFieldName": _of_layout("displayFieldName", _flag),
    "setAttrViewFillColBackgroundColor": _of_layout("fillColBackgroundColor", _flag, ("kanban",)),
    "hideAttrViewName": _hide_name,
    "hideAttrViewGroup": _hide_group,
    "hideAttrViewAllGroups": _hide_groups,
    "foldAttrViewGroup": _fold_group,
    "removeAttrViewGroup": _remove_group,
}


def change_view(workspace: Workspace, operation: Operation) -> None:
    """Do one of ``VIEW_CHANGES``. Raises ViewError, Broken."""
    database = load(workspace, operation["avID"])
    view = block_view(workspace, database, operation["blockID"])
    VIEW_CHANGES[operation.action](database, view, operation["data"], operation)
    save(workspace, database)


# --- of a key ----------------------------------------------------------------------------------------------------------------
def _set_icon(database: Database, key: Json, data: Any, operation: Operation) -> None:
    key["icon"] = _text(data)


def _set_description(database: Database, key: Json, data: Any, operation: Operation) -> None:
    key["desc"] = _text(data)


def _set_format(database: Database, key: Json, data: Any, operation: Operation) -> None:
    if operation["type"] == key["type"] == "number":
        key["numberFormat"] = operation["format"]


def _set_template(database: Database, key: Json, data: Any, operation: Operation) -> None:
    if operation["type"] == key["type"] == "template":
        key["template"] = _text(data)


def _fill_with_now(database: Database, key: Json, data: Any, operation: Operation) -> None:
    if key["type"] == "date":
        key["date"] = {**(key["date"] or made(DATE_RULE)), "autoFillNow": _flag(data)}


def _fill_with_time(database: Database, key: Json, data: Any, operation: Operation) -> None:
    if key["type"] != "date":
        return
    has_time = _flag(data)
    key["date"] = {**(key["date"] or made(DATE_RULE)), "fillSpecificTime": has_time}
    column = database.column(key["id"])
    for value in values_in(column) if column is not None else ():
        if is_empty(value):
            value["date"] = {**(value["date"] or empty_content("date")), "isNotTime": not has_time}


def _include_time(kind: str) -> Change:
    def change(database: Database, key: Json, data: Any, operation: Operation) -> None:
        key[kind] = {**(key[kind] or made(TIME_RULE)), "includeTime": _flag(data)}

    return change


def _describe_option(database: Database, key: Json, data: Any, operation: Operation) -> None:
    if not isinstance(data, dict):
        raise Broken("data is no object")
    option = option_of(key, _text(data.get("name")))
    desc = _text(data.get("desc"))
    if option is not None:
        option["desc"] = desc


# Operation → what it does to the key that it names.
KEY_CHANGES: Final[dict[str, Change]] = {
    "setAttrViewColIcon": _set_icon,
    "setAttrViewColDesc": _set_description,
    "setAttrViewColOptionDesc": _describe_option,
    "updateAttrViewColNumberFormat": _set_format,
    "updateAttrViewColTemplate": _set_template,
    "setAttrViewColDateFillCreated": _fill_with_now,
    "setAttrViewColDateFillSpecificTime": _fill_with_time,
    "setAttrViewCreatedIncludeTime": _include_time("created"),
    "setAttrViewUpdatedIncludeTime": _include_time("updated"),
}


def change_key(workspace: Workspace, operation: Operation) -> None:
    """Do one of ``KEY_CHANGES``; an unknown key changes nothing. Raises ViewError, Broken."""
    database = load(workspace, operation["avID"])
    key = database.key(operation.id)
    if key is not None:
        KEY_CHANGES[operation.action](database, key, operation["data"], operation)
        save(workspace, database)


# --- of a view that is named -----------------------------------------------------------------------------------------------
_TEXTS_OF_VIEW: Final = {"setAttrViewViewName": "name", "setAttrViewViewIcon": "icon", "setAttrViewViewDesc": "desc"}
NAMED_VIEW_CHANGES: Final = tuple(_TEXTS_OF_VIEW)


def change_named_view(workspace: Workspace, operation: Operation) -> None:
    """Give a view a name, an icon or a description. Raises ViewError, Broken."""
    database = load(workspace, operation["avID"])
    view = database.view(operation.id)
    if view is None:
        raise ViewError("")
    name, text = _TEXTS_OF_VIEW[operation.action], _text(operation["data"])
    view[name] = text if name == "icon" else text.strip()
    save(workspace, database)


def spread_width(workspace: Workspace, operation: Operation) -> None:
    """Give a field the width in every table that it has in one. Raises ViewError."""
    database = load(workspace, operation["avID"])
    view = database.view(operation.id)
    if view is None:
        raise ViewError("view not found")
    if view["type"] != "table":
        return
    placed = _field(view, operation["keyID"])
    width = placed["width"] if placed is not None else ""
    for one in database.views():
        other = _field(one, operation["keyID"]) if one["type"] == "table" else None
        if other is not None:
            other["width"] = width
    save(workspace, database)
