"""What a template makes here, or the words it fails with: tests compare them with what the real kernel made."""

from __future__ import annotations

from datetime import UTC, datetime

from kernel.ids import SeededIds
from kernel.workspace.templates.catalogue import functions
from kernel.workspace.templates.errors import TemplateFailed
from kernel.workspace.templates.execution import render

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
KNOWN = functions(NOW, SeededIds(1), {})


def made(source: str) -> str:
    try:
        return render(source, None, KNOWN)
    except TemplateFailed as error:
        return str(error)
