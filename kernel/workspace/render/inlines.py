"""[core] Inline nodes as Markdown: marks, links, refs, images. Sources: siyuan-markdown sections 2, 2.1 and 5.

``before``/``after`` give what a text mark puts around and inside itself; the layout (``std_markdown``) walks the tree.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

from kernel.workspace.tree import Node

ZERO_WIDTH: Final = "\u200b"
NEWLINE_ESCAPE: Final = "_esc_newline_"  # a line break inside an attribute value
_INNERMOST: Final = ("a", "inline-memo", "block-ref", "file-annotation-ref", "inline-math")
_PAIRS: Final = {
    "strong": ("**", "**"),
    "em": ("*", "*"),
    "tag": ("#", "#"),
    "s": ("~~", "~~"),
    "mark": ("==", "=="),
    "u": ("<u>", "</u>"),
    "sup": ("<sup>", "</sup>"),
    "sub": ("<sub>", "</sub>"),
    "kbd": ("<kbd>", "</kbd>"),
}
_SPACED: Final = frozenset({"strong", "em", "s"})
_MARKERS: Final = re.compile(r"([*_\\`~$=^<>])")
# Han, Hiragana, Katakana and Hangul, by block; modifier letters are asked of unicodedata.
_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fd-\u30ff\u3131-\u318e\u31f0-\u321e\u3260-\u327e\u32d0-\u3357\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c"
    "\uac00-\ud7fb\uf900-\ufad9\uff66-\uffdc\U00020000-\U000323af]"
)


def escape_markers(text: str) -> str:
    """A backslash before each character that the editor could take for a mark."""
    return _MARKERS.sub(r"\\\1", text)


def escape_pipes(text: str) -> str:
    """Backslashes before bars, as a table cell needs them; a bar that follows a backslash gets one more."""
    parts: list[str] = []
    backslashes = 0
    for letter in text:
        if letter == "|":
            parts.append("\\")
        parts.append(letter)
        backslashes = backslashes + 1 if letter == "\\" else 0
    return "".join(parts)


def is_cjk(letter: str) -> bool:
    """Whether ``letter`` belongs to a script that takes full-width parentheses."""
    return bool(letter) and (_CJK.match(letter) is not None or unicodedata.category(letter) == "Lm")


def mark_types(node: Node) -> list[str]:
    """The types of a text mark, outermost first."""
    return str(node.fields.get("TextMarkType", "")).split(" ")


def is_mark(node: Node, kind: str) -> bool:
    """Whether ``node`` is a text mark of (among others) type ``kind``."""
    return node.type == "NodeTextMark" and kind in mark_types(node)


def mark_text(node: Node) -> str:
    return str(node.fields.get("TextMarkTextContent", ""))


def is_in_cell(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type == "NodeTableCell":
            return True
        parent = parent.parent
    return False


def visible_text(node: Node) -> str:
    """The data of a NodeText as it is printed: U+200B goes at the start of its parent and before a textless end."""
    text = node.data
    if not text.startswith(ZERO_WIDTH):
        return text
    following = node.next
    if following is None or not plain_text(following):
        return text.lstrip(ZERO_WIDTH)
    return text[1:] if node.previous is None else text


def plain_text(node: Node) -> str:
    """The text of an inline: texts, marks and alternative texts, nothing else."""
    parts: list[str] = []
    for below in node.walk():
        if below.type in ("NodeText", "NodeLinkText", "NodeFootnotesRef"):
            parts.append(below.data)
        elif below.type == "NodeTextMark":
            parts.append(mark_text(below))
    return "".join(parts)


def text_mark(node: Node, *, encodes_blanks: bool, following: Node | None) -> str:
    """One text mark with its markers and the blanks or U+200B that keep it apart from its neighbour.

    ``following``: the next sibling. ``encodes_blanks``: link targets get ``%20`` (export only).
    """
    types = mark_types(node)
    opening, closing = _markers(node, types, encodes_blanks=encodes_blanks)
    text = mark_text(node)
    has_backtick = "`" in text
    holds_text = not any(kind in types for kind in _INNERMOST)
    spaced = bool(_SPACED.intersection(types)) and "inline-math" not in types
    parts: list[str] = []
    if holds_text:
        shown = text
        if "code" in types:
            shown = html.unescape(text)
            if is_in_cell(node):
                shown = escape_pipes(shown)
        if spaced and _needs_room(shown[:1]):
            parts.append(" ")
        parts += [opening, " " if has_backtick else "", shown]
    else:
        parts += [opening, " " if has_backtick else ""]
    parts += [" " if has_backtick else "", closing]
    if following is not None:
        if following.type == "NodeTextMark":
            parts.append(ZERO_WIDTH)
        elif spaced and _needs_room(text[-1:]):
            parts.append(" ")
    return "".join(parts)


def _needs_room(letter: str) -> bool:
    """A blank, punctuation mark or symbol at the edge of strong, em or s needs a blank outside."""
    if not letter:
        return True  # what the kernel decodes from nothing counts as a symbol
    return letter.isspace() or unicodedata.category(letter)[0] in "PS"


def _markers(node: Node, types: list[str], *, encodes_blanks: bool) -> tuple[str, str]:
    if len(types) == 1:
        if types[0] in _INNERMOST:
            return _single(node, types[0], encodes_blanks=encodes_blanks)
        return _pair(node, types[0])
    order, code = _printing_order(types)
    if not order:
        return "", ""
    if order[0] in _INNERMOST:
        return _combined(node, order[0], order[1:], encodes_blanks=encodes_blanks)
    opening: list[str] = []
    closing: list[str] = []
    for position, kind in enumerate(order):
        before, after = _pair(node, kind)
        opening.append(before)
        closing.append(after)
        if code and position == len(order) - 2:
            opening.append(ZERO_WIDTH)
    closing.reverse()
    if code:
        closing.insert(1, ZERO_WIDTH)
    return "".join(opening), "".join(closing)


def _printing_order(types: list[str]) -> tuple[list[str], bool]:
    """Links, refs, memos and math come first, code comes last; only the first special type moves."""
    moved = next((kind for kind in types if kind in _INNERMOST or kind == "code"), "")
    rest = list(types)
    if moved:
        rest.remove(moved)
    rest = ([moved] if moved and moved != "code" else []) + rest + (["code"] if moved == "code" else [])
    return [kind for kind in rest if kind != "text"], moved == "code"


def _pair(node: Node, kind: str) -> tuple[str, str]:
    if kind == "code":
        text = mark_text(node)
        fence = "``" if "`" in text and "``" not in text else "`"
        return fence, fence
    if kind == "text":
        attributes = "".join(f' {name}="{value}"' for name, value in node.properties.items())
        return f'<span data-type="text"{attributes}>', "</span>"
    return _PAIRS.get(kind, ("", ""))


def _single(node: Node, kind: str, *, encodes_blanks: bool) -> tuple[str, str]:
    if kind == "a":
        href = str(node.fields.get("TextMarkAHref", ""))
        if "&amp;" in href:
            href = html.unescape(href)
        content = html.unescape(mark_text(node).replace("[", "\\[").replace("]", "\\]"))
        title = html.unescape(str(node.fields.get("TextMarkATitle", "")))
        title = title.replace("&lt;", "<").replace("&gt;", ">")
        return f"[{content}]({link_target(href, encodes_blanks)}{_title(title)})", ""
    if kind == "inline-math":
        return f"${_math(node)}", "$"
    return _leaf(node, kind), ""


def _combined(node: Node, kind: str, others: list[str], *, encodes_blanks: bool) -> tuple[str, str]:
    outer = [_pair(node, other) for other in others if other != "code"]
    before = "".join(pair[0] for pair in outer)
    after = "".join(pair[1] for pair in outer)
    if kind == "a":
        code_before, code_after = _pair(node, "code") if "code" in others else ("", "")
        href = link_target(html.unescape(str(node.fields.get("TextMarkAHref", ""))), encodes_blanks)
        title = html.unescape(str(node.fields.get("TextMarkATitle", "")))
        text = escape_markers(mark_text(node))
        return f"{before}[{code_before}", f"{text}{code_after}]({href}{_title(title)}){after}"
    if kind == "inline-math":
        return f"{before}${_math(node)}$", after
    return before + _leaf(node, kind), after


def _leaf(node: Node, kind: str) -> str:
    """A ref, an annotation ref or a memo: printed whole."""
    text = mark_text(node)
    if kind == "inline-memo":
        return _memo(node, text)
    text = text.replace("'", "&apos;")
    if kind == "file-annotation-ref":
        return f'<<{node.fields.get("TextMarkFileAnnotationRefID", "")} "{text}">>'
    quote = '"' if node.fields.get("TextMarkBlockRefSubtype") == "s" else "'"
    return f"(({node.fields.get('TextMarkBlockRefID', '')} {quote}{text}{quote}))"


def _memo(node: Node, text: str) -> str:
    content = str(node.fields.get("TextMarkInlineMemoContent", ""))
    following = node.next
    is_shared = following is not None and is_mark(following, "inline-memo")
    if is_shared and following is not None and following.fields.get("TextMarkInlineMemoContent", "") == content:
        return text  # neighbours that share a memo print it once, behind the last
    content = content.replace(NEWLINE_ESCAPE, " ")
    if not content:
        return text
    if is_cjk(text[-1:]):
        return f"{text}<sup>（{content}）</sup>"
    return f"{text}<sup>({content})</sup>"


def _math(node: Node) -> str:
    content = str(node.fields.get("TextMarkInlineMathContent", ""))
    if is_in_cell(node):
        content = escape_pipes(content).replace("\n", "<br/>")
    return content.replace(NEWLINE_ESCAPE, " ")


def _title(title: str) -> str:
    return f' "{title}"' if title else ""


def link_target(target: str, encodes_blanks: bool) -> str:
    return target.replace(" ", "%20") if encodes_blanks else target
