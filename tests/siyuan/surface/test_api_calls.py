"""Calls over HTTP: forms, large bodies and answers, texts that JSON cannot hold."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kernel.siyuan import dispatch
from kernel.siyuan.dispatch import RawAnswer
from kernel.siyuan.http_api import end_streams
from kernel.siyuan.kernel import Call
from tests.siyuan.surface.conftest import World

Start = Callable[..., Awaitable[World]]
FORM = "multipart/form-data; boundary=X"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[Call], Any]], None]:
    """Put a handler of the test's own in the place of an endpoint's."""

    def put(path: str, handler: Callable[[Call], Any]) -> None:
        monkeypatch.setattr(dispatch, "handlers", lambda: {path: handler})

    return put


Serve = Callable[[str, Callable[[Call], Any]], None]
SQL = "/api/query/sql"


async def test_a_call_knows_who_calls_and_how(start: Start, serve: Serve) -> None:
    seen: list[Call] = []
    serve(SQL, seen.append)
    world = await start()
    await world.post(f"{SQL}?q=1", '{"app":"a","session":"s","n":1}', X_Y="z")
    [call] = seen
    assert (call.path, call.query, call.app, call.session, call.is_admin) == (SQL, "q=1", "a", "s", True)
    assert call.headers["x-y"] == "z"
    assert call.arguments.values == {"app": "a", "session": "s", "n": 1}


async def test_a_form_brings_values_and_files(start: Start, serve: Serve) -> None:
    seen: list[Call] = []
    serve("/api/file/putFile", seen.append)
    world = await start()
    big = b"z" * 100_000
    body = b"".join(
        [
            b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n',
            b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n2\r\n',
            b'--X\r\nContent-Disposition: form-data; name="e"; filename=""\r\n\r\n\r\n',
            b'--X\r\nContent-Disposition: form-data; name="f"; filename="n.bin"\r\n\r\n' + big + b"\r\n--X--\r\n",
        ]
    )
    await world.post("/api/file/putFile", body, Content_Type=FORM)
    form = seen[0].form
    assert form is not None
    assert form.values == {"a": "1", "e": ""}
    assert form.fields == [("a", "1"), ("a", "2"), ("e", "")]
    assert [(file.field, file.name, file.content) for file in form.files] == [("f", "n.bin", big)]


async def test_a_web_form_is_a_form_unless_it_holds_json(start: Start, serve: Serve) -> None:
    seen: list[Call] = []
    serve(SQL, seen.append)
    world = await start()
    kind = "application/x-www-form-urlencoded"
    await world.post(SQL, "a=1&b=%20", Content_Type=kind)
    await world.post(SQL, '{"a":1}', Content_Type=kind)
    assert seen[0].form is not None
    assert seen[0].form.values == {"a": "1", "b": " "}
    assert (seen[1].form, seen[1].arguments.values) == (None, {"a": 1})


async def test_a_broken_form_is_no_form(start: Start, serve: Serve) -> None:
    seen: list[Call] = []
    serve("/api/file/putFile", seen.append)
    await (await start()).post("/api/file/putFile", b"--X\r\nbroken", Content_Type=FORM)
    assert seen[0].form is None


async def test_a_form_where_json_is_wanted_is_unreadable(start: Start, serve: Serve) -> None:
    serve(SQL, lambda call: call.arguments.required_str("stmt"))
    body = b'--X\r\nContent-Disposition: form-data; name="stmt"\r\n\r\n1\r\n--X--\r\n'
    answer = json.loads((await (await start()).post(SQL, body, Content_Type=FORM)).body)
    assert answer["msg"] == f"Parses request [{SQL}] failed: invalid character '-' in numeric literal"


@pytest.mark.parametrize(
    ("path", "status", "times"), [("/api/file/readDir", 200, 2), ("/api/file/getFile", 202, 1), (SQL, 200, 1)]
)
async def test_some_say_twice_that_a_body_was_unreadable(
    start: Start, serve: Serve, path: str, status: int, times: int
) -> None:
    serve(path, lambda call: call.arguments.required_str("path"))
    reply = await (await start()).post(path, "")
    assert (reply.status, reply.body.count(b'"code":-1')) == (status, times)


async def test_large_bodies_and_answers_are_the_same_as_small_ones(start: Start, serve: Serve) -> None:
    serve(SQL, lambda call: call.arguments.values["x"])
    world = await start()
    for size in (10, 200_000):
        reply = await world.post(SQL, json.dumps({"x": "<" * size}), Accept_Encoding="br")
        assert reply.body.count(b"\\u003c") == size
        packed = await world.post(SQL, json.dumps({"x": "y" * size}), Accept_Encoding="gzip")
        assert packed.headers["content-encoding"] == "gzip"


async def test_half_a_surrogate_never_reaches_the_wire(start: Start, serve: Serve) -> None:
    serve(SQL, lambda call: {"\ud800": ["a\udfff", {"n": 1}]})
    answer = json.loads((await (await start()).post(SQL)).body)
    assert answer["data"] == {"?": ["a?", {"n": 1}]}


async def test_raw_answers_go_out_as_they_are(start: Start, serve: Serve) -> None:
    serve("/api/file/getFile", lambda call: RawAnswer(202, (("Content-Type", "x/y"),), b"raw"))
    reply = await (await start()).post("/api/file/getFile")
    assert (reply.status, reply.headers["content-type"], reply.body) == (202, "x/y", b"raw")


async def test_what_is_not_emulated_is_missing_behind_the_same_door(start: Start, serve: Serve) -> None:
    serve(SQL, lambda call: None)
    world = await start()
    assert (await world.post("/api/repo/purgeCloudRepo")).status == 404
    assert world.kernel.unserved == {"/api/repo/purgeCloudRepo": 1}


async def test_the_end_of_the_surface_ends_its_streams(start: Start) -> None:
    world = await start()
    client = world.connect()
    await client.send(b"GET /es/broadcast/subscribe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    while b"\r\n\r\n" not in client.received:
        client.received += await client.stream.receive_some()
    end_streams(world.kernel)
    assert (await client.raw()).endswith(b"0\r\n\r\n")


async def test_most_answers_name_their_fields_by_name_and_records_in_their_own_order(start: Start) -> None:
    world = await start()
    created = json.loads((await world.post("/api/notebook/createNotebook", '{"name":"Box"}')).body)
    box = created["data"]["notebook"]["id"]
    body = json.dumps({"notebook": box, "path": "/Plan", "markdown": "text"})
    document = json.loads((await world.post("/api/filetree/createDocWithMd", body)).body)["data"]
    expected = {
        "/api/notebook/getNotebookConf": ["box", "conf", "name"],
        "/api/filetree/getPathByID": ["notebook", "path"],
        "/api/export/exportMdContent": ["content", "hPath"],
        "/api/attr/getBlockAttrs": ["id", "title", "type", "updated"],
        "/api/block/getDocInfo": ["id", "rootID", "name"],
    }
    for route, fields in expected.items():
        reply = await world.post(route, json.dumps({"id": document, "notebook": box}))
        assert list(json.loads(reply.body)["data"])[: len(fields)] == fields, route


@pytest.mark.parametrize("path", ["import/importSY", "asset/upload", "export/exportAsFile", "broadcast/publish"])
async def test_a_form_that_can_hold_no_file_is_none_for_those_that_want_one(start: Start, path: str) -> None:
    world = await start()
    reply = await world.post(f"/api/{path}", "id=1", Content_Type="application/x-www-form-urlencoded")
    assert "request Content-Type isn't multipart/form-data" in reply.text
