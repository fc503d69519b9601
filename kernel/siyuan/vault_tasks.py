"""[core] The life of an import from Obsidian: analysed, ready for a while, imported; its end is remembered for a while.

There is one at a time. Another analysis takes the place of one that has not gone on to the import.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.limits import VAULT_READY_S_MAX, VAULT_RESULT_S_MAX

if TYPE_CHECKING:
    from kernel.workspace.imports.vault.analysis import Analysis
    from kernel.workspace.imports.vault.files import VaultFiles

RUNS_ALREADY: Final = "An Obsidian Vault import task is already running"
UNKNOWN: Final = "The Obsidian Vault import task was not found or has expired"
TOO_LATE: Final = "The Obsidian Vault import task can no longer be cancelled"
NOT_READY: Final = "The Obsidian Vault analysis is not ready or has expired"

_BEFORE_IMPORT: Final = frozenset({"queued", "analyzing", "ready"})
_CANCELLABLE: Final = _BEFORE_IMPORT | {"revalidating", "staging"}
_OVER: Final = frozenset({"completed", "failed", "cancelled"})
_CANCELLED: Final = "Import cancelled"
_EXPIRED: Final = "Analysis expired"


@dataclass(slots=True)
class VaultTask:
    """One task as clients see it, and what its import needs."""

    id: str
    state: str = "queued"
    progress: int = 0
    message: str = "Waiting to analyze"
    error: str = ""
    shown_analysis: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    files: VaultFiles | None = None
    analysis: Analysis | None = None
    # When a ready task expires, and one that is over is forgotten.
    until_s: float | None = None

    @property
    def is_over(self) -> bool:
        return self.state in _OVER

    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "taskID": self.id,
            "state": self.state,
            "progress": self.progress,
            "message": self.message,
        }
        more = {"error": self.error, "analysis": self.shown_analysis, "result": self.result}
        return shown | {name: value for name, value in more.items() if value}

    def at(self, state: str, progress: int, message: str) -> bool:
        """The task goes on; False where it is over already."""
        if self.is_over:
            return False
        self.state, self.progress, self.message = state, progress, message
        return True


@dataclass(slots=True)
class VaultTasks:
    """All tasks of a kernel. Times are seconds of its clock."""

    known: dict[str, VaultTask] = field(default_factory=dict)
    active: str = ""

    def begin(self, task_id: str, now_s: float) -> VaultTask:
        """A new task. Raises ApiError while another one imports."""
        self._expire(now_s)
        active = self.known.get(self.active)
        if active is not None and active.state not in _BEFORE_IMPORT:
            raise ApiError(RUNS_ALREADY)
        if active is not None:
            self.end(active, "cancelled", _CANCELLED, now_s)
        task = self.known[task_id] = VaultTask(task_id)
        self.active = task_id
        return task

    def find(self, task_id: str, now_s: float) -> VaultTask:
        """Raises ApiError."""
        self._expire(now_s)
        if task_id not in self.known:
            raise ApiError(UNKNOWN)
        return self.known[task_id]

    def cancel(self, task_id: str, now_s: float) -> VaultTask:
        """Raises ApiError: it is too late."""
        task = self.find(task_id, now_s)
        if task.state not in _CANCELLABLE:
            raise ApiError(TOO_LATE, data=task.shown())
        self.end(task, "cancelled", _CANCELLED, now_s)
        return task

    def ready(self, task: VaultTask, analysis: Analysis, shown: dict[str, Any], now_s: float) -> None:
        """An analysis has come to its end."""
        if task.at("ready", 100, "Analysis completed"):
            task.analysis, task.shown_analysis = analysis, shown
            task.until_s = now_s + VAULT_READY_S_MAX

    def begin_import(self, task_id: str, now_s: float) -> VaultTask:
        """Raises ApiError: there is no such task, or it is not ready."""
        self._expire(now_s)
        task = self.known.get(task_id)
        if task is None or task.state != "ready":
            raise ApiError(NOT_READY)
        task.at("revalidating", 1, "Revalidating source files")
        task.until_s = None
        return task

    def end(self, task: VaultTask, state: str, message: str, now_s: float, *, error: str = "") -> None:
        """A task is over, whatever it was about."""
        if task.is_over:
            return
        task.state, task.message, task.error = state, message, error
        task.analysis = task.files = None
        task.until_s = now_s + VAULT_RESULT_S_MAX
        if state == "completed":
            task.progress = 100
        self.active = ""  # every task that is not over is the active one

    def _expire(self, now_s: float) -> None:
        for task in list(self.known.values()):
            if task.state == "ready" and task.until_s is not None and now_s >= task.until_s:
                self.end(task, "cancelled", _EXPIRED, task.until_s)
            if task.is_over and task.until_s is not None and now_s >= task.until_s:
                del self.known[task.id]
