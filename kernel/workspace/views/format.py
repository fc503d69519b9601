"""[core] The file of a database, ``data/storage/av/<id>.json``, spec 5: its records, field by field (siyuan-api A12).

In memory every record has all its fields; what holds nothing is left out when it is written.
"""

from __future__ import annotations

import copy
from typing import Any, Final, TypeVar

from kernel.workspace.go_struct import (
    BOOL,
    FLOAT,
    INT,
    INT64,
    TEXT,
    ListOf,
    MapOf,
    Optional,
    Record,
    read,
    written,
    zero,
)

Json = dict[str, Any]
_Any = TypeVar("_Any")

CURRENT_SPEC: Final = 5
DEFAULT_PAGE_SIZE: Final = 50
# A view's cards show by default the first picture of their block, at middle size.
COVER_NONE: Final = 0
COVER_IMAGE: Final = 1
COVER_ASSET: Final = 2
COVER_BLOCK: Final = 3
CARD_SIZE_MEDIUM: Final = 1

LAYOUTS: Final = ("table", "gallery", "kanban")
# Where each layout keeps its fields.
FIELDS_OF_LAYOUT: Final = {"table": "columns", "gallery": "fields", "kanban": "fields"}
VIEW_NAMES: Final = {"table": "Table", "gallery": "Card", "kanban": "Kanban"}
PRIMARY_KEY_NAME: Final = "Primary Key"
SELECT_KEY_NAME: Final = "Select"

# Key types that can be added; the primary key has the type "block".
KEY_TYPES: Final = (
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
)
# A mark on values that rendering has filled in; they are never stored.
FILLED: Final = "_filled"


def _record(name: str, fields: Json, omitted: str = "") -> Record:
    return Record(f"av.{name}", fields, frozenset(omitted.split()))


def _content(name: str) -> Optional:
    return Optional(_record(name, {"content": TEXT}))


_SELECTION: Final = _record("ValueSelect", {"content": TEXT, "color": TEXT})
_ASSET: Final = _record("ValueAsset", {"type": TEXT, "name": TEXT, "content": TEXT})
_TIME_FIELDS: Final[Json] = {
    "content": INT64,
    "isNotEmpty": BOOL,
    "content2": INT64,
    "isNotEmpty2": BOOL,
    "formattedContent": TEXT,
}

DATE: Final = _record(
    "ValueDate",
    {
        "content": INT64,
        "isNotEmpty": BOOL,
        "hasEndDate": BOOL,
        "isNotTime": BOOL,
        "content2": INT64,
        "isNotEmpty2": BOOL,
        "formattedContent": TEXT,
    },
)
VALUE: Final = _record(
    "Value",
    {
        "id": TEXT,
        "keyID": TEXT,
        "blockID": TEXT,
        "type": TEXT,
        "isDetached": BOOL,
        "createdAt": INT64,
        "updatedAt": INT64,
        "block": Optional(
            _record(
                "ValueBlock",
                {"id": TEXT, "icon": TEXT, "content": TEXT, "created": INT64, "updated": INT64},
                "id icon created updated",
            )
        ),
        "text": _content("ValueText"),
        "number": Optional(
            _record("ValueNumber", {"content": FLOAT, "isNotEmpty": BOOL, "format": TEXT, "formattedContent": TEXT})
        ),
        "date": Optional(DATE),
        "mSelect": ListOf(_SELECTION, is_optional=True),
        "url": _content("ValueURL"),
        "email": _content("ValueEmail"),
        "phone": _content("ValuePhone"),
        "mAsset": ListOf(_ASSET, is_optional=True),
        "template": _content("ValueTemplate"),
        "created": Optional(_record("ValueCreated", dict(_TIME_FIELDS))),
        "updated": Optional(_record("ValueUpdated", dict(_TIME_FIELDS))),
        "checkbox": Optional(_record("ValueCheckbox", {"checked": BOOL})),
    },
    "id keyID blockID type isDetached createdAt updatedAt block text number date mSelect url email phone mAsset "
    "template created updated checkbox relation rollup",
)
# A relation and a rollup hold values in turn.
VALUE.fields["relation"] = Optional(
    _record("ValueRelation", {"blockIDs": ListOf(TEXT), "contents": ListOf(VALUE, is_optional=True)})
)
VALUE.fields["rollup"] = Optional(_record("ValueRollup", {"contents": ListOf(VALUE, is_optional=True)}))

