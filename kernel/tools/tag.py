"""Tool ``tag``: tags across all notes. Changing one changes every note that has it, so all of them must allow it."""

from __future__ import annotations

from typing import Any, Final

from kernel.tools.context import TAGS, Arguments, Guard, Handling, ToolContext, Written
from kernel.tools.failures import not_found
from kernel.tools.permissions import Level


async def list_tags(context: ToolContext, arguments: Arguments) -> Any:
    if keyword := arguments.get("keyword"):
        return await context.call("/api/search/searchTag", k=keyword)
    options = {name: arguments.get(name) for name in ("sort", "ignoreMaxListHint", "app")}
    return await context.call("/api/tag/getTag", **options) or []


async def rename(context: ToolContext, arguments: Arguments) -> Written:
    old, new = arguments["oldLabel"], arguments["newLabel"]
    await context.call("/api/tag/renameTag", oldLabel=old, newLabel=new)
    return Written({"success": True, "oldLabel": old, "newLabel": new}, (TAGS,))


async def remove(context: ToolContext, arguments: Arguments) -> Written:
    label = arguments["label"]
    await context.call("/api/tag/removeTag", label=label)
    return Written({"success": True, "label": label}, (TAGS,))


def _guard(level: Level, argument: str) -> Guard:
    """There is the tag, or one below it, and every notebook that has one allows ``level``."""

    async def guard(context: ToolContext, arguments: Arguments) -> None:
        label = str(arguments[argument]).strip("#")
        quoted = label.replace("'", "''")
        # The kernel's SQL reader knows no ESCAPE, so no pattern is used for the label.
        rows = await context.sql(
            "SELECT DISTINCT box FROM spans WHERE type LIKE '%tag%' AND "
            f"(content = '{quoted}' OR instr(content, '{quoted}/') = 1) LIMIT 1024"
        )
        if not rows:
            raise not_found(f"No block carries the tag {label}.", hint="List the tags.")
        for row in rows:
            await context.require(str(row.get("box")), level)

    return guard


HANDLERS: Final[dict[str, Handling]] = {
    "tag.list": Handling(list_tags),
    "tag.rename": Handling(rename, _guard(Level.WRITE, "oldLabel")),
    "tag.remove": Handling(remove, _guard(Level.DELETE, "label")),
}
