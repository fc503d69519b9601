"""/api/bazaar: installed packages. The marketplace itself is not asked (decision 55): it looks as without a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import show_message
from kernel.siyuan.api.petal import tell_plugins
from kernel.siyuan.appearance import settle_appearance
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.packages import (
    ICONS,
    KINDS,
    PLUGINS,
    TEMPLATES,
    THEMES,
    WIDGETS,
    PackageKind,
    installed,
    is_incompatible,
    is_package_name,
)
from kernel.siyuan.petals import save_petals, stored_petals
from kernel.siyuan.sections import show_section
from kernel.workspace.events import MAIN

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

NETWORK_TIMED_OUT: Final = "Network timed out, please try again later"
INSTALL_FAILED: Final = (
    "Failed to install marketplace package [%s]: get bazaar package failed, please check your network"
)
BAD_TYPE: Final = "Invalid package type"
MESSAGE_MS: Final = 5000


def get_installed(call: Call, kind: PackageKind) -> Any:
    frontend = call.arguments.required_str("frontend") if kind is PLUGINS else ""
    keyword = call.arguments.optional_str("keyword").strip()
    shown = installed(call.kernel, kind, keyword)
    if shown:
        # They are compared with the marketplace, which cannot be reached.
        show_message(call, NETWORK_TIMED_OUT, MESSAGE_MS, code=-1)
    appearance = call.kernel.workspace.conf.section("appearance")
    selected = {THEMES: ("themeDark", "themeLight"), ICONS: ("icon",)}.get(kind, ())
    for package in shown:
        package["current"] = package["name"] in [appearance[name] for name in selected]
    if kind is PLUGINS:
        _add_plugin_facts(call, shown, frontend)
    return {"packages": shown}


def _add_plugin_facts(call: Call, shown: list[dict[str, Any]], frontend: str) -> None:
    enabled = {petal["name"]: petal["enabled"] for petal in stored_petals(call.kernel)}
    for package in shown:
        package["installedIncompatible"] = is_incompatible(package, frontend)
        package["bazaarIncompatible"] = False
        if package["name"] in enabled:
            package["enabled"] = enabled[package["name"]]


def get_bazaar(call: Call, kind: PackageKind) -> Any:
    """What the marketplace offers: nothing can be seen of it."""
    if kind is PLUGINS:
        call.arguments.required_str("frontend")
    call.arguments.optional_str("keyword")
    show_message(call, NETWORK_TIMED_OUT, MESSAGE_MS, code=-1)
    return {"packages": []}


def install(call: Call, kind: PackageKind) -> Any:
    if kind is PLUGINS:
        call.arguments.required_str("frontend")
    call.arguments.optional_str("keyword")
    call.arguments.required_str("repoURL")
    call.arguments.required_str("repoHash")
    name = call.arguments.required_str("packageName")
    if kind is THEMES:
        call.arguments.required_number("mode")
        call.arguments.optional_bool("update")
    raise ApiError(INSTALL_FAILED % name, 1)


def uninstall(call: Call, kind: PackageKind) -> Any:
    """Remove a package's folder. A name that is none (``..``) removes nothing: ours stays inside."""
    frontend = call.arguments.optional_str("frontend") if kind is PLUGINS else ""
    call.arguments.optional_str("keyword")
    name = call.arguments.required_str("packageName")
    workspace = call.kernel.workspace
    folder = f"{kind.folder}/{name}"
    if is_package_name(name) and name not in kind.built_in and workspace.files.is_dir(folder):
        workspace.files.remove(folder)
    answer: dict[str, Any] = {"packages": []}
    if kind is PLUGINS:
        save_petals(call.kernel, [one for one in stored_petals(call.kernel) if one["name"] != name])
        tell_plugins(call, uninstall=[name])
    elif kind in (THEMES, ICONS):
        settle_appearance(call.kernel)
        answer["appearance"] = show_section(call.kernel, "appearance")
        workspace.emit("setAppearance", answer["appearance"], to=MAIN)
    if frontend or kind is not PLUGINS:
        show_message(call, NETWORK_TIMED_OUT, MESSAGE_MS, code=-1)
    return answer


def get_updated(call: Call) -> Any:
    call.arguments.required_str("frontend")
    return {name: [] for name in KINDS}


def update_all(call: Call) -> Any:
    call.arguments.required_str("frontend")


def get_readme(call: Call) -> Any:
    call.arguments.required_str("repoURL")
    call.arguments.required_str("repoHash")
    if call.arguments.required_str("packageType") not in KINDS:
        raise ApiError(BAD_TYPE)
    return {"html": ""}


def _for_kind(handler: Callable[[Call, PackageKind], Any], kind: PackageKind) -> ApiHandler:
    return lambda call: handler(call, kind)


def _handlers() -> dict[str, ApiHandler]:
    words = {"Plugin": PLUGINS, "Widget": WIDGETS, "Icon": ICONS, "Template": TEMPLATES, "Theme": THEMES}
    actions: dict[str, Callable[[Call, PackageKind], Any]] = {
        "getBazaar": get_bazaar,
        "getInstalled": get_installed,
        "installBazaar": install,
        "uninstallBazaar": uninstall,
    }
    return {
        f"/api/bazaar/{action}{word}": _for_kind(handler, kind)
        for action, handler in actions.items()
        for word, kind in words.items()
    }


HANDLERS: Final[dict[str, ApiHandler]] = {
    **_handlers(),
    "/api/bazaar/getUpdatedPackage": get_updated,
    "/api/bazaar/batchUpdatePackage": update_all,
    "/api/bazaar/getBazaarPackageREADME": get_readme,
}