OPTION: Final = _record("SelectOption", {"name": TEXT, "color": TEXT, "desc": TEXT})
CALC: Final = _record("FieldCalc", {"operator": TEXT, "result": Optional(VALUE), "template": TEXT}, "template")
_ROLLUP_CALC: Final = _record("RollupCalc", {"operator": TEXT, "result": Optional(VALUE)})
RELATION: Final = _record("Relation", {"avID": TEXT, "isTwoWay": BOOL, "backKeyID": TEXT})
ROLLUP: Final = _record("Rollup", {"relationKeyID": TEXT, "keyID": TEXT, "calc": Optional(_ROLLUP_CALC)})
DATE_RULE: Final = _record("Date", {"autoFillNow": BOOL, "fillSpecificTime": BOOL})
TIME_RULE: Final = _record("Created", {"includeTime": BOOL})
KEY: Final = _record(
    "Key",
    {
        "id": TEXT,
        "name": TEXT,
        "type": TEXT,
        "icon": TEXT,
        "desc": TEXT,
        "options": ListOf(OPTION, is_optional=True),
        "numberFormat": TEXT,
        "template": TEXT,
        "relation": Optional(RELATION),
        "rollup": Optional(ROLLUP),
        "date": Optional(DATE_RULE),
        "created": Optional(TIME_RULE),
        "updated": Optional(TIME_RULE),
    },
    "options relation rollup date created updated",
)
KEY_VALUES: Final = _record("KeyValues", {"key": Optional(KEY), "values": ListOf(VALUE, is_optional=True)}, "values")

_RELATIVE_DATE: Final = _record("RelativeDate", {"count": INT, "unit": INT, "direction": INT})
FILTER: Final = _record(
    "ViewFilter",
    {
        "column": TEXT,
        "quantifier": TEXT,
        "operator": TEXT,
        "value": Optional(VALUE),
        "relativeDate": Optional(_RELATIVE_DATE),
        "relativeDate2": Optional(_RELATIVE_DATE),
        "combination": TEXT,
    },
    "quantifier relativeDate relativeDate2 combination filters",
)
FILTER.fields["filters"] = ListOf(FILTER, is_optional=True)
FILTERS: Final = ListOf(FILTER, is_optional=True)
SORTS: Final = ListOf(_record("ViewSort", {"column": TEXT, "order": TEXT}), is_optional=True)
_RANGE: Final = _record("GroupRange", {"numStart": FLOAT, "numEnd": FLOAT, "numStep": FLOAT})
GROUP: Final = _record(
    "ViewGroup", {"field": TEXT, "method": INT, "range": Optional(_RANGE), "order": INT, "hideEmpty": BOOL}, "range"
)
GROUP_CALC: Final = _record("GroupCalc", {"field": TEXT, "calc": Optional(CALC)})

_FIELD: Final[Json] = {"id": TEXT, "wrap": BOOL, "hidden": BOOL, "desc": TEXT, "calc": Optional(CALC)}
FIELD: Final = _record("BaseField", dict(_FIELD), "desc calc")
COLUMN: Final = _record("ViewTableColumn", {**_FIELD, "pin": BOOL, "width": TEXT, "align": TEXT}, "desc calc align")
# What older specs kept in a layout.
_FORMER: Final[Json] = {"filters": FILTERS, "sorts": SORTS, "pageSize": INT}
_LAYOUT: Final[Json] = {"spec": INT, "id": TEXT, "showIcon": BOOL, "wrapField": BOOL, **_FORMER}
_CARDS: Final[Json] = {
    "coverFrom": INT,
    "coverFromAssetKeyID": TEXT,
    "cardAspectRatio": INT,
    "cardSize": INT,
    "fitImage": BOOL,
    "displayFieldName": BOOL,
}
_TABLE: Final = _record(
    "LayoutTable",
    {**_LAYOUT, "columns": ListOf(COLUMN, is_optional=True), "rowIds": ListOf(TEXT)},
    "filters sorts pageSize",
)
_GALLERY: Final = _record(
    "LayoutGallery",
    {**_LAYOUT, **_CARDS, "fields": ListOf(FIELD, is_optional=True), "cardIds": ListOf(TEXT)},
    "filters sorts pageSize coverFromAssetKeyID",
)
_KANBAN: Final = _record(
    "LayoutKanban",
    {**_LAYOUT, **_CARDS, "fillColBackgroundColor": BOOL, "fields": ListOf(FIELD, is_optional=True)},
    "filters sorts pageSize coverFromAssetKeyID",
)
LAYOUT_RECORDS: Final = {"table": _TABLE, "gallery": _GALLERY, "kanban": _KANBAN}
VIEW: Final = _record(
    "View",
    {
        "id": TEXT,
        "icon": TEXT,
        "name": TEXT,
        "hideAttrViewName": BOOL,
        "desc": TEXT,
        "filters": FILTERS,
        "sorts": SORTS,
        "pageSize": INT,
        "type": TEXT,
        "table": Optional(_TABLE),
        "gallery": Optional(_GALLERY),
        "kanban": Optional(_KANBAN),
        "itemIds": ListOf(TEXT),
        "group": Optional(GROUP),
        "groupCreated": INT64,
    },
    "filters sorts table gallery kanban itemIds group groups groupCalc groupKey groupVal",
)
VIEW.fields.update(
    {
        "groups": ListOf(VIEW, is_optional=True),
        "groupItemIds": ListOf(TEXT),
        "groupCalc": Optional(GROUP_CALC),
        "groupKey": Optional(KEY),
        "groupVal": Optional(VALUE),
        "groupFolded": BOOL,
        "groupHidden": INT,
        "groupSort": INT,
    }
)

