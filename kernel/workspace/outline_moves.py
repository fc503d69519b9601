"""[core] Moving a heading with its section in the outline; its level follows its new place."""

from __future__ import annotations

from typing import Final

from kernel.workspace.documents import keep_version
from kernel.workspace.edits import Edit
from kernel.workspace.events import MAIN
from kernel.workspace.operations import Operation
from kernel.workspace.sections import level_of, section_of
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document

LEVEL_MAX: Final = 6
ONLY_TOP_LEVEL: Final = (
    "The current drag-and-drop heading is located in the container block and the drag-and-drop operation cannot be "
    "performed"
)
ONLY_TO_TOP_LEVEL: Final = "The target heading is located in the container block and cannot be used as a drop point"
NOT_INTO_ITSELF: Final = "Drag to its subheading is not supported"


def move_outline_heading(edit: Edit, operation: Operation) -> None:
    """After the section of ``previousID``, into that of ``parentID``, or before the first heading."""
    document = edit.document(operation.id)
    edit.touch_all()
    operation["retData"] = document.id
    if operation.id in (operation["parentID"], operation["previousID"]):
        return
    _, heading = edit.block(operation.id)
    if heading.type != "NodeHeading":
        return  # nothing of the outline is moved; the kernel loses blocks here
    if heading.parent is not document.root:
        _say(edit, ONLY_TOP_LEVEL)
        return
    section = section_of(heading)
    target_id = operation["previousID"] or operation["parentID"]
    if not target_id:
        _to_front(edit, document, heading, section)
        return
    _, target = edit.block(target_id)
    if target.type != "NodeHeading":
        return
    if target.parent is not document.root:
        _say(edit, ONLY_TO_TOP_LEVEL)
    elif any(child is target for child in section):
        _say(edit, NOT_INTO_ITSELF)
    else:
        keep_version(edit.workspace, document.id, "outline")
        if operation["previousID"]:
            _after(heading, section, target)
        else:
            _into(heading, section, target)


def _after(heading: Node, section: list[Node], previous: Node) -> None:
    place = (section_of(previous) or [previous])[-1]
    if place is heading or any(child is place for child in section):
        before = heading.previous
        assert before is not None, "the previous heading stands before it"
        place = before
    change = level_of(heading) - level_of(previous)
    heading.fields["HeadingLevel"] = level_of(previous)
    _put_after(place, heading, section, change)


def _into(heading: Node, section: list[Node], parent: Node) -> None:
    place = parent
    for child in section_of(parent):
        if child.type == "NodeHeading" or child is heading:
            break
        place = child
    change = level_of(heading) - level_of(parent) - 1
    heading.fields["HeadingLevel"] = min(LEVEL_MAX, level_of(parent) + 1)
    _put_after(place, heading, section, change)


def _put_after(place: Node, heading: Node, section: list[Node], change: int) -> None:
    for child in reversed(section):
        _lower(child, change)
        child.detach()
        place.insert_after(child)
    heading.detach()
    place.insert_after(heading)


def _to_front(edit: Edit, document: Document, heading: Node, section: list[Node]) -> None:
    first = next(child for child in document.root.children if child.type == "NodeHeading")
    keep_version(edit.workspace, document.id, "outline")
    if first is heading:
        return
    change = level_of(heading) - level_of(first)
    heading.fields["HeadingLevel"] = level_of(first)
    for node in (heading, *section):
        if node is not heading:
            _lower(node, change)
        node.detach()
        first.insert_before(node)


def _lower(node: Node, change: int) -> None:
    if node.type == "NodeHeading":
        node.fields["HeadingLevel"] = max(1, min(LEVEL_MAX, level_of(node) - change))


def _say(edit: Edit, text: str) -> None:
    data = {"id": edit.workspace.ids.text(7), "closeTimeout": 5000}
    edit.workspace.emit("msg", data, to=MAIN, msg=text)
