"""Every command that the documents show is one that the command line takes: names, flags and values, up to its first act."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kernel.cli import main
from kernel.cli.call import ActionCommand
from kernel.cli.flags import arguments_of

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("README*.md"), *ROOT.glob("docs/*.md")]
PROGRAMS = re.compile(r"(?:^\$ |\| )((?:siyuan|sisyphus-kernel|python -m kernel) .*)$", re.MULTILINE)
SHELL = re.compile(r"^(?:\|\|?|&&?|;|\d?[<>].*)$")


def shown() -> list[tuple[str, str]]:
    """(document, command) of every line of a console."""
    found = [(path.name, line) for path in DOCUMENTS for line in PROGRAMS.findall(path.read_text(encoding="utf-8"))]
    return [(name, line) for name, line in found if "$(" not in line and not line.endswith("\\")]


def words(line: str) -> list[str]:
    """The words of our program; what the shell does with its output is not ours."""
    found = shlex.split(line, comments=True)[3 if line.startswith("python") else 1 :]
    end = next((at for at, word in enumerate(found) if SHELL.match(word)), len(found))
    return found[:end]


@pytest.mark.parametrize(("document", "line"), shown())
def test_a_command_of_the_documents_is_taken(
    document: str, line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[str] = []

    def note(command: click.Command, context: click.Context) -> Any:
        taken.append(command.name or "")
        if isinstance(command, ActionCommand):
            given = {name: value for name, value in context.params.items() if not name.startswith("own_")}
            arguments_of(command.action, given, given.pop("plain"))

    monkeypatch.setattr(click.Command, "invoke", note)
    monkeypatch.chdir(tmp_path)
    for word in words(line):
        name = word.removeprefix("@")
        if re.fullmatch(r"[\w-]+\.(?:md|toml|json|jsonl|py)", name):
            (tmp_path / name).write_text("{}")
        elif re.fullmatch(r"[\w-]+", name):
            (tmp_path / name).mkdir(exist_ok=True)
    result = CliRunner().invoke(main, words(line), input="")
    assert result.exit_code == 0, f"{document}: {result.output}"
    assert taken or "--help" in line or "help" in words(line) or len(words(line)) < 2


def test_the_documents_show_commands() -> None:
    assert {"README.md", "README.zh-CN.md", "command-line.md", "laboratory.md"} <= {name for name, _ in shown()}
