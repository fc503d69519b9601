"""Every core is covered whole, lines and branches: the last word of ``make coverage``.

A core is a module whose docstring begins with ``[core]``: it decides and does no I/O, so nothing keeps a test from it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGES = ("kernel", "scheduler")
MARK = '"""[core]'


@dataclass(frozen=True, slots=True)
class Missed:
    """What the tests leave out of one core. ``lines`` is None where it was never imported."""

    path: str
    lines: list[int] | None
    branches: list[list[int]]

    def __str__(self) -> str:
        if self.lines is None:
            return f"{self.path}: never imported"
        parts = []
        if self.lines:
            parts.append("lines " + ", ".join(map(str, self.lines)))
        # A branch into a line that was not run says nothing that the line does not say.
        silent = [(start, end) for start, end in self.branches if end not in self.lines]
        if silent:
            parts.append("branches " + ", ".join(f"{start}->{end}" for start, end in silent))
        return f"{self.path}: {'; '.join(parts)}"


def cores(root: Path) -> list[str]:
    """The paths of all cores below ``root``."""
    modules = (path for package in PACKAGES for path in sorted((root / package).rglob("*.py")))
    return [path.relative_to(root).as_posix() for path in modules if path.read_text("utf-8").startswith(MARK)]


def missed(report: dict[str, Any], paths: list[str]) -> list[Missed]:
    """What a JSON report of coverage says is missing in ``paths``."""
    found = []
    for path in paths:
        measured = report["files"].get(path)
        if measured is None:
            found.append(Missed(path, None, []))
        elif measured["missing_lines"] or measured["missing_branches"]:
            found.append(Missed(path, measured["missing_lines"], measured["missing_branches"]))
    return found


def main() -> int:
    """Reads the report from standard input. 1 when a core is not covered whole."""
    paths = cores(Path())
    short = missed(json.load(sys.stdin), paths)
    for one in short:
        print(one)
    print(f"{len(paths) - len(short)} of {len(paths)} cores are covered whole")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
