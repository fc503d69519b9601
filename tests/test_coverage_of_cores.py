"""The check that every core is covered whole."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.coverage_of_cores import cores, main, missed

WHOLE = {"missing_lines": [], "missing_branches": []}


def test_the_cores_are_the_modules_that_say_so() -> None:
    found = cores(Path(__file__).parents[1])
    assert "scheduler/assignment.py" in found
    assert "kernel/workspace/edits.py" in found
    assert "scheduler/runner.py" not in found


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (WHOLE, []),
        (None, ["a.py: never imported"]),
        ({"missing_lines": [3, 9], "missing_branches": [[2, 3]]}, ["a.py: lines 3, 9"]),
        ({"missing_lines": [3], "missing_branches": [[2, 3], [5, -1]]}, ["a.py: lines 3; branches 5->-1"]),
        ({"missing_lines": [], "missing_branches": [[2, 4]]}, ["a.py: branches 2->4"]),
    ],
)
def test_what_is_missing_is_named(measured: dict[str, object] | None, said: list[str]) -> None:
    files = {"a.py": measured} if measured is not None else {}
    assert [str(one) for one in missed({"files": files}, ["a.py"])] == said


@pytest.mark.parametrize(
    ("files", "code"), [('{"kernel/a.py": {"missing_lines": [], "missing_branches": []}}', 0), ("{}", 1)]
)
def test_the_check_fails_when_a_core_is_not_covered_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: str, code: int
) -> None:
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "a.py").write_text('"""[core] A."""\n')
    (tmp_path / "kernel" / "shell.py").write_text('"""A shell."""\n')
    monkeypatch.setattr("sys.stdin", io.StringIO(f'{{"files": {files}}}'))
    monkeypatch.chdir(tmp_path)
    assert main() == code
    assert capsys.readouterr().out.splitlines()[-1] == f"{1 - code} of 1 cores are covered whole"
