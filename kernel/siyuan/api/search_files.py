"""/api/search: assets, templates and widgets by name, assets by content (siyuan-api A6)."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.siyuan.api.search import settings_of
from kernel.siyuan.arguments import ApiError, Panic
from kernel.workspace.asset_contents import AssetContents, AssetFile, AssetText, shown_name
from kernel.workspace.durations import file_size
from kernel.workspace.index.statements import StatementRefused
from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT, escaped, marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call, SiyuanKernel

ASSETS: Final = "data/assets"
TEMPLATES: Final = "data/templates"
WIDGETS: Final = "data/widgets"
_STATE: Final = "asset_contents"
_WHOLE_NAME_WEIGHT: Final = 64
_README: Final = "README.md"


# --- assets ---------------------------------------------------------------------------------------------------
def asset_files(kernel: SiyuanKernel) -> list[AssetFile]:
    """Every file below data/assets."""
    files = kernel.workspace.files
    if not files.is_dir(ASSETS):
        return []
    return [
        AssetFile(f"assets{path.removeprefix(ASSETS)}", stat.size, int(stat.mtime_s))
        for path, stat in files.walk(ASSETS)
        if not stat.is_dir and not posixpath.basename(path).startswith(".")
    ]


def search_asset(call: Call) -> Any:
    """Assets whose name or path holds the keyword, the best first."""
    keyword = call.arguments.raw_str("k")
    suffixes = None
    if call.arguments.get("exts") is not None:
        suffixes = {suffix.lower() for suffix in call.arguments.raw_str_list("exts")} or None
    words = [keyword, *(keyword.split(" ") if keyword else [])]
    settings = settings_of(call.kernel)
    found: list[tuple[int, dict[str, Any]]] = []
    for file in asset_files(call.kernel):
        name = shown_name(file.path)
        if suffixes is not None and posixpath.splitext(name)[1].lower() not in suffixes:
            continue
        hits = _hits(name.lower(), words) + _hits(file.path.lower(), words)
        if hits:
            shown = marked(name, [word for word in words if word], _WHOLE_NAME_WEIGHT)
            found.append((hits, {"hName": shown, "path": file.path, "updated": file.updated}))
    found.sort(key=lambda one: -one[0])
    return [shown for _, shown in found[: settings.limit]]


def _hits(text: str, words: list[str]) -> int:
    whole = _WHOLE_NAME_WEIGHT if words[0].lower() in text else 0
    return whole + sum(text.count(word.lower()) for word in words)


def contents_of(kernel: SiyuanKernel) -> AssetContents:
    """The index of asset texts, brought up to date with the files."""
    contents = kernel.state.get(_STATE)
    if not isinstance(contents, AssetContents):
        contents = kernel.state[_STATE] = AssetContents()
    for file in contents.stale(asset_files(kernel)):
        try:
            contents.put(file, kernel.workspace.files.read(f"data/{file.path}"))
        except OSError:
            continue
    return contents


def full_text_search_asset_content(call: Call) -> Any:
    arguments = call.arguments
    page = _number(call, "page", 1)
    page_size = _number(call, "pageSize", 32)
    query = "" if arguments.get("query") is None else arguments.raw_str("query")
    page, page_size = max(page, 1), page_size if page_size > 0 else 32
    try:
        texts, count = contents_of(call.kernel).search(
            query, _types(call), _number(call, "method", 0), _number(call, "orderBy", 0), page, page_size
        )
    except StatementRefused as error:
        raise ApiError(str(error)) from error
    return {
        "assetContents": [_text_json(text) for text in texts],
        "matchedAssetCount": count,
        "pageCount": -(-count // page_size),
    }


def get_asset_content(call: Call) -> Any:
    asset_id, query = call.arguments.raw_str("id"), call.arguments.raw_str("query")
    method = int(call.arguments.raw_number("queryMethod"))
    text = contents_of(call.kernel).by_id(asset_id, query, method) if is_node_id(asset_id) else None
    shown = None if text is None else _text_json(text)
    if shown is not None:
        shown["content"] = shown["content"].replace("\n", "<br>")
    return {"assetContent": shown}


def get_asset_content_by_path(call: Call) -> Any:
    text = contents_of(call.kernel).by_path(call.arguments.raw_str("path").strip())
    return {"assetContent": None if text is None else _text_json(text)}


def _text_json(text: AssetText) -> dict[str, Any]:
    return {
        "id": text.id,
        "name": text.name,
        "ext": text.ext,
        "path": text.path,
        "size": text.size,
        "hSize": file_size(text.size),
        "updated": text.updated,
        "content": escaped(text.content).replace(HIT_LEFT, "<mark>").replace(HIT_RIGHT, "</mark>"),
    }


def _number(call: Call, name: str, default: int) -> int:
    return default if call.arguments.get(name) is None else int(call.arguments.raw_number(name))


def _types(call: Call) -> frozenset[str] | None:
    if call.arguments.get("types") is None:
        return None
    chosen = call.arguments.raw_object("types")
    if not all(isinstance(value, bool) for value in chosen.values()):
        raise Panic("types")
    return frozenset(name for name, is_chosen in chosen.items() if is_chosen) if chosen else None


# --- templates and widgets ------------------------------------------------------------------------------------
def search_template(call: Call) -> Any:
    """Templates whose path holds every word."""
    keyword = call.arguments.raw_str("k")
    words = keyword.split()
    found = []
    for path in _templates(call.kernel):
        relative = path.removeprefix(f"{TEMPLATES}/")
        label = relative.removesuffix(".md")
        shown = label if "/" not in relative else f"/{label}"
        if all(word.lower() in shown.lower() for word in words):
            absolute = call.kernel.workspace.files.absolute(path)
            found.append({"path": absolute, "relativePath": relative, "content": marked(shown, words, 32)})
    return {"templates": found, "k": keyword}


def _templates(kernel: SiyuanKernel) -> Iterator[str]:
    files = kernel.workspace.files
    if not files.is_dir(TEMPLATES):
        return
    for path, stat in sorted(files.walk(TEMPLATES)):
        parts = path.removeprefix(f"{TEMPLATES}/").split("/")
        is_hidden = any(part.startswith(".") for part in parts)
        if stat.is_dir or is_hidden or not path.lower().endswith(".md") or (len(parts) < 3 and parts[-1] == _README):
            continue
        yield path


def remove_template(call: Call) -> Any:
    """Delete a template. The real kernel deletes any path it is given; this one only what lies among the templates."""
    path = call.arguments.raw_str("path")
    files = call.kernel.workspace.files
    for template in _templates(call.kernel):
        if files.absolute(template) == path:
            files.remove(template)
            return


def search_widget(call: Call) -> Any:
    keyword = call.arguments.raw_str("k")
    files = call.kernel.workspace.files
    found = []
    for entry in sorted(files.list(WIDGETS), key=lambda one: one.name) if files.is_dir(WIDGETS) else []:
        manifest = _manifest(call.kernel, f"{WIDGETS}/{entry.name}/widget.json") if entry.is_dir else None
        if manifest is None:
            continue
        name = str(manifest.get("name", ""))
        labels = manifest.get("displayName")
        shown = name
        if isinstance(labels, dict):
            shown = str(labels.get("en_US") or labels.get("en") or labels.get("default") or name)
        if keyword.lower() in f"{name} {shown}".lower():
            found.append({"name": shown, "content": name})
    return {"widgets": found, "k": keyword}


def _manifest(kernel: SiyuanKernel, path: str) -> dict[str, Any] | None:
    try:
        manifest = read_json(kernel.workspace.files.read(path))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/search/searchAsset": search_asset,
    "/api/search/fullTextSearchAssetContent": full_text_search_asset_content,
    "/api/search/getAssetContent": get_asset_content,
    "/api/search/getAssetContentByPath": get_asset_content_by_path,
    "/api/search/searchTemplate": search_template,
    "/api/search/removeTemplate": remove_template,
    "/api/search/searchWidget": search_widget,
}
