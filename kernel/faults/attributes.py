"""Attribute order as the real kernel has it: another one at every look (decision 43). No I/O, no chance of its own."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

_ATTRIBUTE: Final = r'[A-Za-z_][\w\-:.]*="[^"]*"'
# `{: id="…" updated="…"}` of Kramdown; a start tag of the block DOM, whose first word is the tag's name.
_IAL: Final = re.compile(r"\{:((?: " + _ATTRIBUTE + r")+)\}")
_TAG: Final = re.compile(r"<([A-Za-z][\w\-]*)((?: " + _ATTRIBUTE + r"){2,})(/?>| )")
_ONE: Final = re.compile(_ATTRIBUTE)


def shuffled(value: Any, seed: str) -> Any:
    """The same answer with the attributes of every block in another order; values and texts stay as they are."""
    if isinstance(value, str):
        text = _IAL.sub(lambda found: "{: " + _ordered(found[1], seed) + "}", value)
        return _TAG.sub(lambda found: f"<{found[1]} {_ordered(found[2], seed)}{found[3]}", text)
    if isinstance(value, list):
        return [shuffled(item, seed) for item in value]
    if isinstance(value, dict):
        items = [(key, shuffled(item, seed)) for key, item in value.items()]
        if is_attributes(value):
            items.sort(key=lambda item: _rank(item[0], seed))
        return dict(items)
    return value


def is_attributes(value: dict[str, Any]) -> bool:
    """Whether an object is a block's attributes: all texts, and an id with an update stamp."""
    return "id" in value and "updated" in value and all(isinstance(item, str) for item in value.values())


def _ordered(attributes: str, seed: str) -> str:
    return " ".join(sorted(_ONE.findall(attributes), key=lambda one: _rank(one, seed)))


def _rank(text: str, seed: str) -> bytes:
    return sha256(f"{seed}\0{text.partition('=')[0]}".encode()).digest()
