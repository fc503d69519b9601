"""The kernel API beside the real kernel, in one run: ``python -m bench.kernel_api --real BINARY --wd FOLDER``.

Both serve a workspace of one notebook with one document of 200 paragraphs. Each endpoint is called from 16 connections
for some seconds, on one and on the other in turn (A B A B …); printed are medians of the rates, their per-round ratio,
the processor time per call of each, and at the end how much memory each has used at most. The real kernel binds every
address and calls its cloud: run this in a network namespace of its own (``unshare -n``, then ``ip link set lo up``).
"""

from __future__ import annotations

import argparse
import http.client
import json
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.__main__ import free_port
from kernel.bench.sampler import processor_s

CONNECTIONS: Final = 16
PARAGRAPHS: Final = 200
READY_S_MAX: Final = 60.0
# endpoint → the least ratio of our rate to the real kernel's that is wanted
WANTED: Final = {
    "updateBlock": 20.0,
    "appendBlock": 20.0,
    "setBlockAttrs": 20.0,
    "getBlockKramdown, a block": 3.0,
    "getBlockKramdown, the document": 0.0,
    "fullTextSearchBlock": 3.0,
    "SQL by id": 0.25,
}


@dataclass
class Kernel:
    """One kernel under test."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    workspace: Path
    document: str = ""
    paragraphs: list[str] = field(default_factory=list)
    rates: dict[str, list[float]] = field(default_factory=dict)
    costs_us: dict[str, list[float]] = field(default_factory=dict)


class Client:
    """One kept connection with the kernel's token."""

    def __init__(self, kernel: Kernel) -> None:
        conf = json.loads((kernel.workspace / "conf" / "conf.json").read_text())
        self._headers = {"Content-Type": "application/json", "Authorization": f"Token {conf['api']['token']}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", kernel.port, timeout=120)

    def call(self, path: str, /, **arguments: Any) -> Any:
        self._connection.request("POST", f"/api/{path}", json.dumps(arguments), self._headers)
        told = json.loads(self._connection.getresponse().read())
        assert told["code"] == 0, (path, told)
        return told["data"]


Call = Callable[[Client, Kernel, int], object]


def _update(client: Client, kernel: Kernel, number: int) -> object:
    block = kernel.paragraphs[number % PARAGRAPHS]
    return client.call("block/updateBlock", id=block, dataType="markdown", data=f"changed {number}")


def _append(client: Client, kernel: Kernel, number: int) -> object:
    return client.call("block/appendBlock", parentID=kernel.document, dataType="markdown", data=f"added {number}")


def _set_attrs(client: Client, kernel: Kernel, number: int) -> object:
    block = kernel.paragraphs[number % PARAGRAPHS]
    return client.call("attr/setBlockAttrs", id=block, attrs={"custom-bench": str(number)})


def _read_block(client: Client, kernel: Kernel, number: int) -> object:
    return client.call("block/getBlockKramdown", id=kernel.paragraphs[number % PARAGRAPHS])


def _read_document(client: Client, kernel: Kernel, number: int) -> object:
    return client.call("block/getBlockKramdown", id=kernel.document)


def _search(client: Client, kernel: Kernel, number: int) -> object:
    return client.call("search/fullTextSearchBlock", query=f"word{number % PARAGRAPHS}")


def _sql(client: Client, kernel: Kernel, number: int) -> object:
    block = kernel.paragraphs[number % PARAGRAPHS]
    return client.call("query/sql", stmt=f"select * from blocks where id = '{block}'")


