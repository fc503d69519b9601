"""FX, the fixture of the bug cases: a notebook, a document of four blocks, every right on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx
import trio

from tests.support.client import McpClient
from tests.support.process import KernelProcess

HELD_S_MAX = 90.0
STORAGE = "/data/storage/petal/siyuan-plugins-mcp-sisyphus"


@dataclass
class Notes:
    """A kernel with FX in it, and the ways to talk to it. ``ids``: NB, D, P1, P2, H1, P3."""

    kernel: KernelProcess
    http: httpx.AsyncClient
    client: McpClient
    ids: dict[str, str]

    async def api(self, path: str, /, **arguments: Any) -> Any:
        """``data`` of one call of the kernel's own API; a business error fails the test."""
        answer = (await self.http.post(f"{self.kernel.url}/api/{path}", json=arguments)).json()
        assert answer["code"] == 0, answer
        return answer["data"]

    async def put_file(self, path: str, content: str) -> None:
        await put_file(self.http, self.kernel.url, path, content)

    async def text(self, name: str) -> str:
        """The text of a block of FX, without its attribute line."""
        kramdown = (await self.api("block/getBlockKramdown", id=self.ids[name]))["kramdown"]
        return str(kramdown).split("\n{:")[0]

    async def health(self) -> dict[str, Any]:
        return dict((await self.http.get(self.kernel.mcp.replace("/mcp", "/health"))).json())

    # --- host-call controls ------------------------------------------------------------------------------------
    async def fault(self, point: str, do: str, **rest: Any) -> None:
        """Add one fault rule."""
        answer = await self.http.post(
            f"{self.kernel.url}/emulator/faults", json={"rules": [{"point": point, "do": do, **rest}]}
        )
        assert answer.status_code == 200, answer.text

    async def hold(self, endpoint: str, *, after: bool = False, times: int = 1) -> None:
        """hold(E) or hold-after(E) under the endpoint's own name."""
        moment = "after" if after else "before"
        await self.fault(f"host.{moment}:/api/{endpoint}", "hold", name=endpoint, times=times)

    async def release(self, endpoint: str) -> int:
        answer = await self.http.post(f"{self.kernel.url}/emulator/faults/release", json={"name": endpoint})
        return int(answer.json()["released"])

    async def wait_held(self, name: str, count: int = 1) -> None:
        """Wait until ``count`` calls are held under ``name``: a call that runs has not always got there yet."""
        with trio.fail_after(HELD_S_MAX):
            while True:
                if any(rule.get("name") == name and rule["held"] >= count for rule in await self.faults()):
                    return
                await trio.sleep(0.01)

    async def faults(self) -> list[dict[str, Any]]:
        return list((await self.http.get(f"{self.kernel.url}/emulator/faults")).json()["rules"])

    async def count(self, endpoint: str) -> int:
        """How often the host got E since ``watch`` (a delay of nothing counts its visits)."""
        point = f"host.before:/api/{endpoint}"
        return sum(rule["visits"] for rule in await self.faults() if rule["point"] == point and rule["do"] == "delay")

    async def watch(self, endpoint: str) -> None:
        """Count the host's calls of E from now on."""
        await self.fault(f"host.before:/api/{endpoint}", "delay", seconds=0, times=1)

    async def advance(self, seconds: float) -> None:
        """CLOCK+t."""
        answer = await self.http.post(f"{self.kernel.url}/emulator/clock", json={"advance_ms": int(seconds * 1000)})
        assert answer.status_code == 200, answer.text


async def put_file(http: httpx.AsyncClient, url: str, path: str, content: str) -> None:
    """/api/file/putFile."""
    form = {"path": path, "isDir": "false", "modTime": "0"}
    answer = (
        await http.post(f"{url}/api/file/putFile", data=form, files={"file": ("content", content.encode())})
    ).json()
    assert answer["code"] == 0, answer


async def make_notes(kernel: KernelProcess, http: httpx.AsyncClient) -> Notes:
    """Build FX in a fresh workspace."""
    notes = Notes(kernel, http, McpClient(http, kernel.mcp), {})
    notebook = (await notes.api("notebook/createNotebook", name="Box"))["notebook"]["id"]
    markdown = "Alpha text\n\nBeta text\n\n## Part\n\nGamma text"
    document = await notes.api("filetree/createDocWithMd", notebook=notebook, path="/Plan", markdown=markdown)
    blocks = await notes.api("block/getChildBlocks", id=document)
    names = ("P1", "P2", "H1", "P3")
    notes.ids = {
        "NB": notebook,
        "D": document,
        **{name: block["id"] for name, block in zip(names, blocks, strict=True)},
    }
    await notes.put_file(f"{STORAGE}/notebookPermissions", json.dumps({notebook: "rwd"}))
    return notes


async def same_notes(kernel: KernelProcess, http: httpx.AsyncClient, ids: dict[str, str]) -> Notes:
    """FX as a restarted kernel has it."""
    return Notes(kernel, http, McpClient(http, kernel.mcp), ids)


async def preflight(notes: Notes, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
    """PRE: the arguments of its COMMIT."""
    answer = await notes.client.tool(tool, action, validateOnly=True, **arguments)
    told = answer["structuredContent"]
    assert "requestId" in told, told
    credential = {told["preconditionField"]: told[told["preconditionField"]]} if told.get("preconditionField") else {}
    return {**arguments, "requestId": told["requestId"], **credential}


def code_of(result: dict[str, Any]) -> str | None:
    """The error code of a tool result; None for a success."""
    if not result.get("isError"):
        return None
    return str(result["structuredContent"]["error"]["code"])
