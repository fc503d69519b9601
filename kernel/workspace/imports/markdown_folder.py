"""[core] A folder of Markdown becomes documents: folders too, files beside them become assets, links follow.

Everything is read before anything is written, and all is written in one go: an import is there as a whole, or not at
all. A file that cannot be read is left out and named.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from kernel.workspace.asset_names import upload_name, with_id
from kernel.workspace.assets import ASSETS
from kernel.workspace.doc_tree import read_sort, write_sort
from kernel.workspace.documents import new_tree
from kernel.workspace.imports.front_matter import FrontMatter, front_matter_block, split_front_matter
from kernel.workspace.imports.links import LinkTargets, follow_links
from kernel.workspace.intake import context_of
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.markdown.imported import imported_blocks
from kernel.workspace.names import dir_name, escaped_attribute, joined_path
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.workspace.imports.sources import Source
    from kernel.workspace.tree import Node, Tree
    from kernel.workspace.workspace import Workspace

MARKDOWN: Final = (".md", ".markdown")


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    documents: int = 0
    assets: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)  # path, reason


@dataclass(slots=True)
class _Draft:
    """One document to be."""

    source: str  # the file or folder it comes from, relative to the imported one
    tree: Tree
    hpath: str


def is_markdown(path: str) -> bool:
    return path.endswith(MARKDOWN) and f"/{ASSETS}/" not in f"/{path}"


def listed(source: Source) -> list[str]:
    """The files of a source in the order they are imported; hidden ones are left out."""
    shown = (path for path in source.paths() if not any(part.startswith(".") for part in path.split("/")))
    return sorted(shown, key=lambda path: path.split("/"))


def import_folder(workspace: Workspace, box: str, source: Source, folder: str, report: ImportReport) -> Iterator[str]:
    """Import below ``folder`` of a notebook ("" is its top); yields each file as it has been read.

    Raises:
        NotFound: the notebook is not open (any more).
    """
    importing = _Import(workspace, box, source, folder, report)
    yield from importing.read(listed(source))
    workspace.box(box)
    importing.write()


def import_file(workspace: Workspace, box: str, source: Source, name: str, folder: str, report: ImportReport) -> None:
    """Import one Markdown file of a folder, and of the files beside it those it shows."""
    importing = _Import(workspace, box, source, folder, report)
    importing.read_one(name, listed(source))
    workspace.box(box)
    importing.write()


class _Import:
    def __init__(self, workspace: Workspace, box: str, source: Source, folder: str, report: ImportReport) -> None:
        self._workspace = workspace
        self._box = box
        self._source = source
        self._folder = folder.rstrip("/")
        self._report = report
        self._drafts: list[_Draft] = []
        self._places: dict[str, str] = {}  # folder of the source → folder of the notebook
        self._hpaths: dict[str, str] = {}  # folder of the source → its path of titles
        self._assets: dict[str, str] = {}  # file of the source → name among the assets
        self._assets_folder = f"{DATA}/{box}/{ASSETS}"

    # --- reading ---------------------------------------------------------------------------------------------------
    def read(self, paths: list[str]) -> Iterator[str]:
        with_notes = {""}
        for path in paths:
            if is_markdown(path):
                parts = path.split("/")[:-1]
                with_notes |= {"/".join(parts[: end + 1]) for end in range(len(parts))}
        if not any(is_markdown(path) for path in paths):
            with_notes = set()
        self._add_folder("", self._source.name, self._folder, "")
        if not with_notes:
            self._drafts.clear()
        known = set(paths)
        for path in sorted([*paths, *(with_notes - {""})], key=lambda one: one.split("/")):
            if path in with_notes:
                self._enter_folder(path, known)
                continue
            if is_markdown(path):
                self._read_note(path)
            else:
                self._assets[path] = self._asset_name(path)
            yield path
        for draft in self._drafts:
            self._follow(draft)

    def read_one(self, path: str, beside: list[str]) -> None:
        self._places[""], self._hpaths[""] = self._folder, ""
        self._assets = dict.fromkeys((one for one in beside if one != path), "")
        self._read_note(path)
        for draft in self._drafts:
            self._follow(draft)
        self._assets = {one: name for one, name in self._assets.items() if name}

    def _enter_folder(self, path: str, files: set[str]) -> None:
        place, hpath = self._places[dir_of(path)], self._hpaths[dir_of(path)]
        title = posixpath.basename(path)
        note = next((path + suffix for suffix in MARKDOWN if path + suffix in files), None)
        if note is None:
            self._add_folder(path, title, place, hpath)
            return
        # A note of the folder's own name stands for the folder.
        self._read_note(note)
        self._places[path] = self._places.get(note, place)
        self._hpaths[path] = self._hpaths.get(note, hpath)

    def _add_folder(self, path: str, title: str, place: str, hpath: str) -> None:
        root_id = self._workspace.new_id()
        tree = new_tree(self._workspace, self._box, f"{place}/{root_id}.sy", title)
        self._places[path], self._hpaths[path] = f"{place}/{root_id}", f"{hpath}/{title}"
        self._drafts.append(_Draft(path, tree, self._hpaths[path]))

    def _read_note(self, path: str) -> None:
        if path in self._places:
            return  # it stands for the folder of its name, and has been read with it
        place, hpath = self._places[dir_of(path)], self._hpaths[dir_of(path)]
        try:
            text = self._source.read(path).decode("utf-8-sig").replace("\r\n", "\n")
            matter, body = split_front_matter(text, self._workspace.clock.local())
            blocks = imported_blocks(body, context_of(self._workspace), is_plain=True)
        except (OSError, UnicodeDecodeError, MarkdownError, RecursionError) as error:
            self._report.failed.append((path, str(error) or type(error).__name__))
            return
        stem = posixpath.splitext(posixpath.basename(path))[0]
        title = unquote(matter.title or stem)
        fresh = self._workspace.new_id()
        root_id = f"{matter.created}{fresh[14:]}" if matter.created else fresh
        tree = new_tree(self._workspace, self._box, f"{place}/{root_id}.sy", title)
        shown = front_matter_block(matter, self._workspace.new_id())
        _fill(tree.root, [shown, *blocks] if shown else blocks, matter)
        self._places[path], self._hpaths[path] = f"{place}/{root_id}", f"{hpath}/{title}"
        self._drafts.append(_Draft(path, tree, self._hpaths[path]))

    def _asset_name(self, path: str) -> str:
        return with_id(upload_name(posixpath.basename(path)), self._workspace.new_id())

    # --- links -----------------------------------------------------------------------------------------------------
    def _follow(self, draft: _Draft) -> None:
        follow_links(draft.tree.root, draft.hpath, self._targets(), lambda link: self._asset_of(draft.source, link))

    def _targets(self) -> LinkTargets:
        if self._known_targets is None:
            self._known_targets = LinkTargets.of((draft.hpath, draft.tree.root) for draft in self._drafts)
        return self._known_targets

    _known_targets: LinkTargets | None = None

    def _asset_of(self, note: str, link: str) -> str:
        """The asset a relative link of a note means; as in the kernel only one beside or below the note."""
        path = posixpath.normpath(posixpath.join(dir_of(note), link))
        folder = dir_of(note)
        if path not in self._assets or (folder and not path.startswith(f"{folder}/")):
            return ""
        if not self._assets[path]:
            self._assets[path] = self._asset_name(path)
        return f"{ASSETS}/{self._assets[path]}"

    # --- writing ---------------------------------------------------------------------------------------------------
    def write(self) -> None:
        workspace = self._workspace
        for path, name in self._assets.items():
            try:
                workspace.files.write(f"{self._assets_folder}/{name}", self._source.read(path))
                self._report.assets += 1
            except OSError as error:
                self._report.failed.append((path, str(error)))
        for draft in sorted(self._drafts, key=lambda one: one.tree.path.count("/")):
            workspace.add(draft.tree)
            self._report.documents += 1
        self._sort()

    def _sort(self) -> None:
        values = read_sort(self._workspace, self._box)
        counts: dict[str, int] = {}
        for draft in sorted(self._drafts, key=lambda one: one.hpath):
            parent = dir_name(draft.tree.path)
            if parent != (self._folder or "/"):
                values[draft.tree.id] = counts.get(parent, 0)
                counts[parent] = counts.get(parent, 0) + 1
        write_sort(self._workspace, self._box, values)


def dir_of(path: str) -> str:
    return posixpath.dirname(path)


def _fill(root: Node, blocks: list[Node], matter: FrontMatter) -> None:
    if blocks:
        for child in list(root.children):
            child.detach()
        for block in blocks:
            root.append(block)
    for name, value in {"tags": matter.tags, "updated": matter.updated, **matter.attributes}.items():
        if value:
            root.properties[name] = value if name == "updated" else escaped_attribute(value)


def target_folder(workspace: Workspace, box: str, to_path: str) -> str | None:
    """The folder of a notebook that ``toPath`` names: ``/``, or a document's. None for an unknown document."""
    if to_path in ("", "/") or to_path == f"/{box}.sy":
        return ""
    entry = workspace.blocks.at_path(box, joined_path("/", to_path))
    return entry.path.removesuffix(".sy") if entry is not None else None
