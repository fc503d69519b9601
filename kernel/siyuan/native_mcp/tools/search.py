"""Tools ``search`` and ``sql``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.search import full_text_search_in
from kernel.siyuan.arguments import ApiError, EmptyAnswer
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action, cut, go_text
from kernel.siyuan.notes_index import read_in_thread
from kernel.workspace.index import statements

if TYPE_CHECKING:
    import apsw

    from kernel.siyuan.kernel import Call
    from kernel.siyuan.native_mcp.base import Action

SQL_ROWS_DEFAULT: Final = 100
PAGE_SIZE_DEFAULT: Final = 32
_NO_ASSET_PATH: Final = "missing required parameter 'path' (e.g. 'assets/foo.pdf')"
_NO_SEMANTIC: Final = "No semantic search results. Make sure AI embedding is configured in SiYuan settings."


# --- search ----------------------------------------------------------------------------------------------------
def _page(call: ToolCall) -> tuple[int, int]:
    page, size = call.number("page", 1), call.number("pageSize", PAGE_SIZE_DEFAULT)
    return max(page, 1), size if size > 0 else PAGE_SIZE_DEFAULT


def _listed(call: ToolCall, name: str) -> tuple[str, ...]:
    return tuple(part for part in (part.strip() for part in call.text(name).split(",")) if part)


async def fulltext(call: ToolCall) -> str:
    page, size = _page(call)
    types, subtypes = _listed(call, "type"), _listed(call, "subtype")
    arguments: dict[str, Any] = {
        "query": call.text("query"),
        "page": page,
        "pageSize": size,
        "method": call.number("method", 0),
        "orderBy": call.number("orderBy", 0),
        "groupBy": call.number("groupBy", 0),
        "subTypes": dict.fromkeys(subtypes, True),
    }
    if types:
        arguments["types"] = dict.fromkeys(types, True)
    boxes, paths = _listed(call, "notebook"), _listed(call, "path")
    found = await call.run(lambda one: full_text_search_in(one, boxes, paths), **arguments)
    if found["matchedBlockCount"] == 0:
        return "No results found."
    lines = [f"Found {found['matchedBlockCount']} results (page {page}/{found['pageCount']}):\n\n"]
    lines += [
        f"- [{one['hPath']}] {one['type']}\n  {cut(one['markdown'] or one['content'])}\n  id: {one['id']}\n\n"
        for one in found["blocks"]
    ]
    if found["docMode"]:
        lines.append(f"(grouped by document, {found['matchedRootCount']} documents matched)\n")
    return "".join(lines)


async def semantic(call: ToolCall) -> str:
    """Nothing is found without an embedding model, and none is emulated."""
    return _NO_SEMANTIC


async def asset(call: ToolCall) -> str:
    page, size = _page(call)
    found = await call.data(
        "/api/search/fullTextSearchAssetContent",
        query=call.text("query"),
        types=dict.fromkeys(_listed(call, "ext"), True),
        method=call.number("method", 0),
        orderBy=call.number("orderBy", 0),
        page=page,
        pageSize=size,
    )
    if not found or found["matchedAssetCount"] == 0:
        return "No asset content results found."
    lines = [f"Found {found['matchedAssetCount']} asset matches (page {page}/{found['pageCount']}):\n\n"]
    lines += [
        f"- [{one['ext']}] {one['name']}\n  path: {one['path']}\n  size: {one['hSize']}\n"
        f"  content: {cut(one['content'])}\n  id: {one['id']}\n\n"
        for one in found["assetContents"]
    ]
    return "".join(lines)


async def get_asset(call: ToolCall) -> str:
    path = call.needed("path", _NO_ASSET_PATH)
    found = (await call.data("/api/search/getAssetContentByPath", path=path))["assetContent"]
    if found is None:
        return f"No indexed content found for path: {path} (the file may not be indexed yet)"
    head = [("Asset", "name"), ("Ext", "ext"), ("Path", "path"), ("Size", "hSize"), ("ID", "id")]
    lines = "".join(f"{name}: {found[key]}\n" for name, key in head)
    return f"{lines}\nContent:\n{found['content']}"


# --- sql -------------------------------------------------------------------------------------------------------
async def sql(call: ToolCall) -> str:
    """One reading statement. Any action will do when there is one."""
    action = call.text("action")
    statement = call.text("stmt")
    if action != "query" and not statement:
        raise ToolFailed(f"unknown action '{action}', expected 'query'")
    if not statement:
        raise ToolFailed("stmt is required")
    rows = await call.run(partial(_rows, statement=statement.strip()))
    if not rows:
        return "no results"
    names = list(rows[0])
    lines = [f"Query results ({len(rows)} rows):\n\n| {' | '.join(names)} |\n|{'---|' * len(names)}\n"]
    lines += [f"| {' | '.join(go_text(value) for value in row.values())} |\n" for row in rows]
    return "".join(lines)


async def _rows(call: Call, *, statement: str) -> Any:
    if not statement:
        raise ApiError("readonly SQL required: SQL statement is empty")
    if statements.has_several(statement):
        raise ApiError("invalid SQL: SQL statement is not single")
    try:
        statements.check(statement, "readonly")
        with_texts = "_fts" in statement.lower()
        return await read_in_thread(call.kernel, partial(_run, statement), with_texts=with_texts)
    except statements.StatementRefused as error:
        raise ApiError(f"readonly SQL required: {error}") from error
    except statements.StatementFailed as error:
        raise ApiError(f"query failed: {error}") from error
    except statements.Unencodable as error:
        raise EmptyAnswer from error


def _run(statement: str, reader: apsw.Connection) -> list[dict[str, Any]] | None:
    return statements.run(reader, statement, "readonly", SQL_ROWS_DEFAULT)


TOOLS: Final[dict[str, Action]] = {
    "search": by_action({"fulltext": fulltext, "semantic": semantic, "asset": asset, "getasset": get_asset}),
    "sql": sql,
}
