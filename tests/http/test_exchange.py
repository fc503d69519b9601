"""The wire core: framing by h11, memoised heads, and the same answers whichever way the bytes take."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.http.exchange import Head, HeadCache, Malformed, Wire, make_head
from kernel.http.limits import HEAD_BYTES_MAX, HEAD_CACHE_ENTRIES_MAX, HEAD_CACHE_HEAD_BYTES_MAX

PLAIN = b"POST /a%20b?x=%20 HTTP/1.1\r\nHost: h:1\r\nContent-Length: 5\r\nX-Y:  z \r\n\r\nhello"
CHUNKED = (
    b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n"
)
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


def read_all(wire: Wire) -> list[tuple[Head, bytes]]:
    """Every complete request the wire holds."""
    found = []
    while wire.keeps_alive and (head := wire.next_head()) is not None:
        body = b""
        while True:
            piece = wire.next_piece()
            assert piece is not None, "incomplete"
            if not piece:
                break
            body += piece
        found.append((head, body))
    return found


def read_stepwise(data: bytes) -> list[tuple[Head, bytes]]:
    """The same, one byte at a time."""
    wire = Wire(HeadCache())
    found: list[tuple[Head, bytes]] = []
    head: Head | None = None
    body = b""
    for byte in data:
        wire.feed(bytes([byte]))
        while True:
            if head is None:
                head = wire.next_head()
                if head is None:
                    break
            piece = wire.next_piece()
            if piece is None:
                break
            if piece:
                body += piece
                continue
            found.append((head, body))
            head, body = None, b""
    return found


def shape(found: list[tuple[Head, bytes]]) -> list[tuple[object, ...]]:
    return [(head.method, head.target, head.headers.items, body) for head, body in found]


def wired(data: bytes, cache: HeadCache | None = None) -> Wire:
    wire = Wire(HeadCache() if cache is None else cache)
    wire.feed(data)
    return wire


def test_a_head_is_decoded_once_and_keeps_what_was_sent() -> None:
    [(head, body)] = read_all(wired(PLAIN))
    assert (head.method, head.target, head.path, head.query) == ("POST", "/a%20b?x=%20", "/a b", "x=%20")
    assert head.headers.get("x-y") == "z"
    assert head.authority == "h:1"
    assert body == b"hello"
    assert head.is_plain
    assert head.has_body


@pytest.mark.parametrize("requests", [[PLAIN], [CHUNKED], [GET], [GET, PLAIN, CHUNKED, PLAIN, GET], [CHUNKED, CHUNKED]])
def test_pipelined_requests_come_out_the_same_whole_or_byte_by_byte(requests: list[bytes]) -> None:
    data = b"".join(requests)
    whole = shape(read_all(wired(data)))
    assert len(whole) == len(requests)
    assert shape(read_stepwise(data)) == whole


def test_a_client_of_h11_is_understood_event_by_event() -> None:
    client = h11.Connection(h11.CLIENT)
    wire = Wire(HeadCache())
    headers = [("Host", "h"), ("Transfer-Encoding", "chunked")]
    wire.feed(client.send(h11.Request(method="PUT", target="/x", headers=headers)) or b"")
    head = wire.next_head()
    assert head is not None
    assert head.is_chunked
    assert wire.next_piece() is None
    wire.feed(client.send(h11.Data(b"abc")) or b"")
    assert wire.next_piece() == b"abc"
    wire.feed(client.send(h11.EndOfMessage()) or b"")
    assert wire.next_piece() == b""
    assert wire.keeps_alive


def test_identical_heads_are_parsed_once() -> None:
    cache = HeadCache()
    first, second = (head for head, _ in read_all(wired(PLAIN + PLAIN, cache)))
    assert first is second
    assert len(cache) == 1


@pytest.mark.parametrize("header", ["Cookie: siyuan=1", "X-Auth-Token: j", "Connection: close", "Upgrade: h2c"])
def test_cookies_and_odd_heads_are_never_cached(header: str) -> None:
    cache = HeadCache()
    data = f"GET / HTTP/1.1\r\nHost: h\r\n{header}\r\n\r\n".encode()
    assert len(read_all(wired(data, cache))) == 1
    assert len(cache) == 0


def test_heads_with_a_token_are_cached_apart_from_each_other() -> None:
    cache = HeadCache()
    heads = [b"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Token %b\r\n\r\n" % token for token in (b"x", b"y", b"x")]
    first, other, again = (head for head, _ in read_all(wired(b"".join(heads), cache)))
    assert first is again
    assert (first.headers.get("authorization"), other.headers.get("authorization")) == ("Token x", "Token y")


def test_the_usual_keep_alive_header_does_not_cost_the_cache() -> None:
    cache = HeadCache()
    assert len(read_all(wired(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n" * 2, cache))) == 2
    assert len(cache) == 1


def test_the_cache_is_bounded_in_entries_and_drops_the_least_recently_used() -> None:
    cache = HeadCache(entries_max=2)
    paths = [b"/a", b"/b", b"/a", b"/c", b"/a"]
    found = read_all(wired(b"".join(GET.replace(b" / ", b" %b " % path) for path in paths), cache))
    heads = [head for head, _ in found]
    assert len(cache) == 2
    assert heads[0] is heads[2]
    assert heads[2] is heads[4]


def test_the_cache_is_bounded_in_bytes_at_its_limit_and_one_past_it() -> None:
    def of_size(size: int) -> bytes:
        start = b"GET / HTTP/1.1\r\nHost: h\r\nX: "
        return start + b"x" * (size - len(start) - 4) + b"\r\n\r\n"

    for size, expected in ((HEAD_CACHE_HEAD_BYTES_MAX, 1), (HEAD_CACHE_HEAD_BYTES_MAX + 1, 0)):
        cache = HeadCache()
        assert len(read_all(wired(of_size(size), cache))) == 1
        assert len(cache) == expected
    assert HEAD_CACHE_ENTRIES_MAX * HEAD_CACHE_HEAD_BYTES_MAX <= 2 * 1024 * 1024


def test_a_cache_of_no_entries_is_no_cache() -> None:
    cache = HeadCache(entries_max=0)
    assert len(read_all(wired(GET + GET, cache))) == 2
    assert len(cache) == 0


MALFORMED = {
    "no request line": (b"hello\r\n\r\n", 400),
    "spaces in the target": (b"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "TLS hello": (b"\x16\x03\x01\x02\x00\x01", 400),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "NUL in a header": (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n", 400),
    "control in a header": (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\x01b\r\n\r\n", 400),
    "bare CR in a header": (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", 400),
    "blank before the colon": (b"GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
    "empty header name": (b"GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n", 400),
    "conflicting lengths": (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    "conflicting lengths in one header": (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 2\r\n\r\nab", 400),
    "negative length": (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
    "length with a sign": (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na", 400),
    "length and chunked": (
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "chunked in HTTP/1.0": (b"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "unknown coding": (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    "two codings": (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    "chunked twice": (
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        501,
    ),
    "chunk size no number": (CHUNKED.replace(b"3;ext=1", b"zz"), 400),
    "chunk longer than said": (CHUNKED.replace(b"abc\r\n", b"abcd\r\n"), 400),
    "unknown expectation": (b"POST / HTTP/1.1\r\nHost: h\r\nExpect: gold\r\nContent-Length: 1\r\n\r\na", 417),
    "relative target": (b"GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "star for GET": (b"GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "CONNECT": (b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "foreign scheme": (b"GET ftp://h/x HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "broken address": (b"GET http://[::1/x HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "broken escape": (b"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "cut escape": (b"GET /%a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
}


@pytest.mark.parametrize(("data", "status"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_requests_name_their_status(data: bytes, status: int) -> None:
    with pytest.raises(Malformed) as raised:
        read_all(wired(data))
    assert raised.value.status == status


ACCEPTED = {
    "repeated equal lengths": (
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab",
        ("POST", "/", b"ab"),
    ),
    "folded header": (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", ("GET", "/", b"")),
    "absolute target": (b"GET http://o.test:1/p?q HTTP/1.1\r\nHost: h\r\n\r\n", ("GET", "/p?q", b"")),
    "absolute target without path": (b"GET http://o.test HTTP/1.1\r\nHost: h\r\n\r\n", ("GET", "/", b"")),
    "star for OPTIONS": (b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", ("OPTIONS", "*", b"")),
    "empty lines before": (b"\r\n\r\n" + GET, ("GET", "/", b"")),
    "bare line feeds": (b"GET / HTTP/1.1\nHost: h\n\n", ("GET", "/", b"")),
    "fragment": (b"GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", ("GET", "/a", b"")),
    "HTTP/1.0 without Host": (b"GET / HTTP/1.0\r\n\r\n", ("GET", "/", b"")),
    "upper-case chunked": (CHUNKED.replace(b"chunked", b"Chunked"), ("POST", "/c", b"abcde")),
    "Expect": (
        b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\na",
        ("POST", "/", b"a"),
    ),
}


@pytest.mark.parametrize(("data", "expected"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_unusual_but_right_requests_are_served(data: bytes, expected: tuple[str, str, bytes]) -> None:
    [(head, body)] = read_all(wired(data))
    assert (head.method, head.target, body) == expected


def test_the_authority_of_an_absolute_target_outranks_the_host_header() -> None:
    [(head, _)] = read_all(wired(b"GET http://u@EVIL.test:1/ HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    assert head.authority == "evil.test:1"
    [(without, _)] = read_all(wired(b"GET / HTTP/1.0\r\n\r\n"))
    assert without.authority is None


def test_expectations_of_old_clients_are_ignored() -> None:
    [(head, _)] = read_all(wired(b"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na"))
    assert not head.expects_continue


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n"])
def test_close_and_old_versions_end_the_connection(data: bytes) -> None:
    wire = wired(data)
    assert wire.next_head() is not None
    assert wire.next_piece() == b""
    assert not wire.keeps_alive


def test_a_head_may_be_as_long_as_its_bound_and_not_longer() -> None:
    start = b"GET / HTTP/1.1\r\nHost: h\r\nX: "
    fits = start + b"x" * (HEAD_BYTES_MAX - len(start) - 4) + b"\r\n\r\n"
    assert len(fits) == HEAD_BYTES_MAX
    assert len(read_all(wired(fits))) == 1
    with pytest.raises(Malformed) as raised:
        wired(start + b"x" * (HEAD_BYTES_MAX - len(start) - 3) + b"\r\n\r\n").next_head()
    assert raised.value.status == 431


def test_an_endless_head_is_refused_once_the_bound_is_reached() -> None:
    wire = wired(b"GET / HTTP/1.1\r\nHost: h\r\nX: ")
    for _ in range(HEAD_BYTES_MAX - 1 - wire.buffered_bytes):
        wire.feed(b"x")
        assert wire.next_head() is None
    wire.feed(b"x")
    with pytest.raises(Malformed) as raised:
        wire.next_head()
    assert raised.value.status == 431


@pytest.mark.parametrize("part", ["extension", "trailer"])
def test_endless_chunk_lines_and_trailers_are_refused(part: str) -> None:
    wire = wired(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert wire.next_head() is not None
    wire.feed(b"5;" if part == "extension" else b"0\r\nX: ")
    wire.feed(b"y" * (HEAD_BYTES_MAX - 16))
    assert wire.next_piece() is None
    wire.feed(b"y" * 32)
    with pytest.raises(Malformed) as raised:
        wire.next_piece()
    assert raised.value.status == 431


@pytest.mark.parametrize("data", [PLAIN[:-1], CHUNKED[:-9], PLAIN[:20]])
def test_an_end_of_file_in_the_middle_is_malformed(data: bytes) -> None:
    wire = wired(data)
    wire.feed(b"")
    with pytest.raises(Malformed) as raised:
        read_all(wire)
    assert raised.value.status == 400
    assert wire.is_eof


@pytest.mark.parametrize("data", [GET, CHUNKED])
def test_an_end_of_file_behind_a_request_still_gives_the_request(data: bytes) -> None:
    wire = wired(data)
    wire.feed(b"")
    assert not wire.is_ended
    assert wire.next_head() is not None
    while wire.next_piece():
        pass
    assert wire.is_ended


def test_what_follows_an_upgrade_belongs_to_the_next_protocol() -> None:
    wire = wired(b"GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n\x81\x05hello")
    head = wire.next_head()
    assert head is not None
    assert head.upgrades_to == "websocket"
    assert wire.take_rest() == b"\x81\x05hello"
    assert wire.buffered_bytes == 0


# --- differential: our wire against h11 alone ------------------------------------------------------------------------
def h11_alone(data: bytes, *, ends: bool) -> tuple[list[tuple[object, ...]], int | None]:
    """What one h11 connection after the other makes of ``data``: requests, then the status of the error if any."""
    found: list[tuple[object, ...]] = []
    try:
        while True:
            while data.startswith(b"\r\n"):
                data = data[2:]
            if data == b"\r":
                # Half an empty line: we wait for the rest, h11 would not.
                return found, (400 if ends else None)
            connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
            connection.receive_data(data)
            if ends:
                connection.receive_data(b"")
            event = connection.next_event()
            if not isinstance(event, h11.Request):
                return found, (400 if ends and data else None)
            head = make_head(event)
            body = b""
            while isinstance(event := connection.next_event(), h11.Data):
                body += bytes(event.data)
            if not isinstance(event, h11.EndOfMessage):
                return found, (400 if ends else None)
            found.append((head.method, head.target, head.headers.items, body))
            if connection.their_state in (h11.MUST_CLOSE, h11.CLOSED):
                return found, None
            data = connection.trailing_data[0]
    except h11.RemoteProtocolError as error:
        return found, error.error_status_hint
    except Malformed as error:
        return found, error.status


def ours(pieces: list[bytes], *, ends: bool, cache: HeadCache) -> tuple[list[tuple[object, ...]], int | None]:
    wire = Wire(cache)
    found: list[tuple[object, ...]] = []
    head: Head | None = None
    body = b""
    try:
        for piece in [*pieces, *([b""] if ends else [])]:
            wire.feed(piece)
            while wire.keeps_alive or head is not None:
                if head is None:
                    head = wire.next_head()
                    if head is None:
                        break
                part = wire.next_piece()
                if part is None:
                    break
                if part:
                    body += part
                    continue
                found.append((head.method, head.target, head.headers.items, body))
                head, body = None, b""
    except Malformed as error:
        return found, error.status
    return found, None


_FRAGMENTS = st.sampled_from(
    [
        GET,
        PLAIN,
        CHUNKED,
        b"GET /x HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nAuthorization: Token t\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n",
        b"GET / HTTP/1.1\nHost: h\n\n",
        b"\r\n",
        b"\n",
        b"0\r\n\r\n",
        b"Content-Length: 1\r\n",
        b"Transfer-Encoding: chunked\r\n",
    ]
)


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    data = bytearray(b"".join(draw(st.lists(_FRAGMENTS, min_size=1, max_size=5))))
    for _ in range(draw(st.integers(0, 2))):
        position = draw(st.integers(0, len(data) - 1))
        data[position : position + draw(st.integers(0, 2))] = draw(
            st.sampled_from([b"", b"\r", b"\n", b" ", b":", b"\0", b"5"])
        )
        if not data:
            data = bytearray(b"x")
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    bounds = [0, *cuts, len(data)]
    return [piece for start, end in pairwise(bounds) if (piece := bytes(data[start:end]))]


def check_against_h11(pieces: list[bytes], ends: bool) -> None:
    expected = h11_alone(b"".join(pieces), ends=ends)
    warm = HeadCache()
    first = ours(pieces, ends=ends, cache=warm)
    assert first == ours(pieces, ends=ends, cache=warm)  # the second run finds its heads in the cache
    assert first == ours(pieces, ends=ends, cache=HeadCache(entries_max=0))
    assert first == expected


@settings(max_examples=60, deadline=None)
@given(streams(), st.booleans())
def test_memoised_and_live_paths_agree_with_h11_alone_on_any_bytes(pieces: list[bytes], ends: bool) -> None:
    check_against_h11(pieces, ends)


@pytest.mark.slow
@settings(max_examples=3_000, deadline=None)
@given(streams(), st.booleans())
def test_memoised_and_live_paths_agree_with_h11_alone_on_many_bytes(pieces: list[bytes], ends: bool) -> None:
    check_against_h11(pieces, ends)
