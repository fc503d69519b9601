"""[core] The editor's DOM as a tree: what of it the kernel keeps, and as which nodes (sections 0, 1.2 and 2).

Theory of operation. Elements are visited in document order; ``tip`` is the node into which the next one goes. Blocks know
themselves by ``data-type``; an editable element below one holds its inline text. Visits that end later (leave a block,
write its closing marker) lie on the same stack as the elements still to be visited, so that no depth of nesting can
exhaust the interpreter's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kernel.workspace.elements import Element, parse_html, write_html
from kernel.workspace.html_attributes import block_properties
from kernel.workspace.html_inline import InlineReader
from kernel.workspace.html_merge import merge_marks
from kernel.workspace.html_tidy import tidy
from kernel.workspace.markdown.assemble import code_info, fill_code_block, fill_embed, fill_math_block, item_data
from kernel.workspace.markdown.callouts import ICON_CUSTOM, ICONS
from kernel.workspace.markdown.characters import NEWLINE_ESCAPE, UNICODE_BLANKS, ZERO_WIDTH_JOINER, ZERO_WIDTH_SPACE
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError, Unmarked
from kernel.workspace.markdown.entities import unescape
from kernel.workspace.nodes import KINDS, LIST_BULLET, LIST_ORDERED, LIST_TASK
from kernel.workspace.render.kramdown_inline import textmark_inline
from kernel.workspace.tree import Node

_SKIPPED_CLASSES: Final = frozenset({"protyle-attr", "callout-info"})
_SKIPPED_PARTS: Final = ("protyle-custom", "__copy", "sb__resize", "protyle-linenumber__rows", "hljs")
_INLINE_TAGS: Final = frozenset(["u", "code", "strong", "em", "kbd", "mark", "s", "sub", "sup", "span"])
_ALIGNS: Final = {"left": 1, "center": 2, "right": 3}
_TYP_OF_SUBTYPE: Final = {"u": LIST_BULLET, "o": LIST_ORDERED, "t": LIST_TASK}
_MEDIA_TAGS: Final = {"NodeIFrame": "iframe", "NodeWidget": "iframe", "NodeVideo": "video", "NodeAudio": "audio"}

Step = Element | Callable[[], None]


def read_dom(markup: str, context: MarkdownContext) -> list[Node]:
    """The blocks in the editor's ``markup``. Blocks keep the ids they name; those that name none have none.

    Raises:
        MarkdownError: a block whose DOM lacks what the kernel cannot do without.
    """
    markup = _outer_blanks(markup.replace("<wbr>", "\u2038"))
    body = parse_html(markup)
    tidy(body)
    blocks = _BlockReader(context).read(body)
    merge_marks(blocks)
    return blocks


def _outer_blanks(markup: str) -> str:
    """Blanks around the markup are text, which the parser would drop."""
    bare = markup.strip(UNICODE_BLANKS)
    before = len(markup) - len(markup.lstrip(" "))
    after = len(markup) - len(markup.rstrip(" ")) if bare else 0
    return "&nbsp;" * before + bare + "&nbsp;" * after


class _BlockReader:
    def __init__(self, context: MarkdownContext) -> None:
        self.context = context
        self.root = Node("NodeDocument")
        self.tip = self.root
        self.pending: list[Step] = []

    def read(self, body: Element) -> list[Node]:
        self.pending = list(reversed(body.children))
        while self.pending:
            step = self.pending.pop()
            if isinstance(step, Element):
                self._visit(step)
            else:
                step()
        return self.root.children

    def _leave(self) -> None:
        if self.tip.parent is not None:
            self.tip = self.tip.parent

    def _enter(self, node: Node, element: Element) -> None:
        """Make ``node`` the tip while the children of ``element`` are visited."""
        self.tip.append(node)
        self.tip = node
        self.pending.append(self._leave)
        self._visit_children(element)

    def _visit_children(self, element: Element) -> None:
        self.pending.extend(reversed(element.children))

    def _visit(self, element: Element) -> None:
        class_ = element.get("class")
        if class_ in _SKIPPED_CLASSES or any(part in class_ for part in _SKIPPED_PARTS) or element.get("spin") == "1":
            return
        if "protyle-action" in class_:
            self._action(element)
            return
        if element.get("contenteditable") == "true":
            InlineReader(self.tip, self.context.unmarked).read(element.children)
            return
        type_ = element.get("data-type")
        reader = _READERS.get(type_)
        if reader is None:
            self._other(element, class_)
            return
        node = Node(type_, id=element.get("data-node-id"))
        if node.id and not element.within("table"):
            node.properties = block_properties(element)
        reader(self, element, node)

    def _other(self, element: Element, class_: str) -> None:
        """What is no block: the frame of a callout, text, marks without a block around them, foreign HTML."""
        if class_ == "callout-content":
            self._visit_children(element)
        elif element.is_text or not element.is_known or element.tag in _INLINE_TAGS:
            if self.tip.type == "NodeDocument":
                self.tip.append(Node("NodeParagraph"))
                self.tip = self.tip.children[-1]
            InlineReader(self.tip, self.context.unmarked).read([element])
        else:
            node = Node("NodeHTMLBlock", id=element.get("data-node-id"), data=write_html(element))
            if node.id and not element.within("table"):
                node.properties = block_properties(element)
            self.tip.append(node)

    def _action(self, element: Element) -> None:
        """The tools beside a block: they tell a code block's language and a task's mark."""
        if self.tip.type == "NodeCodeBlock":
            self._code_text(element)
        elif self.tip.type == "NodeListItem" and self.tip.fields["ListData"].get("Typ") == LIST_TASK:
            assert element.parent is not None, "the tools stand in the item's element"
            item = element.parent
            self.tip.append(_task_marker(item.get("data-task"), "protyle-task--done" in item.get("class")))

    def _code_text(self, element: Element) -> None:
        first = element.children[0].children[:1] if element.children else []
        language = (first[0].data or first[0].tag) if first else ""
        assert element.parent is not None, "the tools stand in the block's element"
        siblings = element.parent.children
        following = siblings[siblings.index(element) + 1 :]
        if not following:
            raise MarkdownError("a code block without code")
        text = following[0].children[-1].text() if following[0].children else ""
        protected = text.replace(ZERO_WIDTH_JOINER + "```", "```").replace("```", ZERO_WIDTH_JOINER + "```")
        self.tip.append(Node("NodeCodeBlockFenceInfoMarker", fields=code_info(language)))
        self.tip.append(Node("NodeCodeBlockCode", data=protected))

    # --- one reader per kind of block ---

    def _text_block(self, element: Element, node: Node) -> None:
        self._enter(node, element)

    def _heading(self, element: Element, node: Node) -> None:
        level = element.get("data-subtype")[1:]
        if not element.get("data-subtype"):
            raise MarkdownError("a heading without data-subtype")
        node.fields["HeadingLevel"] = int(level) if level.isdigit() else 0
        self._enter(node, element)

    def _quote(self, element: Element, node: Node) -> None:
        node.append(Node("NodeBlockquoteMarker", data=">"))
        self._enter(node, element)

    def _list(self, element: Element, node: Node) -> None:
        node.fields["ListData"] = _list_data(element)
        self._enter(node, element)

    def _item(self, element: Element, node: Node) -> None:
        typ = _TYP_OF_SUBTYPE.get(element.get("data-subtype"), LIST_BULLET)
        number = element.get("data-marker")[:-1]
        if typ == LIST_ORDERED and not element.get("data-marker"):
            raise MarkdownError("an ordered item without data-marker")
        if self.tip.type != "NodeList":
            # The list made for a lone item stays open: the items that follow are its items too.
            self.tip.append(Node("NodeList", fields={"ListData": _lone_list_data(element, number)}))
            self.tip = self.tip.children[-1]
        node.fields["ListData"] = item_data(
            typ, int(number) if number.isdigit() else 0, marker=element.get("data-marker")
        )
        if not element.get("data-subtype"):
            del node.fields["ListData"]["BulletChar"]
        self._enter(node, element)

    def _super_block(self, element: Element, node: Node) -> None:
        node.append(Node("NodeSuperBlockOpenMarker"))
        node.append(Node("NodeSuperBlockLayoutMarker", data=element.get("data-sb-layout")))
        self.tip.append(node)
        self.tip = node
        self.pending.append(self._leave)
        self.pending.append(lambda: node.append(Node("NodeSuperBlockCloseMarker")))
        self._visit_children(element)

    def _callout(self, element: Element, node: Node) -> None:
        kind = element.get("data-subtype")
        icon = _with_class(element, "callout-icon")
        title = _with_class(element, "callout-title")
        if icon is None or title is None:
            raise MarkdownError("a callout without icon and title")
        shown = icon.children[0] if icon.children else None
        fields: dict[str, object] = {"CalloutType": kind, "CalloutIcon": ICONS.get(kind, "")}
        if shown is not None:
            fields["CalloutIcon"] = shown.get("src") if shown.tag == "img" else shown.text()
            if shown.tag == "img":
                fields["CalloutIconType"] = ICON_CUSTOM
        fields["CalloutTitle"] = _title(title, self.context.unmarked)
        node.fields = {name: value for name, value in fields.items() if value}
        self._enter(node, element)

    def _code(self, element: Element, node: Node) -> None:
        language = element.get("data-subtype")
        if language:
            fill_code_block(node, language, element.get("data-content"))
            self.tip.append(node)
            return
        node.fields["IsFencedCodeBlock"] = True
        node.append(Node("NodeCodeBlockFenceOpenMarker", data="```"))
        self.tip.append(node)
        self.tip = node
        self.pending.append(self._leave)
        self.pending.append(lambda: node.append(Node("NodeCodeBlockFenceCloseMarker", data="```")))
        self._visit_children(element)

    def _math(self, element: Element, node: Node) -> None:
        fill_math_block(node, element.get("data-content"))
        self.tip.append(node)

    def _embed(self, element: Element, node: Node) -> None:
        fill_embed(node, element.get("data-content").replace("\n", NEWLINE_ESCAPE))
        self.tip.append(node)

    def _break(self, element: Element, node: Node) -> None:
        self.tip.append(node)

    def _html(self, element: Element, node: Node) -> None:
        if len(element.children) < 2:
            raise MarkdownError("an HTML block without content")
        holder = element.children[1].children
        node.data = unescape(holder[0].get("data-content")) if holder else ""
        self.tip.append(node)

    def _media(self, element: Element, node: Node) -> None:
        content = element.children[0] if element.children else None
        found = content.first(_MEDIA_TAGS[node.type]) if content is not None else None
        node.data = write_html(found) if found is not None else ""
        self.tip.append(node)

    def _database(self, element: Element, node: Node) -> None:
        node.fields["AttributeViewID"] = element.get("data-av-id") or self.context.new_id()
        if kind := element.get("data-av-type"):
            node.fields["AttributeViewType"] = kind
        self.tip.append(node)

    def _table(self, element: Element, node: Node) -> None:
        table = element.children[0].first("table") if element.children else None
        head = table.first("thead") if table is not None else None
        rows = head.children if head is not None else []
        if table is None or not rows or not rows[0].children:
            node.type = "NodeParagraph"
            self.tip.append(node)
            return
        node.fields["TableAligns"] = [_ALIGNS.get(cell.get("align"), 0) for cell in rows[0].children]
        self.tip.append(node)
        InlineReader(node, self.context.unmarked).read([table])


def _list_data(element: Element) -> dict[str, object]:
    typ = _TYP_OF_SUBTYPE.get(element.get("data-subtype"), LIST_BULLET)
    return {} if typ == LIST_BULLET else {"Typ": typ}


def _lone_list_data(element: Element, number: str) -> dict[str, object]:
    """The list around an item that stands alone also says what the item's own data say."""
    subtype = element.get("data-subtype")
    if subtype == "o":
        return {"Typ": LIST_ORDERED, "Delimiter": ord("."), "Num": int(number) if number.isdigit() else 0}
    bullet: dict[str, object] = {"BulletChar": ord("*")} if subtype else {}
    return _list_data(element) | bullet


