"""/api/import/*ObsidianVault*: the tasks, whatever happens to them and to the vault."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from kernel.siyuan.limits import VAULT_READY_S_MAX, VAULT_RESULT_S_MAX
from kernel.siyuan.vault_tasks import NOT_READY, RUNS_ALREADY, TOO_LATE, UNKNOWN, VaultTasks
from kernel.workspace.files import StorageError
from tests.siyuan.kernel_in_memory import MemoryKernel

VAULT = "data/vaults/V"
START = "import/startObsidianVaultAnalysis"
GET = "import/getObsidianVaultTask"
IMPORT = "import/startObsidianVaultImport"
CANCEL = "import/cancelObsidianVaultTask"


@asynccontextmanager
async def jobs(kernel: MemoryKernel) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        await nursery.start(kernel.kernel.jobs.run)
        yield
        kernel.kernel.jobs.close()


async def put(kernel: MemoryKernel, **files: str) -> None:
    for name, text in {".obsidian/app.json": "{}", **files}.items():
        kernel.workspace.files.write(f"{VAULT}/{name}", text.encode())
    await kernel.kernel.durable.settle()


def path_of(kernel: MemoryKernel, inner: str = VAULT) -> str:
    return kernel.workspace.files.absolute(inner)


async def started(kernel: MemoryKernel, inner: str = VAULT) -> str:
    """Begin an analysis; its task."""
    return str((await kernel.call(START, localPath=path_of(kernel, inner)))["taskID"])


async def analyzed(kernel: MemoryKernel) -> str:
    task = await started(kernel)
    await wait_all_tasks_blocked()
    assert (await kernel.call(GET, taskID=task))["state"] == "ready"
    return task


async def ended(kernel: MemoryKernel, task: str) -> dict[str, Any]:
    await wait_all_tasks_blocked()
    return dict(await kernel.call(GET, taskID=task))


async def test_a_vault_becomes_a_notebook(kernel: MemoryKernel) -> None:
    await put(kernel, **{"a.md": "[[b]] ![[p.png]]", "b.md": "text", "p.png": "picture"})
    async with jobs(kernel):
        task = await analyzed(kernel)
        await kernel.call(IMPORT, taskID=task, notebookName="V")
        shown = await ended(kernel, task)
    assert (shown["state"], shown["progress"]) == ("completed", 100)
    result = shown["result"]
    assert (result["convertedLinkCount"], result["importedAttachmentCount"], result["incomplete"]) == (2, 1, False)
    assert kernel.told("createnotebook")[0]["box"]["id"] == result["notebookID"]
    found = await kernel.call("filetree/getIDsByHPath", notebook=result["notebookID"], path="/a")
    assert "((" in (await kernel.call("block/getBlockKramdown", id=found[0]))["kramdown"]
    restarted = kernel.restarted()
    assert await restarted.call("filetree/getIDsByHPath", notebook=result["notebookID"], path="/a") == found


async def test_the_next_analysis_takes_the_place_of_one_before_its_import(kernel: MemoryKernel) -> None:
    await put(kernel, **{"a.md": "text"})
    async with jobs(kernel):
        first = await started(kernel)
        second = await started(kernel)
        assert (await ended(kernel, first))["state"] == "cancelled"
        assert (await ended(kernel, second))["state"] == "ready"
        await kernel.call(IMPORT, taskID=second, notebookName="V")
        assert await kernel.refusal(START, localPath=path_of(kernel)) == RUNS_ALREADY
        assert (await ended(kernel, second))["state"] == "completed"
        assert await kernel.refusal(IMPORT, taskID=second, notebookName="V") == NOT_READY


async def test_an_import_can_be_cancelled_until_it_writes(kernel: MemoryKernel) -> None:
    await put(kernel, **{f"{number}.md": "text" for number in range(20)})
    async with jobs(kernel):
        task = await analyzed(kernel)
        await kernel.call(IMPORT, taskID=task, notebookName="V")
        await trio.lowlevel.checkpoint()
        await kernel.call(CANCEL, taskID=task)
        shown = await ended(kernel, task)
        assert (shown["state"], "result" in shown) == ("cancelled", False)
        assert (await kernel.call("notebook/lsNotebooks"))["notebooks"] == []
        answer = await kernel.answer(CANCEL, taskID=task)
        assert (answer.code, answer.msg, answer.data["state"]) == (-1, TOO_LATE, "cancelled")


async def test_a_vault_that_has_changed_is_not_imported(kernel: MemoryKernel) -> None:
    await put(kernel, **{"a.md": "text"})
    async with jobs(kernel):
        for change in ({"a.md": "other text"}, {"b.md": "new"}):
            task = await analyzed(kernel)
            await put(kernel, **change)
            await kernel.call(IMPORT, taskID=task, notebookName="V")
            shown = await ended(kernel, task)
            assert (shown["state"], shown["error"]) == ("failed", "Failed to import the Obsidian Vault")
        assert (await kernel.call("notebook/lsNotebooks"))["notebooks"] == []


async def test_a_note_on_which_the_kernel_gives_up_fails_the_task(kernel: MemoryKernel) -> None:
    bad = 'x\n{: id="bad"}'
    async with jobs(kernel):
        await put(kernel, **{"a.md": bad})
        shown = await ended(kernel, await started(kernel))
        assert (shown["state"], shown["error"]) == ("failed", "Failed to analyze the Obsidian Vault")
        await put(kernel, **{"a.md": "#".ljust(len(bad))})
        task = await analyzed(kernel)
        # Of the same size in the same moment: nothing but its text tells that it is another one.
        await put(kernel, **{"a.md": bad})
        await kernel.call(IMPORT, taskID=task, notebookName="V")
        shown = await ended(kernel, task)
        assert (shown["state"], shown["error"]) == ("failed", "Failed to import the Obsidian Vault")


async def test_too_much_at_once_is_refused(kernel: MemoryKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(kernel, **{"a.md": "12345", "b.bin": "67890"})
    async with jobs(kernel):
        for limit, state in ((9, "failed"), (10, "completed")):
            monkeypatch.setattr("kernel.workspace.imports.vault.notebook.IMPORT_BYTES_MAX", limit)
            task = await analyzed(kernel)
            await kernel.call(IMPORT, taskID=task, notebookName="V")
            assert (await ended(kernel, task))["state"] == state


def test_a_task_that_is_over_stays_over() -> None:
    tasks = VaultTasks()
    task = tasks.begin("20240101000000-abcdefg", 0)
    tasks.cancel(task.id, 0)
    tasks.end(task, "failed", "late", 1)
    tasks.ready(task, None, {"late": 1}, 1)  # type: ignore[arg-type]
    assert (task.state, task.message, task.shown_analysis) == ("cancelled", "Import cancelled", None)


async def test_what_is_over_is_told_for_a_while_only(kernel: MemoryKernel) -> None:
    await put(kernel, **{"a.md": "text"})
    async with jobs(kernel):
        task = await analyzed(kernel)
        kernel.clock.advance(VAULT_READY_S_MAX)
        assert await kernel.refusal(IMPORT, taskID=task, notebookName="V") == NOT_READY
        shown = await kernel.call(GET, taskID=task)
        assert (shown["state"], shown["message"]) == ("cancelled", "Analysis expired")
        kernel.clock.advance(VAULT_RESULT_S_MAX)
        assert await kernel.refusal(GET, taskID=task) == UNKNOWN


async def test_a_disk_that_refuses_fails_the_task(kernel: MemoryKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(kernel, **{"a.md": "text"})

    async def refuse() -> None:
        raise StorageError("no space left on device")

    async with jobs(kernel):
        task = await analyzed(kernel)
        await kernel.call(IMPORT, taskID=task, notebookName="V")
        monkeypatch.setattr(kernel.kernel.durable, "settle", refuse)
        await wait_all_tasks_blocked()
        monkeypatch.undo()
        shown = await kernel.call(GET, taskID=task)
    assert (shown["state"], shown["result"]["failedStage"], shown["result"]["notebookID"]) == ("failed", "writing", "")


@pytest.mark.parametrize(
    ("inner", "error"),
    [
        ("data/none", "Cannot read the selected Obsidian Vault"),
        (f"{VAULT}/a.md", "The selected path is not a directory"),
        ("conf", "The selected Vault path is not supported; select a directory below the workspace's data folder"),
        ("data/vaults", "Only Obsidian Vaults using the default .obsidian directory are supported"),
    ],
)
async def test_other_places_are_refused(kernel: MemoryKernel, inner: str, error: str) -> None:
    await put(kernel, **{"a.md": "text"})
    kernel.workspace.files.write("conf/x", b"")
    async with jobs(kernel):
        shown = await ended(kernel, await started(kernel, inner))
    assert (shown["state"], shown["error"]) == ("failed", error)


@pytest.mark.parametrize(
    ("path", "error"), [("/", "not supported"), ("/nowhere/x", "Cannot read"), ("/etc/passwd", "not a dir")]
)
async def test_folders_outside_the_workspace_stay_unread(kernel: MemoryKernel, path: str, error: str) -> None:
    async with jobs(kernel):
        task = str((await kernel.call(START, localPath=path))["taskID"])
        assert error in (await ended(kernel, task))["error"]


async def test_jobs_begun_early_wait_for_the_kernel_to_run(kernel: MemoryKernel) -> None:
    await put(kernel, **{"a.md": "text"})
    task = await started(kernel)
    assert (await ended(kernel, task))["state"] == "queued"
    async with jobs(kernel):
        assert (await ended(kernel, task))["state"] == "ready"
