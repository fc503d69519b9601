"""[core] Blocks as kramdown, in the modes ``md`` and ``textmark`` (sections 1.3, 2.1, 2.3 and 7).

Theory of operation. Each quote, list and item writes into an output of its own, which is prefixed or indented as a whole
when it ends; what is left of its parent's output is trimmed then. Whether a line must be ended is known from the last
character written anywhere.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Final, Literal

from kernel.workspace.markdown.callouts import ICON_CUSTOM, ICONS, TITLES
from kernel.workspace.markdown.characters import UNICODE_BLANKS
from kernel.workspace.markdown.entities import unescape
from kernel.workspace.markdown.ial import write_list
from kernel.workspace.nodes import KINDS, LIST_ORDERED, LIST_TASK
from kernel.workspace.render.dom import DRAWN_LANGUAGES, code_parts, inline_children, list_subtype
from kernel.workspace.render.kramdown_inline import md_inline, textmark_inline
from kernel.workspace.render.tables import html_table, is_merged, markdown_table
from kernel.workspace.tree import Node

Mode = Literal["md", "textmark"]


def render_kramdown(node: Node, *, mode: Mode = "md") -> str:
    """The kramdown of a block or document, as ``getBlockKramdown`` gives it."""
    writer = _Writer(mode)
    writer.write(node)
    text = writer.text()
    return text.strip(UNICODE_BLANKS) if mode == "md" else text.rstrip(" \t\n").lstrip("\n") + "\n"


def attribute_list(node: Node) -> str:
    """A block's attribute list: its id first, the rest as stored."""
    properties = dict(node.properties)
    ordered = [("id", properties.pop("id", node.id)), *properties.items()]
    return write_list(ordered)


