"""[core] Blocks as a plain page: the HTML that ``md2html`` gives and that READMEs of packages are shown as."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

from kernel.workspace.markdown.entities import unescape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernel.workspace.tree import Node

_MARKS: Final = {
    "strong": "strong",
    "em": "em",
    "s": "del",
    "mark": "mark",
    "code": "code",
    "sup": "sup",
    "sub": "sub",
}
# Elements that stay what they were in the Markdown: text with angle brackets.
_LITERAL: Final = frozenset({"u", "kbd"})
_ALIGNS: Final = {1: ' align="left"', 2: ' align="center"', 3: ' align="right"'}
_NOT_IN_ANCHOR: Final = re.compile(r"[^\w]+")
_TASK: Final = 3
_ORDERED: Final = 1


def render_page(blocks: Sequence[Node], *, has_ids: bool = True, is_preview: bool = False) -> str:
    """The blocks as HTML, one element a line.

    ``has_ids`` gives blocks their ids and times; ``is_preview`` is the dress that the editor's preview asks for.
    """
    return _Page(has_ids=has_ids, is_preview=is_preview).blocks(blocks)


class _Page:
    def __init__(self, *, has_ids: bool, is_preview: bool) -> None:
        self._has_ids = has_ids
        self._is_preview = is_preview

    # --- blocks ----------------------------------------------------------------------------------------------------
    def blocks(self, blocks: Sequence[Node]) -> str:
        return "".join(self._block(block) for block in blocks)

    def _block(self, node: Node) -> str:
        match node.type:
            case "NodeParagraph":
                return f"<p{self._marks(node)}>{self._inlines(node.children)}</p>\n"
            case "NodeHeading":
                return self._heading(node)
            case "NodeList":
                return self._list(node)
            case "NodeBlockquote":
                return f"<blockquote{self._marks(node)}>\n{self.blocks(node.children)}</blockquote>\n"
            case "NodeCallout":
                return self._callout(node)
            case "NodeCodeBlock":
                return self._code(node)
            case "NodeMathBlock":
                content = _data_of(node, "NodeMathBlockContent")
                return f'<div class="language-math"{self._marks(node)}>{_escaped(content)}</div>\n'
            case "NodeTable":
                return self._table(node)
            case "NodeThematicBreak":
                return "<hr />\n"
            case "NodeHTMLBlock":
                return f"{node.data}\n"
            case "NodeIFrame" | "NodeVideo" | "NodeAudio" | "NodeWidget":
                return f'<div class="iframe">{node.data}</div>\n'
            case "NodeBlockQueryEmbed":
                script = _data_of(node, "NodeBlockQueryEmbedScript")
                return f'<div>"{_escaped(script)}"</div>\n'
            case "NodeSuperBlock":
                return self.blocks(node.children)
            case _:
                return ""

    def _marks(self, node: Node) -> str:
        if not self._has_ids or not node.id:
            return ""
        return f' id="{node.id}" updated="{node.properties.get("updated", node.id[:14])}"'

    def _heading(self, node: Node) -> str:
        level = int(str(node.fields.get("HeadingLevel", 1)))
        marks = self._marks(node)
        if self._has_ids and not self._is_preview:
            anchor = _NOT_IN_ANCHOR.sub("-", _text(node)).strip("-")
            marks = f' id="{anchor}" updated="{node.properties.get("updated", node.id[:14])}"'
        return f"<h{level}{marks}>{self._inlines(node.children)}</h{level}>\n"

    def _list(self, node: Node) -> str:
        kind = _list_kind(node)
        tag = "ol" if kind == _ORDERED else "ul"
        start = ""
        first = next((child for child in node.children if child.type == "NodeListItem"), None)
        if tag == "ol" and first is not None:
            number = _list_data(first).get("Num")
            start = f' start="{number}"' if isinstance(number, int) and number != 1 else ""
        items = "".join(self._item(child) for child in node.children if child.type == "NodeListItem")
        return f"<{tag}{start}{self._marks(node)}>\n{items}</{tag}>\n"

    def _item(self, node: Node) -> str:
        """An item; its paragraphs stand without an element of their own, as in a tight list."""
        task, marks = "", self._marks(node)
        parts: list[str] = []
        for child in node.children:
            if child.type == "NodeTaskListItemMarker":
                is_done = bool(child.fields.get("TaskListItemChecked"))
                marks += ' class="vditor-task vditor-task--done"' if is_done else ' class="vditor-task"'
                checked, mark = (' checked=""', "X") if is_done else ("", " ")
                task = f'<input{checked} disabled="" type="checkbox" data-task="{mark}" />'
            elif child.type == "NodeParagraph" and not self._is_preview:
                parts.append(self._inlines(child.children))
            else:
                parts.append(self._block(child).rstrip("\n"))
        content = task + "\n".join(parts)
        if self._is_preview:
            return f"<li{marks}>\n{content}\n</li>\n"
        ends = "\n" if content.endswith(">") and len(parts) > 1 else ""
        return f"<li{marks}>{content}{ends}</li>\n"

    def _callout(self, node: Node) -> str:
        kind = str(node.fields.get("CalloutType", ""))
        icon = str(node.fields.get("CalloutIcon", ""))
        title = str(node.fields.get("CalloutTitle", "")) or kind.capitalize()
        head = f'<span class="callout-icon">{icon}</span><span class="callout-title">{_escaped(title)}</span>'
        body = self.blocks(node.children)
        return (
            f'<div class="callout" data-subtype="{kind}">\n<div class="callout-info">{head}</div>'
            f'<div class="callout-content">\n{body}</div>\n</div>\n'
        )

    def _code(self, node: Node) -> str:
        info = next((child for child in node.children if child.type == "NodeCodeBlockFenceInfoMarker"), None)
        encoded = str(info.fields.get("CodeBlockInfo", "")) if info is not None else ""
        language = base64.b64decode(encoded).decode("utf-8", "replace").partition(" ")[0]
        code = _escaped(unescape(_data_of(node, "NodeCodeBlockCode")))
        if self._is_preview:
            marks = f' class="code-block" data-language="{_escaped(language)}"{self._marks(node)}'
            return f'<pre{marks}><code class="hljs">{code}</code></pre>'
        class_ = f' class="language-{_escaped(language)}"' if language else ""
        return f"<pre{self._marks(node)}><code{class_}>{code}</code></pre>\n"

    def _table(self, node: Node) -> str:
        head = next((child for child in node.children if child.type == "NodeTableHead"), None)
        rows = [child for child in node.children if child.type == "NodeTableRow"]
        if self._is_preview:
            return self._preview_table(head, rows)
        shown = f"<table{self._marks(node)}>\n"
        if head is not None:
            shown += f"<thead>\n{''.join(self._row(row, 'th') for row in head.children)}</thead>\n"
        if rows:
            shown += f"<tbody>\n{''.join(self._row(row, 'td') for row in rows)}</tbody>\n"
        return f"{shown}</table>\n"

    def _preview_table(self, head: Node | None, rows: list[Node]) -> str:
        top = "".join(self._row(row, "th") for row in head.children) if head is not None else ""
        width = sum(cell.type == "NodeTableCell" for cell in head.children[0].children) if head is not None else 0
        body = "".join(self._row(row, "td") for row in rows)
        columns = f"<colgroup>{'<col />' * width}</colgroup>"
        return f"<table>\n{columns}<thead>{top}</thead><tbody>{body}</tbody>\n</table>\n"

    def _row(self, row: Node, tag: str) -> str:
        cells = [
            f"<{tag}{_align(cell)}>{self._inlines(cell.children)}</{tag}>\n"
            for cell in row.children
            if cell.type == "NodeTableCell"
        ]
        return f"<tr>\n{''.join(cells)}</tr>\n"

    # --- inline ----------------------------------------------------------------------------------------------------
    def _inlines(self, nodes: Sequence[Node]) -> str:
        return "".join(self._inline(node) for node in nodes)

    def _inline(self, node: Node) -> str:
        match node.type:
            case "NodeText":
                return _escaped(node.data)
            case "NodeHardBreak" | "NodeSoftBreak" | "NodeBr":
                return "<br />\n"
            case "NodeTextMark":
                return self._mark(node)
            case "NodeImage":
                return _image(node)
            case "NodeInlineHTML":
                return _escaped(node.data) if self._has_ids else node.data
            case "NodeBackslash":
                return _escaped(_data_of(node, "NodeBackslashContent"))
            case "NodeEmojiUnicode" | "NodeHTMLEntity":
                return node.data
            case _:
                return self._inlines(node.children)

    def _mark(self, node: Node) -> str:
        kinds = str(node.fields.get("TextMarkType", "")).split(" ")
        text = _escaped(unescape(str(node.fields.get("TextMarkTextContent", "")))).replace("\n", "<br />\n")
        if "inline-math" in kinds:
            math = _escaped(unescape(str(node.fields.get("TextMarkInlineMathContent", ""))))
            return f'<span class="language-math">{math}</span>'
        if "tag" in kinds:
            text = f"<em>#{text}#</em>"
        if "a" in kinds:
            title = str(node.fields.get("TextMarkATitle", ""))
            shown = f' title="{_escaped(unescape(title))}"' if title else ""
            text = f'<a href="{_escaped(str(node.fields.get("TextMarkAHref", "")))}"{shown}>{text}</a>'
        for kind in reversed(kinds):
            tag = _MARKS.get(kind)
            if tag is not None:
                text = f"<{tag}>{text}</{tag}>"
            elif kind in _LITERAL:
                text = f"&lt;{kind}&gt;{text}&lt;/{kind}&gt;" if self._has_ids else f"<{kind}>{text}</{kind}>"
        return text


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _image(node: Node) -> str:
    title = _data_of(node, "NodeLinkTitle")
    shown = f' title="{_escaped(unescape(title))}"' if title else ""
    alt = _escaped(unescape(_data_of(node, "NodeLinkText")))
    return f'<img src="{_escaped(_data_of(node, "NodeLinkDest"))}" alt="{alt}"{shown} />'


def _data_of(node: Node, kind: str) -> str:
    return next((child.data for child in node.children if child.type == kind), "")


def _text(node: Node) -> str:
    return "".join(str(below.fields.get("TextMarkTextContent", "")) or below.data for below in node.walk())


def _align(cell: Node) -> str:
    return _ALIGNS.get(int(str(cell.fields.get("TableCellAlign", 0))), "")


def _list_data(node: Node) -> dict[str, object]:
    data = node.fields.get("ListData")
    return data if isinstance(data, dict) else {}


def _list_kind(node: Node) -> object:
    return _list_data(node).get("Typ", 0)
