"""/api/petal: switch plugins on and off, hand their code to windows (siyuan-api A13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.petals import PluginTooNew, PluginUnknown, loadable, set_enabled
from kernel.workspace.events import MAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


def load_petals(call: Call) -> Any:
    return loadable(call.kernel, call.arguments.required_str("frontend"))


def set_petal_enabled(call: Call) -> Any:
    name = call.arguments.required_str("packageName")
    enabled = call.arguments.required_bool("enabled")
    app = call.arguments.optional_str("app")
    try:
        petal = set_enabled(call.kernel, name, enabled=enabled)
    except (PluginUnknown, PluginTooNew) as error:
        raise ApiError(str(error)) from error
    tell_plugins(call, reload=[name] if enabled else [], unload=[] if enabled else [name], app=app)
    return petal


def tell_plugins(
    call: Call,
    *,
    reload: Sequence[str] = (),
    unload: Sequence[str] = (),
    uninstall: Sequence[str] = (),
    app: str = "",
) -> None:
    """Main windows (but those of the app that asked) load, drop or forget these plugins."""
    told = {
        "uninstallPlugins": list(uninstall),
        "unloadPlugins": list(unload),
        "reloadPlugins": list(reload),
        "dataChangePlugins": [],
    }
    call.kernel.workspace.emit("reloadPlugin", told, to=MAIN, excludes_app=app or None)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/petal/loadPetals": load_petals,
    "/api/petal/setPetalEnabled": set_petal_enabled,
}
