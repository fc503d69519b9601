"""Tools ``document`` and ``outline``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.api.filetree_changes import blocks_of_markdown
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action, cut
from kernel.siyuan.native_mcp.tools.blocks import texts_of
from kernel.workspace.doc_tree import list_documents
from kernel.workspace.documents import (
    QUERY_FAILED,
    Refusal,
    create_document,
    created,
    duplicate_document,
    remove_document,
    rename_document,
)
from kernel.workspace.moves import move_documents
from kernel.workspace.names import SUFFIX, unescaped_attribute
from kernel.workspace.notebooks import SORT_UNASSIGNED
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call
    from kernel.siyuan.native_mcp.base import Action
    from kernel.workspace.workspace import Document

SHOWN_TEXT_BYTES: Final = 100
LISTED_MAX: Final = 128  # documents in one listing
# So long after a removal the kernel has not told its index of it: what is unknown then may only not be indexed yet.
INDEXING_S: Final = 0.25
_INDEXED_AT: Final = "native_mcp_indexed_at"
_LOAD_FAILED: Final = "load doc failed: "


async def loaded(call: ToolCall, block_id: str) -> Document:
    """The document of a block. Raises ToolFailed."""
    if not is_node_id(block_id):
        raise ToolFailed(f"{_LOAD_FAILED}tree not found")
    if not call.workspace.block_exists(block_id) and call.kernel.clock.now() < call.kernel.state.get(_INDEXED_AT, 0):
        raise ToolFailed(f"{_LOAD_FAILED}indexing")
    document: Document = await call.run(lambda one: one.kernel.workspace.document(block_id), _LOAD_FAILED)
    return document


async def get(call: ToolCall) -> str:
    block_id = call.needed("id")
    document = await loaded(call, block_id)
    node = document.node(block_id)
    if node is None:
        raise ToolFailed(f"document not found: {block_id}")
    content, markdown = texts_of(node)
    lines = {
        "ID": node.id,
        "Title": unescaped_attribute(node.properties.get("name", "")),
        "HPath": call.workspace.entry(document.id).hpath,
        "Box": document.box,
        "Content": content,
        "Markdown": markdown,
        "Type": node.type,
        "Created": "",
        "Updated": "",
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def path_at(call: ToolCall, box: str, hpath: str, problem: str) -> str:
    """Where the document of a readable path lies. Raises ToolFailed."""
    found = call.workspace.blocks.at_hpath(box, hpath)
    if not found:
        raise ToolFailed(f"{problem}: {hpath}")
    return str(found[0].path)


def parent_of(hpath: str) -> str:
    return hpath.rpartition("/")[0] or "/"


async def create_below(call: ToolCall, box: str, parent_path: str, title: str, markdown: str) -> str:
    """Make a document in a folder of a notebook; its id. Raises ToolFailed with the bare reason."""
    document_id = call.workspace.new_id()
    path = f"{parent_path.rstrip('/')}/{document_id}{SUFFIX}"

    def make(one: Call) -> None:
        workspace = one.kernel.workspace
        if workspace.notebooks.opened(box) is None:
            raise ApiError(QUERY_FAILED)
        try:
            document = create_document(workspace, box, path, title, blocks_of_markdown(one, markdown, document_id))
        except (Refusal, NotFound) as error:
            raise ApiError(str(error)) from error
        created(workspace, document)

    await call.run(make)
    return document_id


async def create(call: ToolCall) -> str:
    box, hpath = call.needed("notebook"), call.needed("path")
    title = call.text("title") or hpath.rstrip("/").rpartition("/")[2]
    above = parent_of(hpath)
    parent_path = "/"
    if above != "/":
        parent_path = path_at(call, box, above, "parent path not found").removesuffix(SUFFIX)
    try:
        document_id = await create_below(call, box, parent_path, title, call.text("markdown"))
    except ToolFailed as error:
        raise ToolFailed(f"create doc failed: {error}") from error
    return f"document created: {document_id} (hPath: {hpath})"


async def list_below(call: ToolCall) -> str:
    box = call.needed("notebook")
    hpath = call.text("path") or "/"
    path = hpath if hpath == "/" else path_at(call, box, hpath, "target path not found")

    def listed(one: Call) -> Any:
        workspace = one.kernel.workspace
        if workspace.notebooks.opened(box) is None:
            raise ApiError(QUERY_FAILED)
        try:
            return list_documents(workspace, box, path, order=SORT_UNASSIGNED, shows_hidden=False)
        except OSError:
            return []

    rows = await call.run(listed, "list docs failed: ")
    named = [(one.attribute("title"), one.id) for one in rows[:LISTED_MAX]]
    lines = "".join(f"- {name} (id: {one}, hPath: {hpath.rstrip('/')}/{name})\n" for name, one in named)
    return f"Documents in {box} (hPath: {hpath}):\n\n{lines}"


async def delete(call: ToolCall) -> str:
    block_id = call.needed("id")
    document = await loaded(call, block_id)
    await call.kernel.durable.quiesce()
    await call.run(
        lambda one: remove_document(one.kernel.workspace, document.box, document.path), "delete doc failed: "
    )
    call.kernel.state[_INDEXED_AT] = call.kernel.clock.now() + INDEXING_S
    return f"document deleted: {block_id}"


async def rename(call: ToolCall) -> str:
    block_id, title = call.all_needed("id", "title")
    document = await loaded(call, block_id)
    await call.run(
        lambda one: rename_document(one.kernel.workspace, document.box, document.path, title), "rename doc failed: "
    )
    return f"document renamed: {block_id} -> {title}"


async def move(call: ToolCall) -> str:
    block_id, box, hpath = call.all_needed("id", "notebook", "path")
    document = await loaded(call, block_id)
    path = hpath if hpath == "/" else path_at(call, box, hpath, "target path not found")
    await call.kernel.durable.quiesce()
    await call.run(lambda one: move_documents(one.kernel.workspace, [document.path], box, path), "move doc failed: ")
    return f"document moved: {block_id} -> {box} (hPath: {hpath})"


async def duplicate(call: ToolCall) -> str:
    block_id = call.needed("id")
    document = await loaded(call, block_id)
    await call.run(lambda one: duplicate_document(one.kernel.workspace, document.id))
    await reload_tree(call)
    return f"document duplicated: {block_id}"


async def reload_tree(call: ToolCall) -> None:
    """Tell the file trees to read themselves anew."""
    await call.data("/api/ui/reloadFiletree")


async def search_docs(call: ToolCall) -> str:
    """Name and id stay blank: the kernel's search has no such members."""
    keyword = call.needed("keyword")
    found = await call.data("/api/filetree/searchDocs", k=keyword)
    if not found:
        return "no documents found"
    lines = "".join(f"- {one.get('name', '')} (id: {one.get('id', '')}, hPath: {one['hPath']})\n" for one in found)
    return f"Documents matching '{keyword}' ({len(found)}):\n\n{lines}"


