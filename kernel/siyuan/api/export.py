"""/api/export: documents as Markdown (siyuan-api A9; siyuan-markdown section 5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.notes_index import settled_index
from kernel.workspace.index import statements
from kernel.workspace.refs import ref_text
from kernel.workspace.render.export import ExportOptions, ExportSources, export_markdown, front_matter
from kernel.workspace.search import SQL, SearchQuery, SearchSettings, search
from kernel.workspace.stamps import is_stamp
from kernel.workspace.views.tables import view_table
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call, SiyuanKernel
    from kernel.workspace.index.writer import Index
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Workspace

_STAMP: Final = "%Y%m%d%H%M%S"


async def export_md_content(call: Call) -> Any:
    """A document, or one block under its document's head."""
    block_id = call.arguments.required_str("id")
    if not is_node_id(block_id):
        raise ApiError("invalid ID argument")
    options = _options(call)
    has_front_matter = _flag(call, "yfm", True)
    for name in ("fillCSSVar",):
        call.arguments.optional_bool(name)
    workspace = call.kernel.workspace
    if not workspace.block_exists(block_id):
        return {"hPath": "", "content": ""}
    try:
        document, node = workspace.node(block_id)
    except (NotFound, CorruptDocument):
        return {"hPath": "", "content": ""}
    index = await settled_index(call.kernel)
    content = export_markdown(document.root, node, options, _sources(call.kernel, index))
    if has_front_matter:
        content = front_matter(document.root, lambda stamp: _instant(call.kernel, stamp)) + content
    return {"hPath": workspace.entry(block_id).hpath, "content": content}


async def exported(call: Call, block_id: str, **changes: Any) -> str:
    """The Markdown of a block or document by the settings, changed as named; ``""`` for an unknown one."""
    workspace = call.kernel.workspace
    if not workspace.block_exists(block_id):
        return ""
    document, node = workspace.node(block_id)
    index = await settled_index(call.kernel)
    options = replace(_options_by_conf(workspace), **changes)
    return export_markdown(document.root, node, options, _sources(call.kernel, index))


def _options(call: Call) -> ExportOptions:
    arguments = call.arguments
    options = _options_by_conf(call.kernel.workspace)
    return replace(
        options,
        ref_mode=int(_number(call, "refMode", options.ref_mode)),
        embed_mode=int(_number(call, "embedMode", options.embed_mode)),
        adds_title=_flag(call, "addTitle", options.adds_title),
        has_image_tags=arguments.optional_bool("imgTag"),
        adjusts_heading_level=arguments.optional_bool("adjustHeadingLevel"),
    )


def _options_by_conf(workspace: Workspace) -> ExportOptions:
    conf, editor = workspace.conf.section("export"), workspace.conf.section("editor")
    return ExportOptions(
        ref_mode=int(conf.get("blockRefMode", 4)),
        embed_mode=int(conf.get("blockEmbedMode", 1)),
        heading_embed_mode=int(editor.get("headingEmbedMode", 0)),
        adds_title=bool(conf.get("addTitle", True)),
        keeps_memos=bool(conf.get("inlineMemo", False)),
        tag_markers=(str(conf.get("tagOpenMarker", "#")), str(conf.get("tagCloseMarker", "#"))),
        ref_brackets=(str(conf.get("blockRefTextLeft", "")), str(conf.get("blockRefTextRight", ""))),
    )


def _number(call: Call, name: str, default: Any) -> float:
    return float(default) if call.arguments.get(name) is None else call.arguments.raw_number(name)


def _flag(call: Call, name: str, default: bool) -> bool:
    value = call.arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise Panic(name)
    return value


def _sources(kernel: SiyuanKernel, index: Index) -> ExportSources:
    workspace = kernel.workspace

    def query(statement: str) -> list[Node]:
        found = _embedded(kernel, index, statement)
        return [node for block_id in found if (node := _node(workspace, block_id)) is not None]

    def anchor(block_id: str) -> str:
        node = _node(workspace, block_id)
        return ref_text(node) if node is not None else "block not found"

    return ExportSources(
        node_of=lambda block_id: _node(workspace, block_id),
        ref_text=anchor,
        query=query,
        view_table=lambda node: view_table(workspace, node),
    )


def _embedded(kernel: SiyuanKernel, index: Index, statement: str) -> list[str]:
    """The ids a block query finds; on a reader, for the statement is a user's."""
    if statements.has_several(statement) or statements.first_word(statement) not in ("SELECT", "WITH"):
        return []
    settings = SearchSettings.of(kernel.workspace.conf.section("search"))
    if "_fts" in statement.lower():
        index.fulltext.refresh()
    reader = index.take_reader()
    try:
        found = search(reader, SearchQuery(statement, method=SQL, page_size=settings.limit), settings)
    finally:
        index.give_back(reader)
    return [row.id for row in found.rows]


def _node(workspace: Workspace, block_id: str) -> Node | None:
    if not workspace.block_exists(block_id):
        return None
    try:
        return workspace.node(block_id)[1]
    except (NotFound, CorruptDocument):
        return None


def _instant(kernel: SiyuanKernel, stamp: str) -> str:
    """A kernel stamp with its zone: yyyy-MM-ddTHH:mm:ssZ."""
    local = kernel.clock.local()
    if is_stamp(stamp):
        try:
            local = datetime.strptime(stamp, _STAMP).replace(tzinfo=local.tzinfo)
        except ValueError:
            return ""
    return local.isoformat(timespec="seconds").replace("+00:00", "Z")


HANDLERS: Final[dict[str, ApiHandler]] = {"/api/export/exportMdContent": export_md_content}
