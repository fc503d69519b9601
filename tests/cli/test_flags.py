"""Flags derived from the table: every action has a command, every argument a flag, every value its type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kernel.cli import COMMANDS, main
from kernel.cli.call import ActionCommand
from kernel.cli.flags import arguments_of, kebab, options_of
from kernel.safety.policy import READ
from kernel.tools.registry import ACTIONS, TOOLS, Action
from kernel.tools.registry.signature import parse

SIGNATURE = "path* text; to* text; count int 0..9; share number; on bool; kind a_b|c; names [text]; sizes [int]; cells [object]; edit any"
ACTION = Action("t", "do_it", "Does it.", READ, parse(SIGNATURE))


def read(*words: str, action: Action = ACTION, stdin: str | bytes = "") -> dict[str, Any] | str:
    """The arguments of a command line, or what was wrong with it."""
    found: dict[str, Any] = {}

    class Command(ActionCommand):
        def run(self, plain: tuple[str, ...], **given: Any) -> None:
            found.update(arguments_of(self.action, given, plain))

    result = CliRunner().invoke(Command(action), words, input=stdin)
    return found if result.exit_code == 0 else result.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "on"),
    [
        (("--on",), True),
        (("--no-on",), False),
        (("--on=true",), True),
        (("--on=TRUE",), True),
        (("--on=1",), True),
        (("--on=yes",), True),
        (("--on=false",), False),
        (("--ON=false",), False),
        (("--on=0",), False),
        (("--on=no",), False),
        (("--on", "--on=false"), False),
    ],
)
def test_a_switch_is_thrown_with_or_without_a_value(words: tuple[str, ...], on: bool) -> None:
    assert read("a", "b", *words) == {"path": "a", "to": "b", "on": on}


@pytest.mark.parametrize("value", ["", "maybe", "2"])
def test_a_switch_takes_true_or_false(value: str) -> None:
    said = read("a", "b", f"--on={value}")
    assert isinstance(said, str)
    assert "not a valid boolean" in said


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (("--path", "--on=false", "b"), {"path": "--on=false", "to": "b"}),
        (("a", "--names", "--on=false", "--to", "-"), {"path": "a", "to": "in", "names": ["--on=false"]}),
        (("--", "--on=false", "b"), {"path": "--on=false", "to": "b"}),
        (("--to=--on=false", "a"), {"path": "a", "to": "--on=false"}),
    ],
)
def test_what_stands_for_a_value_stays_one(words: tuple[str, ...], arguments: dict[str, Any]) -> None:
    assert read(*words, stdin="in") == arguments


def test_an_option_without_its_value_is_told_as_ever() -> None:
    assert "requires an argument" in str(read("a", "b", "--names"))


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("path", "path"),
        ("includeBlockIds", "include-block-ids"),
        ("include_block_ids", "include-block-ids"),
        ("avID", "av-id"),
        ("fromIDs", "from-ids"),
        ("hPath", "h-path"),
        ("HTMLBlock", "html-block"),
    ],
)
def test_every_spelling_of_a_name_is_one_flag(name: str, flag: str) -> None:
    assert kebab(name) == flag


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.key)
def test_every_action_has_a_command_with_a_flag_for_each_argument(action: Action) -> None:
    command = ActionCommand(action)
    names = [opt for param in command.params for opt in [*param.opts, *param.secondary_opts] if opt.startswith("-")]
    assert len(names) == len(set(names))
    assert {f"--{kebab(one.name)}" for one in action.arguments} <= {name.removesuffix("-json") for name in names}
    shown = CliRunner().invoke(command, ["--help"])
    assert shown.exit_code == 0
    assert "--workspace" in shown.output
    assert ("--validate-only" in shown.output) is action.policy.can_mutate
    assert ("--confirm" in shown.output) is (action.is_dangerous or action.policy.is_external)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--path", "/a", "--to", "/b"], {}),
        (["/a", "/b"], {}),
        (["--path", "/a", "/b"], {}),
        (["/a", "--to=/b"], {}),
        (["/a", "/b", "--count", "3"], {"count": 3}),
        (["/a", "/b", "--share", "3"], {"share": 3}),
        (["/a", "/b", "--share", "0.5"], {"share": 0.5}),
        (["/a", "/b", "--on"], {"on": True}),
        (["/a", "/b", "--no-on"], {"on": False}),
        (["/a", "/b", "--kind", "a_b"], {"kind": "a_b"}),
        (["/a", "/b", "--kind", "a-b"], {"kind": "a_b"}),
        (["/a", "/b", "--names", "x", "--names", "y,z"], {"names": ["x", "y,z"]}),
        (["/a", "/b", "--names-json", '["x"]'], {"names": ["x"]}),
        (["/a", "/b", "--names-json", "[]"], {"names": []}),
        (["/a", "/b", "--sizes", "1", "--sizes", "2"], {"sizes": [1, 2]}),
        (["/a", "/b", "--cells-json", '[{"a": 1}]'], {"cells": [{"a": 1}]}),
        (["/a", "/b", "--cells", "[]"], {"cells": []}),
        (["/a", "/b", "--edit", "null"], {}),
        (["/a", "/b", "--edit-json", '{"old": "é"}'], {"edit": {"old": "é"}}),
    ],
)
def test_values_have_the_type_of_their_argument(words: list[str], expected: dict[str, Any]) -> None:
    assert read(*words) == {"path": "/a", "to": "/b", **expected}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "Missing --path, --to."),
        (["/a"], "Missing --to."),
        (["/a", "/b", "/c"], "'/c' belongs to no required argument"),
        (["/a", "/b", "--count", "x"], "not a valid integer"),
        (["/a", "/b", "--share", "x"], "not a valid float"),
        (["/a", "/b", "--kind", "d"], "'d' is not one of"),
        (["/a", "/b", "--cells-json", "{"], "not JSON"),
        (["/a", "/b", "--cells-json", "[1e400]"], "1e400 is not a number"),
        (["/a", "/b", "--cells-json", "[NaN]"], "NaN is not a number"),
        (["/a", "/b", "--cells-json", '["\\ud800"]'], "surrogate"),
        (["/a", "/b", "--cells-json", "[" * 100_000], "nested too deeply"),
        (["/a", "/b", "--share", "inf"], "'inf' is not a number"),
        (["/a", "/b", "--share", "1e400"], "'1e400' is not a number"),
        (["/a", "/b", "--nope", "1"], "No such option"),
        (["/a", "@/no/such/file"], "cannot be read"),
        (["/a", "\udcff"], "not UTF-8"),
    ],
)
def test_wrong_words_are_said_to_be_wrong(words: list[str], problem: str) -> None:
    assert problem in str(read(*words))


def test_text_comes_from_a_file_from_standard_input_or_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text("# Ä\n", encoding="utf-8")
    assert read("/a", f"@{file}") == {"path": "/a", "to": "# Ä\n"}
    assert read("/a", "--to", "-", stdin="läuft\n") == {"path": "/a", "to": "läuft\n"}
    assert read("/a", "@@file") == {"path": "/a", "to": "@file"}
    assert read("/a", "@") == {"path": "/a", "to": "@"}
    assert read("/a", "/b", "--cells-json", "-", stdin="[1]") == {"path": "/a", "to": "/b", "cells": [1]}
    assert "not UTF-8" in str(read("/a", "-", stdin=b"\xff"))


def test_a_single_list_is_given_without_its_flag() -> None:
    action = Action("t", "x", "", READ, parse("paths* [text]; ids* [id]"))
    assert read("a", "20260101120000-abcdefg", action=action) == {"paths": ["a"], "ids": ["20260101120000-abcdefg"]}


def test_a_required_json_value_is_given_without_its_flag() -> None:
    action = Action("t", "x", "", READ, parse("cells* [object]; n* number; k* a|b"))
    assert read('[{"a":1}]', "2", "b", action=action) == {"cells": [{"a": 1}], "n": 2, "k": "b"}


def test_old_spellings_are_taken_and_not_shown() -> None:
    action = Action("t", "x", "", READ, parse("~old text"))
    assert read("--old", "x", action=action) == {"old": "x"}
    assert all(option.hidden for option in options_of(action))


def test_an_argument_of_the_same_name_wins_over_ours() -> None:
    names = {name for param in ActionCommand(ACTIONS["av.set_cells"]).params for name in param.opts}
    assert {"--url", "--kernel-url"} <= names
    kernel_url = next(p for p in ActionCommand(ACTIONS["av.set_cells"]).params if "--kernel-url" in p.opts)
    assert "--url" not in kernel_url.opts


def top(*words: str) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_tool_is_a_command_with_and_without_call() -> None:
    """Decision 48."""
    bodies = [
        top(*words).split("\n", 1)[1]
        for words in (
            ("fs", "read", "-h"),
            ("call", "fs", "read", "-h"),
            ("help", "fs", "read"),
            ("call", "help", "fs", "read"),
            ("fs", "help", "read"),
        )
    ]
    assert len(set(bodies)) == 1
    listing = top("--help")
    assert all(name in listing for name in (*COMMANDS, *TOOLS))
    assert top("help") == listing
    assert "read" in top("fs", "--help")
    assert "read" in top("help", "fs")


@pytest.mark.parametrize(
    "words",
    [
        ("nope",),
        ("fs", "nope"),
        ("help", "nope"),
        ("fs", "help", "nope"),
        ("help", "fs", "read", "x"),
        ("call", "nope", "x"),
    ],
)
def test_what_there_is_not_is_said(words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(main, words).exit_code == 2


def test_other_spellings_of_an_action_are_taken() -> None:
    assert "Remove a document" in top("fs", "delete", "--help")
    assert "kramdown" in top("block", "get_kramdown", "--help").lower()


def test_a_foreign_tool_is_an_action_that_takes_json() -> None:
    """R298-R301."""
    shown = top("extension", "plugin__example_plugin__search", "--help")
    assert "--arguments-json" in shown
    assert "--confirm" in shown


@pytest.mark.slow
def test_every_command_can_be_loaded() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert top(name, "--help")
