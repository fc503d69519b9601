"""[core] Templates for new items: their rules, and keeping them true when keys, options and items go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.views.database import ViewError
from kernel.workspace.views.format import TEMPLATES_CONFIG, VALUE, Json, made
from kernel.workspace.views.values import member_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.workspace.views.database import Database

TARGETS: Final = ("detached", "document")
STATIC: Final = "static"
CURRENT_TIME: Final = "currentTime"
_EDITABLE: Final = [
    "text",
    "number",
    "date",
    "select",
    "mSelect",
    "url",
    "email",
    "phone",
    "mAsset",
    "checkbox",
    "relation",
]


def templates_of(database: Database) -> list[Json]:
    return [one for one in database.data["newItemTemplates"] or () if one is not None]


def template_of(database: Database, template_id: str) -> Json | None:
    return next((one for one in templates_of(database) if one["id"] == template_id), None)


def set_templates(database: Database, given: Any) -> None:
    """Put other templates in the place of all. Raises ViewError."""
    try:
        config = read(TEMPLATES_CONFIG, given)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    taken: dict[str, Json] = {}
    for one in config["templates"] or ():
        if one is not None:
            _tidy(database, one, taken)
            taken[one["id"]] = one
    chosen = config["defaultTemplateID"]
    if chosen and chosen not in taken:
        raise ViewError(f"default new item template [{chosen}] not found")
    database.data.update(newItemTemplates=list(taken.values()) or None, defaultTemplateID=chosen)


def _tidy(database: Database, one: Json, taken: dict[str, Json]) -> None:
    for name in ("name", "icon", "contentTemplatePath"):
        one[name] = one[name].strip()
    if not one["name"]:
        raise ViewError("new item template name is empty")
    if not is_node_id(one["id"]):
        raise ViewError(f"invalid new item template id [{one['id']}]")
    if one["id"] in taken:
        raise ViewError(f"duplicated new item template id [{one['id']}]")
    if one["targetType"] not in TARGETS:
        raise ViewError(f"invalid new item template target type [{one['targetType']}]")
    if one["targetType"] != "document":
        one["icon"] = ""
    place = one["saveLocation"]
    if place is not None:
        place.update({name: text.strip() for name, text in place.items()})
    presets = {}
    for key_id, preset in (one["fieldValues"] or {}).items():
        key = database.key(key_id)
        if key is None:
            raise ViewError(f"new item template field [{key_id}] not found")
        if key["type"] not in _EDITABLE:
            raise ViewError(f"new item template field [{key_id}] type [{key['type']}] is not editable")
        if preset is not None and _is_preset(key, key_id, preset):
            presets[key_id] = preset
    one["fieldValues"] = presets or None


def _is_preset(key: Json, key_id: str, preset: Json) -> bool:
    """Whether a preset holds something. Raises ViewError."""
    preset["mode"] = preset["mode"] or STATIC
    if preset["mode"] == CURRENT_TIME:
        if key["type"] != "date":
            raise ViewError(f"new item template field [{key_id}] current time mode requires date type")
        preset["value"] = None
        return True
    if preset["mode"] != STATIC:
        raise ViewError(f"invalid new item template field value mode [{preset['mode']}]")
    if preset["value"] is None:
        return False
    member = member_of(key["type"])
    if preset["value"][member] is None:
        said = f"{key['type']} value is missing"
        raise ViewError(f"new item template field [{key_id}] value is invalid: {said}")
    preset["value"] = made(VALUE, type=key["type"], **{member: preset["value"][member]})
    return True


def _update_presets(database: Database, key_ids: list[str], update: Callable[[Json], bool]) -> bool:
    """Change the fixed values for some keys; presets that are left empty go. Whether anything has changed."""
    has_changed = False
    for template in templates_of(database):
        presets = template["fieldValues"] or {}
        for key_id in key_ids:
            preset = presets.get(key_id)
            if preset is None or preset["mode"] != STATIC or preset["value"] is None:
                continue
            before = repr(preset["value"])
            if not update(preset["value"]):
                del presets[key_id]
            has_changed = has_changed or before != repr(preset["value"]) or key_id not in presets
        template["fieldValues"] = presets or None
    return has_changed


def forget_key(database: Database, key_id: str) -> None:
    """A key is gone, or of another type."""
    for template in templates_of(database):
        presets = {name: one for name, one in (template["fieldValues"] or {}).items() if name != key_id}
        template["fieldValues"] = presets or None


def forget_option(database: Database, key_id: str, name: str) -> None:
    def update(value: Json) -> bool:
        if value["type"] not in ("select", "mSelect"):
            return True
        value["mSelect"] = [one for one in value["mSelect"] or () if one["content"] != name]
        return bool(value["mSelect"])

    _update_presets(database, [key_id], update)


def rename_option(database: Database, key_id: str, old: str, new: str, color: str) -> None:
    def update(value: Json) -> bool:
        kept: dict[str, Json] = {}
        for one in value["mSelect"] or ():
            if one["content"] == old:
                one.update(content=new, color=color)
            kept.setdefault(one["content"], one)
        value["mSelect"] = list(kept.values()) or None
        return True

    _update_presets(database, [key_id], update)


def forget_items(database: Database, target_id: str, item_ids: list[str]) -> bool:
    """Items of a database are gone: templates relate to them no more. Whether any did."""
    keys = [
        key["id"]
        for key in database.all_keys()
        if key["type"] == "relation" and key["relation"] is not None and key["relation"]["avID"] == target_id
    ]

    def update(value: Json) -> bool:
        if value["relation"] is None:
            return True
        rest = [one for one in value["relation"]["blockIDs"] or () if one not in item_ids]
        value["relation"]["blockIDs"] = rest or None
        return bool(rest)

    return _update_presets(database, keys, update)
