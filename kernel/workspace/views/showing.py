"""[core] A view as people ask for it: the right one, repaired, filtered, sorted, calculated, paged and grouped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernel.ids import is_node_id
from kernel.workspace.documents import Refusal
from kernel.workspace.go_struct import written
from kernel.workspace.limits import TITLE_RUNES_MAX
from kernel.workspace.views.calc import calculate
from kernel.workspace.views.database import Database, ViewError, is_grouped, new_database, new_key, values_in
from kernel.workspace.views.filter_tree import drop_conditions
from kernel.workspace.views.filtering import filter_items
from kernel.workspace.views.format import (
    DEFAULT_PAGE_SIZE,
    FIELDS_OF_LAYOUT,
    GROUP,
    ITEM_TEMPLATES,
    KEY_VALUES,
    SELECT_KEY_NAME,
    Json,
    copied,
    fields_of,
    made,
    new_field,
)
from kernel.workspace.views.group_order import name_groups, sort_groups
from kernel.workspace.views.grouping import (
    DATE_METHODS,
    HIDDEN_BY_HAND,
    HIDDEN_EMPTY,
    SHOWN,
    group_by_id,
    group_key,
    regroup,
)
from kernel.workspace.views.rendering import Around, around, render
from kernel.workspace.views.rollups import sources_of
from kernel.workspace.views.sorting import sort_items
from kernel.workspace.views.store import exists, is_mirrored, load, note_shown, save
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.views.rendered import Rendered
    from kernel.workspace.workspace import Workspace

VIEW_ATTRIBUTE = "custom-sy-av-view"
# Around an item that is looked for, so many items are shown at least.
_WINDOW_MIN = DEFAULT_PAGE_SIZE * 4


@dataclass(slots=True)
class Question:
    """What is asked of a database: which block shows it, which view, which page, which item is looked for."""

    block_id: str = ""
    view_id: str = ""
    query: str = ""
    page: int = 1
    page_size: int = -1
    # Group id → {page, pageSize}.
    group_paging: dict[str, Any] | None = None
    creates: bool = False
    ignores_rows: bool = False
    target_item: str = ""
    target_group: str = ""


def show(workspace: Workspace, database_id: str, question: Question) -> Json:
    """The answer of ``renderAttributeView``. A database that is not there is made, if the question says so.

    Raises:
        Refusal: ``invalid ID``-like refusals of the id; ViewError: no database, no view.
    """
    if not is_node_id(database_id):
        raise Refusal("invalid id")
    place = around(workspace)
    if not exists(workspace, database_id):
        if not question.creates:
            raise ViewError("attribute view not found")
        save(workspace, new_database(database_id, place.moment))
        if question.block_id:
            note_shown(workspace, database_id, question.block_id)
    database = load(workspace, database_id)
    target = _target(database, question)
    shown = shown_view(place, database, question, target)
    return answer(workspace, database, shown, target)


def answer(workspace: Workspace, database: Database, shown: Rendered, target: Json | None = None) -> Json:
    """A shown view with its database's other views, as it goes over the wire."""
    data = database.data
    names = ("id", "icon", "name", "desc", "hideAttrViewName", "type", "pageSize")
    told = {
        "name": data["name"],
        "id": database.id,
        "viewType": shown.layout,
        "viewID": shown.view["id"],
        "views": [{name: view[name] for name in names} for view in database.views()],
        "view": shown.to_json(),
        "isMirror": is_mirrored(workspace, database.id),
        "newItemTemplates": written(ITEM_TEMPLATES, data["newItemTemplates"]),
        "defaultTemplateID": data["defaultTemplateID"],
    }
    if target is not None:
        told["target"] = target if target.get("groupID") else {k: v for k, v in target.items() if k != "groupID"}
    return told


def _target(database: Database, question: Question) -> Json | None:
    if not question.target_item:
        return None
    status = "itemNotFound" if database.item(question.target_item) is None else "filtered"
    if question.view_id and database.view(question.view_id) is None:
        status, question.view_id = "viewNotFound", ""
    empty = {"groupID": "", "index": 0, "offset": 0, "pageSize": 0}
    return {"status": status, "itemID": question.target_item, **empty}


