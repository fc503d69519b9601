"""[core] exportMdContent: a document as Markdown for other programs. Source: siyuan-markdown section 5.

The tree is copied, changed into what Markdown can say (embeds into blocks, references into links or footnotes …), and
printed by ``std_markdown``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from kernel.workspace.asset_names import without_id
from kernel.workspace.limits import ANCHOR_RUNES_MAX
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.embeds import EMBED_AS_QUOTES, SOFT_LINE_END, Embeds
from kernel.workspace.render.export_links import Place, tie
from kernel.workspace.render.footnotes import (
    BLOCK_LINK,
    Footnotes,
    footnote_mark,
    is_block_link,
    reference_text,
    section,
    target_of,
)
from kernel.workspace.render.inlines import is_in_cell, is_mark, mark_text, mark_types
from kernel.workspace.render.merged import merge_documents
from kernel.workspace.render.std_markdown import MarkdownStyle, std_markdown
from kernel.workspace.tree import Node

REF_BLOCK_LINK, REF_ANCHOR, REF_FOOTNOTE = 2, 3, 4
_EMPTY_PARAGRAPH: Final = "\u200d"
_SUPER_BLOCK_MARKERS: Final = frozenset(
    {"NodeSuperBlockOpenMarker", "NodeSuperBlockLayoutMarker", "NodeSuperBlockCloseMarker"}
)
# Attributes of a document that its title does not take over.
_DOCUMENT_ONLY: Final = ("type", "style")
_FOLDS: Final = ("fold", "heading-fold")
_CARDS: Final = "custom-riff-decks"
_COVER: Final = re.compile(r"background-image:\s?url\((.*)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What a caller may choose; the defaults are those of a fresh kernel."""

    ref_mode: int = REF_FOOTNOTE
    embed_mode: int = EMBED_AS_QUOTES
    heading_embed_mode: int = 0
    adds_title: bool = True
    keeps_memos: bool = False
    has_image_tags: bool = False
    adjusts_heading_level: bool = False
    # Whether headings are adjusted to stand below a title: by the settings, whatever this export does.
    has_title_level: bool = True
    # Blocks that get an invisible anchor where they are exported; references to them become plain links.
    def_ids: frozenset[str] = frozenset()
    # One document alone: what it refers to outside of itself becomes footnotes.
    is_single: bool = True
    # As the editor shows it: super blocks and tags stay what they are.
    is_editor: bool = False
    # Whether what is folded away stays away; else it is shown, and nothing is folded.
    keeps_folds: bool = False
    # Whether the documents below this one follow it, each below its title.
    merges: bool = False
    # Whether tables of databases have their hidden columns too: Markdown has them, pages do not.
    shows_hidden_columns: bool = False
    # How a reference to a place in a PDF is named: 0 with file and page, 1 by its own words.
    annotation_mode: int = 0
    tag_markers: tuple[str, str] = ("#", "#")
    ref_brackets: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class ExportSources:
    """What an export asks of the workspace."""

    node_of: Callable[[str], Node | None] = lambda _block_id: None
    ref_text: Callable[[str], str] = lambda block_id: block_id
    query: Callable[[str], list[Node]] = field(default=lambda _statement: [])
    # The table that stands for a database block; the flag asks for hidden columns too.
    view_table: Callable[[Node, bool], Node | None] = lambda _view, _shows_hidden: None
    place_of: Callable[[str], Place | None] = lambda _block_id: None
    # The page (from 1) that an annotation reference names; None where the file or the annotation is gone.
    annotation_page: Callable[[str], int | None] = lambda _ref_id: None
    # The documents below one, as they are listed, with their depth from 1.
    sub_documents: Callable[[str], list[tuple[int, Node]]] = lambda _document_id: []
    # The id of a block that an embed shows; none where it needs none.
    new_id: Callable[[], str] | None = None
    parse: Callable[[str], list[Node]] = field(default=lambda _markdown: [])


