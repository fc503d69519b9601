"""The order of documents below one parent: a complete permutation, and the sort mode that makes it show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kernel.safety.intent import Observation
from kernel.tools.context import ToolContext
from kernel.tools.failures import refusal

# The sort mode in which the stored order counts.
CUSTOM_SORT: Final = 6


@dataclass(frozen=True, slots=True)
class Child:
    """One document below the parent."""

    id: str
    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """A parent: ``path`` is ``/`` for a notebook."""

    notebook: str
    path: str


@dataclass(frozen=True, slots=True)
class Reordered:
    """What a reorder did. ``before``: the children as they stood."""

    before: tuple[Child, ...]
    order_changed: bool
    mode_changed: bool

    @property
    def changed(self) -> bool:
        return self.order_changed or self.mode_changed


async def place_of(context: ToolContext, parent: str) -> Place:
    """Where the children of a notebook or document are.

    Raises:
        HostApiError: no such document.
        ToolError: a block that is no document.
    """
    if any(row.get("id") == parent for row in await context.notebooks()):
        return Place(parent, "/")
    if await context.root_of(parent) != parent:
        raise refusal(f"{parent} is not a document.", "invalid_arguments")
    data = await context.call("/api/filetree/getPathByID", id=parent)
    return Place(data["notebook"], data["path"])


async def children(context: ToolContext, place: Place, *, sort: int | None = None) -> tuple[Child, ...]:
    """The visible direct children, in the order they show (or in the order of ``sort``)."""
    data = await context.call(
        "/api/filetree/listDocsByPath",
        notebook=place.notebook,
        path=place.path,
        sort=sort,
        maxListCount=0,
        showHidden=False,
        ignoreMaxListHint=True,
    )
    return tuple(
        Child(str(row["id"]), str(row["path"]), str(row.get("name") or "").removesuffix(".sy"))
        for row in (data or {}).get("files") or []
    )


def checked_permutation(before: Sequence[Child], order: Sequence[str]) -> None:
    """Every child exactly once.

    Raises:
        ToolError: with what is missing, unexpected or named twice.
    """
    known = [child.id for child in before]
    details: dict[str, Any] = {
        "duplicates": [one for one, count in Counter(order).items() if count > 1],
        "missing": [one for one in known if one not in order],
        "unexpected": [one for one in order if one not in known],
    }
    if any(details.values()):
        raise refusal(
            "The new order must name every direct child exactly once.",
            "invalid_arguments",
            details=details,
            hint="List the children first.",
        )


async def reorder(context: ToolContext, place: Place, order: Sequence[str]) -> Reordered:
    """Store the order, and let the notebook show stored orders."""
    before = await children(context, place)
    checked_permutation(before, order)
    conf = await context.call("/api/notebook/getNotebookConf", notebook=place.notebook)
    mode_changes = conf["conf"].get("sortMode") != CUSTOM_SORT
    order_changes = [child.id for child in before] != list(order)
    paths = {child.id: child.path for child in before}
    if order_changes or mode_changes:
        await context.call(
            "/api/filetree/changeSort", notebook=place.notebook, paths=[paths[block_id] for block_id in order]
        )
    if mode_changes:
        settings = {**conf["conf"], "sortMode": CUSTOM_SORT}
        await context.call("/api/notebook/setNotebookConf", notebook=place.notebook, conf=settings)
    return Reordered(before, order_changes, mode_changes)


def reads_back_as(order: Sequence[str]) -> Callable[[Observation], bool]:
    """Whether the structure that is read back has exactly this order and the mode that makes it show (R77)."""
    wanted = list(order)

    def is_as_asked(seen: Observation) -> bool:
        # fs.reorder sees one structure for each document of its path; the other actions see the structure itself.
        structures = [seen.state] if "children" in seen.state else list(seen.state.values())
        return bool(structures) and all(
            structure["sortMode"] == CUSTOM_SORT and [child["id"] for child in structure["children"]] == wanted
            for structure in structures
        )

    return is_as_asked
