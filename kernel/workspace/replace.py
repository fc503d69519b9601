"""[core] findReplace: change what a search has found, in texts, marks, links, images, code and formulas.

Sources: siyuan-api A6, kernel-facts 20. Which kinds of text are changed the caller says, each by name.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kernel.workspace.marking import escaped
from kernel.workspace.patterns import Pattern, PatternInvalid, compiled
from kernel.workspace.render.inlines import ZERO_WIDTH, mark_text, mark_types
from kernel.workspace.tree import Node

# The first of its types that stands here decides what a mark counts as.
_MARK_KINDS: Final = ("em", "strong", "kbd", "mark", "s", "sub", "sup", "tag", "u")
_DATA_KINDS: Final = {
    "NodeLinkText": "imgText",
    "NodeLinkTitle": "imgTitle",
    "NodeCodeBlockCode": "codeBlock",
    "NodeMathBlockContent": "mathBlock",
    "NodeHTMLBlock": "htmlBlock",
}
_MERGED: Final = frozenset({"em", "strong", "mark", "s", "u", "text"})


@dataclass(frozen=True, slots=True)
class Replacement:
    """What becomes what. ``pattern`` None: ``keyword`` is a plain text."""

    keyword: str
    text: str
    kinds: frozenset[str]
    pattern: Pattern | None = None
    is_case_sensitive: bool = False
    # Turns changed text into inlines; without it the text stays one.
    inlines: Callable[[str], list[Node]] | None = None

    def applied(self, text: str, *, replacement: str | None = None, folds_case: bool = False) -> str:
        """``text`` with every hit replaced."""
        new = self.text if replacement is None else replacement
        if self.pattern is not None:
            return self.pattern.expanded(text, new)
        if folds_case and not self.is_case_sensitive:
            return re.sub(re.escape(self.keyword), lambda _match: new, text, flags=re.IGNORECASE)
        return text.replace(self.keyword, new)


def pattern_of(keyword: str) -> Pattern | None:
    """The pattern, None if it is none: such a search finds nothing."""
    try:
        return compiled(keyword)
    except PatternInvalid:
        return None


def replace_in(block: Node, change: Replacement) -> bool:
    """Replace below one block; whether any text of a NodeText changed (its block counts as edited)."""
    has_new_text = False
    for node in list(block.walk()):
        if node.type == "NodeText" and "text" in change.kinds:
            has_new_text |= _replace_text(node, change)
        elif node.type in _DATA_KINDS and _DATA_KINDS[node.type] in change.kinds:
            node.data = change.applied(node.data)
        elif node.type == "NodeLinkDest" and "imgSrc" in change.kinds:
            node.data = change.applied(node.data, replacement=change.text.strip())
            if not node.data and node.parent is not None:
                _drop(node.parent)
        elif node.type == "NodeTextMark":
            _replace_mark(node, change)
    return has_new_text


def _replace_text(node: Node, change: Replacement) -> bool:
    new = change.applied(node.data, folds_case=True)
    if new == node.data:
        return False
    parent = node.parent
    if change.inlines is None or parent is None:
        node.data = new
        return True
    target = parent if parent.type == "NodeBackslash" else node
    for inline in change.inlines(new):
        target.insert_before(inline)
    target.detach()
    return True


def _replace_mark(node: Node, change: Replacement) -> None:
    types = mark_types(node)
    if "code" in types:
        if "code" in change.kinds:
            keyword = escaped(change.keyword).replace("&#34;", "&quot;").replace("&#39;", "'")
            _set_text(node, _escaped_change(change, keyword).applied(mark_text(node)), merges=True)
    elif "a" in types:
        _replace_link(node, change)
    elif kind := next((kind for kind in _MARK_KINDS if kind in types), ""):
        if kind in change.kinds:
            _replace_plain_mark(node, kind, change)
    elif "inline-math" in types:
        if "inlineMath" in change.kinds:
            _set_field(node, "TextMarkInlineMathContent", change.applied(_field(node, "TextMarkInlineMathContent")))
    elif "inline-memo" in types:
        if "inlineMemo" in change.kinds:
            _set_field(node, "TextMarkInlineMemoContent", change.applied(_field(node, "TextMarkInlineMemoContent")))
            _set_text(node, change.applied(mark_text(node)))
    elif "text" in types:
        if "text" in change.kinds:
            _replace_plain_mark(node, "text", change)
    else:
        _replace_reference(node, types, change)


def _replace_reference(node: Node, types: list[str], change: Replacement) -> None:
    kind = "blockRef" if "block-ref" in types else "fileAnnotationRef"
    if kind not in change.kinds:
        return
    new = change.applied(mark_text(node))
    if new != mark_text(node) and kind == "blockRef":
        # A changed anchor is the user's own from now on.
        node.fields["TextMarkBlockRefSubtype"] = "s"
    _set_text(node, new)


def _replace_plain_mark(node: Node, kind: str, change: Replacement) -> None:
    text = mark_text(node)
    if kind == "tag" and change.pattern is None:
        keyword = change.keyword.strip("#")
        if text == keyword and not (change.text.startswith("#") and change.text.endswith("#")):
            # The whole tag was found and its replacement is none: it becomes text.
            node.type, node.data, node.fields = "NodeText", change.text, {}
            return
        change = Replacement(keyword, change.text.strip("#"), change.kinds, None, change.is_case_sensitive)
    _set_text(node, change.applied(text).replace(ZERO_WIDTH, ""), merges=kind in _MERGED)


def _replace_link(node: Node, change: Replacement) -> None:
    if "aText" in change.kinds:
        text = mark_text(node) if change.pattern is not None else html.unescape(mark_text(node))
        new = change.applied(text)
        if new != text:
            node.fields["TextMarkTextContent"] = new
    if "aTitle" in change.kinds and (title := html.unescape(_field(node, "TextMarkATitle"))):
        new = change.applied(title)
        if new != title:
            _set_field(node, "TextMarkATitle", new)
    if "aHref" in change.kinds:
        href = html.unescape(_field(node, "TextMarkAHref"))
        new = change.applied(href, replacement=change.text.strip())
        if new != href:
            node.fields["TextMarkAHref"] = new
    if not mark_text(node):
        _drop(node, merges=True)
    elif not _field(node, "TextMarkAHref"):
        node.type, node.data, node.fields = "NodeText", mark_text(node), {}


def _escaped_change(change: Replacement, keyword: str) -> Replacement:
    pattern = pattern_of(keyword) if change.pattern is not None else None
    return Replacement(keyword, escaped(change.text), change.kinds, pattern, change.is_case_sensitive)


def _field(node: Node, name: str) -> str:
    return str(node.fields.get(name, ""))


def _set_field(node: Node, name: str, value: str) -> None:
    if value:
        node.fields[name] = value
    elif name in node.fields:
        del node.fields[name]
        if name == "TextMarkInlineMathContent":
            _drop(node)


def _set_text(node: Node, text: str, *, merges: bool = False) -> None:
    if text:
        node.fields["TextMarkTextContent"] = text
    elif node.parent is not None:
        _drop(node, merges=merges)


def _drop(node: Node, *, merges: bool = False) -> None:
    """Take an emptied inline out; its neighbours grow together when they are alike."""
    before, after = node.previous, node.next
    if node.parent is not None:
        node.detach()
    if not merges or before is None or after is None or before.type != after.type:
        return
    if before.type == "NodeText":
        before.data += after.data
        after.detach()
        return
    types = _field(before, "TextMarkType")
    if types in _MERGED and types == _field(after, "TextMarkType"):
        before.fields["TextMarkTextContent"] = mark_text(before) + mark_text(after)
        after.detach()
