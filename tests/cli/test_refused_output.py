"""Output that nobody takes, and arguments that are no text: an exit code and one line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from kernel.cli import Commands, main
from tests.cli.running import ROOT

NO_TEXT = os.fsdecode(b"N\xff")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX streams and arguments")


def run(words: list[str], **streams: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "kernel", *words]
    return subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, timeout=60, check=False, **streams)  # type: ignore[call-overload,no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["lab", "list"]])
def test_a_full_disk_behind_the_output_is_said_in_one_line(words: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this machine has no full device")
    with open("/dev/full", "wb") as full:
        ended = run(words, stdout=full)
    assert (ended.returncode, ended.stderr.count(b"\n")) == (1, 1)
    assert b"the output cannot be written" in ended.stderr


@pytest.mark.slow
def test_a_closed_output_is_no_trouble() -> None:
    ended = run(["lab", "list"], preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "words",
    [
        ["import", ".", "--notebook", NO_TEXT],
        ["import", ".", f"--notebook={NO_TEXT}"],
        ["serve", "--host", NO_TEXT],
        ["ledger", "show", NO_TEXT],
    ],
)
def test_what_is_no_text_is_a_wrong_argument(words: list[str]) -> None:
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    assert "it is not UTF-8" in ended.output


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    place = os.path.join(str(tmp_path), NO_TEXT)
    ended = CliRunner().invoke(main, ["ledger", "list", "--workspace", place])
    assert "it is not UTF-8" not in ended.output


@pytest.mark.parametrize(("number", "told"), [(32, ""), (28, "the output cannot be written")])
def test_output_that_is_refused_inside_a_nursery_ends_the_command(number: int, told: str) -> None:
    group = Commands("top")

    @group.command("prints")
    def prints() -> None:
        async def work() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(refuse)

        async def refuse() -> None:
            raise OSError(number, "refused")

        trio.run(work)

    group.get_command = lambda ctx, name: group.commands.get(name)  # type: ignore[method-assign]
    ended = CliRunner().invoke(group, ["prints"])
    assert ended.exit_code == 1
    assert told in ended.output
    assert "Traceback" not in ended.output
