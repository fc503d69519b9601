"""A real SiYuan kernel over HTTP (decision 51). Reads are retried on transient failures, writes are sent once (R78, R79)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import httpx
import trio

from kernel.endpoints import is_write
from kernel.host.base import HostApiError, HostError, HostHttpError, HostUnavailable
from kernel.host.envelope import is_transient, quoted, read_envelope, read_file_answer
from kernel.host.limits import (
    FORM_BYTES_EXTRA,
    READ_RETRY_WAITS_S,
    REMOTE_ANSWER_BYTES_MAX,
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


class _Reply(NamedTuple):
    status: int
    body: bytes


class RemoteHost:
    """The note host at ``url``. ``token`` may be empty (a local kernel without an access code)."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        retry_waits_s: tuple[float, ...] = READ_RETRY_WAITS_S,
        answer_bytes_max: int = REMOTE_ANSWER_BYTES_MAX,
    ) -> None:
        headers = {"Authorization": f"Token {token}"} if token else {}
        self.url = url.rstrip("/")
        self._retry_waits_s = retry_waits_s
        self._answer_bytes_max = answer_bytes_max
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
            reply = await self._send("POST", path, writes, json=dict(arguments or {}))
            if not (writes or reply.body) and reply.status == 200:
                # The kernel says nothing where its handler gave up: that is no empty answer to a question.
                raise HostHttpError(200, f"Invalid SiYuan API response from {path}: it is empty", path=path)
            return read_envelope(path, reply.status, reply.body, is_write=writes)

        return await once() if writes else await self._retried(once)

    async def read_file(self, path: str) -> bytes | None:
        async def once() -> bytes | None:
            reply = await self._send("POST", _GET_FILE, False, json={"path": path})
            return read_file_answer(_GET_FILE, reply.status, reply.body)

        return await self._retried(once)

    async def write_file(self, path: str, content: bytes) -> None:
        name = path.rsplit("/", 1)[-1]
        form: dict[str, Any] = {"data": {"path": path, "isDir": "false"}, "files": {"file": (name, content)}}
        length = self._client.build_request("POST", _PUT_FILE, **form).headers["content-length"]
        if int(length) - len(content) > FORM_BYTES_EXTRA:
            raise HostApiError(-1, f"the form around the file is longer than {FORM_BYTES_EXTRA} bytes", path=_PUT_FILE)
        reply = await self._send("POST", _PUT_FILE, True, **form)
        read_envelope(_PUT_FILE, reply.status, reply.body, is_write=True)

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        reply = await self._send(
            "POST", _UPLOAD, True, data={"assetsDirPath": directory}, files={"file[]": (name, content)}
        )
        data = read_envelope(_UPLOAD, reply.status, reply.body, is_write=True)
        return data if isinstance(data, dict) else {}

    async def fetch_static(self, path: str) -> bytes | None:
        async def once() -> bytes | None:
            reply = await self._send("GET", path, False)
            if reply.status == 404:
                return None
            if reply.status != 200:
                raise HostHttpError(reply.status, f"HTTP error: {reply.status}", path=path)
            return reply.body

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

    async def _send(self, method: str, path: str, writes: bool, **options: Any) -> _Reply:
        try:
            # The client's own bound is between two pieces of an answer: one that drips would never meet it.
            with trio.fail_after(REMOTE_REQUEST_S_MAX):
                return await self._exchange(method, path, writes, options)
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

    async def _exchange(self, method: str, path: str, writes: bool, options: dict[str, Any]) -> _Reply:
        """The whole answer, read no further than its bound: a host may send without end, or pack little into much."""
        pieces, left_bytes = [], self._answer_bytes_max
        async with self._client.stream(method, path, **options) as response:
            try:
                async for chunk in response.aiter_bytes():
                    left_bytes -= len(chunk)
                    if left_bytes >= 0:
                        pieces.append(chunk)
                    else:
                        # Left in the middle, the client's own generators would stay open: so they fail by themselves.
                        await response.aclose()
            except httpx.HTTPError:
                if left_bytes >= 0:
                    raise
        if left_bytes < 0:
            words = f"The note kernel's answer is longer than {self._answer_bytes_max} bytes"
            raise HostHttpError(response.status_code, words, path=path, is_ambiguous=writes)
        return _Reply(response.status_code, b"".join(pieces))

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
