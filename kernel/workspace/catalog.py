"""[core] What the last run knew of every document file, so that a start need not read those that are unchanged.

One file, ``temp/sisyphus-catalog``: JSON of ``_Catalog``. It is a copy of what the files say, may be thrown away
at any time, and is believed of a file only where the file's stamp is the same to the nanosecond. Written when the
notes are closed in order; after a crash the next start reads anew what has been written since.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Final

import msgspec

from kernel.workspace.block_ids import NO_IDS, PackedIds
from kernel.workspace.blockmap import DocumentEntry, head_of, ids_in, refs_in
from kernel.workspace.contents import digest_of
from kernel.workspace.files import SETTLED_AFTER_MS, StorageError

if TYPE_CHECKING:
    from kernel.workspace.backend import Stamp
    from kernel.workspace.files import Files

CATALOG_PATH: Final = "temp/sisyphus-catalog"
# One more for every change of what an entry holds or of how ids are found in a file.
CATALOG_VERSION: Final = 2


# What ``PackedIds`` is made from.
_Packed = tuple[str, frozenset[str]]


class _Row(msgspec.Struct, array_like=True):
    """One document file."""

    stamp: tuple[int, int, int, int]
    id: str
    properties: dict[str, str]
    digest: bytes
    block_ids: _Packed
    ref_ids: _Packed


class _Catalog(msgspec.Struct, array_like=True):
    version: int
    # ``<notebook><path>`` → the document there.
    documents: dict[str, _Row]


class Catalog:
    """The documents of the last run; asked while a workspace is opened."""

    def __init__(self, rows: dict[str, _Row], *, wall_ms: int) -> None:
        self._rows = rows
        self._wall_ms = wall_ms

    @classmethod
    def read(cls, files: Files, *, wall_ms: int) -> Catalog:
        """What lies in the workspace; nothing is known where it is missing, broken or another version's."""
        try:
            found = msgspec.json.decode(files.read(CATALOG_PATH), type=_Catalog)
        except (OSError, StorageError, msgspec.MsgspecError, RecursionError):
            return cls({}, wall_ms=wall_ms)
        return cls(found.documents if found.version == CATALOG_VERSION else {}, wall_ms=wall_ms)

    def entry(self, files: Files, box: str, path: str) -> DocumentEntry:
        """The document in a file: from the catalog where the file is unchanged, else read.

        Raises:
            ValueError: the file is not a document. OSError: it cannot be read.
        """
        where = f"data/{box}{path}"
        stamp = files.stamp(where)
        row = self._rows.get(f"{box}{path}")
        if row is not None and stamp is not None and row.stamp == stamp:
            ids, refs = _unpacked(row.block_ids), _unpacked(row.ref_ids)
            return DocumentEntry(
                row.id,
                box,
                path,
                row.properties,
                stamp[2],
                block_ids=ids,
                ref_ids=refs,
                content=row.digest,
                stamp=stamp,
            )
        content = files.read(where)
        root_id, properties = head_of(content)
        return DocumentEntry(
            root_id,
            box,
            path,
            properties,
            len(content),
            block_ids=ids_in(content),
            ref_ids=refs_in(content),
            content=digest_of(content),
            # A file that was written a moment ago may be written again within one tick of its clock.
            stamp=stamp if stamp is not None and self._is_settled(stamp) else None,
        )

    def _is_settled(self, stamp: Stamp) -> bool:
        return self._wall_ms - max(stamp[0], stamp[1]) / 1e6 > SETTLED_AFTER_MS


def write_catalog(files: Files, entries: Iterable[DocumentEntry]) -> None:
    """Keep what is known for the next start. Files that cannot be vouched for are left out, and read then."""
    rows = {}
    for entry in entries:
        stamp = entry.stamp or _stamp_of_written(files, entry)
        if stamp is not None and entry.digest:
            rows[f"{entry.box}{entry.path}"] = _Row(
                stamp, entry.id, entry.properties, entry.digest, _packed(entry.block_ids), _packed(entry.ref_ids)
            )
    files.put_unsynced(CATALOG_PATH, msgspec.json.encode(_Catalog(CATALOG_VERSION, rows)))


def _packed(ids: Set[str]) -> _Packed:
    return (ids if isinstance(ids, PackedIds) else PackedIds.of(ids)).packed


def _unpacked(packed: _Packed) -> PackedIds:
    return PackedIds(*packed) if any(packed) else NO_IDS


def _stamp_of_written(files: Files, entry: DocumentEntry) -> Stamp | None:
    """The stamp of a file that this run has written, if what lies there is still what was written."""
    where = f"data/{entry.box}{entry.path}"
    try:
        stamp = files.stamp(where)
        if stamp is not None and digest_of(files.read(where)) == entry.digest and files.stamp(where) == stamp:
            return stamp
    except OSError:
        pass
    return None
