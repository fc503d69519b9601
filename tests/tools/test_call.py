"""A call from its arguments to its result: order of checks, lanes, the boundary, strict writes, soft errors."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.host.base import HostApiError
from kernel.safety.intent import CommitGate, Intent, Outcome
from kernel.tools.configuration import PERMISSIONS_FILE, PLUGIN_FOLDER, TOOLS_FILE
from kernel.tools.permissions import Level
from kernel.tools.service import Refused
from kernel.tools.statistics import EVENTS_FILE, STATS_FILE
from scheduler.ticket import Lane
from tests.tools.fakes import BLOCK, CALLER, DOCUMENT, NOTEBOOK, FakeHost, open_world, unknown

LEGACY = '{"writeSafety":{"strictMode":false}}'
ALL_ON = '{"writeSafety":{"strictMode":false},"block":{"actions":{"delete":true}},"system":{"actions":{"workspace_info":true}}}'


def legacy(answers: dict[str, Any] | None = None, settings: str = LEGACY) -> FakeHost:
    host = FakeHost(answers)
    host.configure(settings)
    return host


class RecordingCoordinator:
    """Keeps the intents it is given; commits at once."""

    def __init__(self) -> None:
        self.intents: list[Intent] = []

    async def preflight(self, intent: Intent, leave_slot: Callable[[], None]) -> dict[str, Any]:
        self.intents.append(intent)
        await intent.probe()
        return {"validateOnly": True, "requestId": "ab12"}

    async def commit(self, intent: Intent, gate: CommitGate, write: Callable[[], Awaitable[Outcome]]) -> dict[str, Any]:
        self.intents.append(intent)
        gate.enter_commit()
        outcome = await gate.run(write)
        return {**outcome.payload, "safety": {"writeSafetyMode": "strict", "requestId": intent.request_id}}


# --- prepare ---


@pytest.mark.parametrize(
    ("tool", "arguments", "type_", "has_structure"),
    [
        ("nosuch", {"action": "x"}, "unknown_tool", True),
        ("notebook", {}, "validation_error", True),
        ("notebook", {"action": ""}, "validation_error", True),
        ("notebook", {"action": 5}, "validation_error", True),
        ("notebook", {"action": "LIST"}, "unknown_action", True),
        ("notebook", {"action": "remove", "notebook": "x"}, "action_disabled", True),
        ("notebook", {"action": "rename"}, "validation_error", True),
        ("system", {"action": "notify", "msg": "x", "level": "info", "validateOnly": True}, "write_safety_error", True),
    ],
)
async def test_a_call_that_cannot_be_is_refused_before_anything_runs(
    tool: str, arguments: dict[str, Any], type_: str, has_structure: bool
) -> None:
    async with open_world(FakeHost()) as world:
        result = await world.call(tool, **arguments)
        assert result.is_error
        assert (result.structured or {})["error"]["type"] == type_
        assert world.host.calls == []


async def test_an_unknown_tool_is_told_in_a_sentence() -> None:
    async with open_world() as world:
        assert (await world.call("nosuch", action="x")).content[0]["text"] == "Unknown tool: nosuch"


async def test_a_refused_write_says_that_nothing_was_written() -> None:
    async with open_world(FakeHost()) as world:
        strict = (await world.call("fs", action="write")).structured or {}
        assert strict["writeExecuted"] is False
        assert strict["transactionState"] == "rejected"
        world.host.configure(LEGACY)
        loose = (await world.call("fs", action="write")).structured or {}
        assert loose["safety"] == {"writeSafetyMode": "legacy", "writeSafetyGuaranteed": False}


async def test_a_preflight_without_strict_mode_is_refused() -> None:
    async with open_world(legacy()) as world:
        result = await world.call("notebook", action="create", name="x", validateOnly=True)
        assert (result.structured or {})["error"]["code"] == "strict_mode_disabled"


async def test_a_preflight_of_an_external_effect_executes_nothing() -> None:
    async with open_world(FakeHost()) as world:
        result = await world.call("system", action="notify", msg="x", level="info", validateOnly=True)
        error = result.structured or {}
        assert (error["error"]["code"], error["writeAttempted"]) == ("preflight_unavailable", False)
        assert error["safety"]["reason"] == "external_uncontrolled"


@pytest.mark.parametrize("said", ["true", 1, "false", [], {}])
async def test_a_preflight_said_in_another_type_executes_nothing(said: Any) -> None:
    async with open_world(legacy()) as world:
        for tool, action, more in (
            ("notebook", "create", {"name": "x"}),
            ("system", "notify", {"msg": "x", "level": "info"}),
        ):
            error = (await world.call(tool, action=action, validateOnly=said, **more)).structured or {}
            assert error["error"]["code"] == "validation_error", tool
            assert [one["path"] for one in error["error"]["fields"]] == ["validateOnly"]


async def test_only_a_real_dangerous_call_asks_for_confirmation() -> None:
    async with open_world(FakeHost()) as world:
        arguments = {"action": "rm", "path": "/Nb/A"}
        prepared = await world.tools.prepare("fs", arguments, CALLER)
        assert prepared.confirmation is not None
        assert "/Nb/A" in prepared.confirmation.message
        assert (await world.tools.prepare("fs", {**arguments, "validateOnly": True}, CALLER)).confirmation is None
        assert (await world.tools.prepare("fs", {**arguments, "action": "ls"}, CALLER)).confirmation is None
        other = await world.tools.prepare("fs", {**arguments, "path": "/Nb/B"}, CALLER)
        assert other.confirmation is not None
        assert other.confirmation.operation != prepared.confirmation.operation


async def test_an_export_to_a_file_asks_and_an_inline_one_does_not() -> None:
    async with open_world() as world:
        arguments: dict[str, Any] = {"action": "export_resources", "paths": ["/data/x"]}
        assert (await world.tools.prepare("file", arguments, CALLER)).confirmation is None
        arguments["outputPath"] = "/tmp/x.zip"
        assert (await world.tools.prepare("file", arguments, CALLER)).confirmation is not None


async def test_reads_and_writes_take_their_lanes_and_help_takes_none() -> None:
    async with open_world() as world:
        lanes = [
            (await world.tools.prepare(tool, {"action": action, **more}, CALLER)).lane
            for tool, action, more in (
                ("notebook", "list", {}),
                ("notebook", "create", {"name": "x"}),
                ("system", "notify", {"msg": "x", "level": "info"}),
                ("fs", "help", {}),
            )
        ]
        assert lanes == [Lane.READ, Lane.MUTATION, Lane.MUTATION, None]


async def test_broken_settings_refuse_calls_and_leave_the_list() -> None:
    host = FakeHost()
    host.configure("{broken")
    async with open_world(host) as world:
        assert (await world.call("notebook", action="list")).is_error
        assert [tool["name"] for tool in await world.tools.list_tools(CALLER)][:2] == ["fs", "notebook"]


# --- perform ---


async def test_a_read_answers_and_is_counted() -> None:
    async with open_world(FakeHost()) as world:
        result = await world.call("notebook", action="list")
        assert (result.structured or {})["value"] == [{"id": NOTEBOOK, "name": "Nb", "subFileCount": 1}]
        assert json.loads(world.host.files[STATS_FILE])["totalCalls"] == 1
        assert json.loads(world.host.files[EVENTS_FILE])["status"] == "success"


async def test_an_action_switched_off_while_it_waited_does_not_run() -> None:
    async with open_world(FakeHost()) as world:
        prepared = await world.tools.prepare("notebook", {"action": "list"}, CALLER)
        world.host.configure('{"notebook":{"enabled":false}}')
        with world.scheduler.admit() as ticket:
            result = await world.scheduler.perform(
                ticket, Lane.READ, lambda one: world.tools.perform(prepared, one, CALLER)
            )
        assert (result.structured or {})["error"]["code"] == "action_disabled"


async def test_a_preflight_that_waited_until_strict_mode_went_off_writes_nothing() -> None:
    async with open_world(FakeHost()) as world:
        asked = {"action": "create", "name": "x", "validateOnly": True}
        prepared = await world.tools.prepare("notebook", asked, CALLER)
        world.host.configure(LEGACY)
        with world.scheduler.admit() as ticket:
            result = await world.scheduler.perform(
                ticket, Lane.MUTATION, lambda one: world.tools.perform(prepared, one, CALLER)
            )
        told = result.structured or {}
        assert (told["error"]["code"], told["writeAttempted"]) == ("strict_mode_disabled", False)
        assert "/api/notebook/createNotebook" not in {call[0] for call in world.host.calls}


async def test_permissions_are_read_when_execution_starts() -> None:
    host = legacy({"/api/notebook/renameNotebook": None})
    async with open_world(host) as world:
        prepared = await world.tools.prepare(
            "notebook", {"action": "rename", "notebook": NOTEBOOK, "name": "x"}, CALLER
        )
        host.configure(permissions=json.dumps({NOTEBOOK: "r"}))
        with world.scheduler.admit() as ticket:
            result = await world.scheduler.perform(
                ticket, Lane.MUTATION, lambda one: world.tools.perform(prepared, one, CALLER)
            )
        error = (result.structured or {})["error"]
        assert (error["type"], error["current_permission"]) == ("permission_denied", "r")
        assert "/api/notebook/renameNotebook" not in host.paths()


async def test_a_write_without_strict_mode_tells_the_windows_and_gives_no_guarantee() -> None:
    host = legacy({"/api/notebook/renameNotebook": None, "/api/ui/reloadFiletree": unknown()})
    async with open_world(host) as world:
        payload = (await world.call("notebook", action="rename", notebook=NOTEBOOK, name="x")).structured or {}
        assert payload["safety"] == {"writeSafetyMode": "legacy", "writeSafetyGuaranteed": False}
        assert payload["uiRefresh"]["applied"] is True
        assert payload["uiRefresh"]["partialFailure"][0]["type"] == "reloadFiletree"


async def test_an_external_effect_runs_once_and_says_it_is_out_of_reach() -> None:
    host = FakeHost({"/api/notification/pushMsg": {"id": "m"}})
    async with open_world(host) as world:
        payload = (await world.call("system", action="notify", msg="x", level="info")).structured or {}
        assert payload["safety"]["writeSafetyGuaranteed"] is False
        assert host.paths().count("/api/notification/pushMsg") == 1


async def test_a_strict_write_goes_to_the_coordinator_with_its_credential() -> None:
    coordinator = RecordingCoordinator()
    host = FakeHost({"/api/notebook/createNotebook": {"notebook": {"id": NOTEBOOK, "name": "x"}}})
    async with open_world(host, coordinator=coordinator) as world:
        arguments: dict[str, Any] = {"action": "create", "name": "x"}
        preflight = (await world.call("notebook", **arguments, validateOnly=True)).structured or {}
        assert preflight == {"action": "create", "validateOnly": True, "requestId": "ab12"}
        assert "/api/notebook/createNotebook" not in host.paths()
        done = await world.call("notebook", **arguments, requestId="ab12", expectedHash="cd34")
        assert (done.structured or {})["safety"]["requestId"] == "ab12"
        intent = coordinator.intents[-1]
        assert (intent.request_id, intent.credential, dict(intent.arguments)) == ("ab12", "cd34", {"name": "x"})
        assert intent.writes_sent is not None
        assert intent.writes_sent() >= 1


async def test_a_strict_write_without_a_coordinator_is_not_made() -> None:
    async with open_world(FakeHost()) as world:
        result = await world.call("notebook", action="create", name="x")
        assert (result.structured or {})["error"]["code"] == "write_coordinator_unavailable"


async def test_soft_mode_hands_over_what_the_caller_can_correct() -> None:
    settings = '{"errorReporting":{"softRecoverableErrors":true}}'
    async with open_world(legacy(settings=settings)) as world:
        soft = await world.call("fs", action="ls")
        assert not soft.is_error
        assert (soft.structured or {})["error"]["softened"] is True
        hard = await world.call("notebook", action="nope")
        assert hard.is_error


async def test_the_hosts_refusal_is_told_in_its_own_words() -> None:
    refusal = HostApiError(-1, "the tree is being moved")
    async with open_world(FakeHost({"/api/block/getBlockInfo": refusal})) as world:
        error = ((await world.call("block", action="info", id=BLOCK)).structured or {})["error"]
        assert (error["type"], error["tool"], error["action"]) == ("api_error", "block", "info")
        assert error["message"] == "SiYuan API error: -1 - the tree is being moved"


@pytest.mark.parametrize(
    ("code", "is_there", "expected"),
    [(-1, False, "block_not_found"), (3, False, "block_not_found"), (3, True, "api_error")],
)
async def test_a_block_that_the_host_does_not_know_is_not_found(code: int, is_there: bool, expected: str) -> None:
    """A host that was asked for unknown blocks a moment ago says of every other one that it is indexing."""
    words = "Content block with id [x] not found" if code == -1 else "Data indexing is in progress."
    answers = {"/api/block/getBlockInfo": HostApiError(code, words), "/api/block/checkBlockExist": is_there}
    async with open_world(FakeHost(answers)) as world:
        error = ((await world.call("block", action="info", id=BLOCK)).structured or {})["error"]
        assert error["code"] == expected
        if expected == "block_not_found":
            # The same error, however busy the host was.
            assert (error["type"], error["apiCode"], error["hint"]) == ("api_error", -1, "Look the target up again.")


async def test_a_failing_store_of_statistics_costs_nothing() -> None:
    class NoStore(FakeHost):
        async def write_file(self, path: str, content: bytes) -> None:
            raise unknown(path)

    async with open_world(NoStore()) as world:
        assert not (await world.call("notebook", action="list")).is_error


async def test_help_answers_for_a_tool_and_for_a_topic() -> None:
    async with open_world(FakeHost()) as world:
        overview = (await world.call("fs", action="help")).structured or {}
        assert overview["tool"] == "fs"
        topic = (await world.call("fs", action="help", topic="list")).structured or {}
        assert topic["action"] == "ls"
        wrong = await world.call("fs", action="help", topic="nope")
        assert (wrong.structured or {})["error"]["type"] == "unknown_help_topic"


async def test_an_error_from_outside_the_tools_becomes_a_result() -> None:
    async with open_world() as world:
        plain = world.tools.error_result(ToolError("queue_full", "full"))
        assert (plain.structured or {})["error"]["code"] == "queue_full"
        prepared = await world.tools.prepare("system", {"action": "notify", "msg": "x", "level": "info"}, CALLER)
        external = world.tools.error_result(ToolError("request_cancelled", "cancelled"), prepared)
        assert (external.structured or {})["safety"]["writeSafetyGuaranteed"] is False


# --- lists and texts ---


async def test_the_list_follows_the_switches_and_the_surface_changes_with_them() -> None:
    async with open_world(FakeHost()) as world:
        before = await world.tools.surface_version(CALLER)
        names = [tool["name"] for tool in await world.tools.list_tools(CALLER)]
        assert names[0] == "fs"
        world.host.configure('{"fs":{"enabled":false}}')
        assert "fs" not in [tool["name"] for tool in await world.tools.list_tools(CALLER)]
        middle = await world.tools.surface_version(CALLER)
        world.host.configure(permissions="{}")
        assert len({before, middle}) == 2
        world.host.configure(permissions=json.dumps({NOTEBOOK: "none"}))
        assert await world.tools.surface_version(CALLER) != middle


async def test_instructions_put_the_users_rules_first_and_say_how_old_the_memory_is() -> None:
    async with open_world(FakeHost()) as world:
        assert "none yet" in await world.tools.instructions(CALLER)
        memory = '"agentSiyuanMemoryText":"remember","agentSiyuanMemoryUpdatedAt":"2026-02-01T00:00:00Z"'
        world.host.configure('{"userRulesText":"be kind",' + memory + "}")
        text = await world.tools.instructions(CALLER)
        assert text.index("be kind") < text.index("older than seven days") < text.index("remember")
        world.host.configure('{"writeSafety":{"strictMode":false}}')
        assert "validateOnly" not in await world.tools.instructions(CALLER)


async def test_every_listed_resource_can_be_read_and_unknown_ones_are_none() -> None:
    async with open_world(FakeHost()) as world:
        for row in await world.tools.list_resources(CALLER):
            contents = await world.tools.read_resource(row["uri"], CALLER)
            assert contents is not None
            assert contents[0]["text"]
        assert await world.tools.read_resource("siyuan://help/action/fs/ls", CALLER) is not None
        for uri in ("siyuan://nope", "siyuan://help/action/fs/nope", "siyuan://skills/nope", "siyuan://help/nope"):
            assert await world.tools.read_resource(uri, CALLER) is None
        assert len(await world.tools.list_resource_templates(CALLER)) == 2


async def test_prompts_take_a_task_and_complete_their_templates() -> None:
    async with open_world() as world:
        prompts = await world.tools.list_prompts(CALLER)
        assert len(prompts) == 12
        got = await world.tools.get_prompt(prompts[0]["name"], {"task": "now"}, CALLER)
        assert got is not None
        assert "now" in got["messages"][0]["content"]["text"]
        assert await world.tools.get_prompt("nope", {}, CALLER) is None
        reference = {"type": "ref/resource", "uri": "siyuan://help/action/{tool}/{action}"}
        assert await world.tools.complete(reference, {"name": "tool", "value": "not"}, CALLER) == ["notebook"]
        assert await world.tools.complete({"type": "ref/prompt"}, {"name": "task", "value": ""}, CALLER) == []


# --- the plugin's own files ---


async def test_setting_a_permission_keeps_the_others_and_drops_what_is_none() -> None:
    settings = '{"writeSafety":{"strictMode":false},"notebook":{"actions":{"set_permission":true}}}'
    host = legacy(settings=settings)
    host.configure(permissions=json.dumps({"20240101000000-otherno": "write", "code": 404}))
    async with open_world(host) as world:
        await world.call("notebook", action="set_permission", notebook=NOTEBOOK, permission="none")
        assert json.loads(host.files[PERMISSIONS_FILE]) == {"20240101000000-otherno": "rw", NOTEBOOK: "none"}


async def test_writing_the_memory_keeps_every_other_setting() -> None:
    host = legacy()
    host.configure('{"writeSafety":{"strictMode":false},"odd":{"kept":1}}')
    async with open_world(host) as world:
        written = (await world.call("fs", action="write", path="/AGENTS.md", markdown="remember")).structured or {}
        assert written["virtual"] is True
        settings = json.loads(host.files[TOOLS_FILE])
        assert (settings["odd"], settings["agentSiyuanMemoryText"]) == ({"kept": 1}, "remember")
        read = (await world.call("fs", action="read", path="/AGENTS.md")).structured or {}
        assert (read["content"], read["updatedAt"]) == ("remember", settings["agentSiyuanMemoryUpdatedAt"])
        refused = await world.call("fs", action="write", path="/USER_RULES.md", markdown="x")
        assert refused.is_error


async def test_feedback_stays_in_the_house() -> None:
    host = FakeHost()
    async with open_world(host) as world:
        payload = (await world.call("feedback", action="submit", description="good")).structured or {}
        line = json.loads(host.files[PLUGIN_FOLDER + "feedback.jsonl"])
        assert (line["description"], line["createdTs"]) == ("good", payload["createdTs"])


async def test_a_read_only_workspace_is_read_only() -> None:
    async with open_world(legacy(), level=Level.READ) as world:
        error = ((await world.call("notebook", action="rename", notebook=NOTEBOOK, name="x")).structured or {})["error"]
        assert error["current_permission"] == "r"


async def test_a_database_block_that_is_deleted_is_named_as_one() -> None:
    host = legacy(
        {
            "/api/attr/getBlockAttrs": {},
            "/api/block/getBlockDOM": {"dom": '<div data-type="NodeAttributeView">'},
            "/api/block/deleteBlock": [],
        },
        ALL_ON,
    )
    async with open_world(host) as world:
        payload = (await world.call("block", action="delete", id=BLOCK)).structured or {}
        assert payload["databaseBlock"] is True
        assert payload["uiRefresh"]["operations"] == [{"type": "reloadProtyle", "id": DOCUMENT}]


async def test_prepare_counts_refusals_and_raises_them() -> None:
    async with open_world(FakeHost()) as world:
        with pytest.raises(Refused):
            await world.tools.prepare("notebook", {"action": "nope"}, CALLER)
        assert json.loads(world.host.files[EVENTS_FILE])["status"] == "error"
        assert STATS_FILE not in world.host.files


@pytest.mark.parametrize("data", ["text", [1], 5, True, [[]], {"x": 1}])
async def test_a_foreign_hosts_answer_of_another_kind_is_told_as_such(
    data: object, caplog: pytest.LogCaptureFixture
) -> None:
    """A read meets what it does not know; what our own notes answer so is a fault of ours, and no tool's result."""
    host = FakeHost({"/api/notebook/lsNotebooks": data})
    async with open_world(host) as world:
        world.tools.parts.retries_reads = False
        result = await world.call("notebook", action="list")
        if result.is_error:
            assert (result.structured or {})["error"]["code"] == "host_malformed"
            assert "was not understood by notebook.list" in caplog.text
            world.tools.parts.retries_reads = True
            with pytest.raises((AttributeError, LookupError, TypeError, ValueError)):
                await world.call("notebook", action="list")
        else:
            assert isinstance(data, dict)
