"""[core] The inline level of the dialect: text in, flat inline nodes out.

``scan_pieces`` cuts a text (``scan``), matches its delimiters and brackets, and joins neighbouring texts. ``parse_inlines``
flattens the result (``flatten``): marks never nest in a document, each stretch carries all its types.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kernel.workspace.markdown.characters import ASCII_BLANKS, ASCII_PUNCTUATION
from kernel.workspace.markdown.code_spans import code_span
from kernel.workspace.markdown.context import ALL_MARKED, Unmarked
from kernel.workspace.markdown.delimiters import DELIMITERS, match_delimiters, scan_run
from kernel.workspace.markdown.emoji import emoji_of_alias, picture_of_alias, picture_tag
from kernel.workspace.markdown.entities import unescape_strictly
from kernel.workspace.markdown.flatten import flatten
from kernel.workspace.markdown.html_tags import html_tag
from kernel.workspace.markdown.ial import read_leading_list, unescape_value
from kernel.workspace.markdown.links import annotation_ref, automatic_link, block_ref, close_bracket, email_link
from kernel.workspace.markdown.scan import Bracket, Piece, Scanner, Span
from kernel.workspace.tree import Node

ENTITY_CHARACTERS_MAX: Final = 4096  # how far a semicolon may stand from its ampersand
MARK_DEPTH_MAX: Final = 16  # readings of a mark's content as Markdown, one inside the other

_PLAIN: Final = re.compile(r"[^*_~=#^\[\]!\n\\`<&${(]+")
_ENTITY: Final = re.compile(r"&[^ \n\t\x0b\x0c\r;]*;")
_CLOSING_DOLLAR: Final = re.compile(r"(?<!\\)\$")
_EMOJI: Final = re.compile(r":([^ \n\t\x0b\x0c\r:]+):")
_WITH_LISTS: Final = frozenset({"em", "strong", "s", "tag", "mark", "code", "inline-math", "image"})


def parse_inlines(text: str, *, in_cell: bool = False, depth: int = 0, unmarked: Unmarked = ALL_MARKED) -> list[Node]:
    """The inline nodes of one block's ``text``."""
    pieces = scan_pieces(text, in_cell=in_cell, depth=depth, unmarked=unmarked)
    attach_lists(pieces)
    return flatten(pieces, lambda content: _content_pieces(content, depth + 1, unmarked))


def _content_pieces(content: str, depth: int, unmarked: Unmarked) -> list[Piece]:
    """The pieces of a mark that a tag has made: its content is Markdown too."""
    if depth > MARK_DEPTH_MAX:
        return [Piece("text", content)]
    pieces = scan_pieces(content, in_cell=False, depth=depth, unmarked=unmarked)
    attach_lists(pieces)
    return pieces


def scan_pieces(text: str, *, in_cell: bool, depth: int = 0, unmarked: Unmarked = ALL_MARKED) -> list[Piece]:
    """The pieces of ``text`` with all marks matched; neighbouring texts are one piece, emoji are replaced."""
    scanner = Scanner(text, in_cell=in_cell, depth=depth, unmarked=unmarked)
    length = len(text)
    while scanner.position < length:
        if match := _PLAIN.match(text, scanner.position):
            scanner.position = match.end()
            scanner.add_text(match[0])
            continue
        character = text[scanner.position]
        if character in DELIMITERS:
            scan_run(scanner)
        else:
            _HANDLERS[character](scanner)
    match_delimiters(scanner, None)
    return _replace_emoji(_merge(scanner.pieces))


def _backslash(scanner: Scanner) -> None:
    text, position = scanner.text, scanner.position
    following = text[position + 1 : position + 2]
    if following == "\n":
        scanner.position += 2
        scanner.pieces.append(Piece("break", "\n", source="hard"))
    elif following in ASCII_PUNCTUATION:
        scanner.position += 2
        scanner.pieces.append(Piece("backslash", following))
    else:
        scanner.position += 1
        scanner.add_text("\\")