def export_markdown(root: Node, block: Node, options: ExportOptions, sources: ExportSources) -> str:
    """The Markdown of a document (``block`` is ``root``) or of one block of it, without front matter."""
    copy = exported_tree(root, block, replace(options, shows_hidden_columns=True), sources)
    style = MarkdownStyle(
        has_super_block_braces=False,
        has_span_attributes=False,
        normalizes_tasks=True,
        has_image_tags=options.has_image_tags,
        root=copy,
    )
    return std_markdown(copy, style) + "\n"


def exported_tree(root: Node, block: Node, options: ExportOptions, sources: ExportSources) -> Node:
    """A copy of a document, or of one block of it, changed into what an export can say."""
    return _Export(root, block, options, sources).tree()


def front_matter(root: Node, instant: Callable[[str], str]) -> str:
    """The YAML head of an export. ``instant`` turns a 14-digit stamp into ``yyyy-MM-ddTHH:mm:ssZ``, "" into now."""
    shown = {name: unescaped_attribute(value) for name, value in root.properties.items()}
    updated = instant(shown.get("updated", ""))
    created = instant(root.id[:14]) if root.id else updated
    lines = ["---"]
    if title := shown.get("title"):
        lines.append(f"title: {title}")
    lines += [f"date: {created}", f"lastmod: {updated}"]
    if tags := shown.get("tags"):
        lines.append("tags:")
        lines += ["  - '" + tag.replace("'", "''") + "'" for tag in tags.split(",")]
    return "\n".join((*lines, "---", "", ""))


def link_node(kind: str, text: str, target: str) -> Node:
    """A NodeLink, or a NodeImage, as Markdown writes it."""
    link = Node(kind, data="span") if kind == "NodeImage" else Node(kind)
    if kind == "NodeImage":
        link.append(Node("NodeBang"))
    for part, data in (
        ("NodeOpenBracket", ""),
        ("NodeLinkText", text),
        ("NodeCloseBracket", ""),
        ("NodeOpenParen", ""),
        ("NodeLinkDest", target),
        ("NodeCloseParen", ""),
    ):
        link.append(Node(part, data=data))
    return link


