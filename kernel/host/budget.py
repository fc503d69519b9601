"""What one read may cost: host calls and decoded bytes, latched at the first excess (R266-R274). Does no I/O."""

from __future__ import annotations

from typing import Final

from kernel.errors import ToolError
from kernel.host.limits import READ_BYTES_MAX, READ_REQUESTS_MAX

_RECOVERY: Final = {"advancePage": False, "narrowQuery": True, "smallerPage": True}


class ReadBudget:
    """The budget of one ordinary read action. ``deadline``: monotonic seconds, compared, never waited for."""

    def __init__(
        self,
        requests_max: int = READ_REQUESTS_MAX,
        bytes_max: int = READ_BYTES_MAX,
        *,
        deadline: float | None = None,
    ) -> None:
        self._requests_max = requests_max
        self._bytes_max = bytes_max
        self._deadline = deadline
        self._excess: ToolError | None = None
        self.requests = 0
        self.bytes = 0

    def allow_bytes(self, extra: int) -> None:
        """A further allowance for one known purpose (an image)."""
        self._bytes_max += extra

    def charge_request(self, now: float) -> None:
        """Count one host call about to be sent, each retry as well. Raises ToolError once anything was exceeded."""
        if self._excess is not None:
            raise self._excess
        if self._deadline is not None and now >= self._deadline:
            self._exceed("read_deadline_exceeded", "The read took longer than its deadline.")
        self.requests += 1
        if self.requests > self._requests_max:
            self._exceed("read_budget_exceeded", f"The read needs more than {self._requests_max} host calls.")

    def charge_bytes(self, count: int) -> None:
        """Count decoded bytes of an answer."""
        self.bytes += count
        if self.bytes > self._bytes_max:
            self._exceed("read_budget_exceeded", f"The read returns more than {self._bytes_max} bytes.")
        if self._excess is not None:
            raise self._excess

    def check(self) -> None:
        """Raise what was exceeded before: a handler that swallowed the error still cannot return a part (R270)."""
        if self._excess is not None:
            raise self._excess

    def _exceed(self, code: str, message: str) -> None:
        self._excess = ToolError(
            code, message, outer={"success": False, "complete": False}, recovery=dict(_RECOVERY), **self.spent()
        )
        raise self._excess

    def spent(self) -> dict[str, int]:
        """Counts for the error and for ``/health``."""
        return {"requests": self.requests, "bytes": self.bytes}
