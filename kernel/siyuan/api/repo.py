"""/api/repo: snapshots of the data folder (siyuan-api A10; kernel-facts 24)."""

from __future__ import annotations

import base64
import hashlib
import html
import mimetypes
import posixpath
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.dispatch import RawAnswer
from kernel.siyuan.exports import offer
from kernel.workspace import sy
from kernel.workspace.blockmap import head_of
from kernel.workspace.documents import Refusal
from kernel.workspace.durations import file_size
from kernel.workspace.intake import dom_of_blocks
from kernel.workspace.names import tree_id, without_invisible
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.snapshots import (
    Snapshot,
    SnapshotFile,
    check_out,
    compared,
    content_of,
    file_of,
    forget_all,
    listed_files,
    put_back,
    remove_tag,
    set_tag,
    snapshot_of,
    snapshots,
    tags,
    take_snapshot,
)

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_NO_KEY: Final = "Please initialize the data repo key first in [Settings - Account & Sync - Data repo key]"
_KEY_FAILED: Final = "Failed to initialize data repository key: {}"
_SNAPSHOT_FAILED: Final = "Failed to create data snapshot: {}"
_EMPTY: Final = "Input can not be empty"
_BAD_KEY: Final = "The key is not recognized, please confirm that the copied key string is correct"
_CLOSE: Final = {"closeTimeout": 5000}
_BAD_NAME: Final = "Do not include symbols \\ / : * ? &quot; &#039; &lt; &gt; |"
_NOT_IN_NAMES: Final = frozenset("\\/:*?\"'<>|")
_KEY_BYTES: Final = 32
_PAGE_SIZE: Final = 32
# Contents lie in folders of their first characters: a shorter id is a fault of the kernel's own.
_FOLDER_LENGTH: Final = 2
_LARGE_DOCUMENT_BYTES: Final = 1 << 20
_FOLDS: Final = ("fold", "heading-fold")
_FIRST: Final = "[Init] Init local data repo"


# --- the key ---------------------------------------------------------------------------------------------------------
def _key(call: Call) -> str:
    return str(call.kernel.workspace.conf.section("repo").get("key") or "")


def require_key(call: Call) -> None:
    if not _key(call):
        raise ApiError(_NO_KEY)


def _set_key(call: Call, key: bytes) -> dict[str, str]:
    workspace = call.kernel.workspace
    text = base64.b64encode(key).decode()
    workspace.conf.section("repo")["key"] = text
    workspace.conf.save()
    if text and not snapshots(workspace):
        take_snapshot(workspace, _FIRST)
    return {"key": text}


def init_key(call: Call) -> Any:
    return _set_key(call, call.kernel.ids.entropy(_KEY_BYTES))


def init_key_from_passphrase(call: Call) -> Any:
    passphrase = call.arguments.required_str("pass", may_be_empty=True).strip()
    if not passphrase:
        raise ApiError(_KEY_FAILED.format(_EMPTY), data=_CLOSE)
    return _set_key(call, hashlib.sha256(passphrase.encode()).digest())


def import_key(call: Call) -> Any:
    text = call.arguments.required_str("key", may_be_empty=True).strip()
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise ApiError(_KEY_FAILED.format(_BAD_KEY), data=_CLOSE)
    return _set_key(call, key)


def reset(call: Call) -> Any:
    forget_all(call.kernel.workspace)
    call.kernel.workspace.conf.section("repo")["key"] = ""
    call.kernel.workspace.conf.save()


def purge(call: Call) -> Any:
    """Nothing: contents that no snapshot holds are not left behind."""


# --- snapshots -------------------------------------------------------------------------------------------------------
def create_snapshot(call: Call) -> Any:
    memo = call.arguments.required_str("memo", may_be_empty=True)
    if not _key(call):
        raise ApiError(_SNAPSHOT_FAILED.format(_NO_KEY), data=_CLOSE)
    if not memo.strip():
        raise ApiError(_SNAPSHOT_FAILED.format(_EMPTY), data=_CLOSE)
    take_snapshot(call.kernel.workspace, memo.strip())


def tag_snapshot(call: Call) -> Any:
    snapshot_id, name = call.arguments.required_str("id"), call.arguments.required_str("name", may_be_empty=True)
    if not _key(call):
        raise ApiError(_SNAPSHOT_FAILED.format(_NO_KEY), data=_CLOSE)
    name = without_invisible(name).strip()
    if not name:
        raise ApiError(_SNAPSHOT_FAILED.format(_EMPTY), data=_CLOSE)
    if _NOT_IN_NAMES.intersection(name):
        raise ApiError(_SNAPSHOT_FAILED.format(_BAD_NAME), data=_CLOSE)
    try:
        snapshot_of(call.kernel.workspace, snapshot_id)
    except Refusal as error:
        raise ApiError(_SNAPSHOT_FAILED.format(error), data=_CLOSE) from error
    set_tag(call.kernel.workspace, name, snapshot_id)


