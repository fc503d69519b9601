"""Showing a view: which items and fields it has, and what is mended on the way."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.database import Database, ViewError, new_database
from kernel.workspace.views.moments import Broken, Moment, TooShortId
from kernel.workspace.views.rendering import DEPTH_MAX, Around, around, render, render_nested
from kernel.workspace.views.showing import board_key, view_to_show
from kernel.workspace.views.store import all_ids, drop_relation, load, save
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.views.world import AV, ITEMS, OTHER, Databases, chosen, filled, grouped, key_id, text

GONE = "20200101000000-zzzzzzz"


async def test_a_view_within_too_many_others_is_not_shown(av: Databases) -> None:
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    place = Around(workspace, Moment.of(workspace), depth=DEPTH_MAX + 1)
    assert render_nested(place, database, database.views()[0]) is None
    place.depth = DEPTH_MAX
    assert render_nested(place, database, database.views()[0]) is not None


async def test_a_view_of_no_layout_breaks(av: Databases) -> None:
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    database.views()[0]["type"] = "odd"
    with pytest.raises(Broken, match="no layout odd"):
        render(around(workspace), database, database.views()[0])


async def test_fields_of_keys_that_are_gone_leave_every_layout(av: Databases) -> None:
    await av.key("text")
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    av.rewrite(
        lambda data: data.update(keyValues=[one for one in data["keyValues"] if one["key"]["id"] != key_id("text")])
    )
    assert key_id("text") not in [one["id"] for one in (await av.show())["view"]["fields"]]
    view = (await av.stored())["views"][0]
    assert key_id("text") not in [one["id"] for one in (*view["table"]["columns"], *view["gallery"]["fields"])]
    assert view.get("kanban") is None


async def test_values_of_no_item_and_of_items_without_a_block_are_not_shown(av: Databases) -> None:
    await av.add("one", "two", "three")
    await av.key("text")
    await av.put("text", "20240101000000-item009", text("a"))

    def unbind(data: dict[str, Any]) -> None:
        values = data["keyValues"][0]["values"]
        values[1].update(isDetached=False)
        values[1]["block"].pop("id", None)
        values[2].update(isDetached=False)
        values[2]["block"]["id"] = GONE

    av.rewrite(unbind)
    shown = [row["id"] for row in (await av.show())["view"]["rows"]]
    assert "20240101000000-item009" not in shown
    assert len(shown) == 2


@pytest.mark.parametrize("has_value", [False, True])
async def test_an_item_whose_id_tells_no_time_breaks_what_needs_one(av: Databases, has_value: bool) -> None:
    await av.add("one")
    column = await av.key("created")

    def shorten(data: dict[str, Any]) -> None:
        data["keyValues"][0]["values"][0]["blockID"] = "short"
        if has_value:
            value = {"id": ITEMS[1], "blockID": "short", "keyID": column, "type": "created"}
            data["keyValues"][-1]["values"] = [value]
            data["views"][0]["table"]["columns"] = data["views"][0]["table"]["columns"][:1]

    av.rewrite(shorten)
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    with pytest.raises(TooShortId):
        render(around(workspace), database, database.views()[0])


async def test_change_times_without_an_item_are_now(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    column = await av.key("updated")
    shown = (await av.show())["view"]["rows"][0]["cells"]
    value = next(one["value"] for one in shown if one["value"]["keyID"] == column)
    attributes = await av.kernel.call("attr/getBlockAttrs", id=av.texts[0])
    stamp = attributes["updated"]
    assert value["updated"]["formattedContent"] == f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]} {stamp[8:10]}:{stamp[10:12]}"


# --- the right view --------------------------------------------------------------------------------------------------
async def test_the_view_that_is_asked_for_becomes_the_current_one(av: Databases) -> None:
    first = (await av.show())["viewID"]
    await av.operate("addAttrViewView", id=ITEMS[0], layout="table")
    assert (await av.show(viewID=first))["viewID"] == first
    assert (await av.stored())["viewID"] == first
    assert (await av.kernel.call("av/renderAttributeView", id=AV, blockID=GONE))["viewID"] == first


async def test_a_database_without_views_is_refused_and_one_with_a_wrong_current_view_shows_its_first(
    av: Databases,
) -> None:
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    database.data["viewID"] = "gone"
    assert database.current_view("gone too") is database.views()[0]
    database.data["views"] = None
    with pytest.raises(ViewError, match="view not found"):
        view_to_show(workspace, database, "", "")
    with pytest.raises(ViewError, match="view not found"):
        database.current_view()


def test_a_database_that_holds_nothing_has_no_keys_and_no_items() -> None:
    database = Database({"keyValues": None, "views": None})
    assert (database.columns(), database.items(), database.views(), database.primary()) == ([], [], [], None)


async def test_values_of_another_type_than_their_key_are_mended(av: Databases) -> None:
    column = await filled(av, "text", text("a"))

    def retype(data: dict[str, Any]) -> None:
        found = next(one for one in data["keyValues"] if one["key"]["id"] == column)
        found["values"][0]["type"] = "url"
        data["views"][0]["group"] = {"field": "gone", "method": 0}

    av.rewrite(retype)
    assert (await av.show())["view"]["group"] is None
    assert (await av.values(column))[ITEMS[0]]["type"] == "text"


async def test_groups_stay_where_rows_are_not_asked_for(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"))
    assert "groups" not in (await av.show(ignoreRows=True))["view"]
    await grouped(av, column)
    view = (await av.show(ignoreRows=True))["view"]
    assert [group["name"] for group in view["groups"]] == ["a", "Field [select] is empty"]


# --- boards ----------------------------------------------------------------------------------------------------------
async def test_a_board_is_grouped_by_a_select_key_that_is_made_if_need_be(av: Databases) -> None:
    await av.add("one")
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    select = next(one["key"]["id"] for one in (await av.stored())["keyValues"] if one["key"]["type"] == "select")
    await av.operate("removeAttrViewCol", id=select, removeDest=False)
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="kanban")
    view = (await av.show())["view"]
    assert [group["name"] for group in view["groups"]] == ["Field [Select] is empty"]
    assert [one["name"] for one in view["fields"]] == ["Primary Key", "Select"]
    database = load(av.kernel.workspace, AV)
    assert board_key(around(av.kernel.workspace), database)["id"] == view["group"]["field"]


async def test_a_select_key_that_is_made_stands_in_every_layout_the_views_have_had(av: Databases) -> None:
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    database.data["keyValues"] = database.columns()[:1]
    key = board_key(around(workspace), database)
    view = database.views()[0]
    assert view["table"]["columns"][-1]["id"] == key["id"]
    assert (view["gallery"], view["kanban"]) == (None, None)


async def test_a_board_that_is_grouped_no_more_is_grouped_when_it_is_shown(av: Databases) -> None:
    await av.add("one")
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="kanban")
    await av.operate("removeAttrViewGroup")
    view = (await av.show())["view"]
    assert [group["name"] for group in view["groups"]] == ["Field [Select] is empty"]
    assert (await av.stored())["views"][0]["group"]["field"] == view["group"]["field"]


# --- what is looked for ------------------------------------------------------------------------------------------------
async def test_an_item_is_looked_for_in_the_group_that_is_named(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a", "b"), chosen("b"))
    await grouped(av, column)
    ids = {group["name"]: group["id"] for group in (await av.show())["view"]["groups"]}
    found = await av.show(targetItemID=ITEMS[0], targetGroupID=ids["b"])
    assert (found["target"]["status"], found["target"]["groupID"]) == ("visible", ids["b"])
    found = await av.show(targetItemID=ITEMS[1], targetGroupID=ids["a"])
    assert found["target"]["groupID"] == ids["b"], "it is not in the group that is named"
    await av.operate("hideAttrViewGroup", id=ids["b"], data=2)
    found = await av.show(targetItemID=ITEMS[1])
    assert (found["target"]["status"], found["target"]["groupID"]) == ("groupHidden", ids["b"])
    assert (await av.show(targetItemID=ITEMS[0]))["target"]["groupID"] == ids["a"]


# --- the folder ------------------------------------------------------------------------------------------------------
def test_a_workspace_without_databases_has_none() -> None:
    workspace = MemoryKernel().workspace
    assert all_ids(workspace) == []
    drop_relation(workspace, AV, OTHER)
    moment = Moment.of(workspace)
    database = new_database(AV, moment)
    database.data["keyValues"] = database.columns()[1:]
    database.views()[0]["pageSize"] = 0
    save(workspace, database)
    assert all_ids(workspace) == [AV]
    assert load(workspace, AV).views()[0]["pageSize"] == 50