class _Output:
    """Text being written, trimmed at its ends without being copied."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def trim(self, front: str = UNICODE_BLANKS, back: str = UNICODE_BLANKS) -> None:
        while self.parts and not self.parts[-1].rstrip(back):
            self.parts.pop()
        if self.parts:
            self.parts[-1] = self.parts[-1].rstrip(back)
        while self.parts and not self.parts[0].lstrip(front):
            del self.parts[0]
        if self.parts:
            self.parts[0] = self.parts[0].lstrip(front)


class _Writer:
    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self.outputs = [_Output()]
        self.last = "\n"
        self.pending: list[Node | Callable[[], None]] = []

    def text(self) -> str:
        return "".join(self.outputs[0].parts)

    def write(self, node: Node) -> None:
        self._schedule([node])
        while self.pending:
            step = self.pending.pop()
            if isinstance(step, Node):
                writer = _WRITERS.get(step.type)
                if writer is not None:
                    writer(self, step)
            else:
                step()

    def _schedule(self, nodes: Sequence[Node], *then: Callable[[], None]) -> None:
        """Write ``nodes``, each block followed by its attribute list, then do ``then``."""
        steps: list[Node | Callable[[], None]] = []
        for node in nodes:
            steps.append(node)
            if KINDS[node.type].is_block and node.type != "NodeListItem":
                steps.append(lambda node=node: self._attributes(node))  # type: ignore[misc]
        self.pending.extend(reversed([*steps, *then]))

    def put(self, text: str) -> None:
        if text:
            self.outputs[-1].parts.append(text)
            self.last = text[-1]

    def newline(self) -> None:
        if self.last != "\n":
            self.put("\n")

    def _trim(self) -> None:
        output = self.outputs[-1]
        output.trim()
        if output.parts:
            self.last = output.parts[-1][-1]

    def _attributes(self, node: Node) -> None:
        self.newline()
        self.put(("\n" if node.type == "NodeDocument" else "") + attribute_list(node))
        parent = node.parent
        is_tight = parent is not None and parent.fields.get("ListData", {}).get("Tight", False)
        if not is_tight:
            self.newline()
        self.put("\n")

    def _inline(self, nodes: list[Node], *, after_blank: bool = False) -> str:
        if self.mode == "md":
            return md_inline(nodes, after_blank=after_blank)
        return textmark_inline(nodes, after_blank=after_blank)

    # --- leaves ---

    def document(self, node: Node) -> None:
        def end() -> None:
            output = self.outputs[-1]
            front, back = (" \t\n", " \t\n") if self.mode == "md" else ("\n", " \t\n")
            output.trim(front, back)
            self.last = ""
            self.put("\n")

        self._schedule(node.children, end)

    def paragraph(self, node: Node) -> None:
        after_box = self.last == " " and node.parent is not None and _is_task(node.parent)
        self.put(self._inline(inline_children(node), after_blank=after_box))

    def heading(self, node: Node) -> None:
        self._before_block(node)
        self.put("#" * node.fields.get("HeadingLevel", 1) + " ")
        self.put(self._inline(inline_children(node)))

    def _before_block(self, node: Node) -> None:
        """In textmark mode a list, quote or heading behind a marker begins on a line of its own."""
        if self.mode == "textmark" and node.parent is not None and node.parent.type in _MARKED and _is_first(node):
            self.newline()

    def code(self, node: Node) -> None:
        self.newline()
        if not node.fields.get("IsFencedCodeBlock") and node.children:
            # Code without a fence (imported) is all in its first child; what lies behind that is not looked at.
            self.put(f"```\n{node.children[0].data}```")
            self.newline()
            return
        info, code = code_parts(node)
        if self.mode == "md" and info in DRAWN_LANGUAGES:
            code = unescape(code)
        fence = node.children[0].data if node.children[0].type == "NodeCodeBlockFenceOpenMarker" else "```"
        self.put(f"{fence}{info}\n")
        self.put(code)
        self.newline()
        self.put(fence)
        self.newline()

    def math(self, node: Node) -> None:
        self.newline()
        content = next((child.data for child in node.children if child.type == "NodeMathBlockContent"), "")
        if self.mode == "md":
            content = unescape(content)
        self.put(f"$$\n{content}\n$$\n")

    def break_(self, node: Node) -> None:
        self.put("---")

    def html(self, node: Node) -> None:
        self.newline()
        text = node.data.strip(UNICODE_BLANKS)
        if not text.startswith("<div>"):
            text = "<div>\n" + text
        if not text.endswith("</div>"):
            text += "\n</div>"
        self.put(text)
        self.newline()

    def media(self, node: Node) -> None:
        self.newline()
        self.put(node.data)
        self.newline()
        self.put("\n")

    def embed(self, node: Node) -> None:
        self.newline()
        script = next((child.data for child in node.children if child.type == "NodeBlockQueryEmbedScript"), "")
        self.put("{{" + script.replace("\n", " ") + "}}")
        self.newline()

    def database(self, node: Node) -> None:
        self.newline()
        view, kind = node.fields.get("AttributeViewID", ""), node.fields.get("AttributeViewType", "")
        self.put(f'<div data-type="NodeAttributeView" data-av-id="{view}" data-av-type="{kind}"></div>')
        self.newline()

    def table(self, node: Node) -> None:
        if self.mode == "md" and is_merged(node):
            self.put(html_table(node))
            return
        self.put(markdown_table(node, self.mode))
        self.newline()

    # --- containers ---

    def quote(self, node: Node) -> None:
        self._before_block(node)
        self.outputs.append(_Output())
        self._schedule(_blocks(node), self._end_quote)

    def callout(self, node: Node) -> None:
        self.outputs.append(_Output())
        self.put(callout_head(node))
        self.newline()
        self._schedule(_blocks(node), self._end_quote)

    def _end_quote(self) -> None:
        lines = "".join(self.outputs.pop().parts).split("\n")
        if len(lines) > 2 and not lines[-1].strip(" ") and not lines[-2].strip(" "):
            lines.pop()
        quoted = [">" if not line else (">" if line[0] == ">" else "> ") + line for line in lines]
        self.outputs[-1].parts.append("\n".join(quoted).strip(UNICODE_BLANKS))
        self._trim()

    def list_(self, node: Node) -> None:
        self._before_block(node)
        self.outputs.append(_Output())
        self._schedule(_blocks(node), self._end_list)

    def _end_list(self) -> None:
        self.outputs[-2].parts.extend(self.outputs.pop().parts)
        self._trim()

    def item(self, node: Node) -> None:
        self.outputs.append(_Output())
        self.put(attribute_list(node))
        shown = [child for child in node.children if KINDS[child.type].is_block or child.type == _BOX]
        if node.children and node.children[0].type == "NodeList":
            self.newline()
        self._schedule(shown, lambda: self._end_item(node))

    def box(self, node: Node) -> None:
        self.put(f"[{task_box(node)}] ")

    def _end_item(self, node: Node) -> None:
        text = "".join(self.outputs.pop().parts)
        if self.mode == "md" and text.startswith("* "):
            text = " \n\n" + text
        width = item_indent(node)
        indent = " " * width
        lines = [indent + line if line else "" for line in text.split("\n")]
        body = "\n".join(lines) + "\n"
        body = body[width:] if width < len(body) else body
        self.outputs[-1].parts.append(f"{item_marker(node)} {body}")
        self._trim()
        self.put("\n")

    def super_block(self, node: Node) -> None:
        self.newline()
        layout = next((child.data for child in node.children if child.type == "NodeSuperBlockLayoutMarker"), "")
        self.put("{{{" + layout + "\n")
        self._schedule(_blocks(node), self._end_super_block)

    def _end_super_block(self) -> None:
        self.newline()
        self.put("}}}")
        self.newline()


_MARKED: Final = frozenset({"NodeBlockquote", "NodeSuperBlock"})
_BOX: Final = "NodeTaskListItemMarker"


def _is_first(node: Node) -> bool:
    assert node.parent is not None, "asked of blocks in a container only"
    return next((child for child in node.parent.children if KINDS[child.type].is_block), None) is node


def _blocks(node: Node) -> list[Node]:
    return [child for child in node.children if KINDS[child.type].is_block]


def _is_task(node: Node) -> bool:
    return node.type == "NodeListItem" and list_subtype(node) == "t"


def item_marker(node: Node) -> str:
    """``-`` or the item's number with its delimiter; an item that was made without one has a zero character there."""
    data = node.fields["ListData"]
    typ = data.get("Typ", 0)
    if typ == LIST_ORDERED or (typ == LIST_TASK and not data.get("BulletChar")):
        return f"{data.get('Num', 0)}{chr(data.get('Delimiter', 0))}"
    return "-"


