"""Values of database cells: from a call's words to the host's, and back for a read-back. Does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
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
        "isNotTime": not cell.get("includeTime", isinstance(cell["date"], str) and ":" in cell["date"]),
    }
    if (end := cell.get("endDate")) is not None:
        value |= {"content2": _milliseconds(end), "isNotEmpty2": True, "hasEndDate": True}
    return {"date": value}


def _milliseconds(moment: Any) -> int:
    if isinstance(moment, int | float):
        return int(moment)
    try:
        return int(datetime.fromisoformat(str(moment)).timestamp() * 1000)
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
        return {"type": kind, "content": names[:1] if kind == "select" else sorted(names)}
    if kind == "mAsset":
        return {"type": kind, "content": [(asset.get("type"), asset.get("content")) for asset in inner]}
    if kind == "checkbox":
        return {"type": kind, "checked": bool(inner.get("checked"))}
    if kind == "number":
        return {"type": kind, "content": inner.get("content"), "format": inner.get("format") or ""}
    if kind == "date":
        return {"type": kind, "content": inner.get("content"), "content2": inner.get("content2") or 0}
    return {"type": kind, "content": inner.get("content")}


def compact(value: Mapping[str, Any] | None) -> Any:
    """A rendered cell in as few words as possible: text as text, options as their names, nothing as null."""
    if not value:
        return None
    kind = str(value.get("type"))
    if kind in ("select", "mSelect"):
        names = [option.get("content") for option in value.get("mSelect") or []]
        return (names[0] if names else None) if kind == "select" else names or None
    inner = value.get(kind)
    if inner is None:
        return None
    if kind == "block":
        return {name: inner[name] for name in ("id", "content") if inner.get(name)}
    if kind in ("text", "url", "email", "phone", "template"):
        return inner.get("content")
    if kind == "number":
        return inner.get("content") if inner.get("isNotEmpty", True) else None
    if kind == "checkbox":
        return bool(inner.get("checked"))
    return inner
