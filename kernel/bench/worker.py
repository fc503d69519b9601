"""One process of the generator: ``python -m kernel.bench.worker``. An order on standard input, a tally on standard output.

It connects, says ``ready``, waits for the line with the start time, and gives load. Shell.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final

from kernel.bench.calls import Address
from kernel.bench.generator import Generator, Load
from kernel.bench.workloads import Place, Work

_NS: Final = 1_000_000_000


def main() -> None:
    order = json.loads(sys.stdin.readline())
    pin(order["processor"])
    address, place = Address(**order["address"]), Place(**order["place"])
    first, count = order["first"], order["connections"]
    works = [
        Work(order["workload"], address, place, first + index, Random(f"{order['seed']}/{first + index}"))
        for index in range(count)
    ]
    # The load is known only once the start is; connections are opened before that.
    generator = Generator(address.host, address.port, [work.begin for work in works], time.perf_counter_ns)
    generator.connect()
    say("ready")
    start_ns = int(sys.stdin.readline())
    spent = os.times()
    tally = generator.run(load_of(order, start_ns))
    used = os.times()
    told = tally.as_json()
    told["processorS"] = used.user - spent.user + used.system - spent.system
    say(json.dumps(told))


def load_of(order: dict[str, Any], start_ns: int) -> Load:
    """The order's times as the machine's monotonic nanoseconds."""
    measure_ns = start_ns + int(order["warmUpS"] * _NS)
    gap = gaps(order["ratePerS"], order["arrivals"], Random(f"{order['seed']}/arrivals/{order['first']}"))
    return Load(start_ns, measure_ns, measure_ns + int(order["durationS"] * _NS), gap, order["operationsMax"])


def gaps(rate_per_s: float, arrivals: str, chance: Random) -> Callable[[], int] | None:
    """Nanoseconds between two intended operations: ``poisson`` or ``even``; None is a closed loop."""
    if not rate_per_s:
        return None
    if arrivals == "even":
        gap_ns = max(1, int(_NS / rate_per_s))
        return lambda: gap_ns
    return lambda: int(chance.expovariate(rate_per_s) * _NS)


def pin(processor: int | None) -> None:
    """Keep this process on one processor, where that can be said."""
    if processor is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {processor})


def say(line: str) -> None:
    """One line to who has given the order."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
