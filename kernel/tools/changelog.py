"""system.changelog: what changed between versions of this product, from its own bundled text. Does no I/O."""

from __future__ import annotations

import re
from typing import Any, Final

from kernel.tools import guides
from kernel.tools.context import Arguments, Handling, ToolContext
from kernel.tools.failures import not_found

_HEAD: Final = re.compile(r"^## (?P<version>\S+)[^\n]*$", re.MULTILINE)


def entries(text: str) -> list[dict[str, Any]]:
    """The versions of a changelog, newest first as written: ``{version, changes, raw}``."""
    heads = list(_HEAD.finditer(text))
    found = []
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        raw = text[head.end() : after.start() if after else len(text)].strip()
        changes = [line[2:].strip() for line in raw.splitlines() if line.startswith("- ")]
        found.append({"version": head["version"], "changes": changes, "raw": raw})
    return found


async def changelog(context: ToolContext, arguments: Arguments) -> Any:
    found = entries(guides.CHANGELOG)
    if version := arguments.get("version"):
        found = [entry for entry in found if entry["version"] == version]
        if not found:
            raise not_found(
                f"There is no version {version} in the changelog.", hint="Leave version out for the newest."
            )
    elif start := arguments.get("fromVersion"):
        versions = [entry["version"] for entry in found]
        found = found[: versions.index(start)] if start in versions else found
    shown = found[: arguments["limit"]]
    if not arguments["includeRaw"]:
        shown = [{name: value for name, value in entry.items() if name != "raw"} for entry in shown]
    return {"entries": shown, "total": len(found), "truncated": len(shown) < len(found)}


HANDLERS: Final[dict[str, Handling]] = {"system.changelog": Handling(changelog)}
