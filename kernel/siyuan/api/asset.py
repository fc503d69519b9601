"""/api/asset: which assets documents show, which are unused or missing, removing and renaming them (kernel-facts 23)."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from kernel.siyuan.api.messages import show_message, update_message
from kernel.siyuan.api.search_files import contents_of
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.dispatch import Envelope
from kernel.siyuan.progress import RENAMING, covered, show_saving
from kernel.workspace.asset_care import (
    asset_texts,
    database_assets,
    missing_assets,
    remove_asset,
    remove_unused,
    rename_asset,
    set_text,
    unused_assets,
)
from kernel.workspace.asset_links import assets_of, image_sources
from kernel.workspace.assets import find_asset, is_there
from kernel.workspace.documents import Refusal
from kernel.workspace.durations import file_size

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_UNUSED_SHOWN_MAX: Final = 512
_NO_OCR: Final = (
    "Tesseract OCR is not installed or configured, please refer to the User Guide - Assets section for configuration"
)
_CLEANED: Final = (
    "Cleaning up unreferenced assets is complete. [{}] files have been deleted, freeing up a total of [{}] disk space"
)
_BINARY_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_UPLOADED_NONE: Final = "Upload completed [0]"
_STAT_FAILED: Final = Envelope(1, "", None)


def get_doc_assets(call: Call) -> Any:
    """The assets of a block's document, each once; null without any."""
    block_id = call.arguments.raw_str("id")
    keeps_query = True
    if call.arguments.get("retainQueryStr") is not None:
        keeps_query = call.arguments.raw_bool("retainQueryStr")
    found = assets_of(
        call.kernel.workspace.document(block_id).root,
        lambda database_id: database_assets(call.kernel.workspace, database_id),
    )
    return (found if keeps_query else [path.partition("?")[0] for path in found]) or None


def get_doc_image_assets(call: Call) -> Any:
    """The sources of a document's images, repeats kept; null without any."""
    block_id = call.arguments.raw_str("id")
    return image_sources(call.kernel.workspace.document(block_id).root) or None


def get_unused_assets(call: Call) -> Any:
    found = unused_assets(call.kernel.workspace)
    if len(found) > _UNUSED_SHOWN_MAX:
        text = f"Total unused assets [{len(found)}], only [{_UNUSED_SHOWN_MAX}] listed here"
        show_message(call, text, 5000)
    return [item.to_json() for item in found[:_UNUSED_SHOWN_MAX]]


def get_missing_assets(call: Call) -> Any:
    return [item.to_json() for item in missing_assets(call.kernel.workspace)]


def remove_unused_asset(call: Call) -> Any:
    return {"path": remove_asset(call.kernel.workspace, call.arguments.raw_str("path"))}


def remove_unused_assets(call: Call) -> Any:
    message = show_message(call, "Cleaning data...", 30_000)
    paths, size = remove_unused(call.kernel.workspace)
    update_message(call, message, _CLEANED.format(len(paths), file_size(size)), 7000)
    return {"paths": paths}


def rename(call: Call) -> Any:
    old_path, new_name = call.arguments.raw_str("oldPath"), call.arguments.raw_str("newName")
    workspace = call.kernel.workspace
    saved: list[str] = []
    try:
        return {"newPath": rename_asset(workspace, old_path, new_name, saved.append)}
    except Refusal as error:
        raise ApiError(str(error), data={"closeTimeout": 5000}) from error
    finally:
        # Afterwards: reading the changed files anew forgets what was told before.
        with covered(workspace, RENAMING):
            for root_id in saved:
                show_saving(workspace, root_id)


def resolve_asset_path(call: Call) -> Any:
    """The file of an asset, as the operating system names it."""
    return call.kernel.workspace.files.absolute(_found(call, call.arguments.raw_str("path"), 3000))


def _found(call: Call, path: str, close_ms: int) -> str:
    try:
        return find_asset(call.kernel.workspace, path)
    except Refusal as error:
        raise ApiError(str(error), data={"closeTimeout": close_ms} if close_ms else None) from error


