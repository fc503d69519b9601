"""[core] The folder of the databases, ``data/storage/av``: their files, which blocks show one, which refer to which."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel.ids import is_node_id
from kernel.workspace.events import PROTYLE
from kernel.workspace.go_struct import Kind, ListOf, MapOf, Mismatch, Optional, Record, read, written, zero
from kernel.workspace.views.database import Database, ViewError, unique, values_in, view_not_found
from kernel.workspace.views.format import CURRENT_SPEC, DATABASE, DEFAULT_PAGE_SIZE, Json
from kernel.workspace.views.upgrade import upgrade
from kernel.workspace.views.values import is_filled

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

FOLDER: Final = "data/storage/av"
# Database id → the blocks that show it.
_BLOCKS: Final = f"{FOLDER}/blocks.msgpack"
# Database id → the databases with a relation to it.
_RELATIONS: Final = f"{FOLDER}/relations.msgpack"
_BLANKS: Final[dict[str, Json]] = {}
TOO_NEW: Final = "attribute view spec is too new"


class SpecTooNew(ViewError):
    """The file was written by a newer kernel; it is left as it is."""


def path_of(database_id: str) -> str:
    return f"{FOLDER}/{database_id}.json"


def exists(workspace: Workspace, database_id: str) -> bool:
    return is_node_id(database_id) and workspace.files.exists(path_of(database_id))


def all_ids(workspace: Workspace) -> list[str]:
    """The ids of all databases, in order."""
    try:
        entries = workspace.files.list(FOLDER)
    except (FileNotFoundError, NotADirectoryError):
        return []
    names = [entry.name.removesuffix(".json") for entry in entries if entry.name.endswith(".json")]
    return [name for name in names if is_node_id(name)]


def load(workspace: Workspace, database_id: str) -> Database:
    """A database as it lies in its file, to be read or changed.

    Raises:
        ViewError: the id is none (``invalid attribute view id``), there is no file (``view not found``), or it holds
            no database.
        SpecTooNew: a newer kernel wrote it.
    """
    if not is_node_id(database_id):
        raise ViewError("invalid attribute view id")
    try:
        content = workspace.files.read(path_of(database_id))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise view_not_found() from error
    return decoded(workspace, content)


def find(workspace: Workspace, database_id: str) -> Database | None:
    """The same; None instead of a complaint."""
    try:
        return load(workspace, database_id)
    except ViewError:
        return None


def decoded(workspace: Workspace, content: bytes) -> Database:
    """The database in a file's content. Raises ViewError, SpecTooNew."""
    try:
        given = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ViewError(str(error)) from error
    if isinstance(given, dict) and workspace.view_files.get(str(given.get("id"))) == _digest(content):
        return Database(_completed(DATABASE, given))
    try:
        data = read(DATABASE, given)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    if data["spec"] > CURRENT_SPEC:
        raise SpecTooNew(TOO_NEW)
    database = Database(data)
    upgrade(database)
    return database


def save(workspace: Workspace, database: Database) -> None:
    """Write a database; what it already says is not written again."""
    _tidy(database)
    content = msgspec.json.encode(written(DATABASE, database.data))
    path = path_of(database.id)
    if not workspace.files.exists(path) or workspace.files.read(path) != content:
        workspace.files.write(path, content)
    workspace.view_files[database.id] = _digest(content)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _tidy(database: Database) -> None:
    """What the kernel drops when it saves: repeated items, what rendering has filled in."""
    primary = database.primary()
    if primary is not None:
        first: dict[str, Json] = {}
        for value in values_in(primary):
            first.setdefault(value["blockID"], value)
        primary["values"] = list(first.values())
    for view in database.views():
        view["itemIds"] = unique(view["itemIds"] or ())
        if view["pageSize"] < 1:
            view["pageSize"] = DEFAULT_PAGE_SIZE
    for column in database.columns():
        column["values"] = [value for value in values_in(column) if not is_filled(value)]


def _completed(kind: Kind, given: Any) -> Any:
    """What was written by ``save``, with the fields that were left out. Nothing is checked again."""
    match kind:
        case Optional():
            return None if given is None else _completed(kind.item, given)
        case Record():
            record = dict(_blank(kind))
            for name, value in given.items():
                record[name] = _completed(kind.fields[name], value)
            return record
        case ListOf():
            return None if given is None else [None if one is None else _completed(kind.item, one) for one in given]
        case MapOf():
            return None if given is None else {key: _completed(kind.item, one) for key, one in given.items()}
        case _:
            return given


def _blank(kind: Record) -> Json:
    """A record that holds nothing; its fields are plain values or nothing, so a shallow copy is one of its own."""
    blank = _BLANKS.get(kind.type_name)
    if blank is None:
        blank = _BLANKS[kind.type_name] = zero(kind)
    return blank


# --- telling -------------------------------------------------------------------------------------------------------
def tell_reload(workspace: Workspace, database_id: str) -> None:
    """Editors that show a database load it again."""
    workspace.emit("refreshAttributeView", {"id": database_id}, to=PROTYLE)


# --- which blocks show it ------------------------------------------------------------------------------------------
def _table(workspace: Workspace, path: str) -> dict[str, list[str]]:
    try:
        found = msgspec.msgpack.decode(workspace.files.read(path), type=dict[str, list[str] | None])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}
    return {key: values or [] for key, values in found.items()}


def shown_in(workspace: Workspace) -> dict[str, list[str]]:
    """Database id → blocks that have shown it; some may be gone."""
    return _table(workspace, _BLOCKS)


def mirrors(workspace: Workspace, database_id: str) -> list[str]:
    """The blocks that show a database."""
    known = shown_in(workspace).get(database_id, ())
    return [block_id for block_id in known if workspace.block_exists(block_id)]


def is_mirrored(workspace: Workspace, database_id: str) -> bool:
    """Whether more than one block shows a database."""
    return len(shown_in(workspace).get(database_id, ())) > 1


def note_shown(workspace: Workspace, database_id: str, block_id: str) -> bool:
    """A block shows a database. Whether it is one more than before (the first does not count)."""
    table = shown_in(workspace)
    known = table.get(database_id, [])
    table[database_id] = unique([*known, block_id])
    _write(workspace, _BLOCKS, table)
    return bool(known) and len(known) != len(table[database_id])


def note_hidden(workspace: Workspace, database_id: str, block_id: str) -> bool:
    """A block shows a database no more; others that are gone are forgotten with it. Whether any was."""
    table = shown_in(workspace)
    known = table.get(database_id)
    if not known:
        return False
    table[database_id] = [one for one in known if one != block_id and workspace.block_exists(one)]
    _write(workspace, _BLOCKS, table)
    return len(table[database_id]) != len(known)


# --- which databases refer to it -----------------------------------------------------------------------------------
def referring(workspace: Workspace, database_id: str) -> list[str]:
    """The databases with a relation to this one."""
    return _table(workspace, _RELATIONS).get(database_id, [])


def note_relation(workspace: Workspace, source_id: str, target_id: str) -> None:
    table = _table(workspace, _RELATIONS)
    table[target_id] = unique([*table.get(target_id, ()), source_id])
    _write(workspace, _RELATIONS, table)


def drop_relation(workspace: Workspace, source_id: str, target_id: str) -> None:
    table = _table(workspace, _RELATIONS)
    if target_id in table:
        table[target_id] = [one for one in table[target_id] if one != source_id]
        _write(workspace, _RELATIONS, table)


def _write(workspace: Workspace, path: str, table: dict[str, list[str]]) -> None:
    workspace.files.write(path, msgspec.msgpack.encode(table))
