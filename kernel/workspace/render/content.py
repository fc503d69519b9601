"""[core] The plain text of a block: SQL ``content``/``fcontent``/``length``/``tag``, and anchors of dynamic refs.

Source: siyuan-markdown section 6 (reads) and 8 (anchors).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Final

from kernel.workspace.nodes import CONTAINER_TYPES, MARKER_TYPES
from kernel.workspace.render import inlines
from kernel.workspace.render.inlines import visible_text
from kernel.workspace.render.std_markdown import is_chart_code
from kernel.workspace.tree import Node

ANCHOR_RUNES_MAX: Final = 96
_SRC: Final = re.compile(r'src="([^"]*)"')
_FORMULA: Final = re.compile(r'<span [^>]*data-content="([^"]*)"[^>]*></span>')
_BACKSLASH: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG: Final = re.compile(r"</?span(?: [^>]*)?>")
_UNESCAPED_MARKS: Final = frozenset({"code", "tag", "strong", "em", "a"})
# What a database shows as its text is asked of the views; the default knows none.
ViewText = Callable[[str], str]


def no_view_text(view_id: str) -> str:
    """The text of a database that is not at hand: none."""
    return ""


def plain_content(node: Node, *, view_text: ViewText = no_view_text, keeps_asset_paths: bool = True) -> str:
    """The text of a block and all below it as the index holds it, U+200B still in place, ends not trimmed."""
    if node.type == "NodeDocument":
        return html.escape(node.properties.get("title", ""), quote=True)
    if node.type == "NodeAttributeView":
        return view_text(str(node.fields.get("AttributeViewID", "")))
    collector = _Collector(keeps_asset_paths)
    collector.add(node)
    return "".join(collector.parts)


def shown_content(node: Node) -> str:
    """The text of a block as a query that shows it is found by: without where its links and pictures lead."""
    if node.type in ("NodeDocument", "NodeAttributeView"):
        return plain_content(node)
    collector = _Collector(keeps_asset_paths=False, names_targets=False)
    collector.add(node)
    return "".join(collector.parts)


def anchor_content(node: Node) -> str:
    """The text of a block as an anchor to it shows it: raw, and without where its links lead."""
    if node.type in ("NodeDocument", "NodeAttributeView"):
        return plain_content(node)
    collector = _Collector(keeps_asset_paths=False, is_anchor=True)
    collector.add(node)
    return "".join(collector.parts)


def first_leaf(node: Node) -> Node | None:
    """The first block below a container that is no container itself."""
    for below in node.walk():
        if below.type not in CONTAINER_TYPES and below.type not in MARKER_TYPES:
            return below
    return None


def stripped(text: str) -> str:
    """``text`` as it stands in the index: without U+200B and without the joiner that may close a tag."""
    return text.replace(inlines.ZERO_WIDTH, "").replace("\u200d#", "#")


def tags_of(node: Node) -> str:
    """SQL ``tag``: ``#a# #b#`` of a document's attribute, or of the tag marks below a block."""
    if node.type == "NodeDocument":
        names = [name.strip() for name in html.unescape(node.properties.get("tags", "")).split(",")]
        return " ".join(f"#{name}#" for name in names if name)
    return " ".join(f"#{mark_content(mark)}#" for mark in node.walk() if inlines.is_mark(mark, "tag"))


def mark_content(mark: Node, *, has_memo: bool = True) -> str:
    """The text that a text mark shows: its own, or its formula; a memo is added."""
    text = inlines.mark_text(mark)
    if text:
        if _UNESCAPED_MARKS.intersection(inlines.mark_types(mark)):
            text = html.unescape(text)
    else:
        text = str(mark.fields.get("TextMarkInlineMathContent", "")).replace(inlines.NEWLINE_ESCAPE, " ")
    if not has_memo:
        return text
    return text + str(mark.fields.get("TextMarkInlineMemoContent", "")).replace(inlines.NEWLINE_ESCAPE, " ")


class _Collector:
    """Gathers the text in document order. ``had_blank``: nothing but containers since the last blank for one."""

    def __init__(self, keeps_asset_paths: bool, *, is_anchor: bool = False, names_targets: bool = True) -> None:
        self.is_anchor = is_anchor
        self.names_targets = names_targets and not is_anchor
        self.parts: list[str] = []
        self.had_blank = False
        self.keeps_asset_paths = keeps_asset_paths

    def add(self, top: Node) -> None:
        stack = [top]
        while stack:
            node = stack.pop()
            if node.type in CONTAINER_TYPES:
                self._enter_container(node)
            elif node.type == "NodeImage":
                self._image(node)
                self.had_blank = False
                continue
            else:
                self._leaf(node)
                self.had_blank = False
            stack.extend(reversed(node.children))

    def _enter_container(self, node: Node) -> None:
        if not self.had_blank:
            self.parts.append(" ")
            self.had_blank = True
        if node.type != "NodeCallout":
            return
        self.parts.append(f"{node.fields.get('CalloutType', '')} ")
        icon, title = str(node.fields.get("CalloutIcon", "")), str(node.fields.get("CalloutTitle", ""))
        if icon and not node.fields.get("CalloutIconType"):
            self.parts.append(f"{icon} ")
        if title:
            self.parts.append(f"{_title_text(title)} ")

    def _leaf(self, node: Node) -> None:
        kind = node.type
        if kind == "NodeText":
            self.parts.append(visible_text(node) if self.names_targets else node.data)
        elif kind == "NodeTextMark":
            self._mark(node)
        elif kind in ("NodeMathBlockContent", "NodeHTMLBlock", "NodeEmojiAlias"):
            self.parts.append(node.data if kind != "NodeEmojiAlias" else "")
        elif kind == "NodeCodeBlockCode":
            self.parts.append(html.unescape(node.data) if is_chart_code(node) else node.data)
        elif kind == "NodeTableCell":
            if self.parts and not self._ends_in_blank():
                self.parts.append(" ")
        elif kind in ("NodeAudio", "NodeVideo"):
            found = _SRC.search(node.data)
            self.parts.append(f"{found.group(1).strip() if found else ''} ")

    def _ends_in_blank(self) -> bool:
        for part in reversed(self.parts):
            if part:
                return part.endswith(" ")
        return True  # nothing yet: no blank is wanted

    def _mark(self, node: Node) -> None:
        text = mark_content(node, has_memo=not self.is_anchor)
        types = inlines.mark_types(node)
        if "block-ref" in types and not self.is_anchor:
            text = html.unescape(text)
        self.parts.append(f"#{text}#" if "tag" in types else text)
        if "a" not in types or not self.names_targets:
            return
        if title := str(node.fields.get("TextMarkATitle", "")):
            self.parts.append(f" {html.unescape(title)}")
        href = str(node.fields.get("TextMarkAHref", ""))
        if not href.startswith("assets/") or self.keeps_asset_paths:
            self.parts.append(f" {html.unescape(html.unescape(href))}")

    def _image(self, node: Node) -> None:
        for child in node.children:
            if child.type == "NodeLinkText":
                self.parts.append(f"{child.data} ")
            elif child.type == "NodeLinkDest":
                if not child.data.startswith("assets/") or self.keeps_asset_paths:
                    self.parts.append(f"{child.data} ")
            elif child.type == "NodeLinkTitle":
                self.parts.append(child.data)


def _title_text(title: str) -> str:
    """What a callout's title shows: it is kept as the markup of its marks."""
    shown = _FORMULA.sub(lambda match: match.group(1), title)
    return html.unescape(_BACKSLASH.sub(r"\1", _TAG.sub("", shown)))
