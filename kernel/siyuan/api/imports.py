"""/api/import: Markdown folders and archives, exported documents, a whole workspace's data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.kernel import FormFile
from kernel.siyuan.limits import INLINE_BYTES_MAX, STAGED_S_MAX
from kernel.siyuan.uploaded import multipart_form
from kernel.workspace.boxes import box_json
from kernel.workspace.imports.markdown_folder import (
    MARKDOWN,
    ImportReport,
    import_file,
    import_folder,
    target_folder,
)
from kernel.workspace.imports.sources import ArchiveInvalid, MemorySource, WorkspaceSource, unpacked
from kernel.workspace.imports.sy_archive import (
    INVALID,
    NO_NOTEBOOK,
    import_archive,
    import_notebook,
    read_archive,
)
from kernel.workspace.names import base_name, clean_path, dir_name
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_NO_FILE: Final = "no file found"
_SENSITIVE: Final = "import from local path [{}] failed: local path is sensitive path"
_PANIC: Final = "import from local path failed, please check kernel log for details"
_NOT_MARKDOWN: Final = "Only supports importing Markdown document"
# Where notes may be imported from: what is not the workspace's own machinery.
_READABLE: Final = ("data/",)
_DATA_FOLDERS_MAX: Final = 1
_STAGED: Final = "temp/import/staged"
_TOKEN_LENGTH: Final = 32
_BAD_TOKEN: Final = "invalid import token"
_NO_TASK: Final = "import task not found or expired"


async def import_std_md(call: Call) -> Any:
    """A folder or file of Markdown. The real kernel reads any of the machine; ours those of the workspace."""
    arguments = call.arguments
    box, path, to_path = arguments.raw_str("notebook"), arguments.raw_str("localPath"), arguments.raw_str("toPath")
    await import_markdown(call, box, path, _inside(call, path), to_path)


async def import_markdown(call: Call, box: str, path: str, inner: str, to_path: str) -> None:
    """Import what lies at ``inner`` in the workspace, which the caller named ``path``. Raises ApiError."""
    workspace = call.kernel.workspace
    files = workspace.files
    if not files.exists(inner):
        raise ApiError(f"open {path}: no such file or directory")
    if workspace.notebooks.opened(box) is None:
        raise ApiError(_PANIC)
    folder = target_folder(workspace, box, to_path)
    if folder is None:
        return
    if files.is_dir(inner):
        await _run(import_folder(workspace, box, WorkspaceSource(files, inner), folder, ImportReport()))
        return
    if not inner.endswith(MARKDOWN):
        raise ApiError(_NOT_MARKDOWN)
    source = WorkspaceSource(files, dir_name(inner))
    report = ImportReport()
    import_file(workspace, box, source, base_name(inner), folder, report)
    if report.failed:
        raise ApiError(f"parse tree [{path}] failed")


def _inside(call: Call, path: str) -> str:
    """A path of the machine, relative to the workspace. Raises ApiError where notes are not imported from."""
    root = call.kernel.workspace.files.absolute("").rstrip("/")
    cleaned = clean_path(path) if path else ""
    if not cleaned.startswith(f"{root}/"):
        if not os.path.exists(cleaned):
            raise ApiError(f"open {path}: no such file or directory" if path.endswith(MARKDOWN) else _NOT_MARKDOWN)
        raise ApiError(_SENSITIVE.format(path))
    inner = cleaned[len(root) + 1 :]
    if not inner.startswith(_READABLE):
        raise ApiError(_SENSITIVE.format(path))
    return inner


async def _run(steps: Iterator[str]) -> None:
    """Import, letting others run after each file that has been read."""
    for _ in steps:
        await trio.lowlevel.checkpoint()


async def import_zip_md(call: Call) -> Any:
    """An archive of Markdown: it becomes a document of the archive's name with all others below."""
    file, values = _form(call)
    workspace = call.kernel.workspace
    box = values.get("notebook", "")
    source = MemorySource(_stem(file.name), await _unpacked(file.content))
    if workspace.notebooks.opened(box) is None:
        raise ApiError(_PANIC)
    folder = target_folder(workspace, box, values.get("toPath", "/"))
    if folder is not None:
        await _run(import_folder(workspace, box, source, folder, ImportReport()))


async def import_sy(call: Call) -> Any:
    """Exported documents into a notebook."""
    file, values = _form(call)
    await _import_documents(call, file, values)


async def _import_documents(call: Call, file: FormFile, values: dict[str, str]) -> None:
    workspace = call.kernel.workspace
    box = values.get("notebook", "")
    archive = read_archive(await _unpacked(file.content))
    if workspace.notebooks.opened(box) is None:
        raise ApiError(NO_NOTEBOOK)
    folder = target_folder(workspace, box, values.get("toPath", "/"))
    if folder is not None:
        import_archive(workspace, archive, box, folder)


async def import_sy_notebook(call: Call) -> Any:
    """An exported notebook as a new one."""
    file, _ = _form(call)
    return _new_notebook(call, await _unpacked(file.content))


