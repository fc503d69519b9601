"""[core] References between blocks: which there are, what their anchors say, and how anchors follow their targets."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from kernel.ids import NODE_ID
from kernel.workspace.events import MAIN, PROTYLE
from kernel.workspace.limits import ANCHOR_RUNES_MAX
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES
from kernel.workspace.render.content import anchor_content, first_leaf
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

# An anchor may hold a reference whose anchor follows in turn: so many rounds, as the kernel does.
ANCHOR_ROUNDS_MAX: Final = 7
_FIXED_TEXTS: Final = {
    "NodeBlockQueryEmbed": "Query Embed Block...",
    "NodeIFrame": "IFrame...",
    "NodeThematicBreak": "Thematic Break...",
    "NodeVideo": "Video...",
    "NodeAudio": "Audio...",
    "NodeAttributeView": "Database...",
}


def is_block_ref(node: Node) -> bool:
    return node.type == "NodeTextMark" and "block-ref" in str(node.fields.get("TextMarkType", "")).split()


def target_ids(node: Node) -> list[str]:
    """The ids that one inline points to: a reference, or the ids written in an embed's statement."""
    if is_block_ref(node):
        target = str(node.fields.get("TextMarkBlockRefID", ""))
        return [target] if target else []
    if node.type == "NodeBlockQueryEmbedScript":
        return list(dict.fromkeys(NODE_ID.findall(node.data)))
    return []


def targets_in(node: Node) -> list[str]:
    """Every id that a subtree points to, each once."""
    return list(dict.fromkeys(target for below in node.walk() for target in target_ids(below)))


def block_of(node: Node) -> Node:
    """The block that an inline stands in; a block itself."""
    while node.type not in BLOCK_TYPES and node.parent is not None:
        node = node.parent
    return node


def references_in(root: Node) -> Iterator[tuple[str, str]]:
    """(block, target) of every reference of a document, each pair once."""
    seen: set[tuple[str, str]] = set()
    for node in root.walk():
        for target in target_ids(node):
            pair = (block_of(node).id, target)
            if pair not in seen:
                seen.add(pair)
                yield pair


def references_to(workspace: Workspace, def_ids: Iterable[str]) -> list[tuple[str, str, str]]:
    """(document, block, target) of every reference to one of the ids."""
    wanted = set(def_ids)
    return [
        (root_id, block_id, target)
        for root_id in workspace.blocks.referrers(wanted)
        for block_id, target in references_in(workspace.document(root_id).root)
        if target in wanted
    ]


def document_ref_counts(workspace: Workspace, root_ids: Collection[str]) -> dict[str, int]:
    """Document id → how many blocks refer to it or to one of its blocks (or to one that an update left out)."""
    blocks = workspace.blocks
    known = [entry for root_id in root_ids if (entry := blocks.documents.get(root_id)) is not None]
    wanted = {one for entry in known for one in (entry.id, *entry.block_ids)}
    wanted.update(blocks.left_out_of({entry.id for entry in known}))
    referring: dict[str, set[str]] = {}
    for _, block_id, target in references_to(workspace, wanted):
        root_id = blocks.root_of(target)
        assert root_id is not None, "what is wanted belongs to a document"
        referring.setdefault(root_id, set()).add(block_id)
    return {root_id: len(referrers) for root_id, referrers in referring.items()}


def block_ref_counts(workspace: Workspace, def_ids: Iterable[str]) -> dict[str, int]:
    """Block id → how many blocks refer to it."""
    counts: dict[str, int] = {}
    for _, _, target in references_to(workspace, def_ids):
        counts[target] = counts.get(target, 0) + 1
    return counts


def ref_text(node: Node) -> str:
    """What a dynamic anchor to this block says, html-escaped: its name, else its text, cut to a length."""
    name = unescaped_attribute(node.properties.get("name", ""))
    if name:
        return _escaped(name.strip())
    if node.type in _FIXED_TEXTS:
        return _FIXED_TEXTS[node.type]
    if node.type == "NodeDocument":
        return _escaped(unescaped_attribute(node.properties.get("title", "")))
    shown = first_leaf(node) if node.type in CONTAINER_TYPES else node
    text = "" if shown is None else block_text(shown)
    return text if len(text) <= ANCHOR_RUNES_MAX else f"{text[:ANCHOR_RUNES_MAX]}..."


def full_text(node: Node) -> str:
    """The text of a block with its lines, html-escaped; of a container, that of its first leaf."""
    if node.type in _FIXED_TEXTS:
        return _FIXED_TEXTS[node.type]
    if node.type == "NodeDocument":
        return _escaped(unescaped_attribute(node.properties.get("title", "")))
    leaf = first_leaf_or_self(node)
    return "" if leaf is None else block_text(leaf, keeps_lines=True)


