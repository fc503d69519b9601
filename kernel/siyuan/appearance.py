"""Themes and icon sets: the built-in ones, and what lies in ``conf/appearance`` of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.workspace.conf_defaults import ICON, THEME_DARK, THEME_LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.siyuan.kernel import SiyuanKernel
    from kernel.workspace.files import Files

THEMES_DIR: Final = "conf/appearance/themes"
ICONS_DIR: Final = "conf/appearance/icons"
# The built-in packages of kernel 3.7.3: name -> version and modes.
_BUILT_IN_THEMES: Final[dict[str, dict[str, Any]]] = {
    THEME_LIGHT: {"version": "1.1.2", "modes": ["light"]},
    THEME_DARK: {"version": "1.1.2", "modes": ["dark"]},
}
_BUILT_IN_ICONS: Final[dict[str, dict[str, Any]]] = {ICON: {"version": "1.0.0"}}
_DEFAULT_LABEL: Final = " (Default)"
LIGHT: Final = 0
DARK: Final = 1


def load_themes(kernel: SiyuanKernel) -> None:
    """Look again which themes there are, and which version the selected one has."""
    appearance = kernel.workspace.conf.section("appearance")
    lists: dict[str, list[dict[str, str]]] = {"light": [], "dark": []}
    version, has_script = "", False
    current = appearance["themeDark"] if appearance["mode"] == DARK else appearance["themeLight"]
    for name, package in _packages(kernel.workspace.files, THEMES_DIR, "theme.json", _BUILT_IN_THEMES):
        label = _label(name, package, appearance["lang"], is_built_in=name in _BUILT_IN_THEMES)
        for mode in _texts(package.get("modes")):
            if mode in lists:
                place = 0 if name in _BUILT_IN_THEMES else len(lists[mode])
                lists[mode].insert(place, {"name": name, "label": label})
        if name == current:
            version = str(package.get("version", ""))
            has_script = theme_has_script(kernel, name)
    appearance["lightThemes"], appearance["darkThemes"] = lists["light"], lists["dark"]
    appearance["themeVer"], appearance["themeJS"] = version, has_script


def load_icons(kernel: SiyuanKernel) -> None:
    """Look again which icon sets there are, and which version the selected one has."""
    appearance = kernel.workspace.conf.section("appearance")
    found = list(_packages(kernel.workspace.files, ICONS_DIR, "icon.json", _BUILT_IN_ICONS))
    appearance["icons"] = [
        {"name": name, "label": _label(name, package, appearance["lang"], is_built_in=name in _BUILT_IN_ICONS)}
        for name, package in found
    ]
    versions = [str(package.get("version", "")) for name, package in found if name == appearance["icon"]]
    appearance["iconVer"] = versions[0] if versions else ""


def settle_appearance(kernel: SiyuanKernel) -> None:
    """Look again, and select the built-in ones where the selected ones are not there."""
    load_themes(kernel)
    load_icons(kernel)
    appearance = kernel.workspace.conf.section("appearance")
    for name, listed, instead in (
        ("themeDark", "darkThemes", THEME_DARK),
        ("themeLight", "lightThemes", THEME_LIGHT),
    ):
        if not has_package(appearance[listed], appearance[name]):
            appearance[name], appearance["themeJS"] = instead, False
    if not has_package(appearance["icons"], appearance["icon"]):
        appearance["icon"] = ICON
    kernel.workspace.conf.save()


def theme_has_script(kernel: SiyuanKernel, name: str) -> bool:
    return kernel.workspace.files.exists(f"{THEMES_DIR}/{name}/theme.js")


def has_package(listed: list[dict[str, str]], name: str) -> bool:
    return any(one["name"] == name for one in listed)


def _packages(
    files: Files, folder: str, manifest: str, built_in: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and manifest of each package, by name; an unreadable one is passed over."""
    installed = [entry.name for entry in files.list(folder) if entry.is_dir] if files.is_dir(folder) else []
    for name in sorted({*built_in, *installed}):
        path = f"{folder}/{name}/{manifest}"
        if name not in built_in or files.exists(path):
            try:
                package = read_json(files.read(path))
            except (OSError, ValueError):
                continue
        else:
            package = built_in[name]
        if isinstance(package, dict):
            yield name, package


def _label(name: str, package: dict[str, Any], lang: str, *, is_built_in: bool) -> str:
    if is_built_in:
        return name + _DEFAULT_LABEL
    names = package.get("displayName")
    if not isinstance(names, dict):
        return name
    shown = str(names.get(lang) or "").strip() or str(names.get("default") or "").strip()
    return f"{shown} ({name})" if shown and shown != name else name


def _texts(values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
