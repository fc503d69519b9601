"""Operations on databases, and what deeds on blocks mean for databases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.views.world import AV, ITEMS, OTHER, Databases, chosen, filled, grouped, text


async def shown(av: Databases, database: str = AV) -> list[str]:
    """The blocks that show a database."""
    return [one["refID"] for one in (await av.kernel.call("av/getMirrorDatabaseBlocks", avID=database))["refDefs"]]


async def attributes(av: Databases, block: str) -> dict[str, str]:
    return dict(await av.kernel.call("attr/getBlockAttrs", id=block))


def database_block(database: str = AV) -> str:
    return f'<div data-type="NodeAttributeView" data-av-id="{database}" data-av-type="table"></div>'


async def insert(av: Databases, data: str, **place: str) -> str:
    place = place or {"previousID": av.other}
    done = await av.kernel.call("block/insertBlock", dataType="markdown", data=data, **place)
    return str(done[0]["doOperations"][0]["id"])


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("action", "operation", "reason"),
    [
        ("setAttrViewFilters", {"data": {}}, "data is no list"),
        ("setAttrViewSorts", {"data": "x"}, "data is no list"),
        ("setAttrViewSorts", {"data": [5]}, "cannot unmarshal"),
        ("setAttrViewFilters", {"data": [5]}, "cannot unmarshal"),
        ("setAttrViewGroup", {"data": {"method": "x"}}, "cannot unmarshal"),
        ("sortAttrViewGroup", {"id": "gone"}, "a view without groups"),
        ("setAttrViewName", {"id": AV, "data": 5}, "data is no string"),
        ("setAttrViewName", {"id": "20200101000000-zzzzzzz", "data": ""}, "view not found"),
        ("addAttrViewView", {"id": ITEMS[0], "layout": "odd"}, "wrong layout type"),
        ("sortAttrViewView", {"id": "gone"}, "view not found"),
        ("updateAttrViewCell", {"keyID": "gone", "rowID": "", "data": {}}, "no key gone"),
    ],
)
async def test_operations_that_cannot_be_done_are_refused(
    av: Databases, action: str, operation: dict[str, Any], reason: str
) -> None:
    refusal = av.refusal(action, **operation)
    assert refusal is not None
    assert reason in refusal


# --- rules and groups ------------------------------------------------------------------------------------------------
async def test_operations_set_filters_sorts_groups_and_the_layout(av: Databases) -> None:
    column = await filled(av, "text", text("b"), text("a"))
    wanted = {"column": column, "operator": "Is not empty", "value": {"type": "text"}}
    await av.operate("setAttrViewFilters", data=[wanted])
    await av.operate("setAttrViewSorts", data=[{"column": column, "order": "ASC"}])
    assert await av.rows() == ["two", "one"]
    await av.operate("setAttrViewGroup", data={"field": column, "method": 0, "order": 0})
    assert [one["name"] for one in (await av.show())["view"]["groups"]][:2] == ["a", "b"]
    await av.operate("setAttrViewGroup", data=None)
    assert "groups" in (await av.show())["view"], "nothing is no rule"
    await av.operate("setAttrViewGroup", data={})
    assert "groups" not in (await av.show())["view"]
    await av.operate("changeAttrViewLayout", layout="gallery")
    assert (await av.show())["viewType"] == "gallery"


async def test_a_group_that_is_not_there_is_not_moved(av: Databases) -> None:
    column = await filled(av, "select", chosen("b"), chosen("a"))
    await grouped(av, column)
    before = [one["name"] for one in (await av.show())["view"]["groups"]]
    await av.operate("sortAttrViewGroup", id="gone", previousID="")
    assert [one["name"] for one in (await av.show())["view"]["groups"]] == before
    groups = (await av.show())["view"]["groups"]
    await av.operate("sortAttrViewGroup", id=groups[0]["id"], previousID=groups[1]["id"])
    assert [one["name"] for one in (await av.show())["view"]["groups"]][:2] == ["a", "b"]


async def test_the_last_view_is_not_removed(av: Databases) -> None:
    done = await av.operate("removeAttrViewView")
    assert done["retData"] is None
    assert len((await av.show())["views"]) == 1


async def test_a_name_is_shown_at_the_blocks_that_are_bound_and_are_there(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    await av.bind(ITEMS[1], av.texts[1])
    gone = "20200101000000-zzzzzzz"
    av.rewrite(lambda data: data["keyValues"][0]["values"][0]["block"].update(id=gone))
    av.kernel.frames.clear()
    await av.operate("setAttrViewName", id=AV, data=" Plans\n2 ")
    told = [one for frame in av.kernel.told("transactions") for one in frame[0]["doOperations"]]
    names = {one["id"]: one["data"]["new"]["av-names"] for one in told if one["action"] == "updateAttrs"}
    assert list(names) == av.texts[1:]
    assert ">Plans 2</span>" in names[av.texts[1]]
    assert ">Untitled</span>" in (await attributes(av, av.texts[1]))["av-names"], "told, but not remembered"


# --- deeds on blocks -------------------------------------------------------------------------------------------------
async def test_a_database_that_comes_in_is_shown_whether_it_is_there_or_not(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    await av.kernel.call("block/deleteBlock", id=av.texts[0])
    fresh = await insert(av, database_block())
    assert await shown(av) == [av.block, fresh]
    unknown = await insert(av, database_block("20240101000000-avavav9"))
    assert "custom-sy-av-view" not in await attributes(av, unknown)
    plain = await insert(av, "plain")
    assert "custom-sy-av-view" not in await attributes(av, plain)


async def test_an_item_whose_block_is_gone_is_bound_to_nothing_when_its_database_comes_in(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    av.rewrite(lambda data: data["keyValues"][0]["values"][0]["block"].update(id="20200101000000-zzzzzzz"))
    fresh = await insert(av, database_block())
    assert fresh in await shown(av)


async def test_a_database_block_keeps_the_view_it_came_with(av: Databases) -> None:
    await av.operate("addAttrViewView", id=ITEMS[0], layout="gallery")
    fresh = await insert(av, f'{database_block()}\n{{: custom-sy-av-view="{ITEMS[1]}"}}')
    assert (await attributes(av, fresh))["custom-sy-av-view"] == ITEMS[1]


async def test_a_block_around_a_bound_one_that_changes_shows_in_the_item(av: Databases) -> None:
    item = await insert(av, "* outer\n\n  inner")
    paragraph = (await av.kernel.children((await av.kernel.children(item))[0]))[0]
    await av.bind(ITEMS[0], item)
    await av.kernel.call("block/updateBlock", id=paragraph, dataType="markdown", data="changed")
    assert "changed" in (await av.rows())[0]


async def test_items_of_blocks_that_go_go_and_others_stay(av: Databases) -> None:
    await av.bind(ITEMS[1], av.texts[0])
    await av.add("one")
    await av.kernel.call("block/deleteBlock", id=av.texts[1])
    assert sorted(await av.rows()) == ["first text", "one"]
    await av.kernel.call("attr/setBlockAttrs", id=av.document, attrs={"custom-avs": f"{OTHER},20240101000000-avavav9"})
    last = await insert(av, "bound by name alone")
    await av.kernel.call("attr/setBlockAttrs", id=last, attrs={"custom-avs": f"{AV},20240101000000-avavav9"})
    await av.kernel.call("block/deleteBlock", id=last)
    assert sorted(await av.rows()) == ["first text", "one"]


async def test_one_of_two_blocks_that_show_a_database_goes(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    fresh = await insert(av, database_block())
    await av.kernel.call("block/deleteBlock", id=fresh)
    assert await shown(av) == [av.block]
    assert (await attributes(av, av.texts[0]))["custom-avs"] == AV
    av.kernel.workspace.files.remove("data/storage/av/blocks.msgpack")
    await av.kernel.call("block/deleteBlock", id=av.block)
    assert await shown(av) == []


async def test_items_follow_blocks_that_are_databases_headings_or_hidden_documents(av: Databases) -> None:
    await av.operate("setAttrViewName", id=OTHER, data="Named")
    await av.bind(ITEMS[0], av.other)
    assert await av.rows() == ["Named"]
    await av.operate("setAttrViewName", id=OTHER, data="")
    await av.bind(ITEMS[1], av.document)
    await av.kernel.call("attr/setBlockAttrs", id=av.document, attrs={"custom-hidden": "true"})
    await av.kernel.call("av/removeAttributeViewBlocks", avID=AV, srcIDs=ITEMS[1:2])
    assert "custom-hidden" not in await attributes(av, av.document)


async def test_a_block_that_only_says_that_it_is_bound_follows_nothing(av: Databases) -> None:
    await av.add("one")
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"custom-avs": AV})
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"name": "n"})
    assert await av.rows() == ["one"]


async def test_an_item_whose_block_does_not_know_it_is_detached_all_the_same(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"custom-avs": ""})
    await av.kernel.call("block/deleteBlock", id=av.block)
    assert "custom-avs" not in await attributes(av, av.texts[0])


async def test_a_block_that_is_not_there_is_no_item(av: Databases) -> None:
    source = {"itemID": ITEMS[0], "isDetached": False, "id": "20200101000000-zzzzzzz"}
    arguments = {"avID": AV, "srcs": [source]}
    assert (await av.kernel.answer("av/addAttributeViewBlocks", **arguments)).code != 0
    assert await av.rows() == []


async def test_an_update_of_a_block_that_is_gone_fails_and_changes_no_database(av: Databases) -> None:
    await av.add("one")
    gone = {"action": "delete", "id": "20200101000000-zzzzzzz", "avID": "", "blockID": ""}
    await av.operate(**gone)
    assert await av.rows() == ["one"]
