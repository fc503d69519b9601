"""Tool ``notebook``: notebooks, their configuration, and what callers may do in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio

from kernel.errors import ToolError
from kernel.host.base import HostApiError
from kernel.safety.intent import Outcome
from kernel.tools.context import FILETREE, ICONS, Arguments, Handling, ToolContext, Written, both, on_notebook
from kernel.tools.failures import refusal
from kernel.tools.limits import NOTEBOOK_OPENING_WAITS_S
from kernel.tools.permissions import LEVELS, Level, spelled
from kernel.tools.results import page_of

ICON_HINT: Final = (
    "An icon is a code point in hexadecimal (1f4d4), an emoji's file name, or a picture of the workspace."
)


async def list_notebooks(context: ToolContext, arguments: Arguments) -> Any:
    """All notebooks, whatever their permission: names are not secret, contents are."""
    return await context.notebooks()


async def create(context: ToolContext, arguments: Arguments) -> Written:
    data = await context.call("/api/notebook/createNotebook", name=arguments["name"])
    notebook = dict(data["notebook"])
    refresh = FILETREE
    if icon := arguments.get("icon"):
        await context.call("/api/notebook/setNotebookIcon", notebook=notebook["id"], icon=icon)
        notebook["icon"], refresh = icon, ICONS
    return Written({**notebook, "iconHint": ICON_HINT}, (refresh,), changed=True)


def create_confirms(context: ToolContext, _arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """The new notebook is in the host's list."""

    async def confirm(outcome: Outcome) -> bool:
        listing = await context.call("/api/notebook/lsNotebooks") or {}
        return any(row.get("id") == outcome.payload.get("id") for row in listing.get("notebooks") or [])

    return confirm


async def set_open_state(context: ToolContext, arguments: Arguments) -> Written:
    notebook, opened = arguments["notebook"], arguments["opened"]
    await context.call(f"/api/notebook/{'open' if opened else 'close'}Notebook", notebook=notebook)
    return Written({"success": True, "notebook": notebook, "opened": opened}, (FILETREE,))


async def remove(context: ToolContext, arguments: Arguments) -> Written:
    await context.call("/api/notebook/removeNotebook", notebook=arguments["notebook"])
    return Written({"success": True, "notebook": arguments["notebook"]}, (FILETREE,))


async def rename(context: ToolContext, arguments: Arguments) -> Written:
    notebook, name = arguments["notebook"], arguments["name"]
    await context.call("/api/notebook/renameNotebook", notebook=notebook, name=name)
    return Written({"success": True, "notebook": notebook, "name": name}, (FILETREE,))


async def get_conf(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/notebook/getNotebookConf", notebook=arguments["notebook"])


async def set_conf(context: ToolContext, arguments: Arguments) -> Written:
    """The host replaces the whole configuration, so what is not given is filled from what is there."""
    notebook = arguments["notebook"]
    now = await context.call("/api/notebook/getNotebookConf", notebook=notebook)
    conf = {**now["conf"], **arguments["conf"]}
    data = await context.call("/api/notebook/setNotebookConf", notebook=notebook, conf=conf)
    return Written(dict(data or {"success": True, "notebook": notebook}), (FILETREE,))


async def set_icon(context: ToolContext, arguments: Arguments) -> Written:
    notebook, icon = arguments["notebook"], arguments["icon"]
    await context.call("/api/notebook/setNotebookIcon", notebook=notebook, icon=icon)
    return Written({"success": True, "notebook": notebook, "icon": icon}, (ICONS,))


async def get_permissions(context: ToolContext, arguments: Arguments) -> Any:
    wanted = arguments.get("notebook")
    rows = [
        {"id": row["id"], "name": row["name"], "permission": spelled(context.permissions.of(row["id"]))}
        for row in await context.notebooks()
    ]
    if wanted in (None, "", "all"):
        return {"notebooks": rows}
    found = next((row for row in rows if row["id"] == wanted), None)
    if found is None:
        raise refusal(f"There is no notebook {wanted}.", "notebook_not_found", hint="List the notebooks.")
    return {"notebook": found}


async def set_permission(context: ToolContext, arguments: Arguments) -> Written:
    notebook, permission = arguments["notebook"], arguments["permission"]
    before = context.permissions.by_notebook.get(notebook)
    await context.files.set_permission(context.host, notebook, LEVELS[permission])
    payload = {"success": True, "notebook": notebook, "permission": permission}
    return Written(payload, (FILETREE,), changed=before is not LEVELS[permission])


async def get_child_docs(context: ToolContext, arguments: Arguments) -> Any:
    notebook = arguments["notebook"]
    data = await _top_documents(context, notebook)
    documents = [child_document(notebook, row) for row in data.get("files") or []]
    return page_of(documents, arguments["page"], arguments["pageSize"], notebook=notebook)


async def _top_documents(context: ToolContext, notebook: str) -> dict[str, Any]:
    """A notebook that is just being opened answers as if it were closed: look again, briefly."""
    for wait_s in (*NOTEBOOK_OPENING_WAITS_S, None):
        try:
            return dict(await context.call("/api/filetree/listDocsByPath", notebook=notebook, path="/") or {})
        except HostApiError as error:
            if wait_s is None:
                raise _closed(notebook) from error
        await trio.sleep(wait_s)
    raise AssertionError("the last try returns or raises")


def _closed(notebook: str) -> ToolError:
    return refusal(
        f"Notebook {notebook} is closed, still opening, or does not exist.",
        "notebook_closed",
        notebook=notebook,
        reason="notebook_closed_or_initializing",
        retryable=True,
        suggestedNextAction='notebook(action="set_open_state", opened=true)',
        retryAttempts=len(NOTEBOOK_OPENING_WAITS_S),
        retryWindowMs=round(sum(NOTEBOOK_OPENING_WAITS_S) * 1000),
        hint="Open the notebook, then call again.",
    )


def child_document(notebook: str, row: dict[str, Any]) -> dict[str, Any]:
    """One row of listDocsByPath as the tools show a document."""
    return {
        "id": row.get("id"),
        "notebook": notebook,
        "path": row.get("path"),
        "name": str(row.get("name") or "").removesuffix(".sy"),
        "icon": row.get("icon") or "",
        "subFileCount": row.get("subFileCount") or 0,
    }


async def _guard_known(context: ToolContext, arguments: Arguments) -> None:
    await context.require_notebook(arguments["notebook"])


_READ: Final = on_notebook(Level.READ, "notebook")
_WRITE: Final = on_notebook(Level.WRITE, "notebook")
_DELETE: Final = on_notebook(Level.DELETE, "notebook")

HANDLERS: Final[dict[str, Handling]] = {
    "notebook.list": Handling(list_notebooks, is_immediate=True),
    "notebook.create": Handling(create, confirms=create_confirms),
    "notebook.set_open_state": Handling(set_open_state, both(_READ, _guard_known)),
    "notebook.remove": Handling(remove, _DELETE),
    "notebook.rename": Handling(rename, _WRITE),
    "notebook.get_conf": Handling(get_conf, _READ),
    "notebook.set_conf": Handling(set_conf, _WRITE),
    "notebook.set_icon": Handling(set_icon, _WRITE),
    "notebook.get_permissions": Handling(get_permissions),
    "notebook.set_permission": Handling(set_permission, _guard_known),
    "notebook.get_child_docs": Handling(get_child_docs, _READ),
}
