"""[core] The preview of an export: its Markdown, read once more, as HTML with the attributes of the blocks.

What an export says is printed as kramdown, so that the marks in its texts count, and parsed again; footnotes, which the
notes themselves do not have, are taken out of the text here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kernel.workspace.markdown.entities import unescape
from kernel.workspace.nodes import BLOCK_TYPES, LIST_ORDERED, LIST_TASK
from kernel.workspace.render.dom import DRAWN_LANGUAGES
from kernel.workspace.render.footnotes import (
    DEFINITIONS_BEGIN,
    DEFINITIONS_END,
    REFERENCE_MARK,
    make_text,
    shown_anchor,
    shown_reference,
)
from kernel.workspace.render.html_tokens import sanitized_tokens
from kernel.workspace.render.inlines import NEWLINE_ESCAPE, ZERO_WIDTH, is_cjk, is_in_cell, mark_text, mark_types
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.render.page_attributes import (
    block_attributes,
    data_of,
    escaped_text,
    link_attributes,
    mark_attributes,
    picture,
)
from kernel.workspace.render.sanitize import sanitize_address, sanitize_media
from kernel.workspace.render.std_markdown import CALLOUT_DEFAULTS, code_language, task_mark
from kernel.workspace.render.tables import table_rows
from kernel.workspace.tree import Node

Parse = Callable[[str], list[Node]]
_FOOTNOTE: Final = re.compile(r"\[\^([^\]\s]+)\]|\ufdd0(\d+)\ufdd1")
_DEFINITION: Final = re.compile(r"^\[\^([^\]\s]+)\]:[ \t]*", re.MULTILINE)
_ALIGNMENTS: Final[dict[int, str]] = {1: "left", 2: "center", 3: "right"}
_NOT_ON_TABLES: Final = ("id", "caption", "updated", "colgroup")
_ICON: Final = (
    '<span class="protyle-action protyle-icons"><span class="protyle-icon protyle-icon--only">'
    '<svg class="svg"><use xlink:href="#iconMore"></use></svg></span></span>'
)


def render_preview(exported: Node, parse: Parse, new_id: Callable[[], str]) -> str:
    """The HTML of an exported tree (``export.exported_tree``). ``parse`` reads Markdown, ``[]`` where it cannot."""
    for node in exported.walk():
        if node.type in BLOCK_TYPES and not node.id:
            node.id = new_id()
    definitions: list[tuple[str, list[Node]]] = []
    defined = {node.data for node in exported.walk() if node.type == "NodeFootnotesDef"}
    for node in list(exported.walk()):
        if node.type == "NodeFootnotesRef":
            make_text(node, REFERENCE_MARK.format(node.data.removeprefix("^")) if node.data in defined else None)
    for node in exported.walk():
        if node.type == "NodeFootnotesDef":
            body = "\n\n".join(render_kramdown(block, mode="textmark") for block in node.children)
            definitions.append((node.data.removeprefix("^"), parse(body)))
    for node in list(exported.children):
        if node.type == "NodeFootnotesDefBlock":
            node.detach()
    blocks = parse(_ready(exported))
    return Page(_with_own_footnotes(blocks, definitions)).page()


def _ready(exported: Node) -> str:
    for node in exported.walk():
        if node.type == "NodeSuperBlock":
            node.properties = {}
        elif node.type == "NodeHTMLBlock":
            data = node.data.strip()
            data = data if data.startswith("<div>") else f"<div>\n{data}"
            node.data = data if data.endswith("</div>") else f"{data}\n</div>"
    return render_kramdown(exported, mode="textmark")


@dataclass(slots=True)
class _Footnotes:
    """Runs of definitions, each of which is a list of its own where it stands."""

    definitions: list[tuple[str, list[Node]]]


def _with_own_footnotes(blocks: list[Node], definitions: list[tuple[str, list[Node]]]) -> list[Node | _Footnotes]:
    """The blocks, with paragraphs that the user has written as definitions made into such."""
    page: list[Node | _Footnotes] = []
    for block in blocks:
        found = _DEFINITION.match(_leading_text(block)) if block.type == "NodeParagraph" else None
        if found is None:
            page.append(block)
            continue
        first = block.children[0]
        first.data = first.data[found.end() :]
        page.append(_Footnotes([(found[1], [block])]))
    if definitions:
        page.append(_Footnotes(definitions))
    return page


def _blocks_of(item: Node | _Footnotes) -> list[Node]:
    return [item] if isinstance(item, Node) else [block for _, blocks in item.definitions for block in blocks]


def _leading_text(block: Node) -> str:
    return block.children[0].data if block.children and block.children[0].type == "NodeText" else ""


class Page:
    """One page being written; ``parts`` never end a line twice."""

    def __init__(self, page: list[Node | _Footnotes]) -> None:
        self.parts: list[str] = []
        self.last = "\n"
        self.items = page
        labels = [label for one in page if isinstance(one, _Footnotes) for label, _ in one.definitions]
        self.numbers = {label: number for number, label in enumerate(dict.fromkeys(labels), start=1)}
        self.referred = {label for label in self.numbers if self._is_referred(label)}
        self.shown: dict[int, int] = {}

    def _is_referred(self, label: str) -> bool:
        tops = [one for item in self.items for one in (_blocks_of(item))]
        marks = (f"[^{label}]", REFERENCE_MARK.format(label))
        texts = [below.data for top in tops for below in top.walk() if below.type == "NodeText"]
        return any(mark in text for text in texts for mark in marks)

    def page(self) -> str:
        for item in self.items:
            if isinstance(item, Node):
                self.block(item)
            else:
                self._definitions(item)
        return "".join(self.parts)

    def put(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.last = text[-1]

    def newline(self) -> None:
        if self.last != "\n":
            self.put("\n")

    def _definitions(self, footnotes: _Footnotes) -> None:
        self.put(DEFINITIONS_BEGIN)
        for label, blocks in footnotes.definitions:
            self.put("<li>")
            if blocks and label in self.referred:
                anchor = Node("NodeInlineHTML", data=shown_anchor(self.numbers[label]))
                blocks[0].insert(0, anchor)
            for block in blocks:
                self.block(block)
            self.put("</li>\n")
        self.put(DEFINITIONS_END)

    # --- blocks ----------------------------------------------------------------------------------------------------
    def block(self, node: Node) -> None:
        writer = _BLOCKS.get(node.type)
        if writer is not None:
            getattr(self, writer)(node)
        else:
            self.blocks(node)

    def blocks(self, node: Node) -> None:
        for child in node.children:
            self.block(child)

    def paragraph(self, node: Node) -> None:
        self._line("p", node)

    def heading(self, node: Node) -> None:
        self._line(f"h{node.fields.get('HeadingLevel', 1)}", node)

    def _line(self, tag: str, node: Node) -> None:
        self.newline()
        self.put(f"<{tag}{block_attributes(node)}>")
        self.inlines(node.children)
        self.put(f"</{tag}>")
        self.newline()

    def quote(self, node: Node) -> None:
        self._open_quote(node, "")
        self.blocks(node)
        self._close("blockquote")

    def _open_quote(self, node: Node, more: str) -> None:
        self.newline()
        self.put(f"<blockquote{block_attributes(node)}{more}>")
        self.newline()

    def _close(self, tag: str) -> None:
        self.newline()
        self.put(f"</{tag}>")
        self.newline()

    def callout(self, node: Node) -> None:
        kind = str(node.fields.get("CalloutType", ""))
        self._open_quote(node, f' data-type="callout" data-subtype="{kind}"')
        title = str(node.fields.get("CalloutTitle", "")) or CALLOUT_DEFAULTS.get(kind, ("", kind.capitalize()))[1]
        icon = str(node.fields.get("CalloutIcon", ""))
        shown = f"{icon} {title}" if icon else title
        self.put("<p>")
        if shown.strip():
            self.put(shown)
            self.newline()
        self.put("</p>")
        self.blocks(node)
        self._close("blockquote")

    def list_block(self, node: Node) -> None:
        tag, start = self.list_tag(node)
        self.newline()
        self.put(f"<{tag}{start}{block_attributes(node)}>")
        self.newline()
        self.blocks(node)
        self._close(tag)

    def list_tag(self, node: Node) -> tuple[str, str]:
        """The element of a list, and where it starts to count."""
        first = next((child for child in node.children if child.type == "NodeListItem"), None)
        data = (first.fields.get("ListData") if first is not None else None) or {}
        kind = data.get("Typ", 0)
        is_numbered = kind == LIST_ORDERED or (kind == LIST_TASK and not data.get("BulletChar"))
        number = data.get("Num", 1)
        return "ol" if is_numbered else "ul", f' start="{number}"' if is_numbered and number != 1 else ""

    def list_item(self, node: Node) -> None:
        marker = next((child for child in node.children if child.type == "NodeTaskListItemMarker"), None)
        task = ""
        if marker is not None:
            done = " protyle-task--done" if task_mark(marker, normalizes=True) != " " else ""
            task = f' class="protyle-task{done}"'
        self.put(f"<li{block_attributes(node)}{task}>")
        self.blocks(node)
        self.put("</li>")
        self.newline()

    def task_marker(self, node: Node) -> None:
        mark = task_mark(node, normalizes=False)
        checked = ' checked=""' if mark != " " else ""
        self.put(f'<input{checked} disabled="" type="checkbox" data-task="{escaped_text(mark)}" />')

    def thematic_break(self, node: Node) -> None:
        self.newline()
        self.put("<hr />")
        self.newline()

    def code_block(self, node: Node) -> None:
        self.newline()
        language = code_language(node).partition(" ")[0]
        code = data_of(node, "NodeCodeBlockCode")
        if language in DRAWN_LANGUAGES:
            self._drawn(node, unescape(code), language)
            return
        self.put(
            f'<pre class="code-block" data-language="{escaped_text(language)}"{block_attributes(node)}><code class="hljs">'
        )
        self.put(escaped_text(code))
        self.put("</code></pre>")

    def _drawn(self, node: Node, content: str, kind: str) -> None:
        shown = escaped_text(content).strip()
        self.put(
            f'<div data-content="{shown}" data-subtype="{kind}"{block_attributes(node)}><div spin="1"></div></div>'
        )
        self.newline()

    def math_block(self, node: Node) -> None:
        self.newline()
        self._drawn(node, unescape(data_of(node, "NodeMathBlockContent")), "math")

    def raw_html(self, node: Node) -> None:
        self.newline()
        self.put(sanitized_tokens(node.data))
        self.newline()

    def media(self, node: Node) -> None:
        self.put(f'<div class="iframe">{sanitize_media(node.data)}</div>')

    def widget(self, node: Node) -> None:
        self.put(f'<div class="iframe"{block_attributes(node)}>{node.data}</div>')

    def attribute_view(self, node: Node) -> None:
        view, kind = node.fields.get("AttributeViewID", ""), node.fields.get("AttributeViewType", "")
        self.newline()
        self.put(f'<div data-type="NodeAttributeView" data-av-id="{view}" data-av-type="{kind}"></div>')
        self.newline()

    def embed(self, node: Node) -> None:
        self.newline()
        self.put(f'<div>"{data_of(node, "NodeBlockQueryEmbedScript")}"</div>')
        self.newline()

    def table(self, node: Node) -> None:
        attributes = "".join(
            f' {name}="{value}"' for name, value in node.properties.items() if name not in _NOT_ON_TABLES
        )
        rows = table_rows(node)
        styles = node.properties.get("colgroup", "|" * (len(rows[0]) - 1) if rows else "").split("|")
        columns = "".join(f'<col style="{style}" />' if style else "<col />" for style in styles)
        self.put(f"<table{attributes}>\n<colgroup>{columns}</colgroup><thead>")
        for index, row in enumerate(rows):
            self._row(row, "td" if index else "th")
            if not index:
                self.put("</thead><tbody>")
        self.put("</tbody>" if len(rows) > 1 else "")
        self.newline()
        self.put("</table>")
        self.newline()

    def _row(self, cells: list[Node], tag: str) -> None:
        self.put("<tr>\n")
        for cell in cells:
            if "fn__none" in cell.properties.get("class", ""):
                self.inlines(cell.children)
                continue
            align = _ALIGNMENTS.get(int(cell.fields.get("TableCellAlign", 0) or 0))
            shown = f' align="{align}"' if align else ""
            self.put(f"<{tag}{shown}{block_attributes(cell, has_id=False)}>")
            self.inlines(cell.children)
            self.put(f"</{tag}>\n")
        self.put("</tr>\n")

    # --- inline ----------------------------------------------------------------------------------------------------
    def inlines(self, nodes: Sequence[Node]) -> None:
        for node in _with_whole_tags(nodes):
            writer = _INLINES.get(node.type)
            if writer is not None:
                getattr(self, writer)(node)
            else:
                self.inlines(node.children)

    def text(self, node: Node) -> None:
        position = 0
        for found in _FOOTNOTE.finditer(node.data):
            number = self.numbers.get(found[1] or found[2])
            if number is None:
                continue
            self.put(escaped_text(node.data[position : found.start()]))
            position = found.end()
            self.shown[number] = self.shown.get(number, 0) + 1
            name = str(number) if self.shown[number] == 1 else f"{number}:{self.shown[number]}"
            self.put(shown_reference(number, name))
        self.put(escaped_text(node.data[position:]))

    def line_end(self, node: Node) -> None:
        self.put("<br />")
        if not is_in_cell(node):
            self.newline()

    def break_tag(self, node: Node) -> None:
        self.put("<br />")

    def as_it_is(self, node: Node) -> None:
        self.put(node.data)

    def escaped(self, node: Node) -> None:
        self.put(escaped_text(node.data))

    def text_mark(self, node: Node) -> None:
        text, types = mark_text(node), mark_types(node)
        if is_in_cell(node):
            text = text.replace("|", "&#124;") if "code" in types else text.replace("\\|", "|")
            text = text.replace("\n", "<br />")
        if "tag" in types:
            self.tag_mark(node, text)
        elif "a" in types:
            self.put(f'<a href="{node.fields.get("TextMarkAHref", "")}"{link_attributes(node)}>{text}</a>')
        elif "inline-memo" in types:
            self._memo(node, text)
        else:
            self.plain_mark(node, text)

    def tag_mark(self, _node: Node, text: str) -> None:
        self.put(f"<em>#{text}#</em>")

    def plain_mark(self, node: Node, text: str) -> None:
        kind = node.fields.get("TextMarkType", "")
        self.put(f'<span data-type="{kind}"{mark_attributes(node)}{block_attributes(node, has_id=False)}>{text}</span>')

    def _memo(self, node: Node, text: str) -> None:
        self.put(text)
        memo = str(node.fields.get("TextMarkInlineMemoContent", "")).replace(NEWLINE_ESCAPE, " ")
        if memo:
            self.put(f"<sup>（{memo}）</sup>" if text and is_cjk(text[-1]) else f"<sup>({memo})</sup>")

    def link(self, node: Node) -> None:
        title = data_of(node, "NodeLinkTitle")
        shown = f' title="{escaped_text(title)}"' if title else ""
        self.put(f'<a href="{escaped_text(sanitize_address(data_of(node, "NodeLinkDest")))}"{shown}>')
        self.put(escaped_text(data_of(node, "NodeLinkText")))
        self.put("</a>")

    def image(self, node: Node) -> None:
        styles = node.properties.get("style", "").split(";")
        width = next((style for style in styles if "width" in style), "")
        place = node.properties.get("parent-style", "").replace("display: block;", "").strip()
        if self.last == "\n":
            self.put(ZERO_WIDTH)
        placed = f' style="{place}"' if place else ""
        self.put(f'<span contenteditable="false" data-type="img" class="img"{placed}><span> </span>')
        shown = width.replace("vw", "%").strip()
        self.put(f'<span style="{shown};">' if shown else "<span>")
        self.put(_ICON)
        self.put(picture(node, width))
        title = data_of(node, "NodeLinkTitle")
        self.put('<span class="protyle-action__drag"></span><span class="protyle-action__title"><span>')
        self.put(escaped_text(title))
        self.put("</span></span></span><span> </span></span>")


def _with_whole_tags(nodes: Sequence[Node]) -> list[Node]:
    """A tag that was read in several pieces, because an entity stood in it, is one again."""
    whole: list[Node] = []
    for node in nodes:
        if whole and _is_tag(node) and _is_tag(whole[-1]):
            text = mark_text(whole[-1]) + mark_text(node)
            whole[-1] = Node("NodeTextMark", fields={**node.fields, "TextMarkTextContent": text})
        else:
            whole.append(node)
    return whole


def _is_tag(node: Node) -> bool:
    return node.type == "NodeTextMark" and "tag" in mark_types(node)


_BLOCKS: Final[dict[str, str]] = {
    "NodeParagraph": "paragraph",
    "NodeHeading": "heading",
    "NodeBlockquote": "quote",
    "NodeCallout": "callout",
    "NodeList": "list_block",
    "NodeListItem": "list_item",
    "NodeTaskListItemMarker": "task_marker",
    "NodeThematicBreak": "thematic_break",
    "NodeCodeBlock": "code_block",
    "NodeMathBlock": "math_block",
    "NodeHTMLBlock": "raw_html",
    "NodeIFrame": "media",
    "NodeWidget": "widget",
    "NodeVideo": "media",
    "NodeAudio": "media",
    "NodeAttributeView": "attribute_view",
    "NodeBlockQueryEmbed": "embed",
    "NodeTable": "table",
}
_INLINES: Final[dict[str, str]] = {
    "NodeText": "text",
    "NodeHardBreak": "line_end",
    "NodeSoftBreak": "line_end",
    "NodeBr": "break_tag",
    "NodeTextMark": "text_mark",
    "NodeLink": "link",
    "NodeImage": "image",
    "NodeInlineHTML": "as_it_is",
    "NodeHTMLEntity": "escaped",
    "NodeBackslashContent": "escaped",
    "NodeEmojiUnicode": "as_it_is",
    "NodeEmojiImg": "as_it_is",
}
