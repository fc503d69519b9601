"""Human-readable paths: ``/Notebook/Document/Child``, found through the host; and the two virtual files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from kernel.errors import ToolError
from kernel.tools.context import ToolContext
from kernel.tools.failures import not_found, refusal
from kernel.tools.permissions import Level

MEMORY_PATH: Final = "/AGENTS.md"
RULES_PATH: Final = "/USER_RULES.md"
VIRTUAL_PATHS: Final = (MEMORY_PATH, RULES_PATH)


@dataclass(frozen=True, slots=True)
class Place:
    """What a path names. ``hpath`` and ``stored`` are the host's two spellings of a document's place."""

    kind: Literal["root", "virtual", "notebook", "document"]
    path: str
    notebook: str = ""
    notebook_name: str = ""
    hpath: str = ""
    id: str = ""
    stored: str = "/"


@dataclass(frozen=True, slots=True)
class NewPlace:
    """Where a document can be made: below a notebook or a document that is there."""

    path: str
    notebook: str
    hpath: str
    parent: Place
    title: str


def normalised(path: str) -> str:
    """One slash in front, none behind, none doubled.

    Raises:
        ToolError: an empty path.
    """
    trimmed = path.strip()
    if not trimmed:
        raise refusal("A path must not be empty.", "invalid_path", hint="/ is the root; /Notebook/Document a document.")
    return "/" + "/".join(part for part in re.split(r"/+", trimmed) if part)


async def resolve(context: ToolContext, path: str, level: Level = Level.READ) -> Place:
    """What ``path`` names, if it is there and its notebook allows ``level``.

    Raises:
        ToolError: not_found, ambiguous_path, permission_denied.
    """
    shown = normalised(path)
    if shown == "/":
        return Place("root", "/")
    if shown in VIRTUAL_PATHS:
        return Place("virtual", shown)
    key = f"fs:{level}:{shown}"
    if key not in context.memo:
        context.memo[key] = await _resolved(context, shown, level)
    place: Place = context.memo[key]
    return place


async def _resolved(context: ToolContext, shown: str, level: Level) -> Place:
    notebook = await _notebook_named(context, shown)
    if notebook is None:
        place = await _anywhere(context, shown)
        context.permissions.require(place.notebook, level, name=place.notebook_name)
        return place
    name = str(notebook["name"])
    context.permissions.require(notebook["id"], level, name=name)
    rest = shown[len(name) + 1 :]
    if not rest:
        return Place("notebook", shown, notebook["id"], name)
    found = await _documents(context, notebook, rest)
    if not found:
        raise not_found(f"There is no document {shown}.", hint="List the folder above it with fs.ls.")
    return _only(shown, found)


async def _notebook_named(context: ToolContext, shown: str) -> dict[str, Any] | None:
    """The notebook that the path begins with. Its name may hold slashes, so the longest that fits wins."""
    fitting = [
        row for row in await context.notebooks() if (shown + "/").startswith(f"/{row.get('name')}/") and row.get("name")
    ]
    return max(fitting, key=lambda row: len(str(row["name"])), default=None)


async def _anywhere(context: ToolContext, shown: str) -> Place:
    """A path whose first part is no notebook: the same path in whichever notebook has it."""
    found: list[Place] = []
    for notebook in await context.notebooks():
        if context.readable(notebook["id"]) and not notebook.get("closed"):
            found += await _documents(context, notebook, shown)
    if not found:
        raise not_found(f"There is no notebook or document {shown}.", hint="List the notebooks with fs.ls of /.")
    return _only(shown, found)


async def _documents(context: ToolContext, notebook: dict[str, Any], hpath: str) -> list[Place]:
    ids = await context.call("/api/filetree/getIDsByHPath", notebook=notebook["id"], path=hpath) or []
    places = []
    for block_id in sorted(ids):
        stored = await context.call("/api/filetree/getPathByID", id=block_id)
        shown = f"/{notebook['name']}{hpath}"
        places.append(Place("document", shown, notebook["id"], str(notebook["name"]), hpath, block_id, stored["path"]))
    return places


def _only(shown: str, found: list[Place]) -> Place:
    if len(found) == 1:
        return found[0]
    candidates = [{"path": place.path, "id": place.id} for place in found]
    listed = ", ".join(place.path for place in found)
    raise ToolError(
        "ambiguous_path",
        f"Several documents are called {shown}. Candidates: {listed}",
        candidates=candidates,
        hint="Use tool document or block with the id of the one that is meant.",
    )


async def document(context: ToolContext, path: str, level: Level) -> Place:
    """The document at ``path``, whose notebook allows ``level``.

    Raises:
        ToolError: what ``resolve`` raises; or the path names no document.
    """
    place = await resolve(context, path, level)
    if place.kind != "document":
        raise refusal(f"{place.path} is not a document.", "invalid_path", hint="Name a document: /Notebook/Document.")
    return place


async def new_place(context: ToolContext, path: str) -> NewPlace:
    """Where a new document of this path belongs.

    Raises:
        ToolError: no such parent, several of them, or a path without a notebook.
    """
    shown = normalised(path)
    above, _, title = shown.rpartition("/")
    if not above or not title:
        if shown != "/" and await _notebook_named(context, shown) is not None:
            raise refusal(f"{shown} is a notebook.", "invalid_path", hint="Name a document below it.")
        raise ToolError(
            "invalid_path", f"{shown} names no notebook.", hint="A new document's path begins with its notebook."
        )
    try:
        parent = await resolve(context, above)
    except ToolError as error:
        if error.code != "not_found":
            raise
        raise not_found(
            f"There is no {above} to put the document into.", "document_not_found", hint="Make the parent first."
        ) from error
    if parent.kind not in ("notebook", "document"):
        raise ToolError("invalid_path", f"{above} takes no documents.", hint="Name a notebook or a document.")
    return NewPlace(f"{parent.path}/{title}", parent.notebook, f"{parent.hpath}/{title}", parent, title)
