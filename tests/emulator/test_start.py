"""``serve --faults``: a plan that is none keeps the kernel from starting, with its line, its reason and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.app import run_app
from kernel.settings import Settings


@pytest.mark.parametrize(
    ("name", "content", "host_url", "reason"),
    [
        ("p.toml", '\n[[rules]]\npoint = "http.head"\ndo = "melt"\n', "", "line 4: do must be one of"),
        ("p.json", '[{"point": "x", "do": "drop"}]', "", "line 1: no fault point is named 'x'"),
        ("p.json", "[", "", "line 1: not JSON"),
        (
            "p.json",
            '[{"point": "host.before:*", "do": "stale_index"}]',
            "http://127.0.0.1:1",
            "needs the embedded notes",
        ),
    ],
)
def test_a_wrong_plan_is_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, host_url: str, reason: str
) -> None:
    plan = tmp_path / name
    plan.write_text(content)
    settings = Settings(tmp_path / "w", port=0, faults=plan, host_url=host_url, state_dir=tmp_path / "s")
    assert run_app(settings) == 2
    told = capsys.readouterr().err
    assert reason in told
    assert told.count("\n") == 1
