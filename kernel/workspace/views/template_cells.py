"""[core] Cells that a template makes of the other cells of their item and of the block's attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.elements import escape_markup
from kernel.workspace.templates.catalogue import functions
from kernel.workspace.templates.errors import TemplateFailed
from kernel.workspace.templates.execution import render
from kernel.workspace.templates.reading import read_template
from kernel.workspace.templates.syntax import Action, Chain, Dot, Literal, Name, Pipeline
from kernel.workspace.views.database import values_in
from kernel.workspace.views.moments import STAMP_LENGTH
from kernel.workspace.views.values import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.workspace.views.database import Database
    from kernel.workspace.views.format import Json
    from kernel.workspace.views.rendered import Field, Item, Rendered
    from kernel.workspace.views.rendering import Around

_LEFT: Final = ".action{"
_RIGHT: Final = "}"
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG: Final = re.compile(r"<(/?)([a-zA-Z0-9]+)[^>]*?>")
_VOID: Final = frozenset({"br", "img", "hr", "input", "meta", "link"})
_NO_VALUE: Final = "<no value>"


def fill_templates(place: Around, database: Database, shown: Rendered) -> None:
    """Each template's text, those that name other templates after them; nothing where one cannot be rendered."""
    columns = _in_order([(at, one) for at, one in enumerate(shown.fields) if one.type == "template"])
    if not columns:
        return
    known = functions(place.moment.now, place.workspace.ids, {})
    stored = _stored(database)
    for at, one in columns:
        for item in shown.items:
            model = _model(place, shown, item, stored.get(item.id, {}))
            try:
                text = render(str(one.key["template"]), model, known, left=_LEFT, right=_RIGHT)
            except TemplateFailed:
                text = ""
            item.values[at]["template"] = {"content": "" if text == _NO_VALUE else _harmless(text)}


def named_keys(place: Around, database: Database, key: Json) -> list[Json]:
    """The keys whose cells a template names outside its branches; the template's own, if it names none of them."""
    source = str(key["template"])
    known = functions(place.moment.now, place.workspace.ids, {})
    try:
        parts = read_template(source, known.keys(), left=_LEFT, right=_RIGHT).parts
    except TemplateFailed:
        return []
    names = {name for part in parts if isinstance(part, Action) for name in _names_in(part.pipeline)}
    return [one for one in database.all_keys() if one["name"] in names] or ([key] if source else [])


def _names_in(pipeline: Pipeline) -> Iterator[str]:
    for command in pipeline.commands:
        for operand in command.operands:
            match operand:
                case Chain(Dot(), (name, *_)):
                    yield name
                case Pipeline():
                    yield from _names_in(operand)
        match command.operands:
            case (Name(), Dot(), Literal(str() as name), *_):
                yield name


def _harmless(text: str) -> str:
    """A text whose elements are all closed, in order, as it is; any other as it reads."""
    rest = _COMMENT.sub("", text)
    opened: list[str] = []
    is_whole = "<!--" not in rest
    for end, tag in _TAG.findall(rest):
        name = tag.lower()
        if name in _VOID:
            continue
        if not end:
            opened.append(name)
        elif not opened or opened.pop() != name:
            is_whole = False
    return text if is_whole and not opened else escape_markup(text)


def _in_order(columns: list[tuple[int, Field]]) -> list[tuple[int, Field]]:
    ordered: list[tuple[int, Field]] = []
    waiting = list(columns)
    while waiting:
        names = [str(one.key["name"]) for _, one in waiting]
        ready = [
            (at, one)
            for at, one in waiting
            if not any(name in str(one.key["template"]) for name in names if name != one.key["name"])
        ]
        ordered += ready or waiting
        waiting = [one for one in waiting if one not in ready] if ready else []
    return ordered


def _stored(database: Database) -> dict[str, dict[str, tuple[Json, Json]]]:
    """Item → key → (key, value)."""
    found: dict[str, dict[str, tuple[Json, Json]]] = {}
    for column in database.columns():
        for value in values_in(column):
            found.setdefault(value["blockID"], {}).setdefault(column["key"]["id"], (column["key"], value))
    return found


def _model(place: Around, shown: Rendered, item: Item, stored: dict[str, tuple[Json, Json]]) -> dict[str, Any]:
    """What a template may name: attributes, times, and the cells by name and by id."""
    cells = dict(stored)
    cells |= {one.id: (one.key, value) for one, value in zip(shown.fields, item.values, strict=True)}
    primary = item.primary
    block = primary["block"] if primary is not None else None
    block_id = block["id"] if block is not None else ""
    is_bound = primary is not None and not primary["isDetached"] and bool(block_id)
    model: dict[str, Any] = dict(place.attributes(block_id)) if is_bound else {}
    model["id"] = model.get("id") or block_id or item.id
    moment = place.moment
    created = moment.of_stamp(str(model["id"])[:STAMP_LENGTH])
    updated = moment.of_stamp(str(model.get("updated", "")))
    if updated is None and block is not None:
        updated = block["updated"]
    model["created"] = moment.now if created is None else moment.local(created)
    model["updated"] = moment.now if updated is None else moment.local(updated)
    by_id: dict[str, Any] = {}
    raw: dict[str, Any] = {}
    for key, value in cells.values():
        name = str(key["name"])
        model |= _named(place, name, value)
        model[f"{name}_raw"] = raw[key["id"]] = value
        by_id[key["id"]] = model.get(name)
    return model | {"id_mod": by_id, "id_mod_raw": raw}


def _named(place: Around, name: str, value: Json) -> dict[str, Any]:
    """One cell under its name, and under others made of it; an empty number or date has none."""
    moment, kind = place.moment, value["type"]
    content = value.get(kind)
    match kind:
        case "number":
            return {name: float(content["content"])} if content is not None and content["isNotEmpty"] else {}
        case "date":
            found: dict[str, Any] = {}
            if content is not None and content["isNotEmpty"]:
                found[name] = moment.local(content["content"])
            if content is not None and content["isNotEmpty2"]:
                found[f"{name}_end"] = moment.local(content["content2"])
            return found
        case "mSelect":
            return {f"{name}_str": text_of(value, moment), name: [one["content"] for one in content or ()]}
        case "relation" | "rollup":
            contents = (content or {}).get("contents") or []
            numbers = [float(one["number"]["content"]) for one in contents if one["type"] == "number"]
            if kind == "rollup" and numbers:
                return {name: numbers}
            return {name: [text_of(one, moment) for one in contents]} if contents else {}
        case "block":
            times = {
                "entryCreated": moment.local(content["created"]) if content is not None else moment.now,
                "entryUpdated": moment.local(content["updated"]) if content is not None else moment.now,
            }
            return {f"{name}_created": moment.now, **times, name: text_of(value, moment)}
        case _:
            return {name: text_of(value, moment)}
