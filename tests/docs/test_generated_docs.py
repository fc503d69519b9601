"""docs/errors.md, docs/limits.md and docs/diagrams.md are printed from the code; a stale page fails.

Regenerate with ``REGENERATE=1 python -m pytest tests/docs``.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import kernel
import scheduler
from kernel.errors import ERRORS

DOCS = Path(__file__).parents[2] / "docs"


def errors_page() -> str:
    lines = [
        "# Error codes",
        "",
        "Printed from `kernel/errors.py`. A failed tool call is a result with `isError:true` whose `structuredContent.error`",
        "(the same JSON is the text) has `type`, `code`, `message`, `nextStep` and `safeToRetry`; `safeToRetry` means: the",
        "same call, unchanged. JSON-RPC errors are another level: their table is in `kernel/mcp/jsonrpc.py`.",
        "",
        "| code | type | safe to retry | what to do next |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{kind.code}` | `{kind.type}` | {'yes' if kind.safe_to_retry else 'no'} | {kind.next_step} |"
        for kind in ERRORS.values()
    ]
    return "\n".join(lines) + "\n"


def limits_modules() -> list[ModuleType]:
    found = []
    for package in (kernel, scheduler):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.rsplit(".", 1)[-1] == "limits":
                found.append(importlib.import_module(info.name))
    return sorted(found, key=lambda module: module.__name__)


def limits_page() -> str:
    lines = ["# Limits", "", "Printed from the `limits.py` modules. The unit is the last word of a name.", ""]
    for module in limits_modules():
        lines += [f"## `{module.__name__}`", "", "| name | value |", "|---|---|"]
        lines += [
            f"| `{name}` | {value:,} |"
            for name, value in vars(module).items()
            if name.isupper() and isinstance(value, int | float) and not isinstance(value, bool)
        ]
        lines.append("")
    return "\n".join(lines)


@pytest.mark.parametrize(("name", "page"), [("errors.md", errors_page), ("limits.md", limits_page)])
def test_generated_page_is_current(name: str, page: object) -> None:
    """A page that the code prints equals the page that people read."""
    assert callable(page)
    text = page()
    path = DOCS / name
    if os.environ.get("REGENERATE"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
