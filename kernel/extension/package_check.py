"""[core] extension.validate_package: what a package's manifest and given files say, and nothing beyond that.

A valid package is not thereby installed, trusted, loaded, running or working: the answer says so itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.extension.catalog import version_of

REQUIRED_FILES: Final[Mapping[str, str]] = {"plugin": "index.js", "theme": "theme.css", "widget": "index.html"}
RUNTIME_FIELDS: Final = [
    "enabled",
    "installed",
    "outdated",
    "incompatible",
    "updated",
    "size",
    "hSize",
    "installSize",
    "hInstallSize",
    "hUpdated",
    "installDate",
    "hInstallDate",
    "downloads",
    "current",
    "repoHash",
    "disabledInPublish",
]
_BACKENDS: Final = frozenset({"windows", "linux", "darwin", "docker", "android", "ios", "harmony", "all"})
_FRONTENDS: Final = frozenset({"desktop", "desktop-window", "mobile", "browser-desktop", "browser-mobile", "all"})
_SEMVER: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?")
# What a folder can be called; dots alone are none of their own.
_NAME: Final = re.compile(r"(?!\.+$)[A-Za-z0-9._-]+")
_VERSION_NUMBERS: Final = 3
_STEP: Final = r"\s*\??\.\s*"


def _mcp_call(name: str) -> re.Pattern[str]:
    """``siyuan.mcp.NAME(…)`` in the ways in which a member is written."""
    return re.compile(rf"\bsiyuan{_STEP}mcp(?:{_STEP}{name}|\s*(?:\?\.)?\[\s*['\"`]{name}['\"`]\s*\])\s*(?:\?\.)?\s*\(")


_CALLS: Final[Mapping[str, re.Pattern[str]]] = {
    # A method, a property that is a function, an assignment; not a call of somebody's.
    "onunload": re.compile(r"(?:(?<![.\w])|\bthis\.|\bprototype\.)onunload\s*(?::|=(?!=)|\([^()]*\)\s*\{)"),
    "registerTool": _mcp_call("registerTool"),
    "unregisterTool": _mcp_call("unregisterTool"),
}
_EXECUTABLE: Final = (
    ".js",
    ".mjs",
    ".cjs",
    ".wasm",
    ".node",
    ".html",
    ".htm",
    ".xhtml",
    ".svg",
    ".sh",
    ".command",
    ".bat",
    ".cmd",
    ".ps1",
    ".vbs",
    ".exe",
    ".dll",
    ".so",
    ".dylib",
    ".jar",
    ".py",
)
_BOUNDARY: Final = (
    "Only the manifest and the files given here were looked at. Valid does not mean installed, trusted, discovered, "
    "loaded, running, registered, reloaded or working."
)


def validate_package(package: Mapping[str, Any], runtime: Mapping[str, Any]) -> dict[str, Any]:
    """The findings for one package: ``{valid, type, name, problems, warnings, executableSurface, lifecycle?, boundary}``."""
    kind, manifest = str(package["type"]), package["manifest"]
    files = package.get("files")
    texts = {str(name): str(text) for name, text in files.items()} if isinstance(files, dict) else {}
    problems = [*_metadata(manifest), *_file_names(texts), *_required(kind, texts), *_runtime(manifest, runtime)]
    if kind == "theme" and not _modes(manifest):
        problems.append("A theme needs modes: a list of light and dark, at least one.")
    report: dict[str, Any] = {
        "valid": not problems,
        "layer": "static",
        "type": kind,
        "name": manifest.get("name"),
        "version": manifest.get("version"),
        "problems": problems,
        "warnings": list(_warnings(kind, manifest, texts)),
        "executableSurface": sorted(name for name in texts if name.lower().endswith(_EXECUTABLE)),
        "boundary": _BOUNDARY,
    }
    if kind == "plugin":
        report["lifecycle"] = {
            call: sorted(name for name, text in texts.items() if pattern.search(text))
            for call, pattern in _CALLS.items()
        }
    return report


def _metadata(manifest: Mapping[str, Any]) -> Iterator[str]:
    name, version, least = manifest.get("name"), manifest.get("version"), manifest.get("minAppVersion")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        yield "name must be letters, digits, dots, dashes and underscores."
    for label, value in (("version", version), ("minAppVersion", least)):
        if not isinstance(value, str) or _SEMVER.fullmatch(value) is None:
            yield f"{label} must be a version such as 1.0.0."
    for label in ("displayName", "description"):
        texts = manifest.get(label)
        if not isinstance(texts, dict) or not isinstance(texts.get("default"), str) or not texts["default"].strip():
            yield f"{label} must be an object with a text under default."
    for label in RUNTIME_FIELDS:
        if label in manifest:
            yield f"{label} is set by the kernel at run time and must not be written by hand."


def _file_names(texts: Mapping[str, str]) -> Iterator[str]:
    for name in texts:
        parts = name.split("/")
        is_strange = not name.isprintable() or "\\" in name or ":" in name or name.startswith("~")
        if is_strange or any(part in ("", ".", "..") for part in parts):
            yield f"files may only have relative names, not {name!r}."


def _required(kind: str, texts: Mapping[str, str]) -> Iterator[str]:
    needed = REQUIRED_FILES.get(kind)
    if needed is not None and needed not in texts:
        yield f"A {kind} needs {needed}."


def _runtime(manifest: Mapping[str, Any], runtime: Mapping[str, Any]) -> Iterator[str]:
    app, least = runtime.get("appVersion"), manifest.get("minAppVersion")
    if isinstance(app, str) and isinstance(least, str) and _whole(app) < _whole(least):
        yield f"It needs SiYuan {least}, and the runtime is {app}."
    for label, known, asked in (("backends", _BACKENDS, "backend"), ("frontends", _FRONTENDS, "frontend")):
        listed = manifest.get(label)
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(_is_among(one, known) for one in listed):
            yield f"{label} must be a list of: {', '.join(sorted(known))}."
        elif runtime.get(asked) and "all" not in listed and runtime[asked] not in listed:
            yield f"It does not support {asked} {runtime[asked]}."
    kernels = manifest.get("kernels")
    if kernels is not None and not (isinstance(kernels, list) and all(_is_among(one, _BACKENDS) for one in kernels)):
        yield f"kernels must be a list of: {', '.join(sorted(_BACKENDS))}."
    elif kernels and runtime.get("backend") and "all" not in kernels and runtime["backend"] not in kernels:
        yield f"Its kernel part does not support backend {runtime['backend']}."


def _is_among(value: Any, known: frozenset[str]) -> bool:
    return isinstance(value, str) and value in known


def _whole(version: str) -> tuple[int, ...]:
    """3.7 is 3.7.0."""
    numbers = version_of(version)
    return numbers + (0,) * (_VERSION_NUMBERS - len(numbers))


def _modes(manifest: Mapping[str, Any]) -> bool:
    modes = manifest.get("modes")
    return isinstance(modes, list) and bool(modes) and all(mode in ("light", "dark") for mode in modes)


def _warnings(kind: str, manifest: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    if kind != "plugin":
        return
    if manifest.get("kernels") and "kernel.js" not in texts:
        yield "The manifest names kernels, and no kernel.js is given."
    if "kernel.js" in texts and not manifest.get("kernels"):
        yield "kernel.js is given, and the manifest names no kernels."
    registers = any(_CALLS["registerTool"].search(text) for text in texts.values())
    unregisters = any(_CALLS["unregisterTool"].search(text) for text in texts.values())
    if registers and not unregisters:
        yield "Tools are registered and never unregistered."
    if "index.js" in texts and not _CALLS["onunload"].search(texts["index.js"]):
        yield "index.js has no onunload: what it sets up may outlive it."
