"""[core] Templates and documents: blocks out of a rendered template, a template out of a document."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from kernel.workspace.asset_names import file_name, shortened
from kernel.workspace.intake import context_of, parsed_dom
from kernel.workspace.markdown.ial import write_list
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES
from kernel.workspace.render.content import anchor_content, first_leaf, plain_content, stripped
from kernel.workspace.render.dom import code_parts, render_dom
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.render.std_markdown import std_markdown
from kernel.workspace.tree import Node
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

TEMPLATES: Final = "data/templates"
_DOCUMENT_ATTRIBUTES: Final = re.compile(r'(?:^|\n)\{: ([^\n]*type="doc"[^\n]*)\}\s*$')
_ATTRIBUTE: Final = re.compile(r'([\w-]+)="([^"]*)"')
_CODE_LANGUAGES: Final = frozenset({"siyuan-template", "template"})
_UNKNOWN: Final = "block not found"
# What stands for a block that says nothing, before its Markdown.
_NAMED_KINDS: Final = {
    "NodeBlockQueryEmbed": "Query Embed Block",
    "NodeAttributeView": "Database",
    "NodeIFrame": "IFrame",
    "NodeVideo": "Video",
    "NodeAudio": "Audio",
}
_BLOCK_LINK: Final = "siyuan://blocks/"


def template_file(name: str) -> str:
    """Where a template of this name lies."""
    return f"{TEMPLATES}/{shortened(file_name(name) + '.md')}"


def model_of(workspace: Workspace, block_id: str) -> dict[str, str]:
    """What a template is told of the block it is rendered for. Raises NotFound."""
    document, node = workspace.node(block_id)
    properties = {name: html.unescape(value) for name, value in node.properties.items()}
    title = properties.get("title", "") if node is document.root else properties.get("name", "")
    return {
        "title": title,
        "id": block_id,
        "name": properties.get("name", ""),
        "alias": properties.get("alias", ""),
    }


def template_dom(workspace: Workspace, rendered: str) -> str:
    """Editor DOM of a rendered template, every block with a new id. Raises MarkdownError."""
    body, _ = split_attributes(rendered)
    blocks = parse_markdown(body, context=context_of(workspace))
    if not blocks:
        fresh = workspace.new_id()
        blocks = [Node("NodeParagraph", id=fresh, properties={"id": fresh, "updated": fresh[:14]})]
    _renumber(workspace, blocks)
    return render_dom(blocks, first_index=1, parsed=True)


def template_blocks(workspace: Workspace, rendered: str) -> tuple[list[Node], dict[str, str]]:
    """The blocks of a rendered template, and the attributes its last line gives the document. Raises MarkdownError."""
    return parsed_dom(workspace, template_dom(workspace, rendered)), split_attributes(rendered)[1]


def split_attributes(rendered: str) -> tuple[str, dict[str, str]]:
    """The text, and the document's own attributes where its last line is their list."""
    found = _DOCUMENT_ATTRIBUTES.search(rendered)
    if found is None:
        return rendered, {}
    return rendered[: found.start()], dict(_ATTRIBUTE.findall(found[1]))


def _renumber(workspace: Workspace, blocks: list[Node]) -> None:
    """New ids; what refers to a block of the template follows, an empty anchor of another block is filled."""
    renamed: dict[str, str] = {}
    nodes = [node for block in blocks for node in block.walk()]
    for node in nodes:
        if node.type in BLOCK_TYPES:
            fresh = workspace.new_id()
            if node.id:
                renamed[node.id] = fresh
            node.properties = {**node.properties, "id": fresh, "updated": fresh[:14]}
            node.properties.pop("custom-avs", None)
            node.id = fresh
            if node.properties.get("heading-fold") == "1":
                node.properties["status"] = "temp"
    for node in nodes:
        _follow(workspace, node, renamed)


def _follow(workspace: Workspace, node: Node, renamed: dict[str, str]) -> None:
    if node.type == "NodeBlockQueryEmbedScript":
        for old, new in renamed.items():
            node.data = (node.data or "").replace(old, new)
    if node.type != "NodeTextMark":
        return
    target = str(node.fields.get("TextMarkBlockRefID", ""))
    if target in renamed:
        node.fields["TextMarkBlockRefID"] = renamed[target]
    elif target and node.fields.get("TextMarkTextContent") in ("", target):  # an empty anchor is read as the id
        text = _anchor(workspace, target)
        if text:
            node.fields.update(TextMarkTextContent=_safe(text), TextMarkBlockRefSubtype="d")
        else:
            node.detach()
    link = str(node.fields.get("TextMarkAHref", ""))
    if link.removeprefix(_BLOCK_LINK) in renamed and link.startswith(_BLOCK_LINK):
        node.fields["TextMarkAHref"] = _BLOCK_LINK + renamed[link.removeprefix(_BLOCK_LINK)]


def _anchor(workspace: Workspace, block_id: str) -> str:
    """What an anchor that was left empty says: a block's name, else its text as the index has it."""
    try:
        node = workspace.node(block_id)[1]
    except (NotFound, CorruptDocument):
        return _UNKNOWN
    names = [node.properties.get(name, "") for name in ("name", "title")]
    if name := unescaped_attribute(names[0] or names[1]):
        return name.strip()
    if node.type == "NodeThematicBreak":
        return "Thematic Break"
    if node.type in _NAMED_KINDS:
        return f"{_NAMED_KINDS[node.type]} {std_markdown(node)}".strip()
    if node.type not in CONTAINER_TYPES:
        return stripped(plain_content(node)).strip()
    leaf = first_leaf(node)
    return html.unescape(anchor_content(leaf)).strip() if leaf is not None else ""


def _safe(text: str) -> str:
    """Text as an anchor holds it; ``&`` is left as it is, as in the kernel."""
    return text.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


# --- out of a document -----------------------------------------------------------------------------------------------
def template_of(workspace: Workspace, root: Node) -> str:
    """A document as a template: its blocks with their attributes, then its own attributes."""
    copy = root.clone()
    for node in list(copy.walk()):
        node.properties.pop("updated", None)
        if node.type == "NodeTextMark":
            target = str(node.fields.get("TextMarkBlockRefID", ""))
            if target and not workspace.block_exists(target):
                node.fields.update(TextMarkBlockRefID="", TextMarkBlockRefSubtype="")
        elif node.type == "NodeCodeBlock":
            _unpack_code(node)
    body = "\n\n".join(render_kramdown(block, mode="textmark").strip("\n") for block in copy.children)
    properties = dict(copy.properties)
    own = write_list([("id", properties.pop("id", root.id)), *sorted(properties.items())])
    return f"{body}\n\n{own}" if body else f"\n{own}"


def _unpack_code(block: Node) -> None:
    """Template code becomes plain text, so that it runs when the template is used."""
    language, code = code_parts(block)
    if language in _CODE_LANGUAGES and block.parent is not None:
        paragraph = Node("NodeParagraph", id=block.id, properties={"id": block.id})
        paragraph.append(Node("NodeText", data=code))
        block.insert_before(paragraph)
        block.detach()
