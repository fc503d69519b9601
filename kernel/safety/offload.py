"""Where normalising and hashing of large states runs: not in the event loop's thread. Shell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import trio

from kernel.safety.digest import weight
from kernel.safety.limits import HASH_INLINE_BYTES_MAX

T = TypeVar("T")


class Offload(Protocol):
    """Runs a synchronous function of a JSON-like value."""

    async def run(self, function: Callable[[Any], T], value: Any) -> T: ...


class ThreadOffload:
    """Small values at once, large ones in a worker thread."""

    async def run(self, function: Callable[[Any], T], value: Any) -> T:
        if weight(value) <= HASH_INLINE_BYTES_MAX:
            return function(value)
        return await trio.to_thread.run_sync(function, value)


class InlineOffload:
    """Everything at once: the deterministic double of a simulation."""

    async def run(self, function: Callable[[Any], T], value: Any) -> T:
        return function(value)
