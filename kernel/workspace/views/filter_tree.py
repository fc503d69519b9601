"""[core] The filter of a view as a tree: groups (all, any) over conditions; keeping it true when keys change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kernel.workspace.views.database import ViewError
from kernel.workspace.views.format import FILTER, Json, empty_root, made
from kernel.workspace.views.upgrade import is_group

NESTING_MAX: Final = 3
_NO_VALUE: Final = ("Is empty", "Is not empty")


def conditions(nodes: list[Json | None] | None) -> Iterator[Json]:
    """Every condition of a tree, in order."""
    for node in nodes or ():
        if node is None:
            continue
        if is_group(node):
            yield from conditions(node["filters"])
        else:
            yield node


def as_root(filters: list[Json | None]) -> list[Json]:
    """A tree with one root, from whatever was given."""
    if len(filters) == 1 and is_group(filters[0]) and filters[0] is not None:
        return [filters[0]]
    return [made(FILTER, combination="and", filters=filters or None)]


def check_depth(nodes: list[Json] | None, depth: int = 0) -> None:
    """Raises ViewError when groups are nested too deep."""
    for node in nodes or ():
        if not is_group(node):
            continue
        if depth > NESTING_MAX:
            raise ViewError("filter nesting depth exceeds the maximum allowed")
        check_depth(node["filters"], depth + 1)


def pruned(nodes: list[Json] | None, keeps: Callable[[Json], bool]) -> tuple[list[Json], bool]:
    """The tree without the conditions that are not kept and the groups that this leaves empty; whether any went.

    Groups that were empty before go too, but do not count.
    """
    kept: list[Json] = []
    has_changed = False
    for node in nodes or ():
        if node is None:
            continue
        if not is_group(node):
            if keeps(node):
                kept.append(node)
            else:
                has_changed = True
            continue
        had = bool(node["filters"])
        children, child_changed = pruned(node["filters"], keeps)
        has_changed = has_changed or child_changed
        if children:
            node["filters"] = children
            kept.append(node)
        elif had:
            has_changed = True
    return kept, has_changed


def drop_conditions(view: Json, keeps: Callable[[Json], bool]) -> bool:
    """Prune a view's filter; a root stays, if only an empty one. Whether anything went."""
    kept, has_changed = pruned(view["filters"], keeps)
    view["filters"] = kept or [empty_root()]
    return has_changed


def drop_option(view: Json, key_id: str, name: str) -> None:
    """An option is gone: conditions forget it, and go if they have no other."""

    def keeps(node: Json) -> bool:
        value = node["value"]
        if node["column"] != key_id or value is None or value["type"] not in ("select", "mSelect"):
            return True
        if node["operator"] in _NO_VALUE:
            return True
        value["mSelect"] = [one for one in value["mSelect"] or () if one["content"] != name]
        return bool(value["mSelect"])

    drop_conditions(view, keeps)


def rename_option(view: Json, key_id: str, old: str, new: str, color: str) -> None:
    """An option has another name and colour."""
    for node in conditions(view["filters"]):
        value = node["value"]
        if node["column"] != key_id or value is None or value["type"] not in ("select", "mSelect"):
            continue
        for one in value["mSelect"] or ():
            if one["content"] == old:
                one.update(content=new, color=color)
