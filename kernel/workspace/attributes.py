"""[core] Block attributes: reading them, setting them, and what a block shows of them (siyuan-api A4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.documents import Refusal
from kernel.workspace.events import FILETREE, MAIN
from kernel.workspace.names import escaped_attribute, unescaped_attribute
from kernel.workspace.operations import Operation
from kernel.workspace.refs import refresh_anchors
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

NAME_RULE: Final = (
    "The attribute name can only contain lowercase English letters, digits, and hyphens, "
    "and must start with a lowercase English letter"
)
TASK_RULE: Final = (
    "setting or removing [data-task] attribute is not allowed via this interface. Please use "
    '"/api/block/updateTaskListItemMarker" or "/api/block/batchUpdateTaskListItemMarker" '
    "to update the task list item marker"
)
_NAME: Final = re.compile(r"(?!custom-)[a-z][a-z0-9-]*|custom-[a-z][a-z0-9-]*")
_DROPPED: Final = str.maketrans("", "", "\u200b\ufeff")
_HIDDEN: Final = "custom-hidden"


def block_not_found(block_id: str) -> str:
    return f"Content block with id [{block_id}] not found"


def shown(properties: Mapping[str, str]) -> dict[str, str]:
    """Attributes as the API shows them: unescaped."""
    return {name: unescaped_attribute(value) for name, value in properties.items()}


def attributes_of(workspace: Workspace, block_id: str) -> dict[str, str]:
    """A block's attributes; {} if there is no such block.

    The kernel keeps what it has shown once: a document that is renamed still shows its old title and time here until
    it is written for another reason.
    """
    kept = workspace.kept_attributes.get(block_id)
    if kept is not None:
        return dict(kept)
    try:
        document, node = workspace.node(block_id)
    except NotFound:
        return {}
    if node is document.root:
        workspace.shown_documents.add(block_id)
    names = workspace.bound_names.get(block_id)
    return {**shown(node.properties), "av-names": names} if names else shown(node.properties)


def set_attributes(workspace: Workspace, block_id: str, values: Mapping[str, str]) -> None:
    """Set attributes; an empty value removes one. ``updated`` is not touched.

    Raises:
        NotFound: ``tree not found``.
        Refusal: a name that is none.
    """
    document = workspace.edit(block_id)
    node = document.node(block_id)
    if node is None:
        raise Refusal(block_not_found(block_id))
    values = _for_box_document(document, values)
    was_hidden = node.properties.get(_HIDDEN) == "true"
    old = change_attributes(workspace, node, values)
    workspace.save(document, [node])
    workspace.shown_documents.add(block_id)
    tell_attributes(workspace, document, node, old)
    if was_hidden != (values.get(_HIDDEN) == "true"):
        workspace.emit("reloadFiletree", to=FILETREE)
    if {"name", "title"} & {name.lower() for name in values}:
        refresh_anchors(workspace, [node])
    from kernel.workspace.views.binding import follow_attributes

    follow_attributes(workspace, node, values)
    _icon_of_box(workspace, document, values)
    _see_as_readers(workspace, document)


def set_many(workspace: Workspace, changes: list[tuple[str, dict[str, str]]]) -> None:
    """Set attributes of several blocks; what stands before one that fails stays. Raises Refusal."""
    for block_id, values in changes:
        try:
            document, node = workspace.node(block_id)
        except NotFound as error:
            raise Refusal(block_not_found(block_id)) from error
        workspace.edit(block_id)
        values = _for_box_document(document, values)
        old = change_attributes(workspace, node, values)
        workspace.save(document, [node])
        tell_attributes(workspace, document, node, old)
        _icon_of_box(workspace, document, values)
        _see_as_readers(workspace, document)


def _see_as_readers(workspace: Workspace, document: Document) -> None:
    """Containers without blocks were written once more; readers of the file do not see them."""
    if document.holds_hollow:
        workspace.reread(document.id)


def change_attributes(workspace: Workspace, node: Node, values: Mapping[str, str]) -> dict[str, str]:
    """Change a node's attributes by the kernel's rules; what they were, as shown. Raises Refusal."""
    old = shown(node.properties)
    workspace.bound_names.pop(node.id, None)
    properties = dict(node.properties)
    for name, value in values.items():
        lowered = name.lower()
        value = value.replace("\u00a0", " ").translate(_DROPPED).strip()
        if not _NAME.fullmatch(lowered):
            raise Refusal(f"{NAME_RULE} [{node.id}]")
        if lowered == "data-task":
            raise Refusal(TASK_RULE)
        if lowered == "id" or (lowered == "type" and node.type == "NodeDocument"):
            continue  # a block stays what it is
        if lowered == "tags":
            value = ",".join(dict.fromkeys(tag.strip() for tag in value.split(",") if tag.strip()))
        if lowered == "icon":
            value = icon_value(value)
        if not value:
            # Only an exact match removes a name with capitals that an older kernel has written.
            properties.pop(name if name in properties else lowered, None)
        else:
            properties.pop(name, None)
            properties[lowered] = escaped_attribute(value)
    properties.setdefault("id", node.id)
    node.properties = properties
    return old


def tell_tags(workspace: Workspace, node: Node, old: dict[str, str]) -> None:
    """The list of tags is shown anew when a document's tags are others now."""
    if old.get("tags", "") != unescaped_attribute(node.properties.get("tags", "")):
        workspace.emit("reloadTag", to=MAIN)


def icon_value(value: str) -> str:
    """An icon given as characters becomes their code points: ``1f600``."""
    if any(char in value for char in "./") or value.isascii():
        return value
    return "-".join(f"{ord(char):x}" for char in value)


def tell_attributes(workspace: Workspace, document: Document, node: Node, old: dict[str, str]) -> None:
    """Push what has become of a block's attributes to every window."""
    data: dict[str, Any] = {"old": old, "new": shown(node.properties)}
    if node.fields.get("AttributeViewType"):
        data["data-av-type"] = node.fields["AttributeViewType"]
    operation = Operation(action="updateAttrs", data=data, id=node.id, rootID=document.id)
    told = [{"timestamp": 0, "doOperations": [operation.to_json()], "undoOperations": []}]
    workspace.emit("transactions", told)
    tell_tags(workspace, node, old)


def _for_box_document(document: Document, values: Mapping[str, str]) -> dict[str, str]:
    """A notebook's own document stays hidden."""
    return {**values, _HIDDEN: "true"} if document.id == document.box else dict(values)


def _icon_of_box(workspace: Workspace, document: Document, values: Mapping[str, str]) -> None:
    if document.id != document.box or "icon" not in values:
        return
    notebook = workspace.box(document.box)
    workspace.notebooks.save(document.box, {**notebook.conf, "icon": values["icon"]})
    workspace.emit("reloadFiletree", to=FILETREE)
