"""``call`` against a running kernel: answers, refusals, safe writes, confirmations, files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kernel.cli.performing import Person
from kernel.delegate.messages import rpc
from tests.cli.running import Kernel, run, serving


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with serving(tmp_path_factory.mktemp("cli") / "workspace") as running:
        yield running


@pytest.fixture
def path(request: pytest.FixtureRequest) -> str:
    """A path of the test's own."""
    return f"/Box/{abs(hash(request.node.name)):x}"


def texts(kernel: Kernel, path: str) -> str:
    return str(kernel.told("fs", "read", path)["content"])


# --- reading -----------------------------------------------------------------------------------------------------
def test_a_read_prints_the_text_and_puts_the_rest_beside_it(kernel: Kernel) -> None:
    result = kernel.run("fs", "read", "/Box/Plan")
    assert (result.exit_code, result.stdout) == (0, "Alpha text\n")
    assert "hasNextWindow: false" in result.stderr


def test_json_is_one_line_and_all_of_it(kernel: Kernel) -> None:
    result = kernel.run("call", "fs", "read", "--path", "/Box/Plan", "--json")
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["content"] == "Alpha text"


def test_lists_and_nested_values_are_lines(kernel: Kernel) -> None:
    assert "  - name: Plan\n" in kernel.run("fs", "ls", "/Box").stdout
    assert kernel.run("system", "get-version").stdout == "version: 3.7.3\n"


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("fs", "read", "/Box/Nowhere"), "not_found", 1),
        (("file", "render", "--engine", "template"), "validation_error", 2),
        (("block", "get-kramdown", "--id", "no id"), "block_not_found", 1),
        (("system", "workspace-info"), "action_disabled", 1),
        (("extension", "plugin__no__such", "--arguments-json", "{}"), "unknown_action", 2),
    ],
)
def test_a_failure_is_told_with_its_code(kernel: Kernel, words: tuple[str, ...], code: str, exit_code: int) -> None:
    assert kernel.told(*words, code=exit_code)["error"]["code"] == code
    result = kernel.run(*words)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert result.stderr.startswith(f"{code}: ")


