"""[core] The nested argument schemas of ``av``. Filters are unrolled: a client that cannot resolve $ref must read them."""

from __future__ import annotations

from typing import Any, Final

from kernel.tools.registry.signature import ID_PATTERN, Schema, record, record_of

KEY_TYPES: Final = [
    "text",
    "number",
    "date",
    "select",
    "mSelect",
    "url",
    "email",
    "phone",
    "mAsset",
    "template",
    "created",
    "updated",
    "checkbox",
    "relation",
    "rollup",
    "lineNumber",
]
VALUE_TYPES: Final = [
    "text",
    "number",
    "date",
    "checkbox",
    "select",
    "multi_select",
    "relation",
    "url",
    "email",
    "phone",
    "mAsset",
]
# Which arguments carry the value of a cell of this type; one of them must be given.
CELL_VALUE_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("text",),
    "number": ("number",),
    "date": ("date",),
    "checkbox": ("checked",),
    "select": ("option",),
    "multi_select": ("options",),
    "url": ("url",),
    "email": ("email",),
    "phone": ("phone",),
    "mAsset": ("assets",),
}
FILTER_GROUP_LEVELS: Final = 4
_OPERATORS: Final = [
    "=", "!=", ">", ">=", "<", "<=", "Contains", "Does not contains", "Is empty", "Is not empty", "Starts with",
    "Ends with", "Is between", "Is true", "Is false",
]  # fmt: skip
_FILTER_VALUE_TYPES: Final = [
    "block",
    "text",
    "number",
    "date",
    "select",
    "mSelect",
    "url",
    "email",
    "phone",
    "mAsset",
    "template",
    "created",
    "updated",
    "checkbox",
    "relation",
    "rollup",
]

_TEXT: Final[Schema] = {"type": "string"}
_ID: Final[Schema] = {"type": "string", "pattern": ID_PATTERN}
_DATE: Final[Schema] = {"anyOf": [{"type": "string"}, {"type": "number"}]}
_ASSET: Final[Schema] = record(
    {"type": {"type": "string", "enum": ["image", "file"]}, "content": _TEXT, "name": _TEXT}, ("type", "content")
)
_VALUE_TYPE: Final[Schema] = {"type": "string", "enum": VALUE_TYPES}
CELL: Final[Schema] = record_of(
    "rowID* text; columnID* text; valueType* @valueType; text text; number number; numberFormat text; date @date; "
    "endDate @date; includeTime bool; checked bool; option text; options [text]; relationBlockIDs [text]; url text; "
    "email text; phone text; assets [@asset]",
    {"valueType": _VALUE_TYPE, "date": _DATE, "asset": _ASSET},
)


def _content(**more: Schema) -> Schema:
    return record({"content": _TEXT, **more}, ("content",))


def _filter_value() -> Schema:
    number: Schema = {"type": "number"}
    flag: Schema = {"type": "boolean"}
    value = record(
        {
            "type": {"type": "string", "enum": _FILTER_VALUE_TYPES},
            "text": _content(),
            "number": record(
                {"content": number, "isNotEmpty": flag, "format": _TEXT, "formattedContent": _TEXT}, ("content",)
            ),
            "date": record(
                {"content": number, "content2": number, "isNotEmpty": flag, "isNotTime": flag, "hasEndDate": flag},
                ("content",),
            ),
            "mSelect": {"type": "array", "items": _content(color=_TEXT)},
            "checkbox": record({"checked": flag}, ("checked",)),
            "url": _content(),
            "email": _content(),
            "phone": _content(),
            "relation": record({"contents": {"type": "array", "items": {}}}),
        },
        ("type",),
    )
    return {"anyOf": [{"type": "null"}, value]}


def _filter(level: int) -> Schema:
    relative = record_of("count* int; unit* int 0..3; direction* int -1..1")
    properties: dict[str, Schema] = {
        "column": {"type": "string", "minLength": 1},
        "quantifier": {"type": "string", "enum": ["Any", "All", "None"]},
        "operator": {"type": "string", "enum": _OPERATORS},
        "value": _filter_value(),
        "relativeDate": relative,
        "relativeDate2": relative,
    }
    if level:
        properties["combination"] = {"type": "string", "enum": ["and", "or"]}
        properties["filters"] = {"type": "array", "items": _filter(level - 1)}
    return record(properties)


FILTERS: Final[Schema] = {"type": "array", "items": _filter(FILTER_GROUP_LEVELS)}


def named_schemas() -> dict[str, Schema]:
    """What the signatures of this tool name with ``@``."""
    template: dict[str, Any] = {
        "id": _ID,
        "name": {"type": "string", "minLength": 1},
        "targetType": {"type": "string", "enum": ["detached", "document"]},
        "icon": _TEXT,
        "primaryKeyTemplate": _TEXT,
        "fieldValues": {
            "type": "object",
            "additionalProperties": record(
                {
                    "mode": {"type": "string", "enum": ["static", "currentTime"]},
                    "value": {"type": "object", "additionalProperties": True},
                },
                ("mode",),
            ),
        },
        "saveLocation": record_of("pathTemplate* text; boxID text"),
        "contentTemplatePath": _TEXT,
    }
    return {
        "keyType": {"type": "string", "enum": KEY_TYPES},
        "valueType": _VALUE_TYPE,
        "date": _DATE,
        "asset": _ASSET,
        "cell": CELL,
        "option": record_of("name* text+; color text; desc text"),
        "sort": record_of("column* text+; order* ASC|DESC"),
        "group": record(
            {
                "field": _TEXT,
                "method": {"type": "integer", "minimum": 0, "maximum": 6},
                "order": {"type": "integer", "minimum": 0, "maximum": 3},
                "hideEmpty": {"type": "boolean"},
                "range": record(
                    {
                        "numStart": {"type": "number"},
                        "numEnd": {"type": "number"},
                        "numStep": {"type": "number", "exclusiveMinimum": 0},
                    },
                    ("numStart", "numEnd", "numStep"),
                ),
            },
            ("field", "method", "order", "hideEmpty"),
        ),
        "template": record(template, ("id", "name", "targetType")),
        "idOrNone": {"anyOf": [_ID, {"type": "string", "enum": [""]}]},
    }