class _Export:
    """One export: the copy that it changes, and what it is told about the rest of the workspace."""

    def __init__(self, root: Node, block: Node, options: ExportOptions, sources: ExportSources) -> None:
        self.options = options
        self.sources = sources
        self.source = root
        self.is_whole = block is root
        shown = root.children if self.is_whole else section(block)
        self.copy = Node("NodeDocument", id=root.id, properties=dict(root.properties))
        for child in shown:
            self.copy.append(child.clone())
        if options.merges:
            merge_documents(self.copy, sources.sub_documents(root.id))

    def tree(self) -> Node:
        options, copy = self.options, self.copy
        Embeds(self.sources.query, options.embed_mode, options.heading_embed_mode).resolve(copy)
        self._name_shown_blocks()
        self._links_become_refs()
        ids = frozenset(node.id for node in copy.walk() if node.id)
        footnotes = Footnotes(self.sources.node_of, self._anchor, ids, self.sources.query, options.ref_brackets)
        if options.ref_mode == REF_FOOTNOTE and options.is_single:
            # They are numbered over the document as it is stored: what only an embed shows has none of its own.
            footnotes.collect(self.source)
        for node in list(copy.walk()):
            self._change(node, footnotes, ids)
        if options.ref_mode == REF_FOOTNOTE:
            self._append_definitions(footnotes)
        if options.adds_title:
            self._prepend_title()
        self._prepend_cover()
        for node in list(copy.walk()):
            self._finish(node)
        if options.adjusts_heading_level and not self.is_whole:
            self._adjust_heading_level()
        if options.def_ids and options.ref_mode == REF_FOOTNOTE:
            document = self.sources.place_of(self.source.id) or Place(self.source.id, "/", is_document=True)
            tie(copy, document, options.def_ids, self.sources.place_of, self._link_text)
        return copy

    def _name_shown_blocks(self) -> None:
        """An editor names its blocks: those that an embed shows are new ones each time."""
        if self.sources.new_id is None or not self.options.is_editor:
            return
        for node in self.copy.walk():
            if node.type in BLOCK_TYPES and not node.id:
                node.id = self.sources.new_id()
                node.properties = {"id": node.id, "updated": node.id[:14]}

    # --- references ------------------------------------------------------------------------------------------
    def _links_become_refs(self) -> None:
        for node in self.copy.walk():
            if is_block_link(node):
                rest = " ".join(mark_types(node)).removeprefix("a").strip()
                node.fields["TextMarkBlockRefID"] = target_of(node)
                node.fields["TextMarkBlockRefSubtype"] = "s"
                node.fields["TextMarkType"] = f"{rest} block-ref".strip()

    def _anchor(self, node: Node) -> str:
        if node.type in BLOCK_TYPES:
            return self.sources.ref_text(node.id)
        text = reference_text(node) or self.sources.ref_text(target_of(node))
        return text if len(text) <= ANCHOR_RUNES_MAX else f"{text[:ANCHOR_RUNES_MAX]}..."

    def _change(self, node: Node, footnotes: Footnotes, ids: frozenset[str]) -> None:
        """First pass, before footnotes and title are there."""
        if node.type in _SUPER_BLOCK_MARKERS and not self.options.is_editor:
            node.detach()
        elif node.type == "NodeMathBlockContent":
            node.data = node.data.strip()
        elif node.type == "NodeTextMark":
            self._change_mark(node, footnotes, ids)

    def _change_mark(self, node: Node, footnotes: Footnotes, ids: frozenset[str]) -> None:
        fields = node.fields
        if is_mark(node, "inline-memo") and not self.options.keeps_memos:
            fields["TextMarkInlineMemoContent"] = ""
        if is_mark(node, "inline-math"):
            fields["TextMarkInlineMathContent"] = str(fields.get("TextMarkInlineMathContent", "")).strip()
        elif is_mark(node, "file-annotation-ref"):
            self._change_annotation(node)
        elif is_mark(node, "tag") and not self.options.is_editor:
            before, after = self.options.tag_markers
            node.type, node.data, node.fields = "NodeText", f"{before}{mark_text(node)}{after}", {}
        elif is_mark(node, "block-ref"):
            self._change_ref(node, footnotes, ids)

    def _change_annotation(self, node: Node) -> None:
        """A link to the page; nothing where there is no such page."""
        ref_id = str(node.fields.get("TextMarkFileAnnotationRefID", ""))
        if "/" not in ref_id:
            return
        page = self.sources.annotation_page(ref_id)
        if page is not None:
            path = ref_id.rpartition("/")[0]
            name = without_id(path.rpartition("/")[2])
            text = mark_text(node)
            shown = f"{name} - p{page} - {text}" if self.options.annotation_mode == 0 else text
            node.insert_before(link_node("NodeLink", shown, f"{path}#page={page}"))
        node.detach()

    def _link_text(self, node: Node) -> str:
        before, after = self.options.ref_brackets
        return f"{before}{self._anchor(node)}{after}"

    def _change_ref(self, node: Node, footnotes: Footnotes, ids: frozenset[str]) -> None:
        target_id = target_of(node)
        text = self._link_text(node)
        types = " ".join(mark_types(node))
        rest = types.replace("block-ref", "").strip()
        if self.options.ref_mode == REF_BLOCK_LINK:
            node.fields = {
                "TextMarkType": f"a {types}",
                "TextMarkAHref": f"{BLOCK_LINK}{target_id}",
                "TextMarkTextContent": text,
            }
        elif self.options.ref_mode == REF_ANCHOR:
            node.fields = {"TextMarkType": rest, "TextMarkTextContent": text}
        elif self.options.ref_mode == REF_FOOTNOTE:
            if target_id in ids:
                node.fields |= {
                    "TextMarkType": f"a {types}",
                    "TextMarkAHref": f"#{target_id}",
                    "TextMarkTextContent": text,
                }
            elif (footnote := footnotes.by_id.get(target_id)) is not None:
                node.insert_after(footnote_mark(footnote))
                if rest:
                    node.fields = {"TextMarkType": rest, "TextMarkTextContent": text}
                else:
                    node.type, node.data, node.fields = "NodeText", text, {}

    def _append_definitions(self, footnotes: Footnotes) -> None:
        definitions = footnotes.definitions(self.copy.id)
        marks = {
            node.data for top in (self.copy, *definitions) for node in top.walk() if node.type == "NodeFootnotesRef"
        }
        kept = [definition for definition in definitions if definition.data in marks]
        if kept:
            self.copy.append(Node("NodeFootnotesDefBlock", children=kept))

    # --- head and last touches -------------------------------------------------------------------------------
    def _prepend_title(self) -> None:
        title = unescaped_attribute(self.copy.properties.get("title", ""))
        text = Node("NodeText", data=title)
        properties = {name: value for name, value in self.copy.properties.items() if name not in _DOCUMENT_ONLY}
        fields = {"HeadingLevel": 1}
        heading = Node("NodeHeading", id=self.copy.id, properties=properties, fields=fields, children=[text])
        self.copy.insert(0, heading)

    def _prepend_cover(self) -> None:
        cover = _COVER.search(unescaped_attribute(self.copy.properties.get("title-img", "")).strip())
        if cover is None:
            return
        image = link_node("NodeImage", "image", cover.group(1).strip("\"'"))
        self.copy.insert(0, Node("NodeParagraph", children=[image]))

    def _finish(self, node: Node) -> None:
        """Second pass, over everything that will be printed."""
        self._fold(node)
        if node.type in _SUPER_BLOCK_MARKERS and not self.options.is_editor:
            node.detach()
        elif node.type == "NodeParagraph" and not node.children:
            node.append(Node("NodeText", data=_EMPTY_PARAGRAPH))
        elif node.type == "NodeText":
            node.data = node.data.replace("\n", "  \n").replace(SOFT_LINE_END, "\n")
        elif node.type == "NodeBr" and not is_in_cell(node):
            node.type, node.data = "NodeText", "\n"
        elif node.type == "NodeWidget" and (markdown := unescaped_attribute(node.properties.get("data-export-md", ""))):
            for block in self.sources.parse(html.unescape(markdown)):
                node.insert_before(block)
            node.detach()
        elif node.type == "NodeAttributeView":
            table = self.sources.view_table(node, self.options.shows_hidden_columns)
            if table is not None:
                node.insert_before(table)
                node.detach()

    def _fold(self, node: Node) -> None:
        if self.options.keeps_folds and node.properties.get("heading-fold") == "1":
            node.detach()
        elif not self.options.keeps_folds and any(name in node.properties for name in _FOLDS):
            node.properties = {name: value for name, value in node.properties.items() if name not in _FOLDS}
        if _CARDS in node.properties:
            node.properties = {name: value for name, value in node.properties.items() if name != _CARDS}

    def _adjust_heading_level(self) -> None:
        """The first heading of an exported block becomes the first level below the title."""
        start = 1 if self.options.has_title_level else 0
        first = next((node for node in self.copy.children[start:] if node.type == "NodeHeading"), None)
        if first is None:
            return
        shift = (2 if self.options.has_title_level else 1) - int(first.fields.get("HeadingLevel", 1))
        for top in section(first):
            for node in top.walk():
                if node.type == "NodeHeading":
                    node.fields["HeadingLevel"] = min(6, max(1, int(node.fields.get("HeadingLevel", 1)) + shift))