def _newline(scanner: Scanner) -> None:
    scanner.position += 1
    last = scanner.pieces[-1] if scanner.pieces else None
    if last is not None and last.kind == "text" and last.text.endswith(" "):
        last.text = last.text.rstrip(ASCII_BLANKS)
    scanner.pieces.append(Piece("break", "\n"))


def _less(scanner: Scanner) -> None:
    if automatic_link(scanner) or email_link(scanner) or annotation_ref(scanner):
        return
    html_tag(scanner)


def _open_bracket(scanner: Scanner) -> None:
    scanner.position += 1
    _push_bracket(scanner, scanner.add_text("["), is_image=False)


def _bang(scanner: Scanner) -> None:
    is_image = scanner.text.startswith("![", scanner.position)
    piece = scanner.add_text("![" if is_image else "!")
    scanner.position += len(piece.text)
    if is_image:
        _push_bracket(scanner, piece, is_image=True)


def _push_bracket(scanner: Scanner, piece: Piece, *, is_image: bool) -> None:
    scanner.brackets.append(Bracket(piece, len(scanner.pieces) - 1, scanner.delimiters.top, is_image))


def _entity(scanner: Scanner) -> None:
    semicolon = scanner.find(";", scanner.position)
    is_near = 0 <= semicolon - scanner.position <= ENTITY_CHARACTERS_MAX
    match = _ENTITY.match(scanner.text, scanner.position, semicolon + 1) if is_near else None
    source = match[0] if match else ""
    if source.startswith("&#") and not 4 + (source[2:3] in "xX") <= len(source.encode()) <= 10:
        source = ""
    value = unescape_strictly(source)
    if value == source:
        scanner.position += 1
        scanner.add_text("&")
        return
    scanner.position += len(source)
    scanner.pieces.append(Piece("entity", value, source=source))


def _math(scanner: Scanner) -> None:
    text, start = scanner.text, scanner.position
    is_none = text.startswith("$$", start) or len(text) < 3 or "$" in scanner.unmarked
    content = "" if is_none else _math_content(scanner, start + 1)
    if not content.strip(ASCII_BLANKS) or "<span" in content:
        scanner.position += 1
        scanner.add_text("$")
        return
    scanner.position = start + len(content) + 2
    if scanner.in_cell:
        content = content.replace("\\|", "|")
    scanner.pieces.append(Piece("math", content, span=Span("inline-math")))


def _math_content(scanner: Scanner, start: int) -> str:
    """The text up to the next dollar on the line that has something before it, and no backslash."""
    newline = scanner.find("\n", start)
    limit = newline if newline >= 0 else len(scanner.text)
    if not start < scanner.closing_dollar:
        closing = _CLOSING_DOLLAR.search(scanner.text, start + 1)
        scanner.closing_dollar = closing.start() if closing else len(scanner.text)
    return scanner.text[start : scanner.closing_dollar] if scanner.closing_dollar < limit else ""


def _paren(scanner: Scanner) -> None:
    if scanner.text.startswith("((", scanner.position) and block_ref(scanner):
        return
    scanner.position += 1
    scanner.add_text("(")


def _brace(scanner: Scanner) -> None:
    scanner.position += 1
    scanner.add_text("{")


_HANDLERS: Final[dict[str, Callable[[Scanner], None]]] = {
    "\\": _backslash,
    "`": code_span,
    "\n": _newline,
    "<": _less,
    "[": _open_bracket,
    "]": close_bracket,
    "&": _entity,
    "!": _bang,
    "$": _math,
    "(": _paren,
    "{": _brace,
}


def _merge(pieces: list[Piece]) -> list[Piece]:
    """Join texts between which no span begins or ends; drop what is left empty."""
    merged: list[Piece] = []
    texts: list[str] = []
    last: Piece | None = None  # a text piece that may still grow
    for piece in pieces:
        if piece.kind != "text":
            _seal(last, texts)
            last = None
            merged.append(piece)
            continue
        if last is not None and not piece.closes:
            texts.append(piece.text)
        elif piece.text or piece.closes or piece.opens:
            _seal(last, texts)
            last = piece
            merged.append(piece)
            texts.append(piece.text)
        if last is not None and piece.opens:
            last.opens = piece.opens
            _seal(last, texts)
            last = None
    _seal(last, texts)
    return merged


