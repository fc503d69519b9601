"""/api/clipboard, /api/convert: programs and services of the machine, which this kernel does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.paths import inside

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

NO_CLIPBOARD: Final = "writing file paths to clipboard is not supported on this platform"
NO_ASSET: Final = "Query asset failed [%s]"
NO_PANDOC: Final = "not found executable pandoc"
MESSAGE: Final = {"closeTimeout": 5000}


def read_file_paths(call: Call) -> Any:
    """Files on the clipboard: on Linux the kernel never looks."""
    return []


def write_file_path(call: Call) -> Any:
    path = call.arguments.required_str("path")
    asset = f"data/{inside(path)}"
    if not path.startswith("assets/") or not call.kernel.workspace.files.exists(asset):
        raise ApiError(NO_ASSET % path, data=MESSAGE)
    raise ApiError(NO_CLIPBOARD, data=MESSAGE)


def pandoc(call: Call) -> Any:
    call.arguments.optional_str("dir")
    call.arguments.required_list("args")
    call.arguments.raw_str_list("args")
    raise ApiError(NO_PANDOC)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/clipboard/readFilePaths": read_file_paths,
    "/api/clipboard/writeFilePath": write_file_path,
    "/api/convert/pandoc": pandoc,
}
