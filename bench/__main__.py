"""The trivial tool beside the official SDKs and a bare loop, in one run: ``python -m bench [--seconds 4] [--peers …]``.

All servers are started once, pinned to the first processor where there is pinning, and measured in turn with wrk
(A B C A B C …) from the second. Printed are medians of the requests per second and of the processor time per request
(user and system, all threads of the server), and the per-round ratios of both. Processor time hardly notices a machine
that is shared; throughput does. Closed loop at 16 connections: throughput compares, latencies do not. Reported, never
asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from bench import writes
from bench.peer import PEERS
from kernel.bench.sampler import processor_s
from tests.wire.toolbox import Missing

CONNECTIONS: Final = 16
READY_S_MAX: Final = 30.0
META: Final = "io.modelcontextprotocol/"
LEGACY: Final = "2025-11-25"
COMMON: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass
class Peer:
    """One server under test: where it answers, what the trivial call is there."""

    name: str
    process: subprocess.Popen[bytes]
    url: str
    tool: str
    arguments: dict[str, str]
    rates: list[float] = field(default_factory=list)
    costs_us: list[float] = field(default_factory=list)
    session: str | None = None  # of the older era; None: stateless calls of the modern one

    def request(self) -> tuple[dict[str, str], bytes]:
        """Headers and body of one call."""
        if self.session is not None:
            return legacy_request(self)
        meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}
        params = {"name": self.tool, "arguments": self.arguments, "_meta": meta}
        headers = {
            **COMMON,
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": self.tool,
        }
        return headers, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--seconds", type=int, default=4, help="length of one measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="kernel,python-sdk,bare-loop", help=f"of {', '.join(STARTS)}")
    parser.add_argument("--era", choices=["modern", "legacy"], default="modern")
    parser.add_argument("--workload", choices=["trivial", *writes.WORKLOADS, writes.ALL], default="trivial")
    options = parser.parse_args()
    if options.workload != "trivial":
        writes.run(options.workload, fresh_kernel, seconds=options.seconds, rounds=options.rounds)
        return
    if shutil.which("wrk") is None:
        sys.exit("wrk is missing: install it with your system's package manager (Debian: apt-get install wrk)")
    peers: list[Peer] = []
    try:
        for name in options.peers.split(","):
            peers.append(STARTS[name]())
        for peer in peers:
            wait_until_ready(peer)
            if peer.name == "kernel-session" or (options.era == "legacy" and peer.name != "bare-loop"):
                open_session(peer)
        for number in range(options.rounds):
            for peer in peers:
                measure(peer, options.seconds)
                print(
                    f"round {number + 1}  {peer.name:12} {peer.rates[-1]:10.0f} req/s {peer.costs_us[-1]:8.1f} µs",
                    flush=True,
                )
        report(peers)
    except Missing as error:
        sys.exit(str(error))
    finally:
        for peer in peers:
            peer.process.send_signal(signal.SIGTERM)
            peer.process.wait(timeout=30)


@contextmanager
def fresh_kernel() -> Iterator[str]:
    """The kernel alone, on a workspace of its own: its URL."""
    peer = start_kernel()
    try:
        wait_until_ready(peer)
        yield peer.url
    finally:
        peer.process.send_signal(signal.SIGTERM)
        peer.process.wait(timeout=30)


def start_kernel() -> Peer:
    port = free_port()
    workspace = tempfile.mkdtemp(prefix="sisyphus-bench-")
    command = [sys.executable, "-m", "kernel", "serve", "--port", str(port), "--workspace", workspace]
    url = f"http://127.0.0.1:{port}/sisyphus/mcp"
    return Peer("kernel", pinned(command), url, "system", {"action": "get_version"})


def start_session_kernel() -> Peer:
    """A second kernel, whose calls belong to one session of the older era, beside the first's that belong to none."""
    return replace(start_kernel(), name="kernel-session")


def start_peer(name: str) -> Peer:
    port = free_port()
    return Peer(name, pinned(PEERS[name](str(port))), f"http://127.0.0.1:{port}/mcp", "get_version", {})


