"""[core] What the elements of a page say of themselves: attributes, pictures, escaped texts."""

from __future__ import annotations

from kernel.workspace.render.inlines import NEWLINE_ESCAPE, is_in_cell, mark_types
from kernel.workspace.render.sanitize import sanitize_address
from kernel.workspace.tree import Node


def picture(node: Node, width: str) -> str:
    source = sanitize_address(data_of(node, "NodeLinkDest")).replace("<", "&lt;").replace(">", "&gt;")
    alternative, title = data_of(node, "NodeLinkText"), data_of(node, "NodeLinkTitle")
    shown = f'<img src="{source}" data-src="{source}"'
    shown += f' alt="{alternative}"' if alternative else ""
    if title:
        quoted = title.replace(">", "&gt;").replace("<", "&lt;").replace('"', "&quot;").replace("'", "&#39;")
        shown += f' title="{quoted}"'
    style = node.properties.get("style", "").replace(f"{width};", "")
    style = style.replace("flex: 0 0 auto;", "").replace("display: block;", "").strip()
    return f"{shown} />" if not style else f'{shown} style="{style}" />'


def link_attributes(node: Node) -> str:
    fields = node.fields
    title = fields.get("TextMarkATitle", "")
    shown = f' title="{title}"' if title else ""
    shown += block_attributes(node, has_id=False)
    shown += f' data-type="{fields.get("TextMarkType", "")}"'
    subtype = fields.get("TextMarkBlockRefSubtype", "")
    return shown + (f' data-subtype="{subtype}"' if subtype else "")


def mark_attributes(node: Node) -> str:
    """What else a mark says of itself, kind by kind."""
    fields, shown = node.fields, ""
    for kind in mark_types(node):
        if kind == "block-ref":
            subtype, target = fields.get("TextMarkBlockRefSubtype", ""), fields.get("TextMarkBlockRefID", "")
            shown += f' data-subtype="{subtype}" data-id="{target}"'
        elif kind == "inline-math":
            content = str(fields.get("TextMarkInlineMathContent", ""))
            if is_in_cell(node):
                content = content.replace("|", "&#124;").replace("\n", "<br/>")
            content = content.replace(NEWLINE_ESCAPE, "\n")
            shown += f' data-subtype="math" data-content="{content}" contenteditable="false" class="render-node"'
        elif kind == "file-annotation-ref":
            shown += f' data-id="{fields.get("TextMarkFileAnnotationRefID", "")}"'
    return shown


def block_attributes(node: Node, *, has_id: bool = True) -> str:
    shown = {"id": node.properties.get("id", node.id)} if has_id and node.id else {}
    shown |= {name: value for name, value in node.properties.items() if has_id or name not in ("id", "updated")}
    return "".join(f' {name}="{value}"' for name, value in shown.items())


def data_of(node: Node, kind: str) -> str:
    return next((child.data or "" for child in node.children if child.type == kind), "")


def escaped_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