def block_text(node: Node, *, keeps_lines: bool = False) -> str:
    """The text of a block on one line, html-escaped; ``image`` for each image that says nothing."""
    raw = anchor_content(node).strip()
    text = _escaped(html.unescape(raw if keeps_lines else raw.replace("\n", ""))).strip()
    if text:
        return text
    return "image" * sum(below.type == "NodeImage" for below in node.walk())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def degrade_unknown_refs(exists: Callable[[str], bool], root: Node) -> None:
    """A reference to a block that exists nowhere, not even in the new text, loses its id and becomes text."""
    own = {node.id for node in root.walk() if node.id}
    for node in root.walk():
        target = node.fields.get("TextMarkBlockRefID")
        if not target or not is_block_ref(node) or target in own or exists(target):
            continue
        del node.fields["TextMarkBlockRefID"]
        node.fields.pop("TextMarkBlockRefSubtype", None)
        node.fields["TextMarkTextContent"] = str(node.fields.get("TextMarkTextContent", "")).strip()


def transfer_references(workspace: Workspace, source_id: str, target: Node, block_ids: list[str]) -> None:
    """Let references to one block point to another: all of them, or those in the given blocks."""
    text = ref_text(target)
    wanted = set(block_ids) or {block_id for _, block_id, _ in references_to(workspace, [source_id])}
    for root_id in dict.fromkeys(workspace.blocks.root_of(block_id) for block_id in sorted(wanted)):
        if root_id is None:
            continue
        document = workspace.edit(root_id)
        for node in document.root.walk():
            if node.fields.get("TextMarkBlockRefID") != source_id or block_of(node).id not in wanted:
                continue
            node.fields["TextMarkBlockRefID"] = target.id
            if node.fields.get("TextMarkBlockRefSubtype") == "d":
                node.fields["TextMarkTextContent"] = text
        workspace.save(document)


def refresh_anchors(
    workspace: Workspace, changed: Iterable[Node], unknown: Collection[tuple[str, str]] = frozenset()
) -> list[str]:
    """Rewrite the dynamic anchors that point to changed blocks, and those that point to them in turn; items of
    databases that stand for changed blocks follow too. ``unknown``: (block, target) of references that do not follow.

    Returns the documents that were rewritten.
    """
    rewritten: dict[str, None] = {}
    changed = list(changed)
    targets = {node.id: node for node in changed}
    for _ in range(ANCHOR_ROUNDS_MAX):
        targets = _refresh_round(workspace, _with_relatives(workspace, targets), unknown, rewritten)
        if not targets:
            break
    from kernel.workspace.views.binding import follow_blocks

    follow_blocks(workspace, changed)
    return list(rewritten)


def _with_relatives(workspace: Workspace, targets: dict[str, Node]) -> dict[str, Node]:
    """A container's anchor is that of its first leaf: with a leaf its containers change, with a container its leaves."""
    found = dict(targets)
    for node in targets.values():
        parent = node.parent
        while parent is not None and parent.type != "NodeDocument" and first_leaf(parent) is first_leaf_or_self(node):
            found[parent.id] = parent
            parent = parent.parent
        if node.type != "NodeDocument" and node.type in CONTAINER_TYPES:
            found.update({below.id: below for below in node.walk() if below.type in BLOCK_TYPES})
    return found


def first_leaf_or_self(node: Node) -> Node | None:
    """A container's first leaf; any other block itself."""
    return first_leaf(node) if node.type in CONTAINER_TYPES else node


def _refresh_round(
    workspace: Workspace,
    targets: dict[str, Node],
    unknown: Collection[tuple[str, str]],
    rewritten: dict[str, None],
) -> dict[str, Node]:
    referring: dict[str, Node] = {}
    for root_id in workspace.blocks.referrers(targets):
        document = workspace.edit(root_id)
        rewritten_nodes: list[Node] = []
        for node in document.root.walk():
            target = targets.get(node.fields.get("TextMarkBlockRefID", "")) if is_block_ref(node) else None
            if target is None or node.fields.get("TextMarkBlockRefSubtype") != "d":
                continue
            text = ref_text(target).strip() or target.id
            if str(node.fields.get("TextMarkTextContent", "")).strip() == text:
                continue
            block = block_of(node)
            if (block.id, target.id) in unknown:
                continue
            node.fields["TextMarkTextContent"] = text
            referring[block.id] = block
            rewritten_nodes.append(node)
            data = {"rootID": root_id, "blockID": block.id, "defBlockID": target.id, "refText": text}
            workspace.emit("setRefDynamicText", data, to=MAIN)
        if rewritten_nodes:
            workspace.save(document, rewritten_nodes)
            rewritten[root_id] = None
    return referring


def redraw(workspace: Workspace, *root_ids: str) -> None:
    """Editors load documents again, and those that refer to them; dynamic anchors to their blocks are made anew.

    A document already waiting at the head of the queue is not told twice, as in the kernel.
    """
    told: list[str] = []
    for root_id in root_ids:
        entry = workspace.blocks.documents.get(root_id)
        wanted = entry.block_ids | {root_id} if entry is not None else frozenset()
        references = references_to(workspace, wanted)
        if references:
            referred = {target for _, _, target in references}
            refresh_anchors(
                workspace, [node for node in workspace.document(root_id).root.walk() if node.id in referred]
            )
        for one in [*dict.fromkeys(referring for referring, _, _ in references), root_id]:
            if told[:1] != [one]:
                told.append(one)
    for one in told:
        workspace.emit("reload", one, to=PROTYLE)
