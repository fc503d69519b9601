"""[core] Links between exported documents: anchors where blocks are referred to, and addresses that lead there.

Source: siyuan-markdown section 5, and exports recorded from the kernel.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from kernel.workspace.asset_names import file_path
from kernel.workspace.names import dir_name
from kernel.workspace.render.content import first_leaf
from kernel.workspace.render.footnotes import is_reference, target_of
from kernel.workspace.render.inlines import is_mark
from kernel.workspace.tree import Node

_SUFFIX: Final = ".md"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block is: its document, the path of that document's titles, and whether it is the document itself."""

    root_id: str
    hpath: str
    is_document: bool


def referred_ids(root: Node) -> Iterator[str]:
    """The blocks that a tree refers or links to, repeats kept."""
    for node in root.walk():
        if is_reference(node) and (target_id := target_of(node)):
            yield target_id


def tie(
    root: Node,
    document: Place,
    def_ids: frozenset[str],
    place_of: Callable[[str], Place | None],
    text_of: Callable[[Node], str],
) -> None:
    """Anchor the blocks below ``root`` that are referred to; references to any of ``def_ids`` become plain links."""
    folder = file_path(dir_name(document.hpath))
    for node in list(root.walk()):
        if node.id in def_ids and node.type != "NodeDocument":
            _anchor(node)
        if is_mark(node, "block-ref") and target_of(node) in def_ids:
            target_id = target_of(node)
            node.fields = {
                "TextMarkType": "a",
                "TextMarkAHref": _address(target_id, place_of(target_id), document, folder),
                "TextMarkTextContent": text_of(node),
            }


def _anchor(node: Node) -> None:
    anchor = Node("NodeInlineHTML", data=f'<span id="{node.id}" style="display: none;"></span>')
    leaf = first_leaf(node)
    if leaf is None:
        node.append(anchor)
    elif leaf.type == "NodeTable":
        leaf.insert_before(anchor)
        leaf.insert_before(Node("NodeText", data="\n"))
    else:
        leaf.insert(0, anchor)


def _address(target_id: str, place: Place | None, document: Place, folder: str) -> str:
    if place is None:
        return ""
    if place.root_id == document.root_id:
        return f"#{target_id}"
    address = place.hpath + _SUFFIX + ("" if place.is_document else f"#{target_id}")
    is_beside = dir_name(address) == dir_name(document.hpath)
    address = file_path(address)
    if is_beside:
        return address.removeprefix(f"{folder}/")
    return posixpath.relpath(address, folder or ".")
