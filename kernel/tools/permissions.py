"""What callers may do in each notebook: none < r < rw < rwd, from the plugin's own file (decision 5). Does no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from kernel.errors import ToolError
from kernel.ids import is_node_id
from kernel.json_text import read_json


class Level(IntEnum):
    """Ordered: each level includes the ones before it."""

    NONE = 0
    READ = 1
    WRITE = 2
    DELETE = 3


LEVELS: Final[dict[str, Level]] = {"none": Level.NONE, "r": Level.READ, "rw": Level.WRITE, "rwd": Level.DELETE}
_SPELLINGS: Final[dict[Level, str]] = {level: name for name, level in LEVELS.items()}
# How older releases wrote them.
_OLD_SPELLINGS: Final[dict[str, Level]] = {"readonly": Level.READ, "write": Level.WRITE}
_NEEDED: Final[dict[Level, str]] = {Level.READ: "read", Level.WRITE: "write", Level.DELETE: "delete"}


class PermissionsUnreadable(Exception):
    """The file is there and is not what it should be: nothing is allowed on a guess."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """One call's snapshot (R206). A notebook that is not named has the ``default``."""

    by_notebook: Mapping[str, Level] = field(default_factory=dict)
    default: Level = Level.WRITE

    def of(self, notebook: str) -> Level:
        return self.by_notebook.get(notebook, self.default)

    def allows(self, notebook: str, level: Level) -> bool:
        return self.of(notebook) >= level

    def require(self, notebook: str, level: Level, *, name: str = "") -> None:
        """Nothing, or the refusal that names what is there and what is needed.

        Raises:
            ToolError: permission_denied.
        """
        if self.allows(notebook, level):
            return
        current, needed = spelled(self.of(notebook)), _NEEDED[level]
        raise ToolError(
            "permission_denied",
            f"Notebook {name or notebook} has permission {current!r}; this needs {needed} access.",
            notebook=notebook,
            current_permission=current,
            required_permission=needed,
        )

    def unreadable(self, notebooks: Iterable[str]) -> list[str]:
        """Those of ``notebooks`` that may not even be read."""
        return [notebook for notebook in notebooks if not self.allows(notebook, Level.READ)]

    def with_level(self, notebook: str, level: Level) -> Permissions:
        return Permissions({**self.by_notebook, notebook: level}, self.default)

    def as_file(self) -> bytes:
        """The file's bytes, in today's spelling."""
        names = {notebook: spelled(level) for notebook, level in self.by_notebook.items()}
        return json.dumps(names, ensure_ascii=False, indent=2).encode()


def spelled(level: Level) -> str:
    """``none`` ``r`` ``rw`` ``rwd``."""
    return _SPELLINGS[level]


def read_permissions(content: bytes | None, default: Level) -> Permissions:
    """The permissions in the file's ``content``; None (no file) leaves every notebook at the default.

    Entries that name no notebook (an error answer that was once saved as if it were the file) are left out; a level
    that is unknown allows nothing.

    Raises:
        PermissionsUnreadable: not a JSON object.
    """
    if content is None:
        return Permissions({}, default)
    try:
        parsed: Any = read_json(content)
    except ValueError as error:
        raise PermissionsUnreadable("notebookPermissions is not JSON") from error
    if not isinstance(parsed, dict):
        raise PermissionsUnreadable("notebookPermissions is not an object")
    levels = {str(key): _level(value) for key, value in parsed.items() if is_node_id(str(key))}
    return Permissions(levels, default)


def _level(value: Any) -> Level:
    text = str(value)
    return LEVELS.get(text, _OLD_SPELLINGS.get(text, Level.NONE))
