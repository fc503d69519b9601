"""Documents and blocks as Markdown, by the settings: what an export asks of a running kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.siyuan.notes_index import settled_index
from kernel.workspace.assets import find_asset
from kernel.workspace.doc_tree import list_documents
from kernel.workspace.documents import Refusal
from kernel.workspace.exports.settings import ExportSettings
from kernel.workspace.index import statements
from kernel.workspace.index.queries import document_ref_count
from kernel.workspace.intake import context_of
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.names import tree_id
from kernel.workspace.refs import ref_text
from kernel.workspace.render.export import ExportOptions, ExportSources, export_markdown, exported_tree, front_matter
from kernel.workspace.render.export_links import Place, referred_ids
from kernel.workspace.render.footnotes import section
from kernel.workspace.search import SQL, SearchQuery, SearchSettings, search
from kernel.workspace.stamps import is_stamp
from kernel.workspace.views.tables import view_table
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.siyuan.kernel import SiyuanKernel
    from kernel.workspace.index.writer import Index
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document

_STAMP: Final = "%Y%m%d%H%M%S"


def export_settings(kernel: SiyuanKernel, changes: Mapping[str, Any] | None = None) -> ExportSettings:
    """The settings as they are, with ``changes`` to the section ``export`` for this once."""
    conf = kernel.workspace.conf
    return ExportSettings.of({**conf.section("export"), **(changes or {})}, conf.section("editor"))


@dataclass(frozen=True, slots=True)
class MarkdownExport:
    """Exports from one kernel whose index is settled."""

    kernel: SiyuanKernel
    index: Index

    @classmethod
    async def of(cls, kernel: SiyuanKernel) -> MarkdownExport:
        return cls(kernel, await settled_index(kernel))

    def markdown(self, document: Document, node: Node, options: ExportOptions) -> str:
        return export_markdown(document.root, node, options, self.sources())

    def tree(self, document: Document, node: Node, options: ExportOptions) -> Node:
        return exported_tree(document.root, node, options, self.sources())

    def front_matter(self, root: Node) -> str:
        return front_matter(root, self._instant)

    def copied(self, block_id: str, options: ExportOptions) -> str:
        """A block as it is copied for other programs, its targets anchored; ``""`` for an unknown one."""
        found = self.found(block_id)
        if found is None:
            return ""
        document, node = found
        workspace = self.kernel.workspace
        shown = [one for top in section(node) for one in referred_ids(top)]
        def_ids = frozenset(one for one in shown if workspace.block_exists(one))
        return self.markdown(document, node, replace(options, def_ids=def_ids))

    def found(self, block_id: str) -> tuple[Document, Node] | None:
        """A block and its document; None where there is none that can be read."""
        workspace = self.kernel.workspace
        if not workspace.block_exists(block_id):
            return None
        try:
            return workspace.node(block_id)
        except (NotFound, CorruptDocument):
            return None

    def ref_count(self, root_id: str) -> int:
        """How often blocks of a document are referred to."""
        reader = self.index.take_reader()
        try:
            return document_ref_count(reader, root_id)
        finally:
            self.index.give_back(reader)

    def sources(self) -> ExportSources:
        workspace = self.kernel.workspace

        return ExportSources(
            node_of=self._node,
            ref_text=lambda block_id: ref_text(node) if (node := self._node(block_id)) else "block not found",
            query=self.query,
            view_table=lambda node, shows_hidden: view_table(workspace, node, shows_hidden=shows_hidden),
            place_of=self._place,
            annotation_page=self._annotation_page,
            parse=self.parsed,
            sub_documents=self.sub_documents,
            new_id=workspace.new_id,
        )

    def query(self, statement: str) -> list[Node]:
        """The blocks that a query of a document finds."""
        return [node for block_id in self._embedded(statement) if (node := self._node(block_id)) is not None]

    def _node(self, block_id: str) -> Node | None:
        found = self.found(block_id)
        return found[1] if found is not None else None

    def _place(self, block_id: str) -> Place | None:
        entry = self.kernel.workspace.blocks.entry_of(block_id)
        return Place(entry.id, entry.hpath, entry.id == block_id) if entry is not None else None

    def sub_documents(self, document_id: str) -> list[tuple[int, Node]]:
        """The documents below one with their depth, each before those below it; one that cannot be read is left out."""
        workspace = self.kernel.workspace
        top = workspace.entry(document_id)
        found: list[tuple[int, Node]] = []
        pending = [(0, "/" if top.id == top.box else top.path)]
        while pending:
            depth, path = pending.pop()
            if depth and (document := self.found(tree_id(path))) is not None:
                found.append((depth, document[1]))
            pending += [(depth + 1, one.path) for one in reversed(list_documents(workspace, top.box, path))]
        return found

    def parsed(self, markdown: str) -> list[Node]:
        try:
            return parse_markdown(markdown, context=context_of(self.kernel.workspace))
        except MarkdownError:
            return []

    def _embedded(self, statement: str) -> list[str]:
        """The ids a block query finds; on a reader, for the statement is a user's."""
        if statements.has_several(statement) or statements.first_word(statement) not in ("SELECT", "WITH"):
            return []
        settings = SearchSettings.of(self.kernel.workspace.conf.section("search"))
        if "_fts" in statement.lower():
            self.index.fulltext.refresh()
        reader = self.index.take_reader()
        try:
            found = search(reader, SearchQuery(statement, method=SQL, page_size=settings.limit), settings)
        finally:
            self.index.give_back(reader)
        return [row.id for row in found.rows]

    def _annotation_page(self, ref_id: str) -> int | None:
        path, _, annotation_id = ref_id.rpartition("/")
        workspace = self.kernel.workspace
        try:
            stored = read_json(workspace.files.read(f"{find_asset(workspace, path)}.sya"))
            return int(stored[annotation_id]["pages"][0]["index"]) + 1
        except (Refusal, OSError, ValueError, LookupError, TypeError):
            return None

    def _instant(self, stamp: str) -> str:
        """A kernel stamp with its zone: yyyy-MM-ddTHH:mm:ssZ."""
        local = self.kernel.clock.local()
        if is_stamp(stamp):
            try:
                local = datetime.strptime(stamp, _STAMP).replace(tzinfo=local.tzinfo)
            except ValueError:
                return ""
        return local.isoformat(timespec="seconds").replace("+00:00", "Z")
