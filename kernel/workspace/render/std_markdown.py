"""[core] Standard Markdown: the layout of blocks, one visitor over the tree. Kramdown without its attribute lists.

The index (``blocks.markdown``, spans, refs) and the export print through it. Containers are printed inside out: each
collects its children on a page of its own, then prefixes the lines. Sources: siyuan-markdown 1.3, 2, 5, 7.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kernel.workspace.nodes import LIST_ORDERED, LIST_TASK
from kernel.workspace.render import inlines
from kernel.workspace.render.inlines import is_in_cell, visible_text
from kernel.workspace.render.tables import html_table, is_merged, markdown_table
from kernel.workspace.tree import Node

RENDERED_CODE: Final = frozenset(
    {"mermaid", "echarts", "flowchart", "graphviz", "abc", "plantuml", "mindmap", "infographic"}
)
# What the kernel trims: Unicode white space, without the four separators that Python's strip() adds.
_BLANKS: Final = (
    " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_ALIAS_PICTURE: Final = "/emojis/"
CALLOUT_DEFAULTS: Final = {  # kind: icon, title
    "NOTE": ("✏️", "Note"),
    "TIP": ("💡", "Tip"),
    "IMPORTANT": ("❗", "Important"),
    "WARNING": ("⚠️", "Warning"),
    "CAUTION": ("🚨", "Caution"),
}


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """What differs between the index and an export."""

    has_super_block_braces: bool = True
    has_span_attributes: bool = True
    normalizes_tasks: bool = False
    has_image_tags: bool = False
    root: Node | None = None  # the tree whose very last block gets no blank line behind it (export)


INDEX_STYLE: Final = MarkdownStyle()


def std_markdown(node: Node, style: MarkdownStyle = INDEX_STYLE) -> str:
    """``node`` and all below it as Markdown, blanks trimmed at both ends (an export keeps those of its first line)."""
    writer = _Writer(style)
    writer.node(node)
    text = "".join(writer.page.parts)
    return text.strip(_BLANKS) if style.root is None else text.rstrip(" \t\n").lstrip("\n")


def is_chart_code(code: Node) -> bool:
    """Whether a NodeCodeBlockCode belongs to a language that is rendered as a picture."""
    return code_language(code.parent) in RENDERED_CODE


def code_language(block: Node | None) -> str:
    """The info string of a code block, ``""`` if it has none."""
    for child in block.children if block is not None else ():
        if child.type == "NodeCodeBlockFenceInfoMarker":
            return decode_base64(child.fields.get("CodeBlockInfo", ""))
    return ""


def decode_base64(value: Any) -> str:
    """The text of a byte field of ``.sy`` (``CodeBlockInfo``, ``Marker``)."""
    return base64.b64decode(str(value)).decode("utf-8", "replace")


def list_marker(item: Node) -> str:
    """The marker of an item as it is printed: ``-`` or ``3.``."""
    data = item.fields.get("ListData") or {}
    if _is_numbered(data):
        return f"{data.get('Num', 0)}{chr(data.get('Delimiter', 0) or 0)}"
    return "-"


def task_mark(marker: Node, *, normalizes: bool) -> str:
    """The character between the brackets of a task."""
    code = marker.fields.get("TaskListItemMarker", 0)
    mark = chr(code) if code else "X" if marker.fields.get("TaskListItemChecked") else " "
    mark = "X" if mark == "x" else mark
    return "X" if normalizes and mark != " " else mark


def _is_numbered(data: dict[str, Any]) -> bool:
    kind = data.get("Typ", 0)
    return kind == LIST_ORDERED or (kind == LIST_TASK and not data.get("BulletChar"))


class _Page:
    """Text under construction; trimming looks only at its ends."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[str] = []

    def trim(self) -> None:
        parts = self.parts
        while parts and not (stripped := parts[-1].rstrip(_BLANKS)):
            parts.pop()
        if not parts:
            return
        parts[-1] = stripped
        first = 0
        while not parts[first].strip(_BLANKS):
            first += 1
        del parts[:first]
        parts[0] = parts[0].lstrip(_BLANKS)