async def info(call: ToolCall) -> str:
    block_id = call.needed("id")
    answer = await call.api("/api/block/getDocInfo", id=block_id)
    if answer.code != 0:
        raise ToolFailed("get doc info failed: tree not found")
    found = answer.data
    lines = [
        f"ID: {found['id']}",
        f"RootID: {found['rootID']}",
        f"Name: {found['name']}",
        f"RefCount: {found['refCount']}",
        f"SubFileCount: {found['subFileCount']}",
        f"Icon: {found['icon']}",
    ]
    if found["refIDs"]:
        lines.append(f"RefIDs: {', '.join(found['refIDs'])}")
    if found["attrViews"]:
        lines += ["AttrViews:", *(f"  - {one['id']}: {one['name']}" for one in found["attrViews"])]
    if found["ial"]:
        lines += ["IAL:", *(f"  {name}: {cut(value, SHOWN_TEXT_BYTES)}" for name, value in found["ial"].items())]
    return "\n".join(lines)


# --- outline ---------------------------------------------------------------------------------------------------
async def outline(call: ToolCall) -> str:
    answer = await call.api("/api/outline/getDocOutline", id=call.needed("id"))
    paths = answer.data if answer.code == 0 else None
    if not paths:
        raise ToolFailed("document not found or has no headings")
    lines: list[str] = []
    for one in paths:
        _outline_lines(one, "name", "blocks", 0, lines)
    return f"Document outline ({len(lines)} headings):\n\n{''.join(lines)}"


def _outline_lines(one: dict[str, Any], text: str, below: str, indent: int, lines: list[str]) -> None:
    lines.append(f"{'  ' * indent}- [{one[text]}] (id: {one['id']}, depth: {one['depth']})\n")
    for child in one.get(below) or []:
        _outline_lines(child, "content", "children", indent + 1, lines)


_ACTIONS: Final[dict[str, Action]] = {
    "get": get,
    "create": create,
    "list": list_below,
    "delete": delete,
    "rename": rename,
    "move": move,
    "duplicate": duplicate,
    "search_docs": search_docs,
    "info": info,
}
TOOLS: Final[dict[str, Action]] = {"document": by_action(_ACTIONS), "outline": by_action({"get": outline})}
