"""Memory of the server while 512 MiB go through it: a download in one piece, uploads of 8 MiB until it is as much.

    python -m bench.transfer [--mib 512]

Prints resident memory (MiB) along the way: at rest, then at each tenth of the transfer, and the peak. Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20
UPLOAD_BYTES = 8 * MIB
SAMPLE_EVERY_S = 0.02


class Memory:
    """Resident memory of a process, looked at all the time."""

    def __init__(self, pid: int) -> None:
        self._path = f"/proc/{pid}/statm"
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._ends = threading.Event()
        self.peak = 0.0

    def now(self) -> float:
        with open(self._path) as file:
            return int(file.read().split()[1]) * self._page / MIB

    def watch(self) -> None:
        while not self._ends.wait(SAMPLE_EVERY_S):
            self.peak = max(self.peak, self.now())

    @contextmanager
    def watched(self) -> Iterator[None]:
        self.peak, self._ends = self.now(), threading.Event()
        thread = threading.Thread(target=self.watch)
        thread.start()
        try:
            yield
        finally:
            self._ends.set()
            thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=512)
    total = parser.parse_args().mib * MIB
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        big = workspace / "data" / "assets" / "big.bin"
        big.parent.mkdir(parents=True)
        with big.open("wb") as file:
            for _ in range(total // MIB):
                file.write(os.urandom(MIB))
        command = [sys.executable, "-m", "kernel", "serve", "--port", "0", "--json", "--workspace", str(workspace)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                url = json.loads(process.stdout.readline())["url"]
                memory = Memory(process.pid)
                _measure(
                    "GET /assets/big.bin", memory, total, lambda told: _download(url, "GET", "/assets/big.bin", told)
                )
                body = json.dumps({"path": "/data/assets/big.bin"}).encode()
                post = ("POST", "/api/file/getFile", body)
                _measure("POST /api/file/getFile", memory, total, lambda told: _download(url, *post[:2], told, post[2]))
                _measure("POST /transfer/upload, 8 MiB each", memory, total, lambda told: _upload(url, total, told))
            finally:
                process.terminate()
    return 0


Told = Callable[[int], None]


def _measure(name: str, memory: Memory, total: int, transfer: Callable[[Told], None]) -> None:
    rest, curve, started = memory.now(), [], time.monotonic()

    def told(done: int) -> None:
        if done * 10 // total > len(curve):
            curve.append(memory.now())

    with memory.watched():
        transfer(told)
    seconds = time.monotonic() - started
    steps = " ".join(f"{mib:.0f}" for mib in curve)
    rate = total / MIB / seconds
    print(
        f"{name}: rest {rest:.0f} MiB, at each tenth {steps}, peak {memory.peak:.0f} MiB ({rate:.0f} MiB/s)", flush=True
    )


def _download(url: str, method: str, path: str, told: Told, body: bytes | None = None) -> None:
    connection = _connected(url)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    answer, done = connection.getresponse(), 0
    while piece := answer.read(MIB):
        done += len(piece)
        told(done)
    connection.close()


def _upload(url: str, total: int, told: Told) -> None:
    connection, done = _connected(url), 0
    while done < total:
        # The name belongs to the identity: the same one again refreshes its item instead of filling the store.
        content = bytes([done // UPLOAD_BYTES % 3]) * UPLOAD_BYTES
        headers = {"Content-Type": "application/octet-stream", "X-Sisyphus-File-Name": "a.bin"}
        connection.request("POST", "/sisyphus/transfer/upload", content, headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise SystemExit(f"upload: {answer.status} {answer.read()[:200]!r}")
        answer.read()
        done += len(content)
        told(done)
    connection.close()


def _connected(url: str) -> http.client.HTTPConnection:
    parts = urllib.parse.urlsplit(url)
    return http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=600)


if __name__ == "__main__":
    sys.exit(main())
