"""/api/tag: the tree of tags, renaming and removing one (siyuan-api A7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.notes_index import settled_index
from kernel.siyuan.progress import PROCESSING, RENAMING, covered, show, show_saving
from kernel.workspace.documents import keep_version
from kernel.workspace.index.queries import all_tag_labels, tagged_roots
from kernel.workspace.refs import redraw
from kernel.workspace.tags import first_marker, tag_tree, tags_json
from kernel.workspace.tags import remove_tag as remove_from
from kernel.workspace.tags import rename_tag as rename_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.tree import Node

HAS_MARKER: Final = "Do not include Markdown syntax marker [{}]"
TAG_EMPTY: Final = "Tag cannot be empty"
MESSAGE_MS: Final = 5000


async def get_tag(call: Call) -> Any:
    """All tags as a tree, in the sort order asked for (0 where none is), which is kept for the user's window."""
    conf = call.kernel.workspace.conf
    call.arguments.optional_str("app")
    call.arguments.optional_bool("ignoreMaxListHint")
    sort = 0 if call.arguments.get("sort") is None else int(call.arguments.required_number("sort"))
    conf.section("tag")["sort"] = sort
    conf.save()
    index = await settled_index(call.kernel)
    return tags_json(tag_tree(all_tag_labels(index.connection)), sort) or []


async def rename_tag(call: Call) -> Any:
    old = call.arguments.required_str("oldLabel", may_be_empty=True)
    new = call.arguments.required_str("newLabel")
    refuse_markers(new)
    new = new.removeprefix("/").removesuffix("/").strip()
    if not new:
        raise ApiError(TAG_EMPTY, -1, {"closeTimeout": MESSAGE_MS})
    if old and old != new:
        with covered(call.kernel.workspace, RENAMING):
            await _change(call, old, lambda root: rename_in(root, old, new))


async def remove_tag(call: Call) -> Any:
    label = call.arguments.required_str("label", may_be_empty=True)
    if label:
        with covered(call.kernel.workspace, PROCESSING):
            await _change(call, label, lambda root: remove_from(root, label))


def refuse_markers(label: str) -> None:
    """A new tag or bookmark must not read as Markdown."""
    marker = first_marker(label)
    if marker:
        raise ApiError(HAS_MARKER.format(marker), -1, {"closeTimeout": MESSAGE_MS})


async def _change(call: Call, label: str, change: Callable[[Node], bool]) -> None:
    workspace = call.kernel.workspace
    index = await settled_index(call.kernel)
    changed = []
    for root_id in tagged_roots(index.connection, label):
        if root_id not in workspace.blocks.documents:
            continue
        document = workspace.edit(root_id)
        show(workspace, f"[{root_id}]")
        if change(document.root):
            keep_version(workspace, root_id, "replace")
            show_saving(workspace, root_id)
            workspace.save(document)
            changed.append(root_id)
    redraw(workspace, *changed)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/tag/getTag": get_tag,
    "/api/tag/renameTag": rename_tag,
    "/api/tag/removeTag": remove_tag,
}
