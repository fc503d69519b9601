"""/api/system: workspaces. This kernel serves one (decision 7): others are looked at, not made, opened or removed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

NAME_RUNES_MAX: Final = 32
_RESERVED_NAMES: Final = ("conf", "home", "data", "temp")
_FORBIDDEN: Final = frozenset('\\/:*?"<>|')
NOT_ALLOWED: Final = "This workspace name is not allowed, please use another name"
NOT_THERE: Final = "This workspace does not exist"
AT_ROOT: Final = "Do not create the workspace in the partition root path, please create a new folder as the workspace"
NOT_EMPTY: Final = "This folder contains other files, please create a new folder as the workspace"
SAME_PATH: Final = "The old and new paths are repeated"
CURRENT: Final = "Cannot remove current workspace"
INSIDE_ANOTHER: Final = "The specified path [%s] has a parent workspace path [%s]"
ONE_WORKSPACE: Final = "this kernel serves one workspace: start another process for [%s]"
LONG_MESSAGE: Final = {"closeTimeout": 7000}
SHORT_MESSAGE: Final = {"closeTimeout": 3000}
_NO_ENTRY: Final = "no such file or directory"


def get_workspaces(call: Call) -> Any:
    return [{"path": _own(call), "closed": False}] if call.is_admin else []


def get_mobile_workspaces(call: Call) -> Any:
    """Only mobile systems have them."""


def check_workspace_dir(call: Call) -> Any:
    """Whether a folder is, or could become, a workspace."""
    path = call.arguments.raw_str("path")
    if _is_partition_root(path):
        raise ApiError(AT_ROOT, data=LONG_MESSAGE)
    if not _is_workspace(path) and _names_in(path):
        raise ApiError(NOT_EMPTY, data=LONG_MESSAGE)
    _check_name(path)
    if not os.path.lexists(path):
        raise ApiError(NOT_THERE)
    return {"isWorkspace": _is_workspace(path)}


def create_workspace_dir(call: Call) -> Any:
    path = call.arguments.raw_str("path").strip()
    _check_name(path)
    raise ApiError(ONE_WORKSPACE % path)


def set_workspace_dir(call: Call) -> Any:
    path = call.arguments.raw_str("path")
    if path == _own(call):
        raise ApiError(SAME_PATH, data=SHORT_MESSAGE)
    if not _is_workspace(path):
        for above in Path(path).parents:
            if not _is_partition_root(str(above)) and _is_workspace(str(above)):
                raise ApiError(INSIDE_ANOTHER % (path, above), data=LONG_MESSAGE)
    raise ApiError(ONE_WORKSPACE % path)


def remove_workspace_dir(call: Call) -> Any:
    """Others are not on this kernel's list, so taking one off it changes nothing."""
    if call.arguments.raw_str("path") == _own(call):
        raise ApiError(CURRENT, data=SHORT_MESSAGE)


def remove_workspace_physically(call: Call) -> Any:
    path = os.path.abspath(call.arguments.raw_str("path"))
    if path == _own(call):
        raise ApiError("cannot remove current workspace")
    if not _is_workspace(path):
        raise ApiError("path is not a workspace directory")
    raise ApiError("path is not a registered workspace")


def _own(call: Call) -> str:
    return call.kernel.workspace.files.absolute("").rstrip("/")


def _is_partition_root(path: str) -> bool:
    return bool(path) and os.path.normpath(path) == os.path.dirname(os.path.normpath(path))


def _is_workspace(path: str) -> bool:
    try:
        return "kernelVersion" in Path(path, "conf", "conf.json").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return False


def _names_in(path: str) -> list[str]:
    try:
        if not path:
            raise FileNotFoundError(2, _NO_ENTRY)
        return os.listdir(path)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "invalid argument").lower()
        word = "fdopendir" if isinstance(error, NotADirectoryError) else "open"
        raise ApiError(f"read dir [{path}] failed: {word} {path}: {reason}") from error


def _check_name(path: str) -> None:
    name = os.path.basename(path.rstrip("/"))
    if (
        not name
        or name.startswith(".")
        or len(name) > NAME_RUNES_MAX
        or _FORBIDDEN & set(name)
        or name.lower() in _RESERVED_NAMES
    ):
        raise ApiError(NOT_ALLOWED)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/system/getWorkspaces": get_workspaces,
    "/api/system/getMobileWorkspaces": get_mobile_workspaces,
    "/api/system/checkWorkspaceDir": check_workspace_dir,
    "/api/system/createWorkspaceDir": create_workspace_dir,
    "/api/system/setWorkspaceDir": set_workspace_dir,
    "/api/system/removeWorkspaceDir": remove_workspace_dir,
    "/api/system/removeWorkspaceDirPhysically": remove_workspace_physically,
}
