"""Become a peer: ``python -m bench.peer NAME PORT``. Installs what the peer needs (once), then is the peer's process."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.wire.toolbox import Missing, node, npm_packages, python_with

FOLDER: Final = Path(__file__).parent / "peers"
PYTHON_SDK: Final = ("mcp==2.3.0", "uvloop", "httptools")
TYPESCRIPT_SDK: Final = ("@modelcontextprotocol/server@2.4.0", "@modelcontextprotocol/node@2.1.2", "zod")
FASTMCP: Final = ("fastmcp==4.2.3", "uvloop", "httptools")


def python_sdk(port: str) -> list[str]:
    return [str(python_with("peer-python-sdk", *PYTHON_SDK)), str(FOLDER / "python_sdk.py"), port]


def fastmcp(port: str) -> list[str]:
    return [str(python_with("peer-fastmcp", *FASTMCP)), str(FOLDER / "fastmcp_server.py"), port]


def typescript_sdk(port: str) -> list[str]:
    # Node looks for packages beside the script.
    folder = npm_packages("peer-typescript-sdk", *TYPESCRIPT_SDK)
    script = shutil.copy(FOLDER / "typescript_sdk.mjs", folder)
    return [str(node()), str(script), port]


def bare_loop(port: str) -> list[str]:
    return [sys.executable, str(FOLDER / "bare_loop.py"), port]


PEERS: Final[dict[str, Callable[[str], list[str]]]] = {
    "python-sdk": python_sdk,
    "typescript-sdk": typescript_sdk,
    "fastmcp": fastmcp,
    "bare-loop": bare_loop,
}


def main() -> None:
    name, port = sys.argv[1:]
    try:
        command = PEERS[name](port)
    except Missing as error:
        sys.exit(f"{name}: {error}")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
