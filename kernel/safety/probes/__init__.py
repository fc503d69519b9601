"""Probes: which host reads make the state that a strict action must find unchanged.

``observe`` is used for the preflight, the last check and each read-back. It reads live documents, never SQL rows, and a
read that fails is an error, never an absence (R72, R73).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernel.host.base import Host
from kernel.safety.intent import Observation
from kernel.safety.offload import Offload
from kernel.safety.probes.reading import Reading
from kernel.safety.probes.table import PROBES
from kernel.safety.targets import observation

__all__ = ["PROBES", "observe"]


async def observe(
    host: Host, tool: str, action: str, arguments: Mapping[str, Any], *, offload: Offload | None = None
) -> Observation:
    """What ``tool.action`` with these business arguments is about, as it is now.

    An action without an entry in the table (a pure addition) has no state: nothing is read.

    Raises:
        HostError: the host could not be read.
        ToolError: it answered something that cannot be a state.
    """
    probe = PROBES.get((tool, action))
    if probe is None:
        return observation(arguments, None)
    return await probe(Reading(host, offload), arguments)
