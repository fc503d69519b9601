"""Programs written for SiYuan's own interface, unmodified: what each prints and how it ends. Not a pytest file.

Every client does its main commands on a prepared notebook, its failures among them. ``expected.json`` is what came out
on the real kernel; any difference is printed. ``--against COMMAND`` asks a real kernel again (a command with {port} and
{workspace}), ``--record FILE`` writes what it gave. Ids are numbered by their first appearance, times are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.wire import toolbox  # noqa: E402
from tests.wire.clients.stories import CLI, LIBRARY, MCP_SERVERS, SCRIPTS, Step  # noqa: E402
from tests.wire.serving import serving  # noqa: E402

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"
OURS = f"{shlex.quote(sys.executable)} -m kernel serve --port {{port}} --workspace {{workspace}}"
STEP_S_MAX = 90
INDEXING_S = 3
ID = re.compile(r"\b\d{14}-[0-9a-z]{7}\b")
# What no two runs have in common: times, sizes of a machine, durations, addresses, drawn names, hashes over ids.
PASSING = (
    # A daily note's folders are named after the day.
    (re.compile(r"/daily/\d{4}/\d\d/\d\d"), "/daily/YEAR/MONTH/DAY"),
    (re.compile(r'"title": "\d{2,4}"'), '"title": "PART OF A DAY"'),
    (re.compile(r"\b20\d\d-\d\d-\d\d-\d{6}-"), "DATE-"),
    (re.compile(r"\b20\d{12,15}\b"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"), "DATE"),
    (re.compile(r"\b1[6-9]\d{8}(?:\d{3})?\b"), "STAMP"),
    (re.compile(r"\b\d+(?:\.\d+)? ?ms\b"), "DURATION"),
    (re.compile(r"\b(?:\d+ seconds?|1 minute) ago|\bnow(?=\")"), "AGO"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"/\S*/workspace\b"), "WORKSPACE"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "DRAWN"),
    (re.compile(r"\"id\": \"[0-9a-z]{7}\""), '"id": "DRAWN"'),
    (re.compile(r"\"hash\": \"[0-9a-f]{7}\""), '"hash": "HASH"'),
    (re.compile(r"\"data_size_kb\": [\d.]+"), '"data_size_kb": SIZE'),
    # One server masks what looks like a secret, and takes ids for one.
    (re.compile(r"20\d{5,6}\*{7,8}-?[0-9a-z]{7}\b"), "MASKED"),
)


@dataclass
class Place:
    """One kernel with the prepared notebook, and the names by which the steps know its ids."""

    base: str
    workspace: Path
    folder: Path
    token: str
    ids: dict[str, str] = field(default_factory=dict)

    def api(self, route: str, **body: Any) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Token {self.token}"}
        asked = urllib.request.Request(f"{self.base}/api/{route}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked) as answer:
            said = json.load(answer)
        assert said["code"] == 0, (route, said)
        return said["data"]

    def environment(self) -> dict[str, str]:
        """Where each client looks for the kernel; its settings go nowhere else."""
        host, port = self.base.removeprefix("http://").split(":")
        return {
            **{name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ},
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PYTHONIOENCODING": "utf-8",
            "SIYUAN_URL": self.base,
            "SIYUAN_API_URL": self.base,
            "SIYUAN_TOKEN": self.token,
            "SIYUAN_API_TOKEN": self.token,
            "SIYUAN_HOST": host,
            "SIYUAN_PORT": port,
        }

    def filled(self, text: str) -> str:
        """``{box}`` and the like in a step's argument; ``{block:Alpha}`` is looked up by its content."""
        text = re.sub(r"\{block:([^}]+)\}", lambda found: self._block(found[1]), text)
        for name, value in {**self.ids, "folder": str(self.folder)}.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def _block(self, content: str) -> str:
        for root in (self.ids["doc"], self.ids["other"]):
            for block in self.api("block/getChildBlocks", id=root):
                if block.get("content") == content:
                    return str(block["id"])
        return "20200101000000-missing"


def prepare(base: str, workspace: Path, folder: Path) -> Place:
    token = json.loads((workspace / "conf" / "conf.json").read_text(encoding="utf-8"))["api"]["token"]
    folder.mkdir()
    place = Place(base, workspace, folder, token)
    place.ids["box"] = box = place.api("notebook/createNotebook", name="Box")["notebook"]["id"]
    markdown = "# Head\n\nAlpha #tag#\n\nBeta\n\n* one\n* two\n\n```python\nprint(1)\n```"
    place.ids["doc"] = place.api("filetree/createDocWithMd", notebook=box, path="/Plan", markdown=markdown)
    text = f"refers to (({place.ids['doc']} 'Plan'))\n\nGamma"
    place.ids["other"] = place.api("filetree/createDocWithMd", notebook=box, path="/Plan/Other", markdown=text)
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 100)
    (folder / "note.md").write_text("# Imported\n\nfrom a file\n", encoding="utf-8")
    # The real kernel indexes a new notebook in the background, and what is written meanwhile twice: once more, in peace.
    time.sleep(INDEXING_S)
    place.api("system/rebuildDataIndex")
    time.sleep(INDEXING_S)
    place.api("sqlite/flushTransaction")
    return place


