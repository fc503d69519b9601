"""A real SiYuan kernel over HTTP (decision 51). Reads are retried on transient failures, writes are sent once (R78, R79)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import httpx
import trio

from kernel.endpoints import is_write
from kernel.host.base import HostApiError, HostError, HostHttpError, HostUnavailable
from kernel.host.envelope import is_transient, quoted, read_envelope, read_file_answer
from kernel.host.limits import (
    FORM_BYTES_EXTRA,
    READ_RETRY_WAITS_S,
    REMOTE_CONNECT_S_MAX,
    REMOTE_REQUEST_S_MAX,
    STREAM_CHUNK_BYTES,
)
from kernel.host.reasons import reason_of
from kernel.host.retries import retry_terms
from kernel.host.streams import closing_stream
from kernel.host.trust import context_for

_Result = TypeVar("_Result")
_GET_FILE = "/api/file/getFile"
_PUT_FILE = "/api/file/putFile"
_UPLOAD = "/api/asset/upload"


class RemoteHost:
    """The note host at ``url``. ``token`` may be empty (a local kernel without an access code)."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        retry_waits_s: tuple[float, ...] = READ_RETRY_WAITS_S,
    ) -> None:
        headers = {"Authorization": f"Token {token}"} if token else {}
        self.url = url.rstrip("/")
        self._retry_waits_s = retry_waits_s
        self._client = httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=httpx.Timeout(REMOTE_REQUEST_S_MAX, connect=REMOTE_CONNECT_S_MAX),
            transport=transport,
            verify=context_for(self.url),
            trust_env=False,  # a proxy of the environment must never see the notes
        )

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        writes = is_write(path)

        async def once() -> Any:
            response = await self._send("POST", path, writes, json=dict(arguments or {}))
            return read_envelope(path, response.status_code, response.content, is_write=writes)

        return await once() if writes else await self._retried(once)

    async def read_file(self, path: str) -> bytes | None:
        async def once() -> bytes | None:
            response = await self._send("POST", _GET_FILE, False, json={"path": path})
            return read_file_answer(_GET_FILE, response.status_code, response.content)

        return await self._retried(once)

    async def write_file(self, path: str, content: bytes) -> None:
        name = path.rsplit("/", 1)[-1]
        form: dict[str, Any] = {"data": {"path": path, "isDir": "false"}, "files": {"file": (name, content)}}
        length = self._client.build_request("POST", _PUT_FILE, **form).headers["content-length"]
        if int(length) - len(content) > FORM_BYTES_EXTRA:
            raise HostApiError(-1, f"the form around the file is longer than {FORM_BYTES_EXTRA} bytes", path=_PUT_FILE)
        response = await self._send("POST", _PUT_FILE, True, **form)
        read_envelope(_PUT_FILE, response.status_code, response.content, is_write=True)

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        response = await self._send(
            "POST", _UPLOAD, True, data={"assetsDirPath": directory}, files={"file[]": (name, content)}
        )
        data = read_envelope(_UPLOAD, response.status_code, response.content, is_write=True)
        return data if isinstance(data, dict) else {}

    async def fetch_static(self, path: str) -> bytes | None:
        async def once() -> bytes | None:
            response = await self._send("GET", path, False)
            if response.status_code == 404:
                return None
            if response.status_code != 200:
                raise HostHttpError(response.status_code, f"HTTP error: {response.status_code}", path=path)
            return response.content

        return await self._retried(once)

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        """Piece by piece, never retried once bytes have come."""
        try:
            async with self._client.stream("GET", path) as response:
                if response.status_code != 200:
                    body = await response.aread()
                    raise HostHttpError(
                        response.status_code, f"HTTP error: {response.status_code} {quoted(body)}", path=path
                    )
                async with closing_stream(response.aiter_bytes(STREAM_CHUNK_BYTES)) as chunks:
                    async for chunk in chunks:
                        yield chunk
        except httpx.HTTPError as error:
            raise HostUnavailable(f"The download of {path} broke off: {reason_of(error)}", path=path) from error

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _send(self, method: str, path: str, writes: bool, **options: Any) -> httpx.Response:
        try:
            # The client's own bound is between two pieces of an answer: one that drips would never meet it.
            with trio.fail_after(REMOTE_REQUEST_S_MAX):
                return await self._client.request(method, path, **options)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            # Nothing was sent, so even a write is certain not to have happened.
            raise HostUnavailable(f"The note kernel cannot be reached: {reason_of(error)}", path=path) from error
        except httpx.HTTPError as error:
            raise HostUnavailable(
                f"The note kernel did not answer: {reason_of(error)}", path=path, is_ambiguous=writes
            ) from error
        except trio.TooSlowError as error:
            words = f"The note kernel gave no whole answer within {REMOTE_REQUEST_S_MAX:g} s"
            raise HostUnavailable(words, path=path, is_ambiguous=writes) from error

    async def _retried(self, once: Callable[[], Awaitable[_Result]]) -> _Result:
        terms = retry_terms.get()
        for wait_s in self._retry_waits_s[: terms.retries_max if terms is not None else None]:
            try:
                return await once()
            except HostError as error:
                if not _may_retry(error):
                    raise
            await trio.sleep(wait_s)
            if terms is not None:
                terms.before_try()
        return await once()


def _may_retry(error: HostError) -> bool:
    if isinstance(error, HostHttpError):
        return is_transient(error.status)
    return isinstance(error, HostUnavailable)
