"""Operations and transactions as they are written on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.operations import MalformedTransaction, Operation, Transaction, transactions_json


def test_an_operation_always_sends_all_its_members() -> None:
    operation = Operation(action="insert", id="a")
    shown = operation.to_json()
    assert (len(shown), shown["parentID"], shown["srcs"], shown["isDetached"], shown["context"]) == (
        29,
        "",
        None,
        False,
        None,
    )
    assert list(shown)[:3] == ["action", "data", "id"]
    operation["parentID"] = "b"
    assert (operation.action, operation.id, operation["parentID"], shown["parentID"]) == ("insert", "a", "b", "")
    copy = operation.copy()
    copy["id"] = "c"
    assert operation.id == "a"


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"ACTION": "x", "ParentId": "p"}, {"action": "x", "parentID": "p"}),
        ({"unknown": 1, "id": None}, {}),
        ({"data": 5, "retData": []}, {"data": 5, "retData": []}),
        (
            {"srcIDs": ["a"], "context": {"a": "b"}, "isDetached": True},
            {"srcIDs": ["a"], "context": {"a": "b"}, "isDetached": True},
        ),
    ],
)
def test_members_are_read_whatever_their_case(given: dict[str, Any], values: dict[str, Any]) -> None:
    assert Operation.from_json(given).to_json() == Operation(**values).to_json()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "an operation is no object"),
        ({"id": 5}, "id is of another type"),
        ({"isDetached": 1}, "isDetached is of another type"),
        ({"srcIDs": "a"}, "srcIDs is of another type"),
        ({"context": []}, "context is of another type"),
    ],
)
def test_what_is_no_operation_is_refused(given: Any, told: str) -> None:
    with pytest.raises(MalformedTransaction, match=told):
        Operation.from_json(given)


def test_a_transaction_is_read_with_its_undo_or_without() -> None:
    read = Transaction.from_json({"doOperations": [{"id": "a"}], "undoOperations": []}, 7)
    assert ([one.id for one in read.do], read.undo, read.timestamp) == (["a"], [], 7)
    assert Transaction.from_json({}, 0).to_json() == {"timestamp": 0, "doOperations": None, "undoOperations": None}
    shown = transactions_json([Transaction([Operation(id="a")], [Operation(id="b")], 7)])
    assert [(one["timestamp"], one["doOperations"][0]["id"], one["undoOperations"][0]["id"]) for one in shown] == [
        (7, "a", "b")
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "a transaction is no object"),
        ({"doOperations": {}}, "doOperations is no list"),
        ({"undoOperations": "x"}, "undoOperations is no list"),
    ],
)
def test_what_is_no_transaction_is_refused(given: Any, told: str) -> None:
    with pytest.raises(MalformedTransaction, match=told):
        Transaction.from_json(given, 0)
