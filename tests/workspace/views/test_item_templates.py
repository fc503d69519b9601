"""Templates for new items: what they may say, and what is left of them when keys, options and items go."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kernel.workspace.views.database import Database, ViewError, new_database, new_key
from kernel.workspace.views.format import KEY_VALUES, VALUE, made
from kernel.workspace.views.item_templates import (
    forget_items,
    forget_key,
    forget_option,
    rename_option,
    set_templates,
    template_of,
    templates_of,
)
from kernel.workspace.views.moments import Moment, unix_ms
from tests.workspace.views.world import AV, ITEMS, OTHER, chosen, number, text

KINDS = ("text", "number", "select", "mSelect", "date", "relation", "template")


@pytest.fixture
def database() -> Database:
    ids = (f"20240101000000-made{at:03}" for at in range(99))
    found = new_database(AV, Moment(unix_ms(datetime(2026, 3, 1, tzinfo=UTC)), UTC, lambda: next(ids)))
    for kind in KINDS:
        key = new_key(kind, kind, kind)
        if kind == "relation":
            key["relation"] = {"avID": OTHER, "isTwoWay": False, "backKeyID": ""}
        found.columns().append(made(KEY_VALUES, key=key))
    return found


def template(at: int = 0, **fields: Any) -> dict[str, Any]:
    return {"id": ITEMS[at], "name": "Plan", "targetType": "detached", **fields}


def preset(kind: str, **value: Any) -> dict[str, Any]:
    return {kind: {"mode": "static", "value": {"type": kind, **value}}}


def give(database: Database, *templates: dict[str, Any] | None, default: str = "") -> None:
    set_templates(database, {"templates": list(templates), "defaultTemplateID": default})


def presets_of(database: Database) -> dict[str, Any]:
    found = template_of(database, ITEMS[0])
    assert found is not None
    return found["fieldValues"] or {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (template(name=" "), "new item template name is empty"),
        (template(id="bad"), "invalid new item template id [bad]"),
        (template(targetType="block"), "invalid new item template target type [block]"),
        (template(fieldValues=preset("gone")), "new item template field [gone] not found"),
        (
            template(fieldValues=preset("template")),
            "new item template field [template] type [template] is not editable",
        ),
        (
            template(fieldValues={"text": {"mode": "currentTime"}}),
            "new item template field [text] current time mode requires date type",
        ),
        (template(fieldValues={"text": {"mode": "odd"}}), "invalid new item template field value mode [odd]"),
        (
            template(fieldValues=preset("text")),
            "new item template field [text] value is invalid: text value is missing",
        ),
        (template(name=5), "json: cannot unmarshal number into Go struct field"),
    ],
)
def test_a_template_that_says_what_it_must_not_is_refused(
    database: Database, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ViewError) as refused:
        give(database, given)
    assert str(refused.value).startswith(message)
    assert templates_of(database) == []


def test_ids_are_taken_once_and_the_default_is_one_of_them(database: Database) -> None:
    with pytest.raises(ViewError, match="duplicated new item template id"):
        give(database, template(), template())
    with pytest.raises(ViewError, match=r"default new item template .* not found"):
        give(database, template(), default=ITEMS[1])
    give(database, template(), None, template(1), default=ITEMS[1])
    assert [one["id"] for one in templates_of(database)] == ITEMS[:2]
    assert database.data["defaultTemplateID"] == ITEMS[1]
    give(database)
    assert database.data["newItemTemplates"] is None


def test_what_a_template_says_is_put_in_order(database: Database) -> None:
    values = {
        **preset("text", **text("a"), number={"content": 1}),
        "number": {"value": {"type": "text", **number(2)}},
        "date": {"mode": "currentTime", "value": {"type": "date"}},
        "select": {"mode": "static"},
        "mSelect": None,
    }
    place = {"boxID": " b ", "pathTemplate": " /p "}
    give(
        database,
        template(name=" Plan ", icon="1f600", saveLocation=place, fieldValues=values),
        template(1, targetType="document", icon=" 1f600 ", contentTemplatePath=" c "),
    )
    first, second = templates_of(database)
    assert (first["name"], first["icon"], second["icon"]) == ("Plan", "", "1f600")
    assert first["saveLocation"] == {"boxID": "b", "pathTemplate": "/p"}
    assert second["contentTemplatePath"] == "c"
    assert second["fieldValues"] is None
    assert sorted(first["fieldValues"]) == ["date", "number", "text"]
    assert first["fieldValues"]["text"]["value"] == made(VALUE, type="text", **text("a"))
    assert first["fieldValues"]["number"]["value"]["type"] == "number"
    assert first["fieldValues"]["date"] == {"mode": "currentTime", "value": None}


def test_a_key_that_goes_takes_its_presets_along(database: Database) -> None:
    give(database, template(fieldValues={**preset("text", **text("a")), **preset("number", **number(1))}), template(1))
    forget_key(database, "text")
    assert list(presets_of(database)) == ["number"]
    forget_key(database, "number")
    assert presets_of(database) == {}


def test_an_option_that_goes_takes_presets_of_it_alone_along(database: Database) -> None:
    values = {**preset("select", **chosen("a")), **preset("mSelect", **chosen("a", "b")), **preset("text", **text("a"))}
    give(database, template(fieldValues=values))
    for key_id in ("select", "mSelect", "text", "number"):
        forget_option(database, key_id, "a")
    assert list(presets_of(database)) == ["mSelect", "text"]
    assert [one["content"] for one in presets_of(database)["mSelect"]["value"]["mSelect"]] == ["b"]


def test_an_option_with_another_name_has_it_in_presets_too(database: Database) -> None:
    give(database, template(fieldValues=preset("mSelect", **chosen("a", "b", "c"))))
    rename_option(database, "mSelect", "a", "b", "9")
    chosen_now = presets_of(database)["mSelect"]["value"]["mSelect"]
    assert chosen_now == [{"content": "b", "color": "9"}, {"content": "c", "color": "3"}]
    give(database, template(fieldValues=preset("mSelect", mSelect=[])))
    rename_option(database, "mSelect", "a", "b", "9")
    assert presets_of(database)["mSelect"]["value"]["mSelect"] is None


def test_items_that_go_are_related_to_no_more(database: Database) -> None:
    give(database, template(fieldValues=preset("relation", relation={"blockIDs": ITEMS[:2]})))
    assert not forget_items(database, AV, ITEMS)
    assert forget_items(database, OTHER, ITEMS[:1])
    assert presets_of(database)["relation"]["value"]["relation"]["blockIDs"] == ITEMS[1:2]
    assert not forget_items(database, OTHER, ITEMS[:1])
    assert forget_items(database, OTHER, ITEMS[1:2])
    assert presets_of(database) == {}


def test_a_preset_of_no_relation_is_left_alone(database: Database) -> None:
    give(database, template(fieldValues=preset("relation", relation={"blockIDs": None})))
    presets_of(database)["relation"]["value"]["relation"] = None
    assert not forget_items(database, OTHER, ITEMS)
    assert list(presets_of(database)) == ["relation"]
