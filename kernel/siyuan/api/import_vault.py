"""/api/import/*ObsidianVault*: an Obsidian vault becomes a notebook, in a task that clients ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.vault_jobs import start_analysis, start_import, tasks_of
from kernel.workspace.names import without_invisible

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


def start_vault_analysis(call: Call) -> Any:
    """Begin to look at a vault. The real kernel reads any folder of the machine; ours those of the workspace."""
    kernel = call.kernel
    path = call.arguments.required_str("localPath")
    task = tasks_of(kernel).begin(kernel.workspace.new_id(), kernel.clock.now())
    start_analysis(kernel, task, path)
    return task.shown()


def get_vault_task(call: Call) -> Any:
    return tasks_of(call.kernel).find(_task_id(call), call.kernel.clock.now()).shown()


def start_vault_import(call: Call) -> Any:
    """Begin to import a vault that has been analysed."""
    kernel = call.kernel
    task_id = call.arguments.required_str("taskID")
    name = call.arguments.required_str("notebookName")
    task = tasks_of(kernel).begin_import(_checked(task_id), kernel.clock.now())
    assert task.shown_analysis is not None, "a task that is ready has been analysed"
    start_import(kernel, task, without_invisible(name).strip() or str(task.shown_analysis["notebookName"]))
    return task.shown()


def _task_id(call: Call) -> str:
    return _checked(call.arguments.required_str("taskID"))


def _checked(task_id: str) -> str:
    if not is_node_id(task_id):
        raise ApiError("invalid ID argument")
    return task_id


def cancel_vault_task(call: Call) -> Any:
    return tasks_of(call.kernel).cancel(_task_id(call), call.kernel.clock.now()).shown()


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/import/startObsidianVaultAnalysis": start_vault_analysis,
    "/api/import/getObsidianVaultTask": get_vault_task,
    "/api/import/startObsidianVaultImport": start_vault_import,
    "/api/import/cancelObsidianVaultTask": cancel_vault_task,
}
