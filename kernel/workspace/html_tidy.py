"""[core] What the kernel puts right in a parsed DOM before it reads it."""

from __future__ import annotations

from typing import Final

from kernel.workspace.elements import COMMENT, Element
from kernel.workspace.markdown.characters import UNICODE_BLANKS, ZERO_WIDTH_SPACE

_INLINE: Final = frozenset(
    ["code", "strong", "b", "em", "i", "mark", "sup", "sub", "del", "s", "strike", "a", "img", "u", "kbd", "span"]
)
_TEMPORARY: Final = frozenset({"search-mark", "virtual-block-ref"})
_TABLE_FRAME: Final = frozenset({"table", "thead", "tbody", "tr"})


def tidy(root: Element) -> None:
    """Remove blank texts between blocks, comments and temporary marks; ``<br>`` written as text breaks the line."""
    stack: list[tuple[Element, bool, bool]] = [(root, False, False)]
    while stack:
        element, in_table, in_code = stack.pop()
        _clean_children(element)
        in_table = in_table or element.tag == "table"
        in_code = in_code or _is_code(element)
        for child in element.children:
            if child.is_text and not in_table and not in_code and "<br" in child.data:
                child.data = child.data.replace("<br>", "\n").replace("<br/>", "\n").replace("<br />", "\n")
        stack.extend((child, in_table, in_code) for child in element.children if child.children)


def _is_code(element: Element) -> bool:
    kind = element.get("data-type")
    return (element.tag == "div" and kind == "NodeCodeBlock") or (element.tag == "span" and kind == "code")


def _clean_children(parent: Element) -> None:
    children = _without_temporary(parent)
    kept: list[Element] = []
    for index, child in enumerate(children):
        around = (children[index - 1] if index else None, children[index + 1] if index + 1 < len(children) else None)
        if _keeps(child, parent, around):
            kept.append(child)
            if child.tag == "span" and child.children and child.children[-1].tag == "br":
                line_break = child.children.pop()
                line_break.parent = parent
                kept.append(line_break)
    parent.children = kept


def _without_temporary(parent: Element) -> list[Element]:
    """The children, a search's highlight replaced by what it highlights."""
    if not any(child.get("data-type") in _TEMPORARY for child in parent.children):
        return parent.children
    children: list[Element] = []
    for child in parent.children:
        if child.tag == "span" and child.get("data-type") in _TEMPORARY:
            for inner in child.children:
                inner.parent = parent
            children += child.children
        else:
            children.append(child)
    return children


def _is_inline(element: Element | None) -> bool:
    return element is not None and (element.tag in _INLINE or not element.is_known)


def _keeps(child: Element, parent: Element, around: tuple[Element | None, Element | None]) -> bool:
    if not child.is_text and child.tag != COMMENT:
        return True
    if _is_inline(around[0]) or _is_inline(around[1]) or _is_inline(parent):
        if around[0] is not None and around[0].tag == "strong":
            child.data = child.data.removeprefix(ZERO_WIDTH_SPACE).removesuffix(ZERO_WIDTH_SPACE)
        return True
    if child.tag == COMMENT:
        return False
    data = child.data.strip(" ")
    while "\n\n" in data:
        data = data.replace("\n\n", "")
    if not data:
        return False
    if parent.tag in _TABLE_FRAME:
        child.data = child.data.strip(UNICODE_BLANKS)
    return bool(child.data)
