"""Templates: listed, read, written, rendered. They are files below /data/templates."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from kernel.host.base import HostApiError
from kernel.safety.intent import Outcome
from kernel.tools.context import Arguments, Handling, ToolContext, Written, on_block
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level
from kernel.tools.results import page_of

FOLDER: Final = "/data/templates/"
_OUTSIDE: Final = re.compile(r"(^|/)\.\.?(/|$)|[\x00-\x1f\\]")


async def list_templates(context: ToolContext, arguments: Arguments) -> Any:
    query = arguments.get("query") or ""
    rows = await _templates(context, query)
    page = page_of(rows, arguments["page"], arguments["pageSize"], query=query)
    is_cut = page["pageCount"] > 1
    return {**page, "truncated": is_cut, **({"showing": len(page["data"])} if is_cut else {})}


async def _templates(context: ToolContext, query: str = "") -> list[dict[str, Any]]:
    data = await context.call("/api/search/searchTemplate", k=query)
    return [
        {"path": row.get("path"), "relativePath": row.get("relativePath"), "name": row.get("content")}
        for row in (data or {}).get("templates") or []
    ]


async def read_template(context: ToolContext, arguments: Arguments) -> Any:
    relative = relative_path(arguments["path"])
    text = await _text(context, relative)
    offset, limit = arguments["offset"], arguments["limit"]
    piece = text[offset : offset + limit]
    is_cut = offset + limit < len(text)
    payload = {
        "path": arguments["path"],
        "relativePath": relative,
        "markdown": piece,
        "totalChars": len(text),
        "offset": offset,
        "limit": limit,
        "truncated": is_cut,
    }
    return {**payload, "nextOffset": offset + limit} if is_cut else payload


async def _text(context: ToolContext, relative: str) -> str:
    content = await context.host.read_file(FOLDER + relative)
    if content is None:
        raise refusal(f"There is no template {relative}.", "template_not_found", reason="template_not_found")
    return content.decode("utf-8", "replace")


def relative_path(path: str) -> str:
    """A template's path below the templates' folder; it ends in .md.

    Raises:
        ToolError: outside the folder.
    """
    _, found, inside = path.partition(FOLDER)
    relative = (inside if found else path).strip().removeprefix("/")
    if not relative or _OUTSIDE.search(relative) or (not found and path.startswith("/data/")):
        raise refusal(
            f"{path} is not inside the templates' folder.", "path_not_in_workspace", reason="path_not_in_workspace"
        )
    return relative if relative.endswith(".md") else relative + ".md"


async def create_template(context: ToolContext, arguments: Arguments) -> Written:
    return await _store(context, relative_path(arguments["path"]), arguments["markdown"])


def create_confirms(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """The template's file holds the text that was given."""

    async def confirm(_outcome: Outcome) -> bool:
        stored = await context.host.read_file(FOLDER + relative_path(arguments["path"]))
        return stored == _encoded(arguments["markdown"])

    return confirm


def _encoded(markdown: str) -> bytes:
    return markdown.encode("utf-8", "surrogatepass")


async def update_template(context: ToolContext, arguments: Arguments) -> Written:
    return await _store(context, relative_path(arguments["path"]), arguments["markdown"])


async def _store(context: ToolContext, relative: str, markdown: str) -> Written:
    await context.host.write_file(FOLDER + relative, _encoded(markdown))
    payload = {"success": True, "path": FOLDER + relative, "relativePath": relative, "totalChars": len(markdown)}
    return Written(payload)


async def delete_template(context: ToolContext, arguments: Arguments) -> Written:
    relative = relative_path(arguments["path"])
    absolute = await _absolute(context, relative)
    await context.call("/api/search/removeTemplate", path=absolute)
    return Written({"success": True, "path": arguments["path"], "relativePath": relative})


async def _absolute(context: ToolContext, relative: str) -> str:
    """The host names templates by their place on its disk."""
    found = next((row for row in await _templates(context) if row["relativePath"] == relative), None)
    if found is None:
        raise refusal(f"There is no template {relative}.", "template_not_found", reason="template_not_found")
    return str(found["path"])


async def save_doc_as_template(context: ToolContext, arguments: Arguments) -> Written:
    block_id, name = arguments["id"], arguments["name"]
    relative = relative_path(name)
    try:
        await context.call("/api/template/docSaveAsTemplate", id=block_id, name=name, overwrite=arguments["overwrite"])
    except HostApiError as error:
        if error.api_code != 1 or error.message:
            raise
        raise refusal(f"Template {relative} exists already.", "template_exists", reason="template_exists") from error
    found = next((row for row in await _templates(context) if row["relativePath"] == relative), None)
    payload = {"success": True, "id": block_id, "name": name}
    return Written({**payload, "template": found} if found else payload)


async def render(context: ToolContext, arguments: Arguments) -> Any:
    if arguments["engine"] == "sprig":
        return {"content": await context.call("/api/template/renderSprig", template=arguments["template"])}
    await context.require_block(arguments["id"], Level.READ)
    path = arguments["path"]
    if not path.startswith("/") or path.startswith(FOLDER):
        path = await _absolute(context, relative_path(path))
    return await context.call("/api/template/render", id=arguments["id"], path=path, preview=arguments.get("preview"))


async def _guard_there(context: ToolContext, arguments: Arguments) -> None:
    """A template that is to be changed or removed is there."""
    await _text(context, relative_path(arguments["path"]))


async def _guard_new(context: ToolContext, arguments: Arguments) -> None:
    """What would be refused when it is written is refused by the preflight already."""
    relative = relative_path(arguments["path"])
    there = await context.host.read_file(FOLDER + relative)
    if there is not None and not arguments.get("overwrite"):
        raise refusal(f"Template {relative} exists already.", "template_exists", reason="template_exists")
    _check_size(context, arguments)


async def _guard_update(context: ToolContext, arguments: Arguments) -> None:
    await _guard_there(context, arguments)
    _check_size(context, arguments)


def _check_size(context: ToolContext, arguments: Arguments) -> None:
    mib_max = context.configuration.options.template_mib_max
    if len(_encoded(arguments["markdown"])) > mib_max * 1024 * 1024:
        raise refusal(f"Template exceeds {mib_max} MiB.", "too_large")


HANDLERS: Final[dict[str, Handling]] = {
    "file.list_templates": Handling(list_templates),
    "file.read_template": Handling(read_template),
    "file.create_template": Handling(create_template, _guard_new, confirms=create_confirms),
    "file.update_template": Handling(update_template, _guard_update),
    "file.delete_template": Handling(delete_template, _guard_there),
    "file.save_doc_as_template": Handling(save_doc_as_template, on_block(Level.READ, "id")),
    "file.render": Handling(render),
}
