"""/api/system: what is kept on disk beside the notes: settings to take along, logs, temporary files, the index."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.siyuan.api.messages import show_message, update_message
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.exports import offer, zipped
from kernel.siyuan.go_json import BodyUnreadable, read_object
from kernel.siyuan.notes_index import index_of
from kernel.siyuan.progress import covered, show
from kernel.siyuan.sections import fitted
from kernel.siyuan.uploaded import uploaded_json
from kernel.workspace.conf_defaults import CONF
from kernel.workspace.durations import file_size
from kernel.workspace.events import MAIN
from kernel.workspace.go_struct import zero
from kernel.workspace.notebooks import DATA
from kernel.workspace.stat import refresh_stat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.files import Files

LOG_FOLDER: Final = "temp"
LOG_ARCHIVE: Final = "system-log.zip"
# What clearTempFiles empties, below temp/.
TEMPORARY: Final = ("bazaar", "export", "import", "convert", "os", "base64", "install", "thumbnails", "repo")
CLEANING: Final = "Cleaning temporary files..."
CLEANED: Final = "Temporary files cleaned, [%d] files removed, [%s] disk space freed"
OPTIMIZING: Final = "Optimizing data index, please wait..."
OPTIMIZED: Final = "Data index optimization completed, [%s] disk space freed"
REBUILDING: Final = "Rebuilding index, please wait..."
CLEANING_MESSAGE_MS: Final = 30_000
MESSAGE_MS: Final = 7000
# Documents read anew before other tasks may run.
_DOCUMENTS_PER_STEP: Final = 16
BAD_PACKAGE: Final = "invalid conf package"
# What an exported conf.json does not carry, and what an imported one brings.
_NOT_EXPORTED: Final = ("account", "sync", "stat", "api", "repo", "secrets", "notebookCrypto", "onboarding", "publish")
_EMPTIED: Final = ("userData", "accessAuthCode", "cookieKey", "mcpOAuth")
_IMPORTED: Final = (
    "fileTree tag editor export graph uiLayout system keymap search flashcard ai bazaar"  # in the kernel's order
)


# --- settings to take along -------------------------------------------------------------------------------------
def export_conf(call: Call) -> Any:
    """The settings as a ZIP, without what is secret or belongs to this machine."""
    values = call.kernel.workspace.conf.written()
    values["appearance"] |= {"darkThemes": None, "lightThemes": None, "icons": None}
    values["editor"] |= {"emoji": []}
    values["export"] |= {"pandocBin": ""}
    values["system"] |= {"id": "", "name": "", "osPlatform": "", "container": "", "microsoftDefenderExcluded": False}
    values["ai"]["mcp"] = None
    for holder in (values["ai"]["embedding"], values["ai"]["rerank"], *values["ai"]["providers"]):
        holder["apiKey"] = ""
    values.update(dict.fromkeys(_NOT_EXPORTED), cloudRegion=0, **dict.fromkeys(_EMPTIED, ""))
    name = f"siyuan-conf-{call.kernel.clock.local():%Y%m%d%H%M%S}.json"
    content = json.dumps(values, ensure_ascii=False, indent=2).encode("utf-8", "replace")
    files = call.kernel.workspace.files
    offer(files, name, content)
    return {"name": name, "zip": offer(files, f"{name}.zip", zipped({name: content}))}


def import_conf(call: Call) -> Any:
    """Settings from such a ZIP, or from the JSON in it."""
    conf = call.kernel.workspace.conf
    content = uploaded_json(call, BAD_PACKAGE)
    imported = fitted(CONF, _decoded(content), zero(CONF))
    for section in _IMPORTED.split():
        conf.values[section] = imported[section]
    conf.save()
    # What was not in it starts anew, as at the next start of the kernel.
    conf.complete()


def _decoded(content: bytes) -> dict[str, Any]:
    try:
        return read_object(content)
    except BodyUnreadable as error:
        message = str(error)
        raise ApiError("unexpected end of JSON input" if "EOF" in message else message) from error


def export_log(call: Call) -> Any:
    """The logs that lie in the workspace, as a ZIP."""
    files = call.kernel.workspace.files
    logs = {f"log/{name}": files.read(f"{LOG_FOLDER}/{name}") for name in _log_names(files)}
    return {"zip": offer(files, LOG_ARCHIVE, zipped(logs))}


def _log_names(files: Files) -> list[str]:
    entries = files.list(LOG_FOLDER) if files.is_dir(LOG_FOLDER) else []
    return sorted(entry.name for entry in entries if not entry.is_dir and entry.name.endswith(".log"))


# --- temporary files and the index ------------------------------------------------------------------------------
def clear_temporary_files(call: Call) -> Any:
    files = call.kernel.workspace.files
    message = show_message(call, CLEANING, CLEANING_MESSAGE_MS)
    count = size = 0
    for folder in TEMPORARY:
        if files.is_dir(f"temp/{folder}"):
            sizes = [entry.size for _, entry in files.walk(f"temp/{folder}") if not entry.is_dir]
            count, size = count + len(sizes), size + sum(sizes)
            files.remove(f"temp/{folder}")
    update_message(call, message, CLEANED % (count, file_size(size)), MESSAGE_MS)


def vacuum_index(call: Call) -> Any:
    """The index keeps no dead space: it is made anew at every start."""
    with covered(call.kernel.workspace, OPTIMIZING):
        show_message(call, OPTIMIZED % file_size(0), MESSAGE_MS)


async def rebuild_index(call: Call) -> Any:
    """Read every document anew from disk, and index it."""
    workspace = call.kernel.workspace
    index = index_of(call.kernel)
    for number, path in enumerate(list(_document_paths(call)), 1):
        workspace.reload([path])
        if number % _DOCUMENTS_PER_STEP == 0:
            await trio.lowlevel.checkpoint()
    for root_id in list(workspace.blocks.documents):
        index.document_changed(root_id)
    refresh_stat(workspace, with_sizes=True)
    workspace.conf.save()
    show(workspace, REBUILDING)
    workspace.emit("reloadui", to=MAIN)


def _document_paths(call: Call) -> Iterator[str]:
    workspace = call.kernel.workspace
    for notebook in workspace.notebooks.listed(int(workspace.conf.file_tree["sort"])):
        if not notebook.is_closed:
            for path, entry in workspace.files.walk(f"{DATA}/{notebook.id}"):
                if path.endswith(".sy") and not entry.is_dir:
                    yield path


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/system/exportConf": export_conf,
    "/api/system/importConf": import_conf,
    "/api/system/exportLog": export_log,
    "/api/system/clearTempFiles": clear_temporary_files,
    "/api/system/vacuumDataIndex": vacuum_index,
    "/api/system/rebuildDataIndex": rebuild_index,
}
