"""[core] What there is in a vault, counted before anything is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.imports.vault.files import VaultFiles, VaultRefusal, listed
from kernel.workspace.imports.vault.plan import Heading, Note, Plan, is_note, path_key, planned
from kernel.workspace.imports.vault.scan import BLOCK_NAME, Scan, WikiLink, scanned
from kernel.workspace.imports.vault.targets import Target, leads_out, link_target, wiki_target
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.render.inlines import plain_text

if TYPE_CHECKING:
    from kernel.workspace.imports.vault.files import Listing, VaultFile
    from kernel.workspace.tree import Node

_LEVELS: Final = 6
# How far an analysis has come, in percent: the files are listed, the documents planned, all notes read.
_LISTED: Final = 20
_PLANNED: Final = 35
_READING: Final = 30
NO_NOTES: Final = "no-notes"
UNREADABLE: Final = "unreadable"


@dataclass(slots=True)
class Counts:
    """What the links and texts of a vault hold."""

    links: int = 0
    embeds: int = 0
    names: int = 0
    footnotes: int = 0
    comments: int = 0
    missing: int = 0
    ambiguous: int = 0
    unsupported: int = 0


@dataclass(slots=True)
class Analysis:
    """A vault as it was when it was looked at. ``used``: keys of the attachments that a note names."""

    listing: Listing
    plan: Plan
    counts: Counts = field(default_factory=Counts)
    used: set[str] = field(default_factory=set)

    @property
    def unused(self) -> int:
        return len(self.plan.attachments) - len(self.used)

    def shown(self, name: str, path: str) -> dict[str, Any]:
        """As the API tells it."""
        files, counts = self.listing.files, self.counts
        attachments = [files[one.file] for one in self.plan.attachments.values()]
        return {
            "vaultName": name,
            "vaultPath": path,
            "notebookName": name,
            "markdownCount": sum(1 for note in self.plan.notes if note.file),
            "syntheticParentCount": self.plan.folders,
            "nameAdjustmentCount": self.plan.renamed,
            "importableAssetCount": len(attachments),
            "importableAssetSize": sum(file.size for file in attachments),
            "unreferencedFileCount": self.unused,
            "wikiLinkCount": counts.links,
            "embedCount": counts.embeds,
            "blockIDCount": counts.names,
            "footnoteCount": counts.footnotes,
            "commentCount": counts.comments,
            "missingCount": counts.missing,
            "ambiguousCount": counts.ambiguous,
            "unsupportedCount": counts.unsupported,
            "skippedHiddenCount": self.listing.hidden,
            "skippedLinkCount": self.listing.links,
            "skippedSpecialCount": 0,
            "skippedNestedVaultCount": self.listing.vaults,
            "blockingErrors": [],
            "warnings": [],
        }


@dataclass(frozen=True, slots=True)
class _Read:
    """What is kept of a note's text until all headings are known."""

    note: Note
    links: list[WikiLink]
    targets: list[str]


# How a note's Markdown is parsed.
Parse = Callable[[str], "list[Node]"]


def analyzed(files: VaultFiles, parse: Parse, new_id: Callable[[], str]) -> Iterator[Analysis | int]:
    """Look at a vault: how far it has come (percent) again and again, at last the analysis.

    Raises:
        VaultRefusal: there is nothing to import, or something cannot be read.
    """
    listing = listed(files)
    yield _LISTED
    if not any(is_note(path) for path in listing.files):
        raise VaultRefusal(NO_NOTES)
    plan = planned(listing.files, new_id)
    analysis = Analysis(listing, plan)
    yield _PLANNED
    read: list[_Read] = []
    for note in plan.notes:
        if note.file:
            read.append(_read(analysis, note, note_text(files, listing.files[note.file]), parse, new_id))
            yield _PLANNED + len(read) * _READING // sum(1 for one in plan.notes if one.file)
    for one in read:
        _follow(analysis, one)
    yield analysis


def note_text(files: VaultFiles, file: VaultFile) -> str:
    """The text of a note. Raises VaultRefusal: it has changed since it was listed, or is no text."""
    try:
        return files.stable(file).decode()
    except UnicodeDecodeError as error:
        raise VaultRefusal(UNREADABLE) from error


def _read(analysis: Analysis, note: Note, text: str, parse: Parse, new_id: Callable[[], str]) -> _Read:
    scan = scanned(text)
    note.repeated = scan.repeated
    note.block_ids = {name: new_id() for name in scan.names}
    _count(analysis.counts, scan)
    try:
        blocks = parse(text)
    except (MarkdownError, RecursionError) as error:
        raise VaultRefusal(UNREADABLE) from error
    _enter_headings(note, blocks, new_id)
    return _Read(note, scan.links, [link for block in blocks for link in _links(block)])


def _count(counts: Counts, scan: Scan) -> None:
    embeds = sum(link.is_embed for link in scan.links)
    counts.embeds += embeds
    counts.links += len(scan.links) - embeds
    counts.comments += scan.comments
    counts.footnotes += scan.footnotes
    counts.names += len(scan.names)


def _enter_headings(note: Note, blocks: list[Node], new_id: Callable[[], str]) -> None:
    above = [""] * _LEVELS
    for block in blocks:
        for node in block.walk():
            if node.type != "NodeHeading":
                continue
            text = plain_text(node).strip()
            found = BLOCK_NAME.search(text)
            name = found[1] if found else ""
            text = text[: found.start()].strip() if found else text
            if not text:
                continue
            level = int(node.fields.get("HeadingLevel", 1))
            above[level - 1 :] = [text, *[""] * (_LEVELS - level)]
            chain = "#".join(one for one in above if one)
            note.add_heading(Heading(note.block_ids.get(name) or new_id(), text, chain))


def _links(block: Node) -> Iterator[str]:
    for node in block.walk():
        if node.type == "NodeLinkDest":
            yield node.data
        elif node.type == "NodeTextMark" and "a" in str(node.fields.get("TextMarkType", "")).split():
            yield str(node.fields.get("TextMarkAHref", ""))


def _follow(analysis: Analysis, read: _Read) -> None:
    for link in read.links:
        target = wiki_target(analysis.plan, read.note, link.target)
        _enter(analysis, target)
        analysis.counts.unsupported += target.status == "unsupported"
    for written in read.targets:
        target = link_target(analysis.plan, read.note, written)
        _enter(analysis, target)
        analysis.counts.unsupported += target.status == "unsupported" and leads_out(written)


def _enter(analysis: Analysis, target: Target) -> None:
    analysis.counts.ambiguous += target.is_ambiguous
    analysis.counts.missing += target.status == "missing"
    if target.attachment is not None:
        analysis.used.add(path_key(target.attachment.file))
