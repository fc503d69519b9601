"""The emulated kernel in this process: the same dispatch as ``/api/*``, without HTTP (decision 2)."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from kernel.host.base import HostApiError, HostHttpError
from kernel.host.envelope import read_envelope, read_file_answer, unwrap
from kernel.host.limits import STREAM_CHUNK_BYTES
from kernel.siyuan.arguments import ApiError, Arguments
from kernel.siyuan.dispatch import ApiAnswer, Envelope, UnknownRoute, dispatch
from kernel.siyuan.file_streams import body_of
from kernel.siyuan.kernel import Call, Form, FormFile, SiyuanKernel
from kernel.siyuan.paths import inside
from kernel.turns import Turns
from kernel.workspace.files import StorageError
from kernel.workspace.records import Record

_GET_FILE = "/api/file/getFile"
_PUT_FILE = "/api/file/putFile"
_UPLOAD = "/api/asset/upload"


class EmbeddedHost:
    """The note host that is this process. Calls as an administrator, as the plugin in the real kernel does."""

    def __init__(self, kernel: SiyuanKernel, turns: Turns | None = None) -> None:
        self._kernel = kernel
        self._files = kernel.workspace.files
        self._turns = turns

    @property
    def is_quiet(self) -> bool:
        return self._kernel.durable.is_quiet

    def moment(self) -> object | None:
        """A turn of the event loop in which we have written nothing. Another process may write in it: its write was
        not done when this turn's requests were sent."""
        turns = self._turns
        if turns is None or turns.number == 0:
            return None
        # Neither of the two ever falls, so that their sum is the same only where both are.
        return turns.number + self._files.changes

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return self._data(path, await self._dispatch(path, dict(arguments) if arguments else {}))

    async def read_file(self, path: str) -> bytes | None:
        files = self._kernel.workspace.files
        try:
            inner = _inside(path)
            if not files.is_pending(inner):
                # Nothing to wait for, and nothing to say but the bytes: settings are read by every call.
                return files.read_again(inner)
        except (ApiError, OSError, ValueError):
            pass  # the endpoint has the words for it
        answer = await self._dispatch(_GET_FILE, {"path": path})
        if isinstance(answer, Envelope):
            # Only a refusal comes in one: a file is raw bytes, also where it is missing.
            raise HostApiError(answer.code, answer.msg, path=_GET_FILE, data=answer.data)
        return read_file_answer(_GET_FILE, answer.status, await body_of(answer))

    async def write_file(self, path: str, content: bytes) -> None:
        form = Form({"path": path, "isDir": "false"}, [FormFile("file", path.rsplit("/", 1)[-1], content)])
        self._data(_PUT_FILE, await self._dispatch(_PUT_FILE, {}, form))

    async def keep_records(self, records: Sequence[Record]) -> None:
        inner = [Record(_inside(record.path), record.content, record.bytes_max) for record in records]
        try:
            await self._kernel.durable.keep(inner)
        except StorageError as error:
            raise HostApiError(-1, f"write failed: {error.reason}", path=_PUT_FILE) from error

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        form = Form({"assetsDirPath": directory}, [FormFile("file[]", name, content)])
        uploaded: dict[str, Any] = self._data(_UPLOAD, await self._dispatch(_UPLOAD, {}, form))
        return uploaded

    async def fetch_static(self, path: str) -> bytes | None:
        return await self.read_file(_workspace_path(path))

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        content = await self.fetch_static(path)
        if content is None:
            raise HostHttpError(404, "HTTP error: 404", path=path)
        for start in range(0, len(content), STREAM_CHUNK_BYTES):
            yield content[start : start + STREAM_CHUNK_BYTES]

    async def aclose(self) -> None:
        """Nothing to close: the kernel belongs to the application."""

    async def _dispatch(self, path: str, arguments: dict[str, Any], form: Form | None = None) -> ApiAnswer:
        try:
            return await dispatch(Call(self._kernel, path, Arguments(arguments), form))
        except UnknownRoute:
            raise HostHttpError(404, f"The emulated kernel does not serve {path}", path=path) from None

    @staticmethod
    def _data(path: str, answer: ApiAnswer) -> Any:
        if isinstance(answer, Envelope):
            if answer.is_in_doubt:
                raise HostApiError(answer.code, answer.msg, path=path, data=answer.data, is_ambiguous=True)
            return unwrap(path, answer.code, answer.msg, answer.data)
        # The embedded kernel answers for certain: a raw answer is its own, never a proxy's.
        return read_envelope(path, answer.status, answer.body, is_write=False)


_inside: Final = functools.lru_cache(maxsize=256)(inside)


def _workspace_path(path: str) -> str:
    """Where a static resource lies in the workspace: exports under temp, all else under data."""
    plain = unquote(path.split("?", 1)[0])
    if plain.startswith("/export/"):
        return "/temp" + plain
    return plain if plain.startswith(("/data/", "/temp/")) else "/data" + plain
