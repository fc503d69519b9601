"""[core] From drafts to nodes: inline text is parsed, attribute lists find their blocks, every block gets its id.

Ids: a block takes the id of its attribute list, else a fresh one; without ``updated`` it takes the stamp in its id.
"""

from __future__ import annotations

import base64
from typing import Final

from kernel.workspace.markdown.characters import CARET
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError, Unmarked
from kernel.workspace.markdown.draft import ATTRIBUTE_LIST, CONTAINERS, Draft, ListMarker
from kernel.workspace.markdown.ial import escape_value, read_attributes, read_leading_list, unescape_value, write_list
from kernel.workspace.markdown.inlines import parse_inlines
from kernel.workspace.nodes import BLOCK_TYPES, LIST_BULLET, LIST_ORDERED, LIST_TASK
from kernel.workspace.tree import Node

STAMP_CHARACTERS: Final = 14
_TIGHT: Final = "Tight"  # said of imported lists only
_WITH_INLINES: Final = frozenset({"NodeParagraph", "NodeHeading", "NodeTableCell"})


def assemble(root: Draft, context: MarkdownContext, *, keep_empty: bool = False) -> list[Node]:
    """The blocks of a document. ``keep_empty``: an attribute list that follows another one keeps its empty paragraph.

    Raises:
        MarkdownError: an id so malformed that the kernel gives up.
    """
    _read_inlines(root, context.unmarked)
    _identify(root, context)
    if keep_empty:
        _add_empty_paragraphs(root, context)
    return [_node(child) for child in root.children if child.kind != ATTRIBUTE_LIST]


# --- inline text ---


def _read_inlines(root: Draft, unmarked: Unmarked) -> None:
    stack = [root]
    while stack:
        parent = stack.pop()
        for child in list(parent.children):
            if child.kind == "NodeSuperBlock" and child.children[-1].kind == "NodeSuperBlockLayoutMarker":
                _unmake_super_block(child)
            if child.kind not in _WITH_INLINES:
                continue
            if child.kind == "NodeParagraph" and _vanishes(child, parent):
                continue
            in_cell = child.kind == "NodeTableCell"
            child.inlines = parse_inlines(child.text or "", in_cell=in_cell, unmarked=unmarked)
        stack.extend(reversed(parent.children))


def _unmake_super_block(block: Draft) -> None:
    """A super block without anything in it, not even an end, is text."""
    block.kind = "NodeParagraph"
    block.text = "{{{" + (block.children[-1].text or "")
    block.children.clear()


def _vanishes(block: Draft, parent: Draft) -> bool:
    """Take a paragraph out that has no text at all, or is only attributes for the block before it."""
    if block.text is None:
        block.detach()
        return True
    attributes, _ = read_leading_list(block.text)
    at = block.index()
    if not attributes or at == 0:
        return False
    previous = parent.children[at - 1]
    merged = dict(previous.attributes or ())
    for name, value in attributes:
        merged[name] = escape_value(unescape_value(value))
    previous.attributes = list(merged.items())
    following = parent.children[at + 1] if at + 1 < len(parent.children) else None
    if following is not None and following.kind == ATTRIBUTE_LIST:
        joined = {name: unescape_value(value) for name, value in (*_listed(following), *attributes)}
        following.attributes = list(joined.items())
        following.text = write_list(following.attributes)
    block.detach()
    return True


def _listed(block: Draft) -> list[tuple[str, str]]:
    return read_attributes(block.text or "")


# --- ids ---


def _identify(root: Draft, context: MarkdownContext) -> None:
    if root.identity and len(root.identity) < STAMP_CHARACTERS:
        raise MarkdownError(f"the document's id {root.identity!r} is malformed", invalid_id=root.identity)
    stack = [root]
    while stack:
        parent = stack.pop()
        hollow: list[tuple[Draft, bool]] = []
        for index, child in enumerate(parent.children):
            if child.kind not in BLOCK_TYPES:
                continue
            following = parent.children[index + 1] if index + 1 < len(parent.children) else None
            listed = following is not None and following.kind == ATTRIBUTE_LIST
            if listed and following is not None:
                child.attributes = _listed(following)
            _name(child, context)
            if child.kind == "NodeListItem" and [block.kind for block in child.children] == ["NodeTaskListItemMarker"]:
                # A task without anything gets its paragraph only when the editor shows it: that one has no ``updated``.
                paragraph = child.append(Draft("NodeParagraph", ""))
                paragraph.fields["Late"] = True
            if child.kind == "NodeBlockquote" and len(child.children) == 1:
                hollow.append((child, listed))
        for quote, listed in hollow:
            paragraph = quote.append(Draft("NodeParagraph", ""))
            paragraph.inlines = [Node("NodeText", data=CARET)] if listed else []
        stack.extend(reversed([child for child in parent.children if child.children]))