# --- telling ---------------------------------------------------------------------------------------------------------
ATTRIBUTES = re.compile(r"\{: ?((?:[\w-]+=\\?\"[^\"]*\" ?)+)\}")


class Numbers:
    """Ids by number, in the order of their first appearance; attributes of a block by name, for the real kernel draws
    their order."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def settled(self, text: str) -> str:
        text = ATTRIBUTES.sub(lambda found: f"{{: {' '.join(sorted(found[1].split(' ')))}}}", text)
        text = ID.sub(lambda found: self._seen.setdefault(found[0], f"#{len(self._seen)}"), text)
        for pattern, name in PASSING:
            text = pattern.sub(name, text)
        return text


def told(place: Place, client: str, steps: list[Step], run: Callable[[Step], tuple[int, str, str]]) -> dict[str, Any]:
    """What each step of one client printed, and its exit code."""
    numbers = Numbers()
    seen: dict[str, Any] = {}
    for step in steps:
        place.api("sqlite/flushTransaction")
        code, out, err = run(step)
        texts = [
            numbers.settled(text.replace(place.token, "TOKEN").replace(str(place.folder), "FOLDER")).splitlines()
            for text in (out, err)
        ]
        seen[f"{client}: {step.title}"] = {"code": code, "out": texts[0], "err": texts[1]}
    return seen


def commands(place: Place) -> dict[str, Any]:
    """siyuan-cli: one process per step."""
    binary = toolbox.python_with("siyuan-cli", *CLI.packages).with_name("siyuan")

    def run(step: Step) -> tuple[int, str, str]:
        arguments = [place.filled(one) for one in step.arguments]
        return _ended([str(binary), "--no-color", *arguments], place, step.text)

    return told(place, "siyuan-cli", CLI.steps, run)


def servers(place: Place) -> dict[str, Any]:
    """MCP servers over stdio: one conversation per server."""
    seen: dict[str, Any] = {}
    for server in MCP_SERVERS:
        binary = toolbox.python_with(server.name, *server.packages).with_name(server.command)
        with subprocess.Popen(
            [str(binary)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=place.environment(),
            cwd=place.folder,
        ) as process:
            talk = Talk(process)
            talk.begin()

            def run(step: Step, talk: Talk = talk) -> tuple[int, str, str]:
                given = json.loads(place.filled(json.dumps(step.given)))
                answer = talk.ask("tools/call", {"name": step.arguments[0], "arguments": given})
                if "error" in answer:
                    return 1, "", json.dumps(answer["error"], ensure_ascii=False, sort_keys=True)
                result = answer["result"]
                out = "\n".join(part.get("text", part["type"]) for part in result["content"])
                return int(bool(result.get("isError"))), out, ""

            seen.update(told(place, server.name, server.steps, run))
            process.kill()
    return seen


class Talk:
    """JSON-RPC, one message a line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._last = 0

    def begin(self) -> None:
        client = {"name": "sisyphus", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            said = json.loads(line)
            if said.get("id") == self._last and "method" not in said:
                return dict(said)
        raise RuntimeError(f"the server ended before it answered {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def libraries(place: Place) -> dict[str, Any]:
    """Libraries: a small program of ours calls one method per step."""
    seen: dict[str, Any] = {}
    python = toolbox.python_with("siyuan", *LIBRARY.packages)
    packages = toolbox.npm_packages("zhi-siyuan-api", *SCRIPTS.packages)
    for client, command in (
        (LIBRARY, [str(python), str(HERE / "siyuan_library.py")]),
        (SCRIPTS, [str(toolbox.node()), str(HERE / "zhi_library.mjs"), str(packages)]),
    ):

        def run(step: Step, command: list[str] = command) -> tuple[int, str, str]:
            given = [place.filled(one) for one in step.arguments]
            return _ended([*command, place.base, place.token, *given], place, "")

        seen.update(told(place, client.name, client.steps, run))
    return seen


def _ended(command: list[str], place: Place, text: str) -> tuple[int, str, str]:
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=STEP_S_MAX,
        env=place.environment(),
        cwd=place.folder,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def everything(command: str, folder: Path) -> dict[str, Any]:
    """All clients, each on a kernel of its own."""
    seen: dict[str, Any] = {}
    for number, tell in enumerate((commands, servers, libraries)):
        with serving(command, folder / str(number)) as (base, workspace):
            seen.update(tell(prepare(base, workspace, folder / str(number) / "home")))
    return seen


def differences(expected: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    for title in dict.fromkeys([*expected, *found]):
        wanted, seen = expected.get(title), found.get(title)
        if wanted != seen:
            yield f"{title}\n    expected {wanted}\n    found    {seen}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", default="", help="the command that starts a real kernel")
    parser.add_argument("--record", default="", help="write what the real kernel gave into this file")
    given = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = everything(OURS, Path(folder) / "ours")
            if given.against:
                expected = everything(given.against, Path(folder) / "real")
            else:
                expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    except toolbox.Missing as missing:
        print(f"clients: {missing}", file=sys.stderr)
        return 2
    if given.record:
        Path(given.record).write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    wrong = list(differences(expected, found))
    print("\n".join(wrong))
    print(f"kernel clients: {len(expected) - len(wrong)} of {len(expected)} commands as on the real kernel")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
