"""The two jobs of an import from Obsidian: look at the vault, and bring it in. Others run after each of its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import trio

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, run_handler
from kernel.siyuan.kernel import Call
from kernel.siyuan.vault_tasks import VaultTask, VaultTasks
from kernel.workspace.boxes import box_json
from kernel.workspace.files import StorageError, UnsafePath
from kernel.workspace.imports.vault.analysis import NO_NOTES, analyzed
from kernel.workspace.imports.vault.files import CONF_FOLDER, VaultFiles, VaultRefusal
from kernel.workspace.imports.vault.notebook import (
    VaultImport,
    check_unchanged,
    free_name,
    markdown_context,
    staged,
    written,
)
from kernel.workspace.markdown.imported import imported_blocks
from kernel.workspace.names import base_name, clean_path
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

_PATH: Final = "/api/import/startObsidianVaultImport"
_FAILED: Final = "Import failed"
_ANALYSIS_FAILED: Final = "Failed to analyze the Obsidian Vault"
_IMPORT_FAILED: Final = "Failed to import the Obsidian Vault"
_UNREADABLE: Final = "Cannot read the selected Obsidian Vault"
_NOT_A_FOLDER: Final = "The selected path is not a directory"
_UNSAFE: Final = "The selected Vault path is not supported; select a directory below the workspace's data folder"
_NO_CONF: Final = "Only Obsidian Vaults using the default .obsidian directory are supported"
_NO_NOTES: Final = "The selected Vault does not contain a readable non-hidden Markdown file"
_STAGED_PERCENT: Final = (10, 70)


class _NotAVault(Exception):
    """A path that is no vault of this workspace, in the kernel's words."""


def tasks_of(kernel: SiyuanKernel) -> VaultTasks:
    found = kernel.state.setdefault("vault_tasks", VaultTasks())
    assert isinstance(found, VaultTasks)
    return found


def start_analysis(kernel: SiyuanKernel, task: VaultTask, path: str) -> None:
    """Look at the vault at a path of the machine."""
    kernel.jobs.start(lambda: _analyze(kernel, task, path))


def start_import(kernel: SiyuanKernel, task: VaultTask, name: str) -> None:
    """Bring an analysed vault in as a notebook of this name."""
    kernel.jobs.start(lambda: _import(kernel, task, name))


async def _analyze(kernel: SiyuanKernel, task: VaultTask, path: str) -> None:
    tasks = tasks_of(kernel)
    if not task.at("analyzing", 1, "Analyzing Obsidian Vault"):
        return
    try:
        task.files = VaultFiles(kernel.workspace.files, _vault_folder(kernel, path))
        await _look_at(kernel, tasks, task, task.files)
    except _NotAVault as error:
        tasks.end(task, "failed", _FAILED, kernel.clock.now(), error=str(error))
    except (VaultRefusal, StorageError, OSError, UnsafePath) as error:
        words = _NO_NOTES if str(error) == NO_NOTES else _ANALYSIS_FAILED
        tasks.end(task, "failed", _FAILED, kernel.clock.now(), error=words)


async def _look_at(kernel: SiyuanKernel, tasks: VaultTasks, task: VaultTask, files: VaultFiles) -> None:
    context = markdown_context(kernel.workspace)
    name = base_name(files.folder)
    for step in analyzed(files, lambda text: imported_blocks(text, context), context.new_id):
        await trio.lowlevel.checkpoint()
        if isinstance(step, int):
            if not task.at("analyzing", step, "Analyzing Markdown syntax"):
                return
            continue
        shown = step.shown(name, kernel.workspace.files.absolute(files.folder))
        tasks.ready(task, step, shown, kernel.clock.now())


async def _import(kernel: SiyuanKernel, task: VaultTask, name: str) -> None:
    tasks = tasks_of(kernel)
    files, analysis = task.files, task.analysis
    if files is None or analysis is None:
        return  # cancelled before it began
    importing = VaultImport(analysis)
    try:
        check_unchanged(files, analysis)
        steps = len(analysis.plan.notes) + len(analysis.plan.attachments)
        if not await _carried_on(task, staged(kernel.workspace, files, importing), steps):
            return
    except (VaultRefusal, StorageError, OSError, UnsafePath):
        tasks.end(task, "failed", _FAILED, kernel.clock.now(), error=_IMPORT_FAILED)
        return
    if not task.at("writing", 86, "Writing notebook"):
        return
    answer = await run_handler(Call(kernel, _PATH, Arguments({})), lambda call: _write(call, importing, name))
    assert isinstance(answer, Envelope), "a notebook's result is no raw answer"
    if answer.code == 0:
        task.result = answer.data
        tasks.end(task, "completed", "Import completed", kernel.clock.now())
        return
    task.result = importing.shown("", name) | {"incomplete": answer.is_in_doubt, "failedStage": "writing"}
    tasks.end(task, "failed", _FAILED, kernel.clock.now(), error=_IMPORT_FAILED)


async def _carried_on(task: VaultTask, steps: Iterator[None] | Iterable[None], count: int) -> bool:
    """Whether all steps were done before somebody cancelled the task."""
    if not task.at("staging", _STAGED_PERCENT[0], "Converting Markdown"):
        return False
    for number, _ in enumerate(steps, 1):
        await trio.lowlevel.checkpoint()
        if not task.at("staging", _percent(_STAGED_PERCENT, number, count), "Converting Markdown"):
            return False
    return True


def _percent(span: tuple[int, int], done: int, count: int) -> int:
    return span[0] + done * span[1] // max(count, 1)


def _write(call: Call, importing: VaultImport, name: str) -> dict[str, object]:
    workspace = call.kernel.workspace
    name = free_name(workspace, name)
    box = written(workspace, importing, name)
    workspace.emit("createnotebook", {"box": box_json(workspace, workspace.box(box)), "existed": False})
    return importing.shown(box, name)


def _vault_folder(kernel: SiyuanKernel, path: str) -> str:
    """The folder of the workspace at a path of the machine. Raises _NotAVault."""
    files = kernel.workspace.files
    root, absolute = files.absolute("").rstrip("/"), clean_path(os.path.abspath(path))
    if not absolute.startswith(f"{root}/"):
        if not os.path.lexists(absolute):
            raise _NotAVault(_UNREADABLE)
        raise _NotAVault(_UNSAFE if os.path.isdir(absolute) else _NOT_A_FOLDER)
    inner = absolute[len(root) + 1 :]
    if not files.exists(inner):
        raise _NotAVault(_UNREADABLE)
    if not files.is_dir(inner):
        raise _NotAVault(_NOT_A_FOLDER)
    is_link = os.path.realpath(absolute) != os.path.join(os.path.realpath(root), inner)
    if is_link or not inner.startswith(f"{DATA}/"):
        raise _NotAVault(_UNSAFE)
    if not files.is_dir(f"{inner}/{CONF_FOLDER}"):
        raise _NotAVault(_NO_CONF)
    return inner
