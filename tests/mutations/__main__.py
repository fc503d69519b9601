"""``python -m tests.mutations [WORD…]``: plant each bug in a copy of the source, and see which test notices it.

Exit code 0 when every planted bug is caught by the tests it names, 1 when one is not. Words narrow it to bugs that have
one of them in their name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutations.table import BUGS, Bug

ROOT = Path(__file__).parents[2]
PARTS = ("kernel", "scheduler", "tests", "docs", "bench", "README.md", "pyproject.toml")
# A test that hangs has noticed something too.
TEST_S_MAX = 240
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def copy_of_the_source(folder: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "recordings")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignored)
        elif source.exists():
            shutil.copy(source, folder / part)


def caught(bug: Bug, folder: Path) -> str:
    """The test that fails with the bug planted; "" if none does."""
    path = folder / bug.file
    original = path.read_text(encoding="utf-8")
    if original.count(bug.old) != 1:
        raise SystemExit(f"{bug.name}: its text stands {original.count(bug.old)} times in {bug.file}")
    path.write_text(original.replace(bug.old, bug.new), encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", bug.caught_by],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TEST_S_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{bug.caught_by} (does not end)"
    finally:
        path.write_text(original, encoding="utf-8")
    found = _FAILED.search(done.stdout)
    if done.returncode == 1 and found is not None and not found[0].startswith("ERROR"):
        return found[1]
    return "" if done.returncode == 0 else f"?? {done.stdout[-300:]}"


def main(words: list[str]) -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_the_source(folder)
        for bug in BUGS:
            if words and not any(word in bug.name for word in words):
                continue
            test = caught(bug, folder)
            is_caught = bool(test) and not test.startswith("??")
            missed += not is_caught
            print(
                f"{'caught' if is_caught else 'MISSED'}  {bug.name}\n          {bug.file} -> {test or bug.caught_by}",
                flush=True,
            )
    print(f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
