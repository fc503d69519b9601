"""All notebooks of a workspace, and what their configuration may say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.workspace.file_backends import in_memory
from kernel.workspace.notebooks import (
    BoxConfError,
    Notebooks,
    compare_names,
    merged_box_conf,
    natural_key,
    new_box_conf,
    written_conf,
)

A, B, C = (f"2024010100000{number}-abcdefg" for number in range(3))


def shelf() -> Notebooks:
    notebooks = Notebooks(in_memory(wall_ms=lambda: 0))
    for box, name, sort in ((A, "b10", 2), (B, "b9", 1), (C, "a", 3)):
        notebooks.save(box, {**new_box_conf(), "name": name, "sort": sort, "closed": False})
    return notebooks


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (0, "a b10 b9"),
        (1, "b9 b10 a"),
        (4, "a b9 b10"),
        (5, "b10 b9 a"),
        (6, "b9 b10 a"),
        (9, "b10 b9 a"),
        (10, "a b9 b10"),
    ],
)
def test_notebooks_are_listed_in_the_order_of_the_tree(mode: int, names: str) -> None:
    assert " ".join(notebook.name for notebook in shelf().listed(mode)) == names


def test_what_is_no_notebook_is_passed_over_and_a_folder_without_configuration_is_mended() -> None:
    files = in_memory(wall_ms=lambda: 0)
    assert Notebooks(files).listed(0) == []
    for path in ("note.txt", "assets/a", "plain/x", f"{A}/x.sy"):
        files.write(f"data/{path}", b"x")
    files.write(f"data/{B}/.siyuan/conf.json", b"{")
    files.write(f"data/{C}/.siyuan/conf.json", b"[]")
    notebooks = Notebooks(files)
    assert [(one.id, one.is_closed) for one in notebooks.listed(9)] == [(A, True)]
    assert json.loads(files.read(f"data/{A}/.siyuan/conf.json"))["closed"] is True
    assert (notebooks.opened(A), notebooks.get(B)) == (None, None)
    files.write(f"data/{B}/.siyuan/conf.json", b'{"name": "B"}')
    assert notebooks.get(B) is None
    notebooks.forget()
    assert (found := notebooks.get(B)) is not None
    assert found.name == "B"


def test_which_document_stands_for_a_notebook_is_written_once() -> None:
    files = in_memory(wall_ms=lambda: 0)
    notebooks = Notebooks(files)
    notebooks.write_box_document_meta(A)
    changes = files.changes
    notebooks.write_box_document_meta(A)
    assert files.changes == changes


@pytest.mark.parametrize(
    ("changes", "merged"),
    [
        (None, {}),
        ({"NAME": "x", "unknown": 1, "icon": None, "encrypted": True}, {"name": "x"}),
        ({"sort": 3.0}, {"sort": 3}),
    ],
)
def test_a_configuration_takes_what_it_knows(changes: Any, merged: dict[str, Any]) -> None:
    assert merged_box_conf(new_box_conf(), changes) == {**new_box_conf(), **merged}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([], "json: cannot unmarshal array into Go value of type conf.BoxConf"),
        (5, "json: cannot unmarshal number into Go value of type conf.BoxConf"),
        ({"name": 1.5}, "json: cannot unmarshal number 1.5 into Go struct field BoxConf.name of type string"),
        ({"name": {}}, "json: cannot unmarshal object into Go struct field BoxConf.name of type string"),
        ({"sort": "x"}, "json: cannot unmarshal string into Go struct field BoxConf.sort of type int"),
        ({"sort": True}, "json: cannot unmarshal bool into Go struct field BoxConf.sort of type int"),
    ],
)
def test_a_member_of_another_type_is_told_in_the_decoders_words(changes: Any, told: str) -> None:
    with pytest.raises(BoxConfError) as error:
        merged_box_conf(new_box_conf(), changes)
    assert str(error.value) == told


def test_names_are_compared_by_their_collation_and_by_their_numbers() -> None:
    assert (compare_names("A", "b.sy"), compare_names("b", "B"), compare_names("b", "a")) == (-1, 0, 1)
    assert natural_key("a10b") == [(1, 0, "a"), (0, 10, ""), (1, 0, "b")]
    assert written_conf({"name": "<&>"}) == b'{\n  "name": "\\u003c\\u0026\\u003e"\n}'
