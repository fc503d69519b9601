"""A kernel process of one's own: started on a free port, controlled over ``/emulator/*``, ended with certainty.

Everything blocks; ``awaited`` gives the same methods to asynchronous programs, whatever runs their loop.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from kernel.faults.plan import FaultPlan
from kernel.faults.reading import form_of
from kernel.lab.limits import CONTROL_S_MAX, END_S_MAX, READY_S_MAX
from kernel.lab.mcp import modern_request, result_of

if TYPE_CHECKING:
    import httpx

_LOG_LINES_KEPT: Final = 200


class KernelFailed(Exception):
    """The kernel did not start, or refused a control request; the message has its own words."""


class LabKernel:
    """One kernel with its controls on. ``start`` it, or use it as a context manager."""

    def __init__(self, workspace: Path, *options: str, port: int = 0) -> None:
        self.workspace = workspace
        self.options = options
        self.port = port
        self.url = ""
        self.mcp = ""
        self.log: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._http: httpx.Client | None = None
        self._numbers = itertools.count(1)

    # --- life ---

    @classmethod
    def at(cls, url: str) -> LabKernel:
        """Somebody else's kernel by its address: to be asked and controlled, not started; ``close`` it all the same."""
        kernel = cls(Path())
        kernel.url = url.rstrip("/")
        return kernel

    def __enter__(self) -> LabKernel:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        assert self._process is not None, "the kernel has not been started"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start, and wait until it serves. Raises KernelFailed with the kernel's own words."""
        command = [sys.executable, "-m", "kernel", "serve", "--json", "--emulator-controls"]
        command += ["--port", str(self.port), "--workspace", str(self.workspace), *self.options]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        lines: queue.Queue[str] = queue.Queue()
        words = threading.Thread(target=_drain, args=(self._process.stderr, self._keep), daemon=True)
        words.start()
        threading.Thread(target=_drain, args=(self._process.stdout, lines.put, lines.put), daemon=True).start()
        try:
            # A kernel that ends instead closes its output: nobody waits the whole time for it.
            ready = json.loads(lines.get(timeout=READY_S_MAX))
        except (queue.Empty, json.JSONDecodeError):
            self.kill()
            words.join(END_S_MAX)
            raise KernelFailed("the kernel did not start: " + (" ".join(self.log[-3:]) or "no word")) from None
        self.url, self.mcp = ready["url"], ready["mcp"]
        self.port = int(self.url.rpartition(":")[2])

    def restart(self) -> None:
        """Start again after a death, on the same port and workspace."""
        self.kill()
        self.start()

    def stop(self) -> int:
        """Ask it to end (SIGTERM) and wait; its exit code. What does not end is killed."""
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            return process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            return process.wait()

    def kill(self) -> None:
        """kill -9: what was not on disk is gone."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()

    def wait_dead(self, timeout_s: float = END_S_MAX) -> int:
        """Wait until it has ended by itself (a crash rule); its exit code."""
        assert self._process is not None, "the kernel has not been started"
        return self._process.wait(timeout_s)

    def close(self) -> None:
        self.stop()
        if self._http is not None:
            self._http.close()
            self._http = None

    # --- faults ---

    def fault(self, point: str, do: str, **fields: Any) -> None:
        """Add one rule, as it would stand in a plan file."""
        self.apply({"rules": [{"point": point, "do": do, **fields}]})

    def apply(self, plan: FaultPlan | Path | dict[str, Any]) -> None:
        """Add a plan's rules: all of them, or none. Raises KernelFailed with line and reason."""
        if isinstance(plan, Path):
            kind = f"application/{form_of(plan.name)}"
            self._control("POST", "faults", content=plan.read_bytes(), headers={"Content-Type": kind})
        else:
            self._control("POST", "faults", json=plan.as_json() if isinstance(plan, FaultPlan) else plan)

    def clear(self) -> None:
        """Forget every rule. What is held stays held until it is released."""
        self._control("DELETE", "faults")

    def rules(self) -> list[dict[str, Any]]:
        """The rules in force: how often each was visited, struck, and how many calls it holds."""
        return list(self._control("GET", "faults")["rules"])

    def wait_for(self, name: str, count: int = 1, timeout_s: float = 10.0) -> None:
        """Return once the rules called ``name`` have struck ``count`` times. Raises TimeoutError."""
        told = self._control("POST", "faults/wait", json={"name": name, "count": count, "timeout_ms": timeout_s * 1000})
        if not told["reached"]:
            raise TimeoutError(f"{name!r} has struck {told['struck']} of {count} times in {timeout_s:g} s")

    def release(self, name: str = "") -> int:
        """Let go what is held under ``name``; how many calls that were."""
        return int(self._control("POST", "faults/release", json={"name": name})["released"])

    def advance(self, seconds: float) -> None:
        """The kernel's clock jumps forward: what expires by then has expired."""
        self._control("POST", "clock", json={"advance_ms": int(seconds * 1000)})

    # --- trace ---

    def trace(self, since: int = 0) -> list[dict[str, Any]]:
        """The events so far (from number ``since`` on)."""
        answer = self._request("GET", f"/emulator/trace?since={since}")
        if answer.status_code != 200:
            raise KernelFailed(_reason(answer))
        return [json.loads(line) for line in answer.text.splitlines()]

    def perfetto(self, since: int = 0) -> dict[str, Any]:
        """The same in the Trace Event format."""
        answer = self._request("GET", f"/emulator/trace?format=perfetto&since={since}")
        if answer.status_code != 200:
            raise KernelFailed(_reason(answer))
        return dict(answer.json())

    # --- notes ---

    def api(self, path: str, /, **arguments: Any) -> Any:
        """``data`` of one call of the kernel's own API (``"block/getBlockKramdown"``). Raises KernelFailed."""
        answer = self._request("POST", f"/api/{path}", json=arguments)
        try:
            told = answer.json()
        except ValueError:
            raise KernelFailed(f"{path}: HTTP {answer.status_code} {answer.text[:300]}") from None
        if told["code"] != 0:
            raise KernelFailed(f"{path}: {told['msg']}")
        return told["data"]

    def tool(self, name: str, action: str, /, **arguments: Any) -> dict[str, Any]:
        """One tools/call of the modern era: its result (content, structuredContent, isError)."""
        number = next(self._numbers)  # several threads may call at the same time
        params = {"name": name, "arguments": {"action": action, **arguments}}
        headers, body = modern_request(number, "tools/call", params)
        answer = self._request("POST", self.mcp.removeprefix(self.url), json=body, headers=headers)
        told = result_of(answer.headers.get("content-type", ""), answer.content, number)
        if told is None or "result" not in told:
            raise KernelFailed(f"{name}.{action}: HTTP {answer.status_code} {answer.text[:500]}")
        return dict(told["result"])

    def make_notes(self) -> dict[str, str]:
        """A notebook ``Box`` with the document ``/Plan`` and full rights: ids of notebook, document and block."""
        notebook = self.api("notebook/createNotebook", name="Box")["notebook"]["id"]
        markdown = "Alpha text\n\nBeta text\n\n## Part\n\nGamma text"
        document = self.api("filetree/createDocWithMd", notebook=notebook, path="/Plan", markdown=markdown)
        block = self.api("block/getChildBlocks", id=document)[0]["id"]
        form = {"path": _PERMISSIONS, "isDir": "false", "modTime": "0"}
        rights = {"file": ("content", json.dumps({notebook: "rwd"}).encode())}
        self._request("POST", "/api/file/putFile", data=form, files=rights)
        return {"notebook": notebook, "document": document, "block": block}

    @property
    def awaited(self) -> Awaited:
        """The same methods for asynchronous programs."""
        return Awaited(self)

    # --- inside ---

    def _keep(self, line: str) -> None:
        self.log.append(line.rstrip("\n"))
        del self.log[:-_LOG_LINES_KEPT]

    def _control(self, method: str, name: str, **options: Any) -> dict[str, Any]:
        answer = self._request(method, f"/emulator/{name}", **options)
        if answer.status_code != 200:
            raise KernelFailed(_reason(answer))
        return dict(answer.json())

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        import httpx

        if self._http is None:
            self._http = httpx.Client(timeout=CONTROL_S_MAX, trust_env=False)
        return self._http.request(method, self.url + path, **options)


_PERMISSIONS: Final = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/notebookPermissions"
_METHODS: Final = frozenset(
    name for name, member in vars(LabKernel).items() if callable(member) and not name.startswith("_")
)


class Awaited:
    """``await kernel.awaited.wait_for("x")``: each method of a LabKernel in a worker thread, on Trio or asyncio."""

    def __init__(self, kernel: LabKernel) -> None:
        self._kernel = kernel

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _METHODS:
            raise AttributeError(name)
        method = getattr(self._kernel, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            return await _in_thread(lambda: method(*arguments, **options))

        return call


async def _in_thread(work: Callable[[], Any]) -> Any:
    """Run ``work`` beside the running loop, Trio's or asyncio's. A cancel does not wait for it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        import trio

        return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
    return await asyncio.to_thread(work)


def environment(**more: str) -> dict[str, str]:
    """This process's environment and ``more``."""
    return {**os.environ, **more}


def _drain(stream: IO[str], take: Callable[[str], object], end: Callable[[str], object] | None = None) -> None:
    """Hand over each line; ``end`` gets an empty one when there are no more."""
    for line in stream:
        take(line)
    stream.close()
    if end is not None:
        end("")


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code} {answer.text[:300]}"
