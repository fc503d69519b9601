"""[core] Which attributes of a block's DOM element belong to the block, and how they are stored."""

from __future__ import annotations

from typing import Final

from kernel.workspace.elements import Element
from kernel.workspace.markdown.entities import unescape
from kernel.workspace.markdown.ial import escape_value
from kernel.workspace.markdown.text_marks import style_value

# Those whose values the kernel decodes once more than the HTML parser has done.
_DECODED: Final = frozenset({"bookmark", "style", "name", "memo", "alias", "data-export-md", "data-export-html"})
_KEPT: Final = (
    "caption",
    "icon",
    "refcount",
    "av-names",
    "bookmark",
    "style",
    "name",
    "memo",
    "alias",
    "fold",
    "heading-fold",
    "parent-fold",
    "updated",
    "linewrap",
    "ligatures",
    "linenumber",
    "breadcrumb",
    "data-export-md",
    "data-export-html",
)


def block_properties(element: Element) -> dict[str, str]:
    """The properties of the block that ``element`` stands for, its id first."""
    properties = {"id": element.get("data-node-id")}
    for name in _KEPT:
        value = element.get(name)
        if not value:
            continue
        if name in _DECODED:
            value = unescape(value)
        properties[name] = escape_value(style_value(value) if name == "style" else value)
    for name, value in element.attributes.items():
        if name.startswith("custom-"):
            properties[name] = escape_value(unescape(value))
    if element.get("data-type") == "NodeTable":
        columns = element.first("colgroup")
        if columns is not None:
            properties["colgroup"] = escape_value("|".join(column.get("style") for column in columns.children))
    return properties
