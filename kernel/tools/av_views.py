"""Views of databases: layout, filters, sorts, groups, columns. The view is the one that the named block shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kernel.tools.av_base import carrier, change, database, on_database, pending, refresh_of, shows, view_of
from kernel.tools.av_guards import filtered_columns, require_columns
from kernel.tools.context import Arguments, Handling, ToolContext, Written
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level

_SHOWN_VIEW: Final = "custom-sy-av-view"


async def add_view(context: ToolContext, arguments: Arguments) -> Written:
    view_id, layout, name = arguments["viewID"], arguments["layout"], arguments["name"]
    operations = (
        {"action": "addAttrViewView", "id": view_id, "layout": layout},
        {"action": "setAttrViewViewName", "id": view_id, "data": name},
    )

    def as_asked(found: dict[str, Any]) -> bool:
        view = view_of(found, view_id)
        return view is not None and (view.get("type"), view.get("name")) == (layout, name)

    return await _changed(context, "add_view", arguments, operations, as_asked, layout=layout, name=name)


async def set_filters(context: ToolContext, arguments: Arguments) -> Written:
    filters = arguments["filters"]
    return await _changed(
        context,
        "set_filters",
        arguments,
        ({"action": "setAttrViewFilters", "data": filters},),
        lambda found: _same_filters((view_of(found, arguments["viewID"]) or {}).get("filters") or [], filters),
        filters=filters,
    )


def _check_filters(filters: list[dict[str, Any]]) -> None:
    """A leaf names its column and operator; a group has members. Raises ToolError."""
    for one in filters:
        if "filters" in one or "combination" in one:
            _check_filters(one.get("filters") or [])
        elif not one.get("column") or not one.get("operator"):
            raise refusal("A leaf filter requires column and operator.", "invalid_arguments")


def _same_filters(stored: list[dict[str, Any]], asked: list[dict[str, Any]]) -> bool:
    """The same leaves in the same tree; an empty and-group at the root is the same as none."""
    return _bare(stored) == _bare(asked)


def _bare(filters: list[dict[str, Any]]) -> list[Any]:
    if len(filters) == 1 and "combination" in filters[0] and not filters[0].get("column"):
        root = filters[0]
        if root.get("combination") == "and":
            return _bare(root.get("filters") or [])
    return [
        (one.get("combination"), _bare(one.get("filters") or []))
        if one.get("filters")
        else (one.get("column"), one.get("operator"))
        for one in filters
    ]


async def set_sorts(context: ToolContext, arguments: Arguments) -> Written:
    sorts = arguments["sorts"]

    def as_asked(found: dict[str, Any]) -> bool:
        stored = (view_of(found, arguments["viewID"]) or {}).get("sorts") or []
        return [(s.get("column"), s.get("order")) for s in stored] == [(s["column"], s["order"]) for s in sorts]

    return await _changed(
        context, "set_sorts", arguments, ({"action": "setAttrViewSorts", "data": sorts},), as_asked, sorts=sorts
    )


async def set_group(context: ToolContext, arguments: Arguments) -> Written:
    group = arguments["group"]

    def as_asked(found: dict[str, Any]) -> bool:
        stored = (view_of(found, arguments["viewID"]) or {}).get("group") or {}
        return bool((stored.get("field") or "") == group["field"])

    return await _changed(
        context, "set_group", arguments, ({"action": "setAttrViewGroup", "data": group},), as_asked, group=group
    )


async def set_column_visibility(context: ToolContext, arguments: Arguments) -> Written:
    key_id, hidden = arguments["keyID"], arguments["hidden"]

    def as_asked(found: dict[str, Any]) -> bool:
        columns = _columns(view_of(found, arguments["viewID"]) or {})
        return any(column.get("id") == key_id and bool(column.get("hidden")) is hidden for column in columns)

    operation = {"action": "setAttrViewColHidden", "id": key_id, "data": hidden}
    return await _changed(
        context, "set_column_visibility", arguments, (operation,), as_asked, keyID=key_id, hidden=hidden
    )


async def set_column_order(context: ToolContext, arguments: Arguments) -> Written:
    order = arguments["keyIDs"]
    previous = ["", *order[:-1]]
    operations = tuple(
        {"action": "sortAttrViewCol", "id": key, "previousID": before}
        for key, before in zip(order, previous, strict=True)
    )

    def as_asked(after: dict[str, Any]) -> bool:
        shown = [column.get("id") for column in _columns(view_of(after, arguments["viewID"]) or {})]
        return bool(shown == order)

    return await _changed(context, "set_column_order", arguments, operations, as_asked, keyIDs=order)


def _columns(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A view's columns, whatever its layout calls them."""
    for layout, fields in (("table", "columns"), ("gallery", "fields"), ("kanban", "fields")):
        if (inside := view.get(layout)) is not None:
            return list(inside.get(fields) or [])
    return []


