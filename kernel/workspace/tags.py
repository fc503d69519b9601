"""[core] Tags: the tree of labels, and renaming or removing one (siyuan-api A7)."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any

from kernel.workspace.names import unescaped_attribute
from kernel.workspace.notebooks import compare_names, natural_key
from kernel.workspace.render.inlines import is_mark, mark_text
from kernel.workspace.tree import Node

# What a tag or bookmark in ASCII may not hold: it would be read as Markdown. (Line breaks count.)
MARKERS = frozenset("*_[]\n!\\`<>&~${}()=#^")
NAME_ASC, NAME_DESC, ALPHANUM_ASC, ALPHANUM_DESC, COUNT_ASC, COUNT_DESC = 0, 1, 4, 5, 7, 8


@dataclass(slots=True)
class Tag:
    """One level of the tree; ``count`` is 0 where the label itself is not used, only longer ones."""

    name: str
    label: str
    depth: int
    count: int = 0
    children: dict[str, Tag] = field(default_factory=dict)


def tag_tree(labels: Iterable[str]) -> dict[str, Tag]:
    """The tags of the workspace by their first part; a label counts once per use."""
    top: dict[str, Tag] = {}
    for label in labels:
        *above, last = html.unescape(label).split("/")
        level, path = top, ""
        for depth, name in enumerate(above):
            path += name
            level = level.setdefault(name, Tag(name, path, depth)).children
            path += "/"
        level.setdefault(last, Tag(last, path + last, len(above))).count += 1
    return top


def tags_json(level: dict[str, Tag], sort: int) -> list[dict[str, Any]] | None:
    """A level of the tree as the answer shows it, sorted; None for no tags."""
    if not level:
        return None
    tags = sorted(level.values(), key=_key(sort), reverse=sort in (NAME_DESC, ALPHANUM_DESC, COUNT_DESC))
    return [
        {
            "name": tag.name,
            "label": tag.label,
            "children": tags_json(tag.children, sort),
            "type": "tag",
            "depth": tag.depth,
            "count": tag.count,
        }
        for tag in tags
    ]


def _key(sort: int) -> Callable[[Tag], Any]:
    if sort in (NAME_ASC, NAME_DESC):
        by_name = cmp_to_key(compare_names)
        return lambda tag: by_name(tag.name)
    if sort in (COUNT_ASC, COUNT_DESC):
        return lambda tag: tag.count
    return lambda tag: natural_key(tag.name)


def first_marker(label: str) -> str:
    """The first Markdown character in a new tag or bookmark, "" for none; other scripts are not looked at."""
    return next((letter for letter in label if letter in MARKERS), "") if label.isascii() else ""


def rename_tag(root: Node, old: str, new: str) -> bool:
    """Rename a label, and the first parts of longer ones, in a document; whether anything changed."""

    def renamed(label: str) -> str:
        return new + label[len(old) :] if label == old or label.startswith(f"{old}/") else label

    return _change_tags(root, renamed)


def remove_tag(root: Node, label: str) -> bool:
    """Take exactly this label out of a document; whether anything changed."""
    return _change_tags(root, lambda found: "" if found == label else found)


def _change_tags(root: Node, change: Callable[[str], str]) -> bool:
    has_changed = False
    labels = [label for label in unescaped_attribute(root.properties.get("tags", "")).split(",") if label]
    changed = [new for label in labels if (new := change(label))]
    if changed != labels:
        has_changed = True
        if changed:
            root.properties["tags"] = html.escape(",".join(changed), quote=True).replace("&#x27;", "'")
        else:
            root.properties.pop("tags", None)
    for node in list(root.walk()):
        if not is_mark(node, "tag"):
            continue
        new = change(mark_text(node))
        if new == mark_text(node):
            continue
        has_changed = True
        if new:
            node.fields["TextMarkTextContent"] = new
        else:
            node.detach()
    return has_changed
