"""Which plugins are switched on: ``data/storage/petal/petals.json``, and the code that windows load."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.siyuan import packages
from kernel.siyuan.stored_json import StoredJsonInvalid, stored
from kernel.workspace.conf_shapes import record
from kernel.workspace.go_struct import ANY, ListOf, MapOf, written, zero

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

PATH: Final = "data/storage/petal/petals.json"
_KERNEL_PART: Final = record("model.KernelPetal", "text: js\nbool: existed incompatible")
PETAL: Final = record(
    "model.Petal",
    """
    text: name displayName version
    bool: enabled incompatible disabledInPublish disallowInstall
    text: js css
    texts_by_key: i18n
    kernel: kernel
    """,
    {"texts_by_key": MapOf(ANY), "kernel": _KERNEL_PART},
)
_PETALS: Final = ListOf(PETAL, is_optional=True)


class PluginUnknown(LookupError):
    """No such plugin; the message is the kernel's."""


class PluginTooNew(ValueError):
    """The plugin needs a newer kernel; the message is the kernel's."""


def is_loading_allowed(kernel: SiyuanKernel) -> bool:
    """Plugins are loaded when the user trusts them and has not switched them off altogether."""
    bazaar = kernel.workspace.conf.section("bazaar")
    return bool(bazaar["trust"]) and not bazaar["petalDisabled"]


def stored_petals(kernel: SiyuanKernel) -> list[dict[str, Any]]:
    """The switches of the plugins that are there; the others are forgotten."""
    files = kernel.workspace.files
    try:
        known = [one for one in stored(files, PATH, _PETALS) or [] if one is not None]
    except StoredJsonInvalid:
        return []
    there = [one for one in known if packages.manifest_of(kernel, packages.PLUGINS, one["name"]) is not None]
    if there != known:
        save_petals(kernel, there)
    return there


def save_petals(kernel: SiyuanKernel, petals: list[dict[str, Any]]) -> None:
    """Write the switches, without code."""
    plain = [{**written(PETAL, one), "js": "", "css": "", "i18n": None} for one in petals]
    for one in plain:
        one["kernel"] = {**one["kernel"], "js": "", "existed": False}
    kernel.workspace.files.write(PATH, json.dumps(plain, ensure_ascii=False, indent="\t").encode("utf-8", "replace"))


def set_enabled(kernel: SiyuanKernel, name: str, *, enabled: bool) -> dict[str, Any]:
    """Switch a plugin on or off; what it is, with its code.

    Raises:
        PluginUnknown: it is not installed.
        PluginTooNew: it may not be switched on here.
    """
    manifest = packages.manifest_of(kernel, packages.PLUGINS, name)
    if manifest is None:
        raise PluginUnknown(f"plugin [{name}] not found")
    petals = stored_petals(kernel)
    petal = next((one for one in petals if one["name"] == name), None)
    if petal is None:
        petal = {**zero(PETAL), "name": name}
        petals.append(petal)
    _describe(kernel, petal, manifest, "")
    petal["enabled"] = enabled
    if enabled and petal["disallowInstall"]:
        raise PluginTooNew(f"require upgrade SiYuan to use this plugin [{name}]")
    save_petals(kernel, petals)
    return _with_code(kernel, petal)


def loadable(kernel: SiyuanKernel, frontend: str) -> list[dict[str, Any]]:
    """The plugins that a front end loads, with their code. What may no longer run is switched off."""
    if not is_loading_allowed(kernel):
        return []
    shown = []
    for petal in stored_petals(kernel):
        manifest = packages.manifest_of(kernel, packages.PLUGINS, petal["name"])
        if manifest is None:
            continue
        _describe(kernel, petal, manifest, frontend)
        if not petal["enabled"] or petal["incompatible"]:
            continue
        if petal["disallowInstall"]:
            set_enabled(kernel, petal["name"], enabled=False)
            continue
        shown.append(_with_code(kernel, petal))
    return shown


def _describe(kernel: SiyuanKernel, petal: dict[str, Any], manifest: dict[str, Any], frontend: str) -> None:
    petal.update(
        version=manifest["version"],
        displayName=packages.preferred(kernel, manifest["displayName"], manifest["name"]),
        incompatible=packages.is_incompatible(manifest, frontend),
        disabledInPublish=manifest["disabledInPublish"],
        disallowInstall=packages.needs_newer_kernel(manifest),
        kernel={"js": "", "existed": False, "incompatible": packages.is_kernel_incompatible(manifest)},
    )


def _with_code(kernel: SiyuanKernel, petal: dict[str, Any]) -> dict[str, Any]:
    folder = f"{packages.PLUGINS.folder}/{petal['name']}"
    shown: dict[str, Any] = written(PETAL, petal)
    code = _text(kernel, f"{folder}/index.js")
    if code is None:
        return shown
    kernel_code = _text(kernel, f"{folder}/kernel.js")
    shown["js"], shown["css"] = code, _text(kernel, f"{folder}/index.css") or ""
    if kernel_code is not None:
        shown["kernel"] = {**shown["kernel"], "js": kernel_code, "existed": True}
    shown["i18n"] = _translations(kernel, f"{folder}/i18n")
    return shown


def _translations(kernel: SiyuanKernel, folder: str) -> Any:
    """The plugin's texts in the interface's language, else in English, Chinese, or whatever there is."""
    files = kernel.workspace.files
    names = [entry.name for entry in files.list(folder) if entry.name.endswith(".json")] if files.is_dir(folder) else []
    lang = kernel.workspace.conf.values["lang"]
    wanted = [f"{one}.json" for one in (lang, lang.replace("-", "_"), "en", "en_US", "zh-CN", "zh_CN")]
    chosen = next((name for name in [*wanted, *sorted(names)] if name in names), None)
    if chosen is None:
        return None
    try:
        texts = read_json(files.read(f"{folder}/{chosen}"))
    except (ValueError, OSError):
        return {}
    return texts if isinstance(texts, dict) else {}


def _text(kernel: SiyuanKernel, path: str) -> str | None:
    files = kernel.workspace.files
    return files.read(path).decode("utf-8", "replace") if files.exists(path) else None
