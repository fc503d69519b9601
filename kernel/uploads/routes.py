"""``/transfer/upload`` and ``/transfer/lookup``: bytes in, receipts out. Outside the lanes (decision 9). Awaits.

An upload takes one of two places before a byte of its body is read; the body is hashed as it comes, and other tasks
get a turn after every 64 KiB (R174-R176).
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

import msgspec
import trio

from kernel.clock import Clock
from kernel.uploads import limits
from kernel.uploads.bodies import NAME_HEADER, is_octets, read_json_upload, read_name_header
from kernel.uploads.staging import (
    Staged,
    Staging,
    StagingFull,
    UploadInvalid,
    UploadTooLarge,
    content_digest,
    read_fingerprint,
)
from kernel.wire import Answer, BodyTooLarge, Exchange, Response, json_response

RunInThread = Callable[[Callable[[bytes], tuple[str, bytes]], bytes], Awaitable[tuple[str, bytes]]]
"""``trio.to_thread.run_sync``, or its inline double."""

_NOT_STORED: Final = (("Cache-Control", "no-store"),)
_RETRY: Final = (("Retry-After", str(limits.FULL_RETRY_S)),)
_CLOSING: Final = frozenset({408, 413, 429})
_PARSE_INLINE_BYTES_MAX: Final = limits.HASH_STEP_BYTES


class Uploads:
    """The staging area with its two routes. ``is_enabled``: whether ``file.upload_asset`` is switched on now."""

    def __init__(
        self,
        clock: Clock,
        is_enabled: Callable[[], Awaitable[bool]],
        *,
        run_in_thread: RunInThread = trio.to_thread.run_sync,
    ) -> None:
        self.staging = Staging()
        self.in_flight = 0
        self._clock = clock
        self._is_enabled = is_enabled
        self._run_in_thread = run_in_thread

    def staged(self, upload_source: str) -> tuple[str, bytes] | None:
        """File name and bytes of a staged upload; None when it is gone (``kernel.tools.file.Uploads``)."""
        found = self.staging.find(upload_source, now=self._clock.now())
        return None if found is None else (found.file_name, found.content)

    def statistics(self) -> dict[str, int]:
        """Counts for /health."""
        return self.staging.statistics(now=self._clock.now())

    # --- the routes ---

    async def upload(self, exchange: Exchange) -> Answer:
        """Stage one file: 200 with its receipt; 400, 403, 408, 413 or 429."""
        if not await self._is_enabled():
            return _disabled()
        if self.in_flight >= limits.UPLOADS_AT_ONCE_MAX:
            return _refusal(429, "upload_capacity", "Two uploads are under way: try again.", _RETRY)
        # No checkpoint between the look and the place.
        self.in_flight += 1
        try:
            with trio.move_on_after(limits.UPLOAD_S_MAX):
                return await self._stage(exchange)
            return _refusal(408, "upload_timeout", f"An upload may take {limits.UPLOAD_S_MAX:g} seconds.")
        except UploadInvalid as error:
            return _refusal(400, "invalid_upload", str(error))
        except (UploadTooLarge, BodyTooLarge) as error:
            return _refusal(413, "upload_too_large", str(error))
        except StagingFull as error:
            return _refusal(429, "upload_capacity", str(error), _RETRY)
        finally:
            self.in_flight -= 1

    async def lookup(self, exchange: Exchange) -> Answer:
        """Find a staged file by name, digest and size: 200 with its receipt, 404, or 400. Never makes one."""
        if not await self._is_enabled():
            return _disabled()
        try:
            wanted = read_fingerprint(msgspec.json.decode(exchange.request.body))
        except (UploadInvalid, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return _refusal(400, "invalid_upload_fingerprint", str(error))
        found = self.staging.lookup(wanted, now=self._clock.now())
        if found is None:
            return _refusal(404, "upload_source_not_found", "No such file is staged: upload it.")
        return self._receipt(*found)

    # --- inside ---

    async def _stage(self, exchange: Exchange) -> Response:
        headers = exchange.request.headers
        if is_octets(headers.get("content-type")):
            name = read_name_header(headers.get(NAME_HEADER))
            content, digest = await self._read_octets(exchange)
        else:
            name, content = await self._read_json(exchange)
            digest = await _hashed(content)
        return self._receipt(*self.staging.stage(name, content, digest, now=self._clock.now()))

    async def _read_octets(self, exchange: Exchange) -> tuple[bytes, str]:
        if _declared_bytes(exchange) > limits.FILE_BYTES_MAX:
            raise UploadTooLarge
        content, hasher = bytearray(), hashlib.sha256()
        async with aclosing(exchange.chunks()) as pieces:
            async for piece in pieces:
                if len(content) + len(piece) > limits.FILE_BYTES_MAX:
                    raise UploadTooLarge
                content += piece
                await _hash_into(hasher, piece)
        return bytes(content), content_digest(hasher.hexdigest())

    async def _read_json(self, exchange: Exchange) -> tuple[str, bytes]:
        body = bytearray()
        async with aclosing(exchange.chunks()) as pieces:
            async for piece in pieces:
                body += piece
        if len(body) <= _PARSE_INLINE_BYTES_MAX:
            return read_json_upload(bytes(body))
        return await self._run_in_thread(read_json_upload, bytes(body))

    def _receipt(self, item: Staged, expires_at: float) -> Response:
        left_ms = round((expires_at - self._clock.now()) * 1000)
        return _answer(200, item.receipt(self._clock.wall_ms() + left_ms))


async def _hashed(content: bytes) -> str:
    hasher = hashlib.sha256()
    await _hash_into(hasher, content)
    return content_digest(hasher.hexdigest())


async def _hash_into(hasher: hashlib._Hash, content: bytes) -> None:
    view = memoryview(content)
    for start in range(0, len(view), limits.HASH_STEP_BYTES):
        hasher.update(view[start : start + limits.HASH_STEP_BYTES])
        await trio.lowlevel.checkpoint()


def _declared_bytes(exchange: Exchange) -> int:
    length = exchange.request.headers.get("content-length") or ""
    return int(length) if length.isdecimal() else 0


def _disabled() -> Response:
    return _refusal(403, "action_disabled", "file.upload_asset is switched off.")


def _refusal(status: int, code: str, message: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    # Answered while the body still comes, or never will: waiting for its end would be what is being refused.
    return _answer(status, {"error": code, "message": message}, headers, closes=status in _CLOSING)


def _answer(
    status: int, value: dict[str, Any], headers: tuple[tuple[str, str], ...] = (), *, closes: bool = False
) -> Response:
    return json_response(status, msgspec.json.encode(value), (*_NOT_STORED, *headers), closes=closes)