STARTS: Final[dict[str, Callable[[], Peer]]] = {
    "kernel": start_kernel,
    "kernel-session": start_session_kernel,
    **{name: partial(start_peer, name) for name in PEERS},
}


def pinned(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(on_processor("0", command), stdout=subprocess.DEVNULL)


def on_processor(number: str, command: list[str]) -> list[str]:
    """The command on one processor, where there are several and they can be chosen."""
    if shutil.which("taskset") is not None and (os.cpu_count() or 1) > 1:
        return ["taskset", "-c", number, *command]
    return command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(peer: Peer) -> None:
    """Until the trivial call answers without an error."""
    headers, body = peer.request()
    deadline = time.perf_counter() + READY_S_MAX
    while True:
        try:
            request = urllib.request.Request(peer.url, data=body, headers=headers)
            with urllib.request.urlopen(request, timeout=5) as answer:
                told = json.loads(answer.read())
            assert told["result"].get("isError") is not True, told
            return
        except OSError as error:
            if time.perf_counter() > deadline or peer.process.poll() is not None:
                raise Missing(f"{peer.name} does not answer: {error}") from None
            time.sleep(0.1)


def open_session(peer: Peer) -> None:
    """From here on the peer's calls belong to one session of the older era."""
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    with urllib.request.urlopen(urllib.request.Request(peer.url, data=body, headers=COMMON), timeout=5) as answer:
        peer.session = answer.headers["Mcp-Session-Id"] or ""


def legacy_request(peer: Peer) -> tuple[dict[str, str], bytes]:
    headers = {**COMMON, "MCP-Protocol-Version": LEGACY}
    if peer.session:
        headers["Mcp-Session-Id"] = peer.session
    params = {"name": peer.tool, "arguments": peer.arguments}
    return headers, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


@contextmanager
def script_of(peer: Peer) -> Iterator[str]:
    """The path of a script that makes wrk send the peer's call."""
    headers, body = peer.request()
    lines = ['wrk.method = "POST"', f"wrk.body = [==[{body.decode()}]==]"]
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("\n".join(lines))
        script.flush()
        yield script.name


def measure(peer: Peer, seconds: int) -> None:
    """One wrk run: requests per second and µs of processor time per request. Any error is an error of the bench."""
    with script_of(peer) as script:
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script, peer.url]
        before_s = processor_s(peer.process.pid)
        text = subprocess.run(on_processor("1", command), capture_output=True, text=True, check=True).stdout
        spent_s = processor_s(peer.process.pid) - before_s
    assert "Non-2xx" not in text, text
    assert "Socket errors" not in text, text
    found = re.search(r"Requests/sec:\s+([\d.]+)", text)
    total = re.search(r"(\d+) requests in", text)
    assert found is not None, text
    assert total is not None, text
    peer.rates.append(float(found[1]))
    peer.costs_us.append(spent_s / int(total[1]) * 1e6)


def report(peers: list[Peer]) -> None:
    ours, *others = peers
    for peer in peers:
        print(
            f"{peer.name:12} median {statistics.median(peer.rates):8.0f} req/s  ({min(peer.rates):.0f}-{max(peer.rates):.0f})"
            f"  {statistics.median(peer.costs_us):6.1f} µs ({min(peer.costs_us):.1f}-{max(peer.costs_us):.1f})"
        )
    for other in others:
        rates = [mine / theirs for mine, theirs in zip(ours.rates, other.rates, strict=True)]
        costs = [theirs / mine for mine, theirs in zip(ours.costs_us, other.costs_us, strict=True) if mine]
        told = f"ratio to {other.name}: req/s {statistics.median(rates):.2f} ({min(rates):.2f}-{max(rates):.2f})"
        print(
            told
            + (f", processor time {statistics.median(costs):.2f} ({min(costs):.2f}-{max(costs):.2f})" if costs else "")
        )


if __name__ == "__main__":
    main()
