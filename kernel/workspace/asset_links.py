"""[core] Which assets a tree shows: images, links, annotations, media, title images, attributes, database cells."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.tree import Node

PREFIX: Final = "assets/"
_SOURCE: Final = re.compile(r'(?<!^)src="([^"]*)"')
_MEDIA: Final = frozenset({"NodeHTMLBlock", "NodeInlineHTML", "NodeIFrame", "NodeAudio", "NodeVideo"})
_DATA_ASSETS: Final = "custom-data-assets"
_BACKGROUND: Final = "background-image: url("
# The assets in the cells of a database, by its id.
DatabaseAssets = Callable[[str], list[str]]


def no_database(_: str) -> list[str]:
    return []


def assets_of(root: Node, database_assets: DatabaseAssets = no_database) -> list[str]:
    """The asset paths a tree shows, each once, in order; queries (``?p=2``) are kept."""
    found: dict[str, None] = {}
    for node in root.walk():
        for path in assets_at(node, database_assets):
            found[f"{path}/" if path.endswith(".rtfd") else path] = None
    return list(found)


def assets_at(node: Node, database_assets: DatabaseAssets = no_database) -> Iterator[str]:
    """The asset paths one node shows itself."""
    if node.type in BLOCK_TYPES:
        for name, value in node.properties.items():
            if name.startswith(_DATA_ASSETS) and value.startswith(PREFIX):
                yield value
    if node.type == "NodeAttributeView":
        for path in database_assets(str(node.fields.get("AttributeViewID", ""))):
            if path.startswith(PREFIX):
                yield path.strip()
        return
    path = _target(node)
    if path.startswith(PREFIX):
        yield path.strip()


def _target(node: Node) -> str:
    if node.type == "NodeLinkDest":
        return node.data or ""
    if node.type == "NodeWidget":
        return node.properties.get(_DATA_ASSETS) or node.properties.get("data-assets", "")
    if node.type in _MEDIA:
        source = _SOURCE.search(node.data or "")
        return source[1].strip() if source is not None else ""
    if node.type != "NodeTextMark":
        return ""
    types = str(node.fields.get("TextMarkType", "")).split()
    if "a" in types:
        return str(node.fields.get("TextMarkAHref", ""))
    if "file-annotation-ref" in types:
        return str(node.fields.get("TextMarkFileAnnotationRefID", "")).rpartition("/")[0]
    return ""


def image_sources(root: Node) -> list[str]:
    """What the images of a tree show, wherever it lies; repeats are kept."""
    found = []
    for node in root.walk():
        if node.type == "NodeImage":
            source = next((child.data or "" for child in node.children if child.type == "NodeLinkDest"), "")
            if source:
                found.append(source)
    return found


def title_image(root: Node) -> str:
    """The path of a document's title image, ``""`` if it has none of its own."""
    style = html.unescape(root.properties.get("title-img", "").strip())
    style = style.replace("background-image:url(", _BACKGROUND)
    start = style.find(_BACKGROUND)
    end = style.rfind(")")
    if start < 0 or end < start + len(_BACKGROUND):
        return ""
    return style[start + len(_BACKGROUND) : end].removeprefix('"').removeprefix("'").removesuffix('"').removesuffix("'")


def block_of(node: Node) -> str:
    """The id of the block a node stands in."""
    at: Node | None = node
    while at is not None and not (at.type in BLOCK_TYPES and at.id):
        at = at.parent
    return at.id if at is not None else ""


def cell_assets(database: Any) -> list[str]:
    """The paths and addresses in a database's stored cells (columns of kind mAsset and url)."""
    found: list[str] = []
    for column in (database.get("keyValues") or []) if isinstance(database, dict) else []:
        kind = (column.get("key") or {}).get("type")
        for value in column.get("values") or []:
            if kind == "mAsset":
                found += [str(one.get("content", "")) for one in value.get("mAsset") or []]
            elif kind == "url" and value.get("url"):
                found.append(str(value["url"].get("content", "")))
    return found
