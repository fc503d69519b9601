"""``make conformance``: the public MCP conformance suite against a real process with the fixtures. Not a pytest file.

The suite comes from a checkout (``CONFORMANCE_DIR``, built here if it is not yet) or from npm
(``CONFORMANCE_PACKAGE``, default the newest release; ``github:modelcontextprotocol/conformance`` is the newest source).
A release that does not know a revision skips it, and says so: only the source knows 2026-07-28 yet. Prints one line per run; exits 1 on any unexpected failure, 2 where
the suite cannot be had. ``CONFORMANCE_URL`` tests a server that runs already.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.support.process import running_kernel  # noqa: E402
from tests.wire import toolbox  # noqa: E402

REVISIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
REQUIRED = ("2025-11-25", "2026-07-28")
# The suite's own schema of a call's answer knows no task of the official extension, which its other checks ask for:
# it takes the extension's answer for a finished result without content. Unscored by the suite; see docs/differences.md.
SCHEMA_CHECK = "wire-schema-valid"
SCHEMA_FAULT = "CallToolResult: must have required property 'content' (result of 'tools/call')"
EXPECTED_FAILURES = {
    "tasks-capability-negotiation": SCHEMA_CHECK,
    "tasks-dispatch-and-envelope": SCHEMA_CHECK,
    "tasks-lifecycle": SCHEMA_CHECK,
    "tasks-mrtr-composition": SCHEMA_CHECK,
    "tasks-mrtr-input": SCHEMA_CHECK,
    "tasks-request-headers": SCHEMA_CHECK,
    "tasks-request-state-removal": SCHEMA_CHECK,
    "tasks-wire-fields": SCHEMA_CHECK,
}
RUN_S_MAX = 300


@dataclass(frozen=True)
class Run:
    """One invocation of the suite."""

    title: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What it came to; each failure is told with its scenario, its check and the suite's words."""

    passed: int
    expected: tuple[str, ...]
    unexpected: tuple[str, ...]
    warnings: tuple[str, ...]


def runs() -> list[Run]:
    every = [Run(f"all @ {name}", ("--suite", "all", "--spec-version", name)) for name in REVISIONS]
    return every + [Run(f"required @ {name}", ("--requirements", name)) for name in REQUIRED]


def suite_program() -> Path:
    """The suite's entry point, installed or built. Raises Missing."""
    checkout = os.environ.get("CONFORMANCE_DIR")
    if checkout is None:
        package = os.environ.get("CONFORMANCE_PACKAGE", "@modelcontextprotocol/conformance@latest")
        folder = toolbox.npm_packages("conformance", package)
        return folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    program = Path(checkout) / "dist" / "index.js"
    if not program.is_file():
        toolbox.npm("ci", "--no-audit", "--no-fund", cwd=Path(checkout))
        toolbox.npm("run", "build", cwd=Path(checkout))
    return program


def run_suite(node: Path, program: Path, url: str, one: Run) -> Outcome | None:
    """None: this release of the suite does not know the revision or the option."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(node), str(program), "server", "--url", url, *one.arguments, "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S_MAX, check=False)
        said = done.stdout + done.stderr
        if re.search(r"Unknown spec version|unknown option|Total: 0 passed, 0 failed", said):
            return None
        outcome = read_outcome(Path(folder))
        if not outcome.passed:
            raise toolbox.Missing("the suite ran nothing:\n" + "\n".join(said.splitlines()[-8:]))
        return outcome


def is_expected(scenario: str, check: dict[str, Any]) -> bool:
    """Whether it is a listed check that failed for its known reason and for no other."""
    if EXPECTED_FAILURES.get(scenario) != check["id"]:
        return False
    return all(
        violation["errors"] == [SCHEMA_FAULT] and violation["message"]["result"]["resultType"] == "task"
        for violation in check["details"]["violations"]
    )


def read_outcome(folder: Path) -> Outcome:
    passed = 0
    lines: dict[str, list[str]] = {"EXPECTED": [], "FAILURE": [], "WARNING": []}
    for file in sorted(folder.rglob("checks.json")):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        for check in json.loads(file.read_text(encoding="utf-8")):
            status = check["status"]
            passed += status == "SUCCESS"
            if status == "FAILURE" and is_expected(scenario, check):
                lines["EXPECTED"].append(f"{scenario}: {check['id']}: {SCHEMA_FAULT}")
            elif status in lines:
                lines[status].append(f"{scenario}: {check['id']}: {check.get('errorMessage')}")
    return Outcome(passed, *(tuple(told) for told in lines.values()))


def judge_server(node: Path, program: Path, url: str) -> bool:
    """Run everything and print it; whether nothing failed unexpectedly."""
    is_good = True
    for one in runs():
        outcome = run_suite(node, program, url, one)
        if outcome is None:
            print(f"{one.title:24} skipped: this release of the suite does not know it", flush=True)
            continue
        failed = len(outcome.unexpected)
        extension = f", {len(outcome.expected)} failed as expected" if outcome.expected else ""
        print(f"{one.title:24} {outcome.passed} passed, {failed} failed{extension}", flush=True)
        marked = [f"expected: {line}" for line in outcome.expected] + [f"warning: {line}" for line in outcome.warnings]
        for line in (*outcome.unexpected, *marked):
            print(f"    {line}")
        is_good = is_good and not failed
    return is_good


async def serve_and_test(node: Path, program: Path) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        async with running_kernel(Path(folder) / "workspace", "--conformance-fixtures") as kernel:
            return await trio.to_thread.run_sync(judge_server, node, program, kernel.mcp)


def main() -> int:
    try:
        node, program = toolbox.node(), suite_program()
        url = os.environ.get("CONFORMANCE_URL")
        is_good = judge_server(node, program, url) if url else trio.run(serve_and_test, node, program)
    except toolbox.Missing as missing:
        print(f"conformance: {missing}", file=sys.stderr)
        return 2
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
