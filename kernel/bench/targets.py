"""What load is put on: a kernel of our own, a server that runs already, or a peer. Shell: starts and ends processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlsplit

from kernel.bench.calls import LEGACY, Address, message, outcome_of
from kernel.bench.client import Asking
from kernel.bench.limits import END_S_MAX, PEER_READY_S_MAX, READY_S_MAX
from kernel.bench.workloads import Place

PEERS: Final[dict[str, str]] = {
    "python-sdk": "The official Python SDK, stateless, with uvloop and httptools.",
    "typescript-sdk": "The official TypeScript SDK on Node's http server.",
    "fastmcp": "FastMCP (Python), stateless.",
    "bare-loop": "The least a server on Trio and h11 can do: a yardstick, not a product.",
}
KERNEL: Final = "kernel"


class TargetFailed(Exception):
    """A target cannot be had, or does not answer; one line that says why."""


@dataclass
class Target:
    """A server under load. ``pid``: 0 if it is not ours to look at; ``health``: where its lanes are told, or ""."""

    name: str
    address: Address
    place: Place = field(default_factory=Place)
    pid: int = 0
    health: str = ""
    root: str = ""

    @property
    def is_kernel(self) -> bool:
        return bool(self.health)


@contextmanager
def own_kernel(
    options: Sequence[str] = (), *, plan: dict[str, Any] | None = None, cpu: int | None = None
) -> Iterator[Target]:
    """A fresh kernel on a throw-away workspace; ``plan``: faults that it has from the start."""
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder:
        command = [sys.executable, "-m", "kernel", "serve", "--json", "--port", "0"]
        command += ["--workspace", str(Path(folder) / "workspace"), *options]
        if plan is not None:
            file = Path(folder) / "plan.json"
            file.write_text(json.dumps(plan), encoding="utf-8")
            command += ["--faults", str(file)]
        with _running(command, cpu) as process:
            ready = json.loads(process.first_line("the kernel"))
            parts = urlsplit(ready["mcp"])
            address = Address(parts.hostname or "", parts.port or 0, parts.path)
            if plan is not None:
                _stop_tracing(address)
            yield Target(KERNEL, address, pid=process.pid, health=_health_path(parts.path), root=ready["url"])


def _stop_tracing(address: Address) -> None:
    """A plan brings a trace with it, and every call would pay for a record that nobody reads."""
    with Asking(address) as asking:
        reply = asking.ask(address.post("/emulator/trace", b'{"on": false}', {}))
    if reply.status != 200:
        raise TargetFailed(f"{KERNEL}: its trace cannot be switched off ({reply.status})")


@contextmanager
def peer(name: str, *, cpu: int | None = None) -> Iterator[Target]:
    """A peer on a free port. Peers live in the source tree's ``bench/`` and install themselves there."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "bench" / "peer.py").is_file():
        raise TargetFailed(f"{name}: peers are started from a source checkout (bench/peer.py is missing)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with _running([sys.executable, "-m", "bench.peer", name, str(port)], cpu, cwd=root) as process:
        place = Place(tool="get_version", arguments={})
        target = Target(name, Address("127.0.0.1", port, "/mcp"), place, process.pid)
        _wait_answering(target, process)
        yield target


def running(url: str, *, tool: str, arguments: dict[str, Any], token: str = "") -> Target:
    """A server that runs already, by the URL of its MCP endpoint."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise TargetFailed(f"--url {url}: an address of the form http://host:port/path is needed")
    address = Address(parts.hostname, parts.port or 80, parts.path or "/", token=token)
    target = Target(parts.netloc, address, Place(tool=tool, arguments=arguments))
    with Asking(address) as asking:
        target.address = _era_of(asking, target)
    return target


def with_session(target: Target) -> Target:
    """The same target in a session of the older era."""
    with Asking(target.address) as asking:
        return replace(target, address=replace(target.address, session=_open_session(asking)))


def _era_of(asking: Asking, target: Target) -> Address:
    """The modern era if the server speaks it, else a session of the older one. Raises TargetFailed."""
    call = target.address.tool(target.place.tool, dict(target.place.arguments))
    reply = asking.ask(call)
    if outcome_of(reply) == "ok":
        return target.address
    address = replace(target.address, session=_open_session(asking))
    again = asking.ask(address.tool(target.place.tool, dict(target.place.arguments)))
    if outcome_of(again) != "ok":
        raise TargetFailed(f"{target.name}: {target.place.tool} is answered with {again.status} {again.body[:200]!r}")
    return address


def _open_session(asking: Asking) -> str:
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    body = message("initialize", params, 0)
    head, reply = asking.ask_with_head(asking.address.post(asking.address.path, body, {}))
    if reply.status != 200:
        raise TargetFailed(f"initialize is answered with {reply.status} {reply.body[:200]!r}")
    for line in head.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "mcp-session-id":
            return value.strip()
    return ""


def _wait_answering(target: Target, started: _Started) -> None:
    deadline = time.perf_counter() + PEER_READY_S_MAX
    while True:
        try:
            with Asking(target.address) as asking:
                target.address = _era_of(asking, target)
            return
        except OSError as error:
            if time.perf_counter() > deadline or started.process.poll() is not None:
                words = started.last_words()
                raise TargetFailed(f"{target.name} does not answer: {words or error}") from None
            time.sleep(0.1)


def _health_path(mcp_path: str) -> str:
    return mcp_path.rpartition("/")[0] + "/health"


@dataclass(frozen=True, slots=True)
class _Started:
    """A process of ours and the file that its standard error goes to."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    def first_line(self, who: str) -> bytes:
        """Its ready line. Raises TargetFailed with its last words."""
        assert self.process.stdout is not None
        too_late = threading.Timer(READY_S_MAX, self.process.kill)
        too_late.start()
        line = self.process.stdout.readline()
        too_late.cancel()
        if not line.startswith(b"{"):
            self.process.wait()
            raise TargetFailed(f"{who} did not start: {self.last_words() or 'no word'}")
        return line

    def last_words(self) -> str:
        self.log.seek(0)
        lines = self.log.read().decode("utf-8", "replace").strip().splitlines()
        return " ".join(lines[-3:])

    def end(self) -> None:
        """SIGTERM, then SIGKILL to it and to what it has started."""
        process = self.process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(END_S_MAX)
            except subprocess.TimeoutExpired:
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def _running(command: list[str], cpu: int | None, cwd: Path | None = None) -> Iterator[_Started]:
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, cwd=cwd, start_new_session=True
        )
        started = _Started(process, log)
        try:
            if cpu is not None and hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(process.pid, {cpu})
            yield started
        finally:
            started.end()
