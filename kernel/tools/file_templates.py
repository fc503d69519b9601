"""Templates: listed, read, written, rendered. They are files below /data/templates."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostError
from kernel.safety.intent import Outcome
from kernel.tools.context import Arguments, Handling, ToolContext, Written, on_block
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level
from kernel.tools.results import page_of

FOLDER: Final = "/data/templates/"
_EXISTS_HINT: Final = "Pass overwrite:true to replace it, or choose another name."
_OUTSIDE: Final = re.compile(r"(^|/)\.\.?(/|$)|[\x00-\x1f\\]")


async def list_templates(context: ToolContext, arguments: Arguments) -> Any:
    query = arguments.get("query") or ""
    rows = [{**row, **_uses(row["path"])} for row in await _templates(context, query)]
    page = page_of(rows, arguments["page"], arguments["pageSize"], query=query)
    is_cut = page["pageCount"] > 1
    return {**page, "truncated": is_cut, **({"showing": len(page["data"])} if is_cut else {})}


async def _templates(context: ToolContext, query: str = "") -> list[dict[str, Any]]:
    data = await context.call("/api/search/searchTemplate", k=query)
    return [
        {"path": row.get("path"), "relativePath": row.get("relativePath"), "name": _name(str(row.get("relativePath")))}
        for row in (data or {}).get("templates") or []
    ]


def _name(relative: str) -> str:
    return relative.rsplit("/", 1)[-1].removesuffix(".md")


def _uses(path: str, *, names_action: bool = False) -> dict[str, Any]:
    """The calls that read and render a template, ready but for the document."""
    read, render = ({"action": name} if names_action else {} for name in ("read_template", "render"))
    return {
        "readArgs": {**read, "path": path},
        "renderArgsTemplate": {**render, "engine": "template", "id": "<doc-id>", "path": path},
    }


async def _written(context: ToolContext, relative: str) -> dict[str, Any]:
    """What a writer is told of its template: where the host keeps it, and how it is used."""
    try:
        path = await _found(context, relative)
    except HostError:
        # The template is written; only the host's name for it stays unknown.
        path = None
    path = path or FOLDER + relative
    return {"path": path, "relativePath": relative, "name": _name(relative), **_uses(path, names_action=True)}


async def _found(context: ToolContext, relative: str) -> str | None:
    """The host names templates by their place on its disk."""
    return next((str(row["path"]) for row in await _templates(context) if row["relativePath"] == relative), None)


def _refused(message: str, code: str, **details: Any) -> ToolError:
    """A refusal of this family: its coarse type is the kernel's, as clients of this plugin know it."""
    details.setdefault("hint", "List the templates with list_templates; a path ends in .md.")
    return ToolError(code, message, type="api_error", reason=code, **details)


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
        raise _refused(f"There is no template {relative}.", "template_not_found")
    return content.decode("utf-8", "replace")


def relative_path(path: str) -> str:
    """A template's path below the templates' folder; it ends in .md.

    Raises:
        ToolError: outside the folder, or of another kind.
    """
    _, found, inside = path.partition(FOLDER)
    relative = (inside if found else path).strip().removeprefix("/")
    if not relative or _OUTSIDE.search(relative) or (not found and path.startswith("/data/")):
        raise _refused(f"{path} is not inside the templates' folder.", "invalid_template_path")
    if not relative.endswith(".md"):
        raise _refused(f"{path} does not end in .md.", "invalid_template_path")
    return relative


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
    return Written({"success": True, **await _written(context, relative), "totalChars": len(markdown)})


async def delete_template(context: ToolContext, arguments: Arguments) -> Written:
    relative = relative_path(arguments["path"])
    absolute = await _absolute(context, relative)
    await context.call("/api/search/removeTemplate", path=absolute)
    return Written({"success": True, "path": absolute, "relativePath": relative})


async def _absolute(context: ToolContext, relative: str) -> str:
    found = await _found(context, relative)
    if found is None:
        raise _refused(f"There is no template {relative}.", "template_not_found")
    return found


async def save_doc_as_template(context: ToolContext, arguments: Arguments) -> Written:
    block_id, name = arguments["id"], arguments["name"]
    relative = relative_path(name if name.endswith(".md") else f"{name}.md")
    try:
        await context.call("/api/template/docSaveAsTemplate", id=block_id, name=name, overwrite=arguments["overwrite"])
    except HostApiError as error:
        if error.api_code != 1 or error.message:
            raise
        raise _refused(f"Template {relative} exists already.", "template_exists", hint=_EXISTS_HINT) from error
    return Written({"success": True, "id": block_id, "name": name, "template": await _written(context, relative)})


async def render(context: ToolContext, arguments: Arguments) -> Any:
    if arguments["engine"] == "sprig":
        return await context.call("/api/template/renderSprig", template=arguments["template"])
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
        path = await _found(context, relative) or FOLDER + relative
        words = f"Template {relative} exists already."
        raise _refused(words, "template_exists", path=path, relativePath=relative, hint=_EXISTS_HINT)
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
