"""[core] One valid call of each action, for its help: made from the row, so that it cannot fall out of step."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from kernel.tools.registry.model import Action
from kernel.tools.registry.signature import ID_PATTERN, Schema

ID: Final = "20260101120000-abcdefg"
# Which optional arguments a call needs beside the required ones: one of several ways to name a target, mostly.
_ALSO: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fs.replace": "edit",
        "document.create": "path",
        "document.lookup": "id",
        "document.rename": "id",
        "document.remove": "id",
        "document.move": "fromIDs toID",
        "document.heading_to_doc": "targetPath",
        "block.insert": "previousID dataType data",
        "block.update": "id dataType data",
        "block.replace": "edit",
        "block.move": "id previousID",
        "block.docs_info": "id",
        "av.get": "avID",
        "av.render": "avID",
        "av.get_attribute_view_keys": "avID",
        "av.get_attribute_view_filter_sort": "avID",
        "av.add_rows": "blockIDs",
        "av.remove_column": "keyID",
        "av.set_cells": "rowID columnID valueType text",
        "file.upload_asset": "uploadSource",
        "file.render": "id path",
        "file.export_markdown_snapshot": "documentIDs",
        "file.read_image": "id",
        "file.get_image_ocr_text": "path",
        "search.query_sql": "stmt",
        "search.search_assets": "query",
        "search.fulltext_asset_content": "query",
        "flashcard.review_card": "rating",
    }
)
# What an argument usually holds, by its name.
_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "path": "/Notebook/Document",
        "orderedPaths": "/Notebook/Document",
        "from": "/Notebook/Document",
        "to": "/Notebook/New title",
        "targetPath": "/",
        "markdown": "Some **text**",
        "data": "Some **text**",
        "title": "New title",
        "name": "New name",
        "icon": "1f4d4",
        "old": "old text",
        "new": "new text",
        "k": "old text",
        "r": "new text",
        "query": "text",
        "keyword": "text",
        "key": "Topic",
        "keyName": "Column",
        "sourceName": "Related to",
        "destinationName": "Related from",
        "text": "text",
        "oldLabel": "project",
        "newLabel": "work",
        "label": "project",
        "tag": "sisyphustimeline_global_First",
        "changeKey": "modified:20260101120000-abcdefg:20260101120000-abcdefg",
        "stmt": "SELECT id, content FROM blocks LIMIT 10",
        "uploadSource": "0" * 64,
        "oldPath": "assets/picture.png",
        "newName": "diagram",
        "expectedRefs": "assets/picture.png",
        "paths": "/data/assets/picture.png",
        "pluginName": "my-plugin",
        "item_id": "milk",
        "msg": "Done",
        "description": "What went wrong, and what was expected",
    }
)
# What it holds in this action.
_OWN: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "fs.ls.path": "/Notebook",
        "fs.tree.path": "/Notebook",
        "fs.search.path": "/Notebook",
        "fs.reorder.path": "/Notebook",
        "notebook.set_conf.conf": {"sortMode": 6},
        "notebook.set_permission.permission": "rw",
        "document.create.path": "/New title",
        "document.list_tree.path": "/",
        "document.set_attr.attrs": {"icon": "1f4d4"},
        "block.set_attrs.attrs": {"custom-status": "done"},
        "file.read_template.path": "weekly.md",
        "file.create_template.path": "weekly.md",
        "file.update_template.path": "weekly.md",
        "file.delete_template.path": "weekly.md",
        "file.render.path": "weekly.md",
        "file.read_image.path": "assets/picture.png",
        "file.get_image_ocr_text.path": "assets/picture.png",
        "file.delete_asset.path": "assets/picture.png",
        "flashcard.review_card.rating": 3,
        "timeline.compare_node.tag": "sisyphustimeline_20260101120000-abcdefg_First",
        "timeline.rollback_document.tag": "sisyphustimeline_20260101120000-abcdefg_First",
        "timeline.rollback_block.tag": "sisyphustimeline_20260101120000-abcdefg_First",
        "av.configure_rollup.calc": {"operator": "Count all"},
        "av.set_filters.filters": [{"column": "20260101120003-abcdefg", "operator": "Is not empty"}],
        "av.set_group.group": {"field": "20260101120003-abcdefg", "method": 0, "order": 0, "hideEmpty": False},
        "av.set_new_item_templates.defaultTemplateID": "20260101120002-abcdefg",
        "extension.validate_package.package": {
            "type": "plugin",
            "manifest": {"name": "my-plugin", "author": "me", "url": "https://example.org", "version": "1.0.0"},
        },
    }
)
_PLAIN: Final[Mapping[str, Any]] = MappingProxyType({"boolean": True, "array": [], "object": {}})
# Arguments that are ids although their names do not end so.
_IDS: Final = frozenset({"notebook", "targetNotebook", "toNotebook", "column", "field"})


def example(action: Action) -> dict[str, Any]:
    """A call that fits the row: ``action`` and its arguments, ids in the form of ids, each argument's its own."""
    also = _ALSO.get(action.key, "").split()
    call: dict[str, Any] = {"action": action.name}
    shown = [one for one in action.arguments if one.name in also or (one.is_required and not one.is_hidden)]
    for index, argument in enumerate(shown):
        own = _OWN.get(f"{action.key}.{argument.name}")
        call[argument.name] = _value(argument.name, argument.schema, index) if own is None else own
    return call


def also_needed() -> Mapping[str, str]:
    """Action key → the optional arguments of its example."""
    return _ALSO


def _value(name: str, schema: Schema, index: int) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(name, schema["anyOf"][0], index)
    kind = schema.get("type")
    if kind == "object" and schema.get("required"):
        return {field: _value(field, schema["properties"][field], index) for field in schema["required"]}
    if kind == "array" and schema.get("items"):
        return [_value(name, schema["items"], index)]
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    return _PLAIN.get(str(kind)) if kind in _PLAIN else _text(name, schema, index)


def _text(name: str, schema: Schema, index: int) -> str:
    if name in _TEXTS:
        return _TEXTS[name]
    is_id = schema.get("pattern") == ID_PATTERN or name in _IDS or name.lower().removesuffix("s").endswith("id")
    if not is_id:
        return "…"
    return ID if index == 0 else f"{ID[:13]}{index}{ID[14:]}"