@pytest.mark.parametrize(
    "words",
    [
        ("fs", "ls", "--json"),
        ("fs", "nope", "--json"),
        ("call", "nope", "x", "--json"),
        ("nope", "--json"),
        ("fs", "tree", "/", "--max-depth", "x", "--json"),
        ("fs", "ls", "/", "--json", "--url", "http://127.0.0.1:1", "--workspace", "x"),
    ],
)
def test_whoever_asks_for_json_gets_it_for_wrong_arguments_too(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "invalid_arguments"
    assert "Error: " in result.stderr


@pytest.mark.parametrize("words", [("fs", "nope"), ("fs", "nope", "--", "--json"), ("lab", "run", "x", "--json")])
def test_nobody_else_gets_json_for_wrong_arguments(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")


def test_fields_that_are_wrong_are_named(kernel: Kernel) -> None:
    assert "  path: Required" in kernel.run("file", "render", "--engine", "template").stderr


# --- nobody there ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("fs", "read", "/x"), "host_unavailable"),
        (("fs", "write", "/x", "text", "--yes"), "write_coordinator_unavailable"),
        (("fs", "write", "/x", "text", "--request-id", "abcd"), "write_coordinator_unavailable"),
        (("fs", "rm", "/x"), "write_coordinator_unavailable"),
    ],
)
def test_without_a_kernel_nothing_is_done_and_the_way_out_is_said(
    tmp_path: Path, words: tuple[str, ...], code: str
) -> None:
    """R139: no silent fall-back; nothing is made in the folder."""
    result = run(*words, "--workspace", str(tmp_path), "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert "sisyphus-kernel serve" in error["message"]
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_by_its_address(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("fs", "read", "/Box/Plan", "--json")
    by_flag = run(*words, "--url", kernel.url)
    by_environment = run(*words, env={"SISYPHUS_URL": f"{kernel.url}/sisyphus/mcp"})
    assert by_flag.stdout == by_environment.stdout
    assert run(*words, env={"SISYPHUS_WORKSPACE": str(kernel.workspace)}).stdout == by_flag.stdout
    both = run(*words, "--url", kernel.url, "--workspace", str(kernel.workspace))
    assert (both.exit_code, "two different places" in both.stderr) == (2, True)
    assert run(*words, "--url", "http://127.0.0.1:1").exit_code == 1
    wrong = run(*words, "--url", kernel.url, env={"SISYPHUS_TOKEN": "wrong"})
    assert "refuses the token" in json.loads(wrong.stdout)["error"]["message"]


# --- safe writes -------------------------------------------------------------------------------------------------
def test_a_safe_write_in_two_commands(kernel: Kernel, path: str) -> None:
    """The first one prints the second one."""
    first = kernel.run("fs", "write", path, "one 'quoted' text", "--validate-only=yes", "--overwrite=false")
    assert first.exit_code == 0
    command = shlex.split(first.stderr.split("To write it: ")[1].splitlines()[0])
    assert kernel.told("fs", "read", path, code=1)["error"]["code"] == "not_found"
    second = run(*command[1:], "--json")
    assert second.exit_code == 0, second.output
    told = json.loads(second.stdout)
    assert told["safety"]["transactionState"] == "committed"
    assert texts(kernel, path) == "one 'quoted' text"
    again = json.loads(run(*command[1:], "--json").stdout)
    assert (again["replayed"], again["requestId"]) == (True, told["safety"]["requestId"])
    assert "told from the ledger" in run(*command[1:]).stderr


def test_a_precondition_is_part_of_the_printed_command(kernel: Kernel, path: str) -> None:
    kernel.told("fs", "write", path, "one", "--yes")
    words = ("fs", "write", path, "two", "--overwrite", "--validate-only")
    told = kernel.told(*words)
    assert told["preconditionField"] == "expectedStateHash"
    printed = kernel.run(*words).stderr
    assert f"--expected-state-hash {told['expectedStateHash']}" in printed
    credentials = ("--request-id", told["requestId"], "--expected-state-hash", told["expectedStateHash"])
    kernel.told("fs", "write", path, "three", "--overwrite", "--yes")
    refused = kernel.told(*words[:-1], *credentials, code=1)
    assert refused["error"]["code"] == "state_changed"
    assert texts(kernel, path) == "three"


def test_the_same_state_has_the_same_credential_whoever_asks(kernel: Kernel) -> None:
    """G04, R63: over HTTP in both eras and from the command line; one pool, one digest."""
    block = kernel.api("block/getChildBlocks", id=kernel.document)[0]["id"]
    words = {"id": block, "dataType": "markdown", "data": "Other text"}
    flags = ("--id", block, "--data-type", "markdown", "--data", "Other text", "--validate-only")
    told = [kernel.told("block", "update", *flags)["expectedStateHash"]]
    arguments = {"action": "update", **words, "validateOnly": True}
    modern = rpc("/sisyphus", 1, "tools/call", {"name": "block", "arguments": arguments})
    plain = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "block", "arguments": arguments}}
    for headers, content in (
        (modern.headers, modern.body),
        ({"Accept": modern.headers["Accept"]}, json.dumps(plain).encode()),
    ):
        sent = {"Content-Type": "application/json", **headers}
        answer = httpx.post(f"{kernel.url}/sisyphus/mcp", headers=sent, content=content).json()
        told.append(answer["result"]["structuredContent"]["expectedStateHash"])
    assert len(set(told)) == 1, told


def test_yes_does_both_at_once_and_standard_input_is_text(kernel: Kernel, path: str) -> None:
    told = kernel.told("fs", "write", path, "-", "--yes", stdin="from a pipe")
    assert told["safety"]["writeSafetyGuaranteed"] is True
    assert texts(kernel, path) == "from a pipe"
    words = kernel.run("fs", "replace", path, "--edit-json", '{"old": "pipe", "new": "file"}', "--yes")
    assert (words.exit_code, "committed" in words.stderr) == (0, True)
    assert texts(kernel, path) == "from a file"


def test_a_pipe_is_not_asked_and_told_what_is_missing(kernel: Kernel, path: str) -> None:
    told = kernel.told("fs", "write", path, "text", code=1)
    assert told["error"]["code"] == "precondition_required"
    assert kernel.told("fs", "write", path, "text", "--request-id", "XYZ!", code=1)["error"]["code"] in (
        "invalid_request_id",
        "request_id_expired",
    )


def test_a_failed_preflight_is_the_end(kernel: Kernel) -> None:
    told = kernel.told(
        "block", "update", "--id", "20200101000000-aaaaaaa", "--data-type", "markdown", "--data", "x", "--yes", code=1
    )
    assert told["writeAttempted"] is False


class Script:
    """Somebody at the terminal who has made up his mind."""

    def __init__(self, *words: str) -> None:
        self.words = list(words)
        self.asked: list[str] = []

    def agrees(self, words: str) -> str:
        self.asked.append(words)
        return self.words.pop(0)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Any:
    def sits(*words: str) -> Script:
        script = Script(*words)
        monkeypatch.setattr("kernel.cli.performing._person", lambda: script)
        return script

    return sits


