"""What people see: results on standard output, all else on the error one, the command line's own words for what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.cli.showing import Display, json_line
from kernel.cli.tables import COLUMNS_MAX, columns_of
from kernel.delegate.messages import Refused
from kernel.tools.registry import ACTIONS

READ = ACTIONS["fs.read"]


def shown(result: dict[str, Any], capsys: pytest.CaptureFixture[str], *, is_json: bool = False) -> tuple[str, str]:
    Display(is_json=is_json).result(READ, result)
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.parametrize(
    ("told", "out", "err"),
    [
        ({"markdown": "# T", "path": "/a"}, "# T\n", "path: /a\n"),
        ({"content": "text"}, "text\n", ""),
        ({"value": [1, "two"]}, "- 1\n- two\n", ""),
        (
            {"a": {"b": [{"c": 1, "d": None}, {}]}, "e": [], "f": True},
            "a:\n  b:\n    - c: 1\n      d: null\n    - {}\ne: []\nf: true\n",
            "",
        ),
        (
            {"data": list(range(60))},
            "data:\n" + "".join(f"  - {n}\n" for n in range(50)) + "  … and 10 more (--json shows all)\n",
            "",
        ),
        ({"success": True, "uiRefresh": {}}, "", ""),
        ({"x": 1, "safety": {"writeSafetyGuaranteed": False}}, "x: 1\n", "done, without a guarantee\n"),
        (
            {"safety": {"writeSafetyGuaranteed": True, "transactionState": "no_change", "requestId": "ab12"}},
            "",
            "no_change, request id ab12\n",
        ),
        (
            {"validateOnly": True, "requestId": "ab12"},
            "",
            "fs.read can be written, request id ab12, until it expires.\n",
        ),
    ],
)
def test_a_result_is_its_text_and_then_the_rest(
    told: dict[str, Any], out: str, err: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown({"structuredContent": told}, capsys) == (out, err)
    assert json.loads(shown({"structuredContent": told}, capsys, is_json=True)[0]) == told


def test_a_foreign_answer_is_its_own_text(capsys: pytest.CaptureFixture[str]) -> None:
    told = {"value": '[{"type":"text","text":"hi"}]', "safety": {"writeSafetyGuaranteed": False}}
    out = shown({"structuredContent": told, "content": [{"type": "text", "text": "hi"}]}, capsys)
    assert out == ("hi\n", "done, without a guarantee\n")


@pytest.mark.parametrize(
    ("value", "columns"),
    [
        ([{"a": 1}, {"b": "x", "a": 2}], ["a", "b"]),
        ([{"a": 1}], []),
        ([{"a": 1}, {}], []),
        ([{"a": 1}, {"a": [1]}], []),
        ([{"a": 1}, 5], []),
        ([{str(n): n for n in range(COLUMNS_MAX + 1)}] * 2, []),
        ([{str(n): n for n in range(COLUMNS_MAX)}] * 2, [str(n) for n in range(COLUMNS_MAX)]),
        ("text", []),
    ],
)
def test_lists_of_flat_objects_can_be_tables(value: Any, columns: list[str]) -> None:
    assert columns_of(value) == columns


def test_a_terminal_gets_a_table_and_names_are_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kernel.cli.tables.is_terminal", lambda: True)
    items = [{"name": "[bold]Plan[/bold]", "children": 0}, {"name": "块", "children": None}]
    out, _ = shown({"structuredContent": {"path": "/Box", "items": items}}, capsys)
    lines = [line.split() for line in out.splitlines()]
    assert ["name", "children"] in lines
    assert ["[bold]Plan[/bold]", "0"] in lines
    assert ["块"] in lines
    assert out.endswith("path: /Box\n")


def test_json_is_readable_as_far_as_it_can_be_printed() -> None:
    assert json_line({"a": "块"}) == '{"a": "块"}'
    assert json_line({"a": "块\ud800"}) == '{"a": "\\u5757\\ud800"}'


def test_a_replay_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    safety = {"requestId": "ab12", "writeSafetyGuaranteed": True, "replayed": True, "transactionState": "committed"}
    out, err = shown({"structuredContent": {**safety, "success": True, "safety": safety}}, capsys)
    assert out == ""
    assert err == "committed, request id ab12, told from the ledger: nothing was written this time\n"


def test_a_result_without_structure_is_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    result = {"content": [{"type": "text", "text": "plain"}, {"type": "image", "data": "…"}]}
    assert shown(result, capsys) == ("plain\n", "")
    assert json.loads(shown(result, capsys, is_json=True)[0]) == {"content": result["content"]}
    assert shown({}, capsys) == ("\n", "")


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        ({"code": "x", "message": "why"}, ["x: why"]),
        ({"code": "x", "message": "why", "hint": "h", "nextStep": "n"}, ["x: why", "  h", "  n"]),
        (
            {
                "code": "validation_error",
                "message": "m",
                "fields": [{"path": "a", "message": "b"}, {"path": "", "message": "c"}],
            },
            ["validation_error: m", "  a: b", "  (call): c"],
        ),
        (
            {"code": "outcome_unknown", "message": "m", "taskId": "t"},
            ["outcome_unknown: m", "  Ask for it: sisyphus-kernel task result t"],
        ),
    ],
)
def test_a_failure_says_why_and_what_to_do(
    error: dict[str, Any], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = shown({"structuredContent": {"error": error}, "isError": True}, capsys)
    assert (out, err.splitlines()) == ("", lines)


@pytest.mark.parametrize(
    ("code", "flag"),
    [
        ("precondition_required", "--validate-only"),
        ("preflight_lease_invalid", "--validate-only"),
        ("dangerous_action_requires_confirmation", "--confirm"),
    ],
)
def test_what_to_do_is_said_in_flags(code: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    error = {"code": code, "message": "m", "nextStep": "Repeat the call with validateOnly:true"}
    _, err = shown({"structuredContent": {"error": error}, "isError": True}, capsys)
    assert flag in err
    assert "validateOnly" not in err


def test_a_failure_without_structure_is_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown({"content": [{"type": "text", "text": "Unknown tool"}], "isError": True}, capsys) == (
        "",
        "Unknown tool\n",
    )
    assert shown({"isError": True}, capsys) == ("", "The call failed.\n")


@pytest.mark.parametrize("is_json", [True, False])
def test_a_refused_call_is_told_as_such(is_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    Display(is_json=is_json).refusal(Refused("no name", 400, {"code": -32602, "message": "no name"}))
    captured = capsys.readouterr()
    assert "no name" in (captured.out if is_json else captured.err)
