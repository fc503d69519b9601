"""/api/template: rendering templates, saving a document as one (siyuan-api A7; kernel-facts 21)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.dispatch import Envelope
from kernel.siyuan.templates import LEFT, PARSE_FAILED, RIGHT, rendered
from kernel.workspace.assets import is_there
from kernel.workspace.doc_templates import model_of, template_dom, template_file, template_of
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.names import clean_path
from kernel.workspace.templates.errors import TemplateFailed

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


async def render_template(call: Call) -> Any:
    """A template file, rendered for a block, as editor DOM."""
    path, block_id = call.arguments.raw_str("path"), call.arguments.raw_str("id")
    if not is_node_id(block_id):
        raise ApiError("invalid ID argument")
    inner = _inside(call, path)
    if call.arguments.get("preview") is not None:
        call.arguments.raw_bool("preview")
    workspace = call.kernel.workspace
    model = model_of(workspace, block_id)
    if not is_there(workspace.files, inner):
        raise ApiError(_shown(f"open {path}: no such file or directory"))
    if workspace.files.is_dir(inner):
        raise ApiError(_shown(f"read {path}: is a directory"))
    source = workspace.files.read(inner).decode("utf-8", "replace")
    text = await _rendered(call, source, model, LEFT, RIGHT)
    try:
        content = template_dom(workspace, text)
    except MarkdownError as error:
        raise Panic(str(error)) from error
    return {"path": path, "content": content}


def _inside(call: Call, path: str) -> str:
    """A path as the operating system names it, relative to the workspace. Raises ApiError outside of it."""
    root = call.kernel.workspace.files.absolute("").rstrip("/")
    cleaned = clean_path(path) if path else ""
    if not cleaned.startswith(f"{root}/") or not path.startswith("/"):
        raise ApiError(f"Path [{path}] is not in workspace")
    return cleaned[len(root) + 1 :]


async def _rendered(call: Call, source: str, data: Any, left: str, right: str) -> str:
    try:
        return await rendered(call.kernel, source, data, left=left, right=right)
    except TemplateFailed as error:
        raise ApiError(_shown(PARSE_FAILED.format(error))) from error


def _shown(words: str) -> str:
    """An error's words with their marks escaped, as the kernel answers here."""
    return html.escape(words, quote=False).replace('"', "&#34;").replace("'", "&#39;")


async def render_sprig(call: Call) -> Any:
    """A text with ``{{ … }}``, rendered for nothing in particular."""
    return await _rendered(call, call.arguments.raw_str("template"), None, "{{", "}}")


def doc_save_as_template(call: Call) -> Any:
    """Code 1 where there is one already; nothing happens for an unknown document."""
    block_id, name = call.arguments.raw_str("id"), call.arguments.raw_str("name")
    overwrites = call.arguments.raw_bool("overwrite")
    workspace = call.kernel.workspace
    if not workspace.block_exists(block_id):
        return None
    path = template_file(name)
    if workspace.files.exists(path) and not overwrites:
        return Envelope(1, "", None)
    workspace.files.write(path, template_of(workspace, workspace.document(block_id).root).encode())
    return None


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/template/render": render_template,
    "/api/template/renderSprig": render_sprig,
    "/api/template/docSaveAsTemplate": doc_save_as_template,
}
