"""Rendering templates with what they may look up in the notes: blocks, spans, rows, counts, paths."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import apsw
import trio

from kernel.siyuan.notes_index import index_of, read_in_thread
from kernel.workspace.block_words import block_stat, content_of, text_counts, text_of_markdown
from kernel.workspace.doc_templates import model_of, template_blocks
from kernel.workspace.documents import Refusal
from kernel.workspace.index import statements
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.templates.catalogue import functions
from kernel.workspace.templates.errors import TemplateFailed
from kernel.workspace.templates.execution import render
from kernel.workspace.templates.values import Record, text_of

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel
    from kernel.workspace.daily_notes import TemplateRenderer
    from kernel.workspace.tree import Node

T = TypeVar("T")
# How actions are marked in the template files of notes.
LEFT: Final = ".action{"
RIGHT: Final = "}"
PARSE_FAILED: Final = "Parse template failed: {}"
_BLOCKS_MAX: Final = 512
_ROWS_MAX: Final = 1024
_BLOCK_FIELDS: Final = (
    ("ID", "id"),
    ("ParentID", "parent_id"),
    ("RootID", "root_id"),
    ("Hash", "hash"),
    ("Box", "box"),
    ("Path", "path"),
    ("HPath", "hpath"),
    ("Name", "name"),
    ("Alias", "alias"),
    ("Memo", "memo"),
    ("Tag", "tag"),
    ("Content", "content"),
    ("FContent", "fcontent"),
    ("Markdown", "markdown"),
    ("Length", "length"),
    ("Type", "type"),
    ("SubType", "subtype"),
    ("IAL", "ial"),
    ("Sort", "sort"),
    ("Created", "created"),
    ("Updated", "updated"),
)
_SPAN_FIELDS: Final = (
    ("ID", "id"),
    ("BlockID", "block_id"),
    ("RootID", "root_id"),
    ("Box", "box"),
    ("Path", "path"),
    ("Content", "content"),
    ("Markdown", "markdown"),
    ("Type", "type"),
    ("IAL", "ial"),
)
_BLOCK_STATEMENT: Final = "SELECT * FROM blocks WHERE id = ?"


async def rendered(
    kernel: SiyuanKernel, source: str, data: Any, *, left: str = "{{", right: str = "}}", now: datetime | None = None
) -> str:
    """A template's text, made off the loop. Raises TemplateFailed."""
    at = now or kernel.clock.local()
    is_inline = kernel.state.get("statement_runner") is not None
    on_loop = _at_once if is_inline else trio.from_thread.run_sync

    def work(reader: apsw.Connection) -> str:
        return render(source, data, _functions(kernel, at, reader, on_loop), left=left, right=right)

    return str(await read_in_thread(kernel, work, with_texts="_fts" in source.lower()))


def rendered_now(kernel: SiyuanKernel, source: str, data: Any, *, left: str = "{{", right: str = "}}") -> str:
    """The same on the loop, for a caller that cannot wait. Raises TemplateFailed."""
    index = index_of(kernel)
    while index.settle():
        pass
    reader = index.take_reader()
    try:
        known = _functions(kernel, kernel.clock.local(), reader, _at_once)
        return render(source, data, known, left=left, right=right)
    finally:
        index.give_back(reader)


def note_renderer(kernel: SiyuanKernel) -> TemplateRenderer:
    """What fills a new daily note from a template file; one that cannot be rendered is refused."""

    def blocks_and_attributes(path: str, document_id: str) -> tuple[list[Node], dict[str, str]]:
        source = kernel.workspace.files.read(path).decode("utf-8", "replace")
        try:
            text = rendered_now(kernel, source, model_of(kernel.workspace, document_id), left=LEFT, right=RIGHT)
            return template_blocks(kernel.workspace, text)
        except TemplateFailed as error:
            raise Refusal(PARSE_FAILED.format(error)) from error
        except MarkdownError:
            return [], {}

    return blocks_and_attributes


def _at_once(work: Callable[..., T], *arguments: Any) -> T:
    return work(*arguments)


def _functions(
    kernel: SiyuanKernel, now: datetime, reader: apsw.Connection, on_loop: Callable[..., Any]
) -> dict[str, Callable[..., Any]]:
    workspace = kernel.workspace

    def query_blocks(statement: Any, *values: Any) -> list[Record]:
        return _records(reader, _filled(statement, values), _BLOCK_FIELDS)

    def query_spans(statement: Any, *values: Any) -> list[Record]:
        return _records(reader, _filled(statement, values), _SPAN_FIELDS)

    def query_sql(statement: Any) -> list[dict[str, Any]]:
        try:
            statements.check(text_of(statement), "readonly")
            return statements.run(reader, text_of(statement), "readonly", _ROWS_MAX) or []
        except ValueError:
            return []

    def get_block(given: Any) -> Record | None:
        block_id = given.get("id") if isinstance(given, dict) else given
        found = list(reader.execute(_BLOCK_STATEMENT, (text_of(block_id),)))
        columns = [name for _, name in _BLOCK_FIELDS]
        return _record(dict(zip(columns, found[0], strict=False)), _BLOCK_FIELDS) if found else None

    def hpath_of(block_id: Any) -> str:
        entry = workspace.blocks.entry_of(text_of(block_id))
        return entry.hpath if entry is not None else ""

    notes: dict[str, Callable[..., Any]] = {
        "queryBlocks": query_blocks,
        "querySpans": query_spans,
        "querySQL": query_sql,
        "getBlock": get_block,
        "getHPathByID": hpath_of,
        "statBlock": lambda block_id: on_loop(block_stat, workspace, text_of(block_id)),
        "runeCount": lambda text: text_counts(text_of(text))[0],
        "wordCount": lambda text: text_counts(text_of(text))[1],
        "markdown2text": lambda text: text_of_markdown(workspace, text_of(text)),
        "markdown2content": lambda text: content_of(workspace, text_of(text)),
    }
    return functions(now, kernel.ids, notes)


def _filled(statement: Any, values: tuple[Any, ...]) -> str:
    text = text_of(statement)
    for value in values:
        text = text.replace("?", text_of(value), 1)
    return text


def _records(reader: apsw.Connection, statement: str, fields: tuple[tuple[str, str], ...]) -> list[Record]:
    """The rows of a query as structs; nothing for one that is not allowed or does not run."""
    try:
        statements.check(statement, "readonly")
        rows = statements.run(reader, statement, "readonly", _BLOCKS_MAX) or []
    except ValueError:
        return []
    return [_record(row, fields) for row in rows[:_BLOCKS_MAX]]


def _record(row: dict[str, Any], fields: tuple[tuple[str, str], ...]) -> Record:
    return Record({name: row.get(column, "") for name, column in fields})
