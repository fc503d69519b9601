"""How much memory a kernel holds while it serves on and on: ``python -m bench.endurance [--requests 200000]``.

Trivial calls at 16 connections, in blocks; after each block the resident memory of the process. Flat means: the slope of
the later half, carried on to 1,000,000 requests, is told in MiB.
"""

from __future__ import annotations

import argparse
import re
import signal
import statistics
import subprocess
from typing import Final

from bench.__main__ import CONNECTIONS, on_processor, script_of, start_kernel, wait_until_ready
from kernel.bench.sampler import resident_mib

BLOCK_S: Final = 5
MILLION: Final = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.endurance", description=__doc__)
    parser.add_argument("--requests", type=int, default=200_000)
    options = parser.parse_args()
    peer = start_kernel()
    try:
        wait_until_ready(peer)
        print(f"idle                {resident_mib(peer.process.pid):7.2f} MiB")
        served, seen = 0, []
        while served < options.requests:
            with script_of(peer) as script:
                command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{BLOCK_S}s", "-s", script, peer.url]
                text = subprocess.run(on_processor("1", command), capture_output=True, text=True, check=True).stdout
            found = re.search(r"(\d+) requests in", text)
            assert found is not None, text
            served += int(found[1])
            seen.append((served, resident_mib(peer.process.pid)))
            print(f"after {served:9,} requests {seen[-1][1]:7.2f} MiB", flush=True)
        later = seen[len(seen) // 2 :]
        if len(later) > 1:
            slope = statistics.linear_regression(*zip(*later, strict=True)).slope
            print(f"slope of the later half: {slope * MILLION:+.2f} MiB per million requests")
    finally:
        peer.process.send_signal(signal.SIGTERM)
        peer.process.wait(timeout=30)


if __name__ == "__main__":
    main()
