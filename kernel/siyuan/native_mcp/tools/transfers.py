"""Tools ``asset``, ``export``, ``import`` and ``template``."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kernel.siyuan.api.export_html import Printing, printed_page
from kernel.siyuan.api.imports import import_markdown
from kernel.siyuan.arguments import Arguments, EmptyAnswer
from kernel.siyuan.dispatch import RawAnswer, UnknownRoute, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action
from kernel.siyuan.native_mcp.tools.documents import reload_tree
from kernel.siyuan.native_mcp.tools.files import stat_text
from kernel.workspace.files import portable_name

if TYPE_CHECKING:
    from kernel.siyuan.native_mcp.base import Action

TEMPLATES: Final = "data/templates"
_EMPTY: Final = "export failed or empty"
_GONE: Final = "no such file or directory"


# --- asset -----------------------------------------------------------------------------------------------------
async def asset_upload(call: ToolCall) -> str:
    block_id, listed = call.needed("id"), call.needed("files")
    paths = [posixpath.abspath(part.strip()) for part in listed.split(",")]
    found = await call.data(
        "/api/asset/insertLocalAssets", "upload assets failed: ", id=block_id, assetPaths=paths, isUpload=True
    )
    stored = found["succMap"]
    lines = "".join(f"- {name} -> {path}\n" for name, path in stored.items())
    return f"Uploaded {len(stored)} file(s):\n\n{lines}"


async def asset_unused(call: ToolCall) -> str:
    found = await call.data("/api/asset/getUnusedAssets")
    if not found:
        return "no unused assets found"
    lines = "".join(f"- {one['item']} ({one['name']})\n" for one in found)
    return f"Unused assets ({len(found)}):\n\n{lines}"


async def asset_clean(call: ToolCall) -> str:
    path = call.text("path")
    if path:
        removed = await call.data("/api/asset/removeUnusedAsset", path=path)
        return f"removed: {removed['path']}"
    removed = await call.data("/api/asset/removeUnusedAssets")
    paths = (removed or {}).get("paths") or []
    if not paths:
        return "no unused assets to clean"
    return f"Removed {len(paths)} asset(s):\n\n{''.join(f'- {one}' + chr(10) for one in paths)}"


async def asset_stat(call: ToolCall) -> str:
    """``..`` is allowed here as long as it stays in the workspace."""
    given = call.needed("path")
    path = posixpath.normpath(f"data/{given}")
    files = call.workspace.files
    if path.startswith("..") or "\0" in path:
        raise ToolFailed(f"path escapes workspace: {given}")
    found = files.stat(path) if path != "." else None
    if found is None:
        raise ToolFailed(f"stat failed: stat {files.absolute('').rstrip('/')}/{path}: {_GONE}")
    return stat_text(call, given, found)


# --- export ----------------------------------------------------------------------------------------------------
async def export_md(call: ToolCall) -> str:
    answer = await call.api(
        "/api/export/exportMdContent", id=call.needed("id"), refMode=4, embedMode=0, yfm=True, addTitle=False
    )
    if answer.code != 0 or not answer.data["content"]:
        raise ToolFailed(_EMPTY)
    return f"# {answer.data['hPath']}\n\n{answer.data['content']}"


async def export_html(call: ToolCall) -> str:
    """The page alone: it needs nothing of the front end beside it."""
    _, content, _ = await printed_page(call.kernel, Printing(call.needed("id")))
    if not content:
        raise ToolFailed(_EMPTY)
    return content


async def export_preview(call: ToolCall) -> str:
    answer = await call.api("/api/export/preview", id=call.needed("id"))
    content = (answer.data or {}).get("html") if answer.code == 0 else ""
    if not content:
        raise ToolFailed("export preview failed or empty")
    return str(content)


async def export_docx(call: ToolCall) -> str:
    block_id = call.needed("id")
    output = call.needed("output", "output file path is required for docx")
    found = await call.data(
        "/api/export/exportDocx", "export docx failed: ", id=block_id, savePath=output, removeAssets=False, merge=False
    )
    return f"exported docx to: {found['path']}"


async def _zipped(call: ToolCall, path: str, what: str) -> str:
    """For an unknown document the kernel's exporter breaks down: no answer at all."""
    block_id = call.needed("id")
    if not call.workspace.block_exists(block_id):
        raise EmptyAnswer
    found = await call.data(path, f"export {what} failed", id=block_id)
    return str(found["zip"])


async def export_sy(call: ToolCall) -> str:
    return f"exported sy.zip to: {await _zipped(call, '/api/export/exportSY', 'sy')}"


async def export_md_zip(call: ToolCall) -> str:
    return f"exported md zip to: {await _zipped(call, '/api/export/exportMd', 'md-zip')}"


async def export_data(call: ToolCall) -> str:
    found = await call.data("/api/export/exportData", "export data failed: ")
    return f"exported data backup to: {found['zip']}"


# --- import ----------------------------------------------------------------------------------------------------
def _path_of_machine(call: ToolCall, failure: str) -> tuple[str, str]:
    """A file by its absolute path, and by the one in the workspace: ours takes only those (differences.md)."""
    path = posixpath.abspath(call.needed("path"))
    files = call.workspace.files
    root = files.absolute("").rstrip("/")
    inner = path[len(root) + 1 :] if path.startswith(f"{root}/") else ""
    if not inner or not files.exists(inner):
        raise ToolFailed(f"{failure}open {path}: {_GONE}")
    return path, inner


