"""[core] Links, images, automatic links, block refs and file annotation refs: what their brackets make of them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from kernel.workspace.markdown.characters import ASCII_BLANKS, after_bytes
from kernel.workspace.markdown.delimiters import match_delimiters
from kernel.workspace.markdown.scan import Piece, Scanner, Span
from kernel.workspace.markdown.targets import TargetReader, read_quoted, skip_blanks
from kernel.workspace.tree import Node

_NODE_ID: Final = re.compile(r"\d{14}-[0-9a-z]{7}\Z", re.ASCII)
_REF_ID: Final = re.compile(r"[A-Za-z0-9-]*")
_EMAIL: Final = re.compile(r"[A-Za-z0-9\-.!#$%&'*+/=?^_`{|}~]+@([A-Za-z0-9\-.]{1,64})>")
_ANNOTATION: Final = re.compile(
    r"<<[ \n\t\x0b\x0c\r]*(assets/([^/>]*-[^/>]*)\.[pP][dD][fF]/\d{14}-[0-9a-z]{7})(?= \"|>>)", re.ASCII
)
_ASSET_NAME_MIN: Final = 23  # characters: at least one before the id
_ANNOTATION_HEAD: Final = 48  # characters from its start that hold no further angle bracket
_ANNOTATION_TAIL_MIN: Final = 6  # bytes that must follow its target, be it with text of other things
_DEST_SAFE: Final = "!#$&'()*+,-./:;=?@_~%"
_HEX_PAIR: Final = re.compile(r"%(?![0-9a-fA-F]{2})")


def close_bracket(scanner: Scanner) -> None:
    """``]``: end the innermost open bracket, as a link or image if a target follows, else as text."""
    position = scanner.position
    scanner.position = position + 1
    bracket = scanner.brackets[-1] if scanner.brackets else None
    if bracket is None:
        scanner.add_text("]")
        return
    scanner.brackets.pop()
    target = None
    opens_target = scanner.text.startswith("(", position + 1) and position + 2 < len(scanner.text)
    has_text = bracket.is_image or bracket.index < len(scanner.pieces) - 1
    if bracket.active and opens_target and has_text:
        if scanner.targets is None:
            scanner.targets = TargetReader(scanner.text)
        target = scanner.targets.read(position + 1)
    if target is None:
        scanner.add_text("]")
        return
    scanner.position = target.end
    kind = "image" if bracket.is_image else "a"
    span = Span(kind, dest=target.dest, title=target.title, space=target.space)
    match_delimiters(scanner, bracket.bottom)
    bracket.piece.text = ""
    bracket.piece.opens.append(span)
    scanner.pieces.append(Piece("text", closes=[span]))
    if not bracket.is_image:
        for earlier in scanner.brackets:
            if not earlier.is_image:
                earlier.active = False  # no links in links


def automatic_link(scanner: Scanner) -> bool:
    """``<scheme:…>``: a link whose text is its address."""
    text, start = scanner.text, scanner.position
    end = scanner.find(">", start + 1)
    if end < 0:
        return False
    blank = scanner.find(" ", start + 1)
    if 0 <= blank < end:
        return False
    address = text[start + 1 : end]
    scheme, colon, _ = address.partition(":")
    if not colon or len(scheme) < 3:
        return False
    scanner.position = end + 1
    _add_link(scanner, address, encode_address(address))
    return True


def email_link(scanner: Scanner) -> bool:
    """``<name@host>``, which the kernel looks for behind the text's first character only, wherever it stands."""
    match = _EMAIL.match(scanner.text, 1)
    if match is None:
        return False
    address = match[0][:-1]
    scanner.position = after_bytes(scanner.text, scanner.position, len(match[0]) + 1)
    _add_link(scanner, address, "mailto:" + address)
    return True


def _add_link(scanner: Scanner, text: str, dest: str) -> None:
    span = Span("a", dest=dest)
    scanner.pieces.append(Piece("text", opens=[span]))
    scanner.add_text(unquote(text))
    scanner.pieces.append(Piece("text", closes=[span]))


def encode_address(address: str) -> str:
    """Percent-encode what an address may not hold; what is encoded already stays, in capitals."""
    prepared = _HEX_PAIR.sub("%25", address)
    encoded = quote(prepared, safe=_DEST_SAFE)
    return re.sub(r"%[0-9a-fA-F]{2}", lambda match: match[0].upper(), encoded)


def block_ref(scanner: Scanner) -> bool:
    """``((id 'anchor'))``."""
    text = scanner.text
    position = skip_blanks(text, scanner.position + 2)
    if position is None:
        return False
    match = _REF_ID.match(text, position)
    assert match is not None, "the pattern matches the empty string"
    if not _NODE_ID.match(match[0]):
        return False
    anchor, subtype, end = "", "", match.end()
    if not text.startswith("))", end):
        if end >= len(text) or text[end] not in ASCII_BLANKS:
            return False
        start = skip_blanks(text, end)
        if start is None:
            return False
        end = start
        if not text.startswith("))", end):
            quoted = read_quoted(text, start, "\"'")
            if quoted is None:
                return False
            anchor, subtype = quoted, "s" if text[start] == '"' else "d"
            after = skip_blanks(text, start + len(quoted) + 2)
            if after is None or not text.startswith("))", after):
                return False
            end = after
    scanner.position = end + 2
    fields = {"id": match[0], "subtype": subtype if anchor else "d"}
    scanner.pieces.append(
        Piece("ref", anchor, span=Span("block-ref"), node=None, source=f"{fields['id']} {fields['subtype']}")
    )
    return True


def annotation_ref(scanner: Scanner) -> bool:
    """``<<assets/name-ID.pdf/ID "text">>``."""
    text = scanner.text
    position = scanner.position
    match = _ANNOTATION.match(text, position)
    if match is None or "<" in text[position + 2 : position + _ANNOTATION_HEAD] or ' "' in match[2]:
        return False
    anchor, end = "", match.end()
    is_named = len(match[2]) >= _ASSET_NAME_MIN and _NODE_ID.match(match[2][-22:]) is not None
    if not is_named or len(text[end : end + _ANNOTATION_TAIL_MIN].encode()) < _ANNOTATION_TAIL_MIN:
        return False
    if text[end] == " ":
        quoted = read_quoted(text, end + 1, '"')
        if quoted is None:
            scanner.position = end + 2  # what has been read by then is lost
            return True
        behind = end + len(quoted) + 3
        after = skip_blanks(text, behind)
        if after is None:
            scanner.position = behind
            return True
        if not text.startswith(">>", after):
            # The two bytes where the brackets should stand are lost too.
            has_two = len(text[after : after + 2].encode()) > 1
            scanner.position = after_bytes(text, after, 2) if has_two else after
            return True
        anchor, end = quoted, after
    scanner.position = end + 2
    fields = {"TextMarkFileAnnotationRefID": match[1], "TextMarkTextContent": anchor or match[1]}
    scanner.pieces.append(Piece("node", node=Node("NodeFileAnnotationRef", fields=fields)))
    return True
