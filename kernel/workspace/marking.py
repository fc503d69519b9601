"""[core] Search results as they are shown: escaped, with <mark> around what was found, shortened before the first hit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# What snippet() puts around a hit; it cannot stand in a text by chance.
HIT_LEFT: Final = "__@mark__"
HIT_RIGHT: Final = "__mark@__"
CONTENT_RUNES_MAX: Final = 5120
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}
_ESCAPED: Final = re.compile(r"""[&<>"']""")
# Entities stand aside while keywords are looked for, so that no hit lies inside one.
_ASIDE: Final = (("&#34;", "\ue000"), ("&lt;", "\ue001"), ("&gt;", "\ue002"), ("&#39;", "\ue003"))


def escaped(text: str) -> str:
    """``text`` as Go's html.EscapeString gives it; blank text is left alone."""
    return _ESCAPED.sub(lambda match: _ESCAPES[match.group()], text) if text.strip() else text


def enclosed(text: str, keywords: Sequence[str], *, is_case_sensitive: bool = False) -> str:
    """Escaped text with every keyword in a <mark>."""
    shown = escaped(text)
    for entity, aside in _ASIDE:
        shown = shown.replace(entity, aside)
    patterns = [re.escape(escaped(keyword)) for keyword in keywords if keyword]
    if patterns:
        pattern = "|".join(f"({one})" for one in patterns)
        flags = re.NOFLAG if is_case_sensitive else re.IGNORECASE
        shown = re.sub(pattern, lambda match: f"<mark>{match.group()}</mark>", shown, flags=flags)
    for entity, aside in _ASIDE:
        shown = shown.replace(aside, entity)
    return shown


def marked(text: str, keywords: Sequence[str], before_max: int, *, is_case_sensitive: bool = False) -> str:
    """``enclosed``, with at most ``before_max`` runes before the first hit. Without keywords: the hits of snippet()."""
    if not keywords:
        if HIT_LEFT not in text:
            return escaped(text)
        return escaped(text).replace(HIT_LEFT, "<mark>").replace(HIT_RIGHT, "</mark>")
    shown = enclosed(text, keywords, is_case_sensitive=is_case_sensitive)
    position = shown.find("<mark>")
    if position < 0:
        return shown
    before = shown[:position]
    if len(before) > before_max:
        before = "..." + before[len(before) - before_max - 1 :]
    return before + shown[position:]


def shortened(text: str, runes_max: int = CONTENT_RUNES_MAX) -> str:
    """At most ``runes_max`` runes and ``...``, moved so that a late first hit is seen."""
    position = text.find("<mark>")
    if position >= runes_max > 128:
        text = text[max(0, position - 65) :]
    return text if len(text) <= runes_max else f"{text[:runes_max]}..."
