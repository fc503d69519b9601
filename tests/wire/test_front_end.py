"""SiYuan's own web interface on this kernel, where a distribution (``SISYPHUS_FRONTEND_WD``) and a browser are there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wire.frontend import run

TOLD_S_MAX = 600


@pytest.mark.slow
def test_the_front_end_shows_what_it_shows_on_the_real_kernel() -> None:
    folder = os.environ.get("SISYPHUS_FRONTEND_WD", "")
    try:
        run.distribution(folder)
        run.browser("")
    except run.Absent as absent:
        pytest.skip(str(absent))
    command = [sys.executable, str(Path(run.__file__)), "--wd", folder]
    told = subprocess.run(command, capture_output=True, text=True, timeout=TOLD_S_MAX, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(run.Absent, match="no distribution"):
        run.distribution("")
    with pytest.raises(run.Absent, match=r"holds no stage/build/desktop/index\.html"):
        run.distribution(str(tmp_path))
    with pytest.raises(run.Absent, match="no browser: none-such is not installed"):
        run.browser("none-such")


def test_a_difference_names_step_and_part() -> None:
    expected = [{"step": "boot", "shown": ["a"], "errors of the first": []}]
    assert not list(run.differences(expected, expected))
    found = [{**expected[0], "shown": ["b"]}]
    assert list(run.differences(expected, found)) == ["boot, shown:\n    expected ['a']\n    found    ['b']"]
    assert list(run.differences(expected, [])) == ["other steps"]


def test_what_comes_by_the_clock_makes_no_difference() -> None:
    requests = ["POST /api/block/getDocInfo 200 0"]
    by_the_clock = ["POST /api/notebook/touchEncryptedNotebooks 200 0"]
    expected = [{"step": "undo", "requests of the first": [*requests, *by_the_clock]}]
    assert not list(run.differences(expected, [{"step": "undo", "requests of the first": requests}]))
    assert list(run.differences(expected, [{"step": "undo", "requests of the first": by_the_clock}]))
