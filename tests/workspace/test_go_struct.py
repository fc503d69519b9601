"""Typed records: what fits is taken, the first misfit is named in the kernel's words."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.conf_ai import AI
from kernel.workspace.conf_defaults import fresh
from kernel.workspace.conf_shapes import EDITOR, KEYMAP, NOTEBOOK_CRYPTO, PUBLISH, REPO, SECRETS
from kernel.workspace.go_struct import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    TEXT,
    ListOf,
    MapOf,
    Mismatch,
    Optional,
    as_number,
    number_text,
    plain,
    read,
    written,
    zero,
)

FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"
VALUE = "json: cannot unmarshal {} into Go value of type {}"


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (EDITOR, {"fontSize": "18"}, FIELD.format("string", "Editor.fontSize", "int")),
        (EDITOR, {"fontSize": True}, FIELD.format("bool", "Editor.fontSize", "int")),
        (EDITOR, {"fontSize": {}}, FIELD.format("object", "Editor.fontSize", "int")),
        (EDITOR, {"fontSize": 2.5}, FIELD.format("number 2.5", "Editor.fontSize", "int")),
        (EDITOR, {"fontSize": 1e21}, FIELD.format("number 1e+21", "Editor.fontSize", "int")),
        (EDITOR, {"fontSize": 10**20}, FIELD.format("number 100000000000000000000", "Editor.fontSize", "int")),
        (EDITOR, {"fontSize": 1e-7}, FIELD.format("number 1e-7", "Editor.fontSize", "int")),
        (EDITOR, {"markdown": "x"}, FIELD.format("string", "Editor.markdown", "util.Markdown")),
        (
            EDITOR,
            {"markdown": {"inlineTag": 1}},
            FIELD.format("number", "Markdown.markdown.inlineTag", "bool"),
        ),
        (EDITOR, {"emoji": "x"}, FIELD.format("string", "Editor.emoji", "[]string")),
        (EDITOR, {"emoji": ["a", 1]}, FIELD.format("number", "Editor.emoji", "string")),
        (EDITOR, {"floatWindowDelay": "x"}, FIELD.format("string", "Editor.floatWindowDelay", "int")),
        (SECRETS, {"items": ["x"]}, FIELD.format("string", "Secrets.items", "conf.Secret")),
        (SECRETS, {"items": {}}, FIELD.format("object", "Secrets.items", "[]*conf.Secret")),
        (SECRETS, {"items": [None, {"name": 5}]}, FIELD.format("number", "Secret.items.name", "string")),
        (PUBLISH, {"port": 65536}, FIELD.format("number 65536", "Publish.port", "uint16")),
        (PUBLISH, {"port": -1}, FIELD.format("number -1", "Publish.port", "uint16")),
        (KEYMAP, [], VALUE.format("array", "conf.Keymap")),
        (KEYMAP, 5, VALUE.format("number", "conf.Keymap")),
        (
            AI,
            {"mcp": {"servers": [{"headers": {"a": 5}}]}},
            FIELD.format("number", "MCPServer.mcp.servers.headers", "string"),
        ),
        (AI, {"mcp": {"servers": ["x"]}}, FIELD.format("string", "MCP.mcp.servers", "conf.MCPServer")),
        (AI, {"mcp": {"servers": [{"args": "x"}]}}, FIELD.format("string", "MCPServer.mcp.servers.args", "[]string")),
    ],
)
def test_a_misfit_is_named_as_the_kernel_names_it(kind: Any, given: Any, message: str) -> None:
    with pytest.raises(Mismatch) as caught:
        read(kind, given)
    assert str(caught.value) == message


def test_what_fits_is_taken_although_something_else_does_not() -> None:
    with pytest.raises(Mismatch, match="codeTabSpaces") as caught:
        read(EDITOR, {"codeTabSpaces": "x", "justify": 5, "fontSize": 20})
    assert (caught.value.value["fontSize"], caught.value.value["codeTabSpaces"]) == (20, 0)


def test_keys_match_whatever_their_case_and_unknown_ones_are_left_out() -> None:
    editor = read(EDITOR, {"FONTSIZE": 17, "nope": 1}, fresh("editor"))
    assert editor["fontSize"] == 17
    assert "nope" not in editor


def test_null_leaves_a_plain_field_and_empties_an_optional_one() -> None:
    editor = read(EDITOR, {"fontSize": None, "backlinkSort": None, "emoji": None, "markdown": None}, fresh("editor"))
    assert (editor["fontSize"], editor["backlinkSort"], editor["emoji"], editor["markdown"]) == (16, None, None, None)
    assert read(KEYMAP, None, {"a": 1}) is None
    assert read(REPO, {"key": None}, {**zero(REPO), "key": "x"})["key"] is None


def test_a_record_is_laid_over_the_one_that_is_there() -> None:
    markdown = {"inlineTag": True}
    start = {**fresh("editor"), "markdown": {**fresh("editor")["markdown"], **markdown}}
    assert read(EDITOR, {"markdown": {"inlineTag": False}}, start)["markdown"]["inlineMath"] is True
    assert read(EDITOR, {"markdown": {}}, {**start, "markdown": None})["markdown"]["inlineMath"] is False


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(BOOL, False), (INT, 0), (FLOAT, 0), (TEXT, ""), (ListOf(TEXT), None), (MapOf(ANY), None), (Optional(INT), None)],
)
def test_before_anything_is_said_a_value_is_zero(kind: Any, expected: Any) -> None:
    assert zero(kind) == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (2.5, "2.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (1e-6, "0.000001"),
        (0.36, "0.36"),
    ],
)
def test_numbers_are_written_as_doubles(number: float, text: str) -> None:
    assert number_text(number) == text


def test_any_value_keeps_its_shape_with_numbers_as_doubles() -> None:
    assert plain({"a": [1.0, True, None, "x"], "b": 2**53 + 1}) == {"a": [1, True, None, "x"], "b": 2**53}
    assert isinstance(as_number(3.0), int)


def test_fields_that_may_be_left_out_are_left_out_when_they_hold_nothing() -> None:
    crypto = {**zero(NOTEBOOK_CRYPTO), "spec": 1}
    shown = written(NOTEBOOK_CRYPTO, crypto)
    assert shown["spec"] == 1
    assert "backupID" not in shown
    assert "kekVerifier" in shown
    assert written(Optional(NOTEBOOK_CRYPTO), None) is None
    assert written(SECRETS, {"items": [None, {"name": "a", "value": ""}]}) == {
        "items": [None, {"name": "a", "value": ""}]
    }


def test_a_type_is_named_as_the_kernel_names_it() -> None:
    assert [kind.type_name for kind in (INT, Optional(INT), ListOf(Optional(TEXT)), MapOf(FLOAT))] == [
        "int",
        "int",
        "[]string",
        "map[string]float64",
    ]