async def import_md(call: ToolCall) -> str:
    call.needed("path")
    box = call.needed("notebook")
    failure = "import md failed: "
    path, inner = _path_of_machine(call, failure)
    to_path = call.text("targetPath") or "/"
    await call.run(lambda one: import_markdown(one, box, path, inner, to_path), failure)
    await reload_tree(call)
    return f"markdown imported to notebook {box}"


async def import_sy(call: ToolCall) -> str:
    call.needed("path")
    box = call.needed("notebook")
    values = {"notebook": box, "toPath": call.text("targetPath") or "/"}
    await _send_file(call, "/api/import/importSY", "import sy failed: ", values)
    await reload_tree(call)
    return f"sy archive imported to notebook {box}"


async def import_data(call: ToolCall) -> str:
    await _send_file(call, "/api/import/importData", "import data failed: ", {})
    return "data backup imported"


async def _send_file(call: ToolCall, endpoint: str, failure: str, values: dict[str, str]) -> None:
    path, inner = _path_of_machine(call, failure)
    if call.workspace.files.is_dir(inner):
        raise ToolFailed(f"{failure}read {path}: is a directory")
    content = call.workspace.files.read(inner)
    form = Form(values, [FormFile("file", posixpath.basename(path), content)], list(values.items()))
    try:
        answer = await dispatch(Call(call.kernel, endpoint, Arguments({}), form=form))
    except UnknownRoute:
        raise ToolFailed(f"{endpoint} is not emulated") from None
    if isinstance(answer, RawAnswer):
        raise EmptyAnswer
    if answer.code != 0:
        raise ToolFailed(f"{failure}{answer.msg}")


# --- template --------------------------------------------------------------------------------------------------
async def template_search(call: ToolCall) -> str:
    found = (await call.data("/api/search/searchTemplate", k=call.text("keyword")))["templates"]
    if not found:
        return "no templates found"
    lines = "".join(f"- {one['content']}\n  path: {one['path']}\n" for one in found)
    return f"Templates ({len(found)}):\n\n{lines}"


def _template_path(call: ToolCall) -> str:
    """A template by its path below the templates, or by its absolute one. Raises ToolFailed."""
    given = call.needed("path")
    base = call.workspace.files.absolute(TEMPLATES)
    absolute = posixpath.normpath(given if given.startswith("/") else f"{base}/{given}")
    if (absolute != base and not absolute.startswith(f"{base}/")) or "\0" in absolute:
        raise ToolFailed(f"path escapes templates dir: {given}")
    return f"{TEMPLATES}{absolute[len(base) :]}"


async def template_get(call: ToolCall) -> str:
    path = _template_path(call)
    files = call.workspace.files
    try:
        return files.read(path).decode("utf-8", "replace")
    except FileNotFoundError:
        raise ToolFailed(f"read template failed: open {files.absolute(path)}: {_GONE}") from None
    except IsADirectoryError:
        raise ToolFailed(f"read template failed: read {files.absolute(path)}: is a directory") from None


async def template_remove(call: ToolCall) -> str:
    given, path = call.text("path"), _template_path(call)

    def handle(one: Call) -> None:
        files = one.kernel.workspace.files
        if path != TEMPLATES and files.exists(path):
            files.remove(path)

    await call.kernel.durable.quiesce()
    await call.run(handle)
    return f"template removed: {given}"


async def template_render(call: ToolCall) -> str:
    block_id = call.needed("id")
    path = _template_path(call)
    absolute = call.workspace.files.absolute(path)
    found = await call.data("/api/template/render", "render template failed: ", path=absolute, id=block_id)
    return str(found["content"])


_TAKEN: Final = "template already exists, set overwrite=true to replace: "


async def template_save_as(call: ToolCall) -> str:
    block_id, name = call.all_needed("id", "name")
    answer = await call.api("/api/template/docSaveAsTemplate", id=block_id, name=name, overwrite=call.flag("overwrite"))
    if answer.code == 1:
        raise ToolFailed(f"{_TAKEN}{name}")
    if answer.code != 0:
        raise ToolFailed(f"save as template failed: {answer.msg}")
    return f"template saved: {name}.md"


async def template_create(call: ToolCall) -> str:
    name, content = call.needed("name"), call.text("content")
    path = f"{TEMPLATES}/{portable_name(name)}.md"
    if call.workspace.files.exists(path) and not call.flag("overwrite"):
        raise ToolFailed(f"{_TAKEN}{name}")
    await call.run(lambda one: one.kernel.workspace.files.write(path, content.encode("utf-8", "replace")))
    return f"template created: {name}.md"


TOOLS: Final[dict[str, Action]] = {
    "asset": by_action({"upload": asset_upload, "unused": asset_unused, "clean": asset_clean, "stat": asset_stat}),
    "export": by_action(
        {
            "md": export_md,
            "html": export_html,
            "preview": export_preview,
            "docx": export_docx,
            "sy": export_sy,
            "md-zip": export_md_zip,
            "data": export_data,
        }
    ),
    "import": by_action({"md": import_md, "sy": import_sy, "data": import_data}),
    "template": by_action(
        {
            "search": template_search,
            "get": template_get,
            "remove": template_remove,
            "render": template_render,
            "save_as": template_save_as,
            "create": template_create,
        }
    ),
}
