"""[core] A vault becomes a notebook: its notes are read again as they were analysed, and all is written in one go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernel.workspace.assets import ASSETS
from kernel.workspace.boxes import create_box, list_boxes
from kernel.workspace.doc_tree import write_sort
from kernel.workspace.documents import new_paragraph, new_tree
from kernel.workspace.imports.front_matter import front_matter_block, split_front_matter
from kernel.workspace.imports.vault.analysis import UNREADABLE, note_text
from kernel.workspace.imports.vault.files import CHANGED, TOO_LARGE, VaultRefusal, listed
from kernel.workspace.imports.vault.plan import Note, shown_title
from kernel.workspace.imports.vault.targets import link_target
from kernel.workspace.imports.vault.transform import converted, is_image
from kernel.workspace.intake import context_of
from kernel.workspace.limits import IMPORT_BYTES_MAX
from kernel.workspace.markdown.callouts import ICONS, TITLES
from kernel.workspace.markdown.context import TAG, MarkdownContext, MarkdownError
from kernel.workspace.markdown.imported import imported_blocks
from kernel.workspace.names import dir_name, escaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.notebooks import DATA
from kernel.workspace.tree import Node, Tree

if TYPE_CHECKING:
    from kernel.workspace.imports.vault.analysis import Analysis
    from kernel.workspace.imports.vault.files import VaultFiles
    from kernel.workspace.imports.vault.plan import Plan
    from kernel.workspace.imports.vault.transform import Converted
    from kernel.workspace.workspace import Workspace


@dataclass(slots=True)
class VaultImport:
    """What is on its way into a notebook, and what was done for it."""

    analysis: Analysis
    trees: list[Tree] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)  # name among the assets → content
    links: int = 0
    embeds: int = 0
    footnotes: int = 0
    comments: int = 0

    def shown(self, box: str, name: str) -> dict[str, Any]:
        """What came of it, as the API tells it."""
        plan, counts = self.analysis.plan, self.analysis.counts
        return {
            "notebookID": box,
            "notebookName": name,
            "markdownCount": sum(1 for note in plan.notes if note.file),
            "syntheticParentCount": plan.folders,
            "nameAdjustmentCount": plan.renamed,
            "importedAttachmentCount": len(self.attachments),
            "unreferencedFileCount": self.analysis.unused,
            "convertedLinkCount": self.links,
            "convertedEmbedCount": self.embeds,
            "convertedFootnoteCount": self.footnotes,
            "preservedCommentCount": self.comments,
            "preservedUnresolvedCount": counts.missing + counts.unsupported,
            "skippedPathCount": self.analysis.listing.skipped,
            "incomplete": False,
        }


def markdown_context(workspace: Workspace) -> MarkdownContext:
    """How the notes of a vault are parsed: what they refer to is on its way.

    Superscript always has its marker, tags have no meaning.
    """
    found = context_of(workspace)
    return MarkdownContext(found.new_id, lambda _: True, found.unmarked - {"^"} | {TAG})


def check_unchanged(files: VaultFiles, analysis: Analysis) -> None:
    """Raises VaultRefusal where the vault is not as it was analysed."""
    if listed(files).files != analysis.listing.files:
        raise VaultRefusal(CHANGED)


def staged(workspace: Workspace, files: VaultFiles, importing: VaultImport) -> Iterator[None]:
    """Read and convert everything; yields after each note and each attachment.

    Raises:
        VaultRefusal: a file has changed, a note cannot be parsed, or it is too much at once.
    """
    listing, plan = importing.analysis.listing, importing.analysis.plan
    if sum(file.size for file in listing.files.values()) > IMPORT_BYTES_MAX:
        raise VaultRefusal(TOO_LARGE)
    for note in plan.notes:
        tree = new_tree(workspace, "", note.path, note.title)
        if note.file:
            _fill(workspace, importing, note, tree, note_text(files, listing.files[note.file]))
        importing.trees.append(tree)
        yield
    for attachment in plan.attachments.values():
        importing.attachments[attachment.name] = files.stable(listing.files[attachment.file])
        yield


def written(workspace: Workspace, importing: VaultImport, name: str) -> str:
    """Write a new notebook; its id."""
    box = create_box(workspace, name).id
    for asset, content in importing.attachments.items():
        workspace.files.write(f"{DATA}/{ASSETS}/{asset}", content)
    for tree in sorted(importing.trees, key=lambda one: one.path.count("/")):
        tree.box = box
        workspace.add(tree)
    write_sort(workspace, box, _places(importing.analysis.plan.notes))
    return box


def free_name(workspace: Workspace, wanted: str) -> str:
    """The name of a notebook that no other has, whatever its case."""
    taken = {str(notebook.conf["name"]).lower() for notebook in list_boxes(workspace)}
    base = name = shown_title(wanted)
    number = 1
    while name.lower() in taken:
        number += 1
        name = f"{base} ({number})"
    return name


def _places(notes: list[Note]) -> dict[str, int]:
    counts: dict[str, int] = {}
    places: dict[str, int] = {}
    for note in notes:
        folder = dir_name(note.path)
        places[note.id] = counts.get(folder, 0)
        counts[folder] = counts.get(folder, 0) + 1
    return places


def _fill(workspace: Workspace, importing: VaultImport, note: Note, tree: Tree, text: str) -> None:
    plan = importing.analysis.plan
    done = converted(plan, note, text, workspace.new_id)
    matter, body = split_front_matter(done.text, workspace.clock.local())
    try:
        blocks = imported_blocks(body, markdown_context(workspace))
    except (MarkdownError, RecursionError) as error:
        raise VaultRefusal(UNREADABLE) from error
    for child in list(tree.root.children):
        child.detach()
    shown = front_matter_block(matter, workspace.new_id())
    if shown is not None:
        tree.root.append(shown)
    for block in blocks or [new_paragraph(workspace.new_id())]:
        tree.root.append(block)
    if matter.tags:
        tree.root.properties["tags"] = escaped_attribute(matter.tags)
    importing.links += done.links + _follow_links(plan, note, tree.root)
    importing.embeds += done.embeds
    importing.footnotes += done.footnotes
    importing.comments += done.comments
    _complete_callouts(tree.root)
    _raise_footnotes(tree.root, done)
    _name_blocks(workspace, note, done, tree.root)


def _follow_links(plan: Plan, note: Note, root: Node) -> int:
    """Lead links and images to documents and assets; how many."""
    count = 0
    for node in list(root.walk()):
        if node.type == "NodeImage":
            count += _follow_image(plan, note, node)
        elif node.type == "NodeTextMark" and "a" in _kinds(node):
            count += _follow_mark(plan, note, node)
    return count


def _follow_image(plan: Plan, note: Note, node: Node) -> bool:
    destination = next((child for child in node.children if child.type == "NodeLinkDest"), None)
    target = link_target(plan, note, destination.data) if destination is not None else None
    if destination is None or target is None or target.attachment is None:
        return False
    destination.data = f"assets/{target.attachment.name}"
    if not is_image(target.attachment.file):
        text = "".join(child.data for child in node.children if child.type == "NodeLinkText")
        fields = {"TextMarkType": "a", "TextMarkAHref": destination.data, "TextMarkTextContent": text}
        node.insert_before(Node("NodeTextMark", fields=fields))
        node.detach()
    return True


def _follow_mark(plan: Plan, note: Note, node: Node) -> bool:
    target = link_target(plan, note, str(node.fields.get("TextMarkAHref", "")))
    if target.attachment is not None:
        node.fields["TextMarkAHref"] = f"assets/{target.attachment.name}"
    elif target.note is not None:
        node.fields["TextMarkType"] = " ".join("block-ref" if kind == "a" else kind for kind in _kinds(node))
        node.fields["TextMarkBlockRefID"] = target.block_id
        node.fields["TextMarkBlockRefSubtype"] = "s"
        node.fields["TextMarkAHref"] = ""
    return target.status == "resolved"


def _kinds(node: Node) -> list[str]:
    return str(node.fields.get("TextMarkType", "")).split()


def _complete_callouts(root: Node) -> None:
    """Callouts of the kinds that have an icon and a title of their own, however they are written there."""
    for node in root.walk():
        kind = str(node.fields.get("CalloutType", "")).upper()
        if kind in ICONS:
            node.fields["CalloutType"] = kind
            node.fields["CalloutIcon"] = node.fields.get("CalloutIcon") or ICONS[kind]
            node.fields["CalloutTitle"] = node.fields.get("CalloutTitle") or TITLES[kind]


def _raise_footnotes(root: Node, done: Converted) -> None:
    for node in root.walk():
        if node.fields.get("TextMarkBlockRefID") in done.footnote_ids:
            node.fields["TextMarkType"] = f"{node.fields['TextMarkType']} sup"


def _name_blocks(workspace: Workspace, note: Note, done: Converted, root: Node) -> None:
    """Headings and named blocks get the ids that links lead to, all others fresh ones."""
    reserved = {*(heading.id for heading in note.headings), *note.block_ids.values(), *done.footnote_ids}
    headings = iter(note.headings)
    seen: set[str] = set()
    for node in root.walk():
        if node is root or node.type not in BLOCK_TYPES:
            continue
        heading = next(headings, None) if node.type == "NodeHeading" else None
        if heading is not None and heading.id not in seen:
            node.id = heading.id
        elif node.id not in reserved or node.id in seen:
            node.id = workspace.new_id()
        seen.add(node.id)
        node.properties["id"] = node.id
        node.properties["updated"] = node.id[:14]