class _Writer:
    """Walks a tree and writes; ``last`` is the last character written, whatever the page."""

    def __init__(self, style: MarkdownStyle) -> None:
        self.style = style
        self.pages = [_Page()]
        self.last = "\n"

    @property
    def page(self) -> _Page:
        return self.pages[-1]

    def write(self, text: str) -> None:
        if text:
            self.page.parts.append(text)
            self.last = text[-1]

    def newline(self) -> None:
        if self.last != "\n":
            self.write("\n")

    def node(self, node: Node) -> None:
        visit = _VISITORS.get(node.type)
        if visit is None:
            self.children(node)
        else:
            visit(self, node)

    def children(self, node: Node) -> None:
        for child in node.children:
            self.node(child)

    def gap(self, node: Node) -> None:
        """The blank line behind a block that is not the very last of its document."""
        if not self._is_last(node):
            self.write("\n")

    def _is_last(self, node: Node) -> bool:
        root = self.style.root
        if node is root or node.parent is None:
            return True
        if node.parent.children[-1] is not node:
            return False
        top = node
        while top.parent is not None and top.parent.type != "NodeDocument":
            top = top.parent
        if top.parent is None:
            return True
        return root is not None and bool(root.children) and root.children[-1] is top

    # --- leaves ----------------------------------------------------------------------------------------------
    def document(self, node: Node) -> None:
        self.children(node)

    def paragraph(self, node: Node) -> None:
        self.children(node)
        self.newline()
        parent = node.parent
        if parent is not None and parent.type == "NodeListItem":
            holder = parent.parent
            if holder is None or "ListData" not in holder.fields:
                return  # an item that stands neither in a list nor in an item is tight
            if holder.fields["ListData"].get("Tight") and not (parent.next is None and node.next is None):
                return
        self.write("\n")

    def heading(self, node: Node) -> None:
        self.write("#" * int(node.fields.get("HeadingLevel", 1)) + " ")
        self.children(node)
        self.newline()
        self.write("\n")

    def thematic_break(self, node: Node) -> None:
        self.write("---\n\n")

    def code_block(self, node: Node) -> None:
        self.newline()
        if not node.fields.get("IsFencedCodeBlock") and node.children:
            self.write(f"```\n{node.children[0].data}```\n")
            self.gap(node)
            return
        is_chart = code_language(node) in RENDERED_CODE
        for child in node.children:
            if child.type == "NodeCodeBlockFenceOpenMarker":
                self.write(child.data)
            elif child.type == "NodeCodeBlockFenceInfoMarker":
                self.write(decode_base64(child.fields.get("CodeBlockInfo", "")) + "\n")
            elif child.type == "NodeCodeBlockCode":
                self.write(html.unescape(child.data) if is_chart else child.data)
            elif child.type == "NodeCodeBlockFenceCloseMarker":
                self.newline()
                self.write(child.data)
                self.newline()
                # Asked of the marker, which has no following sibling: the block is the last if all above it are.
                self.gap(child)

    def math_block(self, node: Node) -> None:
        self.newline()
        for child in node.children:
            if child.type == "NodeMathBlockContent":
                self.write(html.unescape(child.data) + "\n")
            else:
                self.write("$$\n")
        self.newline()
        self.gap(node)

    def raw_html(self, node: Node) -> None:
        self.newline()
        self.write(node.data)
        self.newline()
        self.gap(node)

    def attribute_view(self, node: Node) -> None:
        self.newline()
        view, kind = node.fields.get("AttributeViewID", ""), node.fields.get("AttributeViewType", "")
        self.write(f'<div data-type="NodeAttributeView" data-av-id="{view}" data-av-type="{kind}"></div>')
        self.newline()
        self.gap(node)

    def embed(self, node: Node) -> None:
        self.newline()
        for child in node.children:
            brace = {"NodeOpenBrace": "{", "NodeCloseBrace": "}"}.get(child.type)
            self.write(child.data if brace is None else brace)
        self.newline()

    def table(self, node: Node) -> None:
        if is_merged(node):
            self.write(html_table(node, cell_text=self._cell))
            return  # no empty line follows
        self.write(markdown_table(node, "md", cell_text=self._cell))
        self.newline()
        self.gap(node)

    def _cell(self, cell: Node) -> str:
        self.pages.append(_Page())
        self.children(cell)
        return "".join(self.pages.pop().parts)

    # --- containers ------------------------------------------------------------------------------------------
    def super_block(self, node: Node) -> None:
        self.newline()
        has_braces = self.style.has_super_block_braces
        for child in node.children:
            if child.type == "NodeSuperBlockOpenMarker":
                self.write("{{{" if has_braces else "")
            elif child.type == "NodeSuperBlockLayoutMarker":
                self.write(child.data + "\n" if has_braces else "")
            elif child.type == "NodeSuperBlockCloseMarker":
                if has_braces:
                    self.newline()
                    self.write("}}}")
                    self.newline()
                self.gap(child)
            else:
                self.node(child)

    def quote(self, node: Node, head: str = "") -> None:
        self.pages.append(_Page())
        if head:
            self.write(head)
            self.newline()
        self.children(node)
        lines = "".join(self.pages.pop().parts).split("\n")
        if len(lines) > 2 and not lines[-1].strip(_BLANKS) and not lines[-2].strip(_BLANKS):
            lines.pop()
        if len(self.pages) == 1 and len(lines) > 1 and not lines[-1].strip(_BLANKS):
            lines.pop()
        quoted = "\n".join(_quoted(line) for line in lines).strip(_BLANKS)
        self._close(quoted, "\n\n")

    def callout(self, node: Node) -> None:
        kind = str(node.fields.get("CalloutType", ""))
        icon, title = str(node.fields.get("CalloutIcon", "")), str(node.fields.get("CalloutTitle", ""))
        if node.fields.get("CalloutIconType") == 1 and icon.startswith(_ALIAS_PICTURE):
            icon = f":{icon.removeprefix(_ALIAS_PICTURE).partition('.')[0]}:"
        shown = f"{icon} {title}"
        is_default = CALLOUT_DEFAULTS.get(kind) == (icon, title)
        self.quote(node, f"[!{kind}]" + (f" {shown}" if not is_default and shown.strip() else ""))

    def list_block(self, node: Node) -> None:
        self.pages.append(_Page())
        self.children(node)
        text = "".join(self.pages.pop().parts)
        self._close(text, "\n\n")

    def list_item(self, node: Node) -> None:
        self.pages.append(_Page())
        if node.children and node.children[0].type == "NodeList":
            self.newline()
        self.children(node)
        text = "".join(self.pages.pop().parts)
        data = node.fields.get("ListData") or {}
        width = _item_indent(node, data)
        blanks = " " * width
        text = "".join(f"{blanks}{line}\n" if line else "\n" for line in text.split("\n"))
        if len(text) > width:
            text = text[width:]
        self._close(f"{list_marker(node)} {text}", "\n")

    def _close(self, text: str, ending: str) -> None:
        """Put a finished container on the page below, trimmed together with what stands there."""
        page = self.page
        page.parts.append(text)
        page.trim()
        if page.parts:
            self.last = page.parts[-1][-1]
        self.write(ending)

    # --- inlines ---------------------------------------------------------------------------------------------
    def task_marker(self, node: Node) -> None:
        self.write(f"[{task_mark(node, normalizes=self.style.normalizes_tasks)}] ")

    def text(self, node: Node) -> None:
        text = visible_text(node)
        if not text:
            return
        previous, parent = node.previous, node.parent
        if previous is None or previous.type == "NodeTaskListItemMarker":
            holder = parent.parent if parent is not None else None
            data = (holder.fields.get("ListData") or {}) if holder is not None else {}
            if data.get("Typ") == LIST_TASK and self.last == " ":
                text = text.removeprefix(" ")
        if text == inlines.ZERO_WIDTH and _touches_image(node):
            return
        self.write(text)

    def text_mark(self, node: Node) -> None:
        self.write(inlines.text_mark(node, encodes_blanks=True, following=node.next))

    def backslash(self, node: Node) -> None:
        self.write("\\")
        self.children(node)

    def entity(self, node: Node) -> None:
        """As it was written in the imported text."""
        self.write(decode_base64(node.fields.get("HtmlEntityTokens", "")) or node.data)

    def line_break(self, node: Node) -> None:
        self.write("<br />")

    def hard_break(self, node: Node) -> None:
        """Cells of databases that wrap hold them."""
        if is_in_cell(node):
            self.write("<br/>")
        else:
            self.newline()

    def soft_break(self, node: Node) -> None:
        self.newline()

    def image(self, node: Node) -> None:
        if self.style.has_image_tags:
            self.write(image_tag(node))
        else:
            self.children(node)

    def link_text(self, node: Node) -> None:
        self.write(node.data.replace("[", "\\[").replace("]", "\\]"))

    def link_target(self, node: Node) -> None:
        self.write(inlines.link_target(node.data, True))

    def link_title(self, node: Node) -> None:
        self.write('"' + node.data.replace('"', "&quot;") + '"')

    def as_it_is(self, node: Node) -> None:
        self.write(node.data)

    def footnote_mark(self, node: Node) -> None:
        self.write(f"[{node.data}]")

    def footnote(self, node: Node) -> None:
        self.pages.append(_Page())
        self.write(f"[{node.data}]: ")
        self.children(node)
        first, *lines = "".join(self.pages.pop().parts).split("\n")
        self.page.parts += [f"{first}\n", *[f"    {line}\n" if line else "\n" for line in lines]]

    def span_attributes(self, node: Node) -> None:
        if self.style.has_span_attributes:
            self.write(node.data)

    def nothing(self, node: Node) -> None:
        """Markers that the layout writes itself."""


