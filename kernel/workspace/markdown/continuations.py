"""[core] Whether a line continues an open block: one rule per kind."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from kernel.workspace.markdown.characters import ASCII_BLANKS
from kernel.workspace.markdown.draft import ATTRIBUTE_LIST, Draft
from kernel.workspace.markdown.html_lines import KINDS_ENDED_BY_BLANK
from kernel.workspace.markdown.ial import looks_identified, read_block_list
from kernel.workspace.markdown.lines import TAB_COLUMNS, Line

if TYPE_CHECKING:
    from kernel.workspace.markdown.blocks import BlockParser


class Continued(Enum):
    """What a line is to an open block."""

    YES = 0
    NO = 1
    ENDED = 2  # the line ended the block and holds nothing else


def continues(block: Draft, line: Line, parser: BlockParser) -> Continued:
    """Whether ``line``, looked at from its cursor, continues ``block``; moves the cursor behind what the block takes."""
    match block.kind:
        case "NodeParagraph":
            return Continued.NO if line.blank else Continued.YES
        case "NodeListItem":
            return _item(block, line)
        case "NodeBlockquote" | "NodeCallout":
            return _quote(line)
        case "NodeCodeBlock":
            return _code(block, line, parser)
        case "NodeMathBlock":
            return _math(block, line, parser)
        case "NodeHTMLBlock":
            return _html(block, line)
        case "NodeSuperBlock":
            return _super_block(line, parser)
        case "NodeList":
            return Continued.YES
    return Continued.NO


def _item(block: Draft, line: Line) -> Continued:
    marker = block.marker
    assert marker is not None, "an item has a marker"
    if line.blank:
        if not block.children:
            return Continued.NO
        line.skip_blanks()
        return Continued.YES
    if line.indent < marker.offset + marker.padding:
        return Continued.NO
    line.advance(marker.offset + marker.padding, columns=True)
    return Continued.YES


def _quote(line: Line) -> Continued:
    if line.indented or line.peek(line.next) != ">":
        return Continued.NO
    line.skip_blanks()
    line.advance(1, columns=False)
    if line.peek() in (" ", "\t"):
        line.advance(1, columns=True)
    return Continued.YES


def _code(block: Draft, line: Line, parser: BlockParser) -> Continued:
    if not block.fence:
        if not line.indented and not line.blank:
            return Continued.NO
        line.advance(min(line.indent, TAB_COLUMNS), columns=True)
        return Continued.YES
    if not line.indented and _closes_fence(line.text[line.next :], block.fence):
        parser.close(block)
        return Continued.ENDED
    _take_indent(block, line)
    return Continued.YES


def _closes_fence(text: str, fence: str) -> bool:
    if not text.startswith(fence):
        return False
    return not text.strip(ASCII_BLANKS).strip(fence[0])


def _take_indent(block: Draft, line: Line) -> None:
    """Take off as many blanks as stood before the block's opening."""
    for _ in range(block.indent):
        if line.peek() not in (" ", "\t"):
            break
        line.advance(1, columns=True)


def _math(block: Draft, line: Line, parser: BlockParser) -> Continued:
    text = line.text[line.next :]
    if not line.indented:
        if looks_identified(text) and (attributes := read_block_list(text)):
            _attach(block, attributes, text)
            parser.close(block)
            return Continued.ENDED
        if text.startswith("$$") and not text.strip(ASCII_BLANKS).strip("$"):
            parser.close(block)
            return Continued.ENDED
    _take_indent(block, line)
    return Continued.YES


def _attach(block: Draft, attributes: list[tuple[str, str]], text: str) -> None:
    """The attribute list on a line that ends a block belongs to that block."""

    block.attributes = attributes
    block.identity = dict(attributes).get("id", "")
    lines = Draft(ATTRIBUTE_LIST, text)
    lines.attributes = attributes
    lines.closed = True
    block.insert_after(lines)


def closes_math(block: Draft) -> bool:
    """Whether the last line of a math block ends it: with two dollars that are not the opening ones."""
    trimmed = block.pieces[-1].rstrip(ASCII_BLANKS)
    if not trimmed.endswith("$$"):
        return False
    return (len(block.pieces) > 1 and "$$" in block.pieces[0]) or trimmed.find("$$") != trimmed.rfind("$$")


def _html(block: Draft, line: Line) -> Continued:
    text = line.text[line.position :]
    if looks_identified(text):
        if block.within("NodeListItem"):
            text = text.lstrip(ASCII_BLANKS)
        if read_block_list(text):
            return Continued.NO
    if line.blank and block.html_kind in KINDS_ENDED_BY_BLANK:
        return Continued.NO
    return Continued.YES


def _super_block(line: Line, parser: BlockParser) -> Continued:
    if line.text[line.next :].strip(ASCII_BLANKS) != "}}}":
        return Continued.YES
    parser.close_super_block()
    return Continued.ENDED
