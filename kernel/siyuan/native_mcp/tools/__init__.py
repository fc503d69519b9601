"""The native tools of the official endpoint: name → what it does. The module of a family brings its TOOLS."""

from __future__ import annotations

from typing import Final

from kernel.siyuan.native_mcp.base import Action
from kernel.siyuan.native_mcp.tools import (
    blocks,
    databases,
    documents,
    files,
    notebooks,
    notes,
    others,
    search,
    skills,
    transfers,
    versions,
)

TOOLS: Final[dict[str, Action]] = {
    name: action
    for module in (blocks, databases, documents, files, notebooks, notes, others, search, skills, transfers, versions)
    for name, action in module.TOOLS.items()
}
