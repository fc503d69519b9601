"""[core] Snapshots of the data folder: lists of files, and each file's content once, below ``repo/``.

A format of our own (docs/differences.md): the real kernel's is encrypted, and neither reads the other's. Indexes are
``repo/indexes/<id>`` (JSON), contents ``repo/objects/<2>/<38>``, both named by SHA-1; tags are in ``repo/tags.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.workspace.documents import Refusal
from kernel.workspace.names import joined_path
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

REPO: Final = "repo"
_TAGS: Final = f"{REPO}/tags.json"
_ID_LENGTH: Final = 40
# What a running process holds open below data/ is no part of the notes, and going back must never touch it.
_PROCESS_FILES: Final = (".lock", ".db", ".db-wal", ".db-shm", ".sqlite", ".sqlite3", ".sqlite3-wal", ".sqlite3-shm")


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One file of a snapshot. ``path`` below data/ with a leading slash, ``updated`` in Unix milliseconds."""

    id: str
    path: str
    size: int
    updated: int
    content: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All files of one moment (``created`` in Unix milliseconds)."""

    id: str
    memo: str
    created: int
    files: tuple[SnapshotFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def take_snapshot(workspace: Workspace, memo: str) -> Snapshot:
    """Keep the data folder as it is now; where nothing has changed, the latest snapshot stands for it."""
    _note_ignored(workspace)
    files = []
    for path, stat in workspace.files.walk(DATA):
        if path.endswith(_PROCESS_FILES):
            continue
        content = workspace.files.read(path)
        digest = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        if not workspace.files.exists(_object(digest)):
            workspace.files.write(_object(digest), content)
        updated = int(stat.mtime_s * 1000)
        inner = path[len(DATA) :]
        file_id = hashlib.sha1(f"{inner}\0{digest}\0{updated}".encode(), usedforsecurity=False).hexdigest()
        files.append(SnapshotFile(file_id, inner, len(content), updated, digest))
    latest = next(iter(snapshots(workspace)), None)
    if latest is not None and {(file.path, file.content) for file in latest.files} == {
        (file.path, file.content) for file in files
    }:
        return latest
    # Snapshots are told apart by their time alone: one that is taken later is later, whatever the clock has done.
    created = max(workspace.clock.wall_ms(), latest.created + 1 if latest is not None else 0)
    told = f"{created}\0{memo}\0{''.join(file.id for file in files)}"
    snapshot = Snapshot(hashlib.sha1(told.encode(), usedforsecurity=False).hexdigest(), memo, created, tuple(files))
    workspace.files.write(f"{REPO}/indexes/{snapshot.id}", json.dumps(asdict(snapshot), ensure_ascii=False).encode())
    return snapshot


def _note_ignored(workspace: Workspace) -> None:
    """The real kernel makes these lists of what is left out when it first looks for them; nothing is on them."""
    lists = ["syncignore", *(["indexignore"] if workspace.blocks.documents else [])]
    for name in lists:
        if not workspace.files.exists(f"{DATA}/.siyuan/{name}"):
            workspace.files.write(f"{DATA}/.siyuan/{name}", b"")


def snapshots(workspace: Workspace) -> list[Snapshot]:
    """All snapshots, the latest first."""
    folder = f"{REPO}/indexes"
    if not workspace.files.is_dir(folder):
        return []
    found = (_read(workspace, entry.name) for entry in workspace.files.list(folder))
    return sorted((one for one in found if one is not None), key=lambda one: -one.created)


def snapshot_of(workspace: Workspace, snapshot_id: str) -> Snapshot:
    """One snapshot. Raises Refusal in the words of the operating system."""
    found = _read(workspace, snapshot_id)
    if found is None:
        path = joined_path(workspace.files.absolute(REPO), "indexes", snapshot_id)
        raise Refusal(f"open {path}: no such file or directory")
    return found


def file_of(workspace: Workspace, file_id: str) -> SnapshotFile:
    """One file of any snapshot. Raises Refusal in the words of the operating system."""
    for snapshot in snapshots(workspace):
        for file in snapshot.files:
            if file.id == file_id:
                return file
    where = f"{workspace.files.absolute(REPO)}/objects/{file_id[:2]}/{file_id[2:]}"
    raise Refusal(f"open {where}: no such file or directory")


def content_of(workspace: Workspace, file: SnapshotFile) -> bytes:
    return workspace.files.read(_object(file.content))


def compared(
    left: Snapshot, right: Snapshot
) -> tuple[list[SnapshotFile], list[tuple[SnapshotFile, SnapshotFile]], list[SnapshotFile]]:
    """Files that only the left has, that both have but differ (left, right), and that only the right has."""
    ours = {file.path: file for file in left.files}
    theirs = {file.path: file for file in right.files}
    changed = [(ours[path], theirs[path]) for path in ours if path in theirs and ours[path].id != theirs[path].id]
    return (
        [file for path, file in ours.items() if path not in theirs],
        changed,
        [file for path, file in theirs.items() if path not in ours],
    )


def check_out(workspace: Workspace, snapshot: Snapshot) -> None:
    """Make the data folder what it was; what it is now is kept as a snapshot first."""
    take_snapshot(workspace, "[Checkout] Before checkout")
    wanted = {f"{DATA}{file.path}": file for file in snapshot.files}
    changed = []
    for path, _ in list(workspace.files.walk(DATA)):
        if path not in wanted and not path.endswith(_PROCESS_FILES):
            workspace.files.remove(path)
            changed.append(path)
    for path, file in wanted.items():
        content = content_of(workspace, file)
        if not workspace.files.exists(path) or workspace.files.read(path) != content:
            workspace.files.write(path, content)
            changed.append(path)
    workspace.notebooks.forget()
    workspace.reload(changed)


def put_back(workspace: Workspace, file: SnapshotFile) -> None:
    """One file as it was."""
    path = f"{DATA}{file.path}"
    workspace.files.write(path, content_of(workspace, file))
    workspace.reload([path])


# --- tags ------------------------------------------------------------------------------------------------------------
def tags(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Tag → ``{"id": snapshot, "updated": Unix milliseconds}``."""
    try:
        found = read_json(workspace.files.read(_TAGS))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def set_tag(workspace: Workspace, name: str, snapshot_id: str) -> None:
    known = {**tags(workspace), name: {"id": snapshot_id, "updated": workspace.clock.wall_ms()}}
    workspace.files.write(_TAGS, json.dumps(known, ensure_ascii=False).encode())


