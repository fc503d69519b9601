"""[core] The documents below a document, in one page with it. Source: siyuan-api A9, and the recorded kernel."""

from __future__ import annotations

from typing import Final

from kernel.workspace.tree import Node

_LEVEL_MAX: Final = 6


def merge_documents(page: Node, documents: list[tuple[int, Node]]) -> None:
    """Add documents to a page (a NodeDocument that is ours), each below its title as a heading of its depth.

    They stand behind the last block that says something: an empty paragraph at the end of the page stays at the end,
    one at the end of a document is left out, and a page of one empty paragraph is given up for what is merged.
    """
    if not page.children:
        page.append(Node("NodeParagraph"))
    at = next((block for block in reversed(page.children) if not _is_blank(block)), page.children[0])
    place = at.index() + 1
    for depth, document in documents:
        for block in _titled(depth, document):
            page.insert(place, block)
            place += 1
    if _is_blank(at):
        at.detach()


def _titled(depth: int, document: Node) -> list[Node]:
    text = Node("NodeText", data=document.properties.get("title", ""))
    fields = {"HeadingLevel": min(_LEVEL_MAX, depth)}
    title = Node("NodeHeading", id=document.id, properties={"id": document.id}, fields=fields, children=[text])
    blocks = [child.clone() for child in document.children]
    if blocks and _is_blank(blocks[-1]):
        blocks.pop()
    return [title, *blocks]


def _is_blank(block: Node) -> bool:
    return block.type == "NodeParagraph" and not block.children
