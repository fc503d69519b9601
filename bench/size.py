"""How the kernel carries large workspaces: ``python -m bench.size [--documents 100 1000 10000] [--blocks 30]``.

Makes a workspace of so many documents, then for each size: seconds of processor and of clock until the kernel serves
and has answered its first statement, cold (no index) and warm (started again); then medians of an id look-up, of a
full-text search, and of an update in a document of 5,000 blocks, each with the milliseconds of processor that one takes
(these hardly notice a machine that others use too); last the resident memory. Reported, never asserted.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from kernel.bench.sampler import processor_s, resident_mib
from kernel.workspace import sy
from kernel.workspace.tree import Node

BOX: Final = "20260101000000-aaaaaaa"
DOCUMENTS_PER_FOLDER: Final = 100
LARGE_DOCUMENT_BLOCKS: Final = 5_000
WORDS: Final = [
    "river",
    "stone",
    "lantern",
    "quiet",
    "north",
    "bridge",
    "copper",
    "meadow",
    "harbour",
    "signal",
    "winter",
    "paper",
    "orange",
    "circle",
]
STAMP: Final = "20260101000000"
READY_S_MAX: Final = 1800.0
LOOKUPS: Final = 200


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.size", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--blocks", type=int, default=30, help="paragraphs of one document")
    options = parser.parse_args()
    print(
        f"{'documents':>9} {'blocks':>9} {'cold s':>8} {'cpu s':>7} {'warm s':>8} {'cpu s':>7} "
        f"{'first text s':>12} {'id ms':>7} {'cpu ms':>7} {'text ms':>8} {'cpu ms':>7} {'update ms':>9} {'cpu ms':>7} "
        f"{'RSS MiB':>8}"
    )
    for documents in options.documents:
        with tempfile.TemporaryDirectory(prefix="sisyphus-size-") as folder:
            ids = make_workspace(Path(folder), documents, options.blocks)
            print(measure(Path(folder), documents, ids), flush=True)


def make_workspace(folder: Path, documents: int, blocks: int) -> list[str]:
    """Documents in folders of a hundred, and one large document; the ids of their blocks."""
    chance = random.Random(1)
    box = folder / "data" / BOX
    (box / ".siyuan").mkdir(parents=True)
    (box / ".siyuan" / "conf.json").write_text(json.dumps({"name": "Size", "closed": False}))
    ids: list[str] = []
    parent = ""
    for number in range(documents):
        root_id = _id(number, 0)
        if number % DOCUMENTS_PER_FOLDER == 0:
            parent, where = root_id, box
        else:
            where = box / parent
        ids += _write(where, root_id, f"Document {number}", number, blocks, chance)
    _write(box, _id(99_999_999, 0), "Large", 99_999_999, LARGE_DOCUMENT_BLOCKS, chance)
    return ids


def _id(document: int, block: int) -> str:
    number = document * 10_007 + block
    letters = ""
    for _ in range(7):
        number, digit = divmod(number, 36)
        letters = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + letters
    return f"{STAMP}-{letters}"


def _write(where: Path, root_id: str, title: str, number: int, blocks: int, chance: random.Random) -> list[str]:
    root = Node("NodeDocument", id=root_id, properties={"id": root_id, "title": title, "type": "doc", "updated": STAMP})
    root.fields["Spec"] = "2"
    ids = [_id(number, block) for block in range(1, blocks + 1)]
    for block_id in ids:
        paragraph = Node("NodeParagraph", id=block_id, properties={"id": block_id, "updated": STAMP})
        text = " ".join(chance.choice(WORDS) for _ in range(12)) + f" {block_id[-4:]}"
        paragraph.append(Node("NodeText", data=text))
        root.append(paragraph)
    where.mkdir(exist_ok=True)
    (where / f"{root_id}.sy").write_bytes(sy.encode(root))
    return ids


class Kernel:
    """One started kernel."""

    def __init__(self, workspace: Path) -> None:
        command = [sys.executable, "-m", "kernel", "serve", "--port", "0", "--json", "--workspace", str(workspace)]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"].rstrip("/")
        conf = json.loads((workspace / "conf" / "conf.json").read_text())
        self.token = conf["api"]["token"]

    def ask(self, path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data=json.dumps(body).encode(), headers=headers)
        with urllib.request.urlopen(request, timeout=READY_S_MAX) as answer:
            told = json.loads(answer.read())
        if told["code"] != 0:
            raise RuntimeError(f"{path}: {told['msg']}")
        return told["data"]

    def cpu_s(self) -> float:
        return processor_s(self.process.pid)

    def rss_mib(self) -> float:
        return resident_mib(self.process.pid)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=600) != 0:
            raise RuntimeError("the kernel did not end well")


def opened(workspace: Path) -> tuple[Kernel, float, float]:
    """A kernel that has answered its first statement; seconds of clock and of processor until then."""
    kernel = Kernel(workspace)
    kernel.ask("/api/query/sql", stmt="SELECT count(*) AS n FROM blocks")
    return kernel, time.perf_counter() - kernel.started, kernel.cpu_s()


def measure(workspace: Path, documents: int, ids: list[str]) -> str:
    """One row of the table."""
    kernel, cold_s, cold_cpu_s = opened(workspace)
    start = time.perf_counter()
    kernel.ask("/api/search/fullTextSearchBlock", query="lantern copper")
    first_text_s = time.perf_counter() - start
    kernel.stop()
    kernel, warm_s, warm_cpu_s = opened(workspace)
    blocks = kernel.ask("/api/query/sql", stmt="SELECT count(*) AS n FROM blocks")[0]["n"]
    chance = random.Random(2)
    by_id = _timed(
        kernel, lambda: kernel.ask("/api/query/sql", stmt=f"SELECT * FROM blocks WHERE id = '{chance.choice(ids)}'")
    )
    by_text = _timed(
        kernel, lambda: kernel.ask("/api/search/fullTextSearchBlock", query=f'"{chance.choice(ids)[-4:]}"', pageSize=8)
    )
    large = [_id(99_999_999, block) for block in range(1, LARGE_DOCUMENT_BLOCKS + 1)]
    by_update = _timed(
        kernel,
        lambda: kernel.ask(
            "/api/block/updateBlock", id=chance.choice(large), dataType="markdown", data=f"new {chance.random()}"
        ),
    )
    rss_mib = kernel.rss_mib()
    kernel.stop()
    return (
        f"{documents:>9} {blocks:>9} {cold_s:>8.2f} {cold_cpu_s:>7.2f} {warm_s:>8.2f} {warm_cpu_s:>7.2f} "
        f"{first_text_s:>12.2f} {by_id[0]:>7.2f} {by_id[1]:>7.2f} {by_text[0]:>8.2f} {by_text[1]:>7.2f} "
        f"{by_update[0]:>9.2f} {by_update[1]:>7.2f} {rss_mib:>8.1f}"
    )


def _timed(kernel: Kernel, run: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of one call: the median by the clock, the mean of the kernel's processor time."""
    times = []
    run()
    before_s = kernel.cpu_s()
    for _ in range(LOOKUPS):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times), (kernel.cpu_s() - before_s) * 1000 / LOOKUPS


if __name__ == "__main__":
    main()
