"""Packages installed in the workspace: plugins, widgets, templates, themes, icon sets, each with a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.siyuan.machine import CONTAINER, KERNEL_VERSION
from kernel.workspace.conf_defaults import ICON, THEME_DARK, THEME_LIGHT
from kernel.workspace.conf_shapes import record
from kernel.workspace.durations import file_size
from kernel.workspace.go_struct import TEXT, ListOf, MapOf, Mismatch, Optional, read

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel


@dataclass(frozen=True, slots=True)
class PackageKind:
    """Where packages of a kind lie, what their manifest is called, and where they are served."""

    name: str
    folder: str
    manifest: str
    address: str
    built_in: tuple[str, ...] = ()


PLUGINS: Final = PackageKind("plugins", "data/plugins", "plugin.json", "/plugins/")
WIDGETS: Final = PackageKind("widgets", "data/widgets", "widget.json", "/widgets/")
TEMPLATES: Final = PackageKind("templates", "data/templates", "template.json", "/templates/")
THEMES: Final = PackageKind(
    "themes", "conf/appearance/themes", "theme.json", "/appearance/themes/", (THEME_LIGHT, THEME_DARK)
)
ICONS: Final = PackageKind("icons", "conf/appearance/icons", "icon.json", "/appearance/icons/", (ICON,))
KINDS: Final = {kind.name: kind for kind in (PLUGINS, WIDGETS, TEMPLATES, THEMES, ICONS)}

_LOCALE_TEXTS: Final = MapOf(TEXT, "bazaar.LocaleStrings")
_FUNDING: Final = record("bazaar.Funding", "text: openCollective patreon github\ntexts: custom")
_MANIFEST: Final = record(
    "bazaar.Package",
    """
    text: author url version minAppVersion
    bool: disabledInPublish
    texts: kernels backends frontends
    locale: displayName description readme
    funding: funding
    texts: keywords
    text: name
    modes: modes
    """,
    {"locale": _LOCALE_TEXTS, "funding": Optional(_FUNDING), "modes": Optional(ListOf(TEXT))},
)
# What only the marketplace knows; without a network nothing.
_UNKNOWN: Final[dict[str, Any]] = {
    "repoHash": "",
    "outdated": False,
    "current": False,
    "updated": "",
    "stars": 0,
    "openIssues": 0,
    "size": 0,
    "hSize": "",
    "hUpdated": "",
    "downloads": 0,
    "disallowUpdate": False,
}
_FUNDING_BASES: Final = {
    "openCollective": "https://opencollective.com/",
    "patreon": "https://www.patreon.com/",
    "github": "https://github.com/sponsors/",
}
# Bytes of a folder itself, as the disk counts them.
FOLDER_BYTES: Final = 4096
README: Final = "README.md"


def manifest_of(kernel: SiyuanKernel, kind: PackageKind, name: str) -> dict[str, Any] | None:
    """The manifest of the package in a folder; None where there is none that can be read."""
    path = f"{kind.folder}/{name}/{kind.manifest}"
    files = kernel.workspace.files
    if not is_package_name(name) or not files.exists(path):
        return None
    try:
        manifest: dict[str, Any] = read(_MANIFEST, read_json(files.read(path)))
    except (Mismatch, ValueError, OSError):
        return None
    manifest["url"] = manifest["url"].removesuffix("/")
    return manifest


def is_package_name(name: str) -> bool:
    """Whether it names a folder right below its kind's, and nothing else."""
    return bool(name) and name not in (".", "..") and "/" not in name and "\\" not in name and "\0" not in name


def installed(kernel: SiyuanKernel, kind: PackageKind, keyword: str = "") -> list[dict[str, Any]]:
    """The installed packages of a kind as the API shows them, by their folder's name."""
    files = kernel.workspace.files
    entries = files.list(kind.folder) if files.is_dir(kind.folder) else []
    shown = []
    for name in sorted(entry.name for entry in entries if entry.is_dir and entry.name not in kind.built_in):
        manifest = manifest_of(kernel, kind, name)
        if manifest is not None and _matches(manifest, keyword.lower().split(" ")):
            shown.append(_described(kernel, kind, name, manifest))
    return shown


def preferred(kernel: SiyuanKernel, texts: dict[str, str] | None, otherwise: str) -> str:
    """The text in the interface's language, else the default one."""
    lang = kernel.workspace.conf.values["lang"]
    for key in (lang, lang.replace("-", "_"), "default", "en", "en_US"):
        text = (texts or {}).get(key, "").strip()
        if text:
            return text
    return otherwise