def test_a_person_is_asked_between_check_and_write(kernel: Kernel, path: str, person: Any) -> None:
    script = person("decline", "accept")
    refused = kernel.run("fs", "write", path, "text")
    assert (refused.exit_code, "Nothing was written." in refused.stderr) == (1, True)
    assert kernel.told("fs", "read", path, code=1)
    written = kernel.run("fs", "write", path, "text")
    assert (written.exit_code, script.asked) == (0, ["Write it?", "Write it?"])
    assert "can be written, request id" in written.stderr
    assert texts(kernel, path) == "text"


@pytest.mark.parametrize(
    ("word", "code", "exit_code"),
    [("accept", None, 0), ("decline", "confirmation_declined", 1), ("cancel", "confirmation_cancelled", 1)],
)
def test_a_dangerous_write_is_one_question_and_it_is_the_kernels(
    kernel: Kernel, path: str, person: Any, word: str, code: str | None, exit_code: int
) -> None:
    """R134."""
    kernel.told("fs", "write", path, "text", "--yes")
    script = person(word)
    told = kernel.told("fs", "rm", path, code=exit_code)
    assert (told.get("error") or {}).get("code") == code
    assert script.asked == ["Go ahead?"]
    assert kernel.told("fs", "read", path, code=0 if code else 1)


def test_danger_without_a_person_needs_confirm_beside_yes(kernel: Kernel, path: str) -> None:
    kernel.told("fs", "write", path, "text", "--yes")
    refused = kernel.told("fs", "rm", path, "--yes", code=1)
    assert refused["error"]["code"] == "dangerous_action_requires_confirmation"
    assert kernel.told("fs", "rm", path, "--yes", "--confirm")["safety"]["transactionState"] == "committed"


def test_without_strict_mode_a_write_is_one_call_and_says_so(kernel: Kernel, path: str) -> None:
    storage = kernel.workspace / "data" / "storage" / "petal" / "siyuan-plugins-mcp-sisyphus" / "mcpToolsConfig"
    storage.write_text('{"writeSafety": {"strictMode": false}}')
    try:
        result = kernel.run("fs", "write", path, "text", "--yes")
    finally:
        storage.unlink()
    assert result.exit_code == 0
    assert "without a guarantee" in result.stderr
    assert texts(kernel, path) == "text"


# --- files -------------------------------------------------------------------------------------------------------
def test_a_file_of_this_machine_becomes_an_asset(kernel: Kernel, tmp_path: Path) -> None:
    """R168, R177: staged once, whatever is done with it."""
    (tmp_path / "bild 1.txt").write_bytes(b"pixels")
    words = ("file", "upload-asset", "--local-file-path", str(tmp_path / "bild 1.txt"))
    before = staged(kernel)
    preflight = kernel.told(*words, "--validate-only")
    told = kernel.told(*words, "--yes", "--confirm")
    assert told["uploadSource"] == preflight["uploadSource"]
    assert staged(kernel) == before + 1
    asset = told["succMap"]["bild 1.txt"]
    assert (kernel.workspace / "data" / asset).read_bytes() == b"pixels"
    # A replay needs neither the file nor its name (R185).
    (tmp_path / "bild 1.txt").unlink()
    safety = told["safety"]
    again = ("--upload-source", told["uploadSource"], "--request-id", safety["requestId"], "--confirm")
    replay = kernel.told("file", "upload-asset", *again, "--expected-source-hash", safety["previousHash"])
    assert replay["replayed"] is True


def staged(kernel: Kernel) -> int:
    return int(httpx.get(f"{kernel.url}/sisyphus/health").json()["uploads"]["items"])


def test_a_changed_file_cannot_be_written_under_the_old_id(kernel: Kernel, tmp_path: Path) -> None:
    """R183."""
    file = tmp_path / "a.txt"
    file.write_text("one")
    words = ("file", "upload-asset", "--local-file-path", str(file))
    told = kernel.told(*words, "--validate-only")
    file.write_text("two")
    credentials = ("--request-id", told["requestId"], "--expected-source-hash", told["expectedSourceHash"])
    refused = kernel.told(*words, *credentials, "--confirm", code=1)
    assert refused["error"]["code"] == "idempotency_conflict"


def test_an_export_is_saved_here_and_never_over_anything(kernel: Kernel, tmp_path: Path) -> None:
    """R187-R193 on a real kernel."""
    words = ("file", "export-resources", "--paths", "/data/assets", "--output-path", str(tmp_path / "out.zip"))
    told = kernel.told(*words)
    assert (tmp_path / "out.zip").read_bytes()[:2] == b"PK"
    assert told["bytes"] == (tmp_path / "out.zip").stat().st_size
    assert told["safety"]["writeSafetyGuaranteed"] is False
    assert kernel.told(*words, code=1)["error"]["code"] == "conflict"


