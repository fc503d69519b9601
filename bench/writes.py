"""Writes of a running kernel, measured against the disk of the same run: preflight, safe commit, updateBlock.

The yardstick is a loop of one small write and one fsync. Each rate is told as a ratio to it, 16 clients also to one.
``writes`` measures all three in turn, and tells what the commit alone takes beside a raw updateBlock.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final
from urllib.parse import urlsplit

CLIENTS: Final = 16
# Calls of one measurement: a kernel keeps 2,048 issued ids, and a preflight that nobody commits leaves one.
CALLS_MAX: Final = 960
META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
Work = Callable[["Client", str, int], None]


class Client:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._path = parts.path
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def api(self, path: str, /, **arguments: Any) -> Any:
        answer = self._post(f"/api/{path}", arguments, {})
        assert answer["code"] == 0, answer
        return answer["data"]

    def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments, "_meta": META}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        result = self._post(self._path, body, headers)["result"]
        assert result.get("isError") is not True, result
        return dict(result["structuredContent"])

    def _post(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        headers = {**headers, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._connection.request("POST", path, json.dumps(body), headers)
        return json.loads(self._connection.getresponse().read())


def preflight(client: Client, block: str, number: int) -> None:
    _checked(client, block, number)


def commit(client: Client, block: str, number: int) -> None:
    """A safe write as a careful client makes it: preflight, then the write with what it was told."""
    told = _checked(client, block, number)
    field = told["preconditionField"]
    credentials = {"requestId": told["requestId"], field: told[field]}
    client.tool("block", action="update", id=block, dataType="markdown", data=f"text {number}", **credentials)


def update(client: Client, block: str, number: int) -> None:
    client.api("block/updateBlock", id=block, dataType="markdown", data=f"text {number}")


def _checked(client: Client, block: str, number: int) -> dict[str, Any]:
    text = f"text {number}"
    return client.tool("block", action="update", id=block, dataType="markdown", data=text, validateOnly=True)


ALL: Final = "writes"
WORKLOADS: Final[dict[str, Work]] = {"preflight": preflight, "commit": commit, "update": update}


def run(workload: str, kernel: Callable[[], AbstractContextManager[str]], *, seconds: float, rounds: int) -> None:
    """Measure one workload, or all of them in turn, and print medians and ratios. ``kernel``: a fresh one's URL."""
    names = tuple(WORKLOADS) if workload == ALL else (workload,)
    disk: list[float] = []
    one: dict[str, list[float]] = {name: [] for name in names}
    many: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        disk.append(syncs_per_second(seconds / 2))
        with kernel() as url:
            blocks = prepare(url)
            for name in names:
                one[name].append(rate(WORKLOADS[name], url, blocks[:1], seconds))
                many[name].append(rate(WORKLOADS[name], url, blocks, seconds))
    print(f"disk         median {statistics.median(disk):8.0f} fsync/s")
    for name in names:
        for clients, rates in {"1 client": one[name], f"{CLIENTS} clients": many[name]}.items():
            words = f"{name}, {clients:10} median {statistics.median(rates):8.1f} /s"
            print(f"{words}  ratio to the disk {_ratio(rates, disk):.2f}")
        print(f"ratio of {CLIENTS} clients to one: {_ratio(many[name], one[name]):.2f}")
    if workload == ALL:
        _tell_cost_of_safety(one, "1 client")
        _tell_cost_of_safety(many, f"{CLIENTS} clients")


def _tell_cost_of_safety(rates: dict[str, list[float]], clients: str) -> None:
    """A ``commit`` here is a preflight and its commit: what is left without the preflight is the commit's own."""
    rounds = zip(rates["preflight"], rates["commit"], rates["update"], strict=True)
    costs = [(1 / both - 1 / preflight) * update for preflight, both, update in rounds]
    whole = _ratio(rates["update"], rates["commit"])
    print(f"{clients}: a safe commit costs {statistics.median(costs):.2f} updateBlocks, with its preflight {whole:.2f}")


def _ratio(some: list[float], others: list[float]) -> float:
    """The median of the rounds' own ratios: a machine that slows down slows both."""
    return statistics.median(mine / other for mine, other in zip(some, others, strict=True))


def prepare(url: str) -> list[str]:
    """A paragraph per client, each in a document of its own."""
    client = Client(url)
    notebook = client.api("notebook/createNotebook", name="bench")["notebook"]["id"]
    blocks = []
    for number in range(CLIENTS):
        document = client.api("filetree/createDocWithMd", notebook=notebook, path=f"/d{number}", markdown="text")
        blocks.append(client.api("block/getChildBlocks", id=document)[0]["id"])
    return blocks


def rate(work: Work, url: str, blocks: list[str], seconds: float) -> float:
    """Calls per second, one client per block, for so long or until ``CALLS_MAX`` were made."""
    counts = [0] * len(blocks)
    failures: list[BaseException] = []
    end = time.perf_counter() + seconds

    def one(index: int) -> None:
        client = Client(url)
        try:
            while time.perf_counter() < end and sum(counts) < CALLS_MAX:
                work(client, blocks[index], time.time_ns())
                counts[index] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(index,)) for index in range(len(blocks))]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return sum(counts) / (time.perf_counter() - begun)


def syncs_per_second(seconds: float) -> float:
    with tempfile.TemporaryFile() as file:
        count, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            os.pwrite(file.fileno(), b"x" * 4096, 0)
            os.fsync(file.fileno())
            count += 1
        return count / (time.perf_counter() - begun)
