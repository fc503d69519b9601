"""[core] The colours behind the variables that the editor's styles name, in the two built-in themes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kernel.workspace.tree import Node

_VARIABLE: Final = re.compile(r"([\w-]+)\s*:[^;]*?var\(\s*([^)]*?)\s*\)")
_STYLE: Final = re.compile(r'style="([^"]*)"')
_CARDS: Final = ("error", "warning", "info", "success")
# Text and background colours 1 to 13; the first four are also those of cards.
_LIGHT: Final = (
    "#790600 #8a4f00 #005599 #006b04 #5f6368 #3575f0 #ff9200 #d23f31 #a40074 #007080 #006e2a #6b5a00 #fff",
    "#f5d1cf #ffe8c8 #d6eaf9 #d7eed8 #e2e3e4 #acd0fc #fddaab #ffb0a9 #fdbfff #b1ffff #affad1 #fff88f #222",
)
_DARK: Final = (
    "rgb(243,153,147) rgb(255,213,153) rgb(166,213,250) rgb(183,223,185) #9aa0a6 #3575f0 #f3a92f #d23f31 #f47c9c "
    "#4dd0e1 #10df54 #ecd424 #1e1e1e",
    "#442724 #554636 #28405c #425347 #3a3f42 #031840 #593905 #3a0c09 #4d1b40 #1a5459 #305415 #4a4712 #dadada",
)


def fill_colors(root: Node, *, is_dark: bool) -> None:
    """Put the theme's colours into the styles below ``root``; variables of other names stay."""
    colors = _colors(*(_DARK if is_dark else _LIGHT))
    for node in root.walk():
        if "var(" in node.properties.get("style", ""):
            node.properties["style"] = _filled(node.properties["style"], colors)
        if node.type == "NodeKramdownSpanIAL" and "var(" in node.data:
            node.data = _STYLE.sub(lambda found: f'style="{_filled(found[1], colors)}"', node.data)


def _filled(style: str, colors: dict[str, str]) -> str:
    found = _VARIABLE.findall(style)
    filled = " ".join(f"{name}: {colors.get(variable, f'var({variable})')};" for name, variable in found)
    return filled or style


def _colors(texts: str, backgrounds: str) -> dict[str, str]:
    known: dict[str, str] = {}
    for kind, listed in (("color", texts.split()), ("background", backgrounds.split())):
        for number, color in enumerate(listed, start=1):
            known[f"--b3-font-{kind}{number}"] = color.replace(",", ", ")
        for card, color in zip(_CARDS, listed, strict=False):
            known[f"--b3-card-{card}-{kind}"] = color.replace(",", ", ")
    return known
