"""[core] What the kernel puts right in single nodes of a file: leftovers of earlier versions and of other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kernel.workspace.markdown.ial import escape_value, unescape_value
from kernel.workspace.nodes import BLOCK_TYPES, LIST_TASK
from kernel.workspace.tree import Node

HEADING_LEVEL_MAX: Final = 6
_NEEDS_A_LOOK: Final = frozenset('&<>"{}\n')
_OWN_ADDRESS: Final = "http://127.0.0.1:6806"  # where widgets were once addressed in full


def mend(node: Node) -> bool:
    """Mend one node in place; whether anything changed."""
    mender = _MENDERS.get(node.type)
    changed = mender is not None and mender(node)
    if node.type in BLOCK_TYPES:
        changed |= _without_last_break(node)
        changed |= _with_escaped_attributes(node)
    if "\0" in node.data:
        node.data, changed = node.data.replace("\0", ""), True
    return changed


def _heading(node: Node) -> bool:
    if node.fields.get("HeadingLevel", 1) <= HEADING_LEVEL_MAX:
        return False
    node.fields["HeadingLevel"] = HEADING_LEVEL_MAX
    return True


def _list(node: Node) -> bool:
    """A list whose first item is a task is a list of tasks."""
    if not node.children:
        return False
    data = node.fields.get("ListData") or {}
    first = node.children[0].fields.get("ListData") or {}
    if first.get("Typ") != LIST_TASK or data.get("Typ") == LIST_TASK:
        return False
    node.fields["ListData"] = {**data, "Typ": LIST_TASK}
    return True


def _frame(node: Node) -> bool:
    """A frame that was stored with what the editor draws around it."""
    start, end = node.data.find("<iframe"), node.data.find("</iframe>")
    if "iframe-content" not in node.data or not 0 <= start < end:
        return False
    node.data = node.data[start : end + len("</iframe>")]
    return True


def _widget(node: Node) -> bool:
    before = node.data
    node.data = before.replace(_OWN_ADDRESS, "")
    return node.data != before


def _link_target(node: Node) -> bool:
    if not (node.data.startswith("assets/") and node.data.endswith(" ")):
        return False
    node.data = node.data.strip()
    return True


def _inline_html(node: Node) -> bool:
    node.type = "NodeHTMLBlock"
    return True


_MENDERS: Final[dict[str, Callable[[Node], bool]]] = {
    "NodeHeading": _heading,
    "NodeList": _list,
    "NodeIFrame": _frame,
    "NodeWidget": _widget,
    "NodeLinkDest": _link_target,
    "NodeInlineHTML": _inline_html,
}


def _without_last_break(node: Node) -> bool:
    if not node.children or node.children[-1].type != "NodeBr":
        return False
    node.children[-1].detach()
    return True


def _with_escaped_attributes(node: Node) -> bool:
    changed = False
    for name, value in node.properties.items():
        if _NEEDS_A_LOOK.isdisjoint(value):
            continue
        escaped = escape_value(unescape_value(value))
        if escaped != value:
            node.properties[name] = escaped
            changed = True
    return changed