def _name(block: Draft, context: MarkdownContext) -> None:
    attributes = dict(block.attributes or ())
    if block.fields.get("Late"):
        block.identity = context.new_id()
        block.attributes = [("id", block.identity)]
        return
    if attributes.get("id") == "":
        block.identity = ""  # an id that is given but empty: the block loses all attributes when it is stored
        if not attributes.get("updated"):
            block.attributes = [*(block.attributes or ()), ("updated", context.new_id()[:STAMP_CHARACTERS])]
        return
    identity = attributes.get("id") or block.identity or context.new_id()
    if "updated" not in attributes and len(identity) < STAMP_CHARACTERS:
        raise MarkdownError(f"the id {identity!r} is malformed", invalid_id=identity)
    block.identity = identity
    ordered = {"id": identity} | attributes | {"id": identity}
    if not ordered.get("updated"):
        ordered["updated"] = identity[:STAMP_CHARACTERS]
    block.attributes = list(ordered.items())


def _add_empty_paragraphs(root: Draft, context: MarkdownContext) -> None:
    stack = [root]
    while stack:
        parent = stack.pop()
        children: list[Draft] = []
        for child in parent.children:
            alone = child.kind == ATTRIBUTE_LIST and (children[-1].kind == ATTRIBUTE_LIST if children else True)
            if alone and parent.kind in CONTAINERS:
                paragraph = Draft("NodeParagraph", "")
                paragraph.parent = parent
                paragraph.attributes = _listed(child)
                paragraph.identity = dict(paragraph.attributes).get("id") or context.new_id()
                children.append(paragraph)
            children.append(child)
        parent.children = children
        stack.extend(children)


# --- nodes ---


def _node(draft: Draft) -> Node:
    """The node of a draft and all below it."""
    root = _single(draft)
    stack = [(draft, root)]
    while stack:
        source, target = stack.pop()
        for inline in source.inlines or ():
            target.append(inline)
        for child in source.children:
            if child.kind == ATTRIBUTE_LIST:
                continue
            node = _single(child)
            target.append(node)
            stack.append((child, node))
    return root


def _single(draft: Draft) -> Node:
    node = Node(draft.kind, id=draft.identity, properties=dict(draft.attributes or ()))
    build = _BUILDERS.get(draft.kind)
    if build is not None:
        build(draft, node)
    return node


def _heading(draft: Draft, node: Node) -> None:
    node.fields["HeadingLevel"] = draft.fields["HeadingLevel"]


def _list(draft: Draft, node: Node) -> None:
    assert draft.marker is not None, "a list has the marker of its first item"
    typ = draft.marker.typ
    if _TIGHT in draft.fields:
        node.fields["ListData"] = _imported_data(draft, draft.marker)
        return
    node.fields["ListData"] = {} if typ == LIST_BULLET else {"Typ": typ}


def _item(draft: Draft, node: Node) -> None:
    marker = draft.marker
    assert marker is not None, "an item has a marker"
    if _TIGHT in draft.fields:
        node.data = f"{marker.number}." if marker.delimiter else marker.bullet
        node.fields["ListData"] = _imported_data(draft, marker)
        return
    node.fields["ListData"] = item_data(marker.typ, marker.number)