# Reads first: writes make the document longer.
CALLS: Final[dict[str, Call]] = {
    "getBlockKramdown, a block": _read_block,
    "getBlockKramdown, the document": _read_document,
    "fullTextSearchBlock": _search,
    "SQL by id": _sql,
    "setBlockAttrs": _set_attrs,
    "updateBlock": _update,
    "appendBlock": _append,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.kernel_api", description=__doc__)
    parser.add_argument("--real", required=True, help="the real kernel's binary")
    parser.add_argument("--wd", required=True, help="its working folder (appearance, stage)")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="endpoints, separated by commas, by their first letters")
    options = parser.parse_args()
    kernels: list[Kernel] = []
    try:
        kernels.append(start("ours", f"{sys.executable} -m kernel serve --port {{port}} --workspace {{workspace}}"))
        real = f"{options.real} serve --wd {options.wd} --workspace {{workspace}} --port {{port}} --lang en"
        kernels.append(start("real", real))
        for kernel in kernels:
            prepare(kernel)
        for name, call in CALLS.items():
            if not name.startswith(tuple(options.only.split(","))):
                continue
            for _ in range(options.rounds):
                for kernel in kernels:
                    measure(kernel, name, call, options.seconds)
            report(name, *kernels)
        for kernel in kernels:
            print(f"{kernel.name:5} peak memory {peak_mib(kernel.process.pid):6.1f} MiB")
    finally:
        for kernel in kernels:
            kernel.process.send_signal(signal.SIGTERM)
            kernel.process.wait(timeout=60)


def start(name: str, command: str) -> Kernel:
    workspace, port = Path(tempfile.mkdtemp(prefix=f"bench-{name}-")), free_port()
    words = shlex.split(command.format(port=port, workspace=workspace))
    with (workspace.parent / f"{workspace.name}.log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    return Kernel(name, process, port, workspace)


def prepare(kernel: Kernel) -> None:
    """A notebook with one document of paragraphs, each with a word of its own, indexed."""
    deadline = time.perf_counter() + READY_S_MAX
    while True:
        try:
            client = Client(kernel)
            client.call("system/version")
            break
        except (OSError, KeyError, ValueError, http.client.HTTPException):
            if time.perf_counter() > deadline or kernel.process.poll() is not None:
                raise
            time.sleep(0.2)
    notebook = client.call("notebook/createNotebook", name="bench")["notebook"]["id"]
    text = "\n\n".join(f"Paragraph {number} with some words and word{number}" for number in range(PARAGRAPHS))
    kernel.document = client.call("filetree/createDocWithMd", notebook=notebook, path="/bench", markdown=text)
    kernel.paragraphs = [row["id"] for row in client.call("block/getChildBlocks", id=kernel.document)]
    statement = f"select count(*) as n from blocks where root_id = '{kernel.document}' and type = 'p'"
    while client.call("query/sql", stmt=statement)[0]["n"] < PARAGRAPHS:
        time.sleep(0.2)


def measure(kernel: Kernel, name: str, call: Call, seconds: float) -> None:
    """The calls per second of all connections together, and the processor time of one."""
    counts = [0] * CONNECTIONS
    failures: list[BaseException] = []
    end = time.perf_counter() + seconds

    def one(index: int) -> None:
        client = Client(kernel)
        try:
            while time.perf_counter() < end:
                call(client, kernel, counts[index] * CONNECTIONS + index)
                counts[index] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(index,)) for index in range(CONNECTIONS)]
    spent_s, begun = processor_s(kernel.process.pid), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    took_s, spent_s = time.perf_counter() - begun, processor_s(kernel.process.pid) - spent_s
    kernel.rates.setdefault(name, []).append(sum(counts) / took_s)
    kernel.costs_us.setdefault(name, []).append(spent_s / sum(counts) * 1e6)


def report(name: str, ours: Kernel, real: Kernel) -> None:
    mine, theirs = ours.rates[name], real.rates[name]
    ratio = statistics.median(one / other for one, other in zip(mine, theirs, strict=True))
    wanted = WANTED[name]
    verdict = "" if not wanted else f"  wanted {wanted:g}: {'reached' if ratio >= wanted else 'MISSED'}"
    print(
        f"{name:31} ours {statistics.median(mine):8.1f} /s {statistics.median(ours.costs_us[name]):8.0f} µs"
        f"  real {statistics.median(theirs):8.1f} /s {statistics.median(real.costs_us[name]):8.0f} µs"
        f"  ratio {ratio:6.2f}{verdict}",
        flush=True,
    )


def peak_mib(pid: int) -> float:
    """The most memory that was resident at once (0 where the system does not tell)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


if __name__ == "__main__":
    main()
