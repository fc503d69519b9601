"""[core] Inline nodes as the editor's DOM: spans for marks, zero-width spaces for the cursor (section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kernel.workspace.markdown.characters import CARET, NEWLINE_ESCAPE, UNICODE_BLANKS, ZERO_WIDTH_SPACE
from kernel.workspace.markdown.ial import escape_text
from kernel.workspace.markdown.text_marks import node_text
from kernel.workspace.render.sanitize import image_tag, sanitize_address
from kernel.workspace.tree import Node

_BOXED: Final = frozenset({"code", "kbd", "tag"})  # a cursor needs room on both sides of them
_NET_MARK: Final = '<span class="img__net"><svg><use xlink:href="#iconLanguage"></use></svg></span>'
_LOCAL_IMAGES: Final = ("assets/", "api/icon/")


def inline_dom(
    nodes: Sequence[Node],
    *,
    in_cell: bool = False,
    breaks_lines: bool = True,
    has_previous: bool = False,
    has_next: bool = False,
) -> str:
    """The DOM of inline ``nodes``.

    ``breaks_lines``: a break is a newline, else ``<br />``. ``has_previous``: the first node is not the first to the
    kernel, since a marker stands before it. ``has_next``: one stands behind the last, too.
    """
    writer = _InlineWriter(nodes, in_cell=in_cell, breaks_lines=breaks_lines, has_previous=has_previous)
    writer.has_next = has_next
    return writer.write()


def attributes_text(attributes: Sequence[tuple[str, str]]) -> str:
    return "".join(f' {name}="{value}"' for name, value in attributes)


def escape_anchor(text: str) -> str:
    """Titles and annotation texts: angle brackets and quotes as entities, but not the ampersand."""
    text = text.replace(">", "&gt;").replace("<", "&lt;")
    return text.replace('"', "&quot;").replace("'", "&apos;")


class _InlineWriter:
    def __init__(self, nodes: Sequence[Node], *, in_cell: bool, breaks_lines: bool, has_previous: bool) -> None:
        self.nodes = nodes
        self.in_cell = in_cell
        self.breaks_lines = breaks_lines
        self.has_previous = has_previous
        self.has_next = False
        self.out: list[str] = []

    def write(self) -> str:
        for index, node in enumerate(self.nodes):
            writer = _WRITERS.get(node.type)
            if writer is not None:
                writer(self, index, node)
        return "".join(self.out)

    def previous(self, index: int) -> Node | None:
        return self.nodes[index - 1] if index else None

    def next(self, index: int) -> Node | None:
        return self.nodes[index + 1] if index + 1 < len(self.nodes) else None

    def is_first(self, index: int) -> bool:
        return index == 0 and not self.has_previous

    def ends_with(self, text: str) -> bool:
        return bool(self.out) and self.out[-1].endswith(text)

    # --- texts ---

    def text(self, index: int, node: Node) -> None:
        data = node.data
        if data.startswith(" " + ZERO_WIDTH_SPACE) and self.ends_with(ZERO_WIDTH_SPACE):
            data = " " + data[2:]
        text = escape_text(data)
        if self.in_cell:
            text = text.replace("|", "&#124;")
        if text:
            self.out.append(text)

    def entity(self, index: int, node: Node) -> None:
        self.out.append(escape_text(node.data))

    def line_break(self, index: int, node: Node) -> None:
        self.out.append("\n" if self.breaks_lines else "<br />")

    def soft_break(self, index: int, node: Node) -> None:
        self.out.append("\n")

    def backslash(self, index: int, node: Node) -> None:
        self.out.append('<span data-type="backslash">')
        for child in node.children:
            if child.type == "NodeBackslashContent":
                self.out.append(escape_text(child.data))
            else:
                self.text(0, child)
        self.out.append("</span>")

    def emoji(self, index: int, node: Node) -> None:
        for child in node.children:
            self.out.append(child.data)

    def annotation(self, index: int, node: Node) -> None:
        identity = node.fields["TextMarkFileAnnotationRefID"]
        text = escape_anchor(node.fields["TextMarkTextContent"])
        self.out.append(f'<span data-type="file-annotation-ref" data-subtype="s" data-id="{identity}">{text}</span>')

    def attribute_list(self, index: int, node: Node) -> None:
        previous, following = self.previous(index), self.next(index)
        if previous and following and previous.type == following.type == "NodeImage":
            self.out.append(ZERO_WIDTH_SPACE)

    # --- marks ---

    def mark(self, index: int, node: Node) -> None:
        types = node.fields["TextMarkType"].split(" ")
        boxed = not _BOXED.isdisjoint(types)
        self._before_mark(index, boxed, "tag" in types)
        attributes = self._mark_attributes(node, types) + list(node.properties.items())
        self.out.append(f"<span{attributes_text(attributes)}>")
        if boxed:
            self.out.append(ZERO_WIDTH_SPACE)
        content = node.fields.get("TextMarkTextContent", "")
        if "block-ref" in types and not content.replace(ZERO_WIDTH_SPACE, "").strip(UNICODE_BLANKS):
            content = node.fields.get("TextMarkBlockRefID", "")
        if self.in_cell:
            content = content.replace("|", "&#124;") if "code" in types else content.replace("\\|", "|")
            content = content.replace("\n", "<br />")
        self.out.append(content + "</span>")
        following = self.next(index)
        if boxed and not (following is not None and node_text(following).startswith(ZERO_WIDTH_SPACE)):
            self.out.append(ZERO_WIDTH_SPACE)

    def _before_mark(self, index: int, boxed: bool, is_tag: bool) -> None:
        previous = self.previous(index)
        before = previous
        if previous is not None and previous.data == CARET:
            before = self.previous(index - 1)
        if is_tag and before is not None and _is_tag(before):
            self.out.append(" ")
        elif boxed and (self.is_first(index) if before is None else before.type == "NodeSoftBreak"):
            self.out.append(ZERO_WIDTH_SPACE)

    def _mark_attributes(self, node: Node, types: list[str]) -> list[tuple[str, str]]:
        fields = node.fields
        attributes = [("data-type", fields["TextMarkType"])]
        for kind in types:
            if kind == "block-ref":
                attributes.append(("data-subtype", fields.get("TextMarkBlockRefSubtype", "")))
                attributes.append(("data-id", fields.get("TextMarkBlockRefID", "")))
            elif kind == "a":
                attributes += self._link_attributes(node)
            elif kind == "inline-math":
                attributes += self._math_attributes(fields.get("TextMarkInlineMathContent", ""))
            elif kind == "file-annotation-ref":
                attributes.append(("data-id", fields.get("TextMarkFileAnnotationRefID", "")))
            elif kind == "inline-memo":
                memo = fields.get("TextMarkInlineMemoContent", "").replace(NEWLINE_ESCAPE, "\n")
                attributes.append(("data-inline-memo-content", memo))
        return attributes

    def _link_attributes(self, node: Node) -> list[tuple[str, str]]:
        href = node.fields.get("TextMarkAHref", "")
        if href.lower().startswith("javascript:"):
            href = ""
        title = node.fields.get("TextMarkATitle", "")
        if self.in_cell:
            href, title = href.replace("\\|", "|"), title.replace("\\|", "|")
        attributes = [("data-href", href.replace('"', "&amp;quot;"))]
        if title:
            attributes.append(("data-title", title.replace('"', "&amp;quot;")))
        return attributes

    def _math_attributes(self, content: str) -> list[tuple[str, str]]:
        if self.in_cell:
            content = content.replace("|", "&#124;").replace("\n", "<br/>")
        content = content.replace(NEWLINE_ESCAPE, "\n").replace('"', "&amp;quot;")
        return [
            ("data-subtype", "math"),
            ("data-content", content),
            ("contenteditable", "false"),
            ("class", "render-node"),
        ]

    # --- images ---

    def image(self, index: int, node: Node) -> None:
        if self.is_first(index) or (index == 1 and self.in_cell) or self._after_caret(index) or self.ends_with("\n"):
            self.out.append(ZERO_WIDTH_SPACE)
        style = node.properties.get("style", "")
        outer = node.properties.get("parent-style", "").replace("display: block;", "").strip(UNICODE_BLANKS)
        frame = [("contenteditable", "false"), ("data-type", "img"), ("class", "img")]
        self.out.append(f"<span{attributes_text(frame + ([('style', outer)] if outer else []))}><span> </span>")
        width = next((part for part in style.split(";") if "width" in part), "")
        shown = width.replace("vw", "%").strip(UNICODE_BLANKS)
        self.out.append(f'<span style="{shown};">' if shown else "<span>")
        self.out.append(
            '<span class="protyle-action protyle-icons"><span class="protyle-icon protyle-icon--only">'
            '<svg class="svg"><use xlink:href="#iconMore"></use></svg></span></span>'
        )
        inner = [child for child in node.children if child.type in _SHOWN_IN_IMAGES]
        self.out.append(inline_dom(inner, in_cell=self.in_cell, has_previous=True, has_next=True))
        self._image_body(node, style)
        self._after_image(index)

    def _after_caret(self, index: int) -> bool:
        previous = self.previous(index)
        return previous is not None and node_text(previous) == CARET

    def _image_body(self, node: Node, style: str) -> None:
        parts = {child.type: child.data for child in reversed(node.children)}
        dest = sanitize_address(parts.get("NodeLinkDest", "").replace(CARET, ""))
        title = escape_anchor(parts.get("NodeLinkTitle", ""))
        source = "https:" + dest if dest.startswith("//") else dest
        attributes = [("src", source), ("data-src", dest), ("loading", "lazy")]
        if alt := parts.get("NodeLinkText", ""):
            attributes.append(("alt", alt))
        if title:
            attributes.append(("title", title))
        if own := _own_style(style):
            attributes.append(("style", own))
        self.out.append(image_tag(attributes) + '<span class="protyle-action__drag"></span>')
        if not dest.startswith(_LOCAL_IMAGES):
            self.out.append(_NET_MARK)
        self.out.append(f'<span class="protyle-action__title"><span>{title}</span></span></span><span> </span></span>')

    def _after_image(self, index: int) -> None:
        following = self.next(index)
        if following is not None and following.type == "NodeKramdownSpanIAL":
            after = self.next(index + 1)
            if (after is None and not self.has_next) or (after is not None and node_text(after) == CARET):
                self.out.append(ZERO_WIDTH_SPACE)
        elif following is None:
            self.out.append("" if self.has_next else ZERO_WIDTH_SPACE)
        elif following.type == "NodeImage" or node_text(following) == CARET:
            self.out.append(ZERO_WIDTH_SPACE)


def _own_style(style: str) -> str:
    """The part of an image's style that its ``<img>`` shows: not the width, not what places it."""
    widths = [part for part in style.split(";") if "width" in part]
    # Without a width the kernel takes out every semicolon.
    style = style.replace((widths[-1] if widths else "") + ";", "")
    return style.replace("flex: 0 0 auto;", "").replace("display: block;", "").strip(UNICODE_BLANKS)


def _is_tag(node: Node) -> bool:
    return node.type == "NodeTextMark" and "tag" in node.fields["TextMarkType"].split(" ")


_SHOWN_IN_IMAGES: Final = frozenset(
    {
        "NodeText",
        "NodeTextMark",
        "NodeHTMLEntity",
        "NodeBackslash",
        "NodeImage",
        "NodeEmoji",
        "NodeSoftBreak",
        "NodeHardBreak",
        "NodeBr",
    }
)
_WRITERS: Final[dict[str, Callable[[_InlineWriter, int, Node], None]]] = {
    "NodeText": _InlineWriter.text,
    "NodeHTMLEntity": _InlineWriter.entity,
    "NodeBr": _InlineWriter.line_break,
    "NodeHardBreak": _InlineWriter.line_break,
    "NodeSoftBreak": _InlineWriter.soft_break,
    "NodeBackslash": _InlineWriter.backslash,
    "NodeEmoji": _InlineWriter.emoji,
    "NodeFileAnnotationRef": _InlineWriter.annotation,
    "NodeKramdownSpanIAL": _InlineWriter.attribute_list,
    "NodeTextMark": _InlineWriter.mark,
    "NodeImage": _InlineWriter.image,
}