def stat_asset(call: Call) -> Any:
    """Size and times of an asset, or of a file:// address inside the workspace. Any failure is code 1 without words."""
    workspace = call.kernel.workspace
    path = call.arguments.raw_str("path")
    root = workspace.files.absolute("").rstrip("/")
    try:
        if path.startswith("assets/"):
            found = find_asset(workspace, path)
        else:
            local = unquote(path.removeprefix("file://").partition("?")[0])
            if not path.startswith("file://") or not local.startswith(f"{root}/"):
                return _STAT_FAILED
            found = local[len(root) + 1 :]
    except Refusal:
        return _STAT_FAILED
    stat = workspace.files.stat(found) if is_there(workspace.files, found) else None
    if stat is None:
        return _STAT_FAILED
    zone = call.kernel.clock.local().tzinfo or UTC
    shown = f"{datetime.fromtimestamp(stat.mtime_s, tz=zone):%Y-%m-%d %H:%M:%S}"
    at_ms = int(stat.mtime_s * 1000)
    return {
        "size": stat.size,
        "hSize": _binary_size(stat.size),
        "created": at_ms,
        "hCreated": shown,
        "updated": at_ms,
        "hUpdated": shown,
    }


def _binary_size(size: int) -> str:
    """Bytes in powers of 1024, rounded up to two digits: ``860 B``, ``1.2 KiB``."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_BINARY_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{math.ceil(value * 100) / 100:.2f}".rstrip("0").rstrip(".") + f" {_BINARY_UNITS[unit]}"


# --- texts and annotations -------------------------------------------------------------------------------------------
def full_reindex_asset_content(call: Call) -> Any:
    call.kernel.state.pop("asset_contents", None)
    contents_of(call.kernel)


def get_image_ocr_text(call: Call) -> Any:
    if call.arguments.get("path") is None:
        return {"text": ""}
    return {"text": asset_texts(call.kernel.workspace).get(call.arguments.raw_str("path"), "")}


def set_image_ocr_text(call: Call) -> Any:
    set_text(call.kernel.workspace, call.arguments.raw_str("path"), call.arguments.raw_str("text"))


def ocr(call: Call) -> Any:
    """No reader of images is configured, as in a fresh kernel."""
    call.arguments.raw_str("path")
    raise ApiError(_NO_OCR, data={"closeTimeout": 7000})


def get_file_annotation(call: Call) -> Any:
    """What has been marked in a PDF; code 1 where nothing has."""
    path = call.arguments.raw_str("path").replace("%23", "#")
    notes = f"{_found(call, path.removesuffix('.sya'), 5000)}.sya"
    files = call.kernel.workspace.files
    if not files.exists(notes):
        return Envelope(1, "", None)
    return {"data": files.read(notes).decode("utf-8", "replace")}


def set_file_annotation(call: Call) -> Any:
    path = call.arguments.raw_str("path").replace("%23", "#")
    data = call.arguments.raw_str("data")
    notes = f"{_found(call, path.removesuffix('.sya'), 0)}.sya"
    files = call.kernel.workspace.files
    if data != "{}":
        files.write(notes, data.encode())
    elif files.exists(notes):
        files.remove(notes)


# --- the cloud -------------------------------------------------------------------------------------------------------
def upload_cloud(call: Call) -> Any:
    """Nothing goes up without a subscription: none are told."""
    if call.arguments.get("ignorePushMsg") is not None:
        call.arguments.raw_bool("ignorePushMsg")
    call.arguments.raw_str("id")
    show_message(call, _UPLOADED_NONE, 3000)


def upload_cloud_by_paths(call: Call) -> Any:
    if call.arguments.get("paths") is None:
        raise ApiError("[paths] is required")
    call.arguments.raw_str_list("paths")
    is_silent = call.arguments.get("ignorePushMsg") is not None and call.arguments.raw_bool("ignorePushMsg")
    if not is_silent:
        show_message(call, _UPLOADED_NONE, 3000)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/asset/getDocAssets": get_doc_assets,
    "/api/asset/getDocImageAssets": get_doc_image_assets,
    "/api/asset/getUnusedAssets": get_unused_assets,
    "/api/asset/getMissingAssets": get_missing_assets,
    "/api/asset/removeUnusedAsset": remove_unused_asset,
    "/api/asset/removeUnusedAssets": remove_unused_assets,
    "/api/asset/renameAsset": rename,
    "/api/asset/resolveAssetPath": resolve_asset_path,
    "/api/asset/statAsset": stat_asset,
    "/api/asset/fullReindexAssetContent": full_reindex_asset_content,
    "/api/asset/getImageOCRText": get_image_ocr_text,
    "/api/asset/setImageOCRText": set_image_ocr_text,
    "/api/asset/ocr": ocr,
    "/api/asset/getFileAnnotation": get_file_annotation,
    "/api/asset/setFileAnnotation": set_file_annotation,
    "/api/asset/uploadCloud": upload_cloud,
    "/api/asset/uploadCloudByAssetsPaths": upload_cloud_by_paths,
}
