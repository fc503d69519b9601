"""/api/asset/upload and its relatives: files that come in (siyuan-api A9; kernel-facts 23)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.uploaded import multipart_form
from kernel.workspace.assets import ASSETS, INSERT_FAILED, folder_of, is_there, store_uploads
from kernel.workspace.documents import Refusal
from kernel.workspace.names import base_name, joined_path
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_FILES: Final = "file[]"


def upload(call: Call) -> Any:
    """Multipart: file[] (any number), assetsDirPath (below data/), id, skipIfDuplicated."""
    form = multipart_form(call)
    workspace = call.kernel.workspace
    folder, shown = f"{DATA}/{ASSETS}", ASSETS
    if "id" in form.values:
        folder = folder_of(workspace, form.values["id"])
    if "assetsDirPath" in form.values:
        shown = form.values["assetsDirPath"]
        folder = _folder_below_data(call, shown)
    files = [(part.name, part.content) for part in form.files if part.field == _FILES]
    if not workspace.files.is_dir(folder):
        workspace.files.make_dir(folder)
    skips = form.values.get("skipIfDuplicated") == "true"
    return {"errFiles": None, "succMap": store_uploads(workspace, files, folder, shown, skips_duplicates=skips)}


def _folder_below_data(call: Call, given: str) -> str:
    """The folder a client names, relative to the workspace. Raises ApiError where it leaves the workspace."""
    folder = joined_path("/", DATA, given) if ".." not in given.split("/") else _joined(call, given)
    return folder.removeprefix("/")


def _joined(call: Call, given: str) -> str:
    root = call.kernel.workspace.files.absolute("").rstrip("/")
    absolute = joined_path(root, DATA, given)
    if not absolute.startswith(f"{root}/"):
        raise ApiError(f"Path [{absolute}] is not in workspace")
    return absolute[len(root) :]


def insert_local_assets(call: Call) -> Any:
    """Files of this machine become assets. The real kernel takes any; ours those of the workspace (differences.md)."""
    workspace = call.kernel.workspace
    paths = call.arguments.raw_str_list("assetPaths")
    is_upload = True
    if call.arguments.get("isUpload") is not None:
        is_upload = call.arguments.raw_bool("isUpload")
    folder = folder_of(workspace, call.arguments.raw_str("id"))
    stored: dict[str, str] = {}
    root = workspace.files.absolute("").rstrip("/")
    for path in paths:
        name = base_name(path)
        inner = path[len(root) + 1 :] if path.startswith(f"{root}/") else ""
        if not is_upload or (inner and workspace.files.is_dir(inner)):
            stored[name] = path if path.startswith("\\\\") else f"file://{path}"
        elif inner.startswith(f"{folder}/"):
            stored[name] = f"{ASSETS}/{name}"
        elif not inner or not is_there(workspace.files, inner):
            raise ApiError(f"stat {path}: no such file or directory")
        else:
            stored |= store_uploads(workspace, [(name, workspace.files.read(inner))], folder, ASSETS)
    return {"succMap": stored}


def insert_cover(call: Call) -> Any:
    """A picture of the program's own covers becomes an asset."""
    name = base_name(call.arguments.raw_str("name"))
    if name in ("", ".", "..", "/"):
        raise ApiError("invalid name")
    workspace = call.kernel.workspace
    cover = f"conf/appearance/covers/{name}"
    if workspace.files.is_dir(cover):
        raise ApiError("invalid cover")
    if not workspace.files.exists(cover):
        raise ApiError("cover not found")
    try:
        folder = folder_of(workspace, call.arguments.raw_str("id"))
    except Refusal as error:
        raise ApiError(INSERT_FAILED) from error
    return {"succMap": store_uploads(workspace, [(name, workspace.files.read(cover))], folder, ASSETS)}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/asset/upload": upload,
    "/api/asset/insertLocalAssets": insert_local_assets,
    "/api/asset/insertCover": insert_cover,
}
