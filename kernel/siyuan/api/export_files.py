"""/api/export: files of the workspace as archives to download (siyuan-api A9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.exports import EXPORT_DIR, zipped
from kernel.siyuan.paths import inside
from kernel.workspace.asset_names import file_name

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_RANDOM_LENGTH: Final = 7
_NO_PATHS: Final = "[paths] is required"


def export_resources(call: Call) -> Any:
    """Files and folders of the workspace in one archive below ``temp/export``; every error has code 1."""
    if call.arguments.get("paths") is None:
        raise ApiError(_NO_PATHS, 1, "")
    paths = call.arguments.raw_str_list("paths")
    name = call.arguments.get("name")
    if name is not None and not isinstance(name, str):
        raise Panic("name")
    workspace = call.kernel.workspace
    title = file_name(name or "") or f"{workspace.clock.local():%Y-%m-%d_%H-%M-%S}"
    entries: dict[str, bytes] = {}
    for given in paths:
        entries |= {f"{title}/{path}": content for path, content in _below(call, given).items()}
    archive = f"{EXPORT_DIR}/{workspace.ids.text(_RANDOM_LENGTH)}-{title}.zip"
    workspace.files.write(archive, zipped(entries))
    return {"path": archive}


def _below(call: Call, given: str) -> dict[str, bytes]:
    """A file, or all files of a folder, by their paths from its parent on."""
    files = call.kernel.workspace.files
    try:
        path = inside(given)
    except ApiError as error:
        raise ApiError(error.message, 1, "") from error
    found = files.stat(path) if path else None
    if found is None:
        raise ApiError(f"stat {files.absolute(path)}: no such file or directory", 1, "")
    parent = path.rpartition("/")[0]
    chosen = [below for below, _ in files.walk(path)] if found.is_dir else [path]
    return {one[len(parent) :].lstrip("/"): files.read(one) for one in chosen}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/export/exportResources": export_resources,
}