def _task_marker(mark: str, done: bool) -> Node:
    code = ord(mark) if len(mark) == 1 and mark.isascii() else ord("X" if done else " ")
    fields: dict[str, object] = {"TaskListItemMarker": code}
    if code != ord(" "):
        fields["TaskListItemChecked"] = True
    return Node("NodeTaskListItemMarker", fields=fields)


def _with_class(element: Element, class_: str) -> Element | None:
    return next((span for span in element.walk() if span.tag == "span" and class_ in span.get("class")), None)


def _title(element: Element, unmarked: Unmarked) -> str:
    """A callout's title as it is stored: its marks as spans."""
    holder = Node("NodeParagraph")
    InlineReader(holder, unmarked).read(element.children)
    return textmark_inline(holder.children).replace(ZERO_WIDTH_SPACE, "").strip(UNICODE_BLANKS)


_READERS: Final[dict[str, Callable[[_BlockReader, Element, Node], None]]] = {
    "NodeParagraph": _BlockReader._text_block,
    "NodeHeading": _BlockReader._heading,
    "NodeBlockquote": _BlockReader._quote,
    "NodeList": _BlockReader._list,
    "NodeListItem": _BlockReader._item,
    "NodeSuperBlock": _BlockReader._super_block,
    "NodeCallout": _BlockReader._callout,
    "NodeCodeBlock": _BlockReader._code,
    "NodeMathBlock": _BlockReader._math,
    "NodeBlockQueryEmbed": _BlockReader._embed,
    "NodeThematicBreak": _BlockReader._break,
    "NodeHTMLBlock": _BlockReader._html,
    "NodeAttributeView": _BlockReader._database,
    "NodeTable": _BlockReader._table,
    **dict.fromkeys(_MEDIA_TAGS, _BlockReader._media),
}
assert set(_READERS) <= set(KINDS), "every reader is for a kind of the node table"
