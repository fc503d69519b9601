"""[core] Names of copies: ``Name (1)``, ``Name (2)`` …"""

from __future__ import annotations

import re
from typing import Final

_NUMBERED: Final = re.compile(r"(.*) \((\d+)\)")


def duplicate_name(name: str) -> str:
    """The name of a copy; of what has no name, none."""
    if not name:
        return ""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered.group(1)} ({int(numbered.group(2)) + 1})" if numbered else f"{name} (1)"
