"""Relation and rollup keys: what they lead to, and what is left behind when they lead elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.database import ViewError
from kernel.workspace.views.relations import set_rollup
from tests.workspace.views.world import (
    AV,
    ITEMS,
    OTHER,
    Databases,
    cell,
    key_id,
    relate,
    related,
    roll_up,
    said,
)

THIRD = "20240101000000-avavav3"


async def rule(av: Databases, column: str, database: str = AV) -> dict[str, Any] | None:
    """What a relation key leads to; None if there is no such key."""
    keys = [one["key"] for one in (await av.stored(database))["keyValues"]]
    return next((key.get("relation") for key in keys if key["id"] == column), None)


async def lead(
    av: Databases, target: str, *, two_way: bool = False, column: str = "relation", back: str = "back"
) -> None:
    way = {"isTwoWay": two_way, "backRelationKeyID": key_id(back), "name": "", "format": "Forth"}
    await av.operate("updateAttrViewColRelation", id=target, keyID=key_id(column), **way)


async def test_a_relation_leads_one_way_or_two(av: Databases) -> None:
    await av.key("relation")
    await lead(av, OTHER)
    assert await rule(av, key_id("relation")) == {"avID": OTHER, "isTwoWay": False, "backKeyID": ""}
    assert await rule(av, key_id("back"), OTHER) is None
    await lead(av, OTHER, two_way=True)
    assert await rule(av, key_id("relation")) == {"avID": OTHER, "isTwoWay": True, "backKeyID": key_id("back")}
    assert await rule(av, key_id("back"), OTHER) == {"avID": AV, "isTwoWay": True, "backKeyID": key_id("relation")}
    names = [one["key"]["name"] for one in (await av.stored(OTHER))["keyValues"]]
    assert names[-1] == "Forth", "a database without a name lends none"
    await lead(av, OTHER, two_way=True)
    assert [one["key"]["name"] for one in (await av.stored(OTHER))["keyValues"]] == names
    await lead(av, OTHER)
    assert await rule(av, key_id("back"), OTHER) == {"avID": AV, "isTwoWay": False, "backKeyID": ""}


async def test_a_relation_that_leads_elsewhere_is_parted_from_where_it_led(av: Databases) -> None:
    await av.kernel.call("av/renderAttributeView", id=THIRD)
    await related(av)
    await lead(av, THIRD)
    assert await rule(av, key_id("relation")) == {"avID": THIRD, "isTwoWay": False, "backKeyID": ""}
    assert await rule(av, key_id("back"), OTHER) == {"avID": AV, "isTwoWay": False, "backKeyID": ""}
    links = await av.kernel.call("av/getAttributeViewBacklinks", avID=OTHER, itemID=ITEMS[0])
    assert links["total"] == 0


async def test_a_relation_leads_elsewhere_although_the_other_side_is_gone(av: Databases) -> None:
    await related(av)
    av.kernel.workspace.files.remove(f"data/storage/av/{OTHER}.json")
    await av.kernel.call("av/renderAttributeView", id=THIRD)
    await lead(av, THIRD)
    assert await rule(av, key_id("relation")) == {"avID": THIRD, "isTwoWay": False, "backKeyID": ""}


async def test_a_relation_may_lead_to_its_own_database(av: Databases) -> None:
    await av.add("one", "two")
    await av.key("relation")
    await lead(av, AV, two_way=True)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[1:2]}})
    assert said(await cell(av, ITEMS[1], key_id("back"))) == ITEMS[:1]
    await lead(av, AV)
    assert await rule(av, key_id("back")) == {"avID": AV, "isTwoWay": False, "backKeyID": ""}


async def test_a_way_back_that_is_new_knows_the_items_that_are_related_already(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.put("relation", ITEMS[1], {"relation": {"blockIDs": []}})
    await lead(av, OTHER, two_way=True)
    backs = await av.values(key_id("back"), OTHER)
    assert {item: said(value) for item, value in backs.items()} == {ITEMS[0]: ITEMS[:1], ITEMS[1]: ITEMS[:1]}


async def test_a_relation_of_no_key_leaves_a_way_back_alone(av: Databases) -> None:
    await lead(av, OTHER, two_way=True, column="gone")
    assert await rule(av, key_id("gone")) is None
    assert (await rule(av, key_id("back"), OTHER) or {})["avID"] == AV


async def test_a_rollup_that_is_told_nothing_stays_as_it_is(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.key("rollup")
    await roll_up(av, key_id("number"), "Max")
    workspace = av.kernel.workspace
    set_rollup(workspace, AV, key_id("rollup"), "", "", None)
    set_rollup(workspace, AV, "gone", "", "", {})
    with pytest.raises(ViewError, match="cannot unmarshal"):
        set_rollup(workspace, AV, key_id("rollup"), "", "", {"calc": {"operator": 5}})
    assert said(await cell(av, ITEMS[0], key_id("rollup"))) == ["4"]
    set_rollup(workspace, AV, key_id("rollup"), key_id("relation"), key_id("number"), "no object")
    assert said(await cell(av, ITEMS[0], key_id("rollup"))) == ["3", "4"]


async def test_a_relation_that_was_none_is_one_way(av: Databases) -> None:
    await relate(av)
    await av.add("one")
    await av.add("left", database=OTHER)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:1]}})
    assert said(await cell(av, ITEMS[0], key_id("relation"))) == ITEMS[:1]
