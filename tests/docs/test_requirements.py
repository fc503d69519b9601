"""docs/requirements.md and docs/cases.md: complete, and every file, function, heading and test that they name exists."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "docs" / "requirements.md"
CASES = ROOT / "docs" / "cases.md"
LINES = 350
# Lines that only a Node runtime of the original could show.
NOT_APPLICABLE = {143, 186, 200}
STATUSES = {"done", "documented", "not applicable", "open"}


class Row:
    """One line of a table: its number, the places, the tests, how far it is."""

    def __init__(self, cells: list[str]) -> None:
        number, self.where, tests, self.status = cells
        self.number = int(number.split()[0])
        self.label = number.split()[1:]
        self.tests = re.findall(r"`([^`]+)`", tests)
        self.places = re.findall(r"`([^`]+)`", self.where)
        self.links = re.findall(r"\]\(([^)]+)\)", self.where)


def table(path: Path) -> list[list[str]]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if not line.startswith("| id ")]


ROWS = [Row(cells) for cells in table(REQUIREMENTS)]


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """Functions and classes of a module, members with their class: read, not imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{member.name}" for member in node.body if _is_function(member)}
        if isinstance(node, ast.ClassDef) or _is_function(node):
            found.add(node.name)
    return frozenset(found)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


@functools.cache
def anchors_of(path: Path) -> frozenset[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings)


def fault_of(name: str) -> str | None:
    """What is wrong with ``path`` or ``path::name``; None if it is there."""
    path, _, inner = name.partition("::")
    file = ROOT / path
    if not file.is_file():
        return f"{path} does not exist"
    if inner and inner not in names_in(file):
        return f"{path} has no {inner}"
    return None


def fault_of_link(link: str) -> str | None:
    page, _, anchor = link.partition("#")
    path = ROOT / "docs" / page
    if not path.is_file():
        return f"{page} does not exist"
    return None if not anchor or anchor in anchors_of(path) else f"{page} has no heading {anchor}"


def test_every_line_has_one_row() -> None:
    assert [row.number for row in ROWS] == list(range(1, LINES + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.number))
def test_a_row_says_what_is_true_and_names_what_is_there(row: Row) -> None:
    assert row.status in STATUSES
    assert len(row.label) <= 5
    faults = [fault_of(name) for name in (*row.places, *row.tests)] + [fault_of_link(link) for link in row.links]
    assert [fault for fault in faults if fault] == []
    assert all(test.startswith("tests/") and "::test_" in test for test in row.tests)
    match row.status:
        case "done":
            assert row.places
            assert row.tests
        case "documented":
            assert row.links
        case "not applicable":
            assert "decision 45" in row.where
    assert (row.status == "not applicable") == (row.number in NOT_APPLICABLE)


CASE_ROWS = table(CASES)
# Kinds whose cases must all be shown: the endpoint's own promises.
KINDS = {
    "cancel-outcome": {"A01", "A09", "A12"},
    "cancel-target": {"A05", "A06", "A08"},
    "lane": {"A02", "A03", "A11", "A15"},
    "task-control": {"A18", "A21"},
    "envelope": {"B01", "B02", "B05"},
    "json-values": {"B07", "B09"},
    "session": {"C01", "C03", "C04", "C07", "C09", "C10"},
    "sse-stream": {"C06", "D01", "D03", "D05"},
    "list-changed": {"D08", "H06"},
    "http-framing": {"E01", "E03"},
    "http-limits": {"E05"},
    "host-origin": {"E06", "E08"},
    "modern-era": {"F02", "F03"},
    "confirmation": {"F05", "F08"},
    "double-write": {"G01", "G07"},
    "lost-update": {"G02", "G09"},
    "state-hash": {"G04"},
    "dry-run": {"G08"},
    "upload": {"L05"},
}


@pytest.mark.parametrize("cells", CASE_ROWS, ids=lambda cells: cells[0].split()[0])
def test_a_case_names_tests_that_exist(cells: list[str]) -> None:
    tests = re.findall(r"`([^`]+)`", cells[1])
    assert tests
    assert [fault for fault in map(fault_of, tests) if fault] == []


def test_every_case_of_these_kinds_is_shown() -> None:
    shown: dict[str, set[str]] = {}
    for cells in CASE_ROWS:
        case, kind = cells[0].split()
        shown.setdefault(kind, set()).add(case)
    assert {kind: cases - shown.get(kind, set()) for kind, cases in KINDS.items()} == {kind: set() for kind in KINDS}
    ids = [cells[0].split()[0] for cells in CASE_ROWS]
    assert len(ids) == len(set(ids))
