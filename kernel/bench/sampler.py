"""Looks at a kernel's lanes while it is under load: ``GET …/health``, a few times a second. Shell: a thread."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any, Final

from kernel.bench.client import Asking
from kernel.bench.limits import SAMPLE_S
from kernel.bench.targets import Target
from kernel.bench.wire import BadAnswer

_FIELDS: Final = {
    "reads": "readsRunning",
    "mutations": "exclusiveRunning",
    "queued": "queued",
    "inFlight": "inFlight",
    "refused": "refused",
}


class Sampler:
    """A context manager; ``samples`` are rows of seconds since ``zero_ns`` and the counts of that moment."""

    def __init__(self, target: Target, asking: Asking, zero_ns: int, until_ns: int) -> None:
        self.samples: list[dict[str, float]] = []
        self.missed = 0  # looks that were not answered in time
        self._target = target
        self._asking = asking
        self._zero_ns = zero_ns
        self._until_ns = until_ns
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Sampler:
        if self._target.is_kernel:
            self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        if self._target.is_kernel:
            self._thread.join()

    def _run(self) -> None:
        look = self._target.address.get(self._target.health)
        wait_s = (self._zero_ns - time.perf_counter_ns()) / 1e9
        if wait_s > 0 and self._is_over.wait(wait_s):
            return
        while not self._is_over.wait(SAMPLE_S) and time.perf_counter_ns() < self._until_ns:
            try:
                queue = json.loads(self._asking.ask(look).body)["queue"]
            except (OSError, BadAnswer, ValueError, KeyError, TypeError):
                self._asking.close()
                self.missed += 1
                continue
            self.samples.append(self._row(queue))

    def _row(self, queue: dict[str, Any]) -> dict[str, float]:
        at = round((time.perf_counter_ns() - self._zero_ns) / 1e9, 3)
        return {"at": at, **{name: int(queue[field]) for name, field in _FIELDS.items()}}


def processor_s(pid: int) -> float:
    """User and system time of a process with all its threads; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Resident memory of a process; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    found = [line for line in lines if line.startswith("VmRSS:")]
    return round(int(found[0].split()[1]) / 1024, 1) if found else 0.0
