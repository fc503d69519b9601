"""gzip of answers as the kernel does it: by what the request says, whatever the status or size. Does no I/O."""

from __future__ import annotations

import zlib
from typing import Final

from msgspec.structs import replace

from kernel.wire import EVENT_STREAM, Headers, Response

# Files that are compressed already go as they are.
_EXCLUDED: Final = (".pdf", ".mp3", ".wav", ".ogg", ".mov", ".weba", ".mkv", ".mp4", ".webm", ".flac")
GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


def wants_gzip(path: str, headers: Headers) -> bool:
    """The kernel looks for the bare word: even ``gzip;q=0`` counts."""
    return (
        "gzip" in (headers.get("accept-encoding") or "")
        and "Upgrade" not in (headers.get("connection") or "")
        and EVENT_STREAM not in (headers.get("accept") or "")
        and not path.endswith(_EXCLUDED)
    )


VARY: Final = ("Vary", "Accept-Encoding")
ENCODING: Final = ("Content-Encoding", "gzip")


def compressed(response: Response, *, says_so: bool = True) -> Response:
    """The same answer in gzip; an empty one only gets the headers.

    Without ``says_so`` the packed body goes out as if it were not: where the kernel forgets the header, so do we.
    """
    body = response.body
    if body:
        packer = zlib.compressobj(wbits=GZIP_WINDOW)
        body = packer.compress(body) + packer.flush()
    added = (ENCODING, VARY) if says_so else (VARY,)
    return replace(response, headers=(*response.headers, *added), body=body)
