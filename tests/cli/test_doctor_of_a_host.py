"""``doctor --host-url``: what a SiYuan elsewhere is found to be, by what it answers."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from kernel.cli import host_checks
from kernel.cli.checks import STORAGE, Verdict
from kernel.cli.host_checks import of_host
from kernel.extension.http_endpoint import HttpEndpoint
from kernel.host.remote import RemoteHost
from tests.cli.running import run, serving

BOX = "20260101120000-abcdefg"
URL = "http://siyuan:6806"
Answer = Callable[[str, dict[str, Any]], httpx.Response | None]


def good(path: str, message: dict[str, Any]) -> httpx.Response:
    """A host in good order: no file of the plugin is there yet."""
    if path == "/api/file/getFile":
        return httpx.Response(202, json={"code": 404, "msg": "", "data": None})
    if path == "/mcp":
        if message.get("method") != "tools/list":
            return httpx.Response(200, json={"id": message.get("id"), "result": {}})
        return httpx.Response(200, json={"id": message["id"], "result": {"tools": [{"name": "block"}]}})
    data = {"/api/system/version": "3.7.3", "/api/notebook/lsNotebooks": {"notebooks": [{"id": BOX}]}}[path]
    return httpx.Response(200, json={"code": 0, "msg": "", "data": data})


async def verdicts(answer: Answer) -> dict[str, tuple[Verdict, str]]:
    def respond(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        return answer(request.url.path, message) or good(request.url.path, message)

    transport = httpx.MockTransport(respond)
    host = RemoteHost(URL, "t", transport=transport, retry_waits_s=())
    endpoint = HttpEndpoint(URL, "t", transport=transport)
    found = [one async for one in of_host(URL, host, endpoint)]
    await host.aclose()
    await endpoint.aclose()
    return {one.name: (one.verdict, f"{one.words} | {one.advice}") for one in found}


def file_of(name: str, content: str) -> Answer:
    return lambda path, message: (
        httpx.Response(200, text=content)
        if str(message.get("path")).endswith(name) and path.endswith("getFile")
        else None
    )


def instead(place: str, response: httpx.Response) -> Answer:
    return lambda path, _: response if path == place else None


async def test_a_host_in_good_order_is_all_right() -> None:
    found = await verdicts(lambda _path, _message: None)
    assert {name: verdict for name, (verdict, _) in found.items()} == dict.fromkeys(
        ("host", "token", "settings", "permissions", "extension"), Verdict.OK
    )
    assert "SiYuan 3.7.3" in found["host"][1]
    assert "1 notebooks" in found["permissions"][1]
    assert "1 tools" in found["extension"][1]


@pytest.mark.parametrize(
    ("answer", "last", "verdict", "words"),
    [
        (
            instead("/api/system/version", httpx.Response(200, text="<html>")),
            "host",
            Verdict.FAIL,
            "correct the address",
        ),
        (instead("/api/system/version", httpx.Response(502)), "host", Verdict.FAIL, "no SiYuan that answers"),
        (instead("/api/notebook/lsNotebooks", httpx.Response(401)), "token", Verdict.FAIL, "SISYPHUS_HOST_TOKEN"),
        (
            instead("/api/notebook/lsNotebooks", httpx.Response(200, json={"code": -1, "msg": "no", "data": None})),
            "token",
            Verdict.FAIL,
            "SiYuan's own log",
        ),
        (
            instead("/api/notebook/lsNotebooks", httpx.Response(200, json={"code": 0, "msg": "", "data": {}})),
            "token",
            Verdict.FAIL,
            "its version",
        ),
        (instead("/api/file/getFile", httpx.Response(403)), "settings", Verdict.FAIL, "administrator"),
        (instead("/mcp", httpx.Response(404)), "extension", Verdict.WARN, "gives no tools"),
        (
            instead("/api/system/version", httpx.Response(200, json={"code": 0, "msg": "", "data": "3.6.5"})),
            "extension",
            Verdict.WARN,
            "3.7.0 or newer",
        ),
    ],
)
async def test_each_fault_is_found_and_ends_what_needs_the_rest(
    answer: Answer, last: str, verdict: Verdict, words: str
) -> None:
    found = await verdicts(answer)
    assert list(found)[-1] == last
    assert (found[last][0], words in found[last][1]) == (verdict, True), found[last]


@pytest.mark.parametrize(
    ("name", "content", "check", "words"),
    [
        ("mcpToolsConfig", "[", "settings", "every call is refused"),
        ("mcpHttpSettings", '{"kernelEndpointEnabled":false}', "settings", "set it to true"),
        ("notebookPermissions", "[]", "permissions", "every call is refused until then"),
    ],
)
async def test_a_spoilt_setting_is_named_with_its_place_on_the_host(
    name: str, content: str, check: str, words: str
) -> None:
    found = await verdicts(file_of(name, content))
    assert (found[check][0], words in found[check][1]) == (Verdict.FAIL, True), found[check]


def test_the_command_looks_at_a_living_host_and_at_its_own_folder(tmp_path: Path) -> None:
    with serving(tmp_path / "notes") as kernel:
        words = ("doctor", "--host-url", kernel.url, "--state-dir", str(tmp_path / "state"), "--json")
        before = sorted(path for path in (tmp_path / "notes" / STORAGE).rglob("*") if path.is_file())
        told = run(*words)
        after = sorted(path for path in (tmp_path / "notes" / STORAGE).rglob("*") if path.is_file())
    checks = {one["check"]: one for one in json.loads(told.stdout)["checks"]}
    assert (told.exit_code, next(iter(checks)), checks["permissions"]["words"]) == (0, "host", "1 notebooks: 1 rwd")
    assert checks["coordinator"]["verdict"] == "warn"
    assert f"--host-url {kernel.url} --state-dir" in checks["coordinator"]["advice"]
    assert before == after
    assert not (tmp_path / "state").exists(), "looking makes no folder"


def test_nobody_there_is_said_and_is_a_failure(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        told = run("doctor", "--host-url", f"http://127.0.0.1:{free.getsockname()[1]}", "--workspace", str(tmp_path))
    assert told.exit_code == 1
    assert "is no SiYuan that answers" in told.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_says_nothing_is_left_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_checks, "HOST_CHECKS_S_MAX", 0.05)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        found = host_checks.host_findings(f"http://127.0.0.1:{silent.getsockname()[1]}", "", tmp_path, None)
    assert [one.name for one in found] == ["host", "coordinator", "ledger"]
    assert "has not answered everything" in found[0].words


def test_a_token_without_a_host_is_a_contradiction() -> None:
    told = run("doctor", "--host-token", "t")
    assert (told.exit_code, "belongs to --host-url" in told.output) == (2, True)
