"""[core] Where the links of an Obsidian note lead: to a document, a block of one, or an attachment."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import unquote

from kernel.workspace.asset_names import raw_extension
from kernel.workspace.imports.vault.plan import NOTE, Attachment, Note, Plan, folder_of, path_key
from kernel.workspace.names import clean_path, joined_path

Status = Literal["resolved", "missing", "unsupported"]
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FOREIGN: Final = ("data:", "mailto:", "file:", "obsidian:")
_OUTSIDE: Final = ("/", "../")


@dataclass(frozen=True, slots=True)
class Target:
    """What a link means. ``is_ambiguous``: it might mean others too, and means the first of them."""

    status: Status
    note: Note | None = None
    attachment: Attachment | None = None
    block_id: str = ""
    is_ambiguous: bool = False


_MISSING: Final = Target("missing")
_UNSUPPORTED: Final = Target("unsupported")


def unescaped(text: str) -> str | None:
    """``text`` without its ``%20`` and the like; None where one is malformed."""
    return None if _BAD_ESCAPE.search(text) else unquote(text)


def wiki_target(plan: Plan, note: Note, written: str) -> Target:
    """What ``[[written]]`` in a note means."""
    decoded = unescaped(written.strip())
    if not decoded:
        return _UNSUPPORTED
    path, _, fragment = decoded.replace("\\", "/").partition("#")
    if not path:
        return _in_note(note, fragment)
    suffix = raw_extension(path)
    if suffix and suffix.lower() != NOTE:
        return _attachment(plan, note, path)
    return _note(plan, note, path.removesuffix(suffix), fragment)


def link_target(plan: Plan, note: Note, written: str) -> Target:
    """What ``[text](written)`` in a note means."""
    written = written.strip()
    if written.startswith("#"):
        return _in_note(note, written[1:])
    is_foreign = written.startswith("/") or "://" in written or written.lower().startswith(_FOREIGN)
    decoded = None if is_foreign else unescaped(written)
    if not decoded:
        return _UNSUPPORTED
    path, _, fragment = decoded.replace("\\", "/").partition("#")
    suffix = raw_extension(path)
    if suffix.lower() == NOTE:
        return _note(plan, note, path.removesuffix(suffix), fragment)
    return _attachment(plan, note, path)


def leads_out(written: str) -> bool:
    """Whether an unsupported link names a file outside the vault."""
    written = written.strip().lower()
    if written.startswith(("assets/", *_FOREIGN)) or "://" in written:
        return False
    return written.startswith(_OUTSIDE) or written == ".."


def _in_note(note: Note, fragment: str) -> Target:
    """A heading or a named block of a note; without a fragment the note itself."""
    fragment = fragment.strip()
    if not fragment:
        return Target("resolved", note, block_id=note.id)
    if fragment.startswith("^"):
        block_id = note.block_ids.get(fragment[1:], "")
        is_ambiguous = fragment[1:] in note.repeated
        return Target("resolved", note, block_id=block_id, is_ambiguous=is_ambiguous) if block_id else _MISSING
    ids = note.by_chain.get(fragment.lower()) or note.by_text.get(fragment.lower())
    return Target("resolved", note, block_id=ids[0], is_ambiguous=len(ids) > 1) if ids else _MISSING


def _note(plan: Plan, current: Note, written: str, fragment: str) -> Target:
    name = written.strip().removeprefix("/").strip()
    if not name:
        return _in_note(current, fragment)
    path = _path(current, name)
    if path is None:
        return _UNSUPPORTED
    found = [plan.by_rel[path_key(path)]] if path_key(path) in plan.by_rel else []
    if not found and "/" not in name:
        found = sorted(plan.by_base.get(name.lower(), ()), key=lambda note: note.rel)
    if not found:
        return _MISSING
    target = _in_note(found[0], fragment)
    return replace(target, is_ambiguous=target.is_ambiguous or len(found) > 1)


def _attachment(plan: Plan, current: Note, written: str) -> Target:
    name = written.strip().removeprefix("/").strip()
    path = _path(current, name) if raw_extension(name) else None
    if path is None:
        return _UNSUPPORTED
    found = [plan.attachments[path_key(path)]] if path_key(path) in plan.attachments else []
    if not found and "/" not in name:
        found = sorted(plan.attachments_by_base.get(name.lower(), ()), key=lambda one: one.file)
    return Target("resolved", attachment=found[0], is_ambiguous=len(found) > 1) if found else _MISSING


def _path(current: Note, name: str) -> str | None:
    """The path in the vault that is looked at first; None for one outside."""
    if name.startswith(("./", "../")):
        path = joined_path(folder_of(current.rel), name)
        return None if path == ".." or path.startswith("../") else path
    return clean_path(name) if "/" in name else joined_path(folder_of(current.rel), name)
