"""The small settings of views, fields and keys."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.views.world import (
    AV,
    ITEMS,
    Databases,
    chosen,
    date,
    filled,
    grouped,
)

NOT_TEXT, NOT_FLAG, NOT_NUMBER = "data is no string", "data is no boolean", "data is no number"


async def layout_of(av: Databases, layout: str) -> dict[str, Any]:
    """What the file says of the current view in a layout."""
    data = await av.stored()
    view = next(one for one in data["views"] if one["id"] == data["viewID"])
    return dict(view[layout])


@pytest.mark.parametrize(
    ("action", "data", "reason"),
    [
        ("setAttrViewColWidth", 5, NOT_TEXT),
        ("setAttrViewColAlign", "middle", "invalid column align"),
        ("setAttrViewColPin", "yes", NOT_FLAG),
        ("setAttrViewColHidden", 1, NOT_FLAG),
        ("setAttrViewColWrap", None, NOT_FLAG),
        ("setAttrViewColCalc", 5, "cannot unmarshal"),
        ("setAttrViewPageSize", True, NOT_NUMBER),
        ("setAttrViewPageSize", "5", NOT_NUMBER),
        ("setAttrViewColIcon", 5, NOT_TEXT),
        ("setAttrViewColOptionDesc", "x", "data is no object"),
        ("setAttrViewColOptionDesc", {"name": 5, "desc": ""}, NOT_TEXT),
    ],
)
async def test_settings_of_another_form_are_refused(av: Databases, action: str, data: Any, reason: str) -> None:
    column = await av.key("text")
    refusal = av.refusal(action, id=column, data=data)
    assert refusal is not None
    assert reason in refusal


@pytest.mark.parametrize(
    ("action", "data", "name"),
    [
        ("setAttrViewColWidth", "9px", "width"),
        ("setAttrViewColAlign", "left", "align"),
        ("setAttrViewColPin", True, "pin"),
        ("setAttrViewColCalc", {"operator": "Sum"}, "calc"),
    ],
)
async def test_what_only_tables_have_is_set_in_tables_alone(av: Databases, action: str, data: Any, name: str) -> None:
    column = await av.key("text")
    await av.operate("addAttrViewView", id=ITEMS[0], layout="gallery")
    await av.operate(action, id=column, data=data)
    fields = (await layout_of(av, "gallery"))["fields"]
    assert all(not one.get(name) for one in fields)
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="table")
    await av.operate(action, id=column, data=data)
    shown = next(one for one in (await layout_of(av, "table"))["columns"] if one["id"] == column)
    assert shown[name] == data or shown[name]["operator"] == "Sum"


@pytest.mark.parametrize(
    ("action", "data"),
    [
        ("setAttrViewColWidth", "9px"),
        ("setAttrViewColAlign", "left"),
        ("setAttrViewColPin", True),
        ("setAttrViewColHidden", True),
        ("setAttrViewColWrap", True),
        ("setAttrViewColCalc", {"operator": "Sum"}),
        ("setAttrViewColIcon", "1f600"),
        ("setAttrViewColDesc", "d"),
        ("setAttrViewColOptionDesc", {"name": "a", "desc": "d"}),
        ("hideAttrViewGroup", 2),
        ("foldAttrViewGroup", True),
        ("hideAttrViewAllGroups", True),
    ],
)
async def test_settings_of_what_is_not_there_change_nothing(av: Databases, action: str, data: Any) -> None:
    before = (await av.show())["view"]["columns"]
    await av.operate(action, id="gone", data=data)
    assert (await av.show())["view"]["columns"] == before


@pytest.mark.parametrize(
    ("action", "name", "data", "layouts"),
    [
        ("setAttrViewCoverFrom", "coverFrom", 2, ("gallery", "kanban")),
        ("setAttrViewCardSize", "cardSize", 2, ("gallery", "kanban")),
        ("setAttrViewCardAspectRatio", "cardAspectRatio", 3, ("gallery", "kanban")),
        ("setAttrViewFitImage", "fitImage", True, ("gallery", "kanban")),
        ("setAttrViewDisplayFieldName", "displayFieldName", True, ("gallery", "kanban")),
        ("setAttrViewFillColBackgroundColor", "fillColBackgroundColor", True, ("kanban",)),
    ],
)
async def test_what_cards_have_is_set_in_cards_alone(
    av: Databases, action: str, name: str, data: Any, layouts: tuple[str, ...]
) -> None:
    await av.operate(action, data=data)
    assert name not in await layout_of(av, "table")
    for layout in ("gallery", "kanban"):
        await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType=layout)
        await av.operate(action, data=data)
        assert (await layout_of(av, layout)).get(name) == (data if layout in layouts else None)


async def test_the_key_that_covers_come_from_is_set_in_cards(av: Databases) -> None:
    column = await av.key("mAsset")
    await av.operate("setAttrViewCoverFromAssetKeyID", keyID=column)
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    await av.operate("setAttrViewCoverFromAssetKeyID", keyID=column)
    assert (await av.show())["view"]["coverFromAssetKeyID"] == column


async def test_all_groups_are_hidden_and_shown(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"))
    await grouped(av, column)
    await av.operate("hideAttrViewAllGroups", data=True)
    assert {one["groupHidden"] for one in (await av.show())["view"]["groups"]} == {2}
    assert (await av.show(ignoreRows=True))["view"]["groups"] is not None


async def test_a_key_takes_only_the_rules_of_its_type(av: Databases) -> None:
    column = await av.key("text")
    await av.operate("updateAttrViewColNumberFormat", id=column, type="number", format="USD")
    await av.operate("updateAttrViewColTemplate", id=column, type="template", data="x")
    await av.operate("setAttrViewColDateFillCreated", id=column, data=True)
    await av.operate("setAttrViewColDateFillSpecificTime", id=column, data=True)
    shown = await av.field(column)
    assert (shown["numberFormat"], shown["template"], "date" in shown) == ("", "", False)


async def test_empty_dates_show_the_time_of_day_where_the_key_says_so(av: Databases) -> None:
    now = av.kernel.clock.local()
    column = await filled(av, "date", date(now), {"date": {"content": 0, "isNotTime": True}}, {"date": None})
    await av.operate("setAttrViewColDateFillSpecificTime", id=column, data=True)
    values = await av.values(column)
    assert [values[item]["date"]["isNotTime"] for item in ITEMS] == [False, False, False]
    await av.operate("setAttrViewColDateFillSpecificTime", id=column, data=False)
    values = await av.values(column)
    assert [values[item]["date"]["isNotTime"] for item in ITEMS] == [False, True, True]


async def test_change_times_show_the_day_alone_where_the_key_says_so(av: Databases) -> None:
    column = await filled(av, "updated")
    await av.operate("setAttrViewUpdatedIncludeTime", id=column, data=False)
    assert (await av.field(column))["updated"] == {"includeTime": False}


async def test_an_option_that_is_not_there_is_not_described(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"))
    await av.operate("setAttrViewColOptionDesc", id=column, data={"name": "gone", "desc": "d"})
    assert [one["desc"] for one in (await av.field(column))["options"]] == [""]


# --- of views --------------------------------------------------------------------------------------------------------
async def test_a_view_has_a_name_an_icon_and_a_description(av: Databases) -> None:
    view = (await av.show())["viewID"]
    for action, data in (("Name", " n "), ("Icon", "1f600"), ("Desc", " d ")):
        await av.operate(f"setAttrViewView{action}", id=view, data=data)
    told = (await av.show())["views"][0]
    assert (told["name"], told["icon"], told["desc"]) == ("n", "1f600", "d")
    refusal = av.refusal("setAttrViewViewName", id="gone", data="n")
    assert refusal is not None


async def test_a_width_is_spread_over_the_tables_that_show_the_field(av: Databases) -> None:
    column = await av.key("text")
    first = (await av.show())["viewID"]
    await av.operate("addAttrViewView", id=ITEMS[0], layout="table")
    await av.operate("addAttrViewView", id=ITEMS[1], layout="gallery")
    await av.operate("setAttrViewBlockView", id=ITEMS[0])
    await av.operate("setAttrViewColWidth", id=column, data="77px")
    await av.operate("syncAttrViewTableColWidth", id=ITEMS[0], keyID=column)
    views = (await av.stored())["views"]
    widths = [
        one["width"]
        for view in views
        if view["type"] == "table"
        for one in view["table"]["columns"]
        if one["id"] == column
    ]
    assert (first, widths) == (views[0]["id"], ["77px", "77px"])
    await av.operate("syncAttrViewTableColWidth", id=ITEMS[0], keyID="gone")
    await av.operate("syncAttrViewTableColWidth", id=ITEMS[1], keyID=column)
    assert (await av.stored())["views"] == views
    refusal = av.refusal("syncAttrViewTableColWidth", id="gone", keyID=column)
    assert refusal is not None
    assert "view not found" in refusal