def _seal(piece: Piece | None, texts: list[str]) -> None:
    if piece is not None:
        piece.text = "".join(texts)
    texts.clear()


def _replace_emoji(pieces: list[Piece]) -> list[Piece]:
    """Split texts at the emoji aliases in them."""
    if not any(piece.kind == "text" and piece.text.count(":") > 1 for piece in pieces):
        return pieces
    replaced: list[Piece] = []
    for piece in pieces:
        if piece.kind != "text" or piece.text.count(":") < 2:
            replaced.append(piece)
            continue
        parts = _split_emoji(piece.text)
        parts[0].closes, parts[-1].opens = piece.closes, piece.opens
        replaced += parts
    return replaced


def _split_emoji(text: str) -> list[Piece]:
    parts: list[Piece] = []
    start = position = 0
    while match := _EMOJI.search(text, position):
        alias = match[1]
        emoji = emoji_of_alias(alias)
        if not emoji:
            position = min(len(text), match.end())
            continue
        if match.start() > start:
            parts.append(Piece("text", text[start : match.start()]))
        parts.append(Piece("node", node=_emoji_node(alias, emoji), source=match[0]))
        start = position = match.end()
    if start < len(text) or not parts:
        parts.append(Piece("text", text[start:]))
    for part in parts[1:]:
        if part.kind == "text":
            part.source = "plain"  # text behind an emoji is no longer a link's or image's own
    return parts


def _emoji_node(alias: str, emoji: str) -> Node:
    if source := picture_of_alias(alias):
        picture = Node("NodeEmojiImg", data=picture_tag(alias, source))
        picture.append(Node("NodeEmojiAlias", data=f":{alias}:"))
        return Node("NodeEmoji", data="img", children=[picture])
    known = Node("NodeEmojiUnicode", data=emoji, children=[Node("NodeEmojiAlias", data=f":{alias}:")])
    return Node("NodeEmoji", children=[known])


def attach_lists(pieces: list[Piece]) -> None:
    """Give the attribute list at a text's start to the mark that ends right before it."""
    inside = 0  # links and images hold no attribute lists
    for index, piece in enumerate(pieces):
        for span in piece.closes:
            inside -= span.kind in ("a", "image")
        owner = _owner(pieces, index) if inside == 0 and piece.kind == "text" and piece.text.startswith("{:") else None
        inside += sum(span.kind in ("a", "image") for span in piece.opens)
        if owner is None:
            continue
        attributes, end = read_leading_list(piece.text)
        if not attributes:
            continue
        source = piece.text[:end]
        if isinstance(owner, Piece) and owner.attribute_list:
            # It has one already, from a tag's style: a second one is text, unless it says the same.
            assert owner.node is not None, "only whole pieces own lists"
            if all(unescape_value(owner.node.properties.get(name, "")) == value for name, value in attributes):
                piece.text = piece.text[end:]
                piece.source = "kept"  # even when nothing is left of it
            continue
        piece.text = _without_repeated(attributes, piece.text[end:])
        if isinstance(owner, Span):
            owner.attributes = attributes
            owner.source_list = source
        else:
            assert owner.node is not None, "only whole pieces own lists"
            owner.node.properties = dict(attributes)
            owner.attribute_list = source


def _without_repeated(attributes: list[tuple[str, str]], text: str) -> str:
    """The text behind an attribute list; a second list that says the same goes away with the first."""
    if not text.startswith("{:"):
        return text
    repeated, end = read_leading_list(text)
    return text[end:] if repeated == attributes else text


def _owner(pieces: list[Piece], index: int) -> Span | Piece | None:
    """What ends right before the text at ``index``, if it can have attributes."""
    piece = pieces[index]
    if piece.closes:
        return piece.closes[-1] if piece.closes[-1].kind in _WITH_LISTS else None
    previous = pieces[index - 1] if index else None
    if previous is None or previous.opens:
        return None
    if previous.span is not None:
        return previous.span if previous.span.kind in _WITH_LISTS else None
    if previous.node is not None and previous.node.type in ("NodeTextMark", "NodeImage"):
        return previous
    return None
