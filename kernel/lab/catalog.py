"""Plans by name: the catalogue that comes with the kernel, and files of one's own."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kernel.faults.limits import PLAN_BYTES_MAX
from kernel.faults.plan import PlanInvalid
from kernel.faults.reading import PlanDocument, form_of, read_document

CATALOGUE: Final = Path(__file__).parent / "catalogue"
ALL: Final = "all"


class PlanUnknown(Exception):
    """No plan of that name, or a file that is no plan: the message says where and why. Exit code 2."""


@dataclass(frozen=True, slots=True)
class NamedPlan:
    """A plan and what a report calls it."""

    name: str
    path: Path
    document: PlanDocument


def catalogue() -> list[NamedPlan]:
    """Every plan of the catalogue, by name."""
    return [read_named(path) for path in sorted(CATALOGUE.glob("*.toml"))]


def read_named(path: Path) -> NamedPlan:
    """One plan file. Raises PlanUnknown with place and reason."""
    try:
        if path.stat().st_size > PLAN_BYTES_MAX:
            raise PlanUnknown(f"{path}: longer than {PLAN_BYTES_MAX} bytes")
        return NamedPlan(path.stem, path, read_document(path.read_text(encoding="utf-8"), form_of(path.name)))
    except (PlanInvalid, OSError, UnicodeDecodeError) as error:
        raise PlanUnknown(f"{path}: {error}") from None


def find_plans(wanted: tuple[str, ...]) -> list[NamedPlan]:
    """The plans of names, patterns (``write-*``), ``all`` and files, each once, in the order asked for.

    Raises:
        PlanUnknown: before anything is run: all of them are good, or none is taken.
    """
    known = {path.stem: path for path in sorted(CATALOGUE.glob("*.toml"))}
    paths: dict[Path, None] = {}
    for name in wanted:
        found = [known[one] for one in known if name == ALL or fnmatch.fnmatchcase(one, name)]
        if not found and Path(name).suffix in (".toml", ".json"):
            found = [Path(name)]
        if not found:
            raise PlanUnknown(f"no plan is named {name!r}: lab list shows them; a file ends in .toml or .json")
        paths.update(dict.fromkeys(found))
    return [read_named(path) for path in paths]
