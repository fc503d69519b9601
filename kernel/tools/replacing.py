"""Replacing exact text inside blocks: which edits hit which blocks, as a plan. The plan is pure; reading is not.

Text is matched in the Markdown of one text block at a time (a paragraph inside a list is one). Containers are opened;
blocks that Markdown cannot carry are skipped and named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.tools.block_texts import with_texts
from kernel.tools.context import ToolContext
from kernel.tools.failures import refusal
from kernel.tools.windows import COMPLEX_TYPES

# A line of a list: its marker, and what follows.
_ITEM: Final = re.compile(r"(\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?)(.*)")
_CONTAINERS: Final = frozenset({"l", "i", "b", "callout"})


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement, as asked."""

    old: str
    new: str
    replaces_all: bool


@dataclass(slots=True)
class TextBlock:
    """One block whose text can be edited."""

    id: str
    markdown: str
    in_list: bool = False


@dataclass(slots=True)
class Candidates:
    """The text blocks of a target in tree order, and the complex ones that were left out."""

    blocks: list[TextBlock] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Plan:
    """What to write: the changed blocks, and a count per edit."""

    changed: list[TextBlock]
    replacements: list[dict[str, Any]]


def edits_of(arguments: Mapping[str, Any]) -> list[Edit]:
    """The edits of one call, or of the shorthand at top level.

    Raises:
        ToolError: both forms at once, or an empty ``old``.
    """
    edit = arguments.get("edit")
    shorthand = arguments.get("old")
    if edit is not None and shorthand is not None:
        raise refusal("Give either edit or old/new, not both.", "invalid_arguments")
    if edit is None:
        edit = {name: arguments[name] for name in ("old", "new", "replace_all") if arguments.get(name) is not None}
    edits = []
    for one in edit if isinstance(edit, list) else [edit]:
        old, new = one.get("old"), one.get("new")
        if not isinstance(old, str) or not isinstance(new, str) or not old:
            raise refusal("An edit needs a non-empty old and a new text.", "invalid_arguments")
        edits.append(Edit(old, new, one.get("replace_all") is True))
    return edits


def plan(action: str, blocks: Sequence[TextBlock], edits: Sequence[Edit]) -> Plan:
    """Apply the edits in order, each to the result of the ones before.

    Raises:
        ToolError: an edit that matches nothing; then nothing at all is changed.
    """
    texts = [block.markdown for block in blocks]
    replacements = []
    for number, edit in enumerate(edits, 1):
        count = 0
        for index, text in enumerate(texts):
            if count and not edit.replaces_all:
                break
            meant = _inside_item(edit) if blocks[index].in_list else edit
            hits = text.count(meant.old)
            hits = hits if edit.replaces_all else min(hits, 1)
            texts[index] = text.replace(meant.old, meant.new, hits)
            count += hits
        if not count:
            raise refusal(
                f"{action} edit #{number} did not match any text.",
                "no_match",
                hint="Read the text again and copy it exactly; a match cannot span several blocks.",
            )
        replacements.append({"index": number, "replaced": count, "replace_all": edit.replaces_all})
    changed = [
        TextBlock(block.id, text, block.in_list)
        for block, text in zip(blocks, texts, strict=True)
        if text != block.markdown
    ]
    return Plan(changed, replacements)


def _inside_item(edit: Edit) -> Edit:
    """An edit of one whole line of a list, marker and all, as an edit of the item's own text."""
    old, new = _ITEM.fullmatch(edit.old), _ITEM.fullmatch(edit.new)
    if old is None or not old[2] or "\n" in edit.new or (new is not None and new[1] != old[1]):
        return edit
    return Edit(old[2], new[2] if new else edit.new, edit.replaces_all)


async def candidates(context: ToolContext, children: Sequence[Mapping[str, Any]]) -> Candidates:
    """The text blocks at and below ``children``, in tree order."""
    found = Candidates()
    texts: list[tuple[Mapping[str, Any], bool]] = []
    # A stack instead of recursion: lists may be nested deeper than Python likes.
    waiting = [(child, False) for child in reversed(children)]
    while waiting:
        block, in_list = waiting.pop()
        kind, block_id = str(block.get("type")), str(block.get("id"))
        if kind in COMPLEX_TYPES:
            found.skipped.append({"id": block_id, "type": kind})
        elif kind in _CONTAINERS:
            below = await context.call("/api/block/getChildBlocks", id=block_id) or []
            waiting.extend((child, in_list or kind in ("l", "i")) for child in reversed(below))
        else:
            context.progress.found("Looked through the blocks")
            texts.append((block, in_list))
    rows = await with_texts(context, [block for block, _ in texts])
    found.blocks = [
        TextBlock(row["id"], row["markdown"], in_list) for row, (_, in_list) in zip(rows, texts, strict=True)
    ]
    return found
