"""Who coordinates a workspace, by what its lock file and its settings say (R135-R149). Does no I/O.

There is one answer or none: a delegate never looks for another coordinator, and never does the work itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from kernel.errors import ToolError
from kernel.json_text import read_json

ROUTE: Final = "/plugin/private/siyuan-plugins-mcp-sisyphus"
SETTINGS_PATH: Final = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/mcpHttpSettings"
NOTHING_DONE: Final[dict[str, Any]] = {"success": False, "writeAttempted": False, "writeExecuted": False}
_WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
_START_ONE: Final = "Start one with: sisyphus-kernel serve"


class CoordinatorUnavailable(Exception):
    """There is nobody to delegate to, or nobody who takes it; nothing was sent, or nothing of it was carried out."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The one coordinator. ``origin``: scheme, host and port; ``token``: the kernel's, or empty."""

    origin: str
    token: str = ""

    def headers(self) -> dict[str, str]:
        """The credential; control requests must carry the same as the call (R230)."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL; path, query and fragment are dropped, a wildcard address is this machine.

    Raises:
        CoordinatorUnavailable: it is no http or https URL.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise CoordinatorUnavailable(f"{url} is not an address") from None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise CoordinatorUnavailable(f"{url} is not an address: write http://127.0.0.1:6806")
    host = parts.hostname or ""
    host = _WILDCARDS.get(host) or (f"[{host}]" if ":" in host else host)
    return f"{parts.scheme}://{host}" + ("" if port is None else f":{port}")


def from_lock(place: str, options: str, owner_url: str | None, token: str, *, is_held: bool) -> Coordinator:
    """The coordinator of a workspace or a remote SiYuan (``place``). ``options``: what ``serve`` is told for it.
    ``owner_url``: what the lock file says, None where it says nothing.

    Raises:
        CoordinatorUnavailable: nobody holds the lock; what a dead owner left in the file is not believed.
    """
    if not is_held:
        raise CoordinatorUnavailable(f"no kernel serves {place}. {_START_ONE} {options}")
    if not owner_url:
        raise CoordinatorUnavailable(f"the kernel that holds {place} does not say where it answers")
    return Coordinator(origin_of(owner_url), token)


def check_settings(content: bytes | None) -> None:
    """What mcpHttpSettings says of the endpoint; only an explicit false closes it, whatever the listener is (R140-R142).

    Raises:
        CoordinatorUnavailable: it is switched off, and this product has no second coordinator.
    """
    try:
        settings = read_json(content or b"{}")
    except ValueError:
        return
    if isinstance(settings, dict) and settings.get("kernelEndpointEnabled") is False:
        raise CoordinatorUnavailable("the kernel endpoint is switched off (kernelEndpointEnabled in mcpHttpSettings)")


class Ownership:
    """Remembers whom the first coordinated write went to; another one later is told, not used (R149).

    The owner is the place that answers. A kernel that was restarted there is the same owner: it has the same ledger,
    and an old credential meets ``preflight_lease_invalid``.
    """

    def __init__(self) -> None:
        self._first: Coordinator | None = None

    def check(self, found: Coordinator) -> None:
        """Raises ToolError (``write_coordinator_changed``)."""
        if self._first is None:
            self._first = found
        elif self._first.origin != found.origin:
            raise ToolError(
                "write_coordinator_changed",
                f"The coordinator was {self._first.origin} and is {found.origin} now; nothing was sent.",
                outer={**NOTHING_DONE, "transactionState": "rejected"},
            )


def check_versions(coordinator: Coordinator, spoken: str, served: Any) -> None:
    """Whether the coordinator serves the revision that is spoken here; ``served``: what it said of itself.

    Raises:
        CoordinatorUnavailable: it does not, and both sides are named. There is no falling back to another era.
    """
    versions = [str(one) for one in served] if isinstance(served, list) else []
    if spoken not in versions:
        names = ", ".join(versions) or "no revision that it names"
        raise CoordinatorUnavailable(f"{coordinator.origin} speaks {names}, and this program {spoken}")


def unavailable(error: CoordinatorUnavailable, *, is_coordinated: bool) -> ToolError:
    """The error that a call ends with. Reads have no coordinator to miss: their note kernel is not there."""
    if not is_coordinated:
        return ToolError("host_unavailable", str(error))
    outer = {**NOTHING_DONE, "transactionState": "rejected"}
    return ToolError("write_coordinator_unavailable", str(error), outer=outer)
