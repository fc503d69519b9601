"""[core] Inline nodes as kramdown: Markdown marks (``md``) or the DOM's spans (``textmark``); sections 2 and 2.3."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from kernel.workspace.markdown.characters import NEWLINE_ESCAPE, ZERO_WIDTH_SPACE, is_blank, is_punctuation
from kernel.workspace.markdown.entities import unescape
from kernel.workspace.markdown.ial import escape_text, unescape_value
from kernel.workspace.markdown.text_marks import CARRIERS, node_text
from kernel.workspace.render.dom_inline import attributes_text
from kernel.workspace.tree import Node

_SYMBOL: Final = "\ufffd"  # what the kernel sees of an empty content
_MARKERS: Final = {"strong": "**", "em": "*", "tag": "#", "s": "~~", "mark": "=="}
_HTML_MARKS: Final = frozenset({"u", "sup", "sub", "kbd"})
_FLANKED: Final = frozenset({"strong", "em", "s"})
_ESCAPED_IN_LINKS: Final = frozenset("*_\\`~$=^<>")


def md_inline(
    nodes: Sequence[Node], *, in_cell: bool = False, encode_spaces: bool = False, after_blank: bool = False
) -> str:
    """Markdown of inline ``nodes``. ``after_blank``: a task's box with its blank stands right before them.

    ``encode_spaces``: blanks in addresses become ``%20`` (exports), else they stay (``getBlockKramdown``).
    """
    return _MdWriter(nodes, in_cell=in_cell, encode_spaces=encode_spaces, after_blank=after_blank).write()


def textmark_inline(nodes: Sequence[Node], *, in_cell: bool = False, after_blank: bool = False) -> str:
    """The same with every mark as its span."""
    parts = []
    for index, node in enumerate(nodes):
        if node.type == "NodeTextMark":
            parts.append(_textmark(node, in_cell=in_cell))
        elif node.type == "NodeText":
            drop = index == 0 and after_blank
            parts.append(node.data.removeprefix(" ") if drop else node.data)
        elif node.type == "NodeBr":
            parts.append("<br />" if in_cell else "\n")
        elif node.type == "NodeImage":
            parts.append("".join(map(_textmark_image_part, node.children)))
        else:
            parts.append(_plain(node))
    return "".join(parts)


def _textmark_image_part(node: Node) -> str:
    if node.type == "NodeLinkTitle":
        return f'"{escape_text(node.data)}"'
    return _IMAGE_MARKERS.get(node.type, node.data)


def _textmark(node: Node, *, in_cell: bool) -> str:
    types = node.fields["TextMarkType"].split(" ")
    content = node.fields.get("TextMarkTextContent", "")
    if in_cell:
        content = content.replace("\\|", "|").replace("|", "&#124;" if "code" in types else "\\|")
        content = content.replace("\n", "" if "code" in node.fields["TextMarkType"] else "<br/>")
    return f"<span{attributes_text(_textmark_attributes(node, types, in_cell=in_cell))}>{content}</span>"


def _textmark_attributes(node: Node, types: list[str], *, in_cell: bool) -> list[tuple[str, str]]:
    fields = node.fields
    attributes = [("data-type", fields["TextMarkType"])]
    for kind in types:
        if kind == "block-ref":
            attributes.append(("data-subtype", fields.get("TextMarkBlockRefSubtype", "")))
            attributes.append(("data-id", fields.get("TextMarkBlockRefID", "")))
        elif kind == "a":
            attributes.append(("data-href", _bars(fields.get("TextMarkAHref", ""), in_cell)))
            if title := fields.get("TextMarkATitle", ""):
                attributes.append(("data-title", _bars(title, in_cell)))
        elif kind == "inline-math":
            content = fields.get("TextMarkInlineMathContent", "")
            if in_cell:
                content = content.replace("|", "&#124;").replace("\n", "<br/>")
            attributes += [("data-subtype", "math"), ("data-content", escape_text(content))]
            attributes += [("contenteditable", "false"), ("class", "render-node")]
        elif kind == "file-annotation-ref":
            attributes.append(("data-id", fields.get("TextMarkFileAnnotationRefID", "")))
        elif kind == "inline-memo":
            attributes.append(("data-inline-memo-content", fields.get("TextMarkInlineMemoContent", "")))
    return attributes


def _bars(text: str, in_cell: bool) -> str:
    return text.replace("\\|", "|").replace("|", "\\|") if in_cell else text


_IMAGE_MARKERS: Final = {
    "NodeBang": "!",
    "NodeOpenBracket": "[",
    "NodeCloseBracket": "]",
    "NodeOpenParen": "(",
    "NodeCloseParen": ")",
    "NodeLinkSpace": " ",
}


def _plain(node: Node) -> str:
    """What is written alike in both modes."""
    if node.type == "NodeBackslash":
        return "\\" + "".join(child.data for child in node.children)
    if node.type == "NodeEmoji":
        aliases = (alias for picture in node.children for alias in picture.children)
        return "".join(alias.data for alias in aliases) or "".join(child.data for child in node.children)
    if node.type in ("NodeSoftBreak", "NodeHardBreak"):
        # Only files of earlier versions hold them, and cells of databases that wrap.
        is_in_cell = node.parent is not None and node.parent.type == "NodeTableCell"
        return "<br/>" if node.type == "NodeHardBreak" and is_in_cell else "\n"
    if node.type == "NodeLink":  # of a database's cell
        return "".join(_IMAGE_MARKERS.get(child.type, child.data) for child in node.children)
    if node.type == "NodeHTMLEntity":  # of an imported text
        return base64.b64decode(node.fields.get("HtmlEntityTokens", "")).decode("utf-8", "replace") or node.data
    return node.data if node.type == "NodeKramdownSpanIAL" else ""


def repeat_backslash(content: str) -> str:
    """A backslash before each bar, and one more where there was one before it."""
    parts = []
    backslashes = 0
    for character in content:
        if character == "|":
            parts.append("\\" if not backslashes else "")
            parts.append("\\" if backslashes else "")
        parts.append(character)
        backslashes = backslashes + 1 if character == "\\" else 0
    return "".join(parts)


class _MdWriter:
    def __init__(self, nodes: Sequence[Node], *, in_cell: bool, encode_spaces: bool, after_blank: bool) -> None:
        self.nodes = nodes
        self.in_cell = in_cell
        self.encode_spaces = encode_spaces
        self.after_blank = after_blank

    def write(self) -> str:
        parts = []
        for index, node in enumerate(self.nodes):
            following = self.nodes[index + 1] if index + 1 < len(self.nodes) else None
            if node.type == "NodeTextMark":
                parts.append(self._mark(node, following))
            elif node.type == "NodeText":
                parts.append(self._text(index, node, following))
            elif node.type == "NodeImage":
                parts.append("".join(map(self._image_part, node.children)))
            elif node.type == "NodeBr":
                parts.append("<br />")
            else:
                parts.append(_plain(node))
        return "".join(parts)

    def _text(self, index: int, node: Node, following: Node | None) -> str:
        """A text without the zero-width spaces that only a cursor needs (joining rule 3)."""
        data = node.data
        if following is None or not node_text(following):
            data = data.lstrip(ZERO_WIDTH_SPACE)
        if index == 0:
            data = data.removeprefix(ZERO_WIDTH_SPACE)
            if self.after_blank:
                data = data.removeprefix(" ")
        if data == ZERO_WIDTH_SPACE:
            previous = self.nodes[index - 1] if index else None
            if any(side is not None and side.type == "NodeImage" for side in (previous, following)):
                return ""
        return data

    def _image_part(self, node: Node) -> str:
        if node.type == "NodeLinkText":
            return node.data.replace("[", "\\[").replace("]", "\\]")
        if node.type == "NodeLinkDest":
            return self._address(node.data)
        if node.type == "NodeLinkTitle":
            return '"' + node.data.replace('"', "&quot;") + '"'
        return _IMAGE_MARKERS.get(node.type, "")

    def _address(self, address: str) -> str:
        return address.replace(" ", "%20") if self.encode_spaces else address

    def _mark(self, node: Node, following: Node | None) -> str:
        types = node.fields["TextMarkType"].split(" ")
        content = node.fields.get("TextMarkTextContent", "")
        flanked = not _FLANKED.isdisjoint(types) and "inline-math" not in types
        opening, closing = self._markers(node, types)
        text = before = ""
        if CARRIERS.isdisjoint(types):
            text = content
            if "code" in types:
                text = unescape(content)
                if self.in_cell:
                    text = repeat_backslash(text)
            if flanked and _is_edge(text[:1] or _SYMBOL):
                before = " "
        pad = " " if "`" in content else ""
        after = ""
        if following is not None:
            if following.type == "NodeTextMark":
                after = ZERO_WIDTH_SPACE
            elif flanked and _is_edge(content[-1:] or _SYMBOL):
                after = " "
        return f"{before}{opening}{pad}{text}{pad}{closing}{after}"

    # --- markers ---

    def _markers(self, node: Node, types: list[str]) -> tuple[str, str]:
        """What stands before and behind a mark's text; carriers are written whole before it."""
        if len(types) == 1:
            kind = types[0]
            if kind in CARRIERS:
                return self._carrier(node, kind)
            return _marker(node, kind, opening=True), _marker(node, kind, opening=False)
        ordered, code = _ordered(types)
        if not ordered:
            return "", ""
        if ordered[0] in CARRIERS:
            return self._combined(node, ordered[0], ordered[1:])
        opening = [_marker(node, kind, opening=True) for kind in ordered]
        closing = [_marker(node, kind, opening=False) for kind in reversed(ordered)]
        if code:
            if len(ordered) > 1:
                opening.insert(-1, ZERO_WIDTH_SPACE)
            closing.insert(1, ZERO_WIDTH_SPACE)
        return "".join(opening), "".join(closing)

    def _carrier(self, node: Node, kind: str) -> tuple[str, str]:
        """A mark that is only a link, ref, memo or formula."""
        fields = node.fields
        content = fields.get("TextMarkTextContent", "")
        if kind == "a":
            href = fields.get("TextMarkAHref", "")
            href = self._address(unescape(href) if "&amp;" in href else href)
            text = unescape(content.replace("[", "\\[").replace("]", "\\]"))
            title = unescape(fields.get("TextMarkATitle", "")).replace("&lt;", "<").replace("&gt;", ">")
            return f"[{text}]({href}" + (f' "{title}")' if title else ")"), ""
        if kind == "inline-math":
            return "$" + self._formula(node), "$"
        return self._whole(node, kind), ""

    def _combined(self, node: Node, kind: str, others: list[str]) -> tuple[str, str]:
        """A carrier under other marks: they stand around it, code inside a link's text."""
        outer = [other for other in others if other != "code"]
        code_open = "".join(_marker(node, other, opening=True) for other in others if other == "code")
        code_close = "".join(_marker(node, other, opening=False) for other in others if other == "code")
        before = "".join(_marker(node, other, opening=True) for other in outer)
        behind = "".join(_marker(node, other, opening=False) for other in outer)
        if kind != "a":
            whole = f"${self._formula(node)}$" if kind == "inline-math" else self._whole(node, kind)
            return before + whole, behind
        fields = node.fields
        text = "".join(
            "\\" + character if character in _ESCAPED_IN_LINKS else character
            for character in fields.get("TextMarkTextContent", "")
        )
        title = unescape(fields.get("TextMarkATitle", ""))
        target = self._address(unescape(fields.get("TextMarkAHref", ""))) + (f' "{title}"' if title else "")
        return f"{before}[{code_open}", f"{text}{code_close}]({target}){behind}"

    def _whole(self, node: Node, kind: str) -> str:
        fields = node.fields
        content = str(fields.get("TextMarkTextContent", ""))
        if kind == "inline-memo":
            return content + self._memo(node, content)
        quoted = content.replace("'", "&apos;")
        if kind == "file-annotation-ref":
            return f'<<{fields.get("TextMarkFileAnnotationRefID", "")} "{quoted}">>'
        quote = '"' if fields.get("TextMarkBlockRefSubtype") == "s" else "'"
        return f"(({fields.get('TextMarkBlockRefID', '')} {quote}{quoted}{quote}))"

    def _memo(self, node: Node, content: str) -> str:
        memo = node.fields.get("TextMarkInlineMemoContent", "").replace(NEWLINE_ESCAPE, " ")
        if not memo or self._memo_continues(node):
            return ""
        return f"<sup>（{memo}）</sup>" if _is_cjk(content[-1:]) else f"<sup>({memo})</sup>"

    def _memo_continues(self, node: Node) -> bool:
        """Whether the same memo goes on behind this mark."""
        at = next(index for index, other in enumerate(self.nodes) if other is node)
        for index in range(at + 1, len(self.nodes) - 1):
            other, after = self.nodes[index], self.nodes[index + 1]
            if "NodeKramdownSpanIAL" in (other.type, after.type) or other.type != "NodeTextMark":
                continue
            if "inline-memo" in other.fields["TextMarkType"].split(" "):
                return bool(
                    other.fields.get("TextMarkInlineMemoContent") == node.fields.get("TextMarkInlineMemoContent")
                )
        return False

    def _formula(self, node: Node) -> str:
        content = str(node.fields.get("TextMarkInlineMathContent", ""))
        if self.in_cell:
            content = repeat_backslash(content).replace("\n", "<br/>")
        return content.replace(NEWLINE_ESCAPE, " ")


def _is_edge(character: str) -> bool:
    return is_blank(character) or is_punctuation(character)


def _is_cjk(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3"


def _ordered(types: list[str]) -> tuple[list[str], bool]:
    """The types as they are written: the first carrier first, or code last, whichever comes first; no ``text``."""
    rest = list(types)
    for index, kind in enumerate(types):
        if kind in CARRIERS:
            del rest[index]
            return [kind, *(other for other in rest if other != "text")], False
        if kind == "code":
            del rest[index]
            return [*(other for other in rest if other != "text"), "code"], True
    return [other for other in rest if other != "text"], False


def _marker(node: Node, kind: str, *, opening: bool) -> str:
    if kind == "code":
        content = node.fields.get("TextMarkTextContent", "")
        return "``" if "`" in content and "``" not in content else "`"
    if kind in _HTML_MARKS:
        return f"<{kind}>" if opening else f"</{kind}>"
    if kind == "text":
        attributes = "".join(f' {name}="{unescape_value(value)}"' for name, value in node.properties.items())
        return f'<span data-type="text"{attributes}>' if opening else "</span>"
    return _MARKERS.get(kind, "")
