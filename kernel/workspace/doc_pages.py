"""[core] Which blocks of a document getDoc shows: from where, in which direction, how many, and none that a fold hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.nodes import BLOCK_TYPES, MARKER_TYPES
from kernel.workspace.render.footnotes import section
from kernel.workspace.render.inlines import is_mark, plain_text
from kernel.workspace.sections import HEADING_FOLD, heading_above, hidden_by_fold, is_folded, level_of, section_of
from kernel.workspace.tree import Node

MODE_ONLY: Final = 0
MODE_UP: Final = 1
MODE_DOWN: Final = 2
MODE_BOTH: Final = 3
MODE_END: Final = 4
_NOT_COUNTED: Final = frozenset({"NodeList", "NodeBlockquote", "NodeSuperBlock", "NodeCallout"})


@dataclass(slots=True)
class PageRequest:
    """What a caller wants to see. ``size`` is a number of blocks."""

    block_id: str
    index: int = 0
    mode: int = MODE_ONLY
    size: int = 0
    start_id: str = ""
    end_id: str = ""
    is_backlink: bool = False
    originals: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Page:
    """What is shown: ``nodes`` are blocks of the stored tree; ``first_index`` numbers the first of them in the DOM."""

    nodes: list[Node] = field(default_factory=list)
    first_index: int = 0
    is_end: bool = False
    parent_id: str = ""
    parent2_id: str = ""
    type: str = ""
    block_count: int = 0
    scrolls: bool = False
    is_backlink_expanded: bool = False


def page_of(root: Node, request: PageRequest, dynamic_load_blocks: int) -> Page:
    """The page of a document that a request asks for."""
    found = _find(root, request.block_id)
    node, index = _start(root, found, request)
    page = Page(first_index=index)
    page.block_count = sum(child.type in BLOCK_TYPES for child in root.children)
    is_document = found is root
    page.type = "NodeDocument" if is_document else node.type
    page.parent_id, page.parent2_id = _parents(node)
    page.scrolls = _counts_over(root, dynamic_load_blocks)
    if request.is_backlink:
        page.nodes, page.is_backlink_expanded = section(node), is_expanded(node, request.originals)
    elif request.start_id and request.end_id and page.scrolls and (start := _find_block(root, request.start_id)):
        page.nodes, page.is_end = _between(start, request.end_id, dynamic_load_blocks)
        page.first_index += _position(root, page.nodes[0])
    else:
        page.nodes, page.is_end = _by_mode(node, request, is_document, found.type == "NodeHeading")
    if request.mode != MODE_ONLY or is_document:
        page.nodes = [
            one
            for one in page.nodes
            if not is_in_folded_heading(one)
            or ((request.mode == MODE_ONLY or one.id == request.block_id) and not is_document)
        ]
    return page


def shown_copy(nodes: list[Node], block_id: str, ref_counts: dict[str, int]) -> list[Node]:
    """Copies of the nodes as they are drawn: without what a fold hides, with the numbers of references."""
    copies = []
    for node in nodes:
        is_hidden_itself = is_in_folded_heading(node)
        copy = node.clone()
        hidden = hidden_by_fold(copy)
        for below in list(copy.walk()):
            if id(below) in hidden and below.parent is not None:
                below.detach()
                continue
            if below.type not in BLOCK_TYPES:
                continue
            if not is_hidden_itself and below.properties.get(HEADING_FOLD) == "1":
                below.properties.pop(HEADING_FOLD)
                below.properties.pop("fold", None)
            if count := ref_counts.get(below.id, 0):
                below.properties["refcount"] = str(count)
        copies.append(copy)
    return copies


def is_in_folded_heading(node: Node) -> bool:
    """Whether a block stands, at any depth, in the section of a folded heading."""
    above = heading_above(node)
    while above is not None:
        if above.type == "NodeHeading" and (is_folded(above) or above.properties.get(HEADING_FOLD) == "1"):
            return True
        above = heading_above(above)
    return False


def is_expanded(node: Node, originals: Mapping[str, str]) -> bool:
    """An item or heading that says more than its references is shown folded. ``originals``: item → what refers in it."""
    if node.type == "NodeHeading":
        return not _says_more(node)
    if node.type != "NodeListItem":
        return True
    blocks = [child for child in node.children if child.type != "NodeTaskListItemMarker"]
    if len(blocks) < 2:
        return True
    return not any(_says_more(child) for child in blocks if originals.get(node.id) == child.id)


def _says_more(block: Node) -> bool:
    return any(plain_text(inline).strip() for inline in block.children if not is_mark(inline, "block-ref"))


def _find(root: Node, block_id: str) -> Node:
    return _find_block(root, block_id) or root


def _find_block(root: Node, block_id: str) -> Node | None:
    return next((node for node in root.walk() if node.id == block_id), None)


def _position(root: Node, node: Node) -> int:
    """How many nodes of any kind come up to and with this one, in document order."""
    return next(position for position, one in enumerate(root.walk(), 1) if one is node)


def _top_of(root: Node, node: Node) -> Node:
    """The block right below the document in which a node stands."""
    while node.parent is not None and node.parent is not root:
        node = node.parent
    return node


def _start(root: Node, found: Node, request: PageRequest) -> tuple[Node, int]:
    """Where the page begins, and the DOM index of what it begins with."""
    if found is root:
        if request.mode == MODE_END:
            return root.children[-1], request.index + sum(1 for _ in root.walk())
        if 0 < request.index <= len(root.children):
            return _unfolded(root.children[request.index - 1]), request.index
        node = root.children[0]
    elif request.index == 0 and request.mode != MODE_ONLY:
        return _top_of(root, found), _position(root, found)
    else:
        node = found
    if request.index > 1:
        for position, one in enumerate(root.walk(), 1):
            if position == request.index:
                return _top_of(root, one), request.index
    return node, request.index


def _unfolded(node: Node) -> Node:
    if node.properties.get(HEADING_FOLD) == "1" and node.parent is not None:
        for sibling in reversed(node.parent.children[: node.index()]):
            if is_folded(sibling):
                return sibling
    return node


def _parents(node: Node) -> tuple[str, str]:
    assert node.parent is not None, "a page begins below its document"
    inner = node.parent if node.type == "NodeListItem" else node
    above = heading_above(inner)
    return node.parent.id, above.id if above is not None else node.parent.id


def count_blocks(node: Node) -> int:
    """Blocks as the kernel counts what it loads: containers but items are free, a folded block is one."""
    count = 0
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type in BLOCK_TYPES and one.type not in _NOT_COUNTED:
            count += 1
            if is_folded(one):
                continue
        stack.extend(one.children)
    return count


def _counts_over(root: Node, limit: int) -> bool:
    count = 0
    for node in root.walk():
        count += count_blocks(node) if count else 1
        if count > limit:
            return True
    return False


def _between(start: Node, end_id: str, limit: int) -> tuple[list[Node], bool]:
    nodes = [start]
    hidden = _hidden_siblings(start)
    sibling = start.next
    while sibling is not None:
        if id(sibling) not in hidden:
            nodes.append(sibling)
            if sibling.id == end_id:
                return nodes, sibling.next is None
            if len(nodes) >= limit:
                break
        sibling = sibling.next
    return nodes, False


def _hidden_siblings(node: Node) -> set[int]:
    return hidden_by_fold(node.parent) if node.parent is not None else set()


def _by_mode(node: Node, request: PageRequest, is_document: bool, is_heading: bool) -> tuple[list[Node], bool]:
    hidden = _hidden_siblings(node)
    siblings = node.parent.children if node.parent is not None else [node]
    place = node.index() if node.parent is not None else 0
    before = [one for one in reversed(siblings[:place]) if id(one) not in hidden]
    after = [one for one in siblings[place + 1 :] if id(one) not in hidden and one.type not in MARKER_TYPES]
    here = [] if id(node) in hidden else [node]
    size = request.size
    if request.mode == MODE_ONLY:
        if is_document:
            return [node, *_take(after, size)], False
        return [node, *(_section(node, hidden, size) if is_heading else [])], False
    if request.mode == MODE_END:
        return list(reversed(_take([*here, *before], size))), True
    if request.mode == MODE_UP:
        return list(reversed(_take(before, size))), place == 0
    if request.mode == MODE_DOWN:
        return _take(after, size), not _after_section(node)
    if request.mode == MODE_BOTH:
        return _around([*here, *before], after, request), False
    return [], False


def _take(nodes: list[Node], size: int) -> list[Node]:
    """Nodes until more than ``size`` blocks are loaded; the first counts as one, whatever it holds."""
    taken: list[Node] = []
    count = 0
    for node in nodes:
        taken.append(node)
        count += count_blocks(node) if count else 1
        if size < count:
            break
    return taken


def _section(heading: Node, hidden: set[int], size: int) -> list[Node]:
    taken: list[Node] = []
    if is_folded(heading):
        return taken
    for node in section_of(heading):
        if id(node) in hidden and not _is_hidden_by(heading, node):
            continue
        taken.append(node)
        if size < len(taken):
            break
    return taken


def _is_hidden_by(heading: Node, node: Node) -> bool:
    """Whether the fold that hides a block is one above the heading that is shown, not one in its section."""
    folded: list[int] = []
    section = section_of(heading)
    for sibling in section[: section.index(node) + 1]:
        level = level_of(sibling)
        while level and folded and folded[-1] >= level:
            folded.pop()
        if level and is_folded(sibling) and sibling is not node:
            folded.append(level)
    return not folded


def _after_section(node: Node) -> bool:
    """Whether anything follows a block and, if it is a folded heading, its section."""
    if node.type == "NodeHeading" and is_folded(node) and (section := section_of(node)):
        return section[-1].next is not None
    return node.next is not None


def _around(before: list[Node], after: list[Node], request: PageRequest) -> list[Node]:
    size = request.size
    up: list[Node] = []
    count = 0
    for one in before:
        up.append(one)
        count += count_blocks(one) if count else 1
        if (request.index > 0 and count > 1) or (request.index <= 0 and size < count):
            break
    size = size // 2 if size // 2 < count else size - count
    return [*reversed(up), *_take(after, size)]
