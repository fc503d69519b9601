"""``make frontend WD=…``: SiYuan's own web interface in a headless browser, on this kernel. Not a pytest file.

WD is a real distribution's folder with ``stage/``, ``appearance/`` and ``guide/``; nothing of it belongs to this
project. The same story (``story.py``) was told on the real kernel; ``expected.json`` is what was seen there, and any
difference is printed. ``--against`` tells it on a real kernel again instead (a command with {port}, {workspace} and
{wd}), ``--record`` writes what was seen there into a file. Exits 0 where folder or browser is missing, and says so; 1 on a difference.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.wire import toolbox  # noqa: E402
from tests.wire.serving import serving  # noqa: E402

HERE = Path(__file__).parent
PLAYWRIGHT_PACKAGE = "playwright==1.65.2"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EXPECTED = HERE / "expected.json"
OURS = f"{shlex.quote(sys.executable)} -m kernel serve --port {{port}} --workspace {{workspace}} --wd {{wd}}"
STORY_S_MAX = 600
# What the interface sends when a key is pressed or the mouse is, but at most once in a while: in which step it falls hangs
# on how long the steps before took, and not on what the kernel answers.
BY_THE_CLOCK = ("POST /api/notebook/touchEncryptedNotebooks ",)


class Absent(Exception):
    """What is needed is not on this machine; the message says what."""


def distribution(given: str) -> Path:
    folder = Path(given).expanduser().resolve() if given else None
    if folder is None:
        raise Absent("no distribution: give WD, the folder that holds stage/ and appearance/")
    for needed in ("stage/build/desktop/index.html", "appearance/langs/en.json"):
        if not (folder / needed).is_file():
            raise Absent(f"{folder} holds no {needed}")
    return folder


def browser(given: str) -> str:
    for name in (given,) if given else BROWSERS:
        if found := shutil.which(name):
            return found
    raise Absent(f"no browser: {given or ' or '.join(BROWSERS)} is not installed")


def story(command: str, folder: Path, wd: Path, browser_path: str) -> list[dict[str, Any]]:
    """The steps as ``story.py`` tells them on one kernel. Pictures go into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    python = toolbox.python_with("playwright", PLAYWRIGHT_PACKAGE)
    with serving(command, folder, wd=str(wd)) as (base, _):
        told = subprocess.run(
            [str(python), str(HERE / "story.py"), base, browser_path, str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            timeout=STORY_S_MAX,
            check=True,
        )
    steps = json.loads(told.stdout)
    assert isinstance(steps, list)
    return steps


def kept(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What does not hang on the distribution at hand: of the requests only those to the interface."""
    return [
        {
            name: [one for one in seen if "/api/" in one] if name.startswith("requests") else seen
            for name, seen in step.items()
        }
        for step in steps
    ]


def differences(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> Iterator[str]:
    """One line for each thing that a step showed otherwise."""
    if [one["step"] for one in expected] != [one["step"] for one in found]:
        yield "other steps"
    for wanted, seen in zip(expected, found, strict=False):
        for name in wanted:
            one, other = (effects(step.get(name)) for step in (wanted, seen))
            if one != other:
                yield f"{wanted['step']}, {name}:\n    expected {one}\n    found    {other}"


def effects(seen: Any) -> Any:
    """What a step showed, without the requests that come by the clock."""
    return [one for one in seen if not str(one).startswith(BY_THE_CLOCK)] if isinstance(seen, list) else seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wd", default="", help="the distribution's folder")
    parser.add_argument("--browser", default="", help="a Chromium")
    parser.add_argument("--against", default="", help="the command that starts a real kernel")
    parser.add_argument("--record", default="", help="write what was seen into this file")
    parser.add_argument("--pictures", default="", help="keep the pictures in this folder")
    given = parser.parse_args()
    try:
        wd, browser_path = distribution(given.wd), browser(given.browser)
    except Absent as absent:
        print(f"frontend: skipped: {absent}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.pictures or temporary)
        try:
            found = story(OURS, folder / "ours", wd, browser_path)
            if given.against:
                expected = story(given.against, folder / "real", wd, browser_path)
            else:
                expected, found = json.loads(EXPECTED.read_text(encoding="utf-8")), kept(found)
        except toolbox.Missing as missing:
            print(f"frontend: {missing}", file=sys.stderr)
            return 2
    if given.record:
        Path(given.record).write_text(json.dumps(kept(expected), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    told = list(differences(expected, found))
    print("\n".join(told) or f"frontend: {len(found)} steps, all as on the real kernel")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