def _imported_data(draft: Draft, marker: ListMarker) -> dict[str, object]:
    """The ListData of an imported list or item: all that the marker said, in the kernel's order; nothing stands for zero."""
    is_ordered = bool(marker.delimiter)
    data: dict[str, object] = {
        "Typ": marker.typ,
        "Tight": draft.fields[_TIGHT],
        "BulletChar": 0 if is_ordered else ord(marker.bullet),
        "Start": marker.number if is_ordered else 0,
        "Delimiter": ord(marker.delimiter) if is_ordered else 0,
        "Padding": marker.padding,
        "MarkerOffset": marker.offset,
        "Marker": _base64(f"{marker.number}." if is_ordered else marker.bullet),
        "Num": marker.number if is_ordered else -1,
    }
    return {name: value for name, value in data.items() if value}


def item_data(typ: int, number: int, *, marker: str | None = None) -> dict[str, object]:
    """The ListData of an item: every bullet is ``*``, every number ends in a dot, unless ``marker`` says otherwise."""
    if typ == LIST_ORDERED:
        text = f"{number}." if marker is None else marker
        return {"Typ": typ, "Delimiter": ord("."), "Marker": _base64(text), "Num": number}
    data: dict[str, object] = {"BulletChar": ord("*"), "Marker": _base64("*" if marker is None else marker)}
    return {"Typ": typ, **data} if typ == LIST_TASK else data


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _code(draft: Draft, node: Node) -> None:
    if not draft.fence:
        node.append(Node("NodeCodeBlockCode", data=draft.text or ""))
        return
    fill_code_block(node, str(draft.fields.get("CodeBlockInfo", "")), draft.text or "", fence=draft.fence)


def fill_code_block(node: Node, info: str, code: str, *, fence: str = "```") -> None:
    """Give a code block its fences, info string and code."""
    node.fields["IsFencedCodeBlock"] = True
    node.append(Node("NodeCodeBlockFenceOpenMarker", data=fence))
    node.append(Node("NodeCodeBlockFenceInfoMarker", fields=code_info(info)))
    node.append(Node("NodeCodeBlockCode", data=code))
    node.append(Node("NodeCodeBlockFenceCloseMarker", data=fence))


def code_info(info: str) -> dict[str, object]:
    """The fields of a code block's info marker."""
    return {"CodeBlockInfo": _base64(info)} if info else {}


def _math(draft: Draft, node: Node) -> None:
    fill_math_block(node, draft.text or "")


def fill_math_block(node: Node, content: str) -> None:
    node.append(Node("NodeMathBlockOpenMarker"))
    node.append(Node("NodeMathBlockContent", data=content))
    node.append(Node("NodeMathBlockCloseMarker"))


def _embed(draft: Draft, node: Node) -> None:
    fill_embed(node, str(draft.fields["Script"]))


def fill_embed(node: Node, script: str) -> None:
    for type_, data in (
        ("NodeOpenBrace", ""),
        ("NodeOpenBrace", ""),
        ("NodeBlockQueryEmbedScript", script),
        ("NodeCloseBrace", ""),
        ("NodeCloseBrace", ""),
    ):
        node.append(Node(type_, data=data))


def _data(draft: Draft, node: Node) -> None:
    node.data = draft.text or ""


def _fields(draft: Draft, node: Node) -> None:
    node.fields.update({name: value for name, value in draft.fields.items() if value})


def _quote_marker(draft: Draft, node: Node) -> None:
    node.data = ">"


def _cell(draft: Draft, node: Node) -> None:
    if draft.fields.get("TableCellAlign"):
        node.fields["TableCellAlign"] = draft.fields["TableCellAlign"]
    if source := draft.fields.get("AttributeText"):
        node.append(Node("NodeKramdownSpanIAL", data=str(source)))


_BUILDERS: Final = {
    "NodeHeading": _heading,
    "NodeList": _list,
    "NodeListItem": _item,
    "NodeCodeBlock": _code,
    "NodeMathBlock": _math,
    "NodeBlockQueryEmbed": _embed,
    "NodeHTMLBlock": _data,
    "NodeIFrame": _data,
    "NodeVideo": _data,
    "NodeAudio": _data,
    "NodeWidget": _data,
    "NodeSuperBlockLayoutMarker": _data,
    "NodeBlockquoteMarker": _quote_marker,
    "NodeCallout": _fields,
    "NodeAttributeView": _fields,
    "NodeTaskListItemMarker": _fields,
    "NodeTable": _fields,
    "NodeTableCell": _cell,
}
