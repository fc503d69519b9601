"""/api/export: files of the workspace, and files that a caller brings, to be downloaded (siyuan-api A9)."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.exports import EXPORT_DIR, offer, packed
from kernel.siyuan.media_types import extension_of
from kernel.siyuan.paths import inside
from kernel.siyuan.progress import EXPORTING, completed, show_packing
from kernel.siyuan.uploaded import multipart_form
from kernel.workspace.asset_names import file_name, shortened
from kernel.workspace.names import base_name, clean_path, unescaped_attribute
from kernel.workspace.notebooks import DATA
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Workspace

_RANDOM_LENGTH: Final = 7
_EXPORT_ID_BYTES: Final = 16
_FAILED: Final = {"closeTimeout": 7000}
_NO_PATHS: Final = "[paths] is required"
_NO_PANDOC: Final = "Please configure [Settings - Export - Pandoc executable path] first"
_OUTSIDE: Final = "export folder [{}] is not in workspace"
_NO_FILE: Final = "no such file or directory"


async def export_resources(call: Call) -> Any:
    """Files and folders of the workspace in one archive below ``temp/export``; every error has code 1."""
    name = call.arguments.get("name")
    if name is not None and not isinstance(name, str):
        raise Panic("name")
    workspace = call.kernel.workspace
    title = shortened(name or "") or f"{workspace.clock.local():export-%Y-%m-%d_%H-%M-%S}"
    title = file_name(base_name(title))
    if title in ("", ".", ".."):
        title = "resources"
    if call.arguments.get("paths") is None:
        raise ApiError(_NO_PATHS, 1, "")
    entries: dict[str, bytes | None] = {title: None}
    for given in call.arguments.raw_str_list("paths"):
        entries |= {f"{title}/{path}": content for path, content in _below(workspace, given).items()}
    archive = f"{EXPORT_DIR}/{call.kernel.ids.entropy(_EXPORT_ID_BYTES).hex()}-{title}.zip"
    workspace.files.write(archive, await packed(entries))
    return {"path": archive}


def _below(workspace: Workspace, given: str) -> dict[str, bytes | None]:
    """A file, or all files of a folder, by their paths from its parent on."""
    files = workspace.files
    try:
        path = inside(given)
    except ApiError as error:
        raise ApiError(f"resource path [{given}] is not in workspace", 1, _FAILED) from error
    found = files.stat(path) if path else None
    if found is None:
        raise ApiError(f"Export failed: lstat {files.absolute(path)}: {_NO_FILE}", 1, _FAILED)
    parent = posixpath.dirname(path)
    if not found.is_dir:
        return {path[len(parent) :].lstrip("/"): files.read(path)}
    listed = [(path, found), *files.walk(path)]
    return {one[len(parent) :].lstrip("/"): None if stat.is_dir else files.read(one) for one, stat in listed}


# --- the data folder -------------------------------------------------------------------------------------------------
async def export_data(call: Call) -> Any:
    name, content = await _data_archive(call)
    return {"zip": offer(call.kernel.workspace.files, name, content)}


async def export_data_in_folder(call: Call) -> Any:
    """The archive in a folder of the machine; ours writes only below the workspace (docs/differences.md)."""
    folder = call.arguments.required_str("folder")
    files = call.kernel.workspace.files
    root = files.absolute("").rstrip("/")
    cleaned = clean_path(folder)
    if not f"{cleaned}/".startswith(f"{root}/"):
        raise ApiError(_OUTSIDE.format(folder), data=_FAILED)
    name, content = await _data_archive(call)
    files.write(f"{cleaned[len(root) :].lstrip('/')}/{name}".lstrip("/"), content)
    return {"name": name}


async def _data_archive(call: Call) -> tuple[str, bytes]:
    """The data folder under a name that tells when it was packed."""
    workspace = call.kernel.workspace
    stamp = workspace.now_stamp()
    prefix = f"data-{stamp}"
    files = workspace.files
    entries: dict[str, bytes | None] = {
        f"{prefix}{path[len(DATA) :]}": None if stat.is_dir else files.read(path) for path, stat in files.walk(DATA)
    }
    title = file_name(posixpath.basename(files.absolute("").rstrip("/")))
    with completed(workspace, EXPORTING):
        told = {path[len(prefix) + 1 :]: content for path, content in entries.items()}
        show_packing(workspace, f"{title}-{stamp}", told)
        return f"{title}-{stamp}.zip", await packed(entries)


# --- what the caller brings ------------------------------------------------------------------------------------------
def export_temp_content(call: Call) -> Any:
    """A text under an address of its own."""
    content = call.arguments.required_str("content", may_be_empty=True)
    call.arguments.optional_str("id")
    workspace = call.kernel.workspace
    address = offer(workspace.files, f"temp/{workspace.ids.text(_RANDOM_LENGTH)}", content.encode("utf-8", "replace"))
    return {"url": f"http://{call.headers.get('host', '127.0.0.1:6806')}{address}"}


def export_as_file(call: Call) -> Any:
    """A file of a form under a name that fits its type."""
    form = multipart_form(call)
    file = next((part for part in form.files if part.field == "file"), None)
    kind = form.values.get("type")
    if file is None or kind is None:
        raise Panic("file")
    name = f"file-{posixpath.basename(file.name)}"
    suffix = extension_of(kind)
    if suffix and posixpath.splitext(name)[1] != suffix:
        name += suffix
    name = file_name(name).replace("#", "_")
    call.kernel.workspace.files.write(f"{EXPORT_DIR}/{name}", file.content)
    return {"file": f"/export/{name}"}


async def export_browser_html(call: Call) -> Any:
    """A page that a front end has made, with what an export has put into its folder before."""
    arguments = call.arguments
    folder, page, name = (arguments.required_str(one) for one in ("folder", "html", "name"))
    files = call.kernel.workspace.files
    path = clean_path(f"{EXPORT_DIR}/{folder}")
    if not path.startswith(f"{EXPORT_DIR}/") or not files.is_dir(path):
        raise ApiError(f"open {files.absolute('').rstrip('/')}/{path}/index.html: {_NO_FILE}")
    files.write(f"{path}/index.html", page.encode("utf-8", "replace"))
    entries: dict[str, bytes | None] = {
        one[len(path) + 1 :]: None if stat.is_dir else files.read(one) for one, stat in files.walk(path)
    }
    address = offer(files, f"{file_name(name)}.zip", await packed(entries))
    files.remove(path)
    return {"zip": address}


def export_code_block(call: Call) -> Any:
    """The text of a code block as a file."""
    block_id = call.arguments.required_str("id")
    workspace = call.kernel.workspace
    try:
        document, node = workspace.node(block_id)
    except (NotFound, CorruptDocument) as error:
        raise ApiError("block not found", 1, _FAILED) from error
    if node.type != "NodeCodeBlock":
        raise ApiError("not a code block", 1, _FAILED)
    code = next((child for child in node.children if child.type == "NodeCodeBlockCode"), None)
    if code is None:
        raise ApiError("code block has no code node", 1, _FAILED)
    title = unescaped_attribute(document.root.properties.get("title", ""))
    name = file_name(f"{title}-{workspace.now_stamp()}.txt")
    return {"path": offer(workspace.files, f"code/{name}", (code.data or "").replace("\u200d```", "```").encode())}


# --- what needs another program, or another place --------------------------------------------------------------------
def export_docx(call: Call) -> Any:
    """There is no pandoc to do it."""
    call.arguments.required_str("id")
    call.arguments.required_str("savePath")
    call.arguments.required_bool("removeAssets")
    call.arguments.optional_bool("merge")
    raise ApiError(_NO_PANDOC, 1, _FAILED)


def process_pdf(call: Call) -> Any:
    """A PDF that a front end has printed: bookmarks and attachments are not added to it (docs/differences.md)."""
    call.arguments.required_str("id")
    call.arguments.required_str("path")
    call.arguments.optional_bool("merge")
    call.arguments.raw_bool("removeAssets")
    call.arguments.raw_bool("watermark")


def copy_export_file(call: Call) -> Any:
    """An exported file to another place of the machine: none of them is ours to write (docs/differences.md)."""
    source, target = call.arguments.required_str("srcPath"), call.arguments.required_str("dest")
    if not target.startswith("/"):
        raise ApiError("dest must be an absolute path")
    path = clean_path(f"temp/{unquote(clean_path(source))}")
    if path != EXPORT_DIR and not path.startswith(f"{EXPORT_DIR}/"):
        raise ApiError("invalid source path")
    raise ApiError(f"refuse to copy to sensitive path: {target}", -2)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/export/exportResources": export_resources,
    "/api/export/exportData": export_data,
    "/api/export/exportDataInFolder": export_data_in_folder,
    "/api/export/exportTempContent": export_temp_content,
    "/api/export/exportAsFile": export_as_file,
    "/api/export/exportBrowserHTML": export_browser_html,
    "/api/export/exportCodeBlock": export_code_block,
    "/api/export/exportDocx": export_docx,
    "/api/export/processPDF": process_pdf,
    "/api/export/copyExportFile": copy_export_file,
}
