"""/api/export: documents as Markdown and as they are stored (siyuan-api A9; siyuan-markdown section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.exports import offer, packed
from kernel.siyuan.markdown_export import MarkdownExport, export_settings
from kernel.siyuan.progress import EXPORTING, completed, show, show_documents, show_packing, show_stored
from kernel.workspace.asset_names import file_name
from kernel.workspace.exports.choosing import chosen_documents, with_related
from kernel.workspace.exports.markdown_files import MarkdownFiles
from kernel.workspace.exports.settings import CHANGEABLE, ExportSettings
from kernel.workspace.exports.sy_files import sy_files
from kernel.workspace.names import base_name, dir_name

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Document

_MARKDOWN: Final = ".md"
# Formats that the real kernel leaves to pandoc: an archive without the documents where there is none.
_PANDOC_SUFFIXES: Final = {
    "exportReStructuredText": ".rst",
    "exportAsciiDoc": ".adoc",
    "exportTextile": ".textile",
    "exportOPML": ".opml",
    "exportOrgMode": ".org",
    "exportMediaWiki": ".wiki",
    "exportODT": ".odt",
    "exportRTF": ".rtf",
    "exportEPUB": ".epub",
}


# --- one text --------------------------------------------------------------------------------------------------------
async def export_md_content(call: Call) -> Any:
    """A document, or one block under its document's head."""
    block_id = call.arguments.required_str("id")
    if not is_node_id(block_id):
        raise ApiError("invalid ID argument")
    settings = export_settings(call.kernel).options
    options = replace(
        settings,
        ref_mode=int(_number(call, "refMode", settings.ref_mode)),
        embed_mode=int(_number(call, "embedMode", settings.embed_mode)),
    )
    has_front_matter = _flag(call, "yfm", True)
    call.arguments.optional_bool("fillCSSVar")
    options = replace(
        options,
        adjusts_heading_level=call.arguments.optional_bool("adjustHeadingLevel"),
        has_image_tags=call.arguments.optional_bool("imgTag"),
        adds_title=_flag(call, "addTitle", options.adds_title),
    )
    export = await MarkdownExport.of(call.kernel)
    found = export.found(block_id)
    if found is None:
        return {"hPath": "", "content": ""}
    document, node = found
    content = export.markdown(document, node, options)
    if has_front_matter:
        content = export.front_matter(document.root) + content
    return {"hPath": call.kernel.workspace.entry(block_id).hpath, "content": content}


def _number(call: Call, name: str, default: float) -> float:
    return default if call.arguments.get(name) is None else call.arguments.raw_number(name)


def _flag(call: Call, name: str, default: bool) -> bool:
    return default if call.arguments.get(name) is None else call.arguments.raw_bool(name)


# --- Markdown files --------------------------------------------------------------------------------------------------
def _changes(call: Call) -> dict[str, Any]:
    """What the caller wants otherwise than the settings, for this export. Raises Panic for a wrong type."""
    changes = {}
    for name, kind in CHANGEABLE.items():
        value = call.arguments.get(name)
        if value is None:
            continue
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise Panic(name)
        changes[name] = value
    return changes


async def export_md(call: Call) -> Any:
    return await _documents(call, [call.arguments.required_str("id")], export_settings(call.kernel, _changes(call)))


async def export_mds(call: Call) -> Any:
    block_ids = call.arguments.raw_str_list("ids")
    return await _documents(call, block_ids, export_settings(call.kernel, _changes(call)))


async def _pandoc(suffix: str, call: Call) -> Any:
    """The archive that comes of it without pandoc."""
    return await _documents(call, [call.arguments.required_str("id")], export_settings(call.kernel), suffix)


async def _documents(call: Call, block_ids: list[str], settings: ExportSettings, suffix: str = _MARKDOWN) -> Any:
    """The archive bears the name of the first block's document."""
    workspace = call.kernel.workspace
    first = workspace.blocks.entry_of(block_ids[0]) if block_ids else None
    if first is None:
        raise Panic("no such block")
    chosen = chosen_documents(workspace, block_ids, has_sub_documents=settings.has_sub_documents)
    address = await _markdown_archive(call, base_name(first.hpath), chosen, settings, suffix)
    return {"name": first.id, "zip": address}


async def export_notebook_md(call: Call) -> Any:
    """All of a notebook; of none, an archive without a name."""
    box = call.arguments.required_str("notebook")
    settings = export_settings(call.kernel, _changes(call))
    workspace = call.kernel.workspace
    notebook = workspace.notebooks.opened(box)
    with completed(workspace, EXPORTING):
        if notebook is None:
            return {"name": ".", "zip": ""}
        chosen = _whole(call, box)
        address = await _markdown_archive(call, notebook.name, chosen, settings, _MARKDOWN)
        return {"name": base_name(address), "zip": address}