def test_a_document_is_extracted_with_its_assets(kernel: Kernel, tmp_path: Path) -> None:
    folder = kernel.workspace / "data" / "assets"
    folder.mkdir(exist_ok=True)
    (folder / "p-20260101000000-abcdefg.png").write_bytes(b"png")
    (folder / "e%20f.png").write_bytes(b"odd")
    text = "![p](assets/p-20260101000000-abcdefg.png) ![e](assets/e%2520f.png)"
    kernel.told("fs", "write", "/Box/Pictures", text, "--yes")
    rows = kernel.told("search", "query-sql", "--stmt", "SELECT id FROM blocks WHERE type='d' AND content='Pictures'")
    document = rows["data"][0]["id"]
    told = kernel.told("file", "extract-doc", document, "--output-dir", str(tmp_path / "out"))
    extracted = Path(told["extractedDir"])
    assert "![p]" in (extracted / "Pictures.md").read_text()
    assert (extracted / "assets" / "p-20260101000000-abcdefg.png").read_bytes() == b"png"
    assert (extracted / "assets" / "e%20f.png").read_bytes() == b"odd", "a link is decoded once"
    again = kernel.told("file", "extract-doc", document, "--output-dir", str(tmp_path / "out"), code=1)
    assert again["error"]["code"] == "local_export_failed"


# --- foreign tools -----------------------------------------------------------------------------------------------
def test_a_plugins_tool_is_called_with_its_arguments_as_json(kernel: Kernel, person: Any) -> None:
    """R301, as the specification writes it; not read-only, so its user is asked."""
    folder = kernel.workspace / "data" / "plugins" / "example-plugin"
    folder.mkdir(parents=True)
    search = {
        "name": "search",
        "description": "Search",
        "inputSchema": {"type": "object"},
        "result": {"asked": "$arguments.keyword", "by": "$arguments.action"},
    }
    (folder / "plugin.json").write_text(json.dumps({"name": "example-plugin", "version": "1.0.0"}))
    (folder / "kernel-tools.json").write_text(json.dumps({"tools": [search]}))
    assert kernel.told("extension", "list", "--refresh")["exposedCount"] == 1
    arguments = ("--arguments-json", '{"action":"query","keyword":"MCP"}')
    words = ("extension", "plugin__example_plugin__search", *arguments)
    refused = kernel.told(*words, code=1)
    assert refused["error"]["code"] == "dangerous_action_requires_confirmation"
    said = kernel.run(*words, "--confirm")
    assert json.loads(said.stdout) == {"asked": "MCP", "by": "query"}
    assert "without a guarantee" in said.stderr
    script = person("accept")
    assert kernel.run(*words).exit_code == 0
    assert script.asked == ["Go ahead?"]


def test_a_native_tool_is_called_by_its_own_name(kernel: Kernel) -> None:
    """R303."""
    storage = kernel.workspace / "data" / "storage" / "petal" / "siyuan-plugins-mcp-sisyphus" / "mcpToolsConfig"
    storage.write_text('{"extension": {"includeNativeTools": true}}')
    try:
        assert kernel.told("extension", "list", "--refresh")["nativeToolsEnabled"] is True
        arguments = json.dumps({"action": "get", "id": kernel.document})
        told = kernel.told("extension", "document", "--arguments-json", arguments, "--confirm")
    finally:
        storage.unlink()
    assert "HPath: /Plan" in told["value"]
    assert told["safety"]["writeSafetyGuaranteed"] is False


# --- what is left to ask -----------------------------------------------------------------------------------------
def test_a_task_that_nobody_knows_says_nothing_about_its_call(kernel: Kernel) -> None:
    result = kernel.run("task", "status", "0b0d7c3e-1111-4111-8111-111111111111")
    assert (result.exit_code, json.loads(result.stdout)["found"]) == (1, False)
    nobody = run("task", "result", "0b0d7c3e-1111-4111-8111-111111111111", "--url", "http://127.0.0.1:1")
    assert (nobody.exit_code, json.loads(nobody.stdout)["error"]["code"]) == (1, "host_unavailable")
    malformed = kernel.run("task", "status", "123")
    assert (malformed.exit_code, "is no task id" in malformed.stderr) == (2, True)


def test_a_question_ends_with_the_input_and_with_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_words: Any, **_more: Any) -> bool:
        raise KeyboardInterrupt

    for answer, word in (
        (lambda *_w, **_m: True, "accept"),
        (lambda *_w, **_m: False, "decline"),
        (interrupted, "cancel"),
    ):
        monkeypatch.setattr("click.confirm", answer)
        assert Person().agrees("Go ahead?") == word
