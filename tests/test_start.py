"""Whoever starts the kernel is told on standard error what could not be read, and nothing of it is overwritten."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kernel.app import DAMAGED_FILES_TOLD_MAX, EXIT_FAILED, open_app, run_app
from kernel.clock import SystemClock
from kernel.ids import SystemIds
from kernel.safety.folder import PLUGIN_STORAGE, storage_folder
from kernel.safety.open import LEDGER_FILE
from kernel.settings import Settings
from kernel.workspace.conf import BROKEN_CONF_PATH, CONF_PATH

BOX = "20240101000000-boxboxb"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    box = tmp_path / "data" / BOX / ".siyuan"
    box.mkdir(parents=True)
    (box / "conf.json").write_text('{"name": "Box", "closed": false}')
    (tmp_path / "conf").mkdir()
    return tmp_path


async def told_at_start(workspace: Path, caplog: pytest.LogCaptureFixture) -> list[str]:
    settings = Settings(workspace=workspace)
    with caplog.at_level(logging.WARNING):
        async with open_app(settings, SystemClock(), SystemIds()):
            pass
    return [record.getMessage() for record in caplog.records]


async def test_a_sound_workspace_starts_without_a_word(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert await told_at_start(workspace, caplog) == []


async def test_broken_settings_are_put_aside_and_named(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    (workspace / CONF_PATH).write_bytes(b'{"appearance": ')
    told = await told_at_start(workspace, caplog)
    assert told == [f"{CONF_PATH} could not be read: kept as {BROKEN_CONF_PATH}, all settings are new"]
    assert (workspace / BROKEN_CONF_PATH).read_bytes() == b'{"appearance": '


async def test_damaged_documents_are_named_up_to_the_bound(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = [workspace / "data" / BOX / f"20240101{n:06d}-abcdefg.sy" for n in range(DAMAGED_FILES_TOLD_MAX + 1)]
    for file in files:
        file.write_bytes(b'{"ID": "2024')
    told = await told_at_start(workspace, caplog)
    assert len(told) == DAMAGED_FILES_TOLD_MAX + 1
    assert told[0].startswith(f"a document cannot be read and is left as it is: {BOX}/{files[0].name}: ")
    assert told[-1] == "and 1 documents more"
    assert all(file.read_bytes() == b'{"ID": "2024' for file in files)


@pytest.mark.parametrize("copy", ["19990101000000-earlier", "20990101000000-laterrr"])
async def test_of_two_files_with_one_document_the_one_of_its_name_is_served_and_the_other_left_alone(
    workspace: Path, copy: str, caplog: pytest.LogCaptureFixture
) -> None:
    own = "20240101000001-abcdefg"
    told = '{"ID":"%s","Spec":"2","Type":"NodeDocument","Properties":{"id":"%s","title":"%s"},"Children":[]}'
    files = [workspace / "data" / BOX / f"{name}.sy" for name in (own, copy)]
    for file, title in zip(files, ("Own", "Copy"), strict=True):
        file.write_text(told % (own, own, title))
    before = [file.read_bytes() for file in files]
    with caplog.at_level(logging.WARNING):
        async with open_app(Settings(workspace=workspace), SystemClock(), SystemIds()) as app:
            assert app.kernel.workspace.entry(own).title == "Own"
    reason = f"it holds document {own}, and so does {BOX}/{own}.sy"
    assert [record.getMessage() for record in caplog.records] == [
        f"a document cannot be read and is left as it is: {BOX}/{copy}.sy: {reason}"
    ]
    assert [file.read_bytes() for file in files] == before


async def test_a_ledger_that_cannot_be_used_is_named(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    ledger = storage_folder(workspace) / LEDGER_FILE
    ledger.parent.mkdir(parents=True)
    ledger.write_bytes(b"no database at all, but long enough to be one" * 100)
    (told,) = await told_at_start(workspace, caplog)
    assert told.startswith(f"strict writes are refused until the ledger {ledger} can be used: ")
    assert ledger.read_bytes().startswith(b"no database at all")


@pytest.mark.parametrize("name", ["temp", "conf", f"{PLUGIN_STORAGE}/coordinator.lock"])
def test_a_workspace_that_cannot_be_opened_is_one_line_and_no_traceback(
    workspace: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".lock"):
        path.mkdir()
    else:
        if path.is_dir():
            path.rmdir()
        path.write_text("")
    assert run_app(Settings(workspace=workspace, port=0)) == EXIT_FAILED
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("sisyphus-kernel: ")
    assert str(path) in told[0] or "cannot be opened" in told[0]
