"""Values of database cells: from a call's words to the host's, and back for a read-back. Does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kernel.tools.failures import refusal

Cell = Mapping[str, Any]
# How a caller's valueType is called by the host.
KEY_TYPE: Final[dict[str, str]] = {"multi_select": "mSelect"}


def key_type_of(value_type: str) -> str:
    return KEY_TYPE.get(value_type, value_type)


def host_value(cell: Cell) -> dict[str, Any]:
    """The value as the host stores it.

    Raises:
        ToolError: a date that is none.
    """
    kind = key_type_of(cell["valueType"])
    return {"type": kind, **_MAKERS[cell["valueType"]](cell)}


def _number(cell: Cell) -> dict[str, Any]:
    value = {"content": cell["number"], "isNotEmpty": True, "format": cell.get("numberFormat") or ""}
    return {"number": value}


def _date(cell: Cell) -> dict[str, Any]:
    value: dict[str, Any] = {
        "content": _milliseconds(cell["date"]),
        "isNotEmpty": True,
        "isNotTime": cell.get("includeTime") is False,
    }
    if (end := cell.get("endDate")) is not None:
        value |= {"content2": _milliseconds(end), "isNotEmpty2": True, "hasEndDate": True}
    return {"date": value}


def _milliseconds(moment: Any) -> int:
    if isinstance(moment, int | float):
        return int(moment)
    try:
        parsed = datetime.fromisoformat(str(moment))
        # A day alone is that day in Greenwich, as ECMAScript has it: the clients of this tool think in it.
        is_day = len(str(moment)) == len("2024-05-06")
        return int((parsed.replace(tzinfo=UTC) if is_day else parsed).timestamp() * 1000)
    except ValueError as error:
        raise refusal(f"{moment!r} is no date.", "invalid_arguments", hint="Use ISO 8601 or milliseconds.") from error


def _options(names: list[str]) -> dict[str, Any]:
    return {"mSelect": [{"content": name, "color": ""} for name in names]}


_MAKERS: Final[dict[str, Callable[[Cell], dict[str, Any]]]] = {
    "text": lambda cell: {"text": {"content": cell["text"]}},
    "number": _number,
    "date": _date,
    "checkbox": lambda cell: {"checkbox": {"checked": cell["checked"]}},
    "select": lambda cell: _options([cell["option"]] if cell["option"] else []),
    "multi_select": lambda cell: _options(cell["options"]),
    "url": lambda cell: {"url": {"content": cell["url"]}},
    "email": lambda cell: {"email": {"content": cell["email"]}},
    "phone": lambda cell: {"phone": {"content": cell["phone"]}},
    "mAsset": lambda cell: {"mAsset": [{"name": "", **asset} for asset in cell["assets"]]},
}


def essence(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What counts of a stored value when it is compared: type and content, no colours, no times."""
    if not value:
        return None
    kind = str(value.get("type"))
    inner = value.get(kind) if kind != "select" else value.get("mSelect")
    if inner is None:
        return None
    if kind in ("select", "mSelect"):
        names = [str(option.get("content")) for option in inner]
        return {"type": kind, "values": names[:1] if kind == "select" else sorted(names)}
    if kind == "mAsset":
        parts = ("type", "name", "content")
        return {"type": kind, "assets": [{part: asset.get(part) or "" for part in parts} for asset in inner]}
    if kind == "checkbox":
        return {"type": kind, "checked": bool(inner.get("checked"))}
    if kind == "number":
        return {"type": kind, "content": inner.get("content"), "format": inner.get("format") or ""}
    if kind == "date":
        flags = {name: bool(inner.get(name)) for name in ("hasEndDate", "isNotTime")}
        return {"type": kind, "content": inner.get("content"), "content2": inner.get("content2") or 0, **flags}
    return {"type": kind, "content": inner.get("content")}


def compact(value: Mapping[str, Any] | None) -> Any:
    """A rendered cell in as few words as possible: text as text, options as their names, nothing as null."""
    if not value:
        return None
    kind = str(value.get("type"))
    if kind == "select":
        return next((option.get("content") for option in value.get("mSelect") or []), None)
    if kind in _SHORT:
        return _SHORT[kind](value.get(kind) or {})
    if kind in _LISTED:
        return _LISTED[kind](value.get(kind) or [])
    return {name: part for name, part in value.items() if name not in _BOOKKEEPING}


def _short_date(date: Mapping[str, Any]) -> dict[str, Any] | None:
    if not date:
        return None
    short: dict[str, Any] = {"start": date.get("content") or 0}
    if date.get("hasEndDate"):
        short["end"] = date.get("content2")
    short["hasTime"] = not date.get("isNotTime")
    return {**short, "formatted": date["formattedContent"]} if date.get("formattedContent") else short


def _short_block(block: Mapping[str, Any]) -> dict[str, Any] | None:
    return {name: block[name] for name in ("id", "content") if block.get(name)} if block else None


def _short_relation(relation: Mapping[str, Any]) -> dict[str, Any]:
    contents = [compact(part) for part in relation.get("contents") or []]
    return {"blockIDs": list(relation.get("blockIDs") or []), **({"contents": contents} if contents else {})}


def _short_assets(assets: Any) -> list[dict[str, Any]]:
    names = ("content", "name", "type")
    return [{name: asset[name] for name in names if asset.get(name)} for asset in assets if asset.get("content")]


def _text(inner: Mapping[str, Any]) -> Any:
    return inner.get("content") or ""


# What of an unknown kind of value says nothing to a reader.
_BOOKKEEPING: Final = frozenset({"id", "keyID", "blockID", "createdAt", "updatedAt"})
_SHORT: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    **dict.fromkeys(("text", "url", "email", "phone", "template"), _text),
    **dict.fromkeys(("date", "created", "updated"), _short_date),
    "block": _short_block,
    "number": lambda number: number.get("content") if number.get("isNotEmpty", True) else None,
    "checkbox": lambda checkbox: bool(checkbox.get("checked")),
    "relation": _short_relation,
    "rollup": lambda rollup: [compact(part) for part in rollup.get("contents") or []],
}
_LISTED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "mSelect": lambda options: [option.get("content") for option in options],
    "mAsset": _short_assets,
}
