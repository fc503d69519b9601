"""/api/export: documents as HTML, to be looked at, printed or saved (siyuan-api A9)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.exports import EXPORT_DIR
from kernel.siyuan.markdown_export import MarkdownExport, export_settings
from kernel.workspace.asset_links import PREFIX, assets_of
from kernel.workspace.asset_names import file_name, file_path
from kernel.workspace.assets import find_asset, without_query
from kernel.workspace.documents import Refusal
from kernel.workspace.exports.sy_files import emoji_in
from kernel.workspace.names import base_name, clean_path
from kernel.workspace.notebooks import DATA
from kernel.workspace.render.footnotes import section
from kernel.workspace.render.preview import render_preview
from kernel.workspace.render.print_dom import print_dom
from kernel.workspace.render.saved_page import saved_page
from kernel.workspace.render.theme_colors import fill_colors

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call, SiyuanKernel
    from kernel.workspace.tree import Node

_DARK: Final = 1
# Browsers that know the theme's variables themselves.
_KNOWS_VARIABLES: Final = re.compile(r"Chrome/|Edge?/|Electron|SiYuan/")
# What a page that is saved needs of the distribution.
_FRONT_END: Final = ("stage/build/export", "stage/protyle")
_MOBILE: Final = re.compile(r"Mobile|Android|iPhone|iPad")


async def preview(call: Call) -> Any:
    """A document or block as a page."""
    block_id = call.arguments.required_str("id")
    agent = call.headers.get("user-agent", "")
    fills_variables = bool(_MOBILE.search(agent)) or not _KNOWS_VARIABLES.search(agent)
    export = await MarkdownExport.of(call.kernel)
    found = export.found(block_id)
    html = ""
    if found is not None:
        document, node = found
        # A tag is always written with these marks: it is read again.
        settings = export_settings(call.kernel).options
        options = replace(settings, tag_markers=("#", "#"), adjusts_heading_level=True)
        tree = export.tree(document, node, options)
        if fills_variables:
            fill_colors(tree, is_dark=call.kernel.workspace.conf.section("appearance").get("mode") == _DARK)
        html = render_preview(tree, export.parsed, call.kernel.workspace.new_id)
    return {"html": html, "fillCSSVar": fills_variables}


async def preview_html(call: Call) -> Any:
    """A document or block as the editor shows it, to be printed."""
    block_id = call.arguments.required_str("id")
    keeps_folds, merges, _ = [call.arguments.optional_bool(name) for name in ("keepFold", "merge", "image")]
    printed = Printing(block_id, is_for_print=True, keeps_folds=keeps_folds, merges=merges)
    name, content, node = await printed_page(call.kernel, printed)
    return {
        "id": block_id,
        "name": name,
        "content": content,
        "attrs": dict(node.properties) if node is not None else {},
        "type": node.type if node is not None else "",
    }


async def export_html(call: Call) -> Any:
    """The same to be saved, with what the page shows in a folder beside it."""
    block_id = call.arguments.required_str("id")
    is_for_print = call.arguments.required_bool("pdf")
    keeps_folds, merges = [call.arguments.optional_bool(name) for name in ("keepFold", "merge")]
    folder, place = _folder(call, "html", block_id)
    printed = Printing(block_id, is_for_print=is_for_print, keeps_folds=keeps_folds, merges=merges)
    name, content, node = await printed_page(call.kernel, printed)
    if node is not None:
        _put_beside(call, place, node)
    # A page to be saved takes the front end's own files with it, and is none without them.
    if not is_for_print and not await trio.to_thread.run_sync(_has_front_end, call.kernel):
        content = ""
    return {"id": block_id, "name": name, "content": content, **({"folder": folder} if folder else {})}


async def export_md_html(call: Call) -> Any:
    """A preview to be saved, with what the page shows in a folder beside it."""
    block_id = call.arguments.required_str("id")
    folder, place = _folder(call, "htmlmd", block_id)
    export = await MarkdownExport.of(call.kernel)
    found = export.found(block_id)
    name = content = ""
    if found is not None:
        document, node = found
        options = replace(export_settings(call.kernel).options, is_editor=True)
        content = saved_page(export.tree(document, node, options))
        name = file_name(base_name(call.kernel.workspace.entry(block_id).hpath))
        _put_beside(call, place, node)
    return {"id": block_id, "name": name, "content": content, **({"folder": folder} if folder else {})}


def _folder(call: Call, kind: str, block_id: str) -> tuple[str, str]:
    """The folder's name, "" where the caller has chosen one, and its path in the workspace. Raises ApiError."""
    chosen = call.arguments.optional_str("savePath").strip()
    workspace = call.kernel.workspace
    if not chosen:
        folder = f"{kind}-{block_id}-{workspace.now_stamp()}"
        return folder, clean_path(f"{EXPORT_DIR}/{file_path(folder)}")
    root = workspace.files.absolute("").rstrip("/")
    cleaned = clean_path(chosen)
    if not f"{cleaned}/".startswith(f"{root}/"):
        raise ApiError(f"export folder [{chosen}] is not in workspace", data={"closeTimeout": 7000})
    return "", cleaned[len(root) :].lstrip("/")


def _put_beside(call: Call, place: str, node: Node) -> None:
    """The assets and emoji of a block, in a folder."""
    workspace = call.kernel.workspace
    workspace.files.make_dir(place)
    for top in section(node):
        for path in [*assets_of(top), *emoji_in(top)]:
            try:
                source = find_asset(workspace, path) if path.startswith(PREFIX) else f"{DATA}/{path}"
                content = workspace.files.read(source)
            except (Refusal, OSError):
                continue
            workspace.files.write(f"{place}/{without_query(path)}", content)


def _has_front_end(kernel: SiyuanKernel) -> bool:
    folder = kernel.options.working_dir
    return bool(folder) and all((Path(folder) / one).exists() for one in _FRONT_END)


@dataclass(frozen=True, slots=True)
class Printing:
    """What is printed, and how."""

    block_id: str
    is_for_print: bool = False
    keeps_folds: bool = False
    merges: bool = False


async def printed_page(kernel: SiyuanKernel, printed: Printing) -> tuple[str, str, Node | None]:
    """The name of the file, the page, and the block itself; nothing of an unknown block."""
    export = await MarkdownExport.of(kernel)
    found = export.found(printed.block_id)
    if found is None:
        return "", "", None
    document, node = found
    options = replace(
        export_settings(kernel).options,
        is_editor=True,
        adjusts_heading_level=True,
        keeps_folds=printed.keeps_folds,
        merges=printed.merges,
    )
    tree = export.tree(document, node, options)
    name = file_name(base_name(kernel.workspace.entry(printed.block_id).hpath))
    merged = [one for _, one in export.sub_documents(document.root.id)] if printed.merges else []
    outline = frozenset(_outline(node, merged)) if printed.is_for_print else frozenset()
    return name, print_dom(tree.children, outline, links_frames=printed.is_for_print), node


def _outline(block: Node, merged: list[Node]) -> Iterator[str]:
    """The headings that become bookmarks: those that stand in no quote and no callout, and the titles of documents that
    are merged into the page."""
    yield from (document.id for document in merged)
    stack = [*section(block), *merged]
    while stack:
        node = stack.pop()
        if node.type == "NodeHeading":
            yield node.id
        elif node.type not in ("NodeBlockquote", "NodeCallout"):
            stack.extend(node.children)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/export/preview": preview,
    "/api/export/exportPreviewHTML": preview_html,
    "/api/export/exportHTML": export_html,
    "/api/export/exportMdHTML": export_md_html,
}
