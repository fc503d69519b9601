"""``make clients``: the official clients, each in both eras, against one real process; then the programs written for
SiYuan's own interface (``kernel_clients.py``). Not a pytest file.

Installs the clients into a folder of their own (``tests/wire/toolbox.py``). Prints one line per client and mode; exits
1 if any story went wrong, 2 where a client cannot be had.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import trio

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.support.process import running_kernel  # noqa: E402
from tests.wire import toolbox  # noqa: E402
from tests.wire.clients import kernel_clients  # noqa: E402

HERE = Path(__file__).parent
PYTHON_PACKAGE = "mcp==2.3.0"
TYPESCRIPT_PACKAGE = "@modelcontextprotocol/client@2.4.0"
MODES = ("legacy", "auto")
STORY_S_MAX = 120
# Every Kramdown read is held at the host, long enough to be walked away from.
FAULTS = [{"point": "host.before:/api/block/getBlockKramdown", "do": "delay", "seconds": 3, "times": None}]


def stories() -> list[tuple[str, list[str]]]:
    """Title and command without its last two arguments (mode and document come later)."""
    python = toolbox.python_with("python-client", PYTHON_PACKAGE)
    packages = toolbox.npm_packages("typescript-client", TYPESCRIPT_PACKAGE)
    typescript = [str(toolbox.node()), str(HERE / "typescript_client.mjs"), str(packages)]
    return [
        (f"Python {PYTHON_PACKAGE}", [str(python), str(HERE / "python_client.py")]),
        (
            f"Python {PYTHON_PACKAGE} over stdio",
            [str(python), str(HERE / "python_client.py"), "--stdio", sys.executable],
        ),
        (f"TypeScript {TYPESCRIPT_PACKAGE}", typescript),
    ]


def api(base: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        said = json.load(answer)
    assert said["code"] == 0, said
    return said["data"]


def prepare(base: str) -> str:
    """A notebook ``Box`` with a document ``Plan`` that may be written and removed; the document's id."""
    notebook = api(base, "/api/notebook/createNotebook", {"name": "Box"})["notebook"]["id"]
    permissions = json.dumps({notebook: "rwd"})
    path = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/notebookPermissions"
    put_file(base, path, permissions)
    body = {"notebook": notebook, "path": "/Plan", "markdown": "Alpha text\n\nBeta text"}
    return str(api(base, "/api/filetree/createDocWithMd", body))


def put_file(base: str, path: str, text: str) -> None:
    """``/api/file/putFile``: a multipart form."""
    edge = "sisyphus-form-edge"
    fields = {"path": path, "isDir": "false", "modTime": "1700000000000"}
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items()
    ]
    parts.append(
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n{text}\r\n--{edge}--\r\n'
    )
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
    request = urllib.request.Request(f"{base}/api/file/putFile", "".join(parts).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["code"] == 0


def tell(base: str, told: list[tuple[str, list[str]]]) -> bool:
    document = prepare(base)
    is_good = True
    for title, command in told:
        for mode in MODES:
            arguments = [*command, base, mode, document]
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=STORY_S_MAX, check=False)
            verdict = f"ok at {done.stdout.strip()}" if done.returncode == 0 else f"FAILED ({done.returncode})"
            print(f"{title:46} {mode:7} {verdict}", flush=True)
            if done.returncode:
                print("\n".join(f"    {line}" for line in done.stderr.strip().splitlines()[-15:]), flush=True)
                is_good = False
    return is_good


async def serve_and_tell(told: list[tuple[str, list[str]]]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        faults = Path(folder) / "faults.json"
        faults.write_text(json.dumps(FAULTS))
        async with running_kernel(Path(folder) / "workspace", "--faults", str(faults)) as kernel:
            return await trio.to_thread.run_sync(tell, kernel.url, told)


def main() -> int:
    try:
        is_good = trio.run(serve_and_tell, stories())
    except toolbox.Missing as missing:
        print(f"clients: {missing}", file=sys.stderr)
        return 2
    return max(0 if is_good else 1, kernel_clients.main([]))


if __name__ == "__main__":
    sys.exit(main())