def remove_tag(workspace: Workspace, name: str) -> None:
    """No complaint if there is none."""
    known = tags(workspace)
    if known.pop(name, None) is not None:
        workspace.files.write(_TAGS, json.dumps(known, ensure_ascii=False).encode())


def forget_all(workspace: Workspace) -> None:
    """Remove every snapshot."""
    if workspace.files.is_dir(REPO):
        workspace.files.remove(REPO)


def _object(digest: str) -> str:
    return f"{REPO}/objects/{digest[:2]}/{digest[2:]}"


def _read(workspace: Workspace, snapshot_id: str) -> Snapshot | None:
    if len(snapshot_id) != _ID_LENGTH or not snapshot_id.isalnum():
        return None
    try:
        stored = read_json(workspace.files.read(f"{REPO}/indexes/{snapshot_id}"))
        files = tuple(SnapshotFile(**file) for file in stored["files"])
        return Snapshot(snapshot_id, stored["memo"], stored["created"], files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def listed_files(workspace: Workspace) -> Iterator[tuple[Snapshot, SnapshotFile]]:
    """The files of all snapshots, each version once."""
    seen: set[str] = set()
    for snapshot in snapshots(workspace):
        for file in snapshot.files:
            if file.id not in seen:
                seen.add(file.id)
                yield snapshot, file
