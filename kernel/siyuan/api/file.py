"""/api/file: the workspace's files as they lie (siyuan-api A8; kernel-facts 7 and 22)."""

from __future__ import annotations

import json
import mimetypes
import posixpath
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.dispatch import Envelope, RawAnswer
from kernel.siyuan.limits import STREAMED_BYTES_MIN
from kernel.siyuan.paths import inside
from kernel.wire import JSON_UTF8
from kernel.workspace.files import UnsafePath

if TYPE_CHECKING:
    from kernel.siyuan.arguments import Arguments
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.backend import FileStat
    from kernel.workspace.files import Files

_INTERNAL: Final = "Internal Server Error. For details, see the SiYuan kernel log."
_TEXT_TYPES: Final = {
    ".sy": JSON_UTF8,
    ".json": JSON_UTF8,
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
# What globalCopyFiles will not carry into the workspace (the kernel names them sensitive).
# The end of the year 9999.
_MODIFIED_MS_MAX: Final = 253_402_300_799_000
_SENSITIVE: Final = ("/etc", "/root", "/proc", "/sys", "/var", "/boot", "/bin", "/sbin", "/usr", "/lib", "/dev")


def get_file(call: Call) -> Any:
    """Raw bytes with 200; every failure is an envelope with HTTP 202."""
    try:
        path = inside(call.arguments.required_str("path"))
        found = _stat(call.kernel.workspace.files, path)
        if found is None:
            raise ApiError("file does not exist", 404)
        if found.is_dir:
            raise ApiError("path is a directory", 409)
    except ApiError as error:
        body = json.dumps({"code": error.code, "msg": error.message, "data": error.data}, separators=(",", ":"))
        return RawAnswer(202, (("Content-Type", JSON_UTF8),), body.encode())
    files, headers = call.kernel.workspace.files, (("Content-Type", content_type(path)),)
    if found.size >= STREAMED_BYTES_MIN and (large := files.on_disk(path)):
        return RawAnswer(200, headers, b"", file=large)
    return RawAnswer(200, headers, files.read(path))


def content_type(path: str) -> str:
    """The type by extension; unknown ones are bytes."""
    extension = posixpath.splitext(path)[1].lower()
    known = _TEXT_TYPES.get(extension) or mimetypes.types_map.get(extension)
    if known is None:
        return "application/octet-stream"
    return f"{known}; charset=utf-8" if known.startswith("text/") and "charset" not in known else known


def put_file(call: Call) -> Any:
    """Multipart: path, isDir, modTime (ms), file. Parents are made; a new ``.sy`` is not indexed, an old one is."""
    form = call.form
    given = form.values.get("path", "") if form is not None else ""
    if form is None or not given.strip():
        raise ApiError("path must not be empty", 400)
    path = inside(given)
    files = call.kernel.workspace.files
    if form.values.get("isDir", "").lower() in ("true", "1", "t"):
        files.make_dir(path)
        return None
    content = next((part.content for part in form.files if part.field == "file"), None)
    if content is None:
        raise ApiError("Field [file] must not be empty", 400)
    if _is_dir(files, path):
        raise ApiError("path is a directory", 400)
    is_known = files.exists(path)
    stamped = form.values.get("modTime", "")
    modified_ms = _milliseconds(stamped)
    files.write(path, content, modified_ms=modified_ms)
    if is_known:
        call.kernel.workspace.reload([path])
    # A bad time is an error although the file is written by then (kernel-facts 22).
    if stamped and modified_ms is None:
        raise ApiError(f'strconv.ParseInt: parsing "{stamped}": invalid syntax', 500)
    return None


def _milliseconds(text: str) -> int | None:
    """A time as putFile takes it, within what a file can bear; None for anything else."""
    try:
        return min(max(int(text), 0), _MODIFIED_MS_MAX)
    except ValueError:
        return None


def read_dir(call: Call) -> Any:
    path = inside(call.arguments.required_str("path", may_be_empty=True))
    files = call.kernel.workspace.files
    try:
        found = files.stat(path) if path else None
    except UnsafePath:
        raise ApiError(_INTERNAL if "\0" in path else "path does not exist", 500 if "\0" in path else 404) from None
    if path and found is None:
        raise ApiError("path does not exist", 404)
    if found is not None and not found.is_dir:
        raise ApiError("path is not a directory", 409)
    return [
        {
            "isDir": entry.is_dir,
            "isSymlink": entry.is_symlink,
            "name": entry.name,
            "updated": int(entry.mtime_s),
        }
        for entry in files.list(path)
    ]


def remove_file(call: Call) -> Any:
    path = inside(call.arguments.required_str("path"))
    files = call.kernel.workspace.files
    if not path or _stat(files, path) is None:
        raise ApiError("path does not exist", 404)
    gone = [below for below, _ in files.walk(path)] if _is_dir(files, path) else [path]
    files.remove(path)
    call.kernel.workspace.reload(gone)
    return None


def rename_file(call: Call) -> Any:
    path, new_path = call.arguments.required_str("path"), call.arguments.required_str("newPath")
    files = call.kernel.workspace.files
    source = inside(path)
    if _stat(files, source) is None:
        raise ApiError("Field [path]: path does not exist", 404)
    target = inside(new_path)
    if _stat(files, target) is not None:
        raise ApiError("Field [newPath]: path already exists", 409)
    is_dir = _is_dir(files, source)
    if is_dir and _is_within(target, source):
        raise ApiError("Field [newPath]: cannot rename a directory into its own subdirectory", 409)
    if not _may_be_dir(files, posixpath.dirname(target)):
        parent = posixpath.dirname(new_path.rstrip("/"))
        raise ApiError(f"Field [newPath]: parent path [{parent}] is not a directory", 409)
    moved = [below for below, _ in files.walk(source)] if is_dir else [source]
    files.rename(source, target)
    call.kernel.workspace.reload([*moved, *(target + one[len(source) :] for one in moved)])
    return None


def _is_within(path: str, folder: str) -> bool:
    return not folder or f"{path}/".startswith(f"{folder}/")


def _may_be_dir(files: Files, path: str) -> bool:
    found = _stat(files, path) if path else None
    return found is None or found.is_dir


def copy_workspace_files(call: Call) -> Any:
    """workspaceCopyFiles: workspace paths into a workspace folder."""
    given, destination = _paths(call.arguments, "srcs"), call.arguments.required_str("destDir", may_be_empty=True)
    sources = []
    for one in _texts("srcs", given):
        if not one.strip():
            raise ApiError("Field [srcs]: path must not be empty")
        sources.append(inside(one.strip()))
        if _stat(call.kernel.workspace.files, sources[-1]) is None:
            raise ApiError(f"file [{one.strip()}] does not exist")
    _copy(call, sources, inside(destination))
    return None


def copy_global_files(call: Call) -> Any:
    """globalCopyFiles: absolute paths. Ours copies only from inside the workspace (docs/differences.md)."""
    given, destination = _paths(call.arguments, "srcs"), call.arguments.required_str("destDir", may_be_empty=True)
    files = call.kernel.workspace.files
    root = files.absolute("").rstrip("/")
    sources = []
    for path in _texts("srcs", given):
        if not posixpath.isabs(path):
            raise ApiError("Field [srcs]: each path must be absolute")
        if path.startswith(tuple(f"{folder}/" for folder in _SENSITIVE)) and not path.startswith(f"{root}/"):
            raise ApiError(f"refuse to copy sensitive file [{path}]", -2)
        if not path.startswith(f"{root}/") or _stat(files, path[len(root) + 1 :]) is None:
            raise ApiError(f"file [{path}] does not exist")
        sources.append(inside(path[len(root) + 1 :]))
    _copy(call, sources, inside(destination))
    return None


def _copy(call: Call, sources: list[str], folder: str) -> None:
    files = call.kernel.workspace.files
    if not _may_be_dir(files, folder):
        raise ApiError("Field [destDir]: path is not a directory")
    for source in sources:
        target = posixpath.join(folder, posixpath.basename(source))
        if _is_dir(files, source) and _is_within(target, source):
            raise ApiError("cannot copy to a sub path of the source")
        files.copy(source, target, keeps_times=True)


def _paths(arguments: Arguments, name: str) -> list[Any]:
    values = arguments.required_list(name)
    if not values:
        raise ApiError(f"Field [{name}] must not be empty")
    return values


def _texts(name: str, values: list[Any]) -> list[str]:
    """The elements of a list, whose kind is looked at after the other arguments."""
    if not all(isinstance(value, str) for value in values):
        raise ApiError(f"Field [{name}]: each element should be of type [String]")
    return values


def unique_filename(call: Call) -> Any:
    """getUniqueFilename: ``a (1).txt`` beside an existing ``a.txt``; the path is absolute."""
    given = call.arguments.required_str("path")
    files = call.kernel.workspace.files
    root = files.absolute("").rstrip("/")
    if not given.startswith(f"{root}/"):
        return {"path": given}
    stem, extension = posixpath.splitext(given)
    candidate, number = given, 0
    while _stat(files, inside(candidate[len(root) + 1 :])) is not None:
        number += 1
        candidate = f"{stem} ({number}){extension}"
    return {"path": candidate}


def copy_file(call: Call) -> Any:
    """copyFile: an asset to a place in the workspace."""
    source = call.arguments.required_str("src")
    target = call.arguments.required_str("dest")
    files = call.kernel.workspace.files
    root = files.absolute("").rstrip("/")
    if not posixpath.isabs(target):
        raise ApiError("Field [dest]: path must be absolute", -1, {"closeTimeout": 5000})
    source = posixpath.normpath(source)
    if source in (".", "..") or source.startswith(("../", "/")):
        raise ApiError(f"[{source}] is not an asset path", -1, {"closeTimeout": 5000})
    if not source.startswith("assets/"):
        raise ApiError(f"[{source}] is not an asset path (must start with assets/)", -1, {"closeTimeout": 5000})
    asset = f"data/{inside(source)}"
    if _stat(files, asset) is None:
        raise ApiError(f"Query asset failed [{source}]", -1, {"closeTimeout": 5000})
    if not target.startswith(f"{root}/"):
        return Envelope(-1, "permission denied", None)
    files.copy(asset, inside(target[len(root) + 1 :]))
    return None


def _stat(files: Files, path: str) -> FileStat | None:
    try:
        return files.stat(path)
    except UnsafePath:
        return None


def _is_dir(files: Files, path: str) -> bool:
    found = _stat(files, path)
    return found is not None and found.is_dir


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/file/getFile": get_file,
    "/api/file/putFile": put_file,
    "/api/file/readDir": read_dir,
    "/api/file/removeFile": remove_file,
    "/api/file/renameFile": rename_file,
    "/api/file/workspaceCopyFiles": copy_workspace_files,
    "/api/file/globalCopyFiles": copy_global_files,
    "/api/file/getUniqueFilename": unique_filename,
    "/api/file/copyFile": copy_file,
}
