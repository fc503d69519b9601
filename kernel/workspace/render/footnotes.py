"""[core] References that leave the exported blocks become footnotes (refMode 4). Source: siyuan-markdown section 5."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.names import unescaped_attribute
from kernel.workspace.render.inlines import NEWLINE_ESCAPE, is_mark, mark_text
from kernel.workspace.tree import Node

_NESTED_MAX: Final = 4096  # references followed from footnote to footnote
_SHORT_RUNES_MAX: Final = 64  # a paragraph of the same document is cut to this when it is a footnote
EMBED: Final = "NodeBlockQueryEmbed"
BLOCK_LINK: Final = "siyuan://blocks/"
# A reference on its way through a parser or the editor's DOM: no document holds these characters.
REFERENCE_MARK: Final = "\ufdd0{}\ufdd1"
DEFINITIONS_BEGIN: Final = (
    '<div class="footnotes-defs-div"><hr class="footnotes-defs-hr" />\n<ol class="footnotes-defs-ol">'
)
DEFINITIONS_END: Final = "</ol></div>"


@dataclass(frozen=True, slots=True)
class Footnote:
    """One target outside the export: its number and the anchor of its first reference."""

    number: int
    anchor: str


@dataclass(slots=True)
class Footnotes:
    """The footnotes of one export, in the order of their first reference."""

    node_of: Callable[[str], Node | None]
    anchor_of: Callable[[Node], str]
    exported_ids: frozenset[str]
    query: Callable[[str], list[Node]] = lambda _statement: []
    brackets: tuple[str, str] = ("", "")
    by_id: dict[str, Footnote] = field(default_factory=dict)
    # Blocks that a query in a footnote has shown: each is shown once in an export.
    shown_ids: set[str] = field(default_factory=set)
    followed: int = 0

    def collect(self, top: Node) -> None:
        """Number every reference below ``top`` that leaves the export, and those below their targets."""
        pending = [top]
        while pending and self.followed < _NESTED_MAX:
            node = pending.pop()
            if not is_reference(node):
                pending.extend(reversed(node.children))
                continue
            target_id = target_of(node)
            # A reference that lost its id stays as it is written.
            if not target_id or target_id in self.by_id or target_id in self.exported_ids:
                continue
            self.by_id[target_id] = Footnote(len(self.by_id) + 1, self.anchor_of(node))
            self.followed += 1
            target = self.node_of(target_id)
            if target is not None:
                # Depth first: what the target refers to is numbered before what follows this reference.
                pending.extend(reversed(section(target)))

    def definitions(self, document_id: str) -> list[Node]:
        """The footnotes' texts as NodeFootnotesDef nodes; targets that do not exist have none."""
        found: list[Node] = []
        for target_id, footnote in self.by_id.items():
            target = self.node_of(target_id)
            if target is None:
                continue
            definition = Node("NodeFootnotesDef", data=f"^{footnote.number}")
            for part in self._parts(target, document_id):
                for block in self._without_queries(part.clone()):
                    definition.append(block)
                    self._link(block)
            found.append(definition)
        return found

    def _without_queries(self, block: Node) -> list[Node]:
        """The block behind what the queries in it find; a query itself is only that."""
        blocks: list[Node] = []
        for node in list(block.walk()):
            if node.type != EMBED:
                continue
            for one in self.query(embed_statement(node)):
                blocks += self._shown_once(one)
            if node is block:
                return blocks
            node.detach()
        return [*blocks, block]

    def _shown_once(self, node: Node) -> list[Node]:
        if node.id in self.shown_ids:
            return []
        self.shown_ids.add(node.id)
        blocks: list[Node] = []
        for part in node.children if node.type == "NodeDocument" else section(node):
            blocks += self._without_queries(part.clone())
        return [_in_list(block) for block in blocks]

    def _parts(self, target: Node, document_id: str) -> list[Node]:
        is_same_document = _root(target).id == document_id
        if target.type == "NodeDocument":
            title = unescaped_attribute(target.properties.get("title", ""))
            text = Node("NodeText", data=title)
            heading = Node("NodeHeading", id=target.id, fields={"HeadingLevel": 1}, children=[text])
            return [heading, *target.children]
        if target.type == "NodeHeading" and not is_same_document:
            return section(target)
        if target.type == "NodeParagraph" and is_same_document:
            return [self._shortened(target)]
        if target.type == "NodeListItem":
            parent = target.parent
            fields = dict(parent.fields) if parent is not None else {}
            return [Node("NodeList", fields=fields, children=[target.clone()])]
        return [target]

    def _shortened(self, paragraph: Node) -> Node:
        text = self.anchor_of(paragraph)
        if len(text) <= _SHORT_RUNES_MAX:
            return paragraph
        return Node("NodeParagraph", children=[Node("NodeText", data=f"{text[:_SHORT_RUNES_MAX]}...")])

    def _link(self, top: Node) -> None:
        """References inside a footnote: to another footnote, or back into the export."""
        for node in list(top.walk()):
            if not is_mark(node, "block-ref") or node.parent is None:
                continue
            target_id = target_of(node)
            footnote = self.by_id.get(target_id)
            if footnote is not None:
                node.insert_before(Node("NodeText", data=self._bracketed(footnote.anchor)))
                node.insert_before(footnote_mark(footnote))
                node.detach()
            elif target_id in self.exported_ids:
                text = self._bracketed(str(node.fields.get("TextMarkTextContent", "")))
                link = {"TextMarkType": "a", "TextMarkAHref": f"#{target_id}", "TextMarkTextContent": text}
                node.fields = {**node.fields, **link}

    def _bracketed(self, anchor: str) -> str:
        before, after = self.brackets
        return f"{before}{anchor}{after}"


