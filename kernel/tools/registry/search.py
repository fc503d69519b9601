"""[core] The rows of tool ``search``. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import MANIFEST, READ
from kernel.tools.registry.model import Problem, ToolTable
from kernel.tools.registry.rules import any_of

METHODS: Final[dict[str, int]] = {"keyword": 0, "query": 1, "query_syntax": 1, "sql": 2, "regex": 3}
SORTS: Final[dict[str, int]] = {
    "relevance": 7,
    "date": 4,
    "updated_desc": 4,
    "updated_asc": 3,
    "created_desc": 2,
    "created_asc": 1,
    "type": 0,
}
ASSET_SORTS: Final[dict[str, int]] = {
    "relevance": 0,
    "relevance_desc": 0,
    "relevance_asc": 1,
    "updated_asc": 2,
    "updated_desc": 3,
}
TYPE_SHORTCODES: Final[dict[str, str]] = {
    "d": "document",
    "h": "heading",
    "p": "paragraph",
    "l": "list",
    "i": "listItem",
    "b": "blockquote",
    "c": "codeBlock",
    "m": "mathBlock",
    "t": "table",
    "s": "superBlock",
    "html": "htmlBlock",
    "embed": "embedBlock",
    "av": "databaseBlock",
    "video": "video",
    "audio": "audio",
    "widget": "widget",
}
_METHOD: Final = "method number; methodName keyword|query|query_syntax|sql|regex"
_SORT: Final = "sortBy relevance|date|updated_desc|updated_asc|created_desc|created_asc|type; ~orderBy number"


def _one_query(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    if "k" in arguments and "query" in arguments and arguments["k"] != arguments["query"]:
        yield Problem("query", "Another spelling of k, which says something else.")


def _table() -> ToolTable:
    search = ToolTable(
        "search",
        "SiYuan Search",
        "Find blocks, references, assets; run SQL; replace text everywhere.",
        "fulltext shows at most 20 hits a page: narrow the query or turn pages.",
        "query_sql takes one SELECT and needs read access to every notebook.",
        "The index may lag a moment behind a write.",
    )
    _add_searches(search)
    _add_references(search)
    return search


def _add_searches(search: ToolTable) -> None:
    search.add(
        "fulltext",
        READ,
        "Search blocks by keyword, query syntax, SQL or regular expression.",
        f"query* text; {_METHOD}; types flags; typeShortcodes [text]; paths [text]; groupBy number; {_SORT}; "
        "page number = 1; pageSize number = 32; parentId text; hasTags bool; ~stripHtml bool",
        tier="basic",
    )
    search.add(
        "semantic",
        READ,
        "Search blocks by meaning, where an embedding index exists.",
        "query* text+; paths [text]; types flags; typeShortcodes [text]; subTypes flags; page int 1.. = 1; "
        "pageSize int 1..128 = 32",
    )
    search.add(
        "query_sql",
        READ,
        "Run one SELECT on the index.",
        "stmt text; sql text; maxRows int 1..1000 = 200",
        tier="basic",
        aliases={"sql": "stmt"},
        winning=frozenset({"sql"}),
        rules=(any_of("stmt", message="Required: one SELECT."),),
        call_form="stmt",
    )


def _add_references(search: ToolTable) -> None:
    search.add(
        "get_backlinks",
        READ,
        "List the blocks that link to or mention a block.",
        'id* text; keyword text; refTreeID text; scopeRootId text; mode links|mentions|both = "both"',
        tier="basic",
        aliases={"scopeRootId": "refTreeID"},
        winning=frozenset({"scopeRootId"}),
    )
    search.add(
        "search_refs",
        READ,
        "Find blocks to refer to.",
        "id* text; rootID text; k text; beforeLen int 0.. = 512; isSquareBrackets bool; isDatabase bool; reqId text; "
        "~query text; ~keyword text",
        aliases={"query": "k", "keyword": "k"},
    )
    search.add(
        "find_replace",
        MANIFEST,
        "Replace text in the given blocks.",
        f"k* text+; r* text; ids* [text]+; paths [text]; types flags; {_METHOD}; {_SORT}; groupBy number; "
        "replaceTypes flags",
        is_dangerous=True,
    )
    search.add(
        "search_assets",
        READ,
        "Find assets by name.",
        "query text; ~k text; exts [text]",
        rules=(any_of("query", "k", path="k"), _one_query),
        call_form="query",
    )
    search.add(
        "fulltext_asset_content",
        READ,
        "Search inside the text of assets.",
        f"query text; assetId text; queryMethod number; types flags; {_METHOD}; "
        "sortBy relevance|relevance_desc|relevance_asc|updated_asc|updated_desc; ~orderBy number; page int 1.. = 1; "
        "pageSize int 1..128 = 32",
        rules=(any_of("query", "assetId"),),
        call_form="query | assetId",
    )
    search.add(
        "list_invalid_refs",
        READ,
        "List references whose target is gone.",
        "page int 1.. = 1; pageSize int 1..128 = 32",
    )


TOOL: Final = _table().done()
