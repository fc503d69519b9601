"""Tool ``file``: assets and exports. Templates are in ``file_templates``, snapshots in ``file_snapshot``."""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol
from urllib.parse import unquote

from kernel.errors import ToolError
from kernel.host.base import HostApiError
from kernel.host.limits import IMAGE_BYTES_EXTRA
from kernel.host.scoped import ScopedHost
from kernel.safety.intent import Observation, Outcome
from kernel.tools import file_snapshot, file_templates
from kernel.tools.context import Arguments, Guard, Handling, ToolContext, Written, on_block
from kernel.tools.failures import not_found, refusal
from kernel.tools.fs_paths import document
from kernel.tools.limits import IMAGE_BYTES_MAX, INLINE_EXPORT_BYTES_MAX
from kernel.tools.permissions import Level
from kernel.tools.results import IMAGE_KEY

_ASSET: Final = re.compile(r"\((assets/[^)\s\"]+)")
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_STAGED: Final = "file.upload_asset"
_EXPORT_HINT: Final = "Fetch it with POST /api/file/getFile and the body given."


class Uploads(Protocol):
    """The staging area of uploads, as far as a tool uses it (``kernel.uploads``)."""

    def staged(self, upload_source: str) -> tuple[str, bytes] | None:
        """File name and bytes of a staged upload; None when it is gone."""
        ...


async def upload_asset(context: ToolContext, arguments: Arguments) -> Written:
    name, content = _staged(context, arguments)
    threshold_mb = context.configuration.upload_large_mb
    threshold = threshold_mb * 1024 * 1024
    if len(content) > threshold and not arguments.get("confirmLargeFile"):
        payload = {
            "success": False,
            "requiresConfirmation": True,
            "reason": "file_too_large",
            "fileSizeBytes": len(content),
            "thresholdBytes": threshold,
            "thresholdMB": threshold_mb,
            "message": f"The file is larger than {threshold_mb} MB: pass confirmLargeFile:true to upload it.",
        }
        return Written(payload, changed=False)
    data = await context.host.upload_asset(arguments["assetsDirPath"], name, content)
    payload = {**data, "uploadedFileName": name, "uploadSource": arguments["uploadSource"]}
    if len(content) > threshold:
        payload["largeFileConfirmed"] = True
    return Written(payload, changed=True)


def _admit_upload(arguments: Arguments) -> None:
    if not arguments.get("uploadSource"):
        raise ToolError(
            "kernel_local_file_unavailable",
            "This endpoint reads no files of its caller.",
            reason="kernel_local_file_unavailable",
            hint="Send the bytes to /transfer/upload first, then pass uploadSource.",
        )


def _staged(context: ToolContext, arguments: Arguments) -> tuple[str, bytes]:
    """The upload as this call found it first: what is written, and looked at afterwards, was not swapped or let go."""
    if _STAGED not in context.memo:
        uploads: Uploads | None = context.parts.get("uploads")
        staged = uploads.staged(arguments["uploadSource"]) if uploads is not None else None
        if staged is None:
            raise ToolError("upload_source_expired", "upload_source_expired: this upload is not staged any more.")
        context.memo[_STAGED] = staged
    name, content = context.memo[_STAGED]
    return name, content


async def _guard_upload(context: ToolContext, arguments: Arguments) -> None:
    _staged(context, arguments)


async def _probe_upload(context: ToolContext, arguments: Arguments) -> Observation:
    """The source of an upload: its identifier is the digest of its name and its bytes."""
    name, content = _staged(context, arguments)
    source = arguments["uploadSource"]
    summary = {"uploadSource": source, "uploadedFileName": name, "sourceSize": len(content)}
    return Observation({"uploadSource": source, "bytes": len(content)}, (source,), 1, summary)


