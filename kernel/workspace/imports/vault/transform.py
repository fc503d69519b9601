"""[core] The text of an Obsidian note as Markdown of the notes: references, queries, named blocks, footnote lists."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.asset_names import IMAGE_EXTENSIONS, raw_extension
from kernel.workspace.imports.vault.plan import Note, Plan
from kernel.workspace.imports.vault.scan import BLOCK_NAME, WikiLink, scanned
from kernel.workspace.imports.vault.targets import Target, unescaped, wiki_target
from kernel.workspace.names import base_name

_SIDE_PX_MAX: Final = 10_000
_SIZE: Final = re.compile(r"\+?(\d{1,9})(?:x\+?(\d{1,9}))?")
_QUOTE: Final = re.compile(r"((?:[ \t]*>[ \t]?)+)(.*)")
_ITEM: Final = re.compile(r"([ \t]*(?:[-+*]|\d+[.)])[ \t]+)(.*)")
_DEFINITION: Final = re.compile(r"^\[\^([^\]\r\n]+)\]:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"\[\^([^\]\r\n]+)\]")

Replacement = tuple[int, int, str]


@dataclass(slots=True)
class Converted:
    """A note's new text, and what was done to it."""

    text: str = ""
    links: int = 0
    embeds: int = 0
    footnotes: int = 0
    comments: int = 0
    footnote_ids: set[str] = field(default_factory=set)


def converted(plan: Plan, note: Note, text: str, new_id: Callable[[], str]) -> Converted:
    """Put blocks of the notes in the place of what a note names."""
    done = Converted()
    scan = scanned(text)
    done.comments = scan.comments
    replacements: list[Replacement] = []
    for link in scan.links:
        target = wiki_target(plan, note, link.target)
        if target.status == "resolved":
            replacements.append((link.start, link.end, _shown(link, target, done)))
    text = _replaced(text, replacements)
    text = _with_footnotes(text, done, new_id)
    done.text = _with_names(text, note)
    return done


def is_image(path: str) -> bool:
    return raw_extension(path).lower() in IMAGE_EXTENSIONS


def _replaced(text: str, replacements: Iterable[Replacement]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(replacements):
        pieces += (text[at:start], new)
        at = end
    return "".join((*pieces, text[at:]))


# --- links -----------------------------------------------------------------------------------------------------------
def _shown(link: WikiLink, target: Target, done: Converted) -> str:
    if target.note is not None and link.is_embed:
        done.embeds += 1
        return f"\n\n{{{{SELECT * FROM blocks WHERE id = '{target.block_id}'}}}}\n\n"
    done.links += 1
    if target.note is not None:
        anchor = _escaped(link.alias or _anchor(link, target.note), '"' if link.alias else "'")
        return f"(({target.block_id} {anchor}))"
    assert target.attachment is not None, "what is resolved is a note or an attachment"
    name, path = base_name(target.attachment.file), f"assets/{target.attachment.name}"
    if link.is_embed and is_image(name):
        return f"![{_bracketed(name)}]({path}){_size(link.alias)}"
    return f"[{_bracketed(link.alias or name)}]({path})"


def _anchor(link: WikiLink, note: Note) -> str:
    """The text of a reference without an alias: the heading it names, or else the document."""
    target = unescaped(link.target)
    path, _, fragment = (link.target if target is None else target).replace("\\", "/").partition("#")
    fragment = fragment.strip()
    heading = "" if fragment.startswith("^") else fragment.rpartition("#")[2].strip()
    path = path.strip()
    name = base_name(path.removesuffix(raw_extension(path))) if path else ""
    return heading or (name if name not in (".", "/") else "") or note.title


def _escaped(text: str, quote: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"


def _bracketed(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _size(alias: str) -> str:
    """The style of ``![[picture|100x50]]``."""
    found = _SIZE.fullmatch(alias.lower())
    sides = [int(side) for side in found.groups() if side] if found else []
    if not sides or not all(0 < side <= _SIDE_PX_MAX for side in sides):
        return ""
    style = " ".join(f"{name}: {side}px;" for name, side in zip(("width", "height"), sides, strict=False))
    return f'{{: style="{style}"}}'


# --- footnotes -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Definition:
    label: str
    text: str
    start: int
    end: int
    id: str


def _with_footnotes(text: str, done: Converted, new_id: Callable[[], str]) -> str:
    """Notes below the text become an ordered list at its end, each marker a reference to its item."""
    shown = scanned(text).shown
    every = [
        _Definition(text[slice(*one.span(1))], text[slice(*one.span(2))], one.start(), one.end(), new_id())
        for one in _DEFINITION.finditer(shown)
    ]
    counts = Counter(one.label for one in every)
    single = {one.label: one for one in every if counts[one.label] == 1}
    if not single:
        return text
    marks = [one for one in _FOOTNOTE.finditer(shown) if not _is_inside(one, every)]
    named = [(one.start(), one.end(), text[slice(*one.span(1))]) for one in marks]
    order = [label for label in dict.fromkeys([*(label for _, _, label in named), *counts]) if label in single]
    numbers = {label: number for number, label in enumerate(order, 1)}
    replacements = [(one.start, one.end, "") for one in single.values()]
    for start, end, label in named:
        if label in single:
            replacements.append((start, end, f'(({single[label].id} "[{numbers[label]}]"))'))
    done.footnotes += len(order)
    done.footnote_ids |= {one.id for one in single.values()}
    items = (f'{numbers[label]}. {single[label].text}\n   {{: id="{single[label].id}"}}\n' for label in order)
    return _replaced(text, replacements).rstrip("\r\n") + "\n\n" + "".join(items)


def _is_inside(mark: re.Match[str], definitions: list[_Definition]) -> bool:
    before = bisect_right(definitions, mark.start(), key=lambda one: one.start)
    return before > 0 and mark.end() <= definitions[before - 1].end


# --- named blocks ----------------------------------------------------------------------------------------------------
def _with_names(text: str, note: Note) -> str:
    """``^name`` at the end of a block becomes the block's id; of a name that is there twice, the first."""
    if not note.block_ids:
        return text
    replacements: list[Replacement] = []
    seen: set[str] = set()
    for found in BLOCK_NAME.finditer(scanned(text).shown):
        name = text[slice(*found.span(1))]
        is_again = name in note.repeated and name in seen
        seen.add(name)
        if name in note.block_ids and not is_again:
            replacements.append(_named(text, found, f'{{: id="{note.block_ids[name]}"}}'))
    return _replaced(text, replacements)


def _named(text: str, found: re.Match[str], attributes: str) -> Replacement:
    start = text.rfind("\n", 0, found.start()) + 1
    line = text[start : found.start()].rstrip(" \t")
    quote = _QUOTE.fullmatch(line)
    prefix, rest = (quote[1], quote[2]) if quote else ("", line)
    item = _ITEM.fullmatch(rest)
    if item:
        return start, found.end(), f"{prefix}{item[1]}{attributes}{item[2]}"
    return found.start(), found.end(), f"\n{prefix}{attributes}"
