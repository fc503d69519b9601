"""[core] The block of settings in front of a Markdown text: title, date, lastmod, tags, and attributes of one's own.

Only what notes have there is read: ``name: value``, lists in brackets or on lines of their own. Nested values are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from kernel.workspace.templates.moments import parse_any
from kernel.workspace.tree import Node

_BLOCK: Final = re.compile(r"\A(?:[ \t]*\n)*---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE: Final = re.compile(r"([^\s:#][^:]*):(?:\s+(.*))?$")
_NAME: Final = re.compile(r"[A-Za-z0-9-]+")
_FENCE: Final = "```"
_LANGUAGE: Final = "eWFtbA=="  # "yaml", as .sy files hold it
_STAMP: Final = "%Y%m%d%H%M%S"


@dataclass(slots=True)
class FrontMatter:
    """What a text says of itself. ``created`` and ``updated`` are stamps, ``""`` if it does not say."""

    title: str = ""
    created: str = ""
    updated: str = ""
    tags: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    source: str | None = None  # as it is written between its lines of dashes; None without these


def split_front_matter(text: str, now: datetime) -> tuple[FrontMatter, str]:
    """What stands in front, and the text behind it."""
    found = _BLOCK.match(text)
    if found is None:
        return FrontMatter(), text
    matter = FrontMatter(source=found[1].rstrip("\n"))
    for name, value in _pairs(found[1]).items():
        _take(matter, name, value, now)
    return matter, text[found.end() :]


def front_matter_block(matter: FrontMatter, new_id: str) -> Node | None:
    """The block of code that shows in a document what stood in front of its text."""
    if matter.source is None:
        return None
    content = Node("NodeCodeBlockCode", data=f"---\n{matter.source}\n---")
    markers = [
        Node(f"NodeCodeBlockFence{end}Marker", data=_FENCE, fields={"CodeBlockFenceLen": len(_FENCE)})
        for end in ("Open", "Close")
    ]
    info = Node("NodeCodeBlockFenceInfoMarker", fields={"CodeBlockInfo": _LANGUAGE})
    properties = {"id": new_id, "updated": new_id[:14]}
    return Node("NodeCodeBlock", id=new_id, properties=properties, children=[markers[0], info, content, markers[1]])


def _take(matter: FrontMatter, name: str, value: str | list[str], now: datetime) -> None:
    shown = ", ".join(value) if isinstance(value, list) else value
    if name == "title":
        matter.title = shown
    elif name == "date":
        matter.created = _stamp(shown, now)
    elif name == "lastmod":
        matter.updated = _stamp(shown, now)
    elif name == "tags":
        tags = value if isinstance(value, list) else [value]
        matter.tags = ",".join(tag.strip("#,'\" ") for tag in tags if tag.strip("#,'\" "))
    elif _NAME.fullmatch(name) and shown:
        matter.attributes[f"custom-{name.lower()}"] = shown


def _stamp(text: str, now: datetime) -> str:
    found = parse_any(text, now)
    return "" if found is now else found.strftime(_STAMP)


def _pairs(block: str) -> dict[str, str | list[str]]:
    pairs: dict[str, str | list[str]] = {}
    name = ""
    for line in block.split("\n"):
        item = line.strip()
        if item.startswith("- ") and name:
            known = pairs[name]
            pairs[name] = [*(known if isinstance(known, list) else []), _plain(item[2:])]
            continue
        found = _LINE.match(line.rstrip())
        if found is None:
            continue
        name, value = found[1].strip(), (found[2] or "").strip()
        if value.startswith("[") and value.endswith("]"):
            pairs[name] = [_plain(part) for part in value[1:-1].split(",") if part.strip()]
        else:
            pairs[name] = _plain(value)
    return pairs


def _plain(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value.partition(" #")[0].strip()
