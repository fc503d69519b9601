"""The /api families. Each module holds ``HANDLERS: Final[dict[str, ApiHandler]]``, path → handler."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler


@cache
def all_handlers() -> dict[str, ApiHandler]:
    """Collect the HANDLERS of every family module. A path claimed twice is a fault of ours."""
    found: dict[str, ApiHandler] = {}
    for module_info in pkgutil.walk_packages(__path__, f"{__name__}."):
        module = importlib.import_module(module_info.name)
        for path, handler in getattr(module, "HANDLERS", {}).items():
            if path in found:
                raise RuntimeError(f"{path} has two handlers")
            found[path] = handler
    return found