def image_tag(node: Node) -> str:
    """An image as an ``<img>`` tag with its style."""
    attributes: list[tuple[str, str]] = []
    for child in node.children:
        if child.type == "NodeLinkText":
            attributes.append(("alt", child.data.replace("[", "\\[").replace("]", "\\]")))
        elif child.type == "NodeLinkDest":
            attributes.append(("src", inlines.link_target(child.data, True)))
        elif child.type == "NodeLinkTitle":
            attributes.append(("title", child.data.replace('"', "&quot;")))
    if style := node.properties.get("style"):
        attributes.append(("style", style))
    return "<img" + "".join(f' {name}="{value}"' for name, value in attributes) + " />"


def _touches_image(node: Node) -> bool:
    return any(beside is not None and beside.type == "NodeImage" for beside in (node.previous, node.next))


def _quoted(line: str) -> str:
    if not line:
        return ">"
    return f">{line}" if line.startswith(">") else f"> {line}"


def _item_indent(item: Node, data: dict[str, Any]) -> int:
    width = len(decode_base64(data.get("Marker", ""))) + 1
    kind, bullet = data.get("Typ", 0), chr(data.get("BulletChar", 0) or 0)
    if kind == LIST_ORDERED and width < 3:
        width += 1
    if kind == LIST_TASK:
        second = item.children[1] if len(item.children) > 1 else None
        if bullet == "\0" or (bullet in "*-" and second is not None and second.type == "NodeCallout"):
            width += 4
    return width