def embed_statement(embed: Node) -> str:
    """The query of an embed block as it was typed."""
    script = next((child.data for child in embed.children if child.type == f"{EMBED}Script"), "")
    return html.unescape(script).replace(NEWLINE_ESCAPE, "\n")


def _in_list(block: Node) -> Node:
    if block.type != "NodeListItem":
        return block
    kind = (block.fields.get("ListData") or {}).get("Typ", 0)
    return Node("NodeList", fields={"ListData": {"Typ": kind} if kind else {}}, children=[block])


def footnote_mark(footnote: Footnote) -> Node:
    return Node("NodeFootnotesRef", data=f"^{footnote.number}")


def make_text(reference: Node, mark: str | None) -> None:
    """A NodeFootnotesRef becomes its mark, or what was typed where nothing defines it."""
    reference.type, reference.data = "NodeText", f"[{reference.data}]" if mark is None else mark


def shown_reference(number: int | str, name: str) -> str:
    """A reference on a page; ``name`` tells those of one footnote apart."""
    link = f'<a href="#footnotes-def-{number}">{number}</a>'
    return f'<sup class="footnotes-ref" id="footnotes-ref-{name}">{link}</sup>'


def shown_anchor(number: int | str) -> str:
    """What references on a page lead to: it stands at the start of the footnote."""
    return f'<span id="footnotes-def-{number}"></span>'


def is_reference(node: Node) -> bool:
    """A block reference or a link to a block."""
    if node.type != "NodeTextMark":
        return False
    return is_mark(node, "block-ref") or is_block_link(node)


def is_block_link(node: Node) -> bool:
    return is_mark(node, "a") and str(node.fields.get("TextMarkAHref", "")).startswith(BLOCK_LINK)


def target_of(node: Node) -> str:
    if is_mark(node, "block-ref"):
        return str(node.fields.get("TextMarkBlockRefID", ""))
    return str(node.fields.get("TextMarkAHref", "")).removeprefix(BLOCK_LINK)


def section(node: Node) -> list[Node]:
    """A heading with the blocks under it; any other block alone."""
    if node.type != "NodeHeading" or node.parent is None:
        return [node]
    level = int(node.fields.get("HeadingLevel", 1))
    found = [node]
    for sibling in node.parent.children[node.index() + 1 :]:
        if sibling.type == "NodeHeading" and int(sibling.fields.get("HeadingLevel", 1)) <= level:
            break
        found.append(sibling)
    return found


def reference_text(node: Node) -> str:
    """The anchor of a reference as it is shown, entities undone."""
    return html.unescape(mark_text(node))


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node
