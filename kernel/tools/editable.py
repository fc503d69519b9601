"""[core] A block's Kramdown as an agent reads and edits it: without the attribute lines that carry ids. Does no I/O.

References are written ``((id 'anchor'))`` and tags ``#tag#``, as they are taken back. Code and math between their fences
are left as they are. Quotes, callouts and super blocks lose the empty quote lines that followed an attribute line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Final

# Characters that show nothing and that the editor puts in.
ZERO_WIDTH: Final = str.maketrans("", "", "\u200b\u200c\u200d\u2060\ufeff")
_IAL: Final = r"\{:\s*(?=[^}]*\bid\s*=)[^}]*\}\s*"
_OWN_IAL: Final = re.compile(r"\n?" + _IAL + r"\Z")
_IAL_LINE: Final = re.compile(r"\s*" + _IAL)
_QUOTED_IAL_LINE: Final = re.compile(r"\s*(?:>\s*)+" + _IAL)
_QUOTE_BLANK: Final = re.compile(r"\s*(?:>\s*)+")
_MARKER: Final = r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?"
_ITEM_IAL: Final = re.compile(rf"^(\s*{_MARKER}){_IAL}")
_QUOTED_ITEM_IAL: Final = re.compile(rf"^(\s*(?:>\s*)+{_MARKER}){_IAL}")
_FENCE: Final = re.compile(r"\s*(?:>\s*)*(`{3,}|~{3,}|\$\$)")
_ID: Final = r"\d{14}-[a-z0-9]{7}"
_REFERENCE: Final = re.compile(rf"\(\(({_ID})\s+(['\"])(.*?)\2\)\)")
_SPAN: Final = re.compile(
    r"<span\b([^>]*\bdata-type=([\"'])(?:(?!\2).)*\b(block-ref|tag)\b(?:(?!\2).)*\2[^>]*)>(.*?)</span>", re.DOTALL
)
_DATA_ID: Final = re.compile(r"\sdata-id=([\"'])(.+?)\1")
_ELEMENT: Final = re.compile(r"<[^>]+>")
_CONTAINERS: Final = frozenset({"b", "callout", "s"})


def editable(kramdown: str, kind: str) -> str:
    """The text of one block. ``kind``: its type as the host abbreviates it (``p``, ``l``, ``b``, …)."""
    text = _OWN_IAL.sub("", kramdown).rstrip()
    text = _REFERENCE.sub(lambda match: _reference(match[1], match[3]), text)
    text = _SPAN.sub(_span, text)
    if kind == "l":
        text = _outside_fences(text, _item_line)
    elif kind in _CONTAINERS:
        text = _outside_fences(text, _ContainerLine())
    return _outside_fences(text, lambda line: line.translate(ZERO_WIDTH))


def _reference(block_id: str, anchor: str) -> str:
    escaped = anchor.replace("\\", "\\\\").replace("'", "\\'")
    return f"(({block_id} '{escaped}'))"


def _span(match: re.Match[str]) -> str:
    """A reference or tag that is written as an element, in its short form; as it is where that would say nothing."""
    words = " ".join(html.unescape(_ELEMENT.sub("", match[4])).split())
    if match[3] == "block-ref":
        found = _DATA_ID.search(match[1])
        return _reference(found[2], words) if found and words else match[0]
    words = words.translate(ZERO_WIDTH).strip()
    if not words:
        return match[0]
    return words if words.startswith("#") and words.endswith("#") else f"#{words}#"


def _item_line(line: str) -> str | None:
    line = _ITEM_IAL.sub(r"\1", line)
    return None if _IAL_LINE.fullmatch(line) else line


class _ContainerLine:
    """The lines of a quote, callout or super block, one after the other."""

    def __init__(self) -> None:
        self._follows_ial = False

    def __call__(self, line: str) -> str | None:
        follows, self._follows_ial = self._follows_ial, False
        if _QUOTED_IAL_LINE.fullmatch(line):
            self._follows_ial = True
            return None
        if follows and _QUOTE_BLANK.fullmatch(line):
            self._follows_ial = True
            return None
        if _IAL_LINE.fullmatch(line) or _ITEM_IAL.fullmatch(line) or _QUOTED_ITEM_IAL.fullmatch(line):
            return None
        return _QUOTED_ITEM_IAL.sub(r"\1", _ITEM_IAL.sub(r"\1", line))


def _outside_fences(text: str, change: Callable[[str], str | None]) -> str:
    """``text`` with ``change`` made to each line outside code and math; None leaves a line out."""
    lines = (line if is_fenced else change(line) for line, is_fenced in fenced(text))
    return "\n".join(line for line in lines if line is not None).rstrip()


def fenced(text: str) -> Iterator[tuple[str, bool]]:
    """Each line of a text, and whether it is a fence or stands between two."""
    opened = ""
    for line in re.split(r"\r?\n", text):
        found = _FENCE.match(line)
        was_inside = bool(opened)
        if found and not opened:
            opened = found[1]
        elif found and found[1][0] == opened[0] and len(found[1]) >= len(opened):
            opened = ""
        yield line, was_inside or bool(opened)
