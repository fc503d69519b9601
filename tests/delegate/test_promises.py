"""What a delegate must never have: leases, a ledger or lanes of its own; and what it never does: anything twice."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONTS = ("kernel.stdio.process", "kernel.cli.performing", "kernel.delegate.front")
OF_THE_COORDINATOR = (
    "kernel.safety.coordinator",
    "kernel.safety.commit",
    "kernel.safety.leases",
    "kernel.safety.ledger",
    "kernel.safety.ledger_store",
    "kernel.safety.short_hashes",
    "kernel.tools.call",
    "kernel.host",
    "kernel.workspace",
)


@pytest.mark.slow
@pytest.mark.parametrize("front", FRONTS)
def test_a_front_process_loads_nothing_that_could_write(front: str) -> None:
    """R138: no lease pool, mutex or ledger of its own; what is not loaded cannot be one."""
    program = f"import sys, {front}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert set(OF_THE_COORDINATOR) & set(done.stdout.split()) == set()


def test_one_function_sends_calls_and_it_is_called_from_one_place() -> None:
    """R250: nothing in the packages sends a tools/call but the one round of a delegation, which the table guards."""
    senders = []
    for path in sorted((ROOT / "kernel").glob("*/*.py")):
        if path.parent.name not in ("delegate", "stdio", "cli"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and any(
                isinstance(a, ast.Constant) and a.value == "tools/call" for a in node.args
            ):
                senders.append(path.name)
    assert senders == ["delegate.py"]


def test_a_delegate_has_one_way_to_find_a_coordinator_and_no_second_choice() -> None:
    """R139, R144: no except clause of the delegate looks somewhere else."""
    tree = ast.parse((ROOT / "kernel" / "delegate" / "delegate.py").read_text(encoding="utf-8"))
    finds = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "find" and "discovery" in ast.unparse(node.value)
    ]
    assert len(finds) == 1
    handlers = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    assert not any("discovery" in handler or ".send(" in handler for handler in handlers)
