"""[core] One database in memory: finding its keys, values and views. Changing it is the other modules' work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernel.workspace.documents import Refusal
from kernel.workspace.views.format import (
    CURRENT_SPEC,
    DATABASE,
    KEY,
    KEY_VALUES,
    PRIMARY_KEY_NAME,
    SELECT_KEY_NAME,
    Json,
    made,
    new_field,
    new_view,
)

if TYPE_CHECKING:
    from kernel.workspace.views.moments import Moment
    from kernel.workspace.views.rendered import Rendered

UNTITLED = "Untitled"


class ViewError(Refusal):
    """A change or a question that a database refuses, in the kernel's words."""


def view_not_found() -> ViewError:
    return ViewError("view not found")


@dataclass(slots=True, eq=False)
class Database:
    """A database that was read for one call. Rendering leaves its results here, as the kernel does: within the call a
    view is rendered once, and what later steps find in it is what earlier ones have left of it.
    """

    data: Json
    rendered: dict[str, Rendered] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def name(self) -> str:
        """The name as it is shown: ``Untitled`` without one."""
        return str(self.data["name"]).strip() or UNTITLED

    # --- keys ------------------------------------------------------------------------------------------------------
    def columns(self) -> list[Json]:
        """Every key with its values: ``{key, values}``."""
        if self.data["keyValues"] is None:
            self.data["keyValues"] = []
        columns: list[Json] = self.data["keyValues"]
        return columns

    def all_keys(self) -> Iterator[Json]:
        return (column["key"] for column in self.columns())

    def key(self, key_id: str) -> Json | None:
        return next((key for key in self.all_keys() if key["id"] == key_id), None)

    def required_key(self, key_id: str) -> Json:
        """Raises ViewError (``key not found``)."""
        key = self.key(key_id)
        if key is None:
            raise ViewError("key not found")
        return key

    def column(self, key_id: str) -> Json | None:
        return next((column for column in self.columns() if column["key"]["id"] == key_id), None)

    def primary(self) -> Json | None:
        """The key that names the items, with its values."""
        return next((column for column in self.columns() if column["key"]["type"] == "block"), None)

    # --- values ----------------------------------------------------------------------------------------------------
    def value(self, key_id: str, item_id: str) -> Json | None:
        column = self.column(key_id)
        return None if column is None else value_in(column, item_id)

    def item(self, item_id: str) -> Json | None:
        """The primary value of an item."""
        return next((value for value in self.items() if value["blockID"] == item_id), None)

    def items(self) -> list[Json]:
        """The primary values."""
        column = self.primary()
        return [] if column is None else values_in(column)

    def bound_items(self) -> Iterator[Json]:
        """The primary values of items that stand for a block."""
        return (value for value in self.items() if not value["isDetached"] and value["block"] and value["block"]["id"])

    def item_of_block(self, block_id: str) -> Json | None:
        return next((value for value in self.items() if value["block"]["id"] == block_id), None)

    # --- views -----------------------------------------------------------------------------------------------------
    def views(self) -> list[Json]:
        if self.data["views"] is None:
            self.data["views"] = []
        views: list[Json] = self.data["views"]
        return views

    def view(self, view_id: str) -> Json | None:
        return next((view for view in self.views() if view["id"] == view_id), None)

    def current_view(self, view_id: str = "") -> Json:
        """The view asked for, else the database's own current one, else its first. Raises ViewError."""
        found = self.view(view_id) if view_id else None
        found = found or self.view(self.data["viewID"])
        if found is None:
            if not self.views():
                raise view_not_found()
            found = self.views()[0]
        return found


def values_in(column: Json) -> list[Json]:
    """The values of a key; the list itself."""
    if column["values"] is None:
        column["values"] = []
    values: list[Json] = column["values"]
    return values


def value_in(column: Json, item_id: str) -> Json | None:
    return next((value for value in values_in(column) if value["blockID"] == item_id), None)


def option_of(key: Json, name: str) -> Json | None:
    """An option of a select key."""
    return next((option for option in key["options"] or () if option["name"] == name), None)


def is_grouped(view: Json) -> bool:
    return view["group"] is not None and bool(view["group"]["field"])


def unique(values: Iterable[str]) -> list[str]:
    """Each value once, where it was first."""
    return list(dict.fromkeys(values))


def new_key(key_id: str, name: str, key_type: str, icon: str = "") -> Json:
    return made(KEY, id=key_id, name=name, type=key_type, icon=icon)


def new_database(database_id: str, moment: Moment) -> Database:
    """A database as the kernel makes one: a table with a primary key and a select key."""
    primary = new_key(moment.new_id(), PRIMARY_KEY_NAME, "block")
    select = new_key(moment.new_id(), SELECT_KEY_NAME, "select")
    view = new_view("table", moment.new_id(), moment.new_id())
    view["table"]["columns"] = [new_field("table", key["id"]) for key in (primary, select)]
    data = made(
        DATABASE,
        spec=CURRENT_SPEC,
        id=database_id,
        keyValues=[made(KEY_VALUES, key=key) for key in (primary, select)],
        viewID=view["id"],
        views=[view],
    )
    return Database(data)
