"""Tools ``notebook`` and ``dailynote``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action
from kernel.siyuan.native_mcp.tools.blocks import dom_from, perform_operation
from kernel.siyuan.native_mcp.tools.documents import reload_tree
from kernel.workspace.boxes import NOT_A_FOLDER, close_box, create_box, list_boxes
from kernel.workspace.daily_notes import daily_note
from kernel.workspace.documents import QUERY_FAILED
from kernel.workspace.operations import Operation

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call
    from kernel.siyuan.native_mcp.base import Action
    from kernel.workspace.notebooks import Notebook

# One icon where the real kernel draws one of its emojis: what is random there is one of these here.
_ICONS: Final = ("1f4d6", "1f4d7", "1f4d8", "1f4d9", "1f4da", "1f4d4", "1f4d2", "1f5c2", "1f9ed", "1f331")


async def list_all(call: ToolCall) -> str:
    boxes = list_boxes(call.workspace)
    lines = "".join(
        f"- {one.name} (id: {one.id}, icon: {one.conf['icon']}, closed: {'true' if one.conf['closed'] else 'false'})\n"
        for one in boxes
    )
    return f"Notebooks ({len(boxes)}):\n\n{lines}"


async def open_one(call: ToolCall) -> str:
    box = call.needed("id")
    if not is_node_id(box):
        raise ToolFailed(f"open notebook failed: {NOT_A_FOLDER}")
    await call.data("/api/notebook/openNotebook", "open notebook failed: ", notebook=box)
    return f"notebook opened: {box}"


async def close_one(call: ToolCall) -> str:
    box = call.needed("id")
    await call.api("/api/notebook/closeNotebook", notebook=box)
    return f"notebook closed: {box}"


async def create(call: ToolCall) -> str:
    """Unlike after the API's call, a new notebook stays closed, and so no window hears of it."""
    name = call.needed("name")

    def make(one: Call) -> str:
        workspace = one.kernel.workspace
        notebook = create_box(workspace, name)
        close_box(workspace, notebook.id)
        return notebook.id

    box = await call.run(make, "create notebook failed: ")
    return f"notebook created: {name} (id: {box})"


async def rename(call: ToolCall) -> str:
    box, name = call.all_needed("id", "name")
    if not is_node_id(box):
        raise ToolFailed(f"rename notebook failed: {QUERY_FAILED}")
    await call.data("/api/notebook/renameNotebook", "rename notebook failed: ", notebook=box, name=name)
    return f"notebook renamed: {box} -> {name}"


async def remove(call: ToolCall) -> str:
    box = call.needed("id")
    if is_node_id(box):
        await call.data("/api/notebook/removeNotebook", "remove notebook failed: ", notebook=box)
    return f"notebook removed: {box}"


def _found(call: ToolCall, box: str) -> Notebook:
    for one in list_boxes(call.workspace):
        if one.id == box:
            return one
    raise ToolFailed(f"notebook not found: {box}")


async def set_icon(call: ToolCall) -> str:
    box = call.needed("id")
    icon = call.text("icon")
    _found(call, box)
    await call.data("/api/notebook/setNotebookIcon", notebook=box, icon=icon)
    await reload_tree(call)
    return f"notebook icon set: {box} -> {icon}"


async def random_icon(call: ToolCall) -> str:
    """A new icon for one notebook, or for all."""
    box = call.text("id")
    boxes = [_found(call, box)] if box else list_boxes(call.workspace)
    if not boxes:
        raise ToolFailed("no notebooks to update")
    lines = [f"Randomized icons for {len(boxes)} notebook(s):\n"]
    for one in boxes:
        old = one.conf["icon"]
        new = _ICONS[sum(call.kernel.ids.text(8).encode()) % len(_ICONS)]
        await call.data("/api/notebook/setNotebookIcon", notebook=one.id, icon=new)
        lines.append(f"- {one.name} (id: {one.id}): {old} -> {new}\n")
    await reload_tree(call)
    return "".join(lines)


# --- dailynote -------------------------------------------------------------------------------------------------
async def _note(call: ToolCall, box: str) -> tuple[str, str, bool]:
    """Today's note: its id, its path, and whether it was there."""

    def handle(one: Call) -> Any:
        document, was_there = daily_note(one.kernel.workspace, box, one.kernel.state.get("render_template"))
        return document.id, document.path, was_there

    found: tuple[str, str, bool] = await call.run(handle, "create daily note failed: ")
    return found


async def daily_create(call: ToolCall) -> str:
    note_id, path, was_there = await _note(call, call.needed("notebook"))
    await reload_tree(call)
    return f"daily note {'already exists' if was_there else 'created'}: {note_id} (path: {path})"


async def _daily_add(call: ToolCall, action: str, done: str) -> str:
    data = call.needed("data")
    note_id, _, _ = await _note(call, call.needed("notebook"))
    drawn = await dom_from(call, data, call.text("dataType") or "markdown")
    await perform_operation(call, Operation(action=action, data=drawn, parentID=note_id), note_id)
    return f"block {done} to daily note: {note_id}"


async def daily_append(call: ToolCall) -> str:
    return await _daily_add(call, "appendInsert", "appended")


async def daily_prepend(call: ToolCall) -> str:
    return await _daily_add(call, "prependInsert", "prepended")


_ACTIONS: Final[dict[str, Action]] = {
    "list": list_all,
    "open": open_one,
    "close": close_one,
    "create": create,
    "rename": rename,
    "remove": remove,
    "set_icon": set_icon,
    "random_icon": random_icon,
}
TOOLS: Final[dict[str, Action]] = {
    "notebook": by_action(_ACTIONS),
    "dailynote": by_action({"create": daily_create, "append": daily_append, "prepend": daily_prepend}),
}
