"""[core] What a document is in SQL: a tree in, rows out. Pure. Source: siyuan-markdown section 6."""

from __future__ import annotations

import hashlib
import html
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kernel.workspace.names import unescaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES, KINDS, LIST_ORDERED, LIST_TASK
from kernel.workspace.render.content import (
    ViewText,
    first_leaf,
    mark_content,
    no_view_text,
    plain_content,
    stripped,
    tags_of,
)
from kernel.workspace.render.ial import attribute_list
from kernel.workspace.render.inlines import is_mark, mark_text, mark_types, plain_text, text_mark
from kernel.workspace.render.std_markdown import std_markdown
from kernel.workspace.tree import Node, Tree

_INDEXED_ATTRIBUTES: Final = frozenset({"name", "alias", "memo", "bookmark", "fold", "heading-fold", "style"})
_FRAMES: Final = frozenset({"NodeHTMLBlock", "NodeIFrame", "NodeWidget", "NodeAudio", "NodeVideo"})
_FIRST_TAG_SOURCE: Final = re.compile(
    r"""^\s*<[A-Za-z][^>]*?\s(?:src|(?:custom-)?data-assets[\w-]*)\s*=\s*["']([^"']*)["']""", re.DOTALL
)
_COVER: Final = re.compile(r"background-image:\s?url\((.*)\)", re.DOTALL)
# An embed counts as a reference when all its statement asks for is one id.
_EMBEDDED_ID: Final = re.compile(
    r"""\bwhere\s+\(*\s*`?id`?\s*=\s*['"](\d{14}-[0-9a-z]{7})['"]\s*\)*\s*(?:(?:order\s+by|limit|group\s+by)\b.*)?;?\s*$""",
    re.IGNORECASE | re.DOTALL,
)
_BASE36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_LIST_SUBTYPES: Final = {LIST_ORDERED: "o", LIST_TASK: "t"}


class BlockRow(NamedTuple):
    """One row of ``blocks``, in column order."""

    id: str
    parent_id: str
    root_id: str
    hash: str
    box: str
    path: str
    hpath: str
    name: str
    alias: str
    memo: str
    tag: str
    content: str
    fcontent: str
    markdown: str
    length: int
    type: str
    subtype: str
    ial: str
    sort: int
    created: str
    updated: str


class SpanRow(NamedTuple):
    id: str
    block_id: str
    root_id: str
    box: str
    path: str
    content: str
    markdown: str
    type: str
    ial: str


class AssetRow(NamedTuple):
    id: str
    block_id: str
    root_id: str
    box: str
    docpath: str
    path: str
    name: str
    title: str
    hash: str


class AttributeRow(NamedTuple):
    id: str
    name: str
    value: str
    type: str
    block_id: str
    root_id: str
    box: str
    path: str


class RefRow(NamedTuple):
    id: str
    def_block_id: str
    def_block_parent_id: str
    def_block_root_id: str
    def_block_path: str
    block_id: str
    root_id: str
    box: str
    path: str
    content: str
    markdown: str
    type: str


class AnnotationRefRow(NamedTuple):
    id: str
    file_path: str
    annotation_id: str
    block_id: str
    root_id: str
    box: str
    path: str
    content: str
    type: str


class Target(NamedTuple):
    """Where a referenced block lives: its parent block, its document and that document's path."""

    parent_id: str
    root_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What rows need to know beyond their own document."""

    target: Callable[[str], Target | None] = lambda _block_id: None
    view_text: ViewText = no_view_text
    asset_hash: Callable[[str], str] = lambda _path: ""
    keeps_asset_paths: bool = True


@dataclass(slots=True)
class Rows:
    """The rows of a document, or of some of its blocks."""

    blocks: list[BlockRow] = field(default_factory=list)
    spans: list[SpanRow] = field(default_factory=list)
    assets: list[AssetRow] = field(default_factory=list)
    attributes: list[AttributeRow] = field(default_factory=list)
    refs: list[RefRow] = field(default_factory=list)
    annotation_refs: list[AnnotationRefRow] = field(default_factory=list)


def document_rows(tree: Tree, surroundings: Surroundings) -> Rows:
    """Every row of a document."""
    builder = RowBuilder(tree, surroundings)
    builder.add_document_row()
    for child, parent_id in heading_parents(tree.root):
        builder.add_subtree(child, parent_id)
    return builder.rows


def heading_parents(container: Node) -> list[tuple[Node, str]]:
    """The child blocks of a container with the id that SQL calls their parent: the heading above, or the container."""
    found: list[tuple[Node, str]] = []
    open_headings: list[tuple[int, str]] = []
    for child in container.children:
        if child.type not in BLOCK_TYPES or not child.id:
            continue
        if child.type == "NodeHeading":
            level = int(child.fields.get("HeadingLevel", 1))
            while open_headings and open_headings[-1][0] >= level:
                open_headings.pop()
            found.append((child, open_headings[-1][1] if open_headings else container.id))
            open_headings.append((level, child.id))
        else:
            found.append((child, open_headings[-1][1] if open_headings else container.id))
    return found


def embedded_id(statement: str) -> str:
    """The one block that an embed's statement asks for by id, ``""`` when it asks for anything else."""
    found = _EMBEDDED_ID.search(statement)
    return found.group(1) if found else ""


