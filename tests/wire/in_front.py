"""A real SiYuan kernel and our endpoint in front of it, as one process to start and to end.

    python tests/wire/in_front.py --kernel 'BINARY serve --wd WD --workspace {workspace} --port {port} --lang en' \\
        --port 6806 --workspace DIR [-- options of our serve]

The kernel gets --port, our endpoint (``serve --host-url``) the port behind it; both end with SIGINT or SIGTERM. Made for
``golden.py compare --spawn`` with ``--mcp http://127.0.0.1:{port+1}/sisyphus/mcp``, and for tests that take either host.
The kernel binds every address: run it in a network namespace of its own.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[2]
READY_S_MAX = 60.0
END_S_MAX = 20.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--kernel", required=True, help="command that starts a kernel; {port} and {workspace} are filled in"
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--default-permission", default="r")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    with tempfile.TemporaryDirectory() as own:
        children: list[subprocess.Popen[bytes]] = []
        try:
            children.append(subprocess.Popen(_kernel(options)))
            token = _token(options.port, options.workspace, children[0])
            children.append(subprocess.Popen(_front(options, Path(own), token), cwd=ROOT))
            return children[1].wait()
        except KeyboardInterrupt:
            return 0
        finally:
            _stop(children)


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _kernel(options: argparse.Namespace) -> list[str]:
    text = options.kernel.replace("{port}", str(options.port)).replace("{workspace}", str(options.workspace))
    return shlex.split(text)


def _front(options: argparse.Namespace, own: Path, token: str) -> list[str]:
    """Our endpoint knows the kernel's token, and takes it from its own callers as well."""
    conf = own / "workspace" / "conf"
    conf.mkdir(parents=True)
    (conf / "conf.json").write_text(json.dumps({"api": {"token": token}}), encoding="utf-8")
    url = f"http://127.0.0.1:{options.port}"
    return [
        *(sys.executable, "-m", "kernel", "serve"),
        *("--port", str(options.port + 1), "--workspace", str(own / "workspace"), "--state-dir", str(own / "state")),
        *("--host-url", url, "--host-token", token, "--default-permission", options.default_permission),
    ]


def _token(port: int, workspace: Path, kernel: subprocess.Popen[bytes]) -> str:
    """The kernel's API token, once it is ready."""
    url = f"http://127.0.0.1:{port}/api/system/bootProgress"
    end = time.monotonic() + READY_S_MAX
    while time.monotonic() < end and kernel.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if json.load(answer)["data"]["progress"] == 100:
                    conf = json.loads((workspace / "conf" / "conf.json").read_text(encoding="utf-8"))
                    return str(conf["api"]["token"])
        except (OSError, KeyError, ValueError):
            pass
        time.sleep(0.1)
    raise SystemExit("the kernel was not ready in time")


def _stop(children: list[subprocess.Popen[bytes]]) -> None:
    """Ours first: what it still writes has somewhere to go."""
    for child in reversed(children):
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(END_S_MAX)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


if __name__ == "__main__":
    sys.exit(main())
