"""/api/archive, /api/network, /api/ai, /api/clipboard, /api/convert: what stays in the workspace, and what is not there."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial
from typing import Any

import pytest
import trio

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import RawAnswer, dispatch
from kernel.siyuan.exports import zipped
from kernel.siyuan.kernel import Call
from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel

SESSION = "20200101000000-zzzzzzz"


async def test_a_folder_is_packed_with_its_name_and_unpacked_again() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("temp/dir/x.txt", b"x")
    kernel.workspace.files.write("temp/dir/sub/y.txt", b"y")
    await kernel.call("archive/zip", path="/temp/dir", zipPath="temp/d.zip")
    await kernel.call("archive/zip", path="/temp/dir/x.txt", zipPath="temp/x.zip")
    await kernel.call("archive/unzip", zipPath="/temp/d.zip", path="/temp/out")
    await kernel.call("archive/unzip", zipPath="/temp/x.zip", path="")
    assert kernel.backend.contents["temp/out/dir/sub/y.txt"] == b"y"
    assert kernel.backend.contents["x.txt"] == b"x"


@pytest.mark.parametrize(
    ("path", "given", "message"),
    [
        ("zip", {"path": "/temp/none", "zipPath": "/temp/n.zip"}, "zip failed"),
        ("zip", {"path": "/temp", "zipPath": "/no/such/n.zip"}, "create zip file failed"),
        ("zip", {"path": "../x", "zipPath": "/temp/n.zip"}, "permission denied"),
        ("zip", {"path": "/temp", "zipPath": "../n.zip"}, "permission denied"),
        ("unzip", {"zipPath": "/temp/none.zip", "path": "/temp/o"}, "zip file does not exist"),
        ("unzip", {"zipPath": "/temp", "path": "/temp/o"}, "unzip failed"),
        ("unzip", {"zipPath": "/temp/bad.zip", "path": "/temp/o"}, "unzip failed"),
        ("unzip", {"zipPath": "/temp/slip.zip", "path": "/temp/o"}, "unzip failed"),
        ("unzip", {"zipPath": "/temp/bad.zip"}, "Field [path] is required"),
    ],
)
async def test_what_cannot_be_packed_is_said(path: str, given: Any, message: str) -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("temp/bad.zip", b"no zip")
    kernel.workspace.files.write("temp/slip.zip", zipped({"../../conf/conf.json": b"{}"}))
    assert (await kernel.refusal(f"archive/{path}", **given)).startswith(message)
    assert kernel.workspace.conf.token


async def test_folders_in_an_archive_become_folders() -> None:
    kernel = MemoryKernel()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("empty/", b"")
    kernel.workspace.files.write("temp/e.zip", buffer.getvalue())
    await kernel.call("archive/unzip", zipPath="/temp/e.zip", path="/temp/o")
    assert kernel.workspace.files.is_dir("temp/o/empty")


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({}, -1, "Field [url] is required"),
        ({"url": "not a url"}, 1, "invalid [url]"),
        ({"url": "ftp://127.0.0.1/"}, 2, "only http/https is allowed"),
        ({"payloadEncoding": "base64", "payload": "%%%"}, 3, "decode base64-std payload failed: illegal base64 data"),
        ({"payloadEncoding": "base64-url", "payload": "%%%"}, 4, "decode base64-url payload failed"),
        ({"payloadEncoding": "base32", "payload": "%%%"}, 5, "decode base32-std payload failed"),
        ({"payloadEncoding": "base32-hex", "payload": "%%%"}, 6, "decode base32-hex payload failed"),
        (
            {"payloadEncoding": "hex", "payload": "zz"},
            7,
            "decode hex payload failed: encoding/hex: invalid byte: U+007A 'z'",
        ),
        ({"payloadEncoding": "hex", "payload": "abc"}, 7, "decode hex payload failed: odd length hex string"),
        ({"payloadEncoding": "base64", "payload": 5}, 0, ""),
        ({"method": 5}, 0, ""),
        ({"url": "http://example.invalid/x"}, 8, 'forward request failed: Post "http://example.invalid/x": dial tcp'),
        ({"url": "https://8.8.8.8/", "method": "get", "payload": {"a": 1}}, 8, 'forward request failed: Get "https'),
    ],
)
async def test_a_request_is_checked_before_it_is_sent_on(given: Any, code: int, message: str) -> None:
    given = {"url": "http://8.8.8.8/", **given} if given else given
    answer = await MemoryKernel().answer("network/forwardProxy", **given)
    assert answer.code == code
    assert answer.msg.startswith(message)


async def test_no_model_is_asked() -> None:
    kernel = MemoryKernel()
    assert await kernel.call("ai/chatGPT", msg="hi") == ""
    assert await kernel.call("ai/chatGPTWithAction", ids=[], action="x") == ""
    assert len(kernel.told("msg")) == 2
    assert await kernel.refusal("ai/testModel", provider="x", model="y") == "provider not found"
    assert await kernel.refusal("ai/listModels", provider="x") == "provider not found"
    assert (await kernel.call("ai/testEmbeddingModel"))["msg"] == "embedding model not configured"
    assert (await kernel.call("ai/testRerankModel"))["msg"] == "rerank model not configured"
    ai = await kernel.call(
        "setting/setAI",
        providers=[{"displayName": "p"}],
        mcp={"servers": [{"name": "s", "enabled": True}]},
        embedding={"apiKey": "k", "baseURL": "b", "name": "n"},
        rerank={"apiKey": "k", "endpoint": "b", "name": "n"},
    )
    provider = ai["providers"][0]["id"]
    assert (await kernel.call("ai/testModel", provider=provider, model="y"))["matched"] is False
    assert (await kernel.call("ai/listModels", provider=provider))["models"] is None
    assert (await kernel.call("ai/testEmbeddingModel"))["dimensions"] == 0
    assert (await kernel.call("ai/testRerankModel"))["matched"] is False
    assert [one["connected"] for one in await kernel.call("ai/mcpStatus")] == [False]
    assert (await kernel.call("ai/embeddingStat"))["enabled"] is False
    assert await kernel.call("ai/reindexEmbedding") is None
    assert await kernel.refusal("ai/mcpOAuthAuthorize", id="x") == "MCP server not found"
    assert await kernel.call("ai/mcpOAuthDisconnect") is None
    assert await kernel.refusal("ai/agent/chat")
    assert await kernel.refusal("ai/agent/title") == "no AI provider configured"


@pytest.mark.parametrize("name", ["confirm", "question", "frontendToolResult"])
async def test_a_question_that_nobody_asked_has_expired(name: str) -> None:
    answer = await dispatch(Call(MemoryKernel().kernel, f"/api/ai/agent/{name}", Arguments({})))
    assert isinstance(answer, RawAnswer)
    assert (answer.status, json.loads(answer.body)["code"]) == (409, -1)


async def test_sessions_of_the_agent_are_read_and_removed() -> None:
    kernel = MemoryKernel()
    session = {"id": SESSION, "title": "Talk", "createdAt": 1, "updatedAt": 2}
    folder = "data/storage/ai/agent/sessions"
    kernel.workspace.files.write(f"{folder}/{SESSION}/session.json", json.dumps(session).encode())
    kernel.workspace.files.write(f"{folder}/20200101000000-broken1/session.json", b"{")
    kernel.workspace.files.write(f"{folder}/20200101000000-older11/session.json", b'{"id":"20200101000000-older11"}')
    listed = await kernel.call("ai/agent/lsSessions")
    assert [one["title"] for one in listed["sessions"]] == ["Talk", "AI Agent"]
    assert (await kernel.call("ai/agent/lsSessions", page=2, pageSize=1))["sessions"][0]["title"] == "AI Agent"
    assert (await kernel.call("ai/agent/lsSessions", keyword="talk"))["total"] == 1
    assert await kernel.call("ai/agent/getSession", id=SESSION) == session
    await kernel.call("ai/agent/removeSession", id=SESSION)
    await kernel.call("ai/agent/removeSession", id=SESSION)
    assert "no such file" in await kernel.refusal("ai/agent/getSession", id=SESSION)
    assert await kernel.refusal("ai/agent/getSession", id="x") == "invalid session id"
    answer = await dispatch(Call(kernel.kernel, "/api/ai/agent/removeSession", Arguments({})))
    assert isinstance(answer, RawAnswer)
    assert answer.status == 500
    assert (await kernel.refusal("ai/agent/lsSessions", page="x")).startswith("invalid request: json: cannot unmarshal")


async def test_a_session_is_saved_under_the_next_revision() -> None:
    kernel = MemoryKernel()

    async def saved(**given: object) -> object:
        return (await kernel.call("ai/agent/saveSession", id=SESSION, **given))["revision"]

    async def refused(**given: object) -> tuple[int, object]:
        answer = await dispatch(Call(kernel.kernel, "/api/ai/agent/saveSession", Arguments(dict(given))))
        assert isinstance(answer, RawAnswer)
        return answer.status, json.loads(answer.body)["data"]

    assert await saved(title="One", createdAt=1, agentRunning=True, messages=["old"]) == 1
    assert await saved(expectedRevision=1, more=[None]) == 2
    stored = {"id": SESSION, "title": "One", "createdAt": 1, "more": [None], "revision": 2}
    assert await kernel.call("ai/agent/getSession", id=SESSION) == stored
    assert await refused(id=SESSION, expectedRevision=1) == (409, {"revision": 2})
    assert await refused(id=SESSION, commitTurnID="t") == (409, {"revision": 2})
    for status, given in [(400, {}), (400, {"id": 1}), (500, {"id": "x"}), (500, {"id": SESSION, "createdAt": 1.5})]:
        assert await refused(**given) == (status, None)
    assert (await kernel.restarted().call("ai/agent/getSession", id=SESSION))["revision"] == 2


async def test_apps_hear_of_sessions_that_others_have_changed() -> None:
    kernel = MemoryKernel()
    heard: dict[str, list[str]] = {"one": [], "two": []}
    for app, actions in heard.items():
        kernel.kernel.push.add(
            PushSession(app, "w", "agentChat", lambda frame, into=actions: into.append(frame["data"]["action"]))
        )
    for name in ("saveSession", "removeSession"):
        headers = {"x-siyuan-app-id": "one"}
        await dispatch(Call(kernel.kernel, f"/api/ai/agent/{name}", Arguments({"id": SESSION}), headers=headers))
        await kernel.call("ai/agent/saveSession", id=SESSION)
    assert heard == {"one": [], "two": ["update", "delete"]}


async def test_skills_are_folders_with_a_file() -> None:
    kernel = MemoryKernel()
    assert await kernel.call("ai/agent/lsSkills") is None
    await kernel.call("ai/agent/saveSkill", name="one", content="First line\nrest")
    await kernel.call("ai/agent/saveSkill", name="two", content="---\nname: Two\ndescription: d\n# no\n---\nbody")
    await kernel.call("ai/agent/saveSkill", name="long", content="x" * 201)
    listed = await kernel.call("ai/agent/lsSkills")
    assert listed[1:] == [{"name": "one", "description": "First line"}, {"name": "Two", "description": "d"}]
    assert listed[0]["description"] == "x" * 200 + "..."
    assert (await kernel.call("ai/agent/getSkill", name="one"))["content"] == "First line\nrest"
    await kernel.call("ai/agent/renameSkill", oldName="one", newName="three")
    assert await kernel.refusal("ai/agent/renameSkill", oldName="three", newName="two") == "skill already exists: two"
    assert await kernel.refusal("ai/agent/renameSkill", oldName="one", newName="x") == "skill not found: one"
    await kernel.call("ai/agent/removeSkill", name="three")
    assert await kernel.refusal("ai/agent/removeSkill", name="three") == "skill not found: three"
    assert await kernel.refusal("ai/agent/getSkill", name="three") == "skill not found: three"
    for name in ("", "..", "a/b"):
        assert await kernel.refusal("ai/agent/saveSkill", name=name) == f"invalid skill name: {name}"


async def test_programs_of_the_machine_are_not_used() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("data/assets/a.txt", b"")
    assert await kernel.call("clipboard/readFilePaths") == []
    assert "not supported" in await kernel.refusal("clipboard/writeFilePath", path="assets/a.txt")
    assert await kernel.refusal("clipboard/writeFilePath", path="assets/n.txt") == "Query asset failed [assets/n.txt]"
    assert await kernel.refusal("convert/pandoc", args=["--version"]) == "not found executable pandoc"
    assert await kernel.call("convert/pandoc", args=[5]) is None


async def test_a_request_to_this_machine_is_sent_and_its_answer_given_back() -> None:
    kernel = MemoryKernel()
    seen: list[bytes] = []

    async def serve(stream: trio.SocketStream) -> None:
        request = await stream.receive_some(65536)
        while b"Content-Length: 7" in request and not request.endswith(b"}"):
            request += await stream.receive_some(65536)
        seen.append(request)
        if b"/moved" in seen[-1]:
            await stream.send_all(b"HTTP/1.1 303 See Other\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")
        elif b"/away" in seen[-1]:
            await stream.send_all(
                b"HTTP/1.1 302 Found\r\nLocation: http://example.invalid/\r\nContent-Length: 0\r\n\r\n"
            )
        else:
            await stream.send_all(b"HTTP/1.1 201 Created\r\nX-A: 1\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nhi")

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, host="127.0.0.1"), serve, 0)
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        plain = await kernel.call(
            "network/forwardProxy",
            url=f"{url}/x",
            headers=[{"X-Q": 5}, "no"],
            payload={"a": 1},
            responseEncoding="base64",
        )
        moved = await kernel.call("network/forwardProxy", url=f"{url}/moved", timeout=0)
        stays = await kernel.call("network/forwardProxy", url=f"{url}/moved", redirect=False)
        away = await kernel.answer("network/forwardProxy", url=f"{url}/away")
        nursery.cancel_scope.cancel()
    assert (plain["status"], plain["body"], plain["bodyEncoding"], plain["contentType"]) == (
        201,
        "aGk=",
        "base64",
        "a/b",
    )
    assert plain["headers"]["X-A"] == ["1"]
    assert b"X-Q: 5" in seen[0]
    assert b'{"a":1}' in seen[0]
    assert (moved["status"], moved["body"], stays["status"]) == (201, "hi", 303)
    assert (away.code, "unreachable" in away.msg) == (8, True)
