"""[core] The product's second map: one table of 14 tools and their 143 static actions. Does no I/O.

Schemas, help, lanes, confirmation, the safety fields and the documentation are derived from these rows.
"""

from __future__ import annotations

from typing import Final

from kernel.tools.registry import av, block, document, file, fs, notebook, search, small
from kernel.tools.registry.model import Action, Problem, Tool

__all__ = ["ACTIONS", "TOOLS", "Action", "Problem", "Tool", "find_action"]

# In the order of tools/list: a harmless tool first.
TOOLS: Final[dict[str, Tool]] = {
    tool.name: tool
    for tool in (
        fs.TOOL,
        notebook.TOOL,
        document.TOOL,
        block.TOOL,
        av.TOOL,
        file.TOOL,
        search.TOOL,
        small.TAG,
        small.TIMELINE,
        small.SYSTEM,
        small.FLASHCARD,
        small.EXTENSION,
        small.MASCOT,
        small.FEEDBACK,
    )
}
ACTIONS: Final[dict[str, Action]] = {action.key: action for tool in TOOLS.values() for action in tool.actions}

# Spellings that mean the same; a tool has at most one action of each group.
_SYNONYMS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"ls", "list"}),
    frozenset({"mv", "move"}),
    frozenset({"rm", "remove", "delete", "del"}),
)


def find_action(tool: Tool, name: str) -> Action | None:
    """The action a caller means: as written, with ``-`` for ``_``, or by a synonym (``delete`` for ``remove``)."""
    plain = name.replace("-", "_")
    if (found := tool.action(plain)) is not None:
        return found
    for group in _SYNONYMS:
        if plain in group:
            return next((action for action in tool.actions if action.name in group), None)
    return None
