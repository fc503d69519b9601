"""[core] The inline part of the editor's DOM: texts, marks, images and the cells of tables as nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kernel.workspace.elements import COMMENT, Element
from kernel.workspace.markdown.characters import UNICODE_BLANKS, ZERO_WIDTH_SPACE
from kernel.workspace.markdown.context import ALL_MARKED, Unmarked
from kernel.workspace.markdown.emoji import picture_tag
from kernel.workspace.markdown.html_tags import read_underlined
from kernel.workspace.markdown.ial import Attributes, escape_value, write_list
from kernel.workspace.markdown.tables import split_unescaped
from kernel.workspace.markdown.text_marks import node_text, read_mark, read_style
from kernel.workspace.tree import Node

_EMPHASIS_TAGS: Final = frozenset(["em", "i", "strong", "b", "del", "s", "strike", "mark"])
_SIMPLE_TAGS: Final = frozenset(["code", "sub", "sup", "u", "kbd"])
_ALIGNS: Final = {"left": 1, "center": 2, "right": 3}
_TEMPORARY: Final = ("search-mark", "virtual-block-ref", "backslash")

Step = Element | Callable[[], None]


class InlineReader:
    """Reads inline elements into a block, or the rows and cells of a table."""

    def __init__(self, tip: Node, unmarked: Unmarked = ALL_MARKED) -> None:
        self.tip = tip
        self.unmarked = unmarked
        self.pending: list[Step] = []

    def read(self, elements: Sequence[Element]) -> None:
        if self.tip.type == "NodeCodeBlock":
            return
        self.pending = list(reversed(elements))
        while self.pending:
            step = self.pending.pop()
            if isinstance(step, Element):
                self._visit(step)
            else:
                step()

    def _leave(self) -> None:
        assert self.tip.parent is not None, "rows and cells stand in a table"
        self.tip = self.tip.parent

    def _enter(self, node: Node, element: Element) -> None:
        self.tip.append(node)
        self.tip = node
        self.pending.append(self._leave)
        self.pending.extend(reversed(element.children))

    def _visit(self, element: Element) -> None:
        tag = element.tag
        if tag == "colgroup" or element.get("class") == "svg":
            return
        if element.is_text or tag == COMMENT or not element.is_known:
            self._text(element)
        elif tag == "span":
            self._span(element)
        elif tag in _SIMPLE_TAGS or tag in _EMPHASIS_TAGS:
            self._tagged(element)
        elif tag == "br":
            self._line_break(element)
        elif tag == "img":
            self._emoji(element)
        elif tag in ("thead", "tr", "th", "td"):
            self._table_part(element)
        else:
            self.pending.extend(reversed(element.children))

    # --- texts ---

    def _text(self, element: Element) -> None:
        content = element.data if element.is_text or element.tag == COMMENT else f"<{element.tag}>"
        if content:
            if self.tip.type == "NodeHeading":
                content = content.replace("\n", "")
            if element.within("table"):
                content = _cell_text(element, content)
            self.tip.append(Node("NodeText", data=content))
        self.pending.extend(reversed(element.children))

    def _line_break(self, element: Element) -> None:
        if self.tip.type == "NodeHeading":
            return
        previous = _previous(element)
        if previous is not None and previous.data == "\n" and element.within("table"):
            return
        if self.tip.type == "NodeParagraph":
            self.tip.append(Node("NodeText", data="\n"))
        else:
            self.tip.append(Node("NodeBr", data="br"))

    def _emoji(self, element: Element) -> None:
        if element.get("class") != "emoji":
            return
        alias = element.get("alt")
        picture = Node("NodeEmojiImg", data=picture_tag(alias, element.get("src")))
        picture.append(Node("NodeEmojiAlias", data=f":{alias}:"))
        self.tip.append(Node("NodeEmoji", data="img", children=[picture]))

    # --- marks ---

    def _tagged(self, element: Element) -> None:
        if element.tag in _EMPHASIS_TAGS:
            first = element.children[0] if element.children else None
            if first is None or first.tag == "br":
                return
            if element.tag in ("strong", "b"):
                self._double_backslash_before_strong()
            if first.data.startswith(("\n", ZERO_WIDTH_SPACE + "\n")):
                first.data = first.data.lstrip(ZERO_WIDTH_SPACE + "\n")
                self.tip.append(Node("NodeText", data=ZERO_WIDTH_SPACE + "\n"))
        if not _is_empty(element):
            self._mark(element)

    def _double_backslash_before_strong(self) -> None:
        last = self.tip.children[-1] if self.tip.children else None
        if last is not None and last.data.endswith("\\"):
            last.data = last.data.replace("\\", "\\\\")

    def _span(self, element: Element) -> None:
        kind = element.get("data-type") or "text"
        if "span" in kind:
            self.tip.append(Node("NodeText", data=element.text()))
            return
        self._double_backslash()
        if "img" in kind:
            self._image(element)
        elif kind == "backslash":
            self._backslash(element)
        elif kind == "inline-math":
            if element.get("data-content"):
                self._mark(element)
        elif kind in ("block-ref", "file-annotation-ref"):
            if element.text().strip(UNICODE_BLANKS):
                self._mark(element)
        elif kind == "a" and not element.children:
            return
        elif not _is_empty(element):
            self._typed_mark(element, kind)

    def _typed_mark(self, element: Element, kind: str) -> None:
        if kind not in ("tag", "inline-memo", "a"):
            for temporary in _TEMPORARY[:2]:
                kind = kind.replace(temporary, "")
            kind = kind.strip(UNICODE_BLANKS)
            if not kind.replace("backslash", "").strip(UNICODE_BLANKS):
                self.tip.append(Node("NodeText", data=element.text()))
                return
            element.attributes["data-type"] = kind
        self._mark(element)

    def _double_backslash(self) -> None:
        """A text that ends in an odd number of backslashes gets one more before a span."""
        last = self.tip.children[-1] if self.tip.children else None
        if last is None:
            return
        text = node_text(last)
        if (len(text) - len(text.rstrip("\\"))) % 2:
            last.data += "\\"

    def _mark(self, element: Element) -> None:
        mark = read_mark(element, in_cell=self.tip.type == "NodeTableCell")
        read_underlined(mark.node, element, unmarked=self.unmarked)
        if mark.before and not self._text_before().endswith((" ", "\u3000")):
            self.tip.append(Node("NodeText", data=mark.before))
        self.tip.append(mark.node)
        if mark.attribute_list:
            self.tip.append(Node("NodeKramdownSpanIAL", data=mark.attribute_list))
        if mark.after:
            self.tip.append(Node("NodeText", data=mark.after))

    def _text_before(self) -> str:
        """What the last node says; an attribute list is looked past."""
        children = self.tip.children
        if len(children) > 1 and children[-1].type == "NodeKramdownSpanIAL":
            return node_text(children[-2])
        return node_text(children[-1]) if children else ""

    def _backslash(self, element: Element) -> None:
        if not element.children:
            return
        first = element.children[0]
        if len(element.children) == 1 and first.children:
            return
        node = Node("NodeBackslash", data="span")
        if len(element.children) == 1 and first.is_text:
            node.append(Node("NodeText", data=first.data))
        elif len(element.children) > 1:
            node.append(Node("NodeText", data=element.children[1].data.replace("\\\\", "\\")))
        self.tip.append(node)

    # --- images ---

    def _image(self, element: Element) -> None:
        image = element.first("img")
        if image is None:
            return
        node = Node("NodeImage", data="span", children=[Node("NodeBang"), Node("NodeOpenBracket")])
        node.append(Node("NodeLinkText", data=image.get("alt")))
        node.append(Node("NodeCloseBracket"))
        node.append(Node("NodeOpenParen"))
        node.append(Node("NodeLinkDest", data=image.get("data-src").strip(UNICODE_BLANKS)))
        if title := image.get("title"):
            node.append(Node("NodeLinkSpace"))
            title = title.replace('"', "&quot;").replace("&lt;", "<").replace("&gt;", ">")
            node.append(Node("NodeLinkTitle", data=title))
        node.append(Node("NodeCloseParen"))
        self.tip.append(node)
        attributes = _image_attributes(image)
        if attributes:
            node.properties = dict(attributes)
            self.tip.append(Node("NodeKramdownSpanIAL", data=write_list(attributes)))

    # --- tables ---

    def _table_part(self, element: Element) -> None:
        if element.tag == "thead":
            self._enter(Node("NodeTableHead", data="thead"), element)
        elif element.tag == "tr":
            self._enter(Node("NodeTableRow", data="tr"), element)
        else:
            self._enter(_cell(element), element)


def _cell(element: Element) -> Node:
    node = Node("NodeTableCell", data=element.tag)
    if align := _ALIGNS.get(element.get("align")):
        node.fields["TableCellAlign"] = align
    attributes = read_style(element)
    attributes += [
        (name, escape_value(element.get(name))) for name in ("colspan", "rowspan", "class") if element.get(name)
    ]
    if attributes:
        node.properties = dict(attributes)
        node.append(Node("NodeKramdownSpanIAL", data=write_list(attributes)))
    return node


def _cell_text(element: Element, content: str) -> str:
    """A text in a cell: no newline at its end, its bars escaped."""
    content = content.removesuffix("\n")
    following = _next(element)
    if (following is None and "\n" not in content) or (
        following is not None and following.tag == "br" and content.startswith("\n")
    ):
        content = content.replace("\n", "")
    if "\\" in content and not content.replace("\\", "").strip(UNICODE_BLANKS):
        content = content.replace("\\", "\\\\")
    content = content.replace("\n", "<br />")
    return "\\|".join(split_unescaped(content, "|"))


def _image_attributes(image: Element) -> Attributes:
    """An image's own style, and those of the two spans around it."""
    attributes = read_style(image)
    parent = image.parent
    if parent is None:
        return attributes
    if width := parent.get("style"):
        names = dict(attributes)
        if attributes:
            names["style"] = names.get("style", "") + width
        else:
            names["style"] = escape_value(width)
        attributes = list(names.items())
    outer = parent.parent
    if outer is not None and (style := outer.get("style")):
        attributes.append(("parent-style", style))
    return attributes


def _is_empty(element: Element) -> bool:
    """Whether an element shows nothing, so that nothing is stored of it."""
    return element.text() in ("", ZERO_WIDTH_SPACE) and not element.get("data-content")


def _previous(element: Element) -> Element | None:
    siblings = element.parent.children if element.parent is not None else []
    at = next((index for index, sibling in enumerate(siblings) if sibling is element), 0)
    return siblings[at - 1] if at else None


def _next(element: Element) -> Element | None:
    siblings = element.parent.children if element.parent is not None else []
    at = next((index for index, sibling in enumerate(siblings) if sibling is element), len(siblings))
    return siblings[at + 1] if at + 1 < len(siblings) else None
