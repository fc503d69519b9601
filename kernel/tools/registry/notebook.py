"""[core] The rows of tool ``notebook``. Does no I/O."""

from __future__ import annotations

from typing import Final

from kernel.safety.policy import ADDITIVE, READ, STATE
from kernel.tools.registry.model import ToolTable
from kernel.tools.registry.signature import record_of

PERMISSIONS: Final = ("none", "r", "rw", "rwd")


def _table() -> ToolTable:
    notebook = ToolTable(
        "notebook",
        "SiYuan Notebooks",
        "List, make, open, close and configure notebooks, and read or set what callers may do in them.",
        "Permissions are ordered none < r < rw < rwd; writing needs rw, deleting rwd.",
    )
    notebook.named["conf"] = record_of(
        "name text; closed bool; sortMode int; refCreateSavePath text; createDocNameTemplate text; "
        "dailyNoteSavePath text; dailyNoteTemplatePath text"
    )
    notebook.add("list", READ, "List all notebooks with their state.", tier="basic")
    notebook.add("create", ADDITIVE, "Make a notebook.", "name* text; icon text", tier="basic")
    notebook.add("set_open_state", STATE, "Open or close a notebook.", "notebook* text; opened* bool", tier="basic")
    notebook.add(
        "remove", STATE, "Remove a notebook with all its documents.", "notebook* text", is_dangerous=True, is_on=False
    )
    notebook.add("rename", STATE, "Rename a notebook.", "notebook* text; name* text", tier="basic")
    notebook.add("get_conf", READ, "Read a notebook's configuration.", "notebook* text", tier="basic")
    notebook.add("set_conf", STATE, "Change a notebook's configuration.", "notebook* text; conf* @conf")
    notebook.add("set_icon", STATE, "Set a notebook's icon.", "notebook* text; icon* text")
    notebook.add("get_permissions", READ, "Read the permissions of one notebook or of all.", "notebook text")
    notebook.add(
        "set_permission",
        STATE,
        "Set what callers may do in a notebook.",
        "notebook* text; permission* none|r|rw|rwd",
        is_dangerous=True,
        is_on=False,
    )
    notebook.add(
        "get_child_docs",
        READ,
        "List a notebook's top-level documents.",
        "notebook* text; page int 1.. = 1; pageSize int 1.. = 50",
        tier="basic",
    )
    return notebook


TOOL: Final = _table().done()
