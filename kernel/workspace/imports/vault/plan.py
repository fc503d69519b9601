"""[core] Which documents a vault becomes: one for each note, and one for each folder without a note of its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.asset_names import raw_extension, upload_name, with_id
from kernel.workspace.names import base_name, clean_path, dir_name, joined_path, without_invisible

NOTE: Final = ".md"
_UNTITLED: Final = "Untitled"


@dataclass(slots=True)
class Heading:
    """A heading of a note: its own text, and the texts of those it stands below, joined with ``#``."""

    id: str
    text: str
    chain: str


@dataclass(slots=True)
class Note:
    """One document to be. ``file`` is its path in the vault, ``""`` where a folder has no note of its name."""

    file: str
    rel: str  # without its extension
    title: str
    id: str
    path: str = ""
    hpath: str = ""
    headings: list[Heading] = field(default_factory=list)
    by_text: dict[str, list[str]] = field(default_factory=dict)
    by_chain: dict[str, list[str]] = field(default_factory=dict)
    block_ids: dict[str, str] = field(default_factory=dict)  # name of a block → id
    repeated: set[str] = field(default_factory=set)

    def add_heading(self, heading: Heading) -> None:
        self.headings.append(heading)
        self.by_text.setdefault(heading.text.lower(), []).append(heading.id)
        self.by_chain.setdefault(heading.chain.lower(), []).append(heading.id)


@dataclass(slots=True)
class Attachment:
    """Another file of the vault, and the name among the assets that it gets."""

    file: str
    name: str


@dataclass(slots=True)
class Plan:
    """A vault's documents and attachments, and how they are found."""

    notes: list[Note] = field(default_factory=list)
    by_rel: dict[str, Note] = field(default_factory=dict)
    by_base: dict[str, list[Note]] = field(default_factory=dict)
    attachments: dict[str, Attachment] = field(default_factory=dict)
    attachments_by_base: dict[str, list[Attachment]] = field(default_factory=dict)
    renamed: int = 0
    folders: int = 0


def path_key(path: str) -> str:
    """Paths of a vault are compared without regard to case."""
    cleaned = clean_path(path.removeprefix("/"))
    return "" if cleaned == "." else cleaned.lower()


def is_note(path: str) -> bool:
    return raw_extension(path).lower() == NOTE


def shown_title(title: str) -> str:
    """A title without what is invisible."""
    return without_invisible(title).strip() or _UNTITLED


def planned(files: Iterable[str], new_id: Callable[[], str]) -> Plan:
    """The documents and attachments that the files of a vault become."""
    plan = Plan()
    for file in sorted(files, key=str.lower):
        if is_note(file):
            _add_note(plan, file, new_id())
            continue
        name = with_id(upload_name(base_name(file)), new_id())
        attachment = plan.attachments[path_key(file)] = Attachment(file, name)
        plan.attachments_by_base.setdefault(base_name(file).lower(), []).append(attachment)
    _Places(plan, new_id).assign()
    plan.notes.sort(key=lambda note: note.rel.lower())
    return plan


def _add_note(plan: Plan, file: str, note_id: str) -> None:
    rel = file.removesuffix(raw_extension(file))
    note = Note(file, rel, shown_title(base_name(rel)), note_id)
    plan.notes.append(note)
    plan.by_rel[path_key(rel)] = note
    plan.by_base.setdefault(base_name(rel).lower(), []).append(note)


def folder_of(rel: str) -> str:
    """The folder of a path in the vault, ``""`` at its top."""
    folder = dir_name(rel)
    return "" if folder == "." else folder


class _Places:
    """Gives every document its place, and a title of its own among its neighbours."""

    def __init__(self, plan: Plan, new_id: Callable[[], str]) -> None:
        self._plan = plan
        self._new_id = new_id
        self._uses: dict[tuple[str, str], int] = {}
        self._folders = {""}
        self._inner: dict[str, list[str]] = {}  # folder → the folders in it
        self._owners: dict[str, Note] = {}  # key of a folder → the document that stands for it

    def assign(self) -> None:
        for note in self._plan.notes:
            self._enter(folder_of(note.rel))
        folders = sorted(self._folders - {""}, key=lambda one: (one.count("/"), one.lower(), one))
        for folder in folders:
            if path_key(folder) not in self._owners:
                self._owners[path_key(folder)] = self._plan.by_rel.get(path_key(folder)) or self._add_owner(folder)
        direct = self._direct_notes()
        waiting = [("", "/", "/")]
        while waiting:
            folder, place, hpath = waiting.pop()
            if folder:
                owner = self._owners[path_key(folder)]
                if not owner.path:  # two folders may differ by case only: one document stands for both
                    self._put(owner, place, hpath)
                place, hpath = joined_path(place, owner.id), owner.hpath
            for note in direct.get(folder, ()):
                self._put(note, place, hpath)
            below = sorted(self._inner.get(folder, ()), key=str.lower, reverse=True)
            waiting += [(inner, place, hpath) for inner in below]

    def _enter(self, folder: str) -> None:
        while folder not in self._folders:
            self._folders.add(folder)
            self._inner.setdefault(folder_of(folder), []).append(folder)
            folder = folder_of(folder)

    def _add_owner(self, folder: str) -> Note:
        note = Note("", folder, shown_title(base_name(folder)), self._new_id())
        self._plan.notes.append(note)
        self._plan.folders += 1
        return note

    def _direct_notes(self) -> dict[str, list[Note]]:
        """The notes of each folder that stand for no folder themselves."""
        direct: dict[str, list[Note]] = {}
        for note in self._plan.notes:
            is_owner = note.rel in self._folders and self._owners.get(path_key(note.rel)) is note
            if note.file and not is_owner:
                direct.setdefault(folder_of(note.rel), []).append(note)
        return direct

    def _put(self, note: Note, place: str, hpath: str) -> None:
        count = self._uses[place.lower(), note.title.lower()] = (
            self._uses.get((place.lower(), note.title.lower()), 0) + 1
        )
        if count > 1:
            self._plan.renamed += 1
            note.title = f"{note.title} ({count})"
        note.path = joined_path(place, f"{note.id}.sy")
        note.hpath = joined_path(hpath, note.title)