def shown_view(place: Around, database: Database, question: Question, target: Json | None = None) -> Rendered:
    """Show the view that a question means; groups are shown in turn. Raises ViewError, TooShortId."""
    view = view_to_show(place.workspace, database, question.view_id, question.block_id, keeps=target is None)
    _repair(place, database, view)
    shown = render(place, database, view, question.query, ignores_rows=question.ignores_rows)
    is_single = not is_grouped(view) and view["type"] != "kanban"
    wanted = question.target_item if target is not None and target["status"] != "viewNotFound" else ""
    found = finish(place, database, view, shown, question, question.page, question.page_size, wanted * is_single)
    if target is not None and found is not None:
        _hit(target, "", *found, view["pageSize"])
    if not question.ignores_rows or view["groups"]:
        _show_groups(place, database, view, shown, question, target)
    return shown


def view_to_show(workspace: Workspace, database: Database, view_id: str, block_id: str, *, keeps: bool = True) -> Json:
    """The view asked for, else the block's, else the database's current one. The answer becomes the current one."""
    if not database.views():
        raise ViewError("view not found")
    if not view_id and block_id:
        view_id = view_of_block(workspace, block_id)
    if not view_id:
        return database.view(database.data["viewID"]) or database.views()[0]
    view = database.current_view(view_id)
    if keeps and view["id"] != database.data["viewID"]:
        database.data["viewID"] = view["id"]
        save(workspace, database)
    return view


def view_of_block(workspace: Workspace, block_id: str) -> str:
    """The view that a database block has been set to; "" for none."""
    try:
        return workspace.node(block_id)[1].properties.get(VIEW_ATTRIBUTE, "")
    except (NotFound, CorruptDocument):
        return ""


def block_view(workspace: Workspace, database: Database, block_id: str) -> Json:
    """The view that a block shows. Raises ViewError."""
    return database.current_view(view_of_block(workspace, block_id) if block_id else "")


def _repair(place: Around, database: Database, view: Json) -> None:
    """What the kernel mends before it shows a view: rules for keys that are gone, values of another type."""
    keys = {key["id"] for key in database.all_keys()}
    has_changed = drop_conditions(view, lambda node: node["column"] in keys)
    sorts = [rule for rule in view["sorts"] or () if rule["column"] in keys]
    has_changed = has_changed or len(sorts) != len(view["sorts"] or ())
    view["sorts"] = sorts
    if view["group"] is not None and view["group"]["field"] not in keys:
        view["group"] = None
    for column in database.columns():
        for value in values_in(column):
            if value["type"] != column["key"]["type"]:
                value["type"] = column["key"]["type"]
                has_changed = True
    name = database.data["name"].replace("\n", " ")
    has_changed = has_changed or len(name) > TITLE_RUNES_MAX
    database.data["name"] = name[:TITLE_RUNES_MAX]
    if has_changed:
        save(place.workspace, database)


