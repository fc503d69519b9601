"""[core] From matched pieces to flat inline nodes: no mark holds another, each carries the types of all around it.

What a mark cannot carry is lost on the way, as in the kernel: line breaks, emoji and annotation refs inside a mark go;
images leave it (section 2.1).
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kernel.workspace.markdown.ial import Attributes, escape_text
from kernel.workspace.markdown.scan import Piece, Span
from kernel.workspace.tree import Node

# How many marks around a text are told: every text repeats them all, so that their number must have a bound.
MARKS_NESTED_MAX: Final = 256

_RESCANNED: Final = frozenset({"sup", "sub", "em", "strong", "mark", "s"})
_OWN_TARGETS: Final = frozenset({"inline-math", "block-ref"})  # these take no address from the link around them


def _content(text: str) -> str:
    """Text as a mark holds it before it has passed the DOM."""
    return escape_text(text).replace("&quot;", '"')


def flatten(pieces: list[Piece], rescan: Callable[[str], list[Piece]]) -> list[Node]:
    """The nodes of ``pieces``; ``rescan`` cuts the content of a mark that a tag has made."""
    flattener = _Flattener()
    flattener.run(pieces, rescan)
    return flattener.nodes


@dataclass(frozen=True, slots=True)
class _Interrupted:
    """What an open image has put aside."""

    nodes: list[Node]
    open: list[Span]
    links: list[Span]
    inherited: list[str]
    start: int
    image: Node
    span: Span
    link_text: Node | None


def _look_into_links(pieces: list[Piece]) -> None:
    """Note for each link whether an image stands directly in it, and which text does so first."""
    around: list[Span] = []
    for piece in pieces:
        # Spans lie in each other: what closes is always the last one.
        for _ in piece.closes:
            around.pop()
        inner = around[-1] if around else None
        is_text = piece.kind in ("text", "backslash") and piece.text != ""
        if is_text and inner is not None and inner.kind == "a" and inner.first_text is None:
            inner.first_text = piece.text
        for span in reversed(piece.opens):
            if span.kind == "image" and around and around[-1].kind == "a":
                around[-1].has_image = True
            around.append(span)


class _Flattener:
    def __init__(self) -> None:
        self.nodes: list[Node] = []  # where nodes go: the block's, or an open image's children
        self.open: list[Span] = []
        self.links: list[Span] = []  # those of the open spans that are links
        self.inherited: list[str] = []  # in an image: the types of the marks around it
        self.outer: list[_Interrupted] = []  # by the images that are open
        self.start = 0  # in ``nodes``: where the outermost open span began
        self.link_text: Node | None = None  # the last node, if it is a link's text that may still grow

    def run(self, pieces: list[Piece], rescan: Callable[[str], list[Piece]]) -> None:
        # Marks made by tags are spans over their rescanned content; a stack of iterators keeps the reading flat.
        _look_into_links(pieces)
        stack = [iter(pieces)]
        pending: list[Span] = []
        while stack:
            piece = next(stack[-1], None)
            if piece is None:
                stack.pop()
                if pending and stack:
                    self._close(pending.pop())
                continue
            for span in piece.closes:
                self._close(span)
            mark = piece.node if piece.kind == "node" else None
            if mark is not None and mark.type == "NodeTextMark" and mark.fields["TextMarkType"] in _RESCANNED:
                span = Span(mark.fields["TextMarkType"])
                span.attributes = list(mark.properties.items()) or None
                span.source_list = piece.attribute_list
                self._open(span)
                pending.append(span)
                content = rescan(str(mark.fields.get("TextMarkTextContent", "")))
                _look_into_links(content)
                stack.append(iter(content))
                continue
            self._piece(piece)
            for span in reversed(piece.opens):
                self._open(span)

    # --- spans ---

    def _open(self, span: Span) -> None:
        if span.kind == "image":
            self._open_image(span)
            self.link_text = None
            return
        self.link_text = None
        if not self.open:
            self.start = len(self.nodes)
        self.open.append(span)
        if span.kind == "a":
            self.links.append(span)
        span.start = len(self.nodes)
        if span.has_image and not (span.first_text or "").strip():
            self._carried(span.dest, is_link_text=True)

    def _close(self, span: Span) -> None:
        self.link_text = None
        if span.kind == "image":
            self._close_image()
            return
        self.open.pop()
        if span.kind == "a":
            self.links.pop()
            if self.nodes and self.nodes[-1].type == "NodeTextMark":
                self.nodes[-1].fields["TextMarkAHref"] = span.dest
        if self.open:
            return
        properties = dict(span.attributes or ())
        for node in self.nodes[self.start :]:  # marks and images: an open mark carries nothing else
            node.properties = dict(properties)
        if span.source_list:
            self.nodes.append(Node("NodeKramdownSpanIAL", data=span.source_list))

    def _open_image(self, span: Span) -> None:
        node = Node("NodeImage", data="span", children=[Node("NodeBang"), Node("NodeOpenBracket")])
        self.outer.append(
            _Interrupted(self.nodes, self.open, self.links, self.inherited, self.start, node, span, self.link_text)
        )
        leaves_link = bool(self.open) and self.open[-1].has_image
        around = self.open[:-1] if leaves_link else self.open
        self.inherited = self.inherited + [outer.kind for outer in around]
        self.nodes, self.open, self.links = [], [], []

    def _close_image(self) -> None:
        children = self.nodes
        interrupted = self.outer.pop()
        self.nodes, self.open, self.inherited = interrupted.nodes, interrupted.open, interrupted.inherited
        self.start, self.links = interrupted.start, interrupted.links
        node, span = interrupted.image, interrupted.span
        tail = [Node("NodeCloseBracket"), Node("NodeOpenParen"), Node("NodeLinkDest", data=span.dest)]
        if span.space:
            tail.append(Node("NodeLinkSpace"))
        if span.title:
            tail.append(Node("NodeLinkTitle", data=span.title))
        for child in (*children, *tail, Node("NodeCloseParen")):
            node.append(child)
        if span.attributes:
            node.properties = dict(span.attributes)
        if self.open and self.open[-1].has_image:
            # The first image directly in a link is moved before the link, whose text grows on behind it.
            self.link_text = interrupted.link_text
            self.open[-1].has_image = False
            self.nodes.insert(self.open[-1].start, node)
            return
        self.nodes.append(node)
        if span.source_list and not self.open:
            self.nodes.append(Node("NodeKramdownSpanIAL", data=span.source_list))

    # --- pieces ---

    def _piece(self, piece: Piece) -> None:
        match piece.kind:
            case "text":
                if piece.text or piece.source:
                    self._text(piece.text, plain=piece.source == "plain")
            case "entity":
                self._entity(piece.text, piece.source)
            case "backslash":
                self._backslash(piece.text)
            case "break":
                self.link_text = None
                if not self.open:
                    self._put("NodeHardBreak" if piece.source else "NodeSoftBreak", "\n")
            case "code" | "math" | "ref":
                self.link_text = None
                self._whole(piece)
            case _:
                self.link_text = None
                self._node(piece)

    def _put(self, type_: str, data: str = "") -> Node:
        node = Node(type_, data=data)
        self.nodes.append(node)
        return node

    def _text(self, text: str, *, plain: bool) -> None:
        if self.open:
            self._carried(text, is_link_text=not plain)
        elif self.outer:
            if self.inherited:
                self._mark({"TextMarkTextContent": _content(text)})
            if not plain or not self.inherited:
                self._put("NodeText" if plain else "NodeLinkText", text)
        else:
            self._put("NodeText", text)

    def _entity(self, text: str, source: str) -> None:
        if self.open or self.inherited:
            self.link_text = None
            self._carried(text, is_link_text=True)
        else:
            node = self._put("NodeHTMLEntity", text)
            node.fields["HtmlEntityTokens"] = base64.b64encode(source.encode()).decode()

    def _backslash(self, character: str) -> None:
        if self.open:
            self._carried(character, is_link_text=bool(self.links))
        else:
            self.nodes.append(
                Node("NodeBackslash", data="span", children=[Node("NodeBackslashContent", data=character)])
            )

    def _carried(self, text: str, *, is_link_text: bool) -> None:
        """Text under at least one mark; the texts of a link grow together."""
        if self.link_text is not None and is_link_text:
            self.link_text.fields["TextMarkTextContent"] += _content(text)
            return
        node = self._mark({"TextMarkTextContent": _content(text)})
        self.link_text = node if is_link_text and self.links else None

    def _mark(self, fields: dict[str, object], *kinds: str) -> Node:
        types = self.inherited + [span.kind for span in self.open[:MARKS_NESTED_MAX]] + list(kinds)
        node = Node("NodeTextMark", fields={"TextMarkType": " ".join(types), **fields})
        link = self.links[-1] if self.links else None
        if link is not None and not _OWN_TARGETS.intersection(kinds):
            node.fields["TextMarkAHref"] = link.dest
            if link.title and not self.outer:
                node.fields["TextMarkATitle"] = link.title
        self.nodes.append(node)
        return node

    def _whole(self, piece: Piece) -> None:
        """A code span, a formula or a ref: a span of its own around its content."""
        span = piece.span
        assert span is not None, "such pieces carry their span"
        if piece.kind == "code":
            node = self._mark({"TextMarkTextContent": _content(piece.text)}, "code")
        elif piece.kind == "math":
            node = self._mark({"TextMarkInlineMathContent": escape_text(piece.text)}, "inline-math")
        else:
            identity, subtype = piece.source.split(" ")
            fields = {
                "TextMarkBlockRefID": identity,
                "TextMarkBlockRefSubtype": subtype,
                "TextMarkTextContent": piece.text or identity,
            }
            node = self._mark(dict(fields), "block-ref")
        attributes: Attributes = span.attributes or []
        if not self.open:
            node.properties = dict(attributes)
            if span.source_list:
                self._put("NodeKramdownSpanIAL", span.source_list)

    def _node(self, piece: Piece) -> None:
        node = piece.node
        assert node is not None, "a node piece carries its node"
        if node.type == "NodeTextMark" and (self.open or self.inherited):
            types = self.inherited + [span.kind for span in self.open[:MARKS_NESTED_MAX]]
            types += [kind for kind in node.fields["TextMarkType"].split(" ") if kind != "text" and kind not in types]
            node.fields["TextMarkType"] = " ".join(types)
        elif self.open and node.type == "NodeImage":
            self._name_image(node)
        elif self.open:
            return  # a mark carries neither emoji nor breaks nor annotation refs
        self.nodes.append(node)
        if piece.attribute_list and not self.open:
            self._put("NodeKramdownSpanIAL", piece.attribute_list)

    def _name_image(self, node: Node) -> None:
        """An image from a tag shows its name a second time under the marks around it."""
        for index, child in enumerate(node.children):
            if child.type == "NodeLinkText":
                types = self.inherited + [span.kind for span in self.open]
                fields = {"TextMarkType": " ".join(types), "TextMarkTextContent": _content(child.data)}
                node.insert(index, Node("NodeTextMark", fields=fields, properties=dict(node.properties)))
                return
