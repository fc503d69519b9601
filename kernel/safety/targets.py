"""Which things a call is about, read from its arguments (R21-R24). Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.intent import Observation

_NAMES: Final = frozenset(
    {
        "id",
        "ids",
        "notebook",
        "path",
        "paths",
        "from",
        "to",
        "oldPath",
        "tag",
        "label",
        "oldLabel",
        "parentId",
        "item_id",
    }
)
# Arguments that are lists of things, each with its own id.
_ITEM_LISTS: Final = ("items", "targets")


def target_ids(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The distinct targets of a call, sorted: ids, notebooks, paths and labels, single or in lists."""
    return tuple(sorted(set(_named(arguments))))


def observation(arguments: Mapping[str, Any], state: Any, **summary: Any) -> Observation:
    """An observation whose targets are those that the arguments name."""
    targets = target_ids(arguments)
    return Observation(state, targets, len(targets), summary)


def _named(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if name in _NAMES or name.endswith(("ID", "IDs", "Paths")):
            yield from _texts(value)
    for name in _ITEM_LISTS:
        items = arguments.get(name)
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping):
                yield from _texts(item.get("id"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
