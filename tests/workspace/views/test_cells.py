"""Changing cells: what is given is laid over what is there; blocks, options and relations follow."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.binding import set_at_once
from kernel.workspace.views.cells import set_cell
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.rendering import around
from kernel.workspace.views.store import load
from tests.workspace.views.world import AV, ITEMS, OTHER, Databases, cell, chosen, filled, key_id, related, said

GONE = "20200101000000-zzzzzzz"


async def put_primary(av: Databases, item: str = ITEMS[0], **value: Any) -> None:
    await av.kernel.call(
        "av/setAttributeViewBlockAttr", avID=AV, keyID=await av.primary(), itemID=item, value={"type": "block", **value}
    )


async def bound_to(av: Databases, block: str) -> str:
    return str((await av.kernel.call("attr/getBlockAttrs", id=block)).get("custom-avs", ""))


async def test_a_choice_of_nothing_is_answered_but_not_stored(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"))
    answer = await av.put("select", ITEMS[0], {"mSelect": [{"content": ""}]})
    assert "mSelect" not in answer
    assert said((await av.values(column))[ITEMS[0]]) == ["a"]


async def test_options_that_are_new_get_a_colour_and_known_ones_keep_theirs(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a"))
    answer = await av.put("mSelect", ITEMS[1], {"mSelect": [{"content": "a", "color": "9"}, {"content": "b"}]})
    assert answer["mSelect"][0] == {"content": "a", "color": "1"}
    options = (await av.field(column))["options"]
    assert [one["name"] for one in options] == ["a", "b"]
    assert 1 <= int(options[1]["color"]) <= 14


async def test_an_empty_date_says_nothing(av: Databases) -> None:
    await filled(av, "date")
    answer = await av.put("date", ITEMS[0], {"date": {"content": 5, "isNotEmpty": False, "formattedContent": "x"}})
    assert (answer["date"]["content"], answer["date"]["formattedContent"]) == (0, "")


async def test_a_cell_of_no_item_is_stored_all_the_same(av: Databases) -> None:
    column = await filled(av, "text")
    await av.put("text", "20240101000000-item009", {"text": {"content": "t"}})
    assert said((await av.values(column))["20240101000000-item009"]) == "t"
    assert await av.rows() == ["one", "two", "three"]


@pytest.mark.parametrize(("kind", "given"), [("relation", {"relation": None}), ("block", {"block": None})])
async def test_a_value_without_its_content_breaks(av: Databases, kind: str, given: dict[str, Any]) -> None:
    await related(av)
    workspace = av.kernel.workspace
    column = key_id("relation") if kind == "relation" else await av.primary()
    item = ITEMS[1] if kind == "relation" else ITEMS[0]
    with pytest.raises(Broken, match="without"):
        set_cell(around(workspace), load(workspace, AV), column, item, given, set_at_once(workspace))


# --- the block an item stands for --------------------------------------------------------------------------------------
async def test_a_detached_item_is_bound_exchanged_and_released(av: Databases) -> None:
    first, second = av.texts
    await av.add("one")
    await put_primary(av, isDetached=True, block={"content": "other"})
    assert await av.rows() == ["other"]
    await put_primary(av, isDetached=False, block={"id": first, "content": "shown"})
    assert (await bound_to(av, first), await av.rows()) == (AV, ["shown"])
    await put_primary(av, isDetached=False, block={"id": second, "content": "a &amp; b"})
    assert (await bound_to(av, first), await bound_to(av, second)) == ("", AV)
    assert (await av.values(await av.primary()))[ITEMS[0]]["block"]["content"] == "a & b"
    await put_primary(av, isDetached=True, block={"id": second, "content": "free"})
    assert (await bound_to(av, second), await av.rows()) == ("", ["free"])


async def test_an_item_of_a_block_that_is_gone_keeps_the_text_it_is_given(av: Databases) -> None:
    await av.add("one")
    await put_primary(av, isDetached=False, block={"id": GONE, "content": "a"})
    await put_primary(av, isDetached=False, block={"id": GONE, "content": " b "})
    value = (await av.values(await av.primary()))[ITEMS[0]]
    assert (value["block"]["id"], value["block"]["content"]) == (GONE, "b")


# --- two-way relations -----------------------------------------------------------------------------------------------
async def test_what_is_related_no_more_says_so_on_the_other_side(av: Databases) -> None:
    await related(av)
    answer = await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    assert answer["relation"]["blockIDs"] == ITEMS[:2], "the same once more changes nothing"
    await av.put("relation", ITEMS[1], {"relation": {"blockIDs": ITEMS[:1]}})
    backs = await av.values(key_id("back"), OTHER)
    assert [said(backs[item]) for item in ITEMS[:2]] == [ITEMS[:2], ITEMS[:1]]
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": []}})
    backs = await av.values(key_id("back"), OTHER)
    assert [said(backs[item]) for item in ITEMS[:2]] == [ITEMS[1:2], []]


async def test_the_other_side_may_be_gone_or_hold_nothing(av: Databases) -> None:
    await related(av)

    def empty(data: dict[str, Any]) -> None:
        for column in data["keyValues"]:
            if column["key"]["id"] == key_id("back"):
                column["values"] = [{**column["values"][0], "relation": None}]

    av.rewrite(empty, OTHER)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": []}})
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    backs = await av.values(key_id("back"), OTHER)
    assert [said(backs[item]) for item in ITEMS[:2]] == [ITEMS[:1], ITEMS[:1]]

    def forget(data: dict[str, Any]) -> None:
        for column in data["keyValues"]:
            for value in column.get("values") or () if column["key"]["id"] == key_id("back") else ():
                value["relation"]["blockIDs"] = None

    av.rewrite(forget, OTHER)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": []}})
    backs = await av.values(key_id("back"), OTHER)
    assert [said(backs[item]) for item in ITEMS[:2]] == [None, None], "where nothing was, nothing is taken away"
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    av.rewrite(lambda data: data.update(keyValues=data["keyValues"][:1]), OTHER)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": []}})
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    av.kernel.workspace.files.remove(f"data/storage/av/{OTHER}.json")
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:1]}})
    assert (await cell(av, ITEMS[0], key_id("relation")))["relation"]["blockIDs"] == ITEMS[:1]


async def test_a_relation_at_home_is_mirrored_at_home(av: Databases) -> None:
    await av.add("one", "two")
    way = {"isTwoWay": True, "backRelationKeyID": key_id("back"), "name": "Back", "format": "Forth"}
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), **way)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    assert [said(await cell(av, item, key_id("back"))) for item in ITEMS[:2]] == [ITEMS[:1], ITEMS[:1]]