def item_indent(node: Node) -> int:
    """By how many blanks the lines below an item's first are indented."""
    data = node.fields["ListData"]
    typ = data.get("Typ", 0)
    width = len(base64.b64decode(data.get("Marker", ""))) + 1
    if typ == LIST_ORDERED and width < 3:
        width += 1
    if typ == LIST_TASK:
        # A callout right behind the box; behind another block there is that block's attribute list first.
        types = [child.type for child in node.children[:2]]
        if not data.get("BulletChar") or types == [_BOX, "NodeCallout"]:
            width += 4
    return width


def task_box(marker: Node) -> str:
    """The character in a task's box."""
    code = marker.fields.get("TaskListItemMarker")
    if not code:
        return "X" if marker.fields.get("TaskListItemChecked") else " "
    return "X" if code == ord("x") else chr(code)


def callout_head(node: Node) -> str:
    """``[!KIND]``, with icon and title unless both are the kind's own."""
    fields = node.fields
    kind, title, icon = fields.get("CalloutType", ""), fields.get("CalloutTitle", ""), fields.get("CalloutIcon", "")
    if kind in ICONS and title == TITLES[kind] and icon == ICONS[kind]:
        return f"[!{kind}]"
    if fields.get("CalloutIconType") == ICON_CUSTOM and icon.startswith("/emojis/"):
        icon = ":" + icon.removeprefix("/emojis/").partition(".")[0] + ":"
    shown = f"{icon} {title}"
    return f"[!{kind}] {shown}" if shown.strip(UNICODE_BLANKS) else f"[!{kind}]"


_WRITERS: Final[dict[str, Callable[[_Writer, Node], None]]] = {
    "NodeDocument": _Writer.document,
    "NodeParagraph": _Writer.paragraph,
    "NodeHeading": _Writer.heading,
    "NodeCodeBlock": _Writer.code,
    "NodeMathBlock": _Writer.math,
    "NodeThematicBreak": _Writer.break_,
    "NodeHTMLBlock": _Writer.html,
    "NodeIFrame": _Writer.media,
    "NodeWidget": _Writer.media,
    "NodeVideo": _Writer.media,
    "NodeAudio": _Writer.media,
    "NodeBlockQueryEmbed": _Writer.embed,
    "NodeAttributeView": _Writer.database,
    "NodeTable": _Writer.table,
    "NodeBlockquote": _Writer.quote,
    "NodeCallout": _Writer.callout,
    "NodeList": _Writer.list_,
    "NodeListItem": _Writer.item,
    _BOX: _Writer.box,
    "NodeSuperBlock": _Writer.super_block,
}