def finish(
    place: Around,
    database: Database,
    view: Json,
    shown: Rendered,
    question: Question,
    page: int = 1,
    page_size: int = -1,
    wanted: str = "",
) -> tuple[int, int] | None:
    """Filter, sort, calculate and cut to a page. (index, offset) of the wanted item, if it is among the items."""
    if question.ignores_rows:
        return None
    filter_items(place, database, shown, sources_of(place, database))
    sort_items(database, shown, place.moment)
    calculate(database, shown, place.moment)
    shown.total = len(shown.items)
    shown.page_size = view["pageSize"]
    index = next((at for at, item in enumerate(shown.items) if item.id == wanted), -1) if wanted else -1
    usual = view["pageSize"] if view["pageSize"] > 0 else DEFAULT_PAGE_SIZE
    if index >= 0:
        size = min(shown.total, max(usual, _WINDOW_MIN))
        end = min(shown.total, max(0, index - size // 2) + size)
        start = max(0, end - size)
    else:
        size = page_size if page_size > 0 else usual
        start = min(shown.total, max(0, (page - 1) * size))
        end = start + size
    shown.items = shown.items[start:end]
    return None if index < 0 else (index, start)


def _hit(target: Json, group_id: str, index: int, offset: int, page_size: int) -> None:
    target.update(status="visible", groupID=group_id, index=index, offset=offset, pageSize=page_size)


# --- groups --------------------------------------------------------------------------------------------------------
def _show_groups(
    place: Around, database: Database, view: Json, shown: Rendered, question: Question, target: Json | None
) -> None:
    key = group_key(database, view)
    if key is None:
        if view["type"] != "kanban":
            return
        from kernel.workspace.views.layouts import group_by

        group_by(place, database, view, made(GROUP, field=board_key(place, database)["id"]))
        save(place.workspace, database)
        key = group_key(database, view)
    if not question.ignores_rows and _is_stale(place, view, key):
        regroup(place, database, view)
        save(place.workspace, database)
    name_groups(database, view, place.moment)
    sort_groups(database, view, place.moment)
    target_group = _group_of_target(view, question, target)
    shown.groups = [
        _shown_group(place, database, view, group, question, target, target_group) for group in view["groups"] or ()
    ]
    for group in view["groups"] or ():
        group[group["type"]][FIELDS_OF_LAYOUT[group["type"]]] = None
    shown.items = []


def _is_stale(place: Around, view: Json, key: Json | None) -> bool:
    """Groups by dates live for a day, by templates not at all."""
    if view["groups"] is None or (key is not None and key["type"] == "template"):
        return True
    made_on = place.moment.local(view["groupCreated"]).date()
    return view["group"]["method"] in DATE_METHODS and made_on != place.moment.now.date()


def _group_of_target(view: Json, question: Question, target: Json | None) -> str:
    if not question.target_group or target is None:
        return question.target_group
    group = group_by_id(view, question.target_group)
    is_there = group is not None and question.target_item in (group["groupItemIds"] or ())
    return question.target_group if is_there else ""


def _shown_group(
    place: Around,
    database: Database,
    view: Json,
    group: Json,
    question: Question,
    target: Json | None,
    target_group: str,
) -> Rendered:
    shown = render_group(place, database, view, group, question.query)
    paging = (question.group_paging or {}).get(group["id"]) or {}
    page, page_size = int(paging.get("page") or question.page), int(paging.get("pageSize") or question.page_size)
    wanted = ""
    if target is not None and target["status"] != "viewNotFound":
        is_meant = group["id"] == target_group if target_group else target["status"] != "visible"
        wanted = question.target_item if is_meant else ""
    found = finish(place, database, view, shown, question, page, page_size, wanted)
    if not question.ignores_rows:
        _show_or_hide(view, shown)
    if target is not None and found is not None:
        if shown.group_hidden == SHOWN:
            _hit(target, group["id"], *found, view["pageSize"])
        else:
            target.update(status="groupHidden", groupID=group["id"])
    return shown


def render_group(place: Around, database: Database, view: Json, group: Json, query: str = "") -> Rendered:
    """One group as it is shown: the fields and rules are those of its view."""
    layout = group["type"]
    if group is not view:
        for name, value in view[layout].items():
            if name not in ("id", "spec", "rowIds", "cardIds"):
                group[layout][name] = copied(value) if isinstance(value, list) else value
        group["filters"], group["sorts"] = view["filters"], view["sorts"]
    return render(place, database, group, query)


def _show_or_hide(view: Json, shown: Rendered) -> None:
    """Empty groups are hidden if the view's rule says so, others shown, but not those that people have hidden."""
    if not view["group"]["hideEmpty"]:
        if shown.group_hidden != HIDDEN_BY_HAND:
            shown.group_hidden = SHOWN
    elif shown.group_hidden == HIDDEN_EMPTY and shown.items:
        shown.group_hidden = SHOWN


def board_key(place: Around, database: Database) -> Json:
    """The key that a board is grouped by: the first select key, else a new one."""
    for key in database.all_keys():
        if key["type"] == "select":
            return key
    key = new_key(place.moment.new_id(), SELECT_KEY_NAME, "select")
    database.columns().append(made(KEY_VALUES, key=key))
    for view in database.views():
        for layout in ("table", "gallery", "kanban"):
            if view[layout] is not None:
                fields_of(view, layout).append(new_field(layout, key["id"], wrap=view[layout]["wrapField"]))
    return key
