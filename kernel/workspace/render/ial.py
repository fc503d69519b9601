"""[core] A block's attributes as an inline attribute list: ``{: id="…" updated="…"}``. Source: siyuan-markdown 1, 2.4."""

from __future__ import annotations

from kernel.workspace.tree import Node


def attribute_list(node: Node) -> str:
    """The list in its stable order, id first and the rest as stored (decision 43); ``""`` without attributes."""
    if not node.properties:
        return ""
    names = list(node.properties)
    if "id" in node.properties:
        names.remove("id")
        names.insert(0, "id")
    return "{: " + " ".join(f'{name}="{node.properties[name]}"' for name in names) + "}"
