"""/api/block: blocks with what their queries find, and swapping a reference with its target (siyuan-api A3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.markdown_export import MarkdownExport
from kernel.workspace.events import MAIN
from kernel.workspace.intake import dom_of_blocks, dom_of_siblings
from kernel.workspace.render.footnotes import EMBED, embed_statement
from kernel.workspace.sections import folded_heading_above, section_of
from kernel.workspace.swaps import swap_blocks
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.tree import Node

# Where the DOM of a query's results goes; no document holds these characters.
_PLACE: Final = "\ufdd0{}\ufdd1"


async def dom_with_embeds(call: Call) -> Any:
    block_id = call.arguments.raw_str("id")
    export = await MarkdownExport.of(call.kernel)
    return {"id": block_id, "dom": _dom(export, block_id) or ""}


async def doms_with_embeds(call: Call) -> Any:
    block_ids = call.arguments.raw_str_list("ids")
    export = await MarkdownExport.of(call.kernel)
    found = {block_id: _dom(export, block_id) for block_id in block_ids}
    return {block_id: dom for block_id, dom in found.items() if dom is not None}


def _dom(export: MarkdownExport, block_id: str) -> str | None:
    found = export.found(block_id)
    if found is None:
        return None
    node = found[1]
    results = [_results(export, below) if below.type == EMBED else "" for below in node.walk()]
    top = node.clone()
    filled: dict[str, str] = {}
    for index, (original, below) in enumerate(zip(node.walk(), top.walk(), strict=True)):
        if results[index]:
            place = _PLACE.format(index)
            below.properties["embed-content"] = place
            filled[place] = results[index]
        heading = folded_heading_above(original) if original.id and original.parent is not None else None
        if heading is not None:
            below.properties["parent-heading"] = heading.id
    dom = (
        dom_of_blocks(top.children, first_index=1) if top.type == "NodeDocument" else dom_of_siblings([top], place=node)
    )
    for place, content in filled.items():
        dom = _with_content(dom, place, content)
    return dom


def _results(export: MarkdownExport, embed: Node) -> str:
    """What a query finds, as DOM: a document's blocks, a heading with its section, else the block."""
    shown = []
    for node in export.query(embed_statement(embed)):
        if node.type == "NodeDocument":
            shown.append(dom_of_blocks(node.children, first_index=1))
        elif node.type == "NodeHeading":
            shown.append(dom_of_siblings([node, *section_of(node)]))
        elif node.type != EMBED:
            shown.append(dom_of_siblings([node]))
    return "".join(shown)


def _with_content(dom: str, place: str, content: str) -> str:
    """The results stand where the block's own children begin; the block is closed behind them once more."""
    mark = f'embed-content="{place}"'
    start = dom.find(mark)
    end = dom.find(">", start) + 1
    return dom[:start] + dom[start + len(mark) : end] + content + "</div>" + dom[end:]


def swap_block_ref(call: Call) -> Any:
    arguments = call.arguments
    ref_id, def_id = arguments.raw_str("refID"), arguments.raw_str("defID")
    includes_children = arguments.raw_bool("includeChildren")
    workspace = call.kernel.workspace
    try:
        is_done = swap_blocks(workspace, ref_id, def_id, includes_children=includes_children)
    except NotFound as error:
        raise ApiError(str(error), data={"closeTimeout": 7000}) from error
    if is_done:
        workspace.emit("reloadui", to=MAIN)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/block/getBlockDOMWithEmbed": dom_with_embeds,
    "/api/block/getBlockDOMsWithEmbed": doms_with_embeds,
    "/api/block/swapBlockRef": swap_block_ref,
}
