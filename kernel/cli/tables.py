"""Lists of like things as tables, for people at a terminal; a pipe gets lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

COLUMNS_MAX: Final = 7
ROWS_MIN: Final = 2


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def columns_of(value: Any) -> list[str]:
    """The columns of a list that can be a table: at least two flat objects, few keys; empty where it cannot."""
    if not isinstance(value, list) or len(value) < ROWS_MIN or not all(isinstance(row, dict) and row for row in value):
        return []
    columns = list(dict.fromkeys(key for row in value for key in row))
    is_flat = not any(isinstance(item, dict | list) for row in value for item in row.values())
    return columns if is_flat and len(columns) <= COLUMNS_MAX else []


def print_table(title: str, columns: list[str], rows: list[Mapping[str, Any]]) -> None:
    """One table on standard output."""
    # Slow to load, and only a terminal needs it.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        # Text, not markup: a title with [brackets] is a title.
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    Console(highlight=False).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
