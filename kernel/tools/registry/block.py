"""[core] The rows of tool ``block``. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import ADDITIVE, MANIFEST, READ, STATE, STRUCTURE
from kernel.tools.registry.fs import EDITS, edit_is_given
from kernel.tools.registry.model import Problem, ToolTable
from kernel.tools.registry.rules import any_of, given, one_form, single_or_batch
from kernel.tools.registry.signature import record_of

_ANCHORS: Final = ("nextID", "previousID", "parentID")
_INSERTED: Final = "dataType* markdown|dom; data* text; nextID text; previousID text; parentID text"


def _every_block_of_a_batch_has_an_anchor(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    if any(given(arguments, name) for name in _ANCHORS):
        return
    for index, block in enumerate(arguments.get("blocks") or []):
        if not any(given(block, name) for name in _ANCHORS):
            yield Problem(f"blocks[{index}].previousID", "Say where: nextID, previousID or parentID.")


def _table() -> ToolTable:
    block = ToolTable(
        "block",
        "SiYuan Blocks",
        "Read and change single blocks: insert, update, replace, move, delete, attributes, Kramdown.",
        "In Markdown, ((id 'anchor')) is a reference and #tag# a tag; a naked ((id)) gets its anchor from the target.",
        "Updating a block replaces its content; its attributes are kept.",
    )
    block.named["edit"] = EDITS
    block.named["insert"] = record_of(_INSERTED)
    block.named["item"] = record_of("id* text; dataType* markdown|dom; data* text")
    _add_writes(block)
    _add_structure(block)
    _add_reads(block)
    return block


def _add_writes(block: ToolTable) -> None:
    block.add(
        "insert",
        ADDITIVE,
        "Insert blocks beside or below others.",
        "dataType markdown|dom; data text; nextID text; previousID text; parentID text; blocks [@insert]+",
        tier="basic",
        rules=(
            single_or_batch("blocks", ("dataType", "data"), ("dataType", "data")),
            _every_block_of_a_batch_has_an_anchor,
        ),
        call_form="dataType+data+(nextID | previousID | parentID) | blocks",
        notes=("An anchor inside a batch item overrides the one at top level.",),
    )
    for name, words in (("prepend", "first"), ("append", "last")):
        block.add(
            name,
            ADDITIVE,
            f"Add a block as the {words} child of a document or container block.",
            "dataType* markdown|dom; data* text; parentID* text",
            tier="basic",
        )
    block.add(
        "update",
        STATE,
        "Replace the content of one block, or of several at once.",
        "id text; dataType markdown|dom; data text; items [@item]+",
        tier="basic",
        rules=(single_or_batch("items", ("id", "dataType", "data"), ("id", "dataType", "data")),),
        call_form="id+dataType+data | items",
    )
    block.add(
        "replace",
        STATE,
        "Replace exact text inside one block.",
        "id* text; edit @edit; ~old any; ~new any; ~replace_all bool",
        tier="basic",
        eager_rules=(edit_is_given,),
        call_form="id, edit",
    )
    block.add("delete", STATE, "Delete a block with its children.", "id* text", is_dangerous=True, is_on=False)


def _add_structure(block: ToolTable) -> None:
    block.add(
        "move",
        STRUCTURE,
        "Move blocks; several keep the order of ids.",
        "id text; ids [text]+; previousID text; parentID text",
        is_dangerous=True,
        rules=(
            one_form(("id",), ("ids",), path="id", message="Give exactly one of id and ids."),
            any_of("previousID", "parentID"),
        ),
        call_form="id | ids, previousID | parentID",
    )
    block.add("set_fold_state", STATE, "Fold or unfold a block.", "id* text; folded* bool")
    block.add("get_kramdown", READ, "Read a block's Kramdown with attributes.", "id* text", tier="basic")
    block.add(
        "batch_kramdown",
        READ,
        "Read the Kramdown of up to 20 blocks; each answers for itself.",
        'ids* [text+] 1..20; mode md|textmark = "md"',
        tier="basic",
    )
    block.add(
        "get_children",
        READ,
        "List a block's direct children.",
        "id* text; page int 1.. = 1; pageSize int 1..200 = 50",
        tier="basic",
    )
    block.add(
        "transfer_references",
        MANIFEST,
        "Let references point to another block.",
        "fromID* text; toID* text; refIDs [text]",
    )
    block.add("set_attrs", STATE, "Set a block's attributes.", "id* text; attrs* strings")


def _add_reads(block: ToolTable) -> None:
    block.add("get_attrs", READ, "Read a block's attributes.", "id* text", tier="basic")
    block.add("info", READ, "Say which document and notebook a block is in.", "id* text", tier="basic")
    block.add("breadcrumb", READ, "List a block's ancestors.", "id* text; excludeTypes [text]")
    block.add("dom", READ, "Read a block's editor DOM.", "id* text")
    block.add("recent_updated", READ, "List the blocks that changed last, by document.", "count number")
    block.add("word_count", READ, "Count words, links and blocks.", "ids* [text]; ~id text", aliases={"id": "ids"})
    block.add(
        "add_to_daily_note",
        ADDITIVE,
        "Add a block to today's daily note.",
        "notebook* text; dataType* markdown|dom; data* text; position* append|prepend",
    )
    block.add(
        "docs_info",
        READ,
        "Read the properties of documents.",
        "id text; ids [text]+; refCount bool = false; av bool = false",
        rules=(one_form(("id",), ("ids",), path="ids", message="Give exactly one of id and ids."),),
        call_form="id | ids",
    )


TOOL: Final = _table().done()
