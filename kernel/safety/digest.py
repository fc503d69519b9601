"""[core] One state, one digest: what is dropped and put in order before a state is hashed (R63-R68, decision 43).

The host writes a block's attributes in a different order from call to call, in Kramdown attribute lists and in DOM
tags, and touches time stamps without a change of content. Neither is a change. Everything else is: text, node order,
``data-subtype``, ``strong`` and ``em``, every attribute value. Does no I/O.
"""

from __future__ import annotations

import re
from typing import Any, Final

from kernel.canonical import digest

# Times, and where a window was scrolled to: the host changes them without anybody changing a note.
UNSEEN_NAMES: Final = frozenset({"created", "updated", "data-created", "data-updated", "scroll"})

# `{: name="value" …}`: values are entity-escaped by the kernel, so a quote or a brace never stands inside one.
_ATTRIBUTE_LIST: Final = re.compile(r'\{:((?: ++[^\s="{}]++="[^"\n]*+")++) *+\}')
_LISTED: Final = re.compile(r'[^\s="{}]++="[^"\n]*+"')
# An opening tag with attributes; quoted values may hold any character but their quote.
_VALUE: Final = r"""(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++)"""
_TAG_ATTRIBUTE: Final = r"""[^\s"'<>/=]++(?:\s*+=\s*+""" + _VALUE + r""")?+"""
_TAG: Final = re.compile(r"<([A-Za-z][^\s/>]*+)((?:\s++" + _TAG_ATTRIBUTE + r")++)(\s*+/?+)>")
_IN_TAG: Final = re.compile(_TAG_ATTRIBUTE)
# A value that is neither of these is no text of a block, and is only stripped of times.
_KRAMDOWN_KEYS: Final = frozenset({"kramdown", "markdown"})
_DOM_KEYS: Final = frozenset({"dom"})


def normal_kramdown(text: str) -> str:
    """Kramdown whose attribute lists are sorted and hold no times; a list of times alone becomes ``{:}``.

    Text that only looks like an attribute list (in a code block) is treated alike: its exact form is in the DOM.
    """
    return _ATTRIBUTE_LIST.sub(_normal_list, text)


def normal_dom(html: str) -> str:
    """Block DOM whose tags have sorted attributes and no times; text and node order are untouched (R67)."""
    return _TAG.sub(_normal_tag, html)


def seen_part(value: Any) -> Any:
    """A JSON-like value without ``created``, ``updated`` and ``scroll`` keys, at any depth (R68)."""
    if isinstance(value, dict):
        return {name: seen_part(item) for name, item in value.items() if name not in UNSEEN_NAMES}
    if isinstance(value, list | tuple):
        return [seen_part(item) for item in value]
    return value


def normal(value: Any) -> Any:
    """A host answer as state: times dropped, texts under ``kramdown``, ``markdown`` and ``dom`` put in order."""
    if isinstance(value, dict):
        return {name: _normal_field(name, item) for name, item in value.items() if name not in UNSEEN_NAMES}
    if isinstance(value, list | tuple):
        return [normal(item) for item in value]
    return value


def state_digest(state: Any) -> str:
    """The full digest of an already normalised state."""
    return digest(state)


def weight(value: Any) -> int:
    """About how many bytes of text a JSON-like value holds: decides whether hashing leaves the event loop."""
    total, parts = 0, [value]
    for part in parts:  # the list grows while it is walked
        if isinstance(part, str | bytes):
            total += len(part)
        elif isinstance(part, dict):
            total += sum(map(len, map(str, part)))
            parts += part.values()
        elif isinstance(part, list | tuple):
            parts += part
        else:
            total += 8
    return total


def _normal_field(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if name in _KRAMDOWN_KEYS:
            return normal_kramdown(value)
        return normal_dom(value) if name in _DOM_KEYS else value
    return normal(value)


def _normal_list(found: re.Match[str]) -> str:
    kept = sorted(item for item in _LISTED.findall(found[1]) if item.partition("=")[0] not in UNSEEN_NAMES)
    return "{:" + "".join(f" {item}" for item in kept) + "}"


def _normal_tag(found: re.Match[str]) -> str:
    attributes = _IN_TAG.findall(found[2])
    kept = sorted(item for item in attributes if item.partition("=")[0].rstrip().lower() not in UNSEEN_NAMES)
    return f"<{found[1]}" + "".join(f" {item}" for item in kept) + f"{found[3]}>"
