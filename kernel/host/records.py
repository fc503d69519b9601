"""Writing records (statistics) to any host: without waiting for the disk where the host can, else get and put.

Records are no host calls of the notes' safety promise: they outlive the process, not a power cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kernel.host.base import Host
from kernel.workspace.records import ROTATED_SUFFIX, Record


class RecordHost(Protocol):
    """A host that has the files at hand."""

    async def keep_records(self, records: Sequence[Record]) -> None:
        """Write them in order; every read sees them when this returns. Raises HostError."""
        ...


async def keep_records(host: Host, records: Sequence[Record]) -> None:
    """Write ``records`` (paths like ``/data/…``) once, in order.

    Raises:
        HostError: the host refused, or did not answer.
    """
    # Asked by name: to ask a protocol whether a host is one costs more than all else here.
    near: RecordHost | None = host if hasattr(host, "keep_records") else None  # type: ignore[assignment]
    if near is not None:
        await near.keep_records(records)
        return
    for record in records:
        if record.bytes_max is None:
            await host.write_file(record.path, record.content)
            continue
        before = await host.read_file(record.path) or b""
        if before and len(before) + len(record.content) > record.bytes_max:
            await host.write_file(record.path + ROTATED_SUFFIX, before)
            before = b""
        await host.write_file(record.path, before + record.content)
