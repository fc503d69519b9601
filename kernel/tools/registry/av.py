"""[core] The rows of tool ``av``: databases (attribute views). Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import ADDITIVE, MANIFEST, READ, READ_UNLESS_CREATED, STATE
from kernel.tools.registry.av_schemas import CELL, CELL_VALUE_FIELDS, FILTERS, named_schemas
from kernel.tools.registry.model import Problem, ToolTable
from kernel.tools.registry.rules import any_of, single_or_batch

_AV: Final = "avID text; ~id text"
_VIEW: Final = "avID* text+; blockID* text+; viewID* text+; ~id text"
_CARRIER: Final = "avID* id; blockID* id"
_ALIAS: Final = {"id": "avID"}
# The reads knew the database as ``id`` first, and still name it so where it is missing.
_NEEDS_AV: Final = any_of("avID", path="id", message="Required: the database, as avID or by its old name id.")
_CELL_FIELDS: Final = tuple(CELL["properties"])


def _cells_have_values(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    cells = arguments.get("cells")
    listed = [("", arguments)] if cells is None else [(f"cells[{i}].", cell) for i, cell in enumerate(cells)]
    for prefix, cell in listed:
        names = CELL_VALUE_FIELDS.get(str(cell.get("valueType")), ())
        if names and not any(cell.get(name) is not None for name in names):
            yield Problem(f"{prefix}{names[0]}", f"Required for valueType {cell['valueType']}.")


def _relation_has_its_own_action(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    cells = arguments.get("cells")
    listed = [("", arguments)] if cells is None else [(f"cells[{i}].", cell) for i, cell in enumerate(cells)]
    for prefix, cell in listed:
        if cell.get("valueType") == "relation":
            yield Problem(f"{prefix}valueType", "Relations are set with set_relation.")


def _names_rows(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    given = [arguments[name] for name in ("blockIDs", "primaryKeyTexts") if name in arguments]
    if given and not any(given):
        yield Problem("blockIDs", "Give at least one of blockIDs and primaryKeyTexts.")


def _table() -> ToolTable:
    av = ToolTable(
        "av",
        "SiYuan Databases",
        "Read and change databases: rows, cells, columns, views, filters, relations, templates.",
        "avID names the database, blockID the block that shows it; rowID and keyID come from render.",
    )
    av.named.update(named_schemas())
    _add_reads(av)
    _add_rows(av)
    _add_cells(av)
    _add_views(av)
    _add_relations(av)
    return av


def _add_reads(av: ToolTable) -> None:
    common: dict[str, Any] = {"tier": "basic", "aliases": _ALIAS}
    av.add("get", READ, "Read a database as it is stored.", f"{_AV}; blockID text", rules=(_NEEDS_AV,), **common)
    av.add(
        "render",
        READ_UNLESS_CREATED,
        "Show a database as a table of rows, or make one in a document with createIfNotExist.",
        f"{_AV}; blockID text; viewID text; page int 1..; pageSize int -1..; query text; groupPaging object; "
        "createIfNotExist bool",
        call_form="avID | createIfNotExist+blockID",
        **common,
    )
    av.add("get_attribute_view_keys", READ, "List a database's columns.", _AV, rules=(_NEEDS_AV,), **common)
    av.add(
        "get_attribute_view_filter_sort",
        READ,
        "Read a view's filters and sorts.",
        f"{_AV}; blockID text",
        rules=(_NEEDS_AV,),
        **common,
    )
    av.add("search", READ, "Find databases by name.", "keyword* text; excludes [text]", tier="basic")


def _add_rows(av: ToolTable) -> None:
    avid = "avID* text; ~id text"
    common: dict[str, Any] = {"aliases": _ALIAS}
    av.add(
        "add_rows",
        ADDITIVE,
        "Add rows: bound to blocks, or detached with a primary text.",
        f"{avid}; blockIDs [text]; primaryKeyTexts [text]; blockID text; viewID text; groupID text; previousID text; "
        "ignoreDefaultFill bool",
        rules=(any_of("blockIDs", "primaryKeyTexts"), _names_rows),
        call_form="avID, blockIDs | primaryKeyTexts",
        **common,
    )
    av.add("remove_rows", MANIFEST, "Remove rows.", f"{avid}; srcIDs* [text]+; blockID text", **common)
    av.add(
        "add_column",
        STATE,
        "Add a column.",
        f"{avid}; keyName* text; keyType* @keyType; keyID text; keyIcon text; previousKeyID text; blockID text",
        **common,
    )
    av.add(
        "remove_column",
        STATE,
        "Remove a column.",
        f"{avid}; keyID text; removeRelationDest bool = false; blockID text; ~columnID text",
        rules=(any_of("keyID"),),
        aliases={"id": "avID", "columnID": "keyID"},
        call_form="avID, keyID",
    )


def _add_cells(av: ToolTable) -> None:
    avid = "avID* text; ~id text"
    common: dict[str, Any] = {"aliases": _ALIAS}
    av.add(
        "set_cells",
        MANIFEST,
        "Set cells and read them back.",
        f"{avid}; blockID text; cells [@cell]+; ~items [@cell]+; " + _flat_cell(),
        aliases={"id": "avID", "items": "cells"},
        rules=(
            single_or_batch("cells", _CELL_FIELDS, ("rowID", "columnID", "valueType")),
            _relation_has_its_own_action,
            _cells_have_values,
        ),
        call_form="avID, cells | rowID+columnID+valueType+value",
    )
    av.add(
        "set_column_options",
        STATE,
        "Replace a select column's options.",
        f"{avid}; keyID* text; options* [@option]; blockID text",
        is_dangerous=True,
        **common,
    )
    av.add(
        "duplicate_rows",
        MANIFEST,
        "Copy rows.",
        f"{avid}; sourceRowIDs* [text]+; previousID text; blockID text",
        is_dangerous=True,
        **common,
    )
    av.add("rename", STATE, "Rename a database.", f"{avid}; name* text+; blockID text", **common)
    av.add("duplicate", STATE, "Copy a database as a new block.", f"{avid}; blockID text; previousID text", **common)
    av.add(
        "get_primary_key_values",
        READ,
        "List the rows' primary texts.",
        f"{avid}; keyword text; page int 1.. = 1; pageSize int 1.. = 16",
        tier="basic",
        **common,
    )


def _flat_cell() -> str:
    return (
        "rowID text; columnID text; valueType @valueType; text text; number number; numberFormat text; date @date; "
        "endDate @date; includeTime bool; checked bool; option text; options [text]; relationBlockIDs [text]; "
        "url text; email text; phone text; assets [@asset]"
    )


def _add_views(av: ToolTable) -> None:
    common: dict[str, Any] = {"aliases": _ALIAS}
    av.named["filter"] = FILTERS
    av.add("add_view", STATE, "Add a view.", f"{_VIEW}; layout* table|gallery|kanban; name* text 1..255", **common)
    av.add("set_filters", STATE, "Replace a view's filters.", f"{_VIEW}; filters* @filter", **common)
    av.add("set_sorts", STATE, "Replace a view's sorts.", f"{_VIEW}; sorts* [@sort]", **common)
    av.add("set_group", STATE, "Group a view by a column.", f"{_VIEW}; group* @group", **common)
    av.add(
        "set_column_visibility",
        STATE,
        "Show or hide a column in a view.",
        f"{_VIEW}; keyID* text+; hidden* bool",
        **common,
    )
    av.add("set_column_order", STATE, "Order a view's columns.", f"{_VIEW}; keyIDs* [text]+", **common)


def _add_relations(av: ToolTable) -> None:
    common: dict[str, Any] = {"is_dangerous": True, "aliases": _ALIAS}
    av.add(
        "set_new_item_templates",
        STATE,
        "Replace the templates for new rows.",
        f"{_CARRIER}; templates* [@template]; defaultTemplateID* @idOrNone; ~id text",
        **common,
    )
    av.add(
        "create_from_template",
        STATE,
        "Make a row from a template.",
        f"{_CARRIER}; templateID* id; viewID id; previousID id; groupID id; ~id text",
        **common,
    )
    av.add(
        "configure_two_way_relation",
        STATE,
        "Connect two databases in both directions.",
        f"{_CARRIER}; keyID* id; destinationAvID* id; backRelationKeyID* id; sourceName* text+; "
        "destinationName* text+; destinationBlockID id; ~id text",
        **common,
    )
    av.add(
        "configure_rollup",
        STATE,
        "Let a column compute over a relation.",
        f"{_CARRIER}; keyID* id; relationKeyID* id; destinationKeyID* id; calc* object; ~id text",
        **common,
    )
    av.add(
        "set_relation",
        STATE,
        "Set which rows a relation cell points to; [] clears it.",
        f"{_CARRIER}; itemID* id; keyID* id; relatedItemIDs* [id]; ~id text",
        **common,
    )


TOOL: Final = _table().done()
