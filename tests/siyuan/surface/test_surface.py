"""The kernel's surface over a connection: CORS, methods, redirects, gzip, read-only mode, bodies."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest

from kernel.endpoints import ENDPOINTS
from kernel.siyuan.surface import CORS, SurfaceRoute, SurfaceTable
from kernel.wire import Headers, Request, Route
from tests.siyuan.surface.conftest import World

Start = Callable[..., Awaitable[World]]
NOTEBOOKS = "/api/notebook/lsNotebooks"
NOTEBOOK_CONF = "/api/notebook/getNotebookConf"
CORS_NAMES = {name.lower() for name, _ in CORS}


async def test_every_answer_may_be_read_by_any_page_as_the_kernel_has_it(start: Start) -> None:
    world = await start()
    for reply in (
        await world.post(NOTEBOOKS),
        await world.get("/nope"),
        await world.post(NOTEBOOKS, Origin="http://evil"),
    ):
        assert CORS_NAMES <= set(reply.headers)
        assert reply.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", [NOTEBOOKS, "/nope", "/mcp", "/"])
async def test_a_preflight_passes_everywhere_without_credentials(start: Start, path: str) -> None:
    reply = await (await start(access_code="s3cret")).ask("OPTIONS", path, Origin="http://evil")
    assert (reply.status, reply.headers["access-control-max-age"], reply.body) == (204, "600", b"")


async def test_an_unknown_route_is_eighteen_bytes_of_text(start: Start) -> None:
    world = await start()
    for method, path in (
        ("GET", "/nope"),
        ("POST", "/api/nope"),
        ("GET", NOTEBOOKS),
        ("HEAD", NOTEBOOKS),
        ("PUT", "/api/system/version"),
    ):
        reply = await world.ask(method, path)
        assert (reply.status, reply.headers["content-type"], reply.headers["content-length"]) == (
            404,
            "text/plain",
            "18",
        )
    assert (await world.post(NOTEBOOKS.upper())).status == 404
    assert (await world.post(f"/{NOTEBOOKS}")).status == 404
    assert (await world.post("/api/notebook/ls%4Eotebooks")).status == 200


async def test_a_slash_too_many_is_redirected_without_the_kernels_headers(start: Start) -> None:
    world = await start()
    got = await world.get("/api/system/version/?a=1&b=<")
    assert (got.status, got.headers["location"]) == (301, "/api/system/version?a=1&b=<")
    assert got.body == b'<a href="/api/system/version?a=1&amp;b=&lt;">Moved Permanently</a>.\n\n'
    assert not CORS_NAMES & set(got.headers)
    posted = await world.post(f"{NOTEBOOKS}/")
    assert (posted.status, posted.headers["location"], posted.body) == (307, NOTEBOOKS, b"")
    assert (await world.get("/history")).headers["location"] == "/history/"


async def test_gzip_follows_the_bare_word(start: Start) -> None:
    world = await start()
    packed = await world.post(NOTEBOOKS, Accept_Encoding="gzip;q=0")
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert json.loads(gzip.decompress(packed.body))["code"] == 0
    assert "content-encoding" not in (await world.post(NOTEBOOKS, Accept_Encoding="br")).headers
    refused = await world.post(NOTEBOOKS, Accept_Encoding="gzip", Authorization="Token bad")
    assert (refused.status, json.loads(gzip.decompress(refused.body))["code"]) == (401, -1)


async def test_what_the_kernel_loses_in_gzip_is_lost_here_too(start: Start) -> None:
    world = await start()
    missing = await world.get("/nope", Accept_Encoding="gzip")
    assert (missing.status, missing.body, missing.headers["content-encoding"]) == (200, b"", "gzip")
    silent = await world.get("/history/nope", Accept_Encoding="gzip")
    assert silent.status == 404
    assert "content-encoding" not in silent.headers
    assert gzip.decompress(silent.body) == b"404 page not found\n"


async def test_read_only_mode_refuses_in_the_envelope_of_a_push(start: Start) -> None:
    world = await start(is_readonly=True)
    for path in ("/api/notebook/createNotebook", "/api/query/sql", "/upload", "/api/transactions"):
        refused = json.loads((await world.post(path)).body)
        assert (refused["code"], refused["cmd"], refused["data"]) == (-1, "", {"closeTimeout": 5000})
        assert refused["msg"] == "This operation is not supported in read-only mode"
    assert json.loads((await world.post(NOTEBOOKS)).body)["code"] == 0
    assert json.loads((await world.post("/api/broadcast/getChannels")).body)["code"] == 0
    assert (await world.post(NOTEBOOKS, Authorization="Token bad")).status == 401


async def test_the_type_of_a_body_does_not_matter(start: Start) -> None:
    world = await start()
    for kind in ("text/plain;charset=UTF-8", "application/xml", "application/x-www-form-urlencoded", ""):
        reply = await world.post(NOTEBOOK_CONF, '{"notebook":"x"}', Content_Type=kind)
        assert json.loads(reply.body)["msg"] == "invalid ID argument"


@pytest.mark.parametrize(
    ("path", "body", "status", "twice"),
    [
        (NOTEBOOK_CONF, "", 200, False),
        ("/api/notebook/createNotebook", "[]", 200, False),
        ("/api/query/sql", "{", 200, False),
    ],
)
async def test_an_unreadable_body_is_named_when_it_is_asked_for(
    start: Start, path: str, body: str, status: int, twice: bool
) -> None:
    reply = await (await start()).post(path, body)
    assert reply.status == status
    answer = json.loads(reply.body)
    assert answer["code"] == -1
    assert answer["msg"].startswith(f"Parses request [{path}] failed: ")


async def test_who_asks_for_no_argument_does_not_mind_an_unreadable_body(start: Start) -> None:
    world = await start()
    for body in ("", "[]", "nonsense"):
        assert json.loads((await world.post(NOTEBOOKS, body)).body)["code"] == 0
        assert json.loads((await world.post("/api/system/version", body)).body)["data"] == "3.7.3"


async def test_markup_is_escaped_in_answers(start: Start) -> None:
    world = await start()
    reply = await world.post("/api/broadcast/getChannelInfo", '{"name":"<b>&\\u2028x"}')
    assert b"\\u003cb\\u003e\\u0026\\u2028x" in reply.body
    assert json.loads(reply.body)["data"]["channel"]["name"] == "<b>&\u2028x"


async def test_transactions_say_how_long_they_took(start: Start) -> None:
    reply = await (await start()).post("/api/transactions", '{"transactions":[],"reqId":1}')
    assert reply.headers["server-timing"].startswith("total;dur=")


async def test_boot_progress_comes_as_one_event(start: Start) -> None:
    reply = await (await start(access_code="s3cret")).get("/api/system/bootProgressSSE")
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.body.startswith(b'data: {"details":')
    assert (await (await start()).post("/api/system/uiproc")).body == b""


async def test_the_table_finds_nothing_for_a_method_nobody_has(start: Start) -> None:
    world = await start()
    assert (await world.ask("FOO", "/api/system/version")).status == 404
    assert (await world.ask("TRACE", "/api/system/version")).status == 404


async def test_a_route_is_there_for_every_endpoint_of_the_map(start: Start) -> None:
    surface = (await start()).surface
    for path, endpoint in ENDPOINTS.items():
        for method in endpoint.methods:
            head = SimpleNamespace(method=method, target=path, path=path, query="", headers=Headers())
            assert isinstance(surface.resolve(head), Route), (method, path)


def test_a_route_is_given_once() -> None:
    async def handle(exchange: object, grant: object) -> object: ...

    route = SurfaceRoute("/x", frozenset({"GET"}), handle)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="twice"):
        SurfaceTable([route, route])


async def test_the_plugins_routes_are_behind_the_same_door(start: Start) -> None:
    world = await start(access_code="s3cret")

    def asked(target: str = "/sisyphus/mcp", **headers: str) -> Request:
        return Request("POST", target, target, "", Headers((name.lower(), value) for name, value in headers.items()))

    token = world.kernel.workspace.conf.token
    assert world.surface.authorize(asked(Authorization=f"Bearer {token}")) is None
    refused = world.surface.authorize(asked())
    assert refused is not None
    assert refused.status == 401
    nobody = world.surface.authorize(asked("/appearance/x"))
    assert nobody is not None
    assert nobody.status == 403


async def test_no_plugin_of_others_is_loaded(start: Start) -> None:
    world = await start()
    assert json.loads((await world.get("/api/plugin")).body)["data"] is None
    assert json.loads((await world.get("/api/plugin/rpc/nope")).body)["code"] == 4
    assert "body is empty" in json.loads((await world.get("/api/plugin/rpc")).body)["msg"]
    assert (await world.get("/api/plugin/rpc/a/b")).status == 404
    asked = {
        "{}": "Request body prop [name] does not exist",
        '{"name":5}': "Request body prop [name] is not a string",
        '{"name":""}': "Plugin name is required",
        '{"name":"x"}': "Plugin [x] not loaded",
    }
    for body, words in asked.items():
        assert json.loads((await world.post("/api/plugin/getLoadedPlugin", body)).body)["msg"] == words
    assert json.loads((await world.post("/api/plugin/rpc/nope")).body)["error"]["code"] == -32001
    assert (await world.get("/ws/plugin/rpc/nope")).status == 404
    assert (await world.get("/plugin/private/nope/x")).text == "[plugin:nope] not found"
    assert (await world.get("/plugin/private/nope?a=1")).headers["location"] == "/plugin/private/nope/?a=1"
    assert (await world.post("/plugin/private/nope")).status == 307
    assert (await world.get("/plugin/public/nope/x")).status == 404


async def test_dav_is_named_and_not_served(start: Start) -> None:
    world = await start()
    assert (await world.get("/webdav/nope")).text == "Not Found"
    assert (await world.ask("PROPFIND", "/webdav/")).status == 501
    assert (await world.get("/webdav")).status == 301
    assert (await world.get("/.well-known/caldav")).headers["location"] == "/caldav/principals/main"
    assert (await (await start(is_readonly=True)).ask("PUT", "/webdav/x", b"y")).status == 403
    assert (await (await start(access_code="s3cret")).ask("OPTIONS", "/webdav/")).status == 401
