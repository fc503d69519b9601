"""gzip of answers as the kernel does it: by what the request says, whatever the status or size. Does no I/O."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Final

from kernel.wire import EVENT_STREAM, Headers, Response

# Files that are compressed already go as they are.
_EXCLUDED: Final = (".pdf", ".mp3", ".wav", ".ogg", ".mov", ".weba", ".mkv", ".mp4", ".webm", ".flac")
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


def wants_gzip(path: str, headers: Headers) -> bool:
    """The kernel looks for the bare word: even ``gzip;q=0`` counts."""
    return (
        "gzip" in (headers.get("accept-encoding") or "")
        and "Upgrade" not in (headers.get("connection") or "")
        and EVENT_STREAM not in (headers.get("accept") or "")
        and not path.endswith(_EXCLUDED)
    )


def compressed(response: Response) -> Response:
    """The same answer in gzip; an empty one stays empty."""
    if not response.body:
        return response
    packer = zlib.compressobj(wbits=_GZIP_WINDOW)
    body = packer.compress(response.body) + packer.flush()
    headers = (*response.headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
    return replace(response, headers=headers, body=body)