def needs_newer_kernel(manifest: dict[str, Any]) -> bool:
    return _version(manifest["minAppVersion"]) > _version(KERNEL_VERSION)


def is_incompatible(manifest: dict[str, Any], frontend: str) -> bool:
    """Whether a plugin is not for this kernel, or not for that front end (``""``: whichever)."""
    if not _is_for(manifest["backends"], CONTAINER):
        return True
    return bool(frontend) and not _is_for(manifest["frontends"], frontend)


def is_kernel_incompatible(manifest: dict[str, Any]) -> bool:
    return not manifest["kernels"] or not _is_for(manifest["kernels"], CONTAINER)


def _is_for(targets: list[str] | None, target: str) -> bool:
    return not targets or target in targets or "all" in targets


def _version(text: str) -> tuple[int, ...]:
    parts = text.partition("-")[0].split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def _matches(manifest: dict[str, Any], keywords: list[str]) -> bool:
    texts = [manifest["name"], manifest["author"], manifest["url"].rpartition("/")[2], *(manifest["keywords"] or [])]
    texts += [*(manifest["displayName"] or {}).values(), *(manifest["description"] or {}).values()]
    lower = [text.lower() for text in texts]
    return all(any(keyword in text for text in lower) for keyword in keywords if keyword)


def _described(kernel: SiyuanKernel, kind: PackageKind, name: str, manifest: dict[str, Any]) -> dict[str, Any]:
    address = f"{kind.address}{name}/"
    size, installed_at = _size_and_date(kernel, f"{kind.folder}/{name}")
    shown = {key: value for key, value in manifest.items() if key != "modes"}
    shown |= _UNKNOWN
    shown |= {
        "preferredFunding": _preferred_funding(manifest["funding"]),
        "preferredName": preferred(kernel, manifest["displayName"], manifest["name"]),
        "preferredDesc": preferred(kernel, manifest["description"], ""),
        "preferredReadme": _readme(kernel, f"{kind.folder}/{name}", manifest),
        "repoURL": manifest["url"],
        "previewURL": f"{address}preview.png",
        "iconURL": f"{address}icon.png",
        "installed": True,
        "installSize": size,
        "hInstallSize": file_size(size),
        "hInstallDate": installed_at,
        "disallowInstall": needs_newer_kernel(manifest),
    }
    if kind is THEMES and manifest["modes"] is not None:
        shown["modes"] = manifest["modes"]
    return shown


def _size_and_date(kernel: SiyuanKernel, folder: str) -> tuple[int, str]:
    files = kernel.workspace.files
    size = FOLDER_BYTES
    for _, entry in files.walk(folder):
        size += FOLDER_BYTES if entry.is_dir else entry.size
    found = files.stat(folder)
    zone = kernel.clock.local().tzinfo
    date = datetime.fromtimestamp(found.mtime_s, tz=zone) if found is not None else kernel.clock.local()
    return size, f"{date:%Y-%m-%d}"


def _readme(kernel: SiyuanKernel, folder: str, manifest: dict[str, Any]) -> str:
    """The README as a plain page."""
    # The Markdown engine comes in with who reads or writes notes; the list of packages alone does without it.
    from kernel.siyuan.clean_html import cleaned
    from kernel.workspace.intake import context_of
    from kernel.workspace.markdown.context import MarkdownError
    from kernel.workspace.markdown.parser import parse_markdown
    from kernel.workspace.render.page import render_page

    name = preferred(kernel, manifest["readme"], README).strip() or README
    path = f"{folder}/{name}"
    files = kernel.workspace.files
    if "/" in name or not files.exists(path):
        return f"File [{name}] not found"
    markdown = files.read(path).decode("utf-8", "replace")
    try:
        blocks = parse_markdown(markdown, context=context_of(kernel.workspace))
    except MarkdownError:
        return markdown
    return cleaned(render_page(blocks, has_ids=False))


def _preferred_funding(funding: dict[str, Any] | None) -> str:
    if funding is None:
        return ""
    for name, base in _FUNDING_BASES.items():
        value = str(funding[name])
        if value:
            return value if value.startswith(("https://", "http://")) else base + value
    first = str((funding["custom"] or [""])[0])
    return first if first.startswith(("https://", "http://", "mailto:")) else ""
