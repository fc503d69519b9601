"""document.ensure_link_targets: the documents that links should point to, found or made below one parent.

Modes: ``resolve`` only says what is there, ``reuse`` needs every target to be there, ``create`` makes what is missing.
"""

from __future__ import annotations

from typing import Any, Final

from kernel.tools import markdown_input, ordering
from kernel.tools.context import FILETREE, Arguments, ToolContext, Written, on_notebook
from kernel.tools.failures import refusal
from kernel.tools.ordering import Child, Place
from kernel.tools.permissions import Level

_SAME_TITLE: Final = "same_title_child_requires_explicit_id"


async def ensure_link_targets(context: ToolContext, arguments: Arguments) -> Any:
    place = await _place(context, arguments)
    children = await ordering.children(context, place)
    rows = [_resolved(children, target) for target in arguments["targets"]]
    missing = [row for row in rows if row["status"] == "missing"]
    mode = arguments["mode"]
    payload: dict[str, Any] = {
        "notebook": arguments["notebook"],
        "parentId": arguments["parentId"],
        "mode": mode,
        "dryRun": arguments.get("dryRun") is True,
        "targets": rows,
        "missing": len(missing),
    }
    if mode == "reuse" and missing:
        keys = ", ".join(row["key"] for row in missing)
        raise refusal(f"These targets do not exist: {keys}.", "not_found", targets=rows)
    if mode != "create" or payload["dryRun"]:
        return payload
    text = arguments.get("markdown") or ""
    created = [await _create(context, place, row, text) for row in context.progress.steps(missing, "Created document")]
    payload |= {"success": True, "created": len(created), "createdIDs": created, "missing": 0}
    return Written(payload, (FILETREE,), changed=bool(created))


async def _place(context: ToolContext, arguments: Arguments) -> Place:
    place = await ordering.place_of(context, arguments["parentId"])
    if place.notebook != arguments["notebook"]:
        raise refusal("parentId is not in this notebook.", "invalid_arguments", reason="target_outside_notebook")
    return place


def _resolved(children: tuple[Child, ...], target: dict[str, Any]) -> dict[str, Any]:
    """What a target is now: found (by id, or by a title that only one child has) or missing."""
    row: dict[str, Any] = {"key": target["key"], "title": target.get("title") or target["key"]}
    if wanted := target.get("id"):
        found = [child for child in children if child.id == wanted]
        if not found:
            raise refusal(
                f"{wanted} is not a direct child of the parent.", "not_found", reason="target_not_document_root"
            )
    else:
        found = [child for child in children if child.name == row["title"]]
        if len(found) > 1:
            raise refusal(
                f"Several children are called {row['title']!r}: name the id.",
                "ambiguous",
                reason=_SAME_TITLE,
                candidates=[child.id for child in found],
            )
    if not found:
        return {**row, "status": "missing"}
    return {**row, "status": "found", "id": found[0].id, "title": found[0].name, "link": _link(found[0])}


def _link(child: Child) -> str:
    return f"(({child.id} '{child.name.replace(chr(39), '’')}'))"


async def _create(context: ToolContext, place: Place, row: dict[str, Any], text: str) -> str:
    above = (
        ""
        if place.path == "/"
        else await context.call("/api/filetree/getHPathByPath", notebook=place.notebook, path=place.path)
    )
    data = await markdown_input.markdown(context, text)
    title = str(row["title"]).replace("/", "／")
    block_id = str(
        await context.call(
            "/api/filetree/createDocWithMd",
            notebook=place.notebook,
            path=f"{above}/{title}",
            markdown=data.text,
        )
    )
    row |= {"status": "created", "id": block_id, "link": _link(Child(block_id, "", title))}
    return block_id


async def guard(context: ToolContext, arguments: Arguments) -> None:
    writes = arguments["mode"] == "create" and arguments.get("dryRun") is not True
    await on_notebook(Level.WRITE if writes else Level.READ, "notebook")(context, arguments)
    if writes and arguments["parentId"] != arguments["notebook"]:
        await context.require_block(arguments["parentId"], Level.WRITE)
