"""The boundary to the notes: what every host offers, in the vocabulary of ``/api/*`` (decision 2).

Embedded, remote, scoped and faulty hosts all have this one shape. Holds no rules.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol


class HostError(Exception):
    """A host call failed. ``is_ambiguous``: a write may have taken effect although no answer came."""

    def __init__(self, message: str, *, path: str = "", is_ambiguous: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.is_ambiguous = is_ambiguous


class HostApiError(HostError):
    """The host answered with ``code != 0``, its own words say why. Ambiguous only where a near host knows that its disk
    failed in the middle."""

    def __init__(
        self, code: int, message: str, *, path: str = "", data: Any = None, is_ambiguous: bool = False
    ) -> None:
        super().__init__(message, path=path, is_ambiguous=is_ambiguous)
        self.api_code = code
        self.data = data


class HostHttpError(HostError):
    """The host answered with an HTTP error status or with something that is not its envelope."""

    def __init__(self, status: int, message: str, *, path: str = "", is_ambiguous: bool = False) -> None:
        super().__init__(message, path=path, is_ambiguous=is_ambiguous)
        self.status = status


class HostUnavailable(HostError):
    """No connection, reset, timeout. For a write that was sent: ambiguous."""


class Host(Protocol):
    """The note host. Every method is one host call: it is counted, budgeted, and a fault point."""

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """POST ``/api/…`` and return ``data``.

        Raises:
            HostApiError: ``code`` is not 0.
            HostHttpError, HostUnavailable: the transport's own failures.
        """
        ...

    async def read_file(self, path: str) -> bytes | None:
        """``/api/file/getFile`` of a workspace path (``/data/…``); None where there is none (HTTP 202, code 404)."""
        ...

    async def write_file(self, path: str, content: bytes) -> None:
        """``/api/file/putFile``: parents are made, an existing file is replaced. Sent once."""
        ...

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        """``/api/asset/upload``: ``{errFiles, succMap}``. Sent once."""
        ...

    async def fetch_static(self, path: str) -> bytes | None:
        """GET a static resource (``/templates/…``, ``/assets/…``, ``/export/…``); None for 404."""
        ...

    def stream_static(self, path: str) -> AsyncIterator[bytes]:
        """The same, piece by piece (large downloads)."""
        ...

    async def aclose(self) -> None: ...


class NearHost(Protocol):
    """What a host offers beside ``Host`` whose notes are in this process's memory."""

    @property
    def is_quiet(self) -> bool:
        """Nothing is on its way to the disk: a call that only reads is answered without waiting."""
        ...

    def moment(self) -> object | None:
        """Equal moments have equal files; None where nothing is known."""
        ...


def near(host: Host) -> NearHost | None:
    """The same host, if it is a near one."""
    return host if hasattr(host, "moment") else None  # type: ignore[return-value]
