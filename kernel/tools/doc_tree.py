"""Trees of documents, level by level: one host call per document that has children, none for leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.tools.context import ToolContext
from kernel.tools.failures import from_host

# How one document looks: (row of the host, its children or their number, path of the parent) → node.
NodeMaker = Callable[[Mapping[str, Any], Any, str], dict[str, Any]]


@dataclass(slots=True)
class TreeWalk:
    """One walk through a notebook, and what could not be read on the way."""

    context: ToolContext
    notebook: str
    depth_max: int
    make: NodeMaker
    errors: list[dict[str, Any]] = field(default_factory=list)
    top_count: int = 0
    failed_top_count: int = 0

    async def below(self, path: str, shown_path: str, depth: int = 0) -> list[dict[str, Any]]:
        """The nodes below a storage path.

        Raises:
            HostError: the first level cannot be listed; deeper failures are noted and shown as no children.
        """
        rows = await self._rows(path)
        if depth == 0:
            self.top_count += len(rows)
        nodes = []
        for row in rows:
            shown = f"{shown_path.rstrip('/')}/{name_of(row)}"
            nodes.append(self.make(row, await self._children(row, shown, depth), shown_path))
        return nodes

    async def _children(self, row: Mapping[str, Any], shown: str, depth: int) -> Any:
        count = int(row.get("subFileCount") or 0)
        if count == 0:
            return []
        if depth >= self.depth_max:
            return count
        try:
            return await self.below(str(row["path"]), shown, depth + 1)
        except HostError as error:
            told: ToolError = from_host(error)
            self.failed_top_count += depth == 0
            self.errors.append({"type": told.kind.type, "name": name_of(row), "path": shown, "message": told.message})
            return []

    async def _rows(self, path: str) -> list[Mapping[str, Any]]:
        self.context.progress.found("Listed the documents below")
        data = await self.context.call(
            "/api/filetree/listDocsByPath",
            notebook=self.notebook,
            path=path,
            maxListCount=0,
            ignoreMaxListHint=True,
        )
        return list((data or {}).get("files") or [])


def name_of(row: Mapping[str, Any]) -> str:
    """A document's title in a row of listDocsByPath."""
    return str(row.get("name") or row.get("id") or "").removesuffix(".sy")
