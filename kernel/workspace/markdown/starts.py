"""[core] How each kind of block begins: one function per kind, chosen by the first character of a line.

A start looks at the parser's line from ``line.next`` on. If its block begins there, it closes what is not continued,
adds the block and moves the cursor; it answers whether a container began (the rest of the line is looked at again), a
leaf (the rest is its text), or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

from kernel.workspace.markdown.characters import ASCII_BLANKS, UNICODE_BLANKS
from kernel.workspace.markdown.context import GAP
from kernel.workspace.markdown.draft import ATTRIBUTE_LIST, CONTAINERS, Draft
from kernel.workspace.markdown.entities import unescape_strictly
from kernel.workspace.markdown.html_lines import html_kind
from kernel.workspace.markdown.ial import Attributes, read_block_list, rewritten, write_list
from kernel.workspace.markdown.lines import TAB_COLUMNS
from kernel.workspace.markdown.list_markers import read_marker, skip_attributes
from kernel.workspace.nodes import LIST_ORDERED, LIST_TASK

if TYPE_CHECKING:
    from kernel.workspace.markdown.blocks import BlockParser

HEADING_LEVELS_MAX: Final = 6
FENCE_CHARACTERS_MIN: Final = 3

_HEADING: Final = re.compile(r"(#+)(?=[ \n\t\x0b\x0c\r])")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_BREAK: Final = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}\n\Z")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


class Begun(Enum):
    """What a start has found."""

    NOTHING = 0
    CONTAINER = 1
    LEAF = 2


Start = Callable[["BlockParser", Draft], Begun]


def start_callout(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    content = line.text[line.next + 1 :].strip(UNICODE_BLANKS)
    if not content.startswith("[!") or "]" not in content:
        return Begun.NOTHING
    line.skip_blanks()
    line.advance(1, columns=False)
    parser.close_unmatched()
    parser.add(Draft("NodeCallout"))
    return Begun.CONTAINER


def start_quote(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    line.skip_blanks()
    line.advance(1, columns=False)
    if line.peek() in (" ", "\t"):
        line.advance(1, columns=True)
    parser.close_unmatched()
    quote = parser.add(Draft("NodeBlockquote"))
    quote.append(Draft("NodeBlockquoteMarker")).closed = True
    return Begun.CONTAINER


def start_heading(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    match = _HEADING.match(line.text, line.next)
    if match is None or len(match[1]) > HEADING_LEVELS_MAX:
        return Begun.NOTHING
    parser.close_unmatched()
    heading = parser.add(Draft("NodeHeading", _heading_text(line.text[match.end() :])))
    heading.fields["HeadingLevel"] = len(match[1])
    line.position = len(line.text)
    return Begun.LEAF


def _heading_text(text: str) -> str:
    """The heading's text without blanks around it and without closing hashes."""
    content = text.lstrip(ASCII_BLANKS).partition("\n")[0].rstrip(ASCII_BLANKS)
    bare = content.rstrip("#")
    if not bare:
        return ""
    if bare != content and bare.endswith(" "):
        return bare.rstrip(ASCII_BLANKS)
    return content


