"""[core] Operations and transactions: how a change of blocks is written on the wire (siyuan-api A3). Holds no rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

# Every member of an operation in the kernel's order, with its empty value: all of them are always sent.
_MEMBERS: Final[dict[str, Any]] = {
    "action": "",
    "data": None,
    "id": "",
    "rootID": "",
    "parentID": "",
    "previousID": "",
    "nextID": "",
    "retData": None,
    "blockIDs": None,
    "blockID": "",
    "deckID": "",
    "avID": "",
    "srcIDs": None,
    "srcs": None,
    "isDetached": False,
    "name": "",
    "type": "",
    "format": "",
    "keyID": "",
    "rowID": "",
    "isTwoWay": False,
    "backRelationKeyID": "",
    "removeDest": False,
    "layout": "",
    "groupID": "",
    "targetGroupID": "",
    "viewID": "",
    "ignoreDefaultFill": False,
    "context": None,
}
_OPTIONAL_LISTS: Final = frozenset({"blockIDs", "srcIDs", "srcs"})
_CANONICAL: Final = {name.lower(): name for name in _MEMBERS}


class MalformedTransaction(ValueError):
    """Something that is not a list of transactions."""


class Operation:
    """One operation. Members are reached by their wire names: ``operation["parentID"]``."""

    __slots__ = ("values",)

    def __init__(self, **values: Any) -> None:
        self.values: dict[str, Any] = {**_MEMBERS, **values}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.values[name] = value

    @property
    def action(self) -> str:
        return str(self.values["action"])

    @property
    def id(self) -> str:
        return str(self.values["id"])

    def to_json(self) -> dict[str, Any]:
        return dict(self.values)

    def copy(self) -> Operation:
        return Operation(**self.values)

    @classmethod
    def from_json(cls, source: Any) -> Operation:
        """Raises MalformedTransaction."""
        if not isinstance(source, dict):
            raise MalformedTransaction("an operation is no object")
        values: dict[str, Any] = {}
        for given, value in source.items():
            name = _CANONICAL.get(given.lower())
            if name is None or value is None:
                continue
            empty = _MEMBERS[name]
            is_fitting = isinstance(value, list) if name in _OPTIONAL_LISTS else type(value) is type(empty)
            if name == "context":
                is_fitting = isinstance(value, dict)
            if name not in ("data", "retData") and not is_fitting:
                raise MalformedTransaction(f"{name} is of another type")
            values[name] = value
        return cls(**values)


@dataclass(slots=True)
class Transaction:
    """What is done together, and how it is undone. ``undo`` None is written as null."""

    do: list[Operation]
    undo: list[Operation] | None = None
    timestamp: int = 0
    # Documents that were written, in order; anchors that followed included after the others.
    changed_roots: list[str] = field(default_factory=list)
    mutated_roots: list[str] = field(default_factory=list)
    # Came without a list of operations, and is written so.
    is_bare: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "timestamp": self.timestamp,
            "doOperations": None if self.is_bare else [operation.to_json() for operation in self.do],
            "undoOperations": None if self.undo is None else [operation.to_json() for operation in self.undo],
        }

    @classmethod
    def from_json(cls, source: Any, timestamp: int) -> Transaction:
        """Raises MalformedTransaction."""
        if not isinstance(source, dict):
            raise MalformedTransaction("a transaction is no object")
        lists = []
        for name in ("doOperations", "undoOperations"):
            operations = source.get(name)
            if operations is not None and not isinstance(operations, list):
                raise MalformedTransaction(f"{name} is no list")
            lists.append(None if operations is None else [Operation.from_json(one) for one in operations])
        return cls(lists[0] or [], lists[1], timestamp, is_bare=lists[0] is None)


def transactions_json(transactions: list[Transaction]) -> list[dict[str, Any]]:
    return [transaction.to_json() for transaction in transactions]
