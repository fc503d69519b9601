"""Two editor DOMs of one document, compared block by block. Does no I/O.

A change is named by ``status:old id:new id``. What differs is judged by the DOM without times; what is shown is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kernel.safety.digest import normal_dom
from kernel.tools.windows import clean

_TAG: Final = re.compile(r"<(?P<close>/?)(?P<name>\w+)(?P<rest>(?:\"[^\"]*\"|[^\">])*?)(?P<void>/?)>")
_ATTRIBUTE: Final = re.compile(r'([\w:-]+)="([^"]*)"')
# What says when, where, and whether it can be edited: history shows a document locked.
_VOLATILE: Final = re.compile(r'\s(?:updated|data-node-index|contenteditable|spellcheck|draggable)="[^"]*"')
_VOID: Final = frozenset({"br", "img", "hr", "input", "wbr", "source"})
_TYPES: Final[dict[str, str]] = {
    "NodeParagraph": "p",
    "NodeHeading": "h",
    "NodeList": "l",
    "NodeListItem": "i",
    "NodeBlockquote": "b",
    "NodeCodeBlock": "c",
    "NodeMathBlock": "m",
    "NodeTable": "t",
    "NodeSuperBlock": "s",
    "NodeThematicBreak": "tb",
    "NodeHTMLBlock": "html",
    "NodeAttributeView": "av",
}


@dataclass(frozen=True, slots=True)
class DomBlock:
    """One block at the top of a document."""

    id: str
    type: str
    dom: str
    text: str
    order: int

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "type": self.type, "markdown": self.text, "order": self.order, "depth": 0}

    @property
    def editable(self) -> str:
        """The DOM as an editor would send it: history shows its text locked, and locked text is not text to the host."""
        return self.dom.replace('contenteditable="false" spellcheck', 'contenteditable="true" spellcheck')

    @property
    def essence(self) -> str:
        """What is compared: the DOM without what changes by itself, attributes sorted (the host shuffles them)."""
        return normal_dom(_VOLATILE.sub("", self.dom))


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between an old and a present document."""

    status: str
    old: DomBlock | None
    current: DomBlock | None

    @property
    def key(self) -> str:
        ids = [block.id if block is not None else "none" for block in (self.old, self.current)]
        return f"{self.status}:{ids[0]}:{ids[1]}"

    def as_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"changeKey": self.key, "status": self.status}
        if self.old is not None:
            row["old"] = self.old.as_json()
        if self.current is not None:
            row["current"] = self.current.as_json()
        return {**row, "rollbackable": self.status != "unchanged"}


def blocks_of(dom: str) -> list[DomBlock]:
    """The top-level blocks of a document's DOM."""
    found: list[DomBlock] = []
    depth, start, head = 0, 0, ""
    for tag in _TAG.finditer(dom):
        if tag["close"]:
            depth -= 1
            if depth == 0:
                found.append(_block(head, dom[start : tag.end()], len(found)))
            continue
        if depth == 0:
            start, head = tag.start(), tag["rest"]
        depth += not (tag["void"] or tag["name"] in _VOID)
    return [block for block in found if block.id]


def _block(head: str, dom: str, order: int) -> DomBlock:
    attributes: dict[str, str] = dict(_ATTRIBUTE.findall(head))
    kind = attributes.get("data-type", "")
    text = _text(dom)
    if kind == "NodeHeading":
        text = "#" * int(attributes.get("data-subtype", "h1")[1:] or 1) + " " + text
    return DomBlock(attributes.get("data-node-id", ""), _TYPES.get(kind) or kind, dom, text, order)


def _text(dom: str) -> str:
    """The words of a block, a line for each text block in it."""
    broken = re.sub(r"<br\s*/?>|</div>", "\n", dom)
    words = re.sub(r"<[^>]*>", "", broken)
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        words = words.replace(entity, char)
    return "\n".join(line.strip() for line in clean(words).splitlines() if line.strip())


def changes(old: Sequence[DomBlock], current: Sequence[DomBlock]) -> list[Change]:
    """All blocks of both sides: in the present order, removed ones where they stood."""
    before = {block.id: block for block in old}
    now = {block.id for block in current}
    rows = []
    for block in current:
        was = before.get(block.id)
        status = "added" if was is None else "unchanged" if was.essence == block.essence else "modified"
        rows.append(Change(status, was, block))
    for block in old:
        if block.id not in now:
            rows.insert(min(block.order, len(rows)), Change("removed", block, None))
    return rows


def statistics(rows: Sequence[Change]) -> dict[str, int]:
    added = removed = 0
    for row in rows:
        old = len(row.old.text.splitlines()) if row.old else 0
        new = len(row.current.text.splitlines()) if row.current else 0
        if row.status in ("added", "modified"):
            added += new
        if row.status in ("removed", "modified"):
            removed += max(0, old - new)
    changed = sum(row.status != "unchanged" for row in rows)
    return {"addedLines": added, "removedLines": removed, "changedBlocks": changed, "rollbackableBlocks": changed}