def _new_notebook(call: Call, files: dict[str, bytes]) -> dict[str, Any]:
    workspace = call.kernel.workspace
    box = import_notebook(workspace, read_archive(files))
    shown = box_json(workspace, workspace.box(box))
    workspace.emit("createnotebook", {"box": shown, "existed": False})
    return {"notebook": shown}


async def import_sy_auto(call: Call) -> Any:
    """Whichever of the two the archive holds."""
    file, values = _form(call)
    files = await _unpacked(file.content)
    if read_archive(files).is_notebook:
        return {"type": "notebook", **_new_notebook(call, files)}
    if not values.get("notebook"):
        return {"type": "document", "token": _staged(call, file.content)}
    await _import_documents(call, file, values)
    return {"type": "document"}


# --- archives that wait to be told where they go ---------------------------------------------------------------------
def _staged(call: Call, content: bytes) -> str:
    """Keep an archive until its notebook is known; the word under which it is asked for."""
    workspace = call.kernel.workspace
    _waiting(call)
    token = workspace.ids.text(_TOKEN_LENGTH)
    workspace.files.write(f"{_STAGED}/{token}-{workspace.clock.wall_ms()}.zip", content)
    return token


def _waiting(call: Call) -> dict[str, str]:
    """The files that wait, by their words; those that have waited too long are removed."""
    files = call.kernel.workspace.files
    oldest_ms = call.kernel.clock.wall_ms() - STAGED_S_MAX * 1000
    found: dict[str, str] = {}
    for entry in files.list(_STAGED) if files.is_dir(_STAGED) else ():
        token, _, staged_ms = entry.name.removesuffix(".zip").partition("-")
        if staged_ms.isdecimal() and int(staged_ms) >= oldest_ms:
            found[token] = f"{_STAGED}/{entry.name}"
        else:
            files.remove(f"{_STAGED}/{entry.name}")
    return found


def _taken(call: Call, token: str) -> bytes | None:
    """The archive that waits under a word, which waits no more; None where there is none. Raises ApiError."""
    if len(token) != _TOKEN_LENGTH or not token.isascii() or not token.isalnum():
        raise ApiError(_BAD_TOKEN)
    path = _waiting(call).get(token)
    if path is None:
        return None
    content = call.kernel.workspace.files.read(path)
    call.kernel.workspace.files.remove(path)
    return content


async def continue_import_sy(call: Call) -> Any:
    """Bring a waiting archive into a notebook; it waits no more, however that ends."""
    token, box = call.arguments.required_str("token"), call.arguments.required_str("notebook")
    content = _taken(call, token)
    if content is None:
        raise ApiError(_NO_TASK)
    await _import_documents(call, FormFile("file", f"{token}.zip", content), {"notebook": box, "toPath": "/"})
    return {"type": "document"}


def cancel_import_sy(call: Call) -> Any:
    _taken(call, call.arguments.required_str("token"))


async def import_data(call: Call) -> Any:
    """The data folder of another workspace over this one."""
    file, _ = _form(call)
    files = await _unpacked(file.content)
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != _DATA_FOLDERS_MAX:
        raise ApiError(INVALID)
    top = tops.pop()
    workspace = call.kernel.workspace
    changed = []
    for path, content in files.items():
        inner = path[len(top) + 1 :]
        # An archive from elsewhere may hold the ledger of another process; the one at work here keeps its own.
        if inner and not workspace.files.is_withheld(f"{DATA}/{inner}"):
            workspace.files.write(f"{DATA}/{inner}", content)
            changed.append(f"{DATA}/{inner}")
    workspace.notebooks.forget()
    workspace.reload(changed)
    known = workspace.blocks.boxes()
    for notebook in workspace.notebooks.listed(int(workspace.conf.file_tree["sort"])):
        if not notebook.is_closed and notebook.id not in known:
            workspace.scan(notebook.id)


def _form(call: Call) -> tuple[FormFile, dict[str, str]]:
    form = multipart_form(call)
    file = next((part for part in form.files if part.field == "file"), None)
    if file is None:
        raise ApiError(_NO_FILE)
    return file, form.values


async def _unpacked(content: bytes) -> dict[str, bytes]:
    try:
        if len(content) <= INLINE_BYTES_MAX:
            return unpacked(content)
        return await trio.to_thread.run_sync(unpacked, content)
    except ArchiveInvalid as error:
        raise ApiError(str(error)) from error


def _stem(name: str) -> str:
    stem, dot, _ = base_name(name).rpartition(".")
    return stem if dot else base_name(name)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/import/importStdMd": import_std_md,
    "/api/import/importZipMd": import_zip_md,
    "/api/import/importSY": import_sy,
    "/api/import/importSYNotebook": import_sy_notebook,
    "/api/import/importSYAuto": import_sy_auto,
    "/api/import/continueImportSY": continue_import_sy,
    "/api/import/cancelImportSY": cancel_import_sy,
    "/api/import/importData": import_data,
}
