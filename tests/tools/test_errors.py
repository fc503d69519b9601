"""Every error code: provoked here over the whole tool service, or by the named test; and what each says about a write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kernel.errors import ERRORS, ToolError
from kernel.host.embedded import EmbeddedHost
from kernel.safety.submission import in_doubt, rejected
from kernel.tools.configuration import PERMISSIONS_FILE
from kernel.tools.registry.examples import ID
from tests.tools.fakes import CALLER, FakeHost, open_world
from tests.tools.notes import Notes, open_notes

ROOT = Path(__file__).parents[2]
MD = "markdown"
Provoke = Callable[[Notes], Awaitable[dict[str, Any]]]


async def made(notes: Notes, text: str = "words", path: str = "/Doc") -> tuple[str, str]:
    notebook = await notes.memory.notebook("Nb")
    return notebook, await notes.memory.document(notebook, path, text)


async def first_block(notes: Notes, document: str) -> str:
    children = await notes.host.call("/api/block/getChildBlocks", {"id": document})
    return str(children[0]["id"])


async def notebook_not_found(notes: Notes) -> dict[str, Any]:
    return await notes.refused("notebook", "rename", notebook=ID, name="x")


async def notebook_closed(notes: Notes) -> dict[str, Any]:
    notebook, _ = await made(notes)
    await notes.call("notebook", "set_open_state", notebook=notebook, opened=False)
    result = await notes.raw("notebook", {"action": "get_child_docs", "notebook": notebook})
    return dict((result.structured or {})["error"])


async def database(notes: Notes) -> tuple[str, str, str]:
    """A database, the block that shows it, and a paragraph that does not."""
    _, document = await made(notes)
    paragraph = await first_block(notes, document)
    shown = await notes.call("av", "render", createIfNotExist=True, blockID=document)
    return shown["avID"], shown["blockID"], paragraph


async def av_not_found(notes: Notes) -> dict[str, Any]:
    return await notes.refused("av", "add_rows", avID=ID, primaryKeyTexts=["x"])


async def av_owner_stale(notes: Notes) -> dict[str, Any]:
    av_id, _, paragraph = await database(notes)
    return await notes.refused("av", "add_rows", avID=av_id, blockID=paragraph, primaryKeyTexts=["x"])


async def av_owner_missing(notes: Notes) -> dict[str, Any]:
    av_id, block, _ = await database(notes)
    await notes.host.call("/api/block/deleteBlock", {"id": block})
    return await notes.refused("av", "add_rows", avID=av_id, primaryKeyTexts=["x"])


async def complex_blocks_not_supported_by_fs(notes: Notes) -> dict[str, Any]:
    await database(notes)
    return await written(notes, "fs", "write", path="/Nb/Doc", markdown="x", overwrite=True)


async def structured_assets_overwrite_rejected(notes: Notes) -> dict[str, Any]:
    _, document = await made(notes)
    named = {"id": await first_block(notes, document), "attrs": {"name": "mine"}}
    await notes.host.call("/api/attr/setBlockAttrs", named)
    return await written(notes, "fs", "write", path="/Nb/Doc", markdown="x", overwrite=True)


async def ambiguous(notes: Notes) -> dict[str, Any]:
    notebook, document = await made(notes)
    for _ in range(2):
        await notes.memory.document(notebook, "/Doc/Same", "x")
    targets = [{"key": "k", "title": "Same"}]
    arguments = {"notebook": notebook, "parentId": document, "mode": "create", "targets": targets}
    return await written(notes, "document", "ensure_link_targets", **arguments)


async def template_exists(notes: Notes) -> dict[str, Any]:
    await notes.host.write_file("/data/templates/t.md", b"x")
    return await written(notes, "file", "create_template", path="t.md", markdown="y")


async def template_not_found(notes: Notes) -> dict[str, Any]:
    return await notes.refused("file", "update_template", path="none.md", markdown="y")


async def settings_unreadable(notes: Notes) -> dict[str, Any]:
    await notes.host.write_file(PERMISSIONS_FILE, b"[]")
    return await notes.refused("notebook", "list")


async def invalid_template_path(notes: Notes) -> dict[str, Any]:
    return await notes.refused("file", "create_template", path="no-ending", markdown="y")


async def path_not_in_workspace(notes: Notes) -> dict[str, Any]:
    return await notes.refused("file", "delete_asset", path="assets/../../conf/conf.json")


async def no_match(notes: Notes) -> dict[str, Any]:
    await made(notes)
    return await written(notes, "fs", "replace", path="/Nb/Doc", edit={"old": "other", "new": "x"})


async def invalid_arguments(notes: Notes) -> dict[str, Any]:
    await made(notes)
    both = {"edit": {"old": "a", "new": "b"}, "old": "a", "new": "b"}
    return await written(notes, "fs", "replace", path="/Nb/Doc", **both)


async def block_not_found(notes: Notes) -> dict[str, Any]:
    return await notes.refused("block", "update", id=ID, dataType=MD, data="x")


async def conflict(notes: Notes) -> dict[str, Any]:
    await made(notes)
    return await written(notes, "fs", "write", path="/Nb/Doc", markdown="x")


async def unsupported(notes: Notes) -> dict[str, Any]:
    _, block, _ = await database(notes)
    return await written(notes, "block", "replace", id=block, edit={"old": "b", "new": "c"})


PROVOKED: tuple[Provoke, ...] = (
    notebook_not_found,
    notebook_closed,
    av_not_found,
    av_owner_stale,
    av_owner_missing,
    complex_blocks_not_supported_by_fs,
    structured_assets_overwrite_rejected,
    ambiguous,
    template_exists,
    template_not_found,
    settings_unreadable,
    invalid_template_path,
    path_not_in_workspace,
    no_match,
    invalid_arguments,
    block_not_found,
    conflict,
    unsupported,
)


async def written(notes: Notes, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
    """The error of a write that its preflight lets pass or not: of the call that fails first."""
    asked = {"action": action, **arguments}
    result = await notes.raw(tool, {**asked, "validateOnly": True})
    told = result.structured or {}
    if not result.is_error:
        credential = {name: told[name] for name in ("requestId", told.get("preconditionField")) if name in told}
        result = await notes.raw(tool, {**asked, **credential, "confirm": True})
        told = result.structured or {}
    assert result.is_error, told
    assert {name: told[name] for name in rejected()} == rejected()
    return dict(told["error"])


@pytest.mark.parametrize("provoke", PROVOKED, ids=lambda one: one.__name__)
async def test_a_provoked_error_has_its_code_and_says_what_to_do(tmp_path: Path, provoke: Provoke) -> None:
    async with open_notes(tmp_path, strict=True) as notes:
        error = await provoke(notes)
        kind = ERRORS[provoke.__name__]
        assert error["code"] == kind.code
        assert (error["nextStep"], error["safeToRetry"]) == (kind.next_step, kind.safe_to_retry)
        assert error["message"]


async def test_a_block_without_a_notebook_cannot_be_resolved() -> None:
    async with open_world(FakeHost({"/api/block/getBlockInfo": {"box": "", "rootID": ""}})) as world:
        told = (await world.call("block", action="info", id=ID)).structured or {}
        assert told["error"]["code"] == "resolution_error"


@pytest.mark.parametrize(("strict", "code"), [(False, "pending_verification"), (True, "readback_mismatch")])
async def test_rows_that_the_host_took_and_nobody_sees_are_to_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strict: bool, code: str
) -> None:
    """R93: the host has answered, so a strict caller hears of a mismatch, with all that the handler knows."""
    monkeypatch.setattr("kernel.tools.av_base.AV_SHOWS_AFTER_WAITS_S", (0.0,))
    async with open_notes(tmp_path, strict=True) as notes:
        av_id, _, paragraph = await database(notes)
        await notes.configure(strict=strict)
        asked = {"action": "add_rows", "avID": av_id, "blockIDs": [paragraph]}
        told = (await notes.raw("av", {**asked, "validateOnly": True})).structured or {}
        original = EmbeddedHost.call

        async def call(host: EmbeddedHost, path: str, arguments: Any = None) -> Any:
            return [] if path == "/api/transactions" else await original(host, path, arguments)

        monkeypatch.setattr(EmbeddedHost, "call", call)
        result = await notes.raw("av", {**asked, **({"requestId": told["requestId"]} if strict else {})})
        said = result.structured or {}
        assert said["error"]["code"] == code
        assert said["error"]["unresolvedBlockIDs"] == [paragraph]
        assert said["writeAttempted"] is True
        if strict:
            assert {name: said[name] for name in in_doubt()} == in_doubt()
            again = (await notes.raw("av", {**asked, "requestId": told["requestId"]})).structured or {}
            names = ("code", "type", "requestId")
            assert {name: again["error"][name] for name in names} == {name: said["error"][name] for name in names}


# --- what an error says about a write, whoever found it (decision 25) ---


@pytest.mark.parametrize("code", ERRORS)
async def test_an_error_about_a_strict_write_says_what_was_written(code: str) -> None:
    """Any code, from outside the tools, before the call was prepared and after: the five keys, unless it knows better."""
    update = {"action": "update", "id": ID, "dataType": MD, "data": "x"}
    async with open_world(FakeHost()) as world:
        prepared = await world.tools.prepare("block", update, CALLER)
        for known in ({"prepared": prepared}, {"asked": ("block", update)}):
            told = world.tools.error_result(ToolError(code, "words"), **known).structured or {}  # type: ignore[arg-type]
            assert {name: told[name] for name in rejected()} == rejected()
            assert (told["error"]["tool"], told["error"]["action"]) == ("block", "update")
            doubt = ToolError(code, "words", outer=in_doubt())
            told = world.tools.error_result(doubt, **known).structured or {}  # type: ignore[arg-type]
            assert {name: told[name] for name in in_doubt()} == in_doubt()


@pytest.mark.parametrize(
    ("settings", "asked", "expected"),
    [
        ("", ("block", {"action": "info", "id": ID}), {}),
        ("", ("system", {"action": "notify", "msg": "x"}), {"safety"}),
        ('{"writeSafety":{"strictMode":false}}', ("block", {"action": "update"}), {"safety"}),
        ("", ("block", {"action": "nothing"}), {}),
        ("", ("nothing", {}), {}),
        ("", ("fs", {"action": "write", "path": "/a", "markdown": "x", "overwrite": True}), set(rejected())),
    ],
)
async def test_what_is_no_strict_write_does_not_claim_to_be_one(
    settings: str, asked: tuple[str, dict[str, Any]], expected: set[str]
) -> None:
    host = FakeHost()
    host.configure(settings)
    async with open_world(host) as world:
        await world.call("block", action="info")
        told = world.tools.error_result(ToolError("queue_full", "words"), asked=asked).structured or {}
        assert set(told) - {"error"} == set(expected)


async def test_settings_that_cannot_be_read_refuse_a_write_in_its_own_words() -> None:
    host = FakeHost()
    host.configure("no JSON at all")
    async with open_world(host) as world:
        told = (await world.call("block", action="update", id=ID, dataType=MD, data="x")).structured or {}
        assert {name: told[name] for name in rejected()} == rejected()


# --- no code without a test ---

# Code → a test that provokes it over the tool service, the coordinator, or the endpoint that owns it.
ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(
        (
            "precondition_required",
            "invalid_request_id",
            "request_id_expired",
            "preflight_lease_invalid",
            "state_changed",
            "idempotency_conflict",
            "write_safety_failed",
            "write_ledger_unavailable",
            "api_error",
        ),
        "tests/safety/test_refusals.py::test_a_refused_call_executes_nothing_and_says_what_to_do",
    ),
    "outcome_unknown": "tests/safety/test_doubt.py::test_a_write_that_began_and_cannot_be_confirmed_is_in_doubt_for_ever",
    "readback_mismatch": "tests/safety/test_additions.py::test_an_addition_that_is_not_there_is_a_mismatch",
    "idempotency_unavailable": "tests/safety/test_without_effect.py::test_an_end_state_that_cannot_be_written_for_a_write_that_did_nothing_is_no_doubt",
    "write_ledger_capacity": "tests/safety/test_preflight.py::test_more_live_ids_than_allowed_are_refused_with_their_own_code",
    "request_id_collision": "tests/safety/test_preflight.py::test_an_id_that_cannot_be_found_is_told_as_a_collision",
    "host_unavailable": "tests/safety/test_without_effect.py::test_a_host_that_is_away_before_anything_was_sent_executed_nothing",
    "internal_error": "tests/safety/test_without_effect.py::test_any_failure_before_the_first_host_write_executed_nothing",
    "preflight_unavailable": "tests/tools/test_promises.py::test_a_preflight_of_any_action_at_all_changes_nothing",
    "strict_mode_disabled": "tests/tools/test_promises.py::test_without_strict_mode_a_preflight_of_a_mutation_is_refused_and_says_so",
    "write_coordinator_unavailable": "tests/tools/test_call.py::test_a_strict_write_without_a_coordinator_is_not_made",
    "read_budget_exceeded": "tests/tools/test_promises.py::test_the_budget_is_for_reads_and_cuts_no_write_and_no_read_back",
    "too_large": "tests/tools/test_promises.py::test_a_template_may_be_as_long_as_its_bound_and_not_longer",
    "resolution_error": "tests/tools/test_errors.py::test_a_block_without_a_notebook_cannot_be_resolved",
    "pending_verification": "tests/tools/test_errors.py::test_rows_that_the_host_took_and_nobody_sees_are_to_be_checked",
}
# Codes whose test names them in its own text; the file is enough to find it.
IN_FILES: dict[str, str] = {
    "write_coordinator_changed": "tests/delegate/test_delegate.py",
    "queue_full": "tests/cases/test_lanes.py",
    "duplicate_request": "tests/mcp/test_cancellation.py",
    "request_cancelled": "tests/cases/test_lanes.py",
    "read_deadline_exceeded": "tests/wire/test_remote_host.py",
    "access_changed": "tests/tasks/test_control.py",
    "result_too_large": "tests/tasks/test_control.py",
    "dangerous_action_requires_confirmation": "tests/mcp/test_confirmation.py",
    "confirmation_declined": "tests/mcp/test_confirmation.py",
    "confirmation_cancelled": "tests/mcp/test_confirmation.py",
    "confirmation_invalid": "tests/mcp/test_confirmation.py",
    "validation_error": "tests/tools/test_call.py",
    "unknown_tool": "tests/tools/test_call.py",
    "unknown_action": "tests/tools/test_call.py",
    "unknown_help_topic": "tests/tools/test_call.py",
    "action_disabled": "tests/tools/test_call.py",
    "permission_denied": "tests/cases/test_confirmations.py",
    "not_found": "tests/tools/test_notes.py",
    "document_not_found": "tests/tools/test_notes.py",
    "invalid_path": "tests/tools/test_notes.py",
    "ambiguous_path": "tests/tools/test_notes.py",
    "host_malformed": "tests/wire/test_remote_host.py",
    "host_unauthorized": "tests/wire/test_remote_host.py",
    "upload_source_expired": "tests/cases/test_uploads.py",
    "upload_capacity": "tests/uploads/test_routes.py",
    "kernel_local_file_unavailable": "tests/wire/test_transfers.py",
    "local_export_failed": "tests/delegate/test_exports.py",
    "local_export_cancelled": "tests/delegate/test_exports.py",
}


def test_every_code_of_the_table_is_provoked_by_a_test() -> None:
    named = {one.__name__ for one in PROVOKED}
    assert named | set(ELSEWHERE) | set(IN_FILES) == set(ERRORS)
    for test in ELSEWHERE.values():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test
    for code, path in IN_FILES.items():
        assert f'"{code}"' in (ROOT / path).read_text(encoding="utf-8"), (code, path)


def test_every_code_of_the_table_is_raised_somewhere() -> None:
    """A row that nothing raises is a promise to nobody."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "kernel").rglob("*.py") if path.name != "errors.py"]
    unused = [code for code in ERRORS if not any(f'"{code}"' in source for source in sources)]
    assert unused == []
