"""Databases through the tool: rows, cells, columns, views and relations, each read back from the stored database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.tools.av_values import compact, essence, host_value
from tests.tools.notes import Notes, open_notes

NOBODY = "20200101000000-zzzzzzz"


class Databases:
    """A notebook with a document, and databases in it."""

    def __init__(self, notes: Notes, notebook: str, document: str) -> None:
        self.notes, self.notebook, self.document = notes, notebook, document
        self.av = self.block = ""

    async def create(self) -> tuple[str, str]:
        made = await self.notes.call("av", "render", createIfNotExist=True, blockID=self.document)
        return made["avID"], made["blockID"]

    async def do(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.notes.call("av", action, **{"avID": self.av, **arguments})

    async def refused(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.notes.refused("av", action, **{"avID": self.av, **arguments})

    async def stored(self) -> dict[str, Any]:
        return dict((await self.do("get"))["av"])

    async def rows(self, *texts: str) -> list[str]:
        return [row["rowID"] for row in (await self.do("add_rows", primaryKeyTexts=list(texts)))["rows"]]

    async def column(self, name: str, kind: str, **more: Any) -> str:
        return str((await self.do("add_column", keyName=name, keyType=kind, **more))["keyID"])

    @property
    def shown(self) -> dict[str, str]:
        return {"blockID": self.block}


@pytest.fixture(params=[False, True], ids=["plain", "strict"])
async def dbs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Databases]:
    async with open_notes(tmp_path, strict=request.param) as notes:
        notebook = await notes.memory.notebook("Nb")
        document = await notes.memory.document(notebook, "/Doc", "Anchor")
        found = Databases(notes, notebook, document)
        found.av, found.block = await found.create()
        yield found


async def test_a_new_database_stands_where_it_was_asked_for_and_is_only_shown_again(dbs: Databases) -> None:
    again = await dbs.do("render", createIfNotExist=True, blockID=dbs.document)
    assert (again["generatedAvID"], again["avID"]) == (False, dbs.av)
    behind = (await dbs.notes.memory.children(dbs.document))[0]
    made = await dbs.notes.call("av", "render", createIfNotExist=True, blockID=behind, avID="20260101120000-newnewn")
    assert (made["avID"], made["generatedAvID"], made["databaseBlockRegistrationVerified"]) == (
        "20260101120000-newnewn",
        False,
        True,
    )
    assert made["blockID"] in await dbs.notes.memory.children(dbs.document)
    assert "Name the database" in (await dbs.notes.refused("av", "render"))["message"]
    assert "needs blockID" in (await dbs.notes.refused("av", "render", createIfNotExist=True))["message"]


async def test_rows_come_from_texts_and_from_blocks_are_copied_and_go(dbs: Databases) -> None:
    block = (await dbs.notes.memory.children(dbs.document))[0]
    one, two = await dbs.rows("one", "two")
    added = await dbs.do("add_rows", blockIDs=[block], previousID=one)
    (bound,) = added["rows"]
    assert (bound["blockID"], added["added"]) == (block, 1)
    listed = await dbs.do("get_primary_key_values")
    assert {row["content"] for row in listed["rows"]} >= {"one", "two"}
    assert {row.get("sourceBlockID") for row in listed["rows"]} >= {block}
    copies = await dbs.do("duplicate_rows", sourceRowIDs=[one, two], previousID=two)
    assert [row["sourceRowID"] for row in copies["rows"]] == [one, two]
    resolved = {row["rowID"] for row in (await dbs.do("get"))["resolvedRows"]}
    assert resolved == {one, two, bound["rowID"], *(row["rowID"] for row in copies["rows"])}
    removed = await dbs.do("remove_rows", srcIDs=[one, bound["rowID"], one])
    assert (removed["removed"], removed["verification"]["status"]) == (2, "verified")
    gone = await dbs.refused("remove_rows", srcIDs=[one])
    assert (gone["code"], gone["rowIDs"]) == ("not_found", [one])


async def test_a_block_that_has_its_row_is_not_counted_as_added(dbs: Databases) -> None:
    """The host leaves it as it is: what was added is what was not there."""
    first, second = (await dbs.notes.memory.children(dbs.document))[:2]
    (bound,) = (await dbs.do("add_rows", blockIDs=[first]))["rows"]
    again = await dbs.do("add_rows", blockIDs=[first, first])
    assert (again["added"], [row["rowID"] for row in again["rows"]]) == (0, [bound["rowID"]] * 2)
    more = await dbs.do("add_rows", blockIDs=[first, second], primaryKeyTexts=["text"])
    assert (more["added"], len(more["rows"])) == (2, 3)
    assert len((await dbs.do("get_primary_key_values"))["rows"]) == 3


CELLS: list[tuple[str, dict[str, Any], Any]] = [
    ("text", {"text": "x"}, "x"),
    ("number", {"number": 2.5, "numberFormat": "commas"}, 2.5),
    ("date", {"date": 1_767_225_600_000, "endDate": "2026-01-02T03:04:00+00:00"}, 1_767_225_600_000),
    ("checkbox", {"checked": True}, True),
    ("select", {"option": "a"}, "a"),
    ("mSelect", {"options": ["b", "a"]}, ["b", "a"]),
    ("url", {"url": "https://x"}, "https://x"),
    ("email", {"email": "a@b"}, "a@b"),
    ("phone", {"phone": "1"}, "1"),
    ("mAsset", {"assets": [{"type": "file", "content": "assets/a.txt"}]}, "assets/a.txt"),
]


async def test_cells_of_every_type_are_stored_and_read_back(dbs: Databases) -> None:
    (row,) = await dbs.rows("one")
    cells = []
    for kind, given, _ in CELLS:
        column = await dbs.column(kind, kind)
        cells.append(
            {"rowID": row, "columnID": column, "valueType": {"mSelect": "multi_select"}.get(kind, kind), **given}
        )
    told = await dbs.do("set_cells", cells=cells)
    assert (told["updated"], {one["verified"] for one in told["verification"]["cells"]}) == (len(CELLS), {True})
    table = (await dbs.do("render"))["table"]
    (shown,) = table["rows"]
    for cell, (kind, _, wanted) in zip(cells, CELLS, strict=True):
        value = shown["cells"][cell["columnID"]]
        if kind == "date":
            value = value["start"]
        if kind == "mAsset":
            value = value[0]["content"]
        assert value == wanted, kind
    single = await dbs.do("set_cells", rowID=row, columnID=cells[0]["columnID"], valueType="text", text="y")
    assert (single["rowID"], single["valueType"]) == (row, "text")
    assert (await dbs.do("render"))["table"]["rows"][0]["cells"][cells[0]["columnID"]] == "y"


async def test_a_cell_that_cannot_be_is_refused_with_what_would_be_right(dbs: Databases) -> None:
    block = (await dbs.notes.memory.children(dbs.document))[0]
    bound = (await dbs.do("add_rows", blockIDs=[block]))["rows"][0]["rowID"]
    column = await dbs.column("t", "text")
    cell = {"columnID": column, "valueType": "text", "text": "x"}
    unknown = await dbs.refused("set_cells", rowID=NOBODY, **cell)
    assert (unknown["reason"], unknown["rowID"]) == ("row_id_not_canonical", NOBODY)
    if bound != block:
        source = await dbs.refused("set_cells", rowID=block, **cell)
        assert (source["reason"], source["suggestedRowID"]) == ("row_id_required", bound)
    bad = {"columnID": column, "rowID": bound, "valueType": "date", "date": "yesterday"}
    if dbs.notes.is_strict:
        missing = await dbs.refused("set_cells", rowID=bound, columnID=NOBODY, valueType="text", text="x")
        assert missing["reason"] == "column_not_found"
        assert (await dbs.refused("set_cells", **bad))["reason"] == "value_type_mismatch"
    else:
        assert "is no date" in (await dbs.refused("set_cells", **bad))["message"]


async def test_columns_come_get_options_and_go(dbs: Databases) -> None:
    column = await dbs.column("Kind", "select", keyIcon="1f600")
    options = [{"name": "a", "color": "1"}, {"name": "b", "desc": "second"}]
    told = await dbs.do("set_column_options", keyID=column, options=options)
    assert told["options"][1] == {"name": "b", "color": "", "desc": "second"}
    keys = {key["id"]: key for key in (await dbs.do("get_attribute_view_keys"))["keys"]}
    assert [option["name"] for option in keys[column]["options"]] == ["a", "b"]
    (row,) = await dbs.rows("row")
    await dbs.do("set_cells", rowID=row, columnID=column, valueType="select", option="a")
    for names in (["c", "b"], ["b", "d", "c"], ["c"], [], ["z", "a"]):
        told = await dbs.do("set_column_options", keyID=column, options=[{"name": name} for name in names])
        assert [option["name"] for option in told["options"]] == names
        keys = {key["id"]: key for key in (await dbs.do("get_attribute_view_keys"))["keys"]}
        assert [option["name"] for option in keys[column].get("options") or []] == names
    # An option that is left out leaves the cells, too.
    assert "a" not in json.dumps((await dbs.do("render"))["table"]["rows"][0]["cells"][column])
    await dbs.do("remove_column", keyID=column)
    assert column not in {key["id"] for key in (await dbs.do("get_attribute_view_keys"))["keys"]}


async def test_a_view_is_filtered_sorted_grouped_and_ordered(dbs: Databases) -> None:
    first, second = await dbs.rows("b", "a")
    column = await dbs.column("T", "text")
    await dbs.do("set_cells", rowID=second, columnID=column, valueType="text", text="keep this")
    stored = await dbs.stored()
    view = {"viewID": stored["viewID"], **dbs.shown}
    primary = stored["keyValues"][0]["key"]["id"]
    leaf = {"column": column, "operator": "Contains", "value": {"type": "text", "text": {"content": "keep"}}}
    await dbs.do("set_filters", **view, filters=[leaf])
    assert [row["id"] for row in (await dbs.do("render"))["table"]["rows"]] == [second]
    told = await dbs.do("get_attribute_view_filter_sort", **dbs.shown)
    assert json.dumps(told["filters"]).count(column) == 1
    await dbs.do("set_filters", **view, filters=[])
    await dbs.do("set_sorts", **view, sorts=[{"column": primary, "order": "ASC"}])
    assert [row["id"] for row in (await dbs.do("render"))["table"]["rows"]] == [second, first]
    await dbs.do("set_column_visibility", **view, keyID=column, hidden=True)
    hidden = {one["id"]: one.get("hidden") for one in (await dbs.stored())["views"][0]["table"]["columns"]}
    assert hidden[column] is True
    order = [column, primary, *(one for one in hidden if one not in (column, primary))]
    await dbs.do("set_column_order", **view, keyIDs=order)
    assert [one["id"] for one in (await dbs.stored())["views"][0]["table"]["columns"]] == order
    part = await dbs.refused("set_column_order", **view, keyIDs=[column])
    assert part["details"]["missing"] == sorted(set(order) - {column})
    group = {"field": column, "method": 0, "order": 0, "hideEmpty": False}
    assert (await dbs.do("set_group", **view, group=group))["group"]["field"] == column


@pytest.mark.parametrize("layout", ["gallery", "kanban"])
async def test_another_view_is_added_and_must_be_shown_to_be_changed(dbs: Databases, layout: str) -> None:
    first = (await dbs.stored())["viewID"]
    added = "20260102030405-viewtwo"
    await dbs.do("add_view", **dbs.shown, viewID=added, layout=layout, name="Second")
    views = {view["id"]: (view["type"], view["name"]) for view in (await dbs.stored())["views"]}
    assert views[added] == (layout, "Second")
    twice = await dbs.refused("add_view", **dbs.shown, viewID=added, layout=layout, name="Third")
    assert (twice["code"], twice["reason"]) == ("conflict", "view_exists")
    assert len((await dbs.stored())["views"]) == 2
    wrong = await dbs.refused("set_sorts", **dbs.shown, viewID=first, sorts=[])
    assert (wrong["reason"], added in wrong["message"]) == ("view_not_shown", True)
    assert (await dbs.refused("set_sorts", **dbs.shown, viewID=NOBODY, sorts=[]))["reason"] == "view_not_found"
    fields = [key["id"] for key in (await dbs.do("get_attribute_view_keys"))["keys"]]
    await dbs.do("set_column_visibility", **dbs.shown, viewID=added, keyID=fields[-1], hidden=True)
    await dbs.do("set_column_order", **dbs.shown, viewID=added, keyIDs=fields[::-1])
    stored = next(view for view in (await dbs.stored())["views"] if view["id"] == added)[layout]
    assert [(one["id"], one["hidden"]) for one in stored["fields"]] == [(fields[1], True), (fields[0], False)]
    raw = await dbs.do("render", **dbs.shown, viewID=added)
    assert (raw["rowFormat"], raw["rawRowsIncluded"]) == ("raw", True)


async def test_filters_are_trees_and_a_leaf_says_of_what(dbs: Databases) -> None:
    stored = await dbs.stored()
    view = {"viewID": stored["viewID"], **dbs.shown}
    primary = stored["keyValues"][0]["key"]["id"]
    leaf = {"column": primary, "operator": "Is not empty"}
    tree = [{"combination": "and", "filters": [leaf, {"combination": "or", "filters": [leaf, leaf]}]}]
    await dbs.do("set_filters", **view, filters=tree)
    wrong = [{"combination": "and", "filters": [{"column": primary}]}]
    assert "requires column and operator" in (await dbs.refused("set_filters", **view, filters=wrong))["message"]


async def test_a_database_is_renamed_copied_and_found(dbs: Databases) -> None:
    await dbs.do("rename", name="Tasks of the house")
    copy = await dbs.do("duplicate")
    assert (copy["sourceAvID"], copy["insertedAfter"]) == (dbs.av, dbs.block)
    assert copy["blockID"] in await dbs.notes.memory.children(dbs.document)
    await dbs.rows("a peculiar primary text")
    by_name = await dbs.notes.call("av", "search", keyword="Tasks of")
    assert dbs.av in [row["avID"] for row in by_name["results"]]
    by_text = await dbs.notes.call("av", "search", keyword="peculiar")
    (hit,) = by_text["results"]
    assert (hit["avID"], hit["matchSource"], hit["matchedRowCount"]) == (dbs.av, "primary_key", 1)
    await dbs.notes.permit(**{dbs.notebook: "none"})
    hidden = await dbs.notes.call("av", "search", keyword="Tasks of")
    assert (hidden["results"], hidden["emptyReason"]) == ([], "filtered")
    assert hidden["permissionFilteredOutCount"] + hidden["unresolvedCount"] == hidden["rawResultCount"] > 0


async def test_two_databases_point_at_each_other_and_roll_up(dbs: Databases) -> None:
    (row,) = await dbs.rows("mine")
    other, other_block = await dbs.create()
    dbs.av, mine = other, dbs.av
    (there,) = await dbs.rows("theirs")
    dbs.av = mine
    relation, back = await dbs.column("Theirs", "relation"), "20260102030405-backkey"
    told = await dbs.do(
        "configure_two_way_relation", **dbs.shown, keyID=relation, destinationAvID=other,
        destinationBlockID=other_block, backRelationKeyID=back, sourceName="Theirs", destinationName="Ours",
    )  # fmt: skip
    assert told["beforeDigest"] != told["afterDigest"]
    await dbs.do("set_relation", **dbs.shown, itemID=row, keyID=relation, relatedItemIDs=[there])
    rollup = await dbs.column("Names", "rollup")
    primary = (await dbs.notes.call("av", "get", avID=other))["av"]["keyValues"][0]["key"]["id"]
    await dbs.do(
        "configure_rollup", **dbs.shown, keyID=rollup, relationKeyID=relation, destinationKeyID=primary, calc={}
    )
    keys = {one["key"]["id"]: one["key"] for one in (await dbs.stored())["keyValues"]}
    assert keys[relation]["relation"]["avID"] == other
    assert keys[rollup]["rollup"]["keyID"] == primary
    plain = await dbs.column("Plain", "text")
    before = await dbs.stored()
    way = {"destinationAvID": other, "backRelationKeyID": back, "sourceName": "a", "destinationName": "b"}
    of_relation = {"itemID": row, "keyID": relation, "relatedItemIDs": [there]}
    of_rollup = {"keyID": rollup, "relationKeyID": relation, "destinationKeyID": primary, "calc": {}}
    refusals: list[tuple[str, dict[str, Any], str]] = [
        ("set_relation", {**of_relation, "keyID": plain}, "key_type_mismatch"),
        ("set_relation", {**of_relation, "keyID": NOBODY}, "key_not_found"),
        ("set_relation", {**of_relation, "itemID": NOBODY}, "row_not_found"),
        ("set_relation", {**of_relation, "relatedItemIDs": [row]}, "row_not_found"),
        ("configure_rollup", {**of_rollup, "keyID": relation}, "key_type_mismatch"),
        ("configure_rollup", {**of_rollup, "relationKeyID": rollup}, "key_type_mismatch"),
        ("configure_rollup", {**of_rollup, "destinationKeyID": plain}, "key_not_found"),
        ("configure_two_way_relation", {**way, "keyID": rollup}, "key_type_mismatch"),
        ("create_from_template", {"templateID": NOBODY}, "template_not_found"),
    ]
    for action, arguments, reason in refusals:
        assert (await dbs.refused(action, **dbs.shown, **arguments))["reason"] == reason, (action, arguments)
    fresh = await dbs.column("Unset", "relation")
    for action, arguments in (
        ("set_relation", {**of_relation, "keyID": fresh}),
        ("configure_rollup", {**of_rollup, "relationKeyID": fresh}),
    ):
        assert (await dbs.refused(action, **dbs.shown, **arguments))["reason"] == "relation_not_configured"
    await dbs.do("set_relation", **dbs.shown, itemID=row, keyID=fresh, relatedItemIDs=[])
    assert [one["key"] for one in (await dbs.stored())["keyValues"]][: len(before["keyValues"])] == [
        one["key"] for one in before["keyValues"]
    ]


async def test_who_may_not_write_to_the_other_side_sets_no_relation_in_two_directions(dbs: Databases) -> None:
    (row,) = await dbs.rows("mine")
    notebook = await dbs.notes.memory.notebook("Far")
    far = await dbs.notes.memory.document(notebook, "/Far", "Anchor")
    made = await dbs.notes.call("av", "render", createIfNotExist=True, blockID=far)
    theirs = (await dbs.notes.call("av", "add_rows", avID=made["avID"], primaryKeyTexts=["x"]))["rows"][0]["rowID"]
    relation = await dbs.column("Theirs", "relation")
    way = {"destinationAvID": made["avID"], "sourceName": "a", "destinationName": "b"}
    way |= {"keyID": relation, "backRelationKeyID": "20260102030405-backkey"}
    asked = {"itemID": row, "keyID": relation, "relatedItemIDs": [theirs]}
    await dbs.do("configure_two_way_relation", **dbs.shown, **way)
    await dbs.notes.permit(**{notebook: "r"})
    for action, arguments in (("configure_two_way_relation", way), ("set_relation", asked)):
        refused = await dbs.refused(action, **dbs.shown, **arguments)
        assert (refused["code"], refused["notebook"]) == ("permission_denied", notebook)


async def test_columns_that_are_not_there_are_not_filtered_sorted_grouped_hidden_or_given_options(
    dbs: Databases,
) -> None:
    await dbs.rows("one")
    text = await dbs.column("T", "text")
    stored = await dbs.stored()
    view = {"viewID": stored["viewID"], **dbs.shown}
    leaf = {"column": NOBODY, "operator": "Is empty"}
    group = {"field": NOBODY, "method": 0, "order": 0, "hideEmpty": False}
    options = [{"name": "a"}, {"name": "b"}, {"name": "a"}]
    refusals: list[tuple[str, dict[str, Any], str]] = [
        ("set_filters", {**view, "filters": [{"combination": "and", "filters": [leaf]}]}, "key_not_found"),
        ("set_sorts", {**view, "sorts": [{"column": NOBODY, "order": "ASC"}]}, "key_not_found"),
        ("set_group", {**view, "group": group}, "key_not_found"),
        ("set_column_visibility", {**view, "keyID": NOBODY, "hidden": True}, "key_not_found"),
        ("set_column_options", {"keyID": NOBODY, "options": []}, "key_not_found"),
        ("set_column_options", {"keyID": text, "options": []}, "key_type_mismatch"),
    ]
    for action, arguments, reason in refusals:
        assert (await dbs.refused(action, **arguments))["reason"] == reason, action
    assert (await dbs.stored())["views"] == stored["views"]
    select = await dbs.column("S", "select")
    assert (await dbs.refused("set_column_options", keyID=select, options=options))["reason"] == "duplicate_options"


async def test_a_strict_removal_names_a_column_that_is_there_and_not_the_primary_one(dbs: Databases) -> None:
    primary = (await dbs.stored())["keyValues"][0]["key"]["id"]
    if not dbs.notes.is_strict:
        # Without strict mode the host answers, and it knows no wrong column.
        assert (await dbs.do("remove_column", keyID=NOBODY))["success"] is True
        assert (await dbs.refused("remove_column", keyID=primary))["code"] == "pending_verification"
        return
    assert (await dbs.refused("remove_column", keyID=NOBODY))["reason"] == "key_not_found"
    assert (await dbs.refused("remove_column", keyID=primary))["reason"] == "primary_key"


async def test_new_rows_follow_a_template(dbs: Databases) -> None:
    template = {"id": "20260102030405-templat", "name": "T", "targetType": "detached"}
    wrong = await dbs.refused("set_new_item_templates", **dbs.shown, templates=[template], defaultTemplateID=NOBODY)
    assert "must be one of the templates" in wrong["message"]
    told = await dbs.do("set_new_item_templates", **dbs.shown, templates=[template], defaultTemplateID=template["id"])
    assert told["templateCount"] == 1
    made = await dbs.do("create_from_template", **dbs.shown, templateID=template["id"])
    assert made["itemID"] in {row["rowID"] for row in (await dbs.do("get"))["resolvedRows"]}


async def test_a_database_that_is_not_there_or_not_shown_is_told_apart(dbs: Databases) -> None:
    anchor = next(one for one in await dbs.notes.memory.children(dbs.document) if one != dbs.block)
    assert (await dbs.refused("get", avID=NOBODY))["code"] == "av_not_found"
    assert (await dbs.refused("rename", blockID=anchor, name="x"))["code"] == "av_owner_stale"
    await dbs.notes.memory.call("block/deleteBlock", id=dbs.block)
    assert (await dbs.refused("rename", name="x"))["code"] == "av_owner_missing"


@pytest.mark.parametrize(
    ("value", "shown", "what_counts"),
    [
        (None, None, None),
        ({"type": "text"}, "", None),
        ({"type": "select", "mSelect": []}, None, {"type": "select", "values": []}),
        ({"type": "select", "mSelect": [{"content": "a"}]}, "a", {"type": "select", "values": ["a"]}),
        ({"type": "mSelect", "mSelect": []}, [], {"type": "mSelect", "values": []}),
        ({"type": "mSelect", "mSelect": [{"content": "b"}, {"content": "a"}]}, ["b", "a"], {"type": "mSelect", "values": ["a", "b"]}),
        ({"type": "number", "number": {"content": 0, "isNotEmpty": False}}, None, {"type": "number", "content": 0, "format": ""}),
        ({"type": "block", "block": {"id": "i", "content": ""}}, {"id": "i"}, {"type": "block", "content": ""}),
        ({"type": "block"}, None, None),
        ({"type": "relation", "relation": {"blockIDs": ["x"]}}, {"blockIDs": ["x"]}, {"type": "relation", "content": None}),
        ({"type": "relation", "relation": {"blockIDs": ["x"], "contents": [{"type": "block", "block": {"content": "c"}}]}},
            {"blockIDs": ["x"], "contents": [{"content": "c"}]}, {"type": "relation", "content": None}),
        ({"type": "relation"}, {"blockIDs": []}, None),
        ({"type": "rollup", "rollup": {"contents": [{"type": "text", "text": {"content": "t"}}]}}, ["t"], {"type": "rollup", "content": None}),
        ({"type": "template", "template": {"content": "t"}}, "t", {"type": "template", "content": "t"}),
        ({"type": "date", "date": {"content": 5, "isNotTime": True}}, {"start": 5, "hasTime": False},
            {"type": "date", "content": 5, "content2": 0, "hasEndDate": False, "isNotTime": True}),
        ({"type": "date", "date": {"content": 5, "content2": 9, "hasEndDate": True}}, {"start": 5, "end": 9, "hasTime": True},
            {"type": "date", "content": 5, "content2": 9, "hasEndDate": True, "isNotTime": False}),
        ({"type": "date"}, None, None),
        ({"type": "created", "created": {"content": 7, "formattedContent": "then"}}, {"start": 7, "hasTime": True, "formatted": "then"},
            {"type": "created", "content": 7}),
        ({"type": "mAsset", "mAsset": [{"type": "file", "name": "", "content": "a.txt"}, {"type": "image", "content": ""}]},
            [{"content": "a.txt", "type": "file"}], {"type": "mAsset", "assets": [
                {"type": "file", "name": "", "content": "a.txt"}, {"type": "image", "name": "", "content": ""}]}),
        ({"type": "checkbox", "checkbox": {}}, False, {"type": "checkbox", "checked": False}),
        ({"type": "lineNumber", "id": "i", "keyID": "k", "blockID": "b"}, {"type": "lineNumber"}, None),
    ],
)  # fmt: skip
def test_a_value_is_shown_in_few_words_and_compared_by_what_counts(value: Any, shown: Any, what_counts: Any) -> None:
    assert compact(value) == shown
    assert essence(value) == what_counts


def test_a_date_says_whether_it_has_a_time_and_nonsense_is_refused() -> None:
    day = host_value({"valueType": "date", "date": "2026-01-01"})["date"]
    hour = host_value({"valueType": "date", "date": "2026-01-01T10:00:00+00:00"})["date"]
    asked = host_value({"valueType": "date", "date": 5.0, "includeTime": True})["date"]
    whole = host_value({"valueType": "date", "date": "2026-01-01", "includeTime": False})["date"]
    assert [one["isNotTime"] for one in (day, hour, asked, whole)] == [False, False, False, True]
    assert (day["content"], hour["content"] - day["content"], asked["content"]) == (1767225600000, 36_000_000, 5), (
        "in Greenwich"
    )
    with pytest.raises(ToolError, match="'soon' is no date"):
        host_value({"valueType": "date", "date": 1, "endDate": "soon"})
