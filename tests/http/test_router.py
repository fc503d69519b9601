"""Where a request goes, and what it hears where there is nothing for it."""

from __future__ import annotations

import pytest

from kernel.http.exchange import Head, HeadCache, Wire
from kernel.http.guard import OriginGuard
from kernel.http.router import NOT_FOUND, Router, RouteTable, with_headers
from kernel.wire import Answer, Exchange, Response, Route, StreamResponse, StreamWriter, WebSocketResponse


def head_of(method: str, path: str, *headers: str) -> Head:
    wire = Wire(HeadCache())
    wire.feed("\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode())
    head = wire.next_head()
    assert head is not None
    return head


async def answer(exchange: Exchange) -> Answer:
    return Response(200)


def route(path: str, *methods: str, surface: str = "kernel") -> Route:
    return Route(path, frozenset(methods or ("GET",)), answer, 0, surface=surface)


def test_an_exact_path_beats_the_longest_subtree() -> None:
    table = RouteTable([route("/a/*"), route("/a/b/*"), route("/a/b/c"), route("/")])
    found = {
        path: getattr(table.find(path), "path", None) for path in ("/a/b/c", "/a/b/d", "/a/", "/a/x/y", "/a", "/", "/b")
    }
    assert found == {
        "/a/b/c": "/a/b/c",
        "/a/b/d": "/a/b/*",
        "/a/": "/a/*",
        "/a/x/y": "/a/*",
        "/a": None,
        "/": "/",
        "/b": None,
    }


def test_a_path_is_routed_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        RouteTable([route("/a"), route("/a")])


@pytest.mark.parametrize("path", ["/unknown", "/known/", "//known", "/Known"])
def test_unknown_routes_answer_as_the_kernel(path: str) -> None:
    found = Router([route("/known")]).resolve(head_of("GET", path))
    assert found is NOT_FOUND
    assert len(NOT_FOUND.body) == 18


def test_escaped_route_letters_are_the_same_route() -> None:
    assert isinstance(Router([route("/known")]).resolve(head_of("GET", "/%6bnown")), Route)


def test_the_host_guard_stands_before_everything() -> None:
    wire = Wire(HeadCache())
    wire.feed(b"OPTIONS /known HTTP/1.1\r\nHost: evil.test\r\n\r\n")
    head = wire.next_head()
    assert head is not None
    found = Router([route("/known", surface="plugin")]).resolve(head)
    assert isinstance(found, Response)
    assert found.status == 421


def test_a_wrong_method_is_404_on_the_kernel_surface_and_405_on_the_plugins() -> None:
    router = Router([route("/k", "POST"), route("/p", "POST", "DELETE", surface="plugin")])
    assert router.resolve(head_of("GET", "/k")) is NOT_FOUND
    refused = router.resolve(head_of("GET", "/p"))
    assert isinstance(refused, Response)
    assert (refused.status, dict(refused.headers)["Allow"]) == (405, "DELETE, POST")


def test_what_is_not_ours_goes_to_the_other_resolver() -> None:
    other = route("/other")
    assert Router(otherwise=lambda head: other).resolve(head_of("GET", "/x")) is other


async def test_answers_to_an_allowed_page_may_be_read_by_it() -> None:
    router = Router([route("/p", surface="plugin")], origins=OriginGuard(lambda: ["http://app.test"]))
    found = router.resolve(head_of("GET", "/p", "Origin: http://app.test"))
    assert isinstance(found, Route)
    given = await found.handler(None)  # type: ignore[arg-type]
    assert dict(given.headers)["Access-Control-Allow-Origin"] == "http://app.test"


def test_a_foreign_page_is_refused_and_preflights_need_no_handler() -> None:
    router = Router([route("/p", surface="plugin")])
    statuses = []
    for method, origin in (
        ("GET", "http://evil.test"),
        ("OPTIONS", "http://evil.test"),
        ("OPTIONS", "http://localhost:1"),
    ):
        found = router.resolve(head_of(method, "/p", f"Origin: {origin}"))
        assert isinstance(found, Response)
        statuses.append(found.status)
    assert statuses == [403, 403, 204]


async def test_headers_can_be_added_to_every_kind_of_answer() -> None:
    async def produce(writer: StreamWriter) -> None: ...

    async def serve(socket: object) -> None: ...

    for kind in (Response(200), StreamResponse(200, (), produce), WebSocketResponse(serve)):
        assert with_headers(kind, (("A", "b"),)).headers == (("A", "b"),)


def test_a_page_that_names_two_origins_is_refused() -> None:
    """Else a page could stand behind the allowed one of the two."""
    router = Router([route("/p", "POST", surface="plugin")])
    for origins in (("http://localhost:1", "http://evil.example"), ("http://evil.example", "http://localhost:1")):
        found = router.resolve(head_of("POST", "/p", *(f"Origin: {one}" for one in origins)))
        assert isinstance(found, Response)
        assert found.status in (400, 403)


@pytest.mark.parametrize("name", ["Content-Type", "X-Sisyphus-File-Name"])
def test_a_header_that_can_be_meant_once_only_is_refused_when_it_comes_twice(name: str) -> None:
    router = Router([route("/p", "POST", surface="plugin"), route("/k", "POST")])
    found = router.resolve(head_of("POST", "/p", f"{name}: a", f"{name}: a"))
    assert isinstance(found, Response)
    assert found.status == 400
    assert name.lower() in found.body.decode()
    assert isinstance(router.resolve(head_of("POST", "/p", f"{name}: a")), Route)
    # The kernel's own surface takes the first, as the kernel does.
    assert isinstance(router.resolve(head_of("POST", "/k", f"{name}: a", f"{name}: b")), Route)


def test_what_is_no_answer_takes_no_headers() -> None:
    with pytest.raises(TypeError, match="a handler answered 'text'"):
        with_headers("text", (("X", "1"),))  # type: ignore[arg-type]
