"""[core] A view as it is shown: its fields, its items with their cells, its groups; and its JSON on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.go_struct import Optional, written
from kernel.workspace.views.format import (
    CALC,
    DATE_RULE,
    FILTERS,
    GROUP,
    GROUP_CALC,
    KEY,
    OPTION,
    RELATION,
    ROLLUP,
    SORTS,
    TIME_RULE,
    VALUE,
    Json,
)

_KEY_RULES: Final = (
    ("relation", RELATION),
    ("rollup", ROLLUP),
    ("date", DATE_RULE),
    ("created", TIME_RULE),
    ("updated", TIME_RULE),
)
_CARD_RULES: Final = ("cardAspectRatio", "cardSize", "fitImage", "displayFieldName")


@dataclass(slots=True, eq=False)
class Field:
    """A field of a shown view: the key, and how the view shows it. ``calc`` is the view's own and holds its result."""

    key: Json
    place: Json
    calc: Json | None

    @property
    def id(self) -> str:
        return str(self.key["id"])

    @property
    def type(self) -> str:
        return str(self.key["type"])

    def to_json(self, layout: str) -> Json:
        key, place = self.key, self.place
        shown: Json = {name: key[name] for name in ("id", "name", "type", "icon")}
        shown.update(wrap=place["wrap"], hidden=place["hidden"], desc=key["desc"])
        shown["calc"] = written(Optional(CALC), self.calc)
        if key["options"]:
            shown["options"] = [written(Optional(OPTION), option) for option in key["options"]]
        shown.update(numberFormat=key["numberFormat"], template=key["template"])
        shown.update({name: written(kind, key[name]) for name, kind in _KEY_RULES if key[name] is not None})
        if layout == "table":
            shown.update(pin=place["pin"], width=place["width"], align=place["align"])
        return shown


@dataclass(slots=True, eq=False)
class Item:
    """A row or a card: its cells in the order of the fields. ``cell_ids`` are ids of values, or made for the show."""

    id: str
    values: list[Json]
    cell_ids: list[str]
    cover_url: str = ""
    cover_content: str = ""

    @property
    def primary(self) -> Json | None:
        return next((value for value in self.values if value["type"] == "block"), None)

    def value(self, key_id: str) -> Json | None:
        return next((value for value in self.values if value["keyID"] == key_id), None)


@dataclass(slots=True, eq=False)
class Rendered:
    """A view, or one group of it, as it is shown. ``total`` counts the items before they are cut to a page."""

    view: Json
    fields: list[Field]
    items: list[Item] = field(default_factory=list)
    total: int = 0
    page_size: int = 0
    groups: list[Rendered] | None = None
    group_calc: Json | None = None
    group_hidden: int = 0

    @property
    def layout(self) -> str:
        return str(self.view["type"])

    def value(self, item_id: str, key_id: str) -> Json | None:
        """A cell by its item and key."""
        item = next((item for item in self.items if item.id == item_id), None)
        return None if item is None else item.value(key_id)

    # --- wire ------------------------------------------------------------------------------------------------------
    def to_json(self) -> Json:
        shown = self._head()
        if self.layout == "table":
            shown["columns"] = [one.to_json(self.layout) for one in self.fields]
            shown["rows"] = [self._row(item) for item in self.items]
            shown["rowCount"] = self.total
            return shown
        layout = self.view[self.layout]
        shown["coverFrom"] = layout["coverFrom"]
        if layout["coverFromAssetKeyID"]:
            shown["coverFromAssetKeyID"] = layout["coverFromAssetKeyID"]
        shown.update({name: layout[name] for name in _CARD_RULES})
        if self.layout == "kanban":
            shown["fillColBackgroundColor"] = layout["fillColBackgroundColor"]
        shown["fields"] = [one.to_json(self.layout) for one in self.fields]
        shown["cards"] = [self._card(item) for item in self.items]
        shown["cardCount"] = self.total
        return shown

    def _head(self) -> Json:
        view = self.view
        layout = view[self.layout]
        shown: Json = {name: view[name] for name in ("id", "icon", "name", "desc", "hideAttrViewName")}
        shown["filters"] = written(FILTERS, view["filters"])
        shown["sorts"] = written(SORTS, view["sorts"])
        shown["group"] = written(Optional(GROUP), view["group"])
        shown.update(pageSize=self.page_size, showIcon=layout["showIcon"], wrapField=layout["wrapField"])
        if view["groupKey"] is not None:
            shown["groupKey"] = written(KEY, view["groupKey"])
        if view["groupVal"] is not None:
            shown["groupValue"] = written(VALUE, view["groupVal"])
        if self.groups:
            shown["groups"] = [group.to_json() for group in self.groups]
        if self.group_calc is not None:
            shown["groupCalc"] = written(GROUP_CALC, self.group_calc)
        shown.update(groupFolded=view["groupFolded"], groupHidden=self.group_hidden)
        return shown

    def _cells(self, item: Item) -> list[Json] | None:
        cells = [
            {"id": cell_id, "value": written(VALUE, value), "valueType": shown.type}
            for cell_id, value, shown in zip(item.cell_ids, item.values, self.fields, strict=True)
        ]
        return cells or None

    def _row(self, item: Item) -> Json:
        cells = self._cells(item)
        for cell in cells or ():
            cell.update(color="", bgColor="")
        return {"id": item.id, "cells": cells}

    def _card(self, item: Item) -> Json:
        return {
            "id": item.id,
            "values": self._cells(item),
            "coverURL": item.cover_url,
            "coverContent": item.cover_content,
        }
