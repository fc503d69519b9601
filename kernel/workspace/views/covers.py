"""[core] The covers of cards: the first picture of a block, an asset of a field, or the block itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kernel.workspace.asset_names import IMAGE_EXTENSIONS
from kernel.workspace.intake import dom_of_blocks
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.sections import section_of
from kernel.workspace.tree import Node
from kernel.workspace.views.format import COVER_ASSET, COVER_BLOCK, COVER_IMAGE, Json
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.views.database import Database
    from kernel.workspace.views.rendered import Item, Rendered
    from kernel.workspace.views.rendering import Around

# A cover that shows blocks ends with the first one past so many bytes.
COVER_BYTES_MAX: Final = 4 * 1024
# A cover may be a TIFF, too.
_IMAGE_EXTENSIONS: Final = IMAGE_EXTENSIONS | {".tif", ".tiff"}


def cover_of(place: Around, database: Database, shown: Rendered, item: Item, cells: dict[str, Json]) -> None:
    """Give a card its cover, by the rule of the view."""
    rule = shown.view[shown.layout]
    kind = rule["coverFrom"]
    if kind == COVER_ASSET:
        item.cover_url = _asset(database, rule["coverFromAssetKeyID"], item.id)
        return
    if kind not in (COVER_IMAGE, COVER_BLOCK):
        return
    primary = next((value for value in cells.values() if value["type"] == "block"), None)
    if primary is None or primary["isDetached"] or primary["block"] is None:
        return
    try:
        _, node = place.workspace.node(primary["block"]["id"])
    except (NotFound, CorruptDocument):
        return
    if kind == COVER_IMAGE:
        item.cover_url = _picture(node)
    if not item.cover_url:
        item.cover_content = _blocks_dom(node, place.moment.new_id)


def _asset(database: Database, key_id: str, item_id: str) -> str:
    value = database.value(key_id, item_id) if key_id else None
    for asset in (value or {}).get("mAsset") or ():
        if asset["type"] == "image" and _may_be_picture(asset["content"]):
            return str(asset["content"])
    return ""


def _may_be_picture(target: str) -> bool:
    """By its suffix, which a query at the end is part of; addresses of the web need none."""
    name = target.rpartition("/")[2]
    if "." in name:
        return name[name.rindex(".") :].lower() in _IMAGE_EXTENSIONS
    return target.startswith(("https://", "http://"))


def _picture(node: Node) -> str:
    """The title picture of a document, else the first picture in the block."""
    if node.type == "NodeDocument" and (style := unescaped_attribute(node.properties.get("title-img", ""))):
        _, found, rest = style.partition("background-image")
        if found and "url(" in rest:
            return rest.partition("url(")[2].partition(")")[0].strip("\"'")
        return style
    children = (child for below in node.walk() if below.type == "NodeImage" for child in below.children)
    return next((child.data for child in children if child.type == "NodeLinkDest"), "")


def _blocks_dom(node: Node, new_id: Callable[[], str]) -> str:
    """The block as the editor shows it, not editable; of a document or a section, its first blocks."""
    if node.type == "NodeDocument":
        blocks = list(node.children)
    elif node.type == "NodeHeading":
        blocks = section_of(node) or [node]
    else:
        blocks = [node]
    shown = ""
    for block in blocks:
        shown += _block_dom(block, new_id)
        if len(shown.encode()) > COVER_BYTES_MAX:
            break
    return shown


def _block_dom(block: Node, new_id: Callable[[], str]) -> str:
    shown = (
        dom_of_blocks([_twin(block, new_id)], first_index=1)
        .strip()
        .replace('contenteditable="true"', 'contenteditable="false"')
    )
    return f"<ul>{shown}</ul>" if shown.startswith("<li") else shown


def _twin(node: Node, new_id: Callable[[], str]) -> Node:
    """A copy under ids of its own: nobody must take it for the block itself. Databases are no matter of a cover."""
    properties = {name: value for name, value in node.properties.items() if name != "custom-avs"}
    twin_id = new_id() if node.id else ""
    if twin_id:
        properties["id"] = twin_id
    return Node(
        node.type,
        id=twin_id,
        data=node.data,
        properties=properties,
        fields=dict(node.fields),
        children=[_twin(child, new_id) for child in node.children],
    )
