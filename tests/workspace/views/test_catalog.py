"""Questions about databases that show no view: keys, items, backlinks, which there are, copies."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views import catalog
from kernel.workspace.views.moments import Broken
from tests.workspace.views.world import AV, ITEMS, OTHER, Databases, filled, key_id, number, related

THIRD = "20240101000000-avavav3"
GONE = "20200101000000-zzzzzzz"


async def panel(av: Databases, **asked: str) -> list[dict[str, list[str]]]:
    """Database by database: key → the items it has a value of."""
    found = await av.kernel.call("av/getAttributeViewKeys", **{"id": "", **asked})
    return [
        {one["key"]["name"]: [value["blockID"] for value in one.get("values") or ()] for one in database["keyValues"]}
        for database in found
    ]


async def test_items_are_told_page_by_page_and_no_page_is_made_up(av: Databases) -> None:
    await av.add("one", "two", "three")
    ask = {"id": AV, "pageSize": 2}
    found = await av.kernel.call("av/getAttributeViewPrimaryKeyValues", **ask, page=2)
    assert len(found["rows"]["values"]) == 1
    for page in (0, 3):
        with pytest.raises(Broken):
            catalog.primary_values(av.kernel.workspace, AV, "", page, 2)
    av.rewrite(lambda data: data.update(keyValues=data["keyValues"][1:]))
    with pytest.raises(Broken, match="without a primary key"):
        catalog.primary_values(av.kernel.workspace, AV, "", 1, 2)


async def test_the_panel_of_an_item_shows_what_it_has_a_value_of(av: Databases) -> None:
    await filled(av, "number", number(5))
    await av.key("lineNumber")
    value = (await av.values(await av.primary()))[ITEMS[0]]["id"]
    shown = {"number": ITEMS[:1], "Primary Key": ITEMS[:1], "Select": ITEMS[:1]}
    assert await panel(av, avID=AV, itemID=ITEMS[0]) == [shown]
    assert await panel(av, avID=AV, itemID=GONE, valueID=value) == [shown]
    assert await panel(av, avID=AV, itemID=GONE, valueID=GONE) == []
    assert await panel(av, avID=GONE, itemID=ITEMS[0]) == []


async def test_the_panel_of_a_block_shows_every_database_that_it_is_bound_to(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    (shown,) = await panel(av, id=av.texts[0])
    assert shown["Primary Key"] == ITEMS[:1]
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"custom-avs": f"{GONE},{AV}"})
    assert len(await panel(av, id=av.texts[0])) == 1
    assert await panel(av, id=av.document) == []


async def test_a_block_that_only_says_that_it_is_bound_is_released(av: Databases) -> None:
    await av.add("one")
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"custom-avs": AV})
    assert await panel(av, id=av.texts[0]) == []
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=av.texts[0])


async def test_blocks_that_show_a_database_are_looked_for_before_it_counts_as_not_shown(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    av.kernel.workspace.files.remove("data/storage/av/blocks.msgpack")
    assert len(await panel(av, id=av.texts[0])) == 1
    await av.kernel.call("block/updateBlock", id=av.block, dataType="markdown", data="no database")
    av.kernel.workspace.files.remove("data/storage/av/blocks.msgpack")
    assert await panel(av, id=av.texts[0]) == []
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=av.texts[0])


# --- backlinks -------------------------------------------------------------------------------------------------------
async def backlinks(av: Databases, **asked: str) -> list[tuple[str, list[str]]]:
    found = await av.kernel.call("av/getAttributeViewBacklinks", **asked)
    return [(one["title"], [rule["keyName"] for rule in one["relations"]]) for one in found["items"]]


async def test_what_relates_to_an_item_is_found_by_item_value_and_block(av: Databases) -> None:
    await related(av)
    value = (await av.values(await av.primary(OTHER), OTHER))[ITEMS[0]]["id"]
    assert await backlinks(av, avID=OTHER, itemID=ITEMS[0]) == [("one", ["Relation"])]
    assert await backlinks(av, avID=OTHER, valueID=value) == [("one", ["Relation"])]
    assert await backlinks(av, avID=OTHER, itemID="gone") == []
    assert await backlinks(av, avID=GONE, itemID=ITEMS[0]) == []
    source = {"itemID": ITEMS[2], "isDetached": False, "id": av.texts[0]}
    await av.kernel.call("av/addAttributeViewBlocks", avID=OTHER, blockID=av.other, srcs=[source])
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"custom-avs": f"{OTHER},{GONE}"})
    await av.put("relation", ITEMS[1], {"relation": {"blockIDs": ITEMS[2:]}})
    assert await backlinks(av, id=av.texts[0]) == [("two", ["Relation"])]


async def test_an_item_is_listed_once_with_every_key_that_relates_it(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.key("text")
    await av.operate("updateAttrViewCol", id=key_id("text"), name="Second", type="relation")
    way = {"isTwoWay": False, "format": "Second"}
    await av.operate("updateAttrViewColRelation", id=OTHER, keyID=key_id("text"), **way)
    await av.kernel.call(
        "av/setAttributeViewBlockAttr",
        avID=AV,
        keyID=key_id("text"),
        itemID=ITEMS[0],
        value={"relation": {"blockIDs": ITEMS[:1]}},
    )
    (found,) = await backlinks(av, avID=OTHER, itemID=ITEMS[0])
    assert (found[0], sorted(found[1])) == ("one", ["Relation", "Second"])


async def test_databases_that_are_gone_and_items_that_are_gone_relate_to_nothing(av: Databases) -> None:
    await related(av, is_two_way=False)

    def repeat(data: dict[str, Any]) -> None:
        column = next(one for one in data["keyValues"] if one["key"]["id"] == key_id("relation"))
        column["values"] += [column["values"][0], {**column["values"][0], "blockID": GONE}]

    av.rewrite(repeat)
    assert await backlinks(av, avID=OTHER, itemID=ITEMS[0]) == [("one", ["Relation"])]
    av.kernel.workspace.files.remove(f"data/storage/av/{AV}.json")
    assert await backlinks(av, avID=OTHER, itemID=ITEMS[0]) == []


# --- which there are -------------------------------------------------------------------------------------------------
async def test_a_database_is_found_at_the_first_block_that_shows_it_still(av: Databases) -> None:
    for database, name in ((AV, "Plans"), (OTHER, "Plans too")):
        await av.operate("setAttrViewName", id=database, data=name)
    await av.kernel.call("block/updateBlock", id=av.other, dataType="markdown", data="no database")
    found = (await av.kernel.call("av/searchAttributeView", keyword="plans"))["results"]
    assert [one["avID"] for one in found] == [AV]
    assert [child["viewName"] for child in found[0]["children"]] == ["Table"]


async def test_a_database_that_a_template_or_an_attribute_names_is_used(av: Databases) -> None:
    await av.kernel.call("av/renderAttributeView", id=THIRD)
    av.kernel.workspace.files.write("data/templates/t.md", f"data-av-id={THIRD}".encode())
    assert await av.kernel.call("av/getUnusedAttributeViews") == []
    av.kernel.workspace.files.write("data/templates/t.md", b"nothing")
    assert [one["item"] for one in await av.kernel.call("av/getUnusedAttributeViews")] == [THIRD]
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[0], attrs={"custom-avs": THIRD})
    assert await av.kernel.call("av/getUnusedAttributeViews") == []


async def test_a_database_that_is_gone_is_not_removed_again(av: Databases) -> None:
    assert catalog.remove_unused(av.kernel.workspace, [GONE]) == []


async def test_a_copy_of_a_database_relates_one_way_and_is_bound_as_well(av: Databases) -> None:
    await related(av)
    await av.bind(ITEMS[2], av.texts[0])
    await av.bind("20240101000000-item004", av.texts[1])
    await av.kernel.call("attr/setBlockAttrs", id=av.texts[1], attrs={"custom-avs": AV})
    copy = (await av.kernel.call("av/duplicateAttributeViewBlock", avID=AV))["avID"]
    rules = [one["key"].get("relation") for one in (await av.stored(copy))["keyValues"]]
    assert {"avID": OTHER, "isTwoWay": False, "backKeyID": ""} in rules
    assert (await av.kernel.call("attr/getBlockAttrs", id=av.texts[0]))["custom-avs"] == f"{AV},{copy}"
    assert (await av.stored(copy))["name"] == ""


async def test_a_copy_is_made_although_a_block_of_an_item_is_gone(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    av.rewrite(lambda data: data["keyValues"][0]["values"][0]["block"].update(id=GONE))
    copy = (await av.kernel.call("av/duplicateAttributeViewBlock", avID=AV))["avID"]
    assert (await av.stored(copy))["keyValues"][0]["values"][0]["block"]["id"] == GONE
