"""Tool ``document``: making, finding, renaming, moving, ordering and removing documents. Reads are in ``document_reads``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostError
from kernel.tools import document_reads, link_targets, markdown_input, ordering, shown_text
from kernel.tools.context import (
    FILETREE,
    ICONS,
    Arguments,
    Handling,
    ToolContext,
    Written,
    both,
    into_notebook,
    on_block,
    on_notebook,
    protyle,
)
from kernel.tools.failures import not_found, refusal
from kernel.tools.permissions import Level

ICON_HINT: Final = "Give a new document an icon with set_attr: a code point in hexadecimal (1f4d4) or an emoji's file."
# The first in a block's DOM is its own.
_OWN_KIND: Final = re.compile(r'data-type="(\w+)"')
_COVER: Final = re.compile(r"https?://|/assets/", re.IGNORECASE)
_STORED: Final = re.compile(r"(\d{14}-[0-9a-z]{7})\.sy")


async def create(context: ToolContext, arguments: Arguments) -> Written:
    notebook = arguments["notebook"]
    payload: dict[str, Any] = {"success": True, "notebook": notebook}
    if arguments.get("path"):
        path = arguments["path"]
        payload["path"] = path
    else:
        title, parent = arguments["title"], arguments["parentPath"]
        above = parent
        if _STORED.search(parent):
            above = await context.call("/api/filetree/getHPathByPath", notebook=notebook, path=parent)
        # A slash in a title would make a parent of its first half.
        path = f"{str(above).rstrip('/')}/{title.replace('/', '／')}"
        payload |= {"path": path, "parentPath": parent}
        if above != parent:
            payload["resolvedParentPath"] = above
        payload["title"] = title
    text = markdown_input.without_title(arguments.get("markdown") or "", path.rsplit("/", 1)[-1])
    data = await markdown_input.markdown(context, text)
    block_id = await context.call("/api/filetree/createDocWithMd", notebook=notebook, path=path, markdown=data.text)
    refresh = (*protyle(block_id), FILETREE)
    if icon := arguments.get("icon"):
        await context.call("/api/attr/setBlockAttrs", id=block_id, attrs={"icon": icon})
        refresh = (ICONS,)
    return Written({**payload, **data.notes, "id": block_id, "iconHint": ICON_HINT}, refresh, changed=True)


def create_confirms(context: ToolContext, arguments: Arguments) -> Any:
    """The new document is there, and the host knows it; with its text, where it was given a plain paragraph."""

    async def confirm(outcome: Any) -> bool:
        block_id = str(outcome.payload.get("id"))
        if not await context.call("/api/block/checkBlockExist", id=block_id):
            return False
        title = str(outcome.payload.get("path") or "").rsplit("/", 1)[-1]
        text = markdown_input.without_title(arguments.get("markdown") or "", title)
        return await shown_text.are_shown(context, [block_id], [shown_text.plain_text("markdown", text)])

    return confirm


async def rename(context: ToolContext, arguments: Arguments) -> Written:
    title = arguments["title"]
    if block_id := arguments.get("id"):
        await context.call("/api/filetree/renameDocByID", id=block_id, title=title)
        return Written({"success": True, "id": block_id, "title": title}, (*protyle(block_id), FILETREE))
    notebook, path = arguments["notebook"], arguments["path"]
    await context.call("/api/filetree/renameDoc", notebook=notebook, path=path, title=title)
    return Written({"success": True, "notebook": notebook, "path": path, "title": title}, (FILETREE,))


async def remove(context: ToolContext, arguments: Arguments) -> Written:
    """Several documents are removed in one host write."""
    if block_id := arguments.get("id"):
        await context.call("/api/filetree/removeDocByID", id=block_id)
        return Written({"success": True, "id": block_id}, (*protyle(block_id), FILETREE))
    if ids := arguments.get("ids"):
        each = context.progress.steps(ids, "Looked up")
        paths = [(await context.call("/api/filetree/getPathByID", id=block_id))["path"] for block_id in each]
        await context.call("/api/filetree/removeDocs", paths=paths)
        return Written({"success": True, "ids": ids, "count": len(ids)}, (*protyle(*ids), FILETREE))
    if stored := arguments.get("paths"):
        await context.call("/api/filetree/removeDocs", paths=stored)
        return Written({"success": True, "paths": stored, "count": len(stored)}, (FILETREE,))
    notebook, path = arguments["notebook"], arguments["path"]
    await context.call("/api/filetree/removeDoc", notebook=notebook, path=path)
    return Written({"success": True, "notebook": notebook, "path": path}, (FILETREE,))


async def move(context: ToolContext, arguments: Arguments) -> Written:
    if from_ids := arguments.get("fromIDs"):
        target = arguments["toID"]
        await context.call("/api/filetree/moveDocsByID", fromIDs=from_ids, toID=target)
        return Written({"success": True, "fromIDs": from_ids, "toID": target}, (*protyle(*from_ids), FILETREE))
    asked = {name: arguments[name] for name in ("fromPaths", "toNotebook", "toPath")}
    await context.call("/api/filetree/moveDocs", **asked)
    return Written({"success": True, **asked}, (FILETREE,))


async def reorder(context: ToolContext, arguments: Arguments) -> Written:
    parent = arguments["parentID"]
    place = await ordering.place_of(context, parent)
    order = [str(block_id) for block_id in arguments["orderedIDs"]]
    result = await ordering.reorder(context, place, order)
    payload = {
        "success": True,
        "parentID": parent,
        "notebook": place.notebook,
        "changed": result.changed,
        "orderChanged": result.order_changed,
        "sortModeChanged": result.mode_changed,
        "sortModeScope": "notebook",
        "previousOrder": [child.id for child in result.before],
        "order": order,
    }
    return Written(payload, (FILETREE,), changed=result.changed, expectation=ordering.reads_back_as(order))


async def set_attr(context: ToolContext, arguments: Arguments) -> Written:
    block_id, asked = arguments["id"], arguments["attrs"]
    payload: dict[str, Any] = {"success": True, "id": block_id}
    attributes: dict[str, str] = {}
    if "icon" in asked:
        attributes["icon"] = payload["icon"] = asked["icon"]
    if "cover" in asked:
        cover = (asked["cover"] or "").strip()
        attributes["title-img"] = _title_image(cover)
        payload |= {"cover": cover, "titleImg": attributes["title-img"]} if cover else {"clearedCover": True}
    await context.call("/api/attr/setBlockAttrs", id=block_id, attrs=attributes)
    shown = (ICONS,) if "icon" in asked else protyle(block_id)
    return Written(payload, (*shown, FILETREE))


def _title_image(cover: str) -> str:
    """The attribute's value for a cover.

    Raises:
        ToolError: neither a web address nor an asset.
    """
    if not cover:
        return ""
    if not _COVER.match(cover):
        raise ToolError(
            "invalid_arguments",
            "cover must be an http(s) URL or a path below /assets/.",
            hint='document(action="help", topic="set_attr") shows what it takes.',
        )
    escaped = cover.replace("\\", "\\\\").replace('"', '\\"')
    return f'background-image:url("{escaped}");'


async def create_daily_note(context: ToolContext, arguments: Arguments) -> Written:
    notebook = arguments["notebook"]
    data = await context.call("/api/filetree/createDailyNote", notebook=notebook, app=arguments.get("app") or "")
    block_id = str(data["id"])
    payload: dict[str, Any] = {"success": True, "notebook": notebook, "id": block_id}
    try:
        payload["hPath"] = await context.call("/api/filetree/getHPathByID", id=block_id)
    except HostError:
        # The note is made; only the index does not know it yet.
        payload["hint"] = "The note's path is not known yet: look it up in a moment."
    return Written({**payload, "iconHint": ICON_HINT}, (*protyle(block_id), FILETREE), changed=True)


async def duplicate(context: ToolContext, arguments: Arguments) -> Written:
    block_id = arguments["id"]
    data = dict(await context.call("/api/filetree/duplicateDoc", id=block_id) or {})
    return Written({"success": True, "sourceID": block_id, **data}, (*protyle(block_id), FILETREE), changed=True)


async def heading_to_doc(context: ToolContext, arguments: Arguments) -> Written:
    heading, notebook = arguments["headingID"], arguments["targetNotebook"]
    places = {name: arguments[name] for name in ("targetPath", "previousPath") if arguments.get(name)}
    root = await context.root_of(heading)
    await context.call("/api/filetree/heading2Doc", srcHeadingID=heading, targetNoteBook=notebook, pushMode=0, **places)
    payload = {"success": True, "headingID": heading, "targetNotebook": notebook, **places}
    return Written(payload, (*protyle(root), FILETREE), changed=True)


async def doc_to_heading(context: ToolContext, arguments: Arguments) -> Written:
    source, target, after = arguments["srcID"], arguments["targetID"], arguments["after"]
    root = await context.root_of(target)
    if root == target:
        # The host would write a file that nothing can read any more.
        raise refusal(
            "targetID must be a block inside a document, not the document itself.",
            "invalid_arguments",
            hint="Use the id of a heading or of the document's last block.",
        )
    data = await context.call("/api/filetree/doc2Heading", srcID=source, targetID=target, after=after)
    payload = {"success": True, "srcID": source, "targetID": target, "after": after, **dict(data or {})}
    return Written(payload, (*protyle(source, root), FILETREE), changed=True)


# --- who may ---


async def _guard_by_path(context: ToolContext, arguments: Arguments, level: Level) -> None:
    """A document named by notebook and storage path exists, and its notebook allows this."""
    await on_notebook(level, "notebook")(context, arguments)
    await context.call("/api/filetree/getHPathByPath", notebook=arguments["notebook"], path=arguments["path"])


async def _guard_paths(context: ToolContext, paths: Sequence[str], level: Level) -> None:
    """Documents named by storage paths alone: the id in the path says where they are."""
    for path in context.progress.steps(paths, "Looked up"):
        match = _STORED.search(path)
        try:
            if match is None:
                raise ToolError("invalid_path", f"{path} is no storage path of a document.")
            await context.require_block(match[1], level)
        except HostApiError as error:
            raise ToolError("invalid_path", f"No document is stored at {path}.", hint="Look its path up.") from error
        except ToolError as error:
            error.details.setdefault("hint", "A storage path looks like /20240101120000-abcdefg.sy.")
            raise


async def _guard_rename(context: ToolContext, arguments: Arguments) -> None:
    if arguments.get("id"):
        await context.require_block(arguments["id"], Level.WRITE)
    else:
        await _guard_by_path(context, arguments, Level.WRITE)


async def _guard_remove(context: ToolContext, arguments: Arguments) -> None:
    if arguments.get("path"):
        await _guard_by_path(context, arguments, Level.DELETE)
    elif arguments.get("paths"):
        await _guard_paths(context, arguments["paths"], Level.DELETE)
    else:
        await on_block(Level.DELETE, "id", "ids")(context, arguments)


async def _guard_move(context: ToolContext, arguments: Arguments) -> None:
    if from_ids := arguments.get("fromIDs"):
        for block_id in context.progress.steps(from_ids, "Looked up"):
            await context.require_block(block_id, Level.WRITE)
        await _guard_place(context, arguments["toID"])
    else:
        await on_notebook(Level.WRITE, "toNotebook")(context, arguments)
        await _guard_paths(context, arguments["fromPaths"], Level.WRITE)


async def _guard_place(context: ToolContext, place: str) -> None:
    """A notebook or a document that something may be put into."""
    if any(row.get("id") == place for row in await context.notebooks()):
        await context.require(place, Level.WRITE)
    else:
        await context.require_block(place, Level.WRITE)


async def _guard_heading(context: ToolContext, arguments: Arguments) -> None:
    """The block is a heading: the host takes any other too, and what follows it goes along or is lost."""
    heading = str(arguments["headingID"])
    await context.require_block(heading, Level.WRITE)
    data = await context.call("/api/block/getBlockDOM", id=heading)
    kind = _OWN_KIND.search(str((data or {}).get("dom") or ""))
    if kind is None or kind[1] != "NodeHeading":
        raise not_found(f"There is no heading {heading}.", "block_not_found", hint="get_outline lists the headings.")


async def _guard_reorder(context: ToolContext, arguments: Arguments) -> None:
    await _guard_place(context, arguments["parentID"])
    place = await ordering.place_of(context, arguments["parentID"])
    ordering.checked_permutation(await ordering.children(context, place), arguments["orderedIDs"])


_WRITE: Final = on_block(Level.WRITE, "id")

HANDLERS: Final[dict[str, Handling]] = {
    "document.create": Handling(create, into_notebook, confirms=create_confirms),
    "document.rename": Handling(rename, _guard_rename),
    "document.remove": Handling(remove, _guard_remove),
    "document.move": Handling(move, _guard_move),
    "document.reorder": Handling(reorder, _guard_reorder),
    "document.set_attr": Handling(set_attr, _WRITE),
    "document.create_daily_note": Handling(create_daily_note, into_notebook, confirms=create_confirms),
    "document.duplicate": Handling(duplicate, _WRITE, confirms=create_confirms, creates=True),
    "document.heading_to_doc": Handling(
        heading_to_doc, both(_guard_heading, on_notebook(Level.WRITE, "targetNotebook"))
    ),
    "document.doc_to_heading": Handling(doc_to_heading, on_block(Level.WRITE, "srcID", "targetID")),
    "document.ensure_link_targets": Handling(link_targets.ensure_link_targets, link_targets.guard),
    **document_reads.HANDLERS,
}
