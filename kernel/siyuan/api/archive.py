"""/api/archive: pack and unpack within the workspace (siyuan-api A8; kernel-facts 22)."""

from __future__ import annotations

import io
import posixpath
import zipfile
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.exports import zipped
from kernel.siyuan.limits import UNPACKED_BYTES_MAX
from kernel.siyuan.paths import inside
from kernel.workspace.files import UnsafePath

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.files import Files

_SEE_LOG: Final = ". For details, see the SiYuan kernel log."
PACK_FAILED: Final = f"zip failed{_SEE_LOG}"
CREATE_FAILED: Final = f"create zip file failed{_SEE_LOG}"
UNPACK_FAILED: Final = f"unzip failed{_SEE_LOG}"
NO_ARCHIVE: Final = "zip file does not exist"
DENIED: Final = "permission denied"


async def pack(call: Call) -> Any:
    """A file, or a folder with its name, into an archive; the archive's folder must be there."""
    source = _within(call.arguments.required_str("path"))
    target = _within(call.arguments.required_str("zipPath"))
    files = call.kernel.workspace.files
    folder = posixpath.dirname(target)
    if not target or (folder and not files.is_dir(folder)):
        raise ApiError(CREATE_FAILED)
    entries = _entries(files, source, target)
    if entries is None:
        raise ApiError(PACK_FAILED)
    files.write(target, await trio.to_thread.run_sync(zipped, entries))


def _entries(files: Files, source: str, archive: str) -> dict[str, bytes] | None:
    """The files of an archive by their names in it; None where there is no source. The archive is not packed itself."""
    name = posixpath.basename(source)
    if not files.is_dir(source):
        return {name: files.read(source)} if source and files.exists(source) else None
    paths = [path for path, entry in files.walk(source) if not entry.is_dir and path != archive]
    prefix = len(source) + 1 if source else 0
    return {posixpath.join(name, path[prefix:]): files.read(path) for path in paths}


async def unpack(call: Call) -> Any:
    """All files of an archive into a folder. An entry that would land outside of it spoils the whole."""
    archive = _within(call.arguments.required_str("zipPath"))
    folder = _within(call.arguments.required_str("path", may_be_empty=True))
    files = call.kernel.workspace.files
    if not archive or not files.exists(archive):
        raise ApiError(NO_ARCHIVE)
    if files.is_dir(archive):
        raise ApiError(UNPACK_FAILED)
    try:
        unpacked = await trio.to_thread.run_sync(_unpacked, files.read(archive))
        for name, content in unpacked.items():
            path = posixpath.join(folder, name)
            if content is None:
                files.make_dir(path)
            else:
                files.write(path, content)
    except (zipfile.BadZipFile, UnsafePath, ValueError, NotImplementedError, RuntimeError) as error:
        raise ApiError(UNPACK_FAILED) from error
    call.kernel.workspace.reload([posixpath.join(folder, name) for name in unpacked])


def _unpacked(content: bytes) -> dict[str, bytes | None]:
    """Entry name → bytes, None for a folder. Raises ValueError for names that lead out and for archives too large."""
    entries: dict[str, bytes | None] = {}
    size = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            name = posixpath.normpath(entry.filename)
            if name.startswith(("/", "..")) or "\\" in name:
                raise ValueError(entry.filename)
            size += entry.file_size
            if size > UNPACKED_BYTES_MAX:
                raise ValueError("too large")
            entries[name] = None if entry.is_dir() else archive.read(entry)
    return entries


def _within(path: str) -> str:
    """A path in the workspace. Raises ApiError (``permission denied``) for one that leads out."""
    try:
        return inside(path)
    except ApiError as error:
        raise ApiError(DENIED) from error


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/archive/zip": pack,
    "/api/archive/unzip": unpack,
}
