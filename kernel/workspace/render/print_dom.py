"""[core] The editor's DOM as it is printed or saved: nothing in it can be edited, links are links, every block has an id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from typing import Final

from kernel.workspace.render.dom import render_dom
from kernel.workspace.render.footnotes import (
    DEFINITIONS_BEGIN,
    DEFINITIONS_END,
    REFERENCE_MARK,
    make_text,
    shown_anchor,
    shown_reference,
)
from kernel.workspace.render.inlines import ZERO_WIDTH, is_cjk
from kernel.workspace.tree import Node

_VOID: Final = frozenset({"br", "img", "col", "hr", "input"})
_CELLS: Final = frozenset({"td", "th"})
# Marks that the editor keeps the caret out of with a zero-width space.
_GUARDED: Final = frozenset({"code", "kbd", "tag"})
_FIXED: Final = ("contenteditable", "draggable")
# Parts of the editor that a page has no use for, and what stays of others.
_LEFT_OUT: Final = ("protyle-action__menu", "protyle-icons", "img__net", "sb__resize", "protyle-attr--av")
_COPY: Final = "protyle-action__copy"
_COPY_CLASS: Final = f"protyle-icon protyle-icon--only {_COPY}"
_ATTRIBUTES: Final = "protyle-attr"
_FRAME: Final = "iframe-content"
_DRAGGED: Final = "protyle-action__drag"
_MEDIA: Final = ("audio", "video")
_OWN: Final = "custom-"  # attributes of the user, written as they are stored
_WRAPPERS: Final = ("strong", "em", "sup")
Attributes = list[tuple[str, str | None]]
_REFERENCES: Final = re.compile(REFERENCE_MARK.format("([0-9]+)"))
# Where a footnote begins, on its way through the DOM.
_ANCHOR: Final = "\ufdd2{}\ufdd3"
_ANCHORS: Final = re.compile(_ANCHOR.format("([0-9]+)"))

_LINK: Final = "\ufdd4{}\ufdd5"
_LINKS: Final = re.compile(_LINK.format("([0-9]+)"))
_FRAME_SOURCE: Final = re.compile(r'src="([^"]*)"')


def print_dom(blocks: Sequence[Node], outline_ids: frozenset[str] = frozenset(), *, links_frames: bool = False) -> str:
    """The blocks as a page; database blocks are left as they are marked up in Markdown.

    ``outline_ids``: headings that a printer makes bookmarks of. ``links_frames``: paper has no frames, a frame becomes a
    link to what it shows.
    """
    defined = _marked(blocks)
    links = _linked_frames(blocks) if links_frames else []
    reader = _Printed(outline_ids)
    for block in blocks:
        if block.type == "NodeFootnotesDefBlock":
            reader.footnotes(block)
        else:
            reader.feed(render_dom([block]))
    reader.close()
    page = _REFERENCES.sub(lambda found: shown_reference(defined[f"^{found[1]}"], found[1]), "".join(reader.parts))
    page = _ANCHORS.sub(lambda found: shown_anchor(found[1]), page)
    return _LINKS.sub(lambda found: links[int(found[1])], page)


def _linked_frames(blocks: Sequence[Node]) -> list[str]:
    """The links of the frames, which become paragraphs that hold their numbers."""
    links: list[str] = []
    for node in [below for block in blocks for below in block.walk() if below.type == "NodeIFrame"]:
        source = _FRAME_SOURCE.search(node.data)
        text = node.data if source is None else _LINK.format(len(links))
        if source is not None:
            address = _escaped(unescape(source[1]), is_own=False)
            links.append(f'<a target="_blank" href="{address}">{address}</a>')
        node.type, node.data, node.fields = "NodeParagraph", "", {}
        node.append(Node("NodeText", data=text))
    return links


def _marked(blocks: Sequence[Node]) -> dict[str, int]:
    """The numbers of the footnotes that are defined, by their labels; references to them become marks in the text."""
    definitions = [one for block in blocks if block.type == "NodeFootnotesDefBlock" for one in block.children]
    numbers = {one.data: number for number, one in enumerate(definitions, start=1)}
    for block in blocks:
        for node in list(block.walk()):
            if node.type == "NodeFootnotesRef":
                make_text(node, REFERENCE_MARK.format(node.data.removeprefix("^")) if node.data in numbers else None)
    return numbers


class _Printed(HTMLParser):
    """Goes through the tokens of the DOM; ``ends`` says how each open element is closed, None where it is left out."""

    def __init__(self, outline_ids: frozenset[str]) -> None:
        super().__init__(convert_charrefs=False)
        self.outline_ids = outline_ids
        self.heading = ""
        self.task = ""  # the mark of the item that has just begun
        self.parts: list[str] = []
        self.ends: list[str] = []
        self.classes: list[str] = []
        self.left_out = 0
        self.medium = ""  # the video or sound whose frame is open
        self.skips_blank = False
        self.in_cell = False
        self.nameless: set[str] = set()

    def footnotes(self, block: Node) -> None:
        """The definitions at the end of the page."""
        self._put(DEFINITIONS_BEGIN)
        # A document's own name stands here as a heading that is no block.
        self.nameless = {one.id for definition in block.children for one in definition.children if not one.properties}
        for definition in block.children:
            if definition.children:
                mark = Node("NodeText", data=_ANCHOR.format(definition.data.removeprefix("^")))
                definition.children[0].insert(0, mark)
            self._put("<li>")
            self.feed(render_dom(definition.children))
            self._put("</li>\n")
        self._put(DEFINITIONS_END)

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        values = {name: value or "" for name, value in attrs}
        class_ = values.get("class", "")
        is_picture_frame = "protyle-action" in class_ and "protyle-icons" in class_
        if self.left_out or (not is_picture_frame and any(name in class_.split() for name in _LEFT_OUT)):
            self.left_out += tag not in _VOID
            return
        if values.get("data-type") == "NodeAttributeView":
            view = {name: values.get(name, "") for name in ("data-type", "data-av-id", "data-av-type")}
            self._put(f"\n<div{_written(view)}></div>\n")
            self.left_out = 1
            return
        kinds = values.get("data-type", "").split() if tag == "span" else []
        if values.get("data-type") == "NodeListItem":
            self.task = values.pop("data-task", "")
        elif "protyle-action--task" in class_:
            values["data-task"] = self.task
        self.skips_blank = bool(_GUARDED.intersection(kinds))
        end = f"</{tag}>"
        if "a" in kinds:
            wrappers = [name for name in _WRAPPERS if name in kinds]
            self._put("".join(f"<{name}>" for name in wrappers) + f"<a{_written(_link(values))}>")
            end = "</a>" + "".join(f"</{name}>" for name in reversed(wrappers))
        elif kinds == ["inline-memo"]:
            end = ""
        else:
            if self.in_cell and "inline-math" in kinds:
                values = _with_bars_escaped(values)
            self._put(f"<{tag}{_written(self._fixed(values))}{' /' if tag in _VOID else ''}>")
        if tag in _VOID:
            return
        self.in_cell = self.in_cell or tag in _CELLS
        if tag in _MEDIA:
            self.medium = tag
        if self.heading and "contenteditable" in values:
            self._put(f'<a target="_blank" href="pdf-outline://{self.heading}"> </a>')
            self.heading = ""
            self.skips_blank = True  # the link stands where the caret would have had its place
        if values.get("data-type") == "NodeHeading" and values.get("data-node-id") in self.outline_ids:
            self.heading = values["data-node-id"]
        self.classes.append(class_)
        memo = values.get("data-inline-memo-content", "").replace("\n", " ") if "inline-memo" in kinds else ""
        self.ends.append(end + (f"\0{memo}" if memo else ""))

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        if not self.left_out:
            self._put(f"<{tag}{_written(self._fixed({name: value or '' for name, value in attrs}))} />")

    def handle_endtag(self, tag: str) -> None:
        if self.left_out:
            self.left_out -= 1
            return
        self.skips_blank = False
        self.in_cell = self.in_cell and tag not in _CELLS
        class_ = self.classes.pop() if self.classes else ""
        end, _, memo = (self.ends.pop() if self.ends else f"</{tag}>").partition("\0")
        self._put(end)
        # Behind the sound itself, or behind what a video is dragged by.
        if self.medium and (tag == "audio" or class_ == _DRAGGED):
            self._put(ZERO_WIDTH)
            self.medium = ""
        if memo:
            last = next((part[-1] for part in reversed(self.parts) if part and not part.endswith(">")), "")
            self._put(f"<sup>（{memo}）</sup>" if last and is_cjk(last) else f"<sup>({memo})</sup>")

    def handle_data(self, data: str) -> None:
        if self.skips_blank:
            data, self.skips_blank = data.removeprefix(ZERO_WIDTH), False
        if data != ZERO_WIDTH or not self.classes or self.classes[-1] not in (_ATTRIBUTES, _FRAME):
            self._put(data)

    def handle_entityref(self, name: str) -> None:
        self.skips_blank = False
        self._put(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.skips_blank = False
        self._put(f"&#{name};")

    def _fixed(self, values: dict[str, str]) -> dict[str, str]:
        fixed = _fixed(values)
        if fixed.get("id") in self.nameless:
            del fixed["id"]
        return fixed

    def _put(self, text: str) -> None:
        if text and not self.left_out:
            self.parts.append(text)


def _fixed(values: dict[str, str]) -> dict[str, str]:
    for name in _FIXED:
        if values.get(name) == "true":
            values[name] = "false"
    if "protyle-action--task" in values.get("class", ""):
        values.pop("draggable", None)
    values.pop("loading", None)
    if _COPY in values.get("class", ""):
        return {"class": _COPY_CLASS}
    if values.get("data-position") == "4north":
        values["data-position"] = "north"
    if values.get("data-type") == "NodeHTMLBlock":
        values.setdefault("data-subtype", "block")
    if "data-node-id" in values:
        values["id"] = values["data-node-id"]
    return values


def _link(values: dict[str, str]) -> dict[str, str]:
    shown = {"href": values.pop("data-href", "")}
    if title := values.pop("data-title", ""):
        shown["title"] = title
    values.pop("data-id", None)
    if not values.get("data-subtype"):
        values.pop("data-subtype", None)
    values.pop("data-inline-memo-content", None)
    return shown | values


def _with_bars_escaped(values: dict[str, str]) -> dict[str, str]:
    return values | {"data-content": values["data-content"].replace("|", "&#124;")}


def _written(values: dict[str, str]) -> str:
    is_formula = values.get("data-type", "").endswith("inline-math")
    return "".join(
        f' {name}="{value if is_formula and name == "data-content" else _escaped(value, name.startswith(_OWN))}"'
        for name, value in values.items()
    )


def _escaped(text: str, is_own: bool) -> str:
    if is_own:
        text = text.replace("{", "\0").replace("}", "\1")
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return text.replace("\0", "&#123;").replace("\1", "&#125;")
