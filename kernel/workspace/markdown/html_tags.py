"""[core] Tags inside text: the few that are marks, line breaks and images; every other one stays text (section 3)."""

from __future__ import annotations

import re
from typing import Final

from kernel.workspace.elements import Element, parse_html
from kernel.workspace.markdown.characters import ASCII_BLANKS, UNICODE_BLANKS
from kernel.workspace.markdown.context import ALL_MARKED, TAG, Unmarked
from kernel.workspace.markdown.ial import Attributes, scan_attribute, write_list
from kernel.workspace.markdown.scan import Piece, Scanner
from kernel.workspace.markdown.text_marks import read_mark, type_of_tag
from kernel.workspace.tree import Node

MARK_TAGS: Final = frozenset(["kbd", "u", "sup", "sub", "mark", "s", "del", "strike", "em", "i", "strong", "b"])
_INNER_MARKS: Final = frozenset({"sup", "sub", "em", "strong"})
_NAME: Final = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*")
_BREAKS: Final = frozenset({"<br />", "<br/>", "<br>"})
_DECLARATION: Final = re.compile("<![A-Z]*(?=[ \n\t\x0b\x0c\r]|\\Z)")
_SPAN: Final = "<span data-type="


def html_tag(scanner: Scanner) -> None:
    """Take the tag at the cursor; when there is none, only its ``<``."""
    end = _tag_end(scanner)
    if end is None:
        scanner.position += 1
        scanner.add_text("<")
        return
    tag = scanner.text[scanner.position : end]
    scanner.position = end
    lowered = tag.lower()
    if lowered in _BREAKS and TAG not in scanner.unmarked:
        scanner.pieces.append(Piece("node", node=Node("NodeBr", data="br")))
    elif TAG in scanner.unmarked and not lowered.startswith("<img "):
        scanner.add_text(tag)
    elif tag.startswith(_SPAN):
        _mark(scanner, tag, _SPAN, "</span>")
    elif lowered[1:-1] in MARK_TAGS and lowered[-1] == ">":
        _mark(scanner, tag, lowered, f"</{lowered[1:-1]}>")
    elif lowered.startswith("<img "):
        _image(scanner, tag)
    else:
        scanner.add_text(tag)


def _tag_end(scanner: Scanner) -> int | None:
    """The index behind the tag, comment, instruction, declaration or CDATA at the cursor."""
    text, start = scanner.text, scanner.position
    match = _NAME.match(text, start)
    if match is None:
        return _special_end(scanner)
    position = match.end()
    if match[0][1] != "/":
        while True:
            valid, position, name, _ = scan_attribute(text, position)
            if not valid:
                return None
            if name is None:
                break
    while position < len(text) and text[position] in ASCII_BLANKS:
        position += 1
    if text.startswith(">", position):
        return position + 1
    return position + 2 if text.startswith("/>", position) else None


def _special_end(scanner: Scanner) -> int | None:
    text, start = scanner.text, scanner.position
    if text.startswith("<!--", start):
        return _behind(scanner, "-->", start + 2)
    if text.startswith("<?", start):
        return _behind(scanner, "?>", start + 2)
    if text.startswith("<![CDATA[", start):
        return _behind(scanner, "]]>", start + 8)
    if _DECLARATION.match(text, start):
        return _behind(scanner, ">", start + 3)
    return None


def _behind(scanner: Scanner, needle: str, position: int) -> int | None:
    at = scanner.find(needle, position)
    return None if at < 0 else at + len(needle)


def _mark(scanner: Scanner, tag: str, opening: str, closing: str) -> None:
    """The mark from ``tag`` to its closing tag; a tag that nothing closes stays text, one at the very end vanishes."""
    text, start = scanner.text, scanner.position
    if start >= len(text):
        return
    end = scanner.find(closing, start)
    inner = scanner.find(opening, start)
    if end < 0 or 0 <= inner < end:
        scanner.add_text(tag)
        return
    elements = parse_html(tag + text[start : end + len(closing)]).children
    if len(elements) != 1:
        return
    element = elements[0]
    scanner.position = end + len(closing)
    piece = Piece("node")
    types = element.tag if opening != _SPAN else ""
    mark = read_mark(element, _types(element, type_of_tag(types)))
    piece.node = mark.node
    piece.attribute_list = mark.attribute_list
    read_underlined(mark.node, element, depth=scanner.depth + 1, unmarked=scanner.unmarked)
    if mark.before:
        scanner.add_text(mark.before)
    scanner.pieces.append(piece)
    if mark.after:
        scanner.add_text(mark.after)


def _types(element: Element, kind: str) -> str:
    first = element.children[0] if element.children else None
    if kind and first is not None and first.tag in _INNER_MARKS and first.tag != kind:
        return f"{kind} {first.tag}"
    return kind


def read_underlined(node: Node, element: Element, *, depth: int = 0, unmarked: Unmarked = ALL_MARKED) -> None:
    """Underlined text is read as Markdown once more; only its text is kept, or its link if it is just one."""
    if node.fields["TextMarkType"] != "u":
        return
    from kernel.workspace.markdown.inlines import attach_lists, scan_pieces

    content = str(node.fields.get("TextMarkTextContent", ""))
    first = element.children[0] if element.children else None
    if first is not None and first.get("data-type") == "a":
        content = f"[{content}]({first.get('data-href')})"
    pieces = scan_pieces(content, in_cell=False, depth=depth, unmarked=unmarked)
    attach_lists(pieces)
    if not pieces:
        return
    node.fields["TextMarkTextContent"] = "".join(map(plain_text, pieces))
    links = pieces[0].opens
    is_whole = pieces[-1].closes == links and not (pieces[0].text or pieces[-1].text)
    if len(links) == 1 and links[0].kind == "a" and is_whole:
        node.fields["TextMarkType"] += " a"
        node.fields["TextMarkAHref"] = links[0].dest


def plain_text(piece: Piece) -> str:
    """What a piece says without its marks."""
    if piece.kind in ("text", "entity", "backslash", "code", "math", "ref"):
        return piece.text
    if piece.node is None:
        return ""
    if piece.node.type == "NodeEmoji":
        return "".join(child.data for child in piece.node.children) + piece.source
    return str(piece.node.fields.get("TextMarkTextContent", ""))


def _image(scanner: Scanner, tag: str) -> None:
    image = parse_html(tag).children[0]
    node = Node("NodeImage", data="span")
    for part, value in (
        ("NodeBang", None),
        ("NodeOpenBracket", None),
        ("NodeLinkText", image.get("alt")),
        ("NodeCloseBracket", None),
        ("NodeOpenParen", None),
        ("NodeLinkDest", image.get("src")),
        ("NodeLinkTitle", image.get("title")),
        ("NodeCloseParen", None),
    ):
        if value != "":
            node.append(Node(part, data=value or ""))
    piece = Piece("node", node=node)
    if style := _size_style(image):
        attributes: Attributes = [("style", style)]
        node.properties = dict(attributes)
        piece.attribute_list = write_list(attributes)
    scanner.pieces.append(piece)


def _size_style(image: Element) -> str:
    for side in ("width", "height"):
        if size := image.get(side).strip(UNICODE_BLANKS):
            return f"{side}: {size}{'px' if size.isdigit() else ''};"
    return ""
