"""gzip by the kernel's rule of thumb."""

from __future__ import annotations

import gzip

import pytest

from kernel.http.gzip import compressed, wants_gzip
from kernel.wire import Headers, Response


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("/api/x", {"accept-encoding": "gzip, deflate"}, True),
        ("/api/x", {"accept-encoding": "gzip;q=0"}, True),
        ("/api/x", {"accept-encoding": "br"}, False),
        ("/api/x", {}, False),
        ("/assets/a.pdf", {"accept-encoding": "gzip"}, False),
        ("/assets/a.png", {"accept-encoding": "gzip"}, True),
        ("/es/x", {"accept-encoding": "gzip", "accept": "text/event-stream"}, False),
        ("/ws", {"accept-encoding": "gzip", "connection": "Upgrade"}, False),
    ],
)
def test_the_bare_word_decides(path: str, headers: dict[str, str], expected: bool) -> None:
    assert wants_gzip(path, Headers(headers.items())) is expected


def test_a_compressed_answer_unpacks_to_the_same() -> None:
    packed = compressed(Response(404, (("A", "b"),), b"x" * 1000))
    assert gzip.decompress(packed.body) == b"x" * 1000
    assert packed.headers == (("A", "b"), ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
    assert packed.status == 404


def test_an_empty_answer_stays_empty_under_the_same_headers() -> None:
    packed = compressed(Response(403))
    assert (packed.body, packed.headers) == (b"", (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")))


def test_a_packed_answer_may_keep_silent_about_it() -> None:
    packed = compressed(Response(404, (), b"missing"), says_so=False)
    assert gzip.decompress(packed.body) == b"missing"
    assert packed.headers == (("Vary", "Accept-Encoding"),)
