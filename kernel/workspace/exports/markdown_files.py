"""[core] Documents as Markdown files in folders of their titles, with the assets that they show beside them."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kernel.workspace.asset_care import all_assets
from kernel.workspace.asset_links import PREFIX, assets_of
from kernel.workspace.asset_names import file_name, file_path, without_id
from kernel.workspace.assets import without_query
from kernel.workspace.exports.choosing import readable
from kernel.workspace.intake import context_of
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.names import joined_path, without_suffix
from kernel.workspace.notebooks import DATA
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from kernel.workspace.exports.settings import ExportSettings
    from kernel.workspace.workspace import Document, Workspace

# A document with no more attributes than these many says nothing beyond its title.
_PLAIN_ATTRIBUTES_MAX: Final = 4
# A document and its Markdown.
Renderer = Callable[["Document"], Awaitable[str]]


@dataclass(slots=True)
class MarkdownFiles:
    """The files of one export as they come together: path in the archive → bytes, None for a folder."""

    workspace: Workspace
    settings: ExportSettings
    suffix: str = ".md"
    # Whether the documents themselves are written: without pandoc other formats come out with their assets alone.
    has_documents: bool = True
    entries: dict[str, bytes | None] = field(default_factory=dict)
    _assets: dict[str, tuple[str, float]] | None = None
    _new_names: dict[str, str] = field(default_factory=dict)
    _old_names: dict[str, str] = field(default_factory=dict)

    async def add_all(self, root_ids: list[str], render: Renderer, ref_counts: Callable[[str], int]) -> None:
        """Add documents in this order. ``ref_counts``: how often blocks of a document are referred to."""
        for root_id in root_ids:
            document = readable(self.workspace, root_id)
            if document is None:
                continue
            is_empty = self._is_empty(document) and not ref_counts(root_id)
            markdown = await render(document)
            path = self._path(document, markdown, is_alone=len(root_ids) == 1)
            self._make_folder(posixpath.dirname(path))
            if is_empty and self._has_children(document):
                continue
            self._add(path, markdown)

    # --- where -----------------------------------------------------------------------------------------------------
    def _path(self, document: Document, markdown: str, *, is_alone: bool) -> str:
        folder, name = posixpath.split(self.workspace.entry(document.id).hpath)
        name = file_name(name)
        path = joined_path(file_path(folder), name)
        written = f"{name if is_alone else path.removeprefix('/')}{self.suffix}"
        there = self.entries.get(written)
        if there is not None and there != markdown.encode():
            return f"{path.removeprefix('/')}-{document.id}{self.suffix}"
        return written

    def _make_folder(self, path: str) -> None:
        while path:
            self.entries.setdefault(path, None)
            path = posixpath.dirname(path)

    def _is_empty(self, document: Document) -> bool:
        if self.settings.has_front_matter or len(document.root.properties) > _PLAIN_ATTRIBUTES_MAX:
            return False
        blocks = document.root.children
        return bool(blocks) and all(one.type == "NodeParagraph" and not one.children for one in blocks)

    def _has_children(self, document: Document) -> bool:
        folder = f"{DATA}/{document.box}{without_suffix(document.path)}"
        return self.workspace.files.is_dir(folder) and bool(self.workspace.files.list(folder))

    # --- what ------------------------------------------------------------------------------------------------------
    def _add(self, path: str, markdown: str) -> None:
        for asset in self._assets_of(markdown):
            self._add_asset(posixpath.dirname(path), asset)
        for old, new in self._new_names.items():
            if old != new:
                markdown = markdown.replace(old, new)
        if self.has_documents:
            self.entries[path] = markdown.encode("utf-8", "replace")

    def _assets_of(self, markdown: str) -> list[str]:
        """The assets that the Markdown shows, blanks written ``%20``."""
        try:
            blocks = parse_markdown(markdown, context=context_of(self.workspace))
        except MarkdownError:
            return []
        return [path.replace(" ", "%20") for path in assets_of(Node("NodeDocument", children=blocks))]

    def _add_asset(self, folder: str, asset: str) -> None:
        if self._assets is None:
            self._assets = all_assets(self.workspace)
        new = self._renamed(asset)
        found = self._assets.get(_plain(asset))
        if found is None:
            return
        source, target = f"{DATA}/{found[0]}", joined_path(folder, _plain(new))
        files = self.workspace.files
        if not files.is_dir(source):
            self.entries[target] = files.read(source)
            return
        for path, stat in files.walk(source):
            if not stat.is_dir:
                self.entries[target.rstrip("/") + path[len(source) :]] = files.read(path)

    def _renamed(self, asset: str) -> str:
        """The name an asset gets: without its id where that is wanted and the name is still free."""
        known = self._new_names.get(asset)
        if known is not None:
            return known
        new = asset
        if self.settings.drops_asset_ids:
            new = PREFIX + without_id(posixpath.basename(asset))
            if self._old_names.get(new, asset) != asset:
                new = asset
        self._new_names[asset], self._old_names[new] = new, asset
        return new


def _plain(asset: str) -> str:
    return without_query(asset.replace("%20", " "))