_PRESET: Final = _record("NewItemFieldValue", {"mode": TEXT, "value": Optional(VALUE)}, "value")
_SAVE_LOCATION: Final = _record("NewItemSaveLocation", {"boxID": TEXT, "pathTemplate": TEXT}, "boxID")
ITEM_TEMPLATE: Final = _record(
    "NewItemTemplate",
    {
        "id": TEXT,
        "name": TEXT,
        "icon": TEXT,
        "targetType": TEXT,
        "primaryKeyTemplate": TEXT,
        "fieldValues": MapOf(Optional(_PRESET)),
        "saveLocation": Optional(_SAVE_LOCATION),
        "contentTemplatePath": TEXT,
    },
    "icon primaryKeyTemplate fieldValues saveLocation contentTemplatePath",
)
ITEM_TEMPLATES: Final = ListOf(ITEM_TEMPLATE, is_optional=True)
TEMPLATES_CONFIG: Final = _record(
    "NewItemTemplatesConfig", {"templates": ITEM_TEMPLATES, "defaultTemplateID": TEXT}, "defaultTemplateID"
)
DATABASE: Final = _record(
    "AttributeView",
    {
        "spec": INT,
        "id": TEXT,
        "name": TEXT,
        "keyValues": ListOf(KEY_VALUES, is_optional=True),
        "keyIDs": ListOf(TEXT),
        "viewID": TEXT,
        "views": ListOf(VIEW, is_optional=True),
        "newItemTemplates": ITEM_TEMPLATES,
        "defaultTemplateID": TEXT,
    },
    "newItemTemplates defaultTemplateID",
)


def made(kind: Record, **fields: Any) -> Json:
    """A record with all its fields, the given ones set."""
    record: Json = zero(kind)
    record.update(fields)
    return record


def cloned_value(value: Json) -> Json:
    """A copy of a value as it would be read back."""
    copied: Json = read(VALUE, written(VALUE, value))
    return copied


def empty_root() -> Json:
    """The filter of a view that filters nothing."""
    return made(FILTER, combination="and")


def new_layout(layout: str, layout_id: str) -> Json:
    """A layout without fields."""
    record = made(LAYOUT_RECORDS[layout], id=layout_id, showIcon=True)
    if layout != "table":
        record.update(coverFrom=COVER_IMAGE, cardSize=CARD_SIZE_MEDIUM)
    return record


def new_view(layout: str, view_id: str, layout_id: str) -> Json:
    """A view without fields."""
    return made(
        VIEW,
        id=view_id,
        name=VIEW_NAMES[layout],
        filters=[empty_root()],
        sorts=[],
        pageSize=DEFAULT_PAGE_SIZE,
        type=layout,
        **{layout: new_layout(layout, layout_id)},
    )


def new_field(layout: str, key_id: str, **fields: Any) -> Json:
    """A field of a view."""
    return made(COLUMN if layout == "table" else FIELD, id=key_id, **fields)


def fields_of(view: Json, layout: str = "") -> list[Json]:
    """A view's fields in its layout (or in another one it has had); the list itself. An unknown layout is a table."""
    layout = layout or view["type"]
    if layout not in FIELDS_OF_LAYOUT:
        layout = "table"
    held = view[layout]
    name = FIELDS_OF_LAYOUT[layout]
    if held[name] is None:
        held[name] = []
    fields: list[Json] = held[name]
    return fields


def copied(record: _Any) -> _Any:
    """A copy that shares nothing with a record, or a list of them."""
    return copy.deepcopy(record)
