"""[core] The rows of tool ``document``. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import ADDITIVE, READ, READ_UNLESS_MODE_CREATE, STATE, STRUCTURE
from kernel.tools.registry.fs import NO_PAGE_RULES, WINDOW
from kernel.tools.registry.model import Problem, ToolTable
from kernel.tools.registry.rules import given, one_form
from kernel.tools.registry.signature import record, record_of

_ONE_OR_TITLE: Final = "Give either path, or parentPath and title."


def _lookup_form(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    """id (its notebook may be named with it) | notebook+path | notebook+hpath."""
    by_id, in_notebook = given(arguments, "id"), given(arguments, "notebook")
    places = [name for name in ("path", "hpath") if given(arguments, name)]
    if by_id and places:
        yield Problem("id", "Give either id, or notebook with path or hpath, not both.")
    elif not by_id and not in_notebook and not places:
        yield Problem("id", "Give id, or notebook with path or hpath.")
        yield Problem("notebook", "Give id, or notebook with path or hpath.")
    elif places and not in_notebook:
        yield Problem("notebook", f"{places[0]} needs its notebook.")
    elif not by_id and not places:
        yield Problem("id", "Give id, or path or hpath with the notebook.")
    elif not by_id and len(places) > 1:
        yield Problem("path", "Give exactly one of path and hpath.")


def _html_takes_no_window(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    if arguments.get("mode") == "html":
        for name in ("blockStart", "blockLimit", "tokenBudget", "includeBlockIds"):
            if name in arguments:
                yield Problem(name, "Only for mode markdown.")


def _names_an_attribute(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    if not arguments["attrs"]:
        yield Problem("attrs", "Give icon, cover or both.")


def _table() -> ToolTable:
    document = ToolTable(
        "document",
        "SiYuan Documents",
        "Make, find, read, rename, move, order and remove documents by id or storage path.",
        "path is a storage path (/20…-abcdefg.sy) except in create, where it is a human-readable one; hpath always is.",
    )
    document.named["cover"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    document.named["attrs"] = record_of("icon text; cover @cover", document.named)
    document.named["include"] = {"type": "string", "enum": ["id", "ids", "path", "hpath", "docInfo"]}
    document.named["target"] = record(
        {
            "key": {"type": "string", "minLength": 1, "maxLength": 256},
            "id": {"type": "string", "minLength": 1},
            "title": {"type": "string", "minLength": 1, "maxLength": 256},
        },
        ("key",),
    )
    _add_life(document)
    _add_places(document)
    _add_reads(document)
    _add_conversions(document)
    return document


def _add_life(document: ToolTable) -> None:
    document.add(
        "create",
        ADDITIVE,
        "Make a document from Markdown.",
        "notebook* text; path text; parentPath text; title text; markdown text; icon text; ~sorts [text]",
        tier="basic",
        rules=(one_form(("path",), ("parentPath", "title"), path="path", message=_ONE_OR_TITLE),),
        call_form="notebook, path | parentPath+title",
        notes=("Missing parents are made. Two documents may have the same title.",),
    )
    document.add(
        "lookup",
        READ,
        "Translate between a document's id, storage path and human-readable path.",
        "id text; notebook text; path text; hpath text; include [@include]; ~hPath text",
        tier="basic",
        rules=(_lookup_form,),
        aliases={"hPath": "hpath"},
        call_form="id | notebook+path | notebook+hpath",
    )
    document.add(
        "ensure_link_targets",
        READ_UNLESS_MODE_CREATE,
        "Find or make the documents that links should point to, below one parent.",
        "notebook* text+; parentId* text+; mode* resolve|reuse|create; targets* [@target] 1..100; markdown text; "
        "dryRun bool",
    )


def _add_places(document: ToolTable) -> None:
    document.add(
        "rename",
        STATE,
        "Rename a document.",
        "title* text; id text; notebook text; path text",
        tier="basic",
        rules=(one_form(("id",), ("notebook", "path")),),
        call_form="title, id | notebook+path",
    )
    document.add(
        "remove",
        STATE,
        "Remove documents with everything below them.",
        "id text; ids [text]+; notebook text; path text; paths [text]+",
        is_dangerous=True,
        is_on=False,
        rules=(one_form(("id",), ("ids",), ("notebook", "path"), ("paths",), ("notebook", "paths")),),
        call_form="id | ids | notebook+path | paths",
    )
    document.add(
        "move",
        STRUCTURE,
        "Move documents below another document or into a notebook.",
        "fromIDs [text]+; toID text; fromPaths [text]+; toNotebook text; toPath text",
        is_dangerous=True,
        rules=(one_form(("fromIDs", "toID"), ("fromPaths", "toNotebook", "toPath")),),
        call_form="fromIDs+toID | fromPaths+toNotebook+toPath",
    )
    document.add(
        "reorder",
        STRUCTURE,
        "Put a document's (or notebook's) children into a new order.",
        "parentID* text; orderedIDs* [text]+",
        notes=("orderedIDs names every visible direct child exactly once.",),
    )


def _add_reads(document: ToolTable) -> None:
    document.add("get_child_blocks", READ, "List a document's direct blocks.", "id* text", tier="basic")
    document.add("get_child_docs", READ, "List a document's direct children.", "id* text", tier="basic")
    document.add(
        "set_attr", STATE, "Set a document's icon or cover.", "id* text; attrs* @attrs", rules=(_names_an_attribute,)
    )
    document.add(
        "list_tree",
        READ,
        "Show the documents below a storage path as a tree of ids.",
        "notebook* text; path* text; maxDepth number = 3",
    )
    document.add(
        "search_docs", READ, "Find documents by title.", "notebook* text; query* text; path text", tier="basic"
    )
    document.add(
        "get_doc",
        READ,
        "Read a document as Markdown windows or as HTML.",
        f'id* text; mode markdown|html = "markdown"; size number; {WINDOW}',
        tier="basic",
        eager_rules=NO_PAGE_RULES,
        rules=(_html_takes_no_window,),
        keeps_unknown=True,
    )
    document.add("get_outline", READ, "Read a document's headings.", "id* text; preview bool = false", tier="basic")


def _add_conversions(document: ToolTable) -> None:
    document.add("create_daily_note", ADDITIVE, "Make or find today's daily note.", "notebook* text; app text")
    document.add("duplicate", STATE, "Copy a document beside itself.", "id* text")
    document.add(
        "heading_to_doc",
        STRUCTURE,
        "Turn a heading with its section into a document.",
        "headingID* text; targetNotebook* text; targetPath text; previousPath text",
    )
    document.add(
        "doc_to_heading",
        STRUCTURE,
        "Turn a document into a section of another.",
        "srcID* text; targetID* text; after bool = false",
    )


TOOL: Final = _table().done()