def _whole(call: Call, box: str) -> list[str]:
    """The documents of a notebook, folder by folder."""
    entries = call.kernel.workspace.blocks.in_box(box)
    return [entry.id for entry in sorted(entries, key=lambda entry: entry.path.split("/"))]


async def _markdown_archive(call: Call, name: str, chosen: list[str], settings: ExportSettings, suffix: str) -> str:
    with completed(call.kernel.workspace):
        return await _packed_markdown(call, name, chosen, settings, suffix)


async def _packed_markdown(call: Call, name: str, chosen: list[str], settings: ExportSettings, suffix: str) -> str:
    workspace = call.kernel.workspace
    export = await MarkdownExport.of(call.kernel)
    root_ids, def_ids = with_related(workspace, chosen, has_related=settings.has_related_documents)
    options = replace(settings.options, def_ids=def_ids, is_single=False)
    show_documents(workspace, chosen)
    if suffix == _MARKDOWN:
        show_documents(workspace, root_ids)

    async def render(document: Document) -> str:
        head = export.front_matter(document.root) if settings.has_front_matter else ""
        return head + export.markdown(document, document.root, options)

    files = MarkdownFiles(workspace, settings, suffix, has_documents=suffix == _MARKDOWN)
    await files.add_all(root_ids, render, export.ref_count)
    folder = f"{_archive_name(name)}{suffix}"
    show_packing(workspace, folder, files.entries)
    return offer(workspace.files, f"{folder}.zip", await packed(files.entries))


def _archive_name(name: str) -> str:
    name = file_name(name)
    return f"{name}_" if name.endswith("..") else name


# --- documents as they are stored ------------------------------------------------------------------------------------
async def export_sy(call: Call) -> Any:
    return await _stored(call, [call.arguments.required_str("id")])


async def export_sys(call: Call) -> Any:
    return await _stored(call, call.arguments.raw_str_list("ids"))


async def _stored(call: Call, block_ids: list[str]) -> Any:
    workspace = call.kernel.workspace
    first = workspace.blocks.entry_of(block_ids[0]) if block_ids else None
    if first is None:
        raise Panic("no such block")
    settings = export_settings(call.kernel)
    chosen = chosen_documents(workspace, block_ids, has_sub_documents=settings.has_sub_documents)
    folder = dir_name(first.path)
    with completed(workspace):
        show_documents(workspace, chosen)
        entries = sy_files(workspace, first.box, chosen, folder, has_related=settings.has_related_documents)
        return {"zip": await _stored_archive(call, base_name(first.hpath), entries)}


async def export_notebook_sy(call: Call) -> Any:
    box = call.arguments.required_str("id")
    workspace = call.kernel.workspace
    notebook = workspace.notebooks.opened(box)
    with completed(workspace, EXPORTING):
        if notebook is None:
            return {"zip": ""}
        has_related = export_settings(call.kernel).has_related_documents
        with completed(workspace):
            chosen = _whole(call, box)
            show_documents(workspace, chosen)
            entries = sy_files(workspace, box, chosen, "/", has_related=has_related, has_conf=True)
            return {"zip": await _stored_archive(call, notebook.name, entries)}


async def _stored_archive(call: Call, name: str, entries: dict[str, bytes | None]) -> str:
    name = _archive_name(name)
    workspace = call.kernel.workspace
    show_documents(workspace, [path.rpartition("/")[2].removesuffix(".sy") for path in entries if path.endswith(".sy")])
    show(workspace, EXPORTING)
    show_stored(workspace, entries)
    show_packing(workspace, name, entries)
    content = await packed({f"{name}/{path}": content for path, content in entries.items()})
    return offer(workspace.files, f"{name}.sy.zip", content)


_PANDOC: Final[dict[str, Callable[[Call], Any]]] = {
    f"/api/export/{name}": partial(_pandoc, suffix) for name, suffix in _PANDOC_SUFFIXES.items()
}
HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/export/exportMdContent": export_md_content,
    "/api/export/exportMd": export_md,
    "/api/export/exportMds": export_mds,
    "/api/export/exportNotebookMd": export_notebook_md,
    "/api/export/exportSY": export_sy,
    "/api/export/exportSYs": export_sys,
    "/api/export/exportNotebookSY": export_notebook_sy,
    **_PANDOC,
}
