"""[core] From an HTML element to a text mark: its types, its content and the blanks that leave it (section 2).

Used where Markdown holds tags (``<u>``, ``<span data-type=…>``) and where the editor's DOM is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kernel.workspace.elements import Element
from kernel.workspace.markdown.characters import NEWLINE_ESCAPE, UNICODE_BLANKS, ZERO_WIDTH_SPACE
from kernel.workspace.markdown.entities import unescape
from kernel.workspace.markdown.ial import Attributes, escape_text, escape_value, write_list
from kernel.workspace.tree import Node

# These carry more than text; of several types the first such one is looked at first.
CARRIERS: Final = frozenset({"a", "inline-memo", "block-ref", "file-annotation-ref", "inline-math"})
_TRIMMED: Final = frozenset({"strong", "em", "s", "mark", "sup", "sub"})
_TYPE_OF_TAG: Final = {"b": "strong", "i": "em", "del": "s", "strike": "s"}
_EDGE_BLANKS: Final = " \t\n\u3000"


@dataclass(frozen=True, slots=True)
class ReadMark:
    """A mark with the blanks that its edges lose, and its attribute list (``""``: none)."""

    node: Node
    before: str
    after: str
    attribute_list: str


def read_mark(element: Element, types: str = "", *, in_cell: bool = False) -> ReadMark:
    """The mark that ``element`` stands for; ``types`` are used where it names none."""
    types = element.get("data-type") or ("text" if element.tag == "span" else types or type_of_tag(element.tag))
    node = Node("NodeTextMark", fields={"TextMarkType": types})
    before = after = ""
    is_read = False  # the text, or a formula, which has none
    for kind in _carriers_first(types.split(" ")):
        if kind in CARRIERS:
            is_read = kind == "inline-math"
            _read_carrier(node, kind, element)
        elif not is_read:
            before, after = _read_text(node, element, in_cell=in_cell)
            is_read = True
    attributes = read_style(element)
    if attributes:
        node.properties = dict(attributes)
    return ReadMark(node, before, after, write_list(attributes) if attributes else "")


def type_of_tag(tag: str) -> str:
    return _TYPE_OF_TAG.get(tag, tag)


def _carriers_first(types: list[str]) -> list[str]:
    for index, kind in enumerate(types):
        if kind in CARRIERS:
            return [kind, *types[:index], *types[index + 1 :]]
    return types


def plain_content(element: Element) -> str:
    """The element's text as a mark holds it: without zero-width spaces, escaped save for quotes."""
    content = element.text().replace(ZERO_WIDTH_SPACE, "").removesuffix("\n")
    return _single_newlines(escape_text(content).replace("&quot;", '"'))


def _single_newlines(text: str) -> str:
    while "\n\n" in text:
        text = text.replace("\n\n", "\n")
    return text


def _read_carrier(node: Node, kind: str, element: Element) -> None:
    fields = node.fields
    if kind == "inline-math":
        content = unescape(element.get("data-content").replace("\n", NEWLINE_ESCAPE))
        fields["TextMarkInlineMathContent"] = content.replace(ZERO_WIDTH_SPACE, "")
        return
    content = _single_newlines(plain_content(element).removeprefix("\n").replace("'", "&apos;"))
    fields["TextMarkTextContent"] = content
    if kind == "a":
        fields["TextMarkAHref"] = escape_text(element.get("data-href"))
        title = escape_text(element.get("data-title"))
        fields["TextMarkATitle"] = title.replace("&amp;lt;", "<").replace("&amp;gt;", ">")
    elif kind == "block-ref":
        fields["TextMarkBlockRefID"] = element.get("data-id")
        fields["TextMarkBlockRefSubtype"] = element.get("data-subtype") or "s"
    elif kind == "file-annotation-ref":
        fields["TextMarkFileAnnotationRefID"] = element.get("data-id")
    else:
        memo = element.get("data-inline-memo-content").replace(ZERO_WIDTH_SPACE, "").replace("\n", NEWLINE_ESCAPE)
        fields["TextMarkInlineMemoContent"] = unescape(memo).replace("\n", NEWLINE_ESCAPE).replace('"', "&quot;")


def _read_text(node: Node, element: Element, *, in_cell: bool) -> tuple[str, str]:
    """Set the content; the blanks at its two edges that belong outside the mark."""
    types = node.fields["TextMarkType"].split(" ")
    content = plain_content(element)
    before = after = ""
    if _TRIMMED.intersection(types):
        before = content[: len(content) - len(content.lstrip(_EDGE_BLANKS))]
        after = content[len(content.rstrip(_EDGE_BLANKS)) :]
        content = content.strip(UNICODE_BLANKS)
        if "code" not in types:
            content = unescape(content)
    if in_cell and "code" in types:
        content = content.replace("|", "&#124;")
    node.fields["TextMarkTextContent"] = content
    return before, after


def read_style(element: Element) -> Attributes:
    """The attributes that an element's mark, image or cell keeps: style and ``custom-…``."""
    attributes: Attributes = []
    if style := element.get("style"):
        attributes.append(("style", escape_value(style_value(style))))
    for name, value in element.attributes.items():
        if name.startswith("custom-"):
            attributes.append((name, escape_value(unescape(value))))
    return attributes


def style_value(style: str) -> str:
    """A style on one line with single blanks."""
    return " ".join(style.strip(UNICODE_BLANKS).replace("\n", "").split())


def node_text(node: Node) -> str:
    """What an inline node says: text, a mark's content, an image's alternative text."""
    if node.type == "NodeText":
        return node.data
    if "TextMarkTextContent" in node.fields:
        return str(node.fields["TextMarkTextContent"])
    return "".join(child.data for child in node.children if child.type in ("NodeText", "NodeLinkText"))
