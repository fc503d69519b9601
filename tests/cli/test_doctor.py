"""``doctor`` and ``ledger``: every finding by what makes it, on folders without a kernel; nothing is changed by looking."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from kernel.cli import checks
from kernel.cli.checks import Verdict, findings
from kernel.clock import ManualClock
from kernel.ids import SeededIds
from kernel.safety import ledger_reading
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_reading import LEDGER_FILE
from kernel.safety.ledger_store import LedgerStore, LedgerUnavailable
from kernel.safety.ledger_writer import InlineWriter
from kernel.safety.lock import COORDINATOR_LOCK, CoordinatorLock
from kernel.safety.rows import Binding
from kernel.safety.write import WriteEvent, WriteState
from tests.cli.running import run

STORAGE = checks.STORAGE
BOX = "20260101120000-abcdefg"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace in good order that no kernel serves."""
    place = tmp_path / "notes"
    (place / "conf").mkdir(parents=True)
    (place / "conf" / "conf.json").write_text(json.dumps({"api": {"token": "t"}}))
    (place / "conf" / "conf.json").chmod(0o600)
    (place / "data" / BOX / ".siyuan").mkdir(parents=True)
    (place / STORAGE).mkdir(parents=True)
    (place / "temp").mkdir()
    return place


@pytest.fixture(autouse=True)
def _default_port_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(checks, "DEFAULT_PORT", free.getsockname()[1])


def verdicts(workspace: Path) -> dict[str, tuple[Verdict, str]]:
    return {one.name: (one.verdict, f"{one.words} | {one.advice}") for one in findings(workspace)}


def digest_of(workspace: Path) -> dict[str, bytes]:
    files = (path for path in workspace.rglob("*") if path.is_file() and path.suffix not in (".db-shm", ".db-wal"))
    return {str(path): path.read_bytes() for path in files}


def test_the_advice_names_the_workspace_that_was_looked_at(workspace: Path) -> None:
    assert verdicts(workspace)["coordinator"][1].endswith(f"sisyphus-kernel serve --workspace {workspace}")


def test_the_default_workspace_needs_no_name(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "default_workspace", lambda: workspace)
    assert verdicts(workspace)["coordinator"][1].endswith("start one: sisyphus-kernel serve")


def test_a_workspace_in_good_order_is_all_right_but_unserved(workspace: Path) -> None:
    before = digest_of(workspace)
    found = verdicts(workspace)
    assert list(found) == [
        "workspace",
        "disk",
        "coordinator",
        "port",
        "conf",
        "settings",
        "permissions",
        "ledger",
        "index",
    ]
    assert {name for name, (verdict, _) in found.items() if verdict is not Verdict.OK} == {"coordinator"}
    assert "sisyphus-kernel serve" in found["coordinator"][1]
    assert "1 notebooks: 1 rw" in found["permissions"][1]
    assert digest_of(workspace) == before


def write(name: str, content: str) -> Callable[[Path], None]:
    return lambda place: (place / name).write_text(content) and None  # type: ignore[func-returns-value]


def make_unreadable(place: Path) -> None:
    (place / "conf" / "conf.json").chmod(0o644)


def empty_token(place: Path) -> None:
    (place / "conf" / "conf.json").write_text('{"api": {"token": ""}}')


def no_conf(place: Path) -> None:
    (place / "conf" / "conf.json").unlink()


def lock_is_a_folder(name: str) -> Callable[[Path], None]:
    return lambda place: (place / name).mkdir()


def temp_is_a_file(place: Path) -> None:
    (place / "temp").rmdir()
    (place / "temp").write_text("")


@pytest.mark.parametrize(
    ("spoil", "check", "verdict", "words"),
    [
        (lock_is_a_folder(f"{STORAGE}/{COORDINATOR_LOCK}"), "coordinator", Verdict.FAIL, "no plain file"),
        (lock_is_a_folder(".lock"), "coordinator", Verdict.FAIL, "move it away"),
        (temp_is_a_file, "workspace", Verdict.FAIL, "temp is no folder"),
        (no_conf, "conf", Verdict.WARN, "not there yet"),
        (empty_token, "conf", Verdict.WARN, "no API token"),
        (make_unreadable, "conf", Verdict.WARN, "chmod 600"),
        (write("conf/conf.json", "{"), "conf", Verdict.FAIL, "cannot be read"),
        (write(f"{STORAGE}/mcpToolsConfig", "["), "settings", Verdict.FAIL, "mcpToolsConfig"),
        (
            write(f"{STORAGE}/mcpToolsConfig", '{"writeSafety":{"strictMode":false}}'),
            "settings",
            Verdict.WARN,
            "strict",
        ),
        (write(f"{STORAGE}/mcpHttpSettings", "["), "settings", Verdict.WARN, "defaults are used"),
        (write(f"{STORAGE}/mcpHttpSettings", '{"kernelEndpointEnabled":false}'), "settings", Verdict.FAIL, "is false"),
        (write(f"{STORAGE}/notebookPermissions", "[]"), "permissions", Verdict.FAIL, "not an object"),
        (write(f"{STORAGE}/notebookPermissions", f'{{"{BOX}":"none"}}'), "permissions", Verdict.OK, "1 none"),
        (write(f"{STORAGE}/{LEDGER_FILE}", "no database" * 100), "ledger", Verdict.FAIL, "refused"),
        (write(checks.INDEX_FILE, "no database" * 100), "index", Verdict.WARN, "rebuilt"),
    ],
)
def test_each_fault_is_found_and_says_what_to_do(
    workspace: Path, spoil: Callable[[Path], None], check: str, verdict: Verdict, words: str
) -> None:
    spoil(workspace)
    found = verdicts(workspace)[check]
    assert (found[0], words in found[1]) == (verdict, True), found


