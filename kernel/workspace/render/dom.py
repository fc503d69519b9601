"""[core] Blocks as the editor's DOM (section 1.2). One visitor; nesting never uses the interpreter's stack."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import Final

from kernel.workspace.markdown.callouts import ICON_CUSTOM, default_title
from kernel.workspace.markdown.characters import ASCII_BLANKS, CARET, NEWLINE_ESCAPE, UNICODE_BLANKS, ZERO_WIDTH_SPACE
from kernel.workspace.markdown.ial import escape_text, unescape_value
from kernel.workspace.markdown.inlines import parse_inlines
from kernel.workspace.nodes import INLINE_TYPES, KINDS, LIST_ORDERED, LIST_TASK
from kernel.workspace.render.dom_inline import attributes_text, inline_dom
from kernel.workspace.render.sanitize import iframe_style, sanitize_media
from kernel.workspace.tree import Node

# Code in these languages is drawn by the editor: its text is an attribute.
DRAWN_LANGUAGES: Final = frozenset(
    {"mermaid", "echarts", "abc", "graphviz", "mindmap", "flowchart", "plantuml", "infographic"}
)
_DRAWN_DIGITS: Final = 7
_NOT_SHOWN: Final = frozenset({"id"})
_EDITABLE: Final = '<div contenteditable="true" spellcheck="false">'
_ALIGNS: Final = ("", "left", "center", "right")
_TABLE_TAIL: Final = (
    '</tbody></table><div class="protyle-action__table"><div class="table__resize"></div>'
    '<div class="table__select"></div></div></div>'
)
_CODE_HEAD: Final = (
    '<div class="protyle-action"><span class="protyle-action--first protyle-action__language" contenteditable="false">'
)
_CODE_ICONS: Final = (
    '</span><span class="fn__flex-1"></span><span class="ariaLabel protyle-icon protyle-icon--first protyle-action__copy" '
    'data-position="4north"><svg><use xlink:href="#iconCopy"></use></svg></span><span class="ariaLabel protyle-icon '
    'protyle-icon--last protyle-action__menu" data-position="4north"><svg><use xlink:href="#iconMore"></use></svg></span>'
    '</div><div class="hljs"><div></div><div contenteditable="true" style="flex: 1" spellcheck="false">'
)
_HTML_ICONS: Final = (
    '<div class="protyle-icons"><span class="ariaLabel protyle-icon protyle-icon--first protyle-action__edit" '
    'data-position="4north"><svg><use xlink:href="#iconEdit"></use></svg></span><span class="ariaLabel protyle-icon '
    'protyle-action__menu protyle-icon--last" data-position="4north"><svg><use xlink:href="#iconMore"></use></svg></span>'
    "</div><div>"
)
_DRAG: Final = '<span class="protyle-action__drag" contenteditable="false"></span>'
_RESIZE: Final = '<span class="sb__resize" contenteditable="false"></span>'


def render_dom(blocks: Sequence[Node], *, first_index: int | None = None, parsed: bool = False) -> str:
    """The DOM of ``blocks``, numbered from ``first_index`` on if given.

    ``parsed``: the blocks come straight from the Markdown parser (the kernel's headings then still hold a marker).
    """
    return _Writer(parsed=parsed).write(blocks, first_index)


def inline_children(block: Node) -> list[Node]:
    """The inline nodes of a text block or cell."""
    return [child for child in block.children if child.type in INLINE_TYPES]


class _Writer:
    def __init__(self, *, parsed: bool) -> None:
        self.parsed = parsed
        self.out: list[str] = []
        self.pending: list[Node | str] = []  # what is still to be written, the next one last
        self.index: int | None = None
        self.roots: set[int] = set()

    def write(self, blocks: Sequence[Node], first_index: int | None) -> str:
        self.index = first_index
        self.roots = {id(block) for block in blocks}
        self.pending = list(reversed(blocks))
        while self.pending:
            entry = self.pending.pop()
            if isinstance(entry, str):
                self.out.append(entry)
                continue
            writer = _WRITERS.get(entry.type)
            if writer is not None:
                writer(self, entry)
        return "".join(self.out)

    def later(self, *entries: Node | str) -> None:
        """Write ``entries``, in this order, before anything else that is still pending."""
        self.pending.extend(reversed(entries))

    def open(
        self,
        node: Node,
        *,
        before: Sequence[tuple[str, str]] = (),
        after: Sequence[tuple[str, str]] = (),
        class_: str = "",
    ) -> None:
        """The opening tag of a block: its own attributes, the frame's, those of its attribute list."""
        frame = [*before, ("data-node-id", node.id)]
        if self.index is not None and id(node) in self.roots:
            frame.append(("data-node-index", str(self.index)))
            self.index += 1
        frame += [("data-type", node.type), ("class", class_ or KINDS[node.type].dom_class)]
        listed = [
            (name, value.replace(NEWLINE_ESCAPE, "\n"))
            for name, value in node.properties.items()
            if name not in _NOT_SHOWN
        ]
        self.out.append(f"<div{attributes_text([*frame, *listed, *after])}>")

    # --- text blocks ---

    def paragraph(self, node: Node) -> None:
        self.open(node)
        self.out.append(f"{_EDITABLE}{inline_dom(inline_children(node))}</div>{attribute_marks(node)}</div>")

    def heading(self, node: Node) -> None:
        level = f"h{min(node.fields.get('HeadingLevel', 1), 6)}"
        self.open(node, before=[("data-subtype", level)], class_=level)
        holds_marker = self.parsed or (bool(node.children) and node.children[0].type == "NodeHeadingC8hMarker")
        text = inline_dom(inline_children(node), has_previous=holds_marker)
        self.out.append(f"{_EDITABLE}{text}</div>{attribute_marks(node)}</div>")

    def code(self, node: Node) -> None:
        info, code = code_parts(node)
        if info in DRAWN_LANGUAGES:
            content = escape_text(code).replace(CARET, "").strip(UNICODE_BLANKS)
            self.drawn(node, [("data-content", content), ("data-subtype", info)])
            return
        self.open(node)
        language = info.split(" ")[0]
        self.out.append(
            f"{_CODE_HEAD}{language}{_CODE_ICONS}{escape_text(code)}</div></div>{attribute_marks(node)}</div>"
        )

    def drawn(self, node: Node, attributes: list[tuple[str, str]]) -> None:
        self.open(node, after=attributes, class_="render-node")
        self.out.append(f'<div spin="1"></div>{attribute_marks(node)}</div>')

    def math(self, node: Node) -> None:
        content = next((child.data for child in node.children if child.type == "NodeMathBlockContent"), "")
        shown = escape_text(content).replace(CARET, "").strip(UNICODE_BLANKS)
        self.drawn(node, [("data-content", shown), ("data-subtype", "math")])

    def break_(self, node: Node) -> None:
        self.open(node)
        self.out.append("<div></div></div>")

    # --- tables ---

    def table(self, node: Node) -> None:
        if not node.children:
            return
        self.open(node)
        self.out.append('<div contenteditable="false"><table contenteditable="true" spellcheck="false">')
        self.out.append(node.properties.get("caption", ""))
        self.out.append(inline_dom([child for child in node.children if child.type == "NodeText"]))
        head = [row for child in node.children if child.type == "NodeTableHead" for row in child.children]
        self.out.append(f"<colgroup>{self._columns(node, head)}</colgroup><thead>")
        for row in head:
            self._row(row, "th")
        self.out.append("</thead><tbody>")
        for row in node.children:
            if row.type == "NodeTableRow":
                self._row(row, "td")
        self.out.append(f"{_TABLE_TAIL}{attribute_marks(node)}</div>")

    def _columns(self, node: Node, rows: list[Node]) -> str:
        colgroup = node.properties.get("colgroup", "")
        if colgroup:
            styles = colgroup.split("|")
        else:
            cells = [cell for cell in rows[0].children if cell.type == "NodeTableCell"] if rows else []
            styles = [cell.properties.get("style", "") for cell in cells]
        return "".join(f'<col style="{style}" />' if style else "<col />" for style in styles)

    def _row(self, row: Node, tag: str) -> None:
        self.out.append("<tr>")
        for cell in row.children:
            if cell.type != "NodeTableCell":
                continue
            align = _ALIGNS[cell.fields.get("TableCellAlign", 0)]
            attributes = ([("align", align)] if align else []) + list(cell.properties.items())
            text = inline_dom(inline_children(cell), in_cell=True, breaks_lines=False)
            self.out.append(f"<{tag}{attributes_text(attributes)}>{text}</{tag}>")
        self.out.append("</tr>")

    # --- containers ---

    def list_(self, node: Node) -> None:
        self.open(node, before=[("data-subtype", list_subtype(node))])
        self.later(*node.children, attribute_marks(node) + "</div>")

    def item(self, node: Node) -> None:
        subtype = list_subtype(node)
        marker = f"{node.fields['ListData'].get('Num', 0)}." if subtype == "o" else "*"
        before = [("data-marker", marker), ("data-subtype", subtype)]
        class_ = "li"
        task = node.children[0] if node.children and node.children[0].type == "NodeTaskListItemMarker" else None
        if subtype == "t" and task is not None:
            if task.fields.get("TaskListItemChecked"):
                class_ = "li protyle-task--done"
            before.append(("data-task", task_mark(task)))
        self.open(node, before=before, class_=class_)
        if subtype == "u":
            self.out.append(
                '<div class="protyle-action" draggable="true"><svg><use xlink:href="#iconDot"></use></svg></div>'
            )
        elif subtype == "o":
            self.out.append(
                '<div class="protyle-action protyle-action--order" contenteditable="false" draggable="true">'
                f"{marker}</div>"
            )
        self.later(*node.children, attribute_marks(node) + "</div>")

    def task_marker(self, node: Node) -> None:
        icon = "iconCheck" if node.fields.get("TaskListItemChecked") else "iconUncheck"
        self.out.append(
            '<div class="protyle-action protyle-action--task" draggable="true"><svg>'
            f'<use xlink:href="#{icon}"></use></svg></div>'
        )
        item = node.parent
        if item is not None and item.children[-1] is node:
            # The editor needs something to type into: an empty paragraph that no file holds.
            self.paragraph(Node("NodeParagraph", id=_drawn_id(item)))

    def quote(self, node: Node) -> None:
        self.open(node)
        self.later(*node.children, attribute_marks(node) + "</div>")

    def callout(self, node: Node) -> None:
        kind = node.fields.get("CalloutType", "")
        self.open(node, before=[("contenteditable", "false"), ("data-subtype", kind)])
        icon = node.fields.get("CalloutIcon", "")
        if node.fields.get("CalloutIconType") == ICON_CUSTOM:
            icon = f'<img class="callout-img" src="{icon}" />'
        title = title_dom(node.fields.get("CalloutTitle", "") or default_title(kind))
        self.out.append(
            f'<div class="callout-info"><span class="callout-icon">{icon}</span>'
            f'<span class="callout-title">{title}</span></div><div class="callout-content">'
        )
        self.later(*node.children, f"</div>{attribute_marks(node)}</div>")

    def super_block(self, node: Node) -> None:
        if len(node.children) < 2:
            return
        layout = node.children[1].data or "row"
        self.open(node, after=[("data-sb-layout", layout)])
        blocks = [child for child in node.children if not KINDS[child.type].is_marker]
        entries: list[Node | str] = []
        for position, block in enumerate(blocks):
            if position and layout == "col":
                entries.append(_RESIZE)
            entries.append(block)
        self.later(*entries, attribute_marks(node) + "</div>")

    # --- embedded things ---

    def html(self, node: Node) -> None:
        self.open(node, after=[("data-subtype", "block")])
        self.out.append(
            f'{_HTML_ICONS}<protyle-html data-content="{escape_text(node.data.replace(CARET, ""))}"></protyle-html>'
            f'<span style="position: absolute">{ZERO_WIDTH_SPACE}</span></div>{attribute_marks(node)}</div>'
        )

    def embed(self, node: Node) -> None:
        script = next((child.data for child in node.children if child.type == "NodeBlockQueryEmbedScript"), "")
        content = escape_text(script.replace(CARET, "")).replace(NEWLINE_ESCAPE, "\n")
        self.open(node, before=[("data-content", content)])
        self.out.append(attribute_marks(node) + "</div>")

    def database(self, node: Node) -> None:
        view = [
            ("contenteditable", "false"),
            ("data-av-id", node.fields.get("AttributeViewID", "")),
            ("data-av-type", node.fields.get("AttributeViewType", "")),
        ]
        self.open(node, before=view)
        self.out.append(f'<div spellcheck="false"></div>{attribute_marks(node)}</div>')

    def frame(self, node: Node) -> None:
        """An iframe or a widget."""
        markup = sanitize_media(node.data)
        style = iframe_style(markup)
        after = []
        if style and not node.properties.get("style"):
            after.append(("style", style.replace("pointer-events: none;", "")))
        markup = markup.replace(f'style="{style}"', "")
        after.append(("data-subtype", "widget") if node.type == "NodeWidget" else ("loading", "lazy"))
        self.open(node, after=after)
        self.out.append(f'<div class="iframe-content">{markup}{_DRAG}</div>{attribute_marks(node)}</div>')

    def video(self, node: Node) -> None:
        self.open(node)
        content = f"{ZERO_WIDTH_SPACE}{sanitize_media(node.data)}{_DRAG}"
        self.out.append(f'<div class="iframe-content">{content}</div>{attribute_marks(node)}</div>')

    def audio(self, node: Node) -> None:
        self.open(node)
        content = f"{sanitize_media(node.data)}{ZERO_WIDTH_SPACE}"
        self.out.append(f'<div class="iframe-content">{content}</div>{attribute_marks(node)}</div>')


def list_subtype(node: Node) -> str:
    """``u``, ``o`` or ``t``: what kind of list or item a node is."""
    typ = (node.fields.get("ListData") or {}).get("Typ", 0)
    return "o" if typ == LIST_ORDERED else "t" if typ == LIST_TASK else "u"


def _drawn_id(item: Node) -> str:
    """The id of a block that is only drawn: of the item's time, the same whenever it is drawn."""
    number = int.from_bytes(hashlib.sha256(item.id.encode()).digest()[:5])
    return f"{item.id[:15]}{number % 16**_DRAWN_DIGITS:0{_DRAWN_DIGITS}x}"


def task_mark(marker: Node) -> str:
    """The character in a task's box, escaped; every ``x`` is a capital one."""
    code = marker.fields.get("TaskListItemMarker")
    if not code:
        return "X" if marker.fields.get("TaskListItemChecked") else " "
    return "X" if code == ord("x") else escape_text(chr(code))


def code_parts(node: Node) -> tuple[str, str]:
    """The info string and the code of a code block."""
    info = code = ""
    for child in node.children:
        if child.type == "NodeCodeBlockFenceInfoMarker":
            info = base64.b64decode(child.fields.get("CodeBlockInfo", "")).decode("utf-8", "replace")
        elif child.type == "NodeCodeBlockCode":
            code = child.data
    return info, code


def title_dom(title: str) -> str:
    """A callout's title, read as Markdown."""
    if not title.strip(ASCII_BLANKS):
        return title
    return inline_dom(parse_inlines(title))


_SHOWN_AT_SIDE: Final = ("bookmark", "name", "alias", "memo", "custom-avs", "av-names", "refcount")


def attribute_marks(node: Node) -> str:
    """The marks that a block's attributes show at its side."""
    marks = []
    properties: dict[str, str] = {
        name: unescape_value(node.properties[name]) for name in _SHOWN_AT_SIDE if name in node.properties
    }
    if bookmark := properties.get("bookmark"):
        marks.append(f'<div class="protyle-attr--bookmark">{escape_text(bookmark)}</div>')
    for name, icon in (("name", "iconN"), ("alias", "iconA")):
        if value := properties.get(name):
            shown = f'<svg><use xlink:href="#{icon}"></use></svg>{escape_text(value)}'
            marks.append(f'<div class="protyle-attr--{name}">{shown}</div>')
    if memo := properties.get("memo"):
        marks.append(
            f'<div class="protyle-attr--memo ariaLabel" aria-label="{escape_text(memo)}" data-position="4north"><svg>'
            '<use xlink:href="#iconM"></use></svg></div>'
        )
    if properties.get("custom-avs"):
        names = properties.get("av-names", "")
        marks.append(f'<div class="protyle-attr--av"><svg><use xlink:href="#iconDatabase"></use></svg>{names}</div>')
    if count := properties.get("refcount"):
        marks.append(f'<div class="protyle-attr--refcount popover__block">{escape_text(count)}</div>')
    return f'<div class="protyle-attr" contenteditable="false">{"".join(marks)}{ZERO_WIDTH_SPACE}</div>'


_WRITERS: Final[dict[str, Callable[[_Writer, Node], None]]] = {
    "NodeParagraph": _Writer.paragraph,
    "NodeHeading": _Writer.heading,
    "NodeCodeBlock": _Writer.code,
    "NodeMathBlock": _Writer.math,
    "NodeThematicBreak": _Writer.break_,
    "NodeTable": _Writer.table,
    "NodeList": _Writer.list_,
    "NodeListItem": _Writer.item,
    "NodeTaskListItemMarker": _Writer.task_marker,
    "NodeBlockquote": _Writer.quote,
    "NodeCallout": _Writer.callout,
    "NodeSuperBlock": _Writer.super_block,
    "NodeHTMLBlock": _Writer.html,
    "NodeBlockQueryEmbed": _Writer.embed,
    "NodeAttributeView": _Writer.database,
    "NodeIFrame": _Writer.frame,
    "NodeWidget": _Writer.frame,
    "NodeVideo": _Writer.video,
    "NodeAudio": _Writer.audio,
}
