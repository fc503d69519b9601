"""Bug cases of kind L: files, names of assets and credentials of the emulated kernel, over real sockets."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from urllib.parse import quote, unquote

import httpx
import pytest

from tests.cases.conftest import OpenNotes
from tests.support.notes import Notes
from tests.support.process import running_kernel

pytestmark = pytest.mark.wire

_STORED = b'{"code":404,"msg":"x"}'


async def _put(notes: Notes, path: str, content: bytes) -> None:
    form = {"path": path, "isDir": "false", "modTime": "0"}
    answer = await notes.http.post(f"{notes.kernel.url}/api/file/putFile", data=form, files={"file": ("f", content)})
    assert answer.json()["code"] == 0


async def test_l01_a_file_is_told_from_an_error_by_the_status_alone(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        await _put(notes, "/data/a.json", _STORED)
        await _put(notes, "/data/e", b"")

        async def get(arguments: dict[str, str], **headers: str) -> httpx.Response:
            return await notes.http.post(f"{notes.kernel.url}/api/file/getFile", json=arguments, headers=headers)

        for path, content in (("/data/a.json", _STORED), ("/data/e", b"")):
            answer = await get({"path": path}, Range="bytes=0-3")
            assert (answer.status_code, answer.content) == (200, content)
        for arguments, code in (
            ({"path": "/data/none"}, 404),
            ({"path": "/data"}, 409),
            ({"path": "/../outside"}, 403),
        ):
            answer = await get(arguments)
            assert (answer.status_code, answer.json()["code"]) == (202, code)
        answer = await get({})
        assert (answer.status_code, answer.json()["code"]) == (202, -1)


async def test_l03_each_link_of_an_upload_leads_to_its_bytes(open_notes: OpenNotes) -> None:
    names = ["50% off.png", "a%20b.png", "x[1](2).png", "名 前 .txt", "n" * 246 + ".png", "same.txt", "same.txt"]
    async with open_notes() as notes:
        links: dict[str, bytes] = {}
        for number, name in enumerate(names):
            content = f"content {number}".encode()
            answer = await notes.http.post(
                f"{notes.kernel.url}/api/asset/upload",
                data={"assetsDirPath": "/assets/"},
                files={"file[]": (name, content)},
            )
            [link] = answer.json()["data"]["succMap"].values()
            assert link not in links
            links[link] = content
        again = await notes.http.post(
            f"{notes.kernel.url}/api/asset/upload",
            data={"assetsDirPath": "/assets/"},
            files={"file[]": ("same.txt", b"content 6")},
        )
        [known] = again.json()["data"]["succMap"].values()
        assert links[known] == b"content 6"
        for link, content in links.items():
            digest = hashlib.sha256(content).hexdigest()
            served = await notes.http.get(f"{notes.kernel.url}/{quote(link)}")
            assert hashlib.sha256(served.content).hexdigest() == digest, link
            read = await notes.http.post(f"{notes.kernel.url}/api/file/getFile", json={"path": f"/data/{link}"})
            assert hashlib.sha256(read.content).hexdigest() == digest, link
            assert unquote(quote(link)) == link


async def test_l07_the_kernels_api_takes_its_four_forms_of_token_and_no_other(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        url, token = notes.kernel.url, notes.kernel.token

        async def status(query: str = "", **headers: str) -> int:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            answer = await notes.http.post(f"{url}/api/notebook/lsNotebooks{query}", json={}, headers=named)
            if answer.status_code == 200:
                assert json.loads(answer.text)["code"] == 0
            return answer.status_code

        for form in ("Token", "token", "Bearer", "bearer"):
            assert await status(Authorization=f"{form} {token}") == 200
        assert await status() == 200
        assert await status(Authorization="Basic eDp5") == 200
        assert await status(f"?token={token}") == 200
        assert await status(Authorization="Token bad") == 401
        assert await status("?token=bad") == 401
        assert await status(Origin="http://evil.test") == 401
        assert await status(Origin="http://evil.test", Authorization=f"Token {token}") == 200
        assert (await notes.http.get(f"{url}/api/system/version")).status_code == 200


async def test_l07_with_an_access_code_nobody_passes_without_a_credential(tmp_path: Path) -> None:
    async with (
        running_kernel(tmp_path / "workspace", "--accessAuthCode", "s3cret") as kernel,
        httpx.AsyncClient() as http,
    ):
        path = f"{kernel.url}/api/notebook/lsNotebooks"
        assert (await http.post(path, json={})).status_code == 401
        good = await http.post(path, json={}, headers={"Authorization": f"Token {kernel.token}"})
        assert good.json()["code"] == 0
        browser = await http.get(f"{kernel.url}/stage/build/desktop/", headers={"User-Agent": "Mozilla/5.0"})
        assert browser.status_code == 302
        assert "check-auth" in browser.headers["location"]
