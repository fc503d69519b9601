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
        "block.insert": "previousID dataType data",
        "block.update": "id dataType data",
        "block.replace": "edit",
        "block.move": "id previousID",
        "block.docs_info": "id",
        "av.get": "avID",
        "av.get_attribute_view_keys": "avID",
        "av.get_attribute_view_filter_sort": "avID",
        "av.add_rows": "blockIDs",
        "av.remove_column": "keyID",
        "av.set_cells": "rowID columnID valueType text",
        "file.upload_asset": "uploadSource",
        "file.render": "id path",
        "file.export_markdown_snapshot": "documentIDs",
        "file.read_image": "id",
        "search.query_sql": "stmt",
        "search.search_assets": "query",
        "search.fulltext_asset_content": "query",
        "flashcard.review_card": "rating",
    }
)
# Values that say more than "…" where any text would do, by the argument's name.
_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "stmt": "SELECT id, content FROM blocks LIMIT 10",
        "uploadSource": "0" * 64,
        "orderedPaths": "/Notebook/Document",
        "icon": "1f4d4",
    }
)
# Values of open shapes whose members depend on each other.
_WHOLE: Final[Mapping[str, Any]] = MappingProxyType({"filters": [{"column": ID, "operator": "="}]})
_PLAIN: Final[Mapping[str, Any]] = MappingProxyType({"boolean": True, "array": [], "object": {}})


def example(action: Action) -> dict[str, Any]:
    """A call that fits the row: ``action`` and its arguments, ids in the form of ids."""
    also = _ALSO.get(action.key, "").split()
    call: dict[str, Any] = {"action": action.name}
    for argument in action.arguments:
        if argument.name in also or (argument.is_required and not argument.is_hidden):
            call[argument.name] = _value(argument.name, argument.schema)
    return call


def also_needed() -> Mapping[str, str]:
    """Action key → the optional arguments of its example."""
    return _ALSO


def _value(name: str, schema: Schema) -> Any:
    if name in _WHOLE:
        return _WHOLE[name]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(name, schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object" and schema.get("required"):
        return {field: _value(field, schema["properties"][field]) for field in schema["required"]}
    if kind == "array" and schema.get("items"):
        return [_value(name, schema["items"])]
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    return _PLAIN.get(str(kind)) if kind in _PLAIN else _text(name, schema)


def _text(name: str, schema: Schema) -> str:
    is_id = schema.get("pattern") == ID_PATTERN or name.lower().removesuffix("s").endswith("id")
    return ID if is_id else _TEXTS.get(name, "…")