def test_a_folder_that_is_none_is_the_only_finding(tmp_path: Path) -> None:
    assert verdicts(tmp_path / "none")["workspace"][0] is Verdict.FAIL
    assert list(verdicts(tmp_path / "none")) == ["workspace"]
    assert verdicts(tmp_path)["workspace"][0] is Verdict.WARN


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(workspace: Path) -> None:
    workspace.chmod(0o500)
    try:
        assert verdicts(workspace)["workspace"][0] is Verdict.FAIL
    finally:
        workspace.chmod(0o700)


def test_a_full_disk_is_worth_knowing(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": checks._FREE_BYTES_MIN - 1})
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage)
    assert verdicts(workspace)["disk"][0] is Verdict.WARN


@pytest.mark.parametrize("answers", [True, False])
def test_the_holder_of_the_lock_is_knocked_at(workspace: Path, answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        if answers:
            listener.listen()
            monkeypatch.setattr(checks, "DEFAULT_PORT", port)
        lock = CoordinatorLock.acquire(workspace / STORAGE / "coordinator.lock", url=f"http://0.0.0.0:{port}")
        try:
            found = verdicts(workspace)
            lock.announce("")
            silent = verdicts(workspace)
        finally:
            lock.release()
    assert found["coordinator"][0] is (Verdict.OK if answers else Verdict.FAIL)
    assert found["port"] == (Verdict.OK, f"{port} is this workspace's own | ") or not answers
    assert (silent["coordinator"][0], "does not say" in silent["coordinator"][1]) == (Verdict.FAIL, True)
    assert silent["port"][0] is (Verdict.WARN if answers else Verdict.OK)


def test_another_kernel_on_the_notes_is_told_apart(workspace: Path) -> None:
    lock = CoordinatorLock.acquire(workspace / ".lock")
    try:
        assert "another SiYuan kernel" in verdicts(workspace)["coordinator"][1]
    finally:
        lock.release()


def test_the_command_prints_lines_or_json_and_its_code_says_whether_it_fails(workspace: Path) -> None:
    words = ("doctor", "--workspace", str(workspace))
    lines = run(*words)
    assert lines.exit_code == 0
    assert lines.stdout.startswith("ok    workspace    ")
    told = json.loads(run(*words, "--json").stdout)
    assert told["ok"] is True
    assert {"check", "verdict", "words"} <= set(told["checks"][0])
    (workspace / STORAGE / "mcpToolsConfig").write_text("[")
    assert run(*words).exit_code == 1
    assert json.loads(run(*words, "--json").stdout)["ok"] is False


# --- the ledger --------------------------------------------------------------------------------------------------
def record(workspace: Path) -> dict[str, str]:
    """A ledger with one row in each of three states; their ids by state."""

    async def work() -> dict[str, str]:
        clock = ManualClock()
        store = LedgerStore(workspace / STORAGE / LEDGER_FILE, clock.wall_ms)
        ledger = Ledger(InlineWriter(store), clock, SeededIds(3))
        binding = Binding("block", "update", "sha256:v1:0")
        issued = await ledger.issue(binding, (BOX,))
        done = await ledger.issue(binding, (BOX,))
        lost = await ledger.issue(binding, ())
        for row, event in ((done, WriteEvent.VERIFIED), (lost, WriteEvent.REPLY_LOST)):
            begun = ledger.claim(row)
            assert begun is not None
            await ledger.begin(begun)
            clock.advance(1)
            await ledger.settle(begun, event, previous="p", result="r", transaction_state="committed")
        await ledger.aclose()
        return {"issued": issued.request_id, "committed": done.request_id, "unknown": lost.request_id}

    return trio.run(work)


def test_the_ledger_is_read_as_it_is_written(workspace: Path) -> None:
    ids = record(workspace)
    folder = workspace / STORAGE
    before = (folder / LEDGER_FILE).read_bytes()
    rows = ledger_reading.listed(folder, None, 10)
    assert [row["requestId"] for row in rows] == [ids["unknown"], ids["committed"], ids["issued"]]
    assert [row["requestId"] for row in ledger_reading.listed(folder, WriteState.COMMITTED, 10)] == [ids["committed"]]
    assert len(ledger_reading.listed(folder, None, 1)) == 1
    row = ledger_reading.found(folder, ids["committed"].upper())
    assert row is not None
    assert (row["tool"], row["targetIds"], row["transactionState"]) == ("block", [BOX], "committed")
    assert ledger_reading.found(folder, "ffffffff") is None
    summary = ledger_reading.summary(folder)
    assert (summary["isKnown"], summary["damage"]) == (True, [])
    assert summary["counts"] == {"issued": 1, "committed": 1, "unknown": 1}
    assert (folder / LEDGER_FILE).read_bytes() == before
    assert verdicts(workspace)["ledger"][0] is Verdict.WARN  # one is in doubt


def test_a_ledger_of_a_newer_release_is_said_to_be_one(workspace: Path) -> None:
    record(workspace)
    with sqlite3.connect(workspace / STORAGE / LEDGER_FILE) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    assert verdicts(workspace)["ledger"][0] is Verdict.FAIL
    check = run("ledger", "check", "--workspace", str(workspace))
    assert (check.exit_code, "newer release" in check.stdout) == (1, True)


def test_no_ledger_and_no_database_cannot_be_read(workspace: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="there is none"):
        ledger_reading.summary(workspace / STORAGE)
    (workspace / STORAGE / LEDGER_FILE).write_bytes(b"no database" * 100)
    with pytest.raises(LedgerUnavailable, match="not a database"):
        ledger_reading.listed(workspace / STORAGE, None, 1)


def ledger(workspace: Path, *words: str) -> Any:
    return run("ledger", *words, "--workspace", str(workspace))


def test_the_commands_list_show_and_check(workspace: Path) -> None:
    assert ledger(workspace, "list").exit_code == 1
    assert "error" in json.loads(ledger(workspace, "list", "--json").stdout)
    ids = record(workspace)
    listing = ledger(workspace, "list")
    assert [line.split()[:2] for line in listing.stdout.splitlines()] == [
        [ids[state], state] for state in ("unknown", "committed", "issued")
    ]
    assert json.loads(ledger(workspace, "list", "--json").stdout)["writes"][0]["state"] == "unknown"
    assert "No request id is expired" in ledger(workspace, "list", "--state", "expired").stderr
    shown = ledger(workspace, "show", ids["unknown"])
    assert (shown.exit_code, "never written again" in shown.stdout) == (0, True)
    assert json.loads(ledger(workspace, "show", ids["unknown"], "--json").stdout)["state"] == "unknown"
    for words in (("show", "ffff"), ("show", "ffff", "--json")):
        missing = ledger(workspace, *words)
        assert (missing.exit_code, "never issued here" in missing.output) == (1, True)
    checked = ledger(workspace, "check")
    assert (checked.exit_code, "1 unknown" in checked.stdout) == (0, True)
    assert json.loads(ledger(workspace, "check", "--json").stdout)["ok"] is True
    assert ledger(workspace, "list", "--limit", "0").exit_code == 2


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete"), ("zsh", "compdef"), ("fish", "complete")])
def test_a_shell_gets_its_completion_script(shell: str, word: str) -> None:
    script = run("completion", shell)
    assert script.exit_code == 0
    assert word in script.stdout
    assert "_SIYUAN_COMPLETE" in script.stdout
    assert "sisyphus_kernel" in run("completion", shell, "--program", "sisyphus-kernel").stdout.lower()


def test_completion_knows_tools_actions_and_flags() -> None:
    def completed(line: str) -> list[str]:

        from click.shell_completion import BashComplete

        from kernel.cli import main

        complete = BashComplete(main, {}, "siyuan", "_SIYUAN_COMPLETE")
        args, last = line.split()[1:-1], line.rsplit(maxsplit=1)[-1]

        return [item.value for item in complete.get_completions(args, last)]

    assert "get-kramdown" in completed("siyuan block get")
    assert "--data-type" in completed("siyuan block update --da")
    assert "markdown" in completed("siyuan block update --data-type m")
    assert "fs" in completed("siyuan call f")
    assert completed("siyuan doc") == ["doctor", "document"]
    assert "--version" in completed("siyuan --v")
