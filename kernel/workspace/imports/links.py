"""[core] Links of imported notes: to files they become asset paths, to other notes references to their blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from kernel.workspace.names import base_name, dir_name, joined_path
from kernel.workspace.render.inlines import plain_text
from kernel.workspace.tree import Node

_WIKI: Final = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_NOTE: Final = re.compile(r"\.(?:md|markdown)$")
_SCHEME: Final = re.compile(r"^(?:mailto|tel|sms):", re.IGNORECASE)


@dataclass(slots=True)
class LinkTargets:
    """Where links may lead: path of titles + ``#`` + heading (or nothing) → block."""

    exact: dict[str, str] = field(default_factory=dict)
    by_base: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[tuple[str, Node]]) -> LinkTargets:
        targets = cls()
        for hpath, root in documents:
            targets._enter(f"{hpath}#", root.id)
            for node in root.walk():
                if node.type == "NodeHeading":
                    targets._enter(f"{hpath}#{plain_text(node)}", node.id)
        return targets

    def _enter(self, link: str, block_id: str) -> None:
        self.exact[link] = block_id
        self.by_base.setdefault(base_name(link), block_id)

    def find(self, link: str) -> str:
        """The block a link means: at its very path, or else the first of its last part; ``""`` for none."""
        return self.exact.get(link) or self.by_base.get(base_name(link), "")


def follow_links(root: Node, hpath: str, targets: LinkTargets, asset_of: Callable[[str], str]) -> None:
    """Rewrite the links of a note. ``asset_of`` gives the asset path for a relative link, ``""`` where it is none."""
    for node in list(root.walk()):
        if node.type == "NodeLinkDest":
            node.data = asset_of(_relative(node.data or "")) or node.data
        elif node.type == "NodeTextMark" and node.fields.get("TextMarkType") == "a":
            _follow_mark(node, hpath, targets, asset_of)
        elif node.type == "NodeText" and "[[" in (node.data or ""):
            _follow_text(node, hpath, targets)


def _relative(link: str) -> str:
    """The file a link names; ``""`` for an address."""
    if not link or link.startswith(("/", "#", "data:")) or ":/" in link or ":\\" in link or _SCHEME.match(link):
        return ""
    return unquote(link)


def _follow_mark(node: Node, hpath: str, targets: LinkTargets, asset_of: Callable[[str], str]) -> None:
    link = _relative(str(node.fields.get("TextMarkAHref", "")))
    if not link:
        return
    asset = asset_of(link)
    if asset:
        node.fields["TextMarkAHref"] = asset
        return
    text = str(node.fields.get("TextMarkTextContent", ""))
    if not _NOTE.search(link) or not text:
        return
    note = _NOTE.sub("", link)
    block_id = targets.find(f"{joined_path(dir_name(hpath), note)}#")
    if block_id:
        node.fields = _reference(block_id, text, is_static=True)
    else:
        # What leads to no imported note stays visible as the wiki link it was on its way to become.
        node.insert_before(Node("NodeText", data=f"[[{note}|{text}]]"))
        node.detach()


def _follow_text(node: Node, hpath: str, targets: LinkTargets) -> None:
    text, done = node.data or "", 0
    pieces: list[Node] = []
    for found in _WIKI.finditer(text):
        link, bar, alias = found[1].partition("|")
        path = joined_path(dir_name(hpath), link.strip())
        block_id = targets.find(path if "#" in path else f"{path}#")
        if not block_id:
            continue
        if found.start() > done:
            pieces.append(Node("NodeText", data=text[done : found.start()]))
        shown = alias.strip() if bar else base_name(path)
        pieces.append(Node("NodeTextMark", fields=_reference(block_id, shown, is_static=bool(bar))))
        done = found.end()
    if not pieces:
        return
    if done < len(text):
        pieces.append(Node("NodeText", data=text[done:]))
    for piece in pieces:
        node.insert_before(piece)
    node.detach()


def _reference(block_id: str, text: str, *, is_static: bool) -> dict[str, str]:
    return {
        "TextMarkType": "block-ref",
        "TextMarkBlockRefID": block_id,
        "TextMarkBlockRefSubtype": "s" if is_static else "d",
        "TextMarkTextContent": text,
    }
