"""[core] One inline as editor DOM, as outlines and bookmarks show it. Source: siyuan-markdown 2, 2.2 and 6."""

from __future__ import annotations

from typing import Final

from kernel.workspace.render.inlines import NEWLINE_ESCAPE, ZERO_WIDTH, is_in_cell, is_mark, mark_text, mark_types
from kernel.workspace.render.std_markdown import plain_text
from kernel.workspace.tree import Node

_PADDED: Final = frozenset({"code", "kbd", "tag"})
_MORE: Final = (
    '<span class="protyle-action protyle-icons"><span class="protyle-icon protyle-icon--only"><svg class="svg">'
    '<use xlink:href="#iconMore"></use></svg></span></span>'
)
_NET: Final = '<span class="img__net"><svg><use xlink:href="#iconLanguage"></use></svg></span>'
_LOCAL: Final = ("assets/", "api/icon/")


def inline_dom(node: Node) -> str:
    """The DOM of a text mark, an image or an emoji picture; ``""`` for anything else."""
    if node.type == "NodeTextMark":
        return _mark(node)
    if node.type == "NodeImage":
        return _image(node)
    return "".join(below.data for below in node.walk() if below.type == "NodeEmojiImg")


def _mark(node: Node) -> str:
    types = mark_types(node)
    is_padded = bool(_PADDED.intersection(types))
    text = mark_text(node)
    if is_in_cell(node):
        text = text.replace("|", "&#124;") if "code" in types else text.replace("\\|", "|")
        text = text.replace("\n", "<br />")
    parts: list[str] = []
    previous = node.previous if node.parent is not None else None
    if "tag" in types and previous is not None and is_mark(previous, "tag"):
        parts.append(" ")
    elif is_padded and previous is None:
        parts.append(ZERO_WIDTH)
    parts += [f"<span{_attributes(node, types)}>", ZERO_WIDTH if is_padded else "", text, "</span>"]
    if is_padded:
        following = node.next if node.parent is not None else None
        if following is None or not plain_text(following).startswith(ZERO_WIDTH):
            parts.append(ZERO_WIDTH)
    return "".join(parts)


def _attributes(node: Node, types: list[str]) -> str:
    shown = [("data-type", " ".join(types))]
    fields = {name: str(value) for name, value in node.fields.items()}
    for kind in types:
        if kind == "block-ref":
            shown.append(("data-subtype", fields.get("TextMarkBlockRefSubtype", "")))
            shown.append(("data-id", fields.get("TextMarkBlockRefID", "")))
        elif kind == "a":
            href = fields.get("TextMarkAHref", "")
            href = "" if href.lower().startswith("javascript:") else href
            shown.append(("data-href", href.replace('"', "&amp;quot;")))
            if title := fields.get("TextMarkATitle"):
                shown.append(("data-title", title.replace('"', "&amp;quot;")))
        elif kind == "inline-math":
            formula = fields.get("TextMarkInlineMathContent", "").replace(NEWLINE_ESCAPE, "\n")
            shown.append(("data-subtype", "math"))
            shown.append(("data-content", formula.replace('"', "&amp;quot;")))
            shown += [("contenteditable", "false"), ("class", "render-node")]
        elif kind == "file-annotation-ref":
            shown.append(("data-id", fields.get("TextMarkFileAnnotationRefID", "")))
        elif kind == "inline-memo":
            memo = fields.get("TextMarkInlineMemoContent", "").replace(NEWLINE_ESCAPE, "\n")
            shown.append(("data-inline-memo-content", memo))
    shown += node.properties.items()
    return "".join(f' {name}="{value}"' for name, value in shown)


def _image(node: Node) -> str:
    parts = {child.type: child.data for child in node.children}
    target, alt, title = (parts.get(kind, "") for kind in ("NodeLinkDest", "NodeLinkText", "NodeLinkTitle"))
    title = title.replace(">", "&gt;").replace("<", "&lt;").replace('"', "&quot;").replace("'", "&apos;")
    style = node.properties.get("style", "")
    width = next((part.strip() for part in style.split(";") if "width" in part), "")
    frame = f' style="{width.replace("vw", "%")};"' if width else ""
    rest = style.replace(f"{width};", "").strip() if width else style.strip()
    place = node.properties.get("parent-style", "").replace("display: block;", "").strip()
    attributes = "".join(
        f' {name}="{value}"' for name, value in (("alt", alt), ("title", title), ("style", rest)) if value
    )
    is_alone = node.parent is not None and node.previous is None
    following = node.next if node.parent is not None else None
    return (
        (ZERO_WIDTH if is_alone or node.parent is None else "")
        + f'<span contenteditable="false" data-type="img" class="img"{_style(place)}><span> </span><span{frame}>{_MORE}'
        + f'<img src="{target}" data-src="{target}" loading="lazy"{attributes} />'
        + '<span class="protyle-action__drag"></span>'
        + ("" if target.startswith(_LOCAL) else _NET)
        + f'<span class="protyle-action__title"><span>{title}</span></span></span><span> </span></span>'
        + (ZERO_WIDTH if following is None or following.type == "NodeImage" else "")
    )


def _style(value: str) -> str:
    return f' style="{value}"' if value else ""