async def _changed(
    context: ToolContext,
    action: str,
    arguments: Arguments,
    operations: tuple[Mapping[str, Any], ...],
    as_asked: Callable[[dict[str, Any]], bool],
    **facts: Any,
) -> Written:
    """Send the operations for the view and look whether it is as asked."""
    av_id, block_id, view_id = arguments["avID"], arguments["blockID"], arguments["viewID"]
    shown = await carrier(context, av_id, block_id)
    await change(context, shown, *({**one, "avID": av_id, "blockID": block_id} for one in operations))
    if await shows(context, av_id, as_asked) is None:
        raise pending(action, av_id, "The view does not show the change.", viewID=view_id)
    payload = {"success": True, "action": action, "avID": av_id, "blockID": block_id, "viewID": view_id, **facts}
    return Written(payload, refresh_of(shown))


async def _guard_view(context: ToolContext, arguments: Arguments) -> None:
    """The host changes the view that the block shows, whatever the call names: both must be the same."""
    await _WRITE(context, arguments)
    found = await database(context, arguments["avID"])
    if view_of(found, arguments["viewID"]) is None:
        raise refusal(f"There is no view {arguments['viewID']}.", "not_found", reason="view_not_found")
    attributes = await context.call("/api/attr/getBlockAttrs", id=arguments["blockID"]) or {}
    shown = attributes.get(_SHOWN_VIEW) or found.get("viewID")
    if shown != arguments["viewID"]:
        raise refusal(f"The block shows view {shown}, not {arguments['viewID']}.", "conflict", reason="view_not_shown")


async def _guard_new_view(context: ToolContext, arguments: Arguments) -> None:
    """The host makes a second view with the same id, gives the name to the first, and nothing can tell them apart."""
    await _WRITE(context, arguments)
    if view_of(await database(context, arguments["avID"]), arguments["viewID"]) is not None:
        raise refusal(f"There is a view {arguments['viewID']} already.", "conflict", reason="view_exists")


async def _guard_order(context: ToolContext, arguments: Arguments) -> None:
    """Every column exactly once: a part of an order is none."""
    await _guard_view(context, arguments)
    order = arguments["keyIDs"]
    found = await database(context, arguments["avID"])
    now = [str(column.get("id")) for column in _columns(view_of(found, arguments["viewID"]) or {})]
    if sorted(now) != sorted(order):
        raise refusal(
            "keyIDs must name every column of the view exactly once.",
            "invalid_arguments",
            details={"missing": sorted(set(now) - set(order)), "unexpected": sorted(set(order) - set(now))},
        )


async def _guard_filters(context: ToolContext, arguments: Arguments) -> None:
    _check_filters(arguments["filters"])
    await _guard_columns(context, arguments, filtered_columns(arguments["filters"]))


async def _guard_sorts(context: ToolContext, arguments: Arguments) -> None:
    await _guard_columns(context, arguments, (one["column"] for one in arguments["sorts"]))


async def _guard_group(context: ToolContext, arguments: Arguments) -> None:
    field = arguments["group"]["field"]
    await _guard_columns(context, arguments, [field] if field else [])


async def _guard_column(context: ToolContext, arguments: Arguments) -> None:
    await _guard_columns(context, arguments, [arguments["keyID"]])


async def _guard_columns(context: ToolContext, arguments: Arguments, key_ids: Iterable[str]) -> None:
    """The view is the one shown, and the database has these columns."""
    await _guard_view(context, arguments)
    require_columns(await database(context, arguments["avID"]), key_ids)


_WRITE: Final = on_database(Level.WRITE)

HANDLERS: Final[dict[str, Handling]] = {
    "av.add_view": Handling(add_view, _guard_new_view),
    "av.set_filters": Handling(set_filters, _guard_filters),
    "av.set_sorts": Handling(set_sorts, _guard_sorts),
    "av.set_group": Handling(set_group, _guard_group),
    "av.set_column_visibility": Handling(set_column_visibility, _guard_column),
    "av.set_column_order": Handling(set_column_order, _guard_order),
}
