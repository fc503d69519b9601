"""[core] Neighbouring marks of one kind become one when a DOM is read; no-break blanks become blanks."""

from __future__ import annotations

from typing import Final

from kernel.workspace.markdown.characters import CARET, UNICODE_BLANKS, ZERO_WIDTH_SPACE
from kernel.workspace.tree import Node

_MERGED: Final = frozenset(
    {"code", "em", "strong", "s", "mark", "u", "sub", "sup", "kbd", "text", "tag", "block-ref", "a", "inline-memo"}
)
_TARGETS: Final = {
    "block-ref": ("TextMarkBlockRefID",),
    "a": ("TextMarkAHref", "TextMarkATitle"),
    "inline-memo": ("TextMarkInlineMemoContent",),
}
_SEPARATORS: Final = frozenset("\u3000 \n\t")


def merge_marks(blocks: list[Node]) -> None:
    """Merge in all ``blocks`` and below."""
    stack = list(blocks)
    while stack:
        node = stack.pop()
        if any(child.type in ("NodeTextMark", "NodeText") for child in node.children):
            _merge_children(node)
        stack.extend(child for child in node.children if child.children)


def _merge_children(parent: Node) -> None:
    merged: list[Node] = []
    children = parent.children
    for index, node in enumerate(children):
        if node.type == "NodeText":
            node.data = node.data.replace("\u00a0", " ")
        elif node.type == "NodeTextMark":
            following = children[index + 1] if index + 1 < len(children) else None
            _merge_mark(node, merged, following)
        merged.append(node)
    parent.children = merged


def _merge_mark(node: Node, merged: list[Node], following: Node | None) -> None:
    """Take into ``node`` the mark right before it, if both are of one kind."""
    if not merged:
        return
    previous = merged[-1]
    before = merged[-2] if len(merged) > 1 else None
    through = False  # something invisible between the two goes with the earlier mark
    if previous.type == "NodeKramdownSpanIAL":
        listed = following is not None and following.type == "NodeKramdownSpanIAL" and following.data == previous.data
        if not listed or before is None or not _is_same(node, before):
            return
        through = True
    elif previous.type == "NodeText" and _is_invisible(previous.data) and before is not None and _is_same(node, before):
        through = "tag" not in node.fields["TextMarkType"] or CARET in previous.data
    elif previous.type != "NodeTextMark" or not _is_same(node, previous):
        return
    if not _MERGED.issuperset(node.fields["TextMarkType"].split(" ")):
        return
    merged.pop()
    content = node.fields.get("TextMarkTextContent", "")
    if through:
        earlier = merged.pop()
        caret = CARET if CARET in previous.data else ""
        content = earlier.fields.get("TextMarkTextContent", "") + caret + content
    else:
        content = previous.fields.get("TextMarkTextContent", "") + content
    node.fields["TextMarkTextContent"] = content
    if content:
        node.fields["TextMarkType"] = " ".join(sorted(node.fields["TextMarkType"].split(" ")))


def _is_invisible(text: str) -> bool:
    if _SEPARATORS.intersection(text):
        return False
    return not text.replace(ZERO_WIDTH_SPACE, "").replace(CARET, "").strip(UNICODE_BLANKS)


def _is_same(node: Node, other: Node) -> bool:
    if other.type != "NodeTextMark":
        return False
    types = sorted(node.fields["TextMarkType"].split(" "))
    if types != sorted(other.fields["TextMarkType"].split(" ")):
        return False
    return all(
        node.fields.get(name, "") == other.fields.get(name, "") for kind in types for name in _TARGETS.get(kind, ())
    )
