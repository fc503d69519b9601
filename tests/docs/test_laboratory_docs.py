"""docs/laboratory.md is written by hand; its tables of deeds and points must be those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from kernel.faults.deeds import DEEDS
from kernel.faults.points import HTTP_POINTS, LEDGER_POINTS, WRITE_POINTS

PAGE = Path(__file__).parents[2] / "docs" / "laboratory.md"


def rows(head: str) -> list[list[str]]:
    """The cells of the table that begins with this line."""
    table = PAGE.read_text().partition(head + "\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_table_of_deeds_names_each_deed_once_with_its_fields() -> None:
    told = [
        (name, frozenset(words(re.sub(r"= `\w+`( or `\w+`)*", "", fields))))  # behind "=" stand a field's values
        for names, fields, _ in rows("| do | fields | where it makes sense |")
        for name in words(names)
    ]
    assert sorted(told) == sorted((name, deed.fields) for name, deed in DEEDS.items())


def test_the_table_of_points_names_each_point_of_the_write_path_the_ledger_and_the_http_edge_once() -> None:
    told = [point for points, _ in rows("| points | where |") for point in words(points)]
    hosts = [f"host.{moment}:/api/…" for moment in ("before", "after")]
    assert sorted(told) == sorted((*hosts, *WRITE_POINTS, *LEDGER_POINTS, *HTTP_POINTS))
