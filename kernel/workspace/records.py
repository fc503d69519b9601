"""Records: files that outlive this process but promise nothing after a power cut (statistics). No fsync is waited for.

They pass beside the overlay: a record is on the file system, and seen by every read, when its write has returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from kernel.workspace.backend import Backend

ROTATED_SUFFIX: Final = ".1"


class Record(msgspec.Struct, frozen=True):
    """One write. ``bytes_max`` None: ``content`` becomes the whole file. Else it is appended; a file that would grow
    past ``bytes_max`` is first moved aside to ``<path>.1``, over the one before."""

    path: str
    content: bytes
    bytes_max: int | None = None


@dataclass(slots=True)
class RecordBatch:
    """Records on their way, in order. ``write`` runs in a writer thread, once."""

    records: Sequence[Record]
    backend: Backend

    def write(self) -> None:
        """Carry them out.

        Raises:
            StorageError: the disk refused; the records before the refused one are written.
        """
        from kernel.workspace.files import StorageError

        for record in self.records:
            try:
                self._write(record)
            except OSError as error:
                raise StorageError.of(error, error.filename or record.path) from error

    def _write(self, record: Record) -> None:
        if record.bytes_max is None:
            self.backend.put_unsynced(record.path, record.content)
            return
        found = self.backend.stat(record.path)
        if found is not None and found.size and found.size + len(record.content) > record.bytes_max:
            self.backend.rename(record.path, record.path + ROTATED_SUFFIX)
        self.backend.append(record.path, record.content)