def get_snapshots(call: Call) -> Any:
    page = int(call.arguments.required_number("page"))
    require_key(call)
    if page < 1:
        return None
    found = snapshots(call.kernel.workspace)
    shown = found[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]
    return {
        "snapshots": [_snapshot_json(call, one) for one in shown],
        "pageCount": -(-len(found) // _PAGE_SIZE),
        "totalCount": len(found),
    }


def get_tag_snapshots(call: Call) -> Any:
    require_key(call)
    workspace = call.kernel.workspace
    known = {one.id: one for one in snapshots(workspace)}
    tagged = [(name, tag) for name, tag in sorted(tags(workspace).items()) if tag["id"] in known]
    tagged.sort(key=lambda pair: -known[pair[1]["id"]].created)
    return {
        "snapshots": [
            {
                **_snapshot_json(call, known[tag["id"]]),
                "tag": name,
                "hTagUpdated": _shown(call, int(tag["updated"])),
            }
            for name, tag in tagged
        ]
    }


def remove_tag_snapshot(call: Call) -> Any:
    name = call.arguments.required_str("tag")
    require_key(call)
    remove_tag(call.kernel.workspace, name)


def checkout(call: Call) -> Any:
    """Without a key, or for an unknown snapshot, nothing happens, and nothing is said."""
    snapshot_id = call.arguments.required_str("id")
    call.arguments.optional_str("sessionID")
    known = {one.id: one for one in snapshots(call.kernel.workspace)} if _key(call) else {}
    if snapshot_id in known:
        check_out(call.kernel.workspace, known[snapshot_id])


def _snapshot_json(call: Call, snapshot: Snapshot) -> dict[str, Any]:
    system = call.kernel.workspace.conf.section("system")
    counts: dict[str, int] = {}
    for file in snapshot.files:
        kind = posixpath.splitext(file.path)[1] or "NoExt"
        counts[kind] = counts.get(kind, 0) + 1
    return {
        "id": snapshot.id,
        "memo": snapshot.memo,
        "created": snapshot.created,
        "hCreated": _shown(call, snapshot.created),
        "files": None,
        "count": len(snapshot.files),
        "size": snapshot.size,
        "hSize": file_size(snapshot.size),
        "systemID": str(system.get("id", "")),
        "systemName": str(system.get("name", "")),
        "systemOS": str(system.get("os", "")),
        "tag": "",
        "hTagUpdated": "",
        "typesCount": [
            {"type": kind, "count": count} for kind, count in sorted(counts.items(), key=lambda pair: -pair[1])
        ],
    }


def _shown(call: Call, at_ms: int) -> str:
    zone = call.kernel.clock.local().tzinfo or UTC
    return f"{datetime.fromtimestamp(at_ms / 1000, tz=zone):%Y-%m-%d %H:%M:%S}"


# --- differences and files -------------------------------------------------------------------------------------------
def diff(call: Call) -> Any:
    left_id, right_id = call.arguments.required_str("left"), call.arguments.required_str("right")
    require_key(call)
    workspace = call.kernel.workspace
    left, right = snapshot_of(workspace, left_id), snapshot_of(workspace, right_id)
    # The right one is where one would go: what only it has is added, what only the left one has is removed.
    removed, changed, added = compared(left, right)
    return {
        "addsLeft": [_file_json(call, file, right.id) for file in added],
        "updatesLeft": [_file_json(call, file, left.id) for file, _ in changed],
        "updatesRight": [_file_json(call, file, right.id) for _, file in changed],
        "removesRight": [_file_json(call, file, left.id) for file in removed],
        "left": {"id": left.id, "created": left.created},
        "right": {"id": right.id, "created": right.created},
    }


def _file_json(call: Call, file: SnapshotFile, snapshot_id: str) -> dict[str, Any]:
    return {
        "fileID": file.id,
        "indexID": snapshot_id,
        "title": _title(call, file),
        "path": file.path,
        "hSize": file_size(file.size),
        "updated": file.updated,
    }


def _title(call: Call, file: SnapshotFile) -> str:
    """A document's title, or a file's name."""
    if file.path.endswith(".sy"):
        try:
            return html.unescape(head_of(content_of(call.kernel.workspace, file))[1].get("title", ""))
        except (ValueError, OSError):
            pass
    return posixpath.basename(file.path)


def search_file(call: Call) -> Any:
    keyword = call.arguments.required_str("keyword")
    page = max(int(call.arguments.required_number("page")), 1)
    require_key(call)
    name_of = posixpath.basename if is_node_id(keyword) else None
    found = [
        (snapshot, file)
        for snapshot, file in listed_files(call.kernel.workspace)
        if keyword.lower() in (name_of(file.path) if name_of else _title(call, file)).lower()
    ]
    shown = found[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]
    return {
        "files": [{**_file_json(call, file, snapshot.id), "hPath": _hpath(call, file)} for snapshot, file in shown],
        "pageCount": -(-len(found) // _PAGE_SIZE),
        "totalCount": len(found),
    }


def _hpath(call: Call, file: SnapshotFile) -> str:
    """A document's path of titles, if it is there now."""
    entry = call.kernel.workspace.blocks.documents.get(tree_id(file.path)) if file.path.endswith(".sy") else None
    return entry.hpath if entry is not None else file.path


def _file(call: Call) -> SnapshotFile:
    file_id = call.arguments.required_str("id")
    require_key(call)
    if len(file_id) < _FOLDER_LENGTH:
        raise Panic("id")
    return file_of(call.kernel.workspace, file_id)


def open_file(call: Call) -> Any:
    """A document as DOM that cannot be edited, a large one as Markdown; text files as they are, others by their path."""
    file = _file(call)
    content = content_of(call.kernel.workspace, file)
    answer = {"title": file.path, "content": file.path, "displayInText": True, "updated": file.updated}
    if not file.path.endswith(".sy"):
        if _is_text(file.path):
            answer["content"] = content.decode("utf-8", "replace")
        return answer
    root = sy.decode(content)
    answer["title"] = html.unescape(root.properties.get("title", ""))
    answer["displayInText"] = len(content) >= _LARGE_DOCUMENT_BYTES
    if answer["displayInText"]:
        return {**answer, "content": render_kramdown(root)}
    for node in root.walk():
        for name in _FOLDS:
            node.properties.pop(name, None)
    dom = dom_of_blocks(root.children, first_index=1)
    return {**answer, "content": dom.replace('contenteditable="true"', 'contenteditable="false"')}


def _is_text(path: str) -> bool:
    kind = mimetypes.types_map.get(posixpath.splitext(path)[1].lower(), "")
    return kind.startswith("text/") or "json" in kind


def get_file(call: Call) -> Any:
    """The bytes of a kept file."""
    file = _file(call)
    content = content_of(call.kernel.workspace, file)
    return RawAnswer(200, (("Content-Type", "application/octet-stream"),), content)


def export_file(call: Call) -> Any:
    """A kept file, to be downloaded under its own name."""
    file = _file(call)
    files = call.kernel.workspace.files
    name = posixpath.basename(file.path)
    return {"path": offer(files, f"repo/{name}", content_of(call.kernel.workspace, file))}


def rollback_file(call: Call) -> Any:
    put_back(call.kernel.workspace, _file(call))


# --- settings --------------------------------------------------------------------------------------------------------
def set_retention_days(call: Call) -> Any:
    days = int(call.arguments.required_number("days"))
    call.kernel.workspace.conf.section("repo")["indexRetentionDays"] = max(days, 1)
    call.kernel.workspace.conf.save()


def set_retention_daily(call: Call) -> Any:
    count = int(call.arguments.required_number("indexes"))
    call.kernel.workspace.conf.section("repo")["retentionIndexesDaily"] = max(count, 1)
    call.kernel.workspace.conf.save()


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/repo/initRepoKey": init_key,
    "/api/repo/initRepoKeyFromPassphrase": init_key_from_passphrase,
    "/api/repo/importRepoKey": import_key,
    "/api/repo/resetRepo": reset,
    "/api/repo/purgeRepo": purge,
    "/api/repo/createSnapshot": create_snapshot,
    "/api/repo/tagSnapshot": tag_snapshot,
    "/api/repo/getRepoSnapshots": get_snapshots,
    "/api/repo/getRepoTagSnapshots": get_tag_snapshots,
    "/api/repo/removeRepoTagSnapshot": remove_tag_snapshot,
    "/api/repo/checkoutRepo": checkout,
    "/api/repo/diffRepoSnapshots": diff,
    "/api/repo/searchRepoFile": search_file,
    "/api/repo/openRepoSnapshotFile": open_file,
    "/api/repo/getRepoFile": get_file,
    "/api/repo/exportRepoFile": export_file,
    "/api/repo/rollbackRepoSnapshotFile": rollback_file,
    "/api/repo/setRepoIndexRetentionDays": set_retention_days,
    "/api/repo/setRetentionIndexesDaily": set_retention_daily,
}
