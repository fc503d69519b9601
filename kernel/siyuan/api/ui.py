"""/api/ui: tell the windows to draw something anew (siyuan-api A13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.appearance import settle_appearance
from kernel.siyuan.sections import show_section
from kernel.workspace.events import FILETREE, MAIN, PROTYLE
from kernel.workspace.refs import redraw

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


def reload_ui(call: Call) -> Any:
    call.kernel.workspace.emit("reloadui", to=MAIN)


def reload_tag(call: Call) -> Any:
    call.kernel.workspace.emit("reloadTag", to=MAIN)


def reload_filetree(call: Call) -> Any:
    call.kernel.workspace.emit("reloadFiletree", to=FILETREE)


def reload_protyle(call: Call) -> Any:
    redraw(call.kernel.workspace, call.arguments.raw_str("id"))


def reload_attribute_view(call: Call) -> Any:
    call.kernel.workspace.emit("refreshAttributeView", {"id": call.arguments.raw_str("id")}, to=PROTYLE)


def reload_appearance(call: Call) -> Any:
    """Themes and icons are looked for again; the windows get the whole section."""
    settle_appearance(call.kernel)
    call.kernel.workspace.emit("setAppearance", show_section(call.kernel, "appearance"), to=MAIN)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/ui/reloadUI": reload_ui,
    "/api/ui/reloadTag": reload_tag,
    "/api/ui/reloadFiletree": reload_filetree,
    "/api/ui/reloadProtyle": reload_protyle,
    "/api/ui/reloadAttributeView": reload_attribute_view,
    "/api/ui/reloadIcon": reload_appearance,
    "/api/ui/reloadTheme": reload_appearance,
}