def subtype(node: Node) -> str:
    """SQL ``subtype``: h1…h6, u/o/t, a callout's kind."""
    if node.type == "NodeHeading":
        return f"h{node.fields.get('HeadingLevel', 1)}"
    if node.type in ("NodeList", "NodeListItem"):
        return _LIST_SUBTYPES.get((node.fields.get("ListData") or {}).get("Typ", 0), "u")
    return str(node.fields.get("CalloutType", "")) if node.type == "NodeCallout" else ""


class RowBuilder:
    """Collects the rows of one document."""

    def __init__(self, tree: Tree, surroundings: Surroundings) -> None:
        self.rows = Rows()
        self._tree = tree
        self._around = surroundings
        self._seen_refs: set[tuple[str, str]] = set()
        self._ordinals: dict[str, int] = {}

    def add_document_row(self) -> None:
        """The row of the document itself, with its tags and its cover."""
        root, tree = self._tree.root, self._tree
        self._add_block(root, "")
        for name in unescaped_attribute(root.properties.get("tags", "")).split(","):
            if name:
                markdown = f"#{html.escape(name)}#"
                row_id = self._row_id(root.id)
                self.rows.spans.append(
                    SpanRow(row_id, root.id, tree.id, tree.box, tree.path, name, markdown, "tag", "")
                )
        cover = _COVER.search(html.unescape(unescaped_attribute(root.properties.get("title-img", "")).strip()))
        if cover:
            self._add_asset(root.id, cover.group(1).strip("\"'"), "title-img")

    def add_subtree(self, top: Node, parent_id: str) -> None:
        """A block and every block below it."""
        stack = [(top, parent_id)]
        while stack:
            node, parent = stack.pop()
            self._add_block(node, parent)
            if node.type in CONTAINER_TYPES:
                stack.extend(reversed(heading_parents(node)))
            else:
                self._add_inlines(node)

    # --- one block -------------------------------------------------------------------------------------------
    def _add_block(self, node: Node, parent_id: str) -> None:
        tree = self._tree
        properties = node.properties
        content, first, markdown, length = self._texts(node)
        ial = attribute_list(node)
        identity = "\0".join((tree.box, tree.path, tree.hpath, ial, markdown, parent_id))
        self.rows.blocks.append(
            BlockRow(
                node.id,
                parent_id,
                tree.id,
                hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:7],
                tree.box,
                tree.path,
                tree.hpath,
                html.unescape(unescaped_attribute(properties.get("name", ""))),
                html.unescape(unescaped_attribute(properties.get("alias", ""))),
                html.unescape(unescaped_attribute(properties.get("memo", ""))),
                tags_of(node),
                stripped(content),
                stripped(first),
                stripped(markdown),
                length,
                KINDS[node.type].sql_type,
                subtype(node),
                ial,
                KINDS[node.type].sort,
                node.id[:14],
                properties.get("updated", ""),
            )
        )
        self._add_attributes(node)
        if node.type in _FRAMES and (source := _FIRST_TAG_SOURCE.search(node.data)):
            self._add_asset(node.id, html.unescape(source.group(1)), "")

    def _texts(self, node: Node) -> tuple[str, str, str, int]:
        """content, fcontent, markdown and length, U+200B still in the texts."""
        if node.type == "NodeDocument":
            title = unescaped_attribute(node.properties.get("title", ""))
            return title, title, "", len(title)
        markdown = std_markdown(node)
        content = self._content(node)
        if node.type not in CONTAINER_TYPES:
            return content, "", markdown, len(content)
        leaf = first_leaf(node)
        first = "" if leaf is None else plain_content(leaf, view_text=self._around.view_text, keeps_asset_paths=False)
        return content, first, markdown, len(first)

    def _content(self, node: Node) -> str:
        return plain_content(node, view_text=self._around.view_text, keeps_asset_paths=self._around.keeps_asset_paths)

    def _add_attributes(self, node: Node) -> None:
        for name, value in node.properties.items():
            if name in _INDEXED_ATTRIBUTES or name.startswith("custom-"):
                self._add_attribute(node.id, name, value, "b")

    def _add_attribute(self, block_id: str, name: str, value: str, kind: str) -> None:
        tree = self._tree
        self.rows.attributes.append(
            AttributeRow(
                self._row_id(block_id), name, unescaped_attribute(value), kind, block_id, tree.id, tree.box, tree.path
            )
        )

    # --- what stands in a block ------------------------------------------------------------------------------
    def _add_inlines(self, block: Node) -> None:
        stack = list(reversed(block.children))
        while stack:
            node = stack.pop()
            if node.type == "NodeImage":
                self._add_image(node, block)
            elif node.type == "NodeTextMark":
                self._add_mark(node, block)
            elif node.type == "NodeKramdownSpanIAL":
                self._add_span_attributes(node, block)
            elif node.type == "NodeBlockQueryEmbedScript":
                self._add_ref(block, embedded_id(node.data), "", "", "query_embed", needs_id=True)
            else:
                stack.extend(reversed(node.children))

    def _add_image(self, node: Node, block: Node) -> None:
        self._add_span(node, block, plain_text(node), "img")
        parts = {child.type: child.data for child in node.children}
        target = parts.get("NodeLinkDest", "")
        self._add_asset(block.id, target.partition("?")[0] or target, parts.get("NodeLinkTitle", ""))

    def _add_mark(self, node: Node, block: Node) -> None:
        self._add_span(node, block, mark_content(node).removesuffix("\u200d"), "textmark " + " ".join(mark_types(node)))
        if is_mark(node, "a"):
            self._add_asset(block.id, str(node.fields.get("TextMarkAHref", "")), "")
        if is_mark(node, "block-ref"):
            text = mark_text(node).replace("'", "&apos;")
            alone = Node("NodeTextMark", fields={**node.fields, "TextMarkType": "block-ref"})
            markdown = text_mark(alone, encodes_blanks=True, following=node.next).strip()
            self._add_ref(block, str(node.fields.get("TextMarkBlockRefID", "")), text, markdown, "textmark")
        if is_mark(node, "file-annotation-ref"):
            self._add_annotation_ref(node, block)

    def _add_span(self, node: Node, block: Node, content: str, kind: str) -> None:
        tree = self._tree
        markdown = std_markdown(node).replace("\u200d#", "#")
        ial = attribute_list(node)
        row_id = self._row_id(block.id)
        self.rows.spans.append(SpanRow(row_id, block.id, tree.id, tree.box, tree.path, content, markdown, kind, ial))

    def _add_span_attributes(self, node: Node, block: Node) -> None:
        for name, value in re.findall(r'([\w.-]+)="([^"]*)"', node.data):
            if name in _INDEXED_ATTRIBUTES or name.startswith("custom-"):
                self._add_attribute(block.id, name, value, "s")

    def _add_ref(
        self, block: Node, def_id: str, text: str, markdown: str, kind: str, *, needs_id: bool = False
    ) -> None:
        if (needs_id and not def_id) or (def_id, block.id) in self._seen_refs:
            return
        self._seen_refs.add((def_id, block.id))
        tree = self._tree
        target = (self._around.target(def_id) if def_id else None) or Target("", "", "")
        self.rows.refs.append(
            RefRow(
                self._row_id(block.id), def_id, *target, block.id, tree.id, tree.box, tree.path, text, markdown, kind
            )
        )

    def _add_annotation_ref(self, node: Node, block: Node) -> None:
        file_path, slash, annotation_id = str(node.fields.get("TextMarkFileAnnotationRefID", "")).rpartition("/")
        if not slash:
            return
        tree = self._tree
        text = mark_text(node) or file_path
        self.rows.annotation_refs.append(
            AnnotationRefRow(
                self._row_id(block.id),
                file_path,
                annotation_id,
                block.id,
                tree.id,
                tree.box,
                tree.path,
                text,
                "textmark",
            )
        )

    def _add_asset(self, block_id: str, path: str, title: str) -> None:
        if not path.startswith("assets/"):
            return
        tree = self._tree
        name, digest = posixpath.basename(path), self._around.asset_hash(path)
        row_id = self._row_id(block_id)
        self.rows.assets.append(AssetRow(row_id, block_id, tree.id, tree.box, tree.path, path, name, title, digest))

    def _row_id(self, block_id: str) -> str:
        """An id for a row that has none of its own: the same block, the same place, the same id."""
        ordinal = self._ordinals[block_id] = self._ordinals.get(block_id, 0) + 1
        number = int.from_bytes(hashlib.sha256(f"{block_id}/{ordinal}".encode()).digest()[:8], "big")
        letters = [_BASE36[number // 36**place % 36] for place in range(7)]
        return f"{block_id[:14]}-{''.join(letters)}"


def block_ids(top: Node) -> Iterable[str]:
    """The ids of a block and of every block below it."""
    return (node.id for node in top.walk() if node.id and node.type in BLOCK_TYPES)
