"""Arguments against rows: every fault with its path, aliases, defaults, cross-field rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.tools.registry import ACTIONS
from kernel.tools.validation import ArgumentsInvalid, _whole, check, validated


def faults(key: str, **arguments: Any) -> list[str]:
    try:
        validated(ACTIONS[key], arguments)
    except ArgumentsInvalid as error:
        return [problem.path for problem in error.problems]
    return []


INSERT = {"dataType": "markdown", "data": "x"}


@pytest.mark.parametrize(
    ("key", "arguments", "paths"),
    [
        ("fs.ls", {}, ["path"]),
        ("fs.write", {}, ["path", "markdown"]),
        ("fs.tree", {"path": "/", "maxDepth": 21}, ["maxDepth"]),
        ("fs.tree", {"path": "/", "maxDepth": 20}, []),
        ("fs.tree", {"path": "/", "maxDepth": True}, ["maxDepth"]),
        ("fs.read", {"path": "/", "page": 1}, ["page"]),
        ("fs.read", {"path": "/", "blockLimit": 0}, ["blockLimit"]),
        ("fs.read", {"path": "/", "blockLimit": 200}, []),
        ("fs.replace", {}, ["path", "edit"]),
        ("fs.replace", {"path": "/", "edit": {"old": "", "new": ""}}, ["edit.old"]),
        ("fs.replace", {"path": "/", "edit": []}, ["edit"]),
        ("fs.replace", {"path": "/", "edit": 5}, ["edit"]),
        ("fs.reorder", {"path": "/", "orderedPaths": []}, ["orderedPaths"]),
        ("document.create", {"notebook": "n"}, ["path"]),
        ("document.create", {"notebook": "n", "path": "/a", "title": "b"}, ["path"]),
        ("document.create", {"notebook": "n", "parentPath": "/", "title": ""}, ["path"]),
        ("document.create", {"notebook": "n", "path": 5}, ["path"]),
        ("document.create", {"notebook": "n", "path": "/a", "markdown": None}, ["markdown"]),
        ("document.lookup", {}, ["id", "notebook"]),
        ("document.lookup", {"hpath": "/x"}, ["notebook"]),
        ("document.lookup", {"id": "x", "notebook": "n", "hpath": "/x"}, ["id"]),
        ("document.lookup", {"notebook": "n"}, ["id"]),
        ("document.lookup", {"id": "x", "notebook": "n"}, []),
        ("document.lookup", {"notebook": "n", "path": "/x", "hpath": "/x"}, ["path"]),
        ("search.find_replace", {"k": "", "r": "x", "ids": ["i"]}, ["k"]),
        ("av.add_rows", {"avID": "a", "blockIDs": [], "primaryKeyTexts": []}, ["blockIDs"]),
        ("av.add_rows", {"avID": "a", "blockIDs": [], "primaryKeyTexts": ["x"]}, []),
        ("document.set_attr", {"id": "x", "attrs": {}}, ["attrs"]),
        ("document.lookup", {"notebook": "n", "hPath": "/x"}, []),
        ("document.lookup", {"id": "x", "include": ["bad"]}, ["include[0]"]),
        ("document.rename", {"title": "x"}, [""]),
        ("document.remove", {"ids": []}, ["ids"]),
        ("document.move", {"fromIDs": ["a"], "toID": "b", "toPath": "/"}, [""]),
        ("document.get_doc", {"id": "x", "mode": "html", "blockStart": 1}, ["blockStart"]),
        ("document.get_doc", {"id": "x", "mode": "pdf"}, ["mode"]),
        ("block.insert", {}, ["dataType", "data"]),
        ("block.insert", INSERT, []),
        ("block.insert", {"blocks": [INSERT]}, ["blocks[0].previousID"]),
        ("block.insert", {"blocks": [INSERT], "parentID": "p"}, []),
        ("block.insert", {**INSERT, "parentID": "p", "blocks": [{**INSERT, "parentID": "p"}]}, ["blocks"]),
        ("block.insert", {"blocks": [{**INSERT, "odd": 1}], "parentID": "p"}, ["blocks[0]"]),
        ("block.move", {"id": "a"}, ["previousID"]),
        ("block.move", {"previousID": "a"}, ["id"]),
        ("block.move", {"id": "a", "ids": ["b"], "previousID": "c"}, ["id"]),
        ("block.batch_kramdown", {"ids": ["a"] * 21}, ["ids"]),
        ("block.batch_kramdown", {"ids": ["a"] * 20}, []),
        ("block.word_count", {"id": "a"}, []),
        ("block.set_attrs", {"id": "a", "attrs": {"x": 1}}, ["attrs.x"]),
        ("av.get", {}, ["id"]),
        ("av.get", {"id": "a"}, []),
        ("av.get", {"id": "a", "avID": "b"}, ["id"]),
        ("av.set_cells", {"avID": "a"}, ["rowID", "columnID", "valueType"]),
        ("av.set_cells", {"avID": "a", "rowID": "r", "columnID": "c", "valueType": "text"}, ["text"]),
        ("av.set_cells", {"avID": "a", "rowID": "r", "columnID": "c", "valueType": "relation"}, ["valueType"]),
        ("av.set_cells", {"avID": "a", "cells": []}, ["cells"]),
        ("av.set_sorts", {"avID": "a", "blockID": "b", "viewID": "v", "sorts": [{"column": "c"}]}, ["sorts[0].order"]),
        ("file.render", {"engine": "sprig"}, ["template"]),
        ("file.upload_asset", {}, ["localFilePath"]),
        ("search.query_sql", {"sql": "SELECT 1"}, []),
        ("search.query_sql", {"stmt": ""}, ["stmt"]),
        ("search.search_assets", {}, ["k"]),
        ("timeline.list_nodes", {"scope": "all", "pageSize": 101}, ["pageSize", "documentId"]),
        ("flashcard.list_cards", {"scope": "all", "filter": "due", "deckID": "d"}, [""]),
        ("flashcard.list_cards", {"scope": "tree", "filter": "due"}, ["rootID"]),
        ("flashcard.review_card", {"deckID": "d", "cardID": "c"}, ["rating"]),
        ("flashcard.remove_card", {"deckID": "d", "blockID": "b"}, []),
        ("feedback.submit", {"description": "x" * 4001}, ["description"]),
        ("feedback.submit", {"description": "x" * 4000}, []),
    ],
)
def test_each_fault_is_named_by_its_path(key: str, arguments: dict[str, Any], paths: list[str]) -> None:
    assert faults(key, **arguments) == paths


def test_what_belongs_to_the_call_and_what_is_unknown_is_left_out() -> None:
    arguments = {"action": "ls", "path": "/", "confirm": True, "validateOnly": True, "requestId": "ab12", "odd": 1}
    assert validated(ACTIONS["fs.ls"], arguments) == {"path": "/"}


def test_defaults_are_filled_in_and_aliases_become_what_they_stand_for() -> None:
    assert validated(ACTIONS["fs.tree"], {"path": "/"}) == {"path": "/", "maxDepth": 3}
    assert validated(ACTIONS["block.word_count"], {"id": "a"}) == {"ids": ["a"]}
    assert validated(ACTIONS["search.get_backlinks"], {"id": "a", "scopeRootId": "r"})["refTreeID"] == "r"


def test_of_two_spellings_that_differ_the_call_is_refused_but_where_one_of_them_wins() -> None:
    assert faults("av.get", avID="a", id="b") == ["id"]
    assert faults("search.search_assets", k="a", query="b") == ["query"]
    assert validated(ACTIONS["search.query_sql"], {"stmt": "a", "sql": "b"})["stmt"] == "b"
    asked = {"id": "a", "refTreeID": "r", "scopeRootId": "s"}
    assert validated(ACTIONS["search.get_backlinks"], asked)["refTreeID"] == "s"
    assert validated(ACTIONS["file.upload_asset"], {"file": "/x"})["localFilePath"] == "/x"
    for action in ACTIONS.values():
        assert action.winning <= set(action.aliases), action.key


def test_a_whole_float_counts_as_a_whole_number() -> None:
    assert faults("fs.tree", path="/", maxDepth=3.0) == []
    assert faults("fs.tree", path="/", maxDepth=3.5) == ["maxDepth"]


def test_a_whole_float_becomes_the_whole_number_that_it_is() -> None:
    depth = validated(ACTIONS["fs.tree"], {"path": "/", "maxDepth": 3.0})["maxDepth"]
    assert (depth, type(depth)) == (3, int)
    page = validated(ACTIONS["block.get_children"], {"id": "a", "pageSize": 1.0})["pageSize"]
    assert (page, type(page)) == (1, int)


def test_whole_numbers_are_found_in_lists_objects_and_forms_and_others_are_left_alone() -> None:
    integer, number = {"type": "integer"}, {"type": "number"}
    schema = {
        "type": "object",
        "properties": {"list": {"type": "array", "items": integer}, "form": {"anyOf": [{"type": "string"}, integer]}},
        "additionalProperties": number,
    }
    value = {"list": [1.0, 2], "form": 4.0, "other": 5.0}
    assert repr(_whole(schema, value)) == "{'list': [1, 2], 'form': 4, 'other': 5.0}"
    assert repr(_whole({}, {"any": [1.0, "x"]})) == "{'any': [1.0, 'x']}"
    assert repr(_whole({"type": "array", "items": {"type": "string"}}, ["x"])) == "['x']"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.sampled_from(sorted(ACTIONS)), st.data())
def test_no_value_makes_validation_itself_fail(key: str, data: st.DataObject) -> None:
    names = [argument.name for argument in ACTIONS[key].arguments] or ["x"]
    found = faults(key, **data.draw(st.dictionaries(st.sampled_from(names), json_values, max_size=4)))
    assert all(isinstance(part, str) for fault in found for part in fault)


@settings(deadline=None)
@given(json_values)
def test_an_empty_schema_takes_anything(value: Any) -> None:
    assert list(check({}, value, "x")) == []
