"""``import`` on a workspace that no kernel holds, and with wrong arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernel.cli import main
from kernel.safety.lock import CoordinatorLock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "a.md").write_text("one [b](sub/b.md)")
    (docs / "sub" / "b.md").write_text("two ![p](p.png)")
    (docs / "sub" / "p.png").write_bytes(b"png")
    return docs


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["import", *arguments])
    return result.exit_code, result.output


def test_a_folder_is_brought_into_a_new_notebook(folder: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "workspace")
    code, output = run(str(folder), "--notebook", "Docs", "--workspace", place, "--json")
    told = json.loads(output)
    assert (code, told["documents"], told["assets"], told["failed"], told["through"]) == (0, 4, 1, [], "workspace")
    again, output = run(str(folder), "--notebook", told["notebook"], "--workspace", place)
    assert again == 0
    assert output.startswith("4 documents and 1 assets in ")


def test_files_that_cannot_be_read_are_named_and_the_rest_is_brought_in(folder: Path, tmp_path: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff\xfe")
    code, output = run(str(folder), "--notebook", "Docs", "--workspace", str(tmp_path / "w"), "--json")
    told = json.loads(output)
    assert (code, told["documents"], [one["path"] for one in told["failed"]]) == (1, 4, ["bad.md"])


def test_a_workspace_in_other_hands_is_left_alone(folder: Path, tmp_path: Path) -> None:
    lock = CoordinatorLock.acquire(tmp_path / "w" / ".lock")
    try:
        code, output = run(str(folder), "--notebook", "Docs", "--workspace", str(tmp_path / "w"), "--json")
    finally:
        lock.release()
    assert code == 1
    assert "give its address with --url" in json.loads(output)["error"]
    assert not (tmp_path / "w" / "data").exists()


def test_wrong_arguments_end_with_2(folder: Path) -> None:
    assert run(str(folder))[0] == 2
    assert run(str(folder), "--notebook", "x", "--url", "http://localhost:1", "--workspace", "w")[0] == 2


def test_a_kernel_that_does_not_answer_is_said(folder: Path) -> None:
    code, output = run(str(folder), "--notebook", "x", "--url", "http://127.0.0.1:1", "--json")
    assert code == 1
    assert "127.0.0.1:1" in json.loads(output)["error"]
