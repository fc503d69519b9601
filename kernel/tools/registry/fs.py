"""[core] The rows of tool ``fs``: notes as files under human-readable paths. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import ADDITIVE_UNLESS_OVERWRITE, MANIFEST, READ, STATE, STRUCTURE
from kernel.tools.registry.model import Problem, ToolTable
from kernel.tools.registry.rules import refuses
from kernel.tools.registry.signature import Schema, record_of

# Replacements, shared with block.replace.
EDIT: Final[Schema] = record_of("old* text+; new* text; replace_all bool")
EDITS: Final[Schema] = {"anyOf": [EDIT, {"type": "array", "items": EDIT, "minItems": 1}]}

# A window over a document's Markdown, shared with document.get_doc.
WINDOW: Final = "blockStart int 0.. ; blockLimit int 1..200; tokenBudget int 1..32000; includeBlockIds bool"
NO_PAGES: Final = "Paging by characters is gone: use blockStart, blockLimit and tokenBudget."
NO_PAGE_RULES: Final = (refuses("page", NO_PAGES), refuses("pageSize", NO_PAGES))


def edit_is_given(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    """``edit``, or the older shorthand of ``old``/``new`` at top level."""
    if arguments.get("edit") is None and arguments.get("old") is None:
        yield Problem("edit", "Required: {old, new, replace_all?}, or a list of them.")


def _table() -> ToolTable:
    fs = ToolTable(
        "fs",
        "SiYuan Filesystem",
        "Read and write notes as files: /Notebook/Document/Child, without ids.",
        "A path is /Notebook name/Document title/…; the first segment may be left out where the rest is unambiguous.",
        "/AGENTS.md (memory of agents, writable) and /USER_RULES.md (rules of the user, read-only) are virtual files.",
    )
    fs.named["edit"] = EDITS
    _add_reads(fs)
    _add_writes(fs)
    _add_order(fs)
    return fs


def _add_reads(fs: ToolTable) -> None:
    basic: dict[str, Any] = {"tier": "basic"}
    fs.add("ls", READ, "List the notebooks, or the documents directly below a path.", "path* text", **basic)
    fs.add(
        "tree", READ, "Show the documents below a path as a tree.", "path* text; maxDepth int 0..20 = 3", tier="basic"
    )
    fs.add(
        "read",
        READ,
        "Read a document's Markdown, a window of blocks at a time.",
        f"path* text; {WINDOW}",
        tier="basic",
        eager_rules=NO_PAGE_RULES,
        keeps_unknown=True,
        notes=(
            "The first block is always given, even above tokenBudget.",
            "Follow nextWindow until hasNextWindow is false.",
        ),
    )


def _add_writes(fs: ToolTable) -> None:
    fs.add(
        "write",
        ADDITIVE_UNLESS_OVERWRITE,
        "Create a document from Markdown, or replace its whole text with overwrite:true.",
        "path* text; markdown* text; overwrite bool",
        tier="basic",
        notes=("The parent must exist. A first heading equal to the title is left out.",),
    )
    fs.add(
        "replace",
        MANIFEST,
        "Replace exact text inside a document's blocks.",
        "path* text; edit @edit; ~old any; ~new any; ~replace_all bool",
        tier="basic",
        eager_rules=(edit_is_given,),
        call_form="path, edit",
    )
    fs.add("rm", STATE, "Remove a document and everything below it.", "path* text", is_dangerous=True)
    fs.add("mv", STRUCTURE, "Move or rename a document.", "from* text; to* text", is_dangerous=True)


def _add_order(fs: ToolTable) -> None:
    fs.add(
        "reorder",
        STRUCTURE,
        "Put the documents below a path into a new order.",
        "path* text; orderedPaths* [text]+",
        tier="basic",
        notes=("orderedPaths names every direct child exactly once.",),
    )
    fs.add(
        "search",
        READ,
        "Find lines of text below a path.",
        "path* text; query* text; regex bool = false; caseSensitive bool = false; page int 1.. = 1; "
        "pageSize int 1..200 = 50",
        tier="basic",
    )


TOOL: Final = _table().done()
