"""[core] What becomes of a block once its last line is known: tables, task items, callouts, empty items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kernel.workspace.markdown.callouts import read_head
from kernel.workspace.markdown.characters import ASCII_BLANKS, UNICODE_BLANKS
from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.draft import ATTRIBUTE_LIST, Draft
from kernel.workspace.markdown.ial import read_attributes, read_leading_list, rewritten, write_list
from kernel.workspace.markdown.list_markers import is_task_box
from kernel.workspace.markdown.tables import Table, read_table
from kernel.workspace.nodes import LIST_TASK

Finisher = Callable[[Draft, MarkdownContext], "Draft | None"]


def finish(block: Draft, context: MarkdownContext) -> Draft | None:
    """Finish ``block``; the block that stands behind it from now on, if its text has become two blocks."""
    finisher = _FINISHERS.get(block.kind)
    return None if finisher is None else finisher(block, context)


def _paragraph(block: Draft, context: MarkdownContext) -> Draft | None:
    text = block.gather().rstrip(ASCII_BLANKS)
    block.text = text
    item = block.parent
    if item is not None and item.kind == "NodeListItem" and item.children[0] is block:
        if text.startswith("{:") and (attributes := read_attributes(text)):
            _become_empty(block, item, attributes)
            return None
        if item.marker is not None and item.marker.typ == LIST_TASK and len(text) >= 3:
            if _take_task_box(block, item, context):
                return None
            text = block.text or ""
    table = read_table(text)
    return None if table is None else _become_table(block, table)


def mark_tight_lists(root: Draft, stands_apart: Callable[[Draft], bool]) -> None:
    """Say of imported lists whether they are tight. The first item is what the list is, later ones are always tight."""
    waiting = [root]
    while waiting:
        block = waiting.pop()
        waiting += block.children
        if block.kind != "NodeList":
            continue
        # What stands on the line of its item (behind a task's box) has no line above it that counts.
        inner = [child for item in block.children for child in item.children[1:] if child.line != item.line]
        is_tight = not any(map(stands_apart, [*block.children[1:], *inner]))
        block.fields["Tight"] = is_tight
        for item in block.children:
            item.fields["Tight"] = is_tight or item is not block.children[0]


def _become_empty(block: Draft, item: Draft, attributes: list[tuple[str, str]]) -> None:
    """The paragraph was but the attributes of the empty paragraph of an item."""
    block.detach()
    paragraph = item.append(Draft("NodeParagraph", ""))
    paragraph.closed = True
    paragraph.attributes = attributes
    paragraph.identity = dict(attributes).get("id", "")
    lines = item.append(Draft(ATTRIBUTE_LIST, write_list(attributes)))
    lines.attributes = attributes
    lines.closed = True


def _take_task_box(block: Draft, item: Draft, context: MarkdownContext) -> bool:
    """Split ``[x] `` off the item's text; True when what follows is no paragraph but other blocks, now in its place."""
    text = block.text or ""
    _, end = read_leading_list(text)
    text = text[end:]
    whole = len(text) == 3 and is_task_box(text)
    if (not whole and not (len(text) > 3 and text[3] in ASCII_BLANKS)) or text[1] in "[]":
        return False
    marker = Draft("NodeTaskListItemMarker", text[:3])
    marker.closed = True
    marker.fields["TaskListItemMarker"] = ord(text[1])
    marker.fields["TaskListItemChecked"] = text[1] != " "
    marker.parent = item
    item.children.insert(block.index(), marker)
    block.text = text[3:].strip(UNICODE_BLANKS)
    if not block.text:
        return False
    from kernel.workspace.markdown.blocks import parse_blocks

    blocks = parse_blocks(block.text, context).children
    if not blocks or blocks[0].kind == "NodeParagraph":
        return False
    at = block.index()
    del item.children[at]
    for child in blocks:
        child.parent = item
    item.children[at:at] = blocks
    return True


def _become_table(block: Draft, table: Table) -> Draft | None:
    target = block
    if table.before:
        block.text = table.before
        target = Draft("NodeTable")
        block.insert_after(target)
    target.kind = "NodeTable"
    target.closed = True
    target.fields["TableAligns"] = table.aligns
    head = target.append(Draft("NodeTableHead"))
    for row in table.head:
        head.append(row)
    for row in table.body:
        target.append(row)
    return target if target is not block else None


def _list(block: Draft, context: MarkdownContext) -> Draft | None:
    for item in list(block.children):
        if not item.children:
            item.append(Draft("NodeParagraph", "")).closed = True
            item.attributes, item.identity = None, ""  # an item that stays empty loses its attributes
            continue
        first = item.children[0]
        text = first.text or ""
        if len(text) > 7 and text[0] == "{" and first.kind != "NodeMathBlock":
            attributes, end = read_leading_list(text)
            if attributes:
                item.attributes = rewritten(attributes)
                item.identity = attributes[0][1]
                first.text = text[end:].strip(ASCII_BLANKS)
    return None


def _quote(block: Draft, context: MarkdownContext) -> Draft | None:
    if len(block.children) < 2 or block.children[1].kind != "NodeParagraph":
        return None
    first, _, rest = (block.children[1].text or "").partition("\n")
    if not first.startswith("[!") or "]" not in first or not rest.partition("\n")[0]:
        return None
    block.kind = "NodeCallout"
    block.children[0].detach()
    return _callout(block, context)


def _callout(block: Draft, context: MarkdownContext) -> Draft | None:
    paragraph = block.children[0]
    text = paragraph.text or ""
    if len(block.children) == 1 and "\n" not in text:
        block.kind = "NodeBlockquote"
        marker = Draft("NodeBlockquoteMarker")
        marker.parent = block
        block.children.insert(0, marker)
        return None
    head, _, body = text.partition("\n")
    block.fields.update(read_head(head))
    paragraph.text = body or None
    return None


def _code(block: Draft, context: MarkdownContext) -> Draft | None:
    if not block.fence:
        block.text = block.gather().rstrip(ASCII_BLANKS) + "\n"
        return None
    block.text = block.gather().partition("\n")[2]  # the first line is the info string
    return None


def _html(block: Draft, context: MarkdownContext) -> Draft | None:
    block.text = block.gather().rstrip(ASCII_BLANKS)
    return None


def _math(block: Draft, context: MarkdownContext) -> Draft | None:
    text = block.gather()[2:].strip(ASCII_BLANKS)
    block.text = text.removesuffix("$$")
    if "<span data-type=" in block.text:
        from kernel.workspace.markdown.html_tags import plain_text
        from kernel.workspace.markdown.inlines import attach_lists, scan_pieces

        # A formula that was inline before: only what its spans say is the formula.
        pieces = scan_pieces(block.text, in_cell=False, unmarked=context.unmarked)
        attach_lists(pieces)
        block.text = "".join(map(plain_text, pieces))
    return None


_FINISHERS: Final[dict[str, Finisher]] = {
    "NodeParagraph": _paragraph,
    "NodeList": _list,
    "NodeBlockquote": _quote,
    "NodeCallout": _callout,
    "NodeCodeBlock": _code,
    "NodeHTMLBlock": _html,
    "NodeIFrame": _html,
    "NodeVideo": _html,
    "NodeAudio": _html,
    "NodeWidget": _html,
    "NodeMathBlock": _math,
}