def _confirm_upload(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """The host's file holds the bytes that were uploaded."""

    async def confirm(outcome: Outcome) -> bool:
        if outcome.changed is False:
            return True
        name, content = _staged(context, arguments)
        asset = (outcome.payload.get("succMap") or {}).get(name)
        if not isinstance(asset, str):
            return False
        path = "/data/" + asset.partition("?")[0].removeprefix("/")
        return await context.host.read_file(path) == content

    return confirm


async def export_md(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/export/exportMdContent", id=arguments["id"])


async def export_resources(context: ToolContext, arguments: Arguments) -> Written:
    paths = list(dict.fromkeys(filter(None, map(_workspace_path, arguments["paths"]))))
    if not paths:
        raise refusal("paths must name at least one file or folder.", "invalid_arguments")
    try:
        data = dict(await context.call("/api/export/exportResources", paths=paths, name=arguments.get("name")) or {})
    except HostApiError as error:
        # What cannot be packed is told as this action's own refusal, as for an empty list.
        raise refusal(error.message.strip(), "api_error", hint="Name files and folders of the workspace.") from error
    path = str(data.get("path") or "")
    where = path if path.startswith("/") else f"/{path}"
    payload: dict[str, Any] = {**data, "transport": "kernel"}
    if arguments.get("delivery") == "download":
        return Written({**payload, "delivery": "download", "downloadPath": where})
    if not arguments.get("outputPath"):
        return Written(payload)
    content = await context.host.read_file(where) or b""
    if len(content) > INLINE_EXPORT_BYTES_MAX:
        too_large = {
            "success": False,
            "transport": "kernel",
            "reason": "kernel_export_too_large_for_inline",
            "bytes": len(content),
            "inlineLimitBytes": INLINE_EXPORT_BYTES_MAX,
            "officialApi": _official(where),
            "nextStep": "Ask again with delivery:download.",
            "hint": _EXPORT_HINT,
        }
        return Written(too_large)
    inline = {
        "requestedOutputPath": arguments["outputPath"],
        "bytes": len(content),
        "encoding": "base64",
        "dataBase64": base64.b64encode(content).decode(),
        "nextStep": "Decode dataBase64 and save it at requestedOutputPath.",
    }
    return Written({**payload, **inline})


def _workspace_path(path: str) -> str:
    """A path as the host takes it: below the workspace, with one slash in front; assets lie in its data folder."""
    parts = "/".join(part for part in path.strip().replace("\\", "/").split("/") if part)
    return f"/data/{parts}" if parts.startswith("assets/") else f"/{parts}" if parts else ""


def _official(path: str) -> dict[str, Any]:
    return {"endpoint": "/api/file/getFile", "method": "POST", "body": {"path": path}, "note": _EXPORT_HINT}


async def extract_doc(context: ToolContext, arguments: Arguments) -> Written:
    block_id = arguments["id"]
    data = dict(await context.call("/api/export/exportMdContent", id=block_id) or {})
    markdown, human = str(data.get("content") or ""), str(data.get("hPath") or "")
    delivery = arguments.get("delivery") or "inline"
    assets, left = [], INLINE_EXPORT_BYTES_MAX
    paths = list(dict.fromkeys(unquote(found) for found in _ASSET.findall(markdown)))
    for path in context.progress.steps(paths, "Read asset"):
        asset, used = await _extracted(context, path, left if delivery == "inline" else 0)
        left -= used
        assets.append(asset)
    unreadable = sum("error" in asset for asset in assets)
    payload = {
        "success": True,
        "complete": unreadable == 0,
        "transport": "kernel",
        "delivery": delivery,
        "docId": block_id,
        "docName": human.rsplit("/", 1)[-1].removesuffix(".sy") or block_id,
        "hPath": human,
        "markdown": markdown,
        "assets": assets,
        "extractedAssetCount": sum(asset.get("encoding") == "base64" for asset in assets),
        "pointerAssetCount": sum(asset.get("encoding") == "official-api" for asset in assets),
        "skippedAssetCount": unreadable,
        "nextStep": "Save markdown and the assets; fetch those that are only named.",
    }
    return Written(payload)


async def _extracted(context: ToolContext, path: str, left: int) -> tuple[dict[str, Any], int]:
    """One asset, inline while there is room, else where to fetch it; and how many bytes it took."""
    where = f"/data/{path}"
    if left <= 0:
        return {"path": path, "encoding": "official-api", "officialApi": _official(where)}, 0
    content = await context.host.read_file(where)
    if content is None:
        return {"path": path, "error": "unreadable"}, 0
    if len(content) > left:
        return {"path": path, "encoding": "official-api", "bytes": len(content), "officialApi": _official(where)}, 0
    data = base64.b64encode(content).decode()
    return {"path": path, "bytes": len(content), "encoding": "base64", "dataBase64": data}, len(content)


async def list_unused_assets(context: ToolContext, arguments: Arguments) -> Any:
    assets = await context.call("/api/asset/getUnusedAssets") or []
    assets = assets.get("unusedAssets", []) if isinstance(assets, dict) else assets
    return {"assets": assets, "count": len(assets)}


async def get_doc_assets(context: ToolContext, arguments: Arguments) -> Any:
    kind = arguments["assetType"]
    name = "getDocImageAssets" if kind == "image" else "getDocAssets"
    assets = await context.call(f"/api/asset/{name}", id=arguments["id"])
    count = {} if assets is None else {"count": len(assets)}
    return {"id": arguments["id"], "assetType": kind, "assets": assets, **count}


async def audit_image_refs(context: ToolContext, arguments: Arguments) -> Any:
    """The document's images against a list: what is missing, what is there beside it."""
    actual = list(await context.call("/api/asset/getDocImageAssets", id=arguments["id"]) or [])
    expected: list[str] = arguments["expectedRefs"]
    missing = [ref for ref in expected if ref not in actual]
    unexpected = [ref for ref in actual if ref not in expected]
    return {
        "id": arguments["id"],
        "matches": not missing and not unexpected,
        "expectedCount": len(expected),
        "actualCount": len(actual),
        "missing": missing,
        "unexpected": unexpected,
    }


async def read_image(context: ToolContext, arguments: Arguments) -> Any:
    """An image that the document shows, as an MCP image."""
    path = arguments["path"].removeprefix("/").removeprefix("data/")
    block_id = arguments.get("id") or (await document(context, arguments["documentPath"], Level.READ)).id
    await context.require_block(block_id, Level.READ)
    if path not in (await context.call("/api/asset/getDocImageAssets", id=block_id) or []):
        raise refusal(f"The document does not show {path}.", "not_found", hint="List its images with get_doc_assets.")
    if isinstance(context.host, ScopedHost) and context.host.budget is not None:
        context.host.budget.allow_bytes(IMAGE_BYTES_EXTRA)
    content = await context.host.read_file(f"/data/{path}")
    if content is None:
        raise refusal(f"{path} cannot be read.", "not_found")
    kind = _image_type(content)
    if kind is None or len(content) > IMAGE_BYTES_MAX:
        raise refusal(f"{path} is no PNG, JPEG, GIF or WebP of at most {IMAGE_BYTES_MAX} bytes.", "unsupported")
    facts = {"documentID": block_id, "path": path, "mimeType": kind, "bytes": len(content), "delivery": "mcp_image"}
    return {**facts, IMAGE_KEY: {"type": "image", "data": base64.b64encode(content).decode(), "mimeType": kind}}


def _image_type(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if content.startswith(signature)), None)


async def get_image_ocr_text(context: ToolContext, arguments: Arguments) -> Any:
    path = arguments.get("path")
    data = await context.call("/api/asset/getImageOCRText", path=path)
    return {"path": path, "text": (data or {}).get("text") or ""}


async def remove_unused_assets(context: ToolContext, arguments: Arguments) -> Written:
    data = await context.call("/api/asset/removeUnusedAssets")
    return Written({"success": True, **(data if isinstance(data, dict) else {"paths": data or []})})


async def rename_asset(context: ToolContext, arguments: Arguments) -> Written:
    old, new = arguments["oldPath"], arguments["newName"]
    data = await context.call("/api/asset/renameAsset", oldPath=old, newName=new)
    return Written({"success": True, "oldPath": old, "newName": new, "newPath": (data or {}).get("newPath")})


async def delete_asset(context: ToolContext, arguments: Arguments) -> Written:
    data = await context.call("/api/asset/removeUnusedAsset", path=arguments["path"])
    return Written({"success": True, "path": (data or {}).get("path") or arguments["path"]})


def _guard_asset(argument: str) -> Guard:
    """An asset, and for a strict write one that is there. The host takes whatever the path names, in its workspace or not."""

    async def guard(context: ToolContext, arguments: Arguments) -> None:
        named = arguments[argument]
        path = unquote(named).removeprefix("/").removeprefix("data/")
        if not path.startswith("assets/") or ".." in path.split("/") or path == "assets/":
            raise refusal(f"{named} is no asset.", "path_not_in_workspace", reason="path_not_in_workspace")
        if not context.configuration.is_strict:
            return
        for one in dict.fromkeys((path, named.removeprefix("/").removeprefix("data/"))):
            if await context.host.read_file(f"/data/{one}") is not None:
                return
        raise not_found(f"There is no asset {named}.", hint="search.search_assets finds assets.")

    return guard


_READ: Final = on_block(Level.READ, "id")

HANDLERS: Final[dict[str, Handling]] = {
    "file.upload_asset": Handling(
        upload_asset, _guard_upload, probe=_probe_upload, confirms=_confirm_upload, admits=_admit_upload
    ),
    "file.export_md": Handling(export_md, _READ),
    "file.export_resources": Handling(export_resources),
    "file.extract_doc": Handling(extract_doc, _READ),
    "file.list_unused_assets": Handling(list_unused_assets),
    "file.get_doc_assets": Handling(get_doc_assets, _READ),
    "file.audit_image_refs": Handling(audit_image_refs, _READ),
    "file.read_image": Handling(read_image),
    "file.get_image_ocr_text": Handling(get_image_ocr_text),
    "file.remove_unused_assets": Handling(remove_unused_assets),
    "file.rename_asset": Handling(rename_asset, _guard_asset("oldPath")),
    "file.delete_asset": Handling(delete_asset, _guard_asset("path")),
    **file_templates.HANDLERS,
    **file_snapshot.HANDLERS,
}
