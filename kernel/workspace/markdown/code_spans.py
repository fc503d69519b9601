"""[core] Code spans: their ends, and what the kernel makes of the Markdown inside them.

The kernel reads a code span's text as Markdown and writes it back marker by marker. Most text survives unchanged; HTML
tags that are marks lose themselves, block refs lose id and anchor (section 3, "code span").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from kernel.workspace.markdown.entities import unescape
from kernel.workspace.markdown.ial import escape_text
from kernel.workspace.markdown.scan import CODE_DEPTH_MAX, Piece, Scanner, Span

_RUN: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"[*_~=#^<&$\[\]!\\(`:]")
_KEPT_TAGS: Final = frozenset({"kbd", "u", "sup", "sub"})


_IMAGE_MARKERS: Final = {
    "NodeBang": "!",
    "NodeOpenBracket": "[",
    "NodeCloseBracket": "]",
    "NodeOpenParen": "(",
    "NodeCloseParen": ")",
}


def code_span(scanner: Scanner) -> None:
    """Take the code span, or only its backticks when nothing closes it."""
    text, start = scanner.text, scanner.position
    match = _RUN.match(text, start)
    assert match is not None, "a code span begins with a backtick"
    length = len(match[0])
    end = _closing_run(scanner, match.end(), length)
    if end < 0:
        scanner.position = match.end()
        scanner.add_text(match[0])
        return
    content = text[match.end() : end].replace("\n", " ")
    if len(content) > 2 and content[0] == content[-1] == " " and content.strip(" \t"):
        content = content[1:-1]
    if scanner.in_cell:
        content = content.replace("\\|", "|")
    scanner.position = end + length
    scanner.pieces.append(Piece("code", _rewritten(content, scanner), span=Span("code")))


def _closing_run(scanner: Scanner, position: int, length: int) -> int:
    """Where a run of just ``length`` backticks begins at or behind ``position``; -1 for nowhere."""
    if scanner.code_runs is None:
        scanner.code_runs = {}
        for match in _RUN.finditer(scanner.text):
            scanner.code_runs.setdefault(len(match[0]), []).append(match.start())
    starts = scanner.code_runs.get(length, ())
    at = bisect_left(starts, position)
    return starts[at] if at < len(starts) else -1


def _rewritten(content: str, scanner: Scanner) -> str:
    """The content as it comes out of the kernel's reading and writing."""
    if not _SPECIAL.search(content) or scanner.depth >= CODE_DEPTH_MAX:
        return content
    from kernel.workspace.markdown.inlines import attach_lists, scan_pieces

    source = content if content.startswith('<span data-type="code">') else content.replace("&", "&amp;")
    pieces = scan_pieces(source, in_cell=False, depth=scanner.depth + 1, unmarked=scanner.unmarked)
    attach_lists(pieces)  # an attribute list in there is read, and never written again
    return unescape("".join(map(_written, pieces)))


def _written(piece: Piece) -> str:
    closes = "".join(map(_closing, piece.closes))
    opens = "".join(map(_opening, reversed(piece.opens)))
    return closes + _content(piece) + opens


def _opening(span: Span) -> str:
    return {"a": "[", "image": "!["}.get(span.kind, span.source)


def _closing(span: Span) -> str:
    if span.kind in ("a", "image"):
        title = f'"{span.title}"' if span.title else ""
        return f"]({span.dest}{' ' if span.space else ''}{title})"
    return span.source


def _content(piece: Piece) -> str:
    match piece.kind:
        case "text":
            return piece.text
        case "entity":
            return escape_text(piece.text)
        case "backslash":
            return "\\" + piece.text
        case "code":
            return f"`{piece.text}`"
        case "math":
            return f"${piece.text}$"
        case "ref":
            return "(())"
        case _:
            return _node_content(piece)


def _node_content(piece: Piece) -> str:
    node = piece.node
    if node is not None and node.type == "NodeImage":
        return "".join(_IMAGE_MARKERS.get(child.type, child.data) for child in node.children)
    if node is None or node.type != "NodeTextMark":
        return piece.source  # of an emoji: its alias
    kind = node.fields["TextMarkType"]
    content = str(node.fields.get("TextMarkTextContent", ""))
    return f"<{kind}>{content}</{kind}>" if kind in _KEPT_TAGS else content