def start_fence(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    match = _FENCE.match(line.text, line.next)
    if match is None:
        return Begun.NOTHING
    info = line.text[match.end() :]
    if "~" in info or (match[0][0] == "`" and "`" in info):
        return Begun.NOTHING
    parser.close_unmatched()
    block = parser.add(Draft("NodeCodeBlock"))
    block.fence = match[0]
    block.indent = line.indent
    block.fields["CodeBlockInfo"] = _ESCAPE.sub(r"\1", unescape_strictly(info.strip(ASCII_BLANKS))).partition(" ")[0]
    line.skip_blanks()
    line.advance(len(match[0]), columns=False)
    return Begun.LEAF


def start_indented_code(parser: BlockParser) -> Begun:
    """Code that is indented: only in imported text, and never right below a paragraph's line."""
    line = parser.line
    if not line.indented or line.blank or parser.tip.kind == "NodeParagraph":
        return Begun.NOTHING
    line.advance(TAB_COLUMNS, columns=True)
    parser.close_unmatched()
    parser.add(Draft("NodeCodeBlock"))
    return Begun.LEAF


_MEDIA: Final = (("<iframe", "NodeIFrame"), ("<video", "NodeVideo"), ("<audio", "NodeAudio"))


def start_html(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    if "<span " in line.text:
        return Begun.NOTHING
    text = line.text[line.next :]
    kind = html_kind(text, in_paragraph=parser.tip.kind == "NodeParagraph")
    if kind == 0:
        return Begun.NOTHING
    # Even a tag that begins no block here ends what the line does not continue: it is never a lazy continuation.
    parser.close_unmatched()
    trimmed = text.strip(UNICODE_BLANKS)
    for prefix, media in () if parser.context.is_imported else _MEDIA:
        if trimmed.startswith(prefix) and trimmed.endswith(">"):
            is_widget = media == "NodeIFrame" and 'data-subtype="widget"' in trimmed
            parser.add(Draft("NodeWidget" if is_widget else media))
            return Begun.LEAF
    is_inline = trimmed.startswith(("<img", "<a ")) if parser.context.is_imported else not trimmed.startswith("<div")
    if is_inline:
        return Begun.NOTHING
    if _is_database(trimmed):
        block = parser.add(Draft("NodeAttributeView"))
        block.fields["AttributeViewType"] = _attribute(trimmed, "data-av-type")
        block.fields["AttributeViewID"] = _attribute(trimmed, "data-av-id") or parser.context.new_id()
        return Begun.LEAF
    parser.add(Draft("NodeHTMLBlock")).html_kind = kind
    return Begun.LEAF


def _is_database(tag: str) -> bool:
    return 'data-type="NodeAttributeView"' in tag and 'data-av-type="' in tag and tag.endswith("</div>")


def _attribute(tag: str, name: str) -> str:
    return tag.partition(f'{name}="')[2].partition('"')[0]


def start_break(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    if not _BREAK.match(line.text, line.next):
        return Begun.NOTHING
    parser.close_unmatched()
    parser.add(Draft("NodeThematicBreak"))
    line.position = len(line.text)
    return Begun.LEAF


def start_list(parser: BlockParser, container: Draft) -> Begun:
    found = read_marker(parser.line, in_paragraph=container.kind == "NodeParagraph")
    if found is None:
        return Begun.NOTHING
    marker, attributes = found
    tip = parser.tip
    hollow = (
        tip if tip.kind == "NodeListItem" and (not tip.children or tip.children[0].kind == ATTRIBUTE_LIST) else None
    )
    parser.close_unmatched()
    if hollow is not None and not hollow.children:
        # An item whose first block would be a list gets an empty paragraph before it.
        hollow.append(Draft("NodeParagraph", "")).closed = True
    matches = container.kind == "NodeList" and container.marker is not None and container.marker.continues(marker)
    if parser.tip.kind != "NodeList" or not matches:
        parser.add(Draft("NodeList")).marker = marker
    item = parser.add(Draft("NodeListItem"))
    item.marker = marker
    if attributes:
        item.attributes = rewritten(attributes)
        item.identity = dict(attributes).get("id", "")
        skip_attributes(parser.line, attributes)
    _number(item)
    return Begun.CONTAINER


def _number(item: Draft) -> None:
    marker = item.marker
    assert marker is not None, "an item has a marker"
    assert item.parent is not None, "an item stands in a list"
    if marker.typ != LIST_ORDERED and not (marker.typ == LIST_TASK and not marker.bullet):
        return
    siblings = item.parent.children
    previous = siblings[-2].marker if len(siblings) > 1 else None
    marker.number = marker.start if previous is None else previous.number + 1


def start_math(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    if not line.text.startswith("$$", line.next):
        return Begun.NOTHING
    parser.close_unmatched()
    parser.add(Draft("NodeMathBlock")).indent = line.indent
    line.skip_blanks()
    line.advance(line.indent, columns=False)
    return Begun.LEAF


def start_attributes(parser: BlockParser, container: Draft) -> Begun:
    if parser.tip.kind == "NodeListItem" and not parser.tip.children:
        return Begun.NOTHING  # an empty item takes it when its list ends
    line = parser.line
    source = line.text[line.next :]
    is_text = source.startswith(f"{{{GAP}:")
    attributes = read_block_list(source.replace(GAP, "", 1) if is_text else source)
    if attributes is None or (is_text and parser.tip.kind == "NodeParagraph"):
        return Begun.NOTHING
    parser.close_unmatched()
    if is_text:  # imported: a list that stands by itself is no text either, it goes
        line.position = len(line.text)
        return Begun.LEAF
    line.position = len(line.text)
    if ("type", "doc") in attributes:
        parser.take_document_attributes(attributes)
        return Begun.LEAF
    owner = _owner(parser, attributes)
    owner.attributes = attributes
    owner.identity = dict(attributes).get("id", "")
    parser.add(Draft(ATTRIBUTE_LIST, source)).attributes = attributes
    return Begun.LEAF


def _owner(parser: BlockParser, attributes: Attributes) -> Draft:
    """The block that a line of attributes belongs to: the last one, or a new empty paragraph after another such line."""
    matched = parser.last_matched
    if matched.kind not in CONTAINERS - {"NodeList"}:
        return matched
    last = parser.tip.children[-1] if parser.tip.children else None
    if last is None:  # only a document is empty here
        return parser.enter(matched.append(Draft("NodeParagraph", " ")))
    repeated = last.kind in ("NodeSuperBlockLayoutMarker", ATTRIBUTE_LIST)
    if (repeated and not (last.text or "").startswith(write_list(attributes))) or last.kind == "NodeBlockquoteMarker":
        paragraph = Draft("NodeParagraph", " ")
        last.insert_after(paragraph)
        return parser.enter(paragraph)
    return last


def start_embed(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    if not line.text.startswith("{{", line.next):
        return Begun.NOTHING
    body = line.text[line.next + 2 :].strip(UNICODE_BLANKS)
    if not body.endswith("}}"):
        return Begun.NOTHING
    parser.close_unmatched()
    block = parser.add(Draft("NodeBlockQueryEmbed"))
    block.fields["Script"] = body[:-2].strip(UNICODE_BLANKS)
    line.position = len(line.text)
    return Begun.LEAF


def start_super_block(parser: BlockParser, container: Draft) -> Begun:
    line = parser.line
    if parser.context.is_imported or not line.text.startswith("{{{", line.next) or line.peek(line.next + 3) == "{":
        return Begun.NOTHING
    layout = line.text[line.next + 3 :].strip(ASCII_BLANKS)
    if layout.lower() not in ("", "row", "col"):
        return Begun.NOTHING
    parser.close_unmatched()
    block = parser.add(Draft("NodeSuperBlock"))
    for marker in (Draft("NodeSuperBlockOpenMarker"), Draft("NodeSuperBlockLayoutMarker", layout)):
        block.append(marker).closed = True
    line.position = len(line.text) - 1
    line.partial_tab = False
    return Begun.CONTAINER


_BRACES: Final = (start_attributes, start_embed, start_super_block)
STARTS: Final[dict[str, tuple[Start, ...]]] = {
    ">": (start_callout, start_quote),
    "#": (start_heading,),
    "`": (start_fence,),
    "~": (start_fence,),
    "<": (start_html,),
    "-": (start_break, start_list),
    "*": (start_break, start_list),
    "_": (start_break,),
    "+": (start_list,),
    "$": (start_math,),
    "{": _BRACES,
    **dict.fromkeys("0123456789", (start_list,)),
}