_VISITORS: Final[dict[str, Callable[[_Writer, Node], None]]] = {
    "NodeDocument": _Writer.document,
    "NodeParagraph": _Writer.paragraph,
    "NodeHeading": _Writer.heading,
    "NodeThematicBreak": _Writer.thematic_break,
    "NodeCodeBlock": _Writer.code_block,
    "NodeMathBlock": _Writer.math_block,
    "NodeHTMLBlock": _Writer.raw_html,
    "NodeIFrame": _Writer.raw_html,
    "NodeVideo": _Writer.raw_html,
    "NodeAudio": _Writer.raw_html,
    "NodeWidget": _Writer.raw_html,
    "NodeAttributeView": _Writer.attribute_view,
    "NodeBlockQueryEmbed": _Writer.embed,
    "NodeTable": _Writer.table,
    "NodeSuperBlock": _Writer.super_block,
    "NodeBlockquote": _Writer.quote,
    "NodeCallout": _Writer.callout,
    "NodeList": _Writer.list_block,
    "NodeListItem": _Writer.list_item,
    "NodeTaskListItemMarker": _Writer.task_marker,
    "NodeText": _Writer.text,
    "NodeTextMark": _Writer.text_mark,
    "NodeBackslash": _Writer.backslash,
    "NodeBr": _Writer.line_break,
    "NodeHardBreak": _Writer.hard_break,
    "NodeSoftBreak": _Writer.soft_break,
    "NodeImage": _Writer.image,
    "NodeLinkText": _Writer.link_text,
    "NodeLinkDest": _Writer.link_target,
    "NodeLinkTitle": _Writer.link_title,
    "NodeBang": lambda writer, _node: writer.write("!"),
    "NodeOpenBracket": lambda writer, _node: writer.write("["),
    "NodeCloseBracket": lambda writer, _node: writer.write("]"),
    "NodeOpenParen": lambda writer, _node: writer.write("("),
    "NodeCloseParen": lambda writer, _node: writer.write(")"),
    "NodeLinkSpace": lambda writer, _node: writer.write(" "),
    "NodeBackslashContent": _Writer.as_it_is,
    "NodeHTMLEntity": _Writer.entity,
    "NodeEmoji": _Writer.children,
    "NodeEmojiUnicode": _Writer.children,
    "NodeEmojiAlias": _Writer.as_it_is,
    "NodeInlineHTML": _Writer.as_it_is,
    "NodeEmojiImg": _Writer.children,
    "NodeKramdownSpanIAL": _Writer.span_attributes,
    "NodeFootnotesRef": _Writer.footnote_mark,
    "NodeFootnotesDef": _Writer.footnote,
    "NodeBlockquoteMarker": _Writer.nothing,
}
