"""Promises of the tools that no other test is about: every preflight, external effects, budgets, foreign tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.endpoints import is_write
from kernel.extension.bridge import Bridge
from kernel.host.embedded import EmbeddedHost
from kernel.host.limits import READ_REQUESTS_MAX
from kernel.safety.policy import Effect
from kernel.safety.short_hashes import is_digest
from kernel.tools import help as help_pages
from kernel.tools.context import Handling, ToolContext, Written
from kernel.tools.handlers import HANDLERS
from kernel.tools.registry import ACTIONS, TOOLS, Action
from kernel.tools.schema import action_schema
from kernel.tools.service import Prepared
from scheduler import CancelOutcome, Ticket
from scheduler.ticket import Lane
from tests.tools.fakes import CALLER, FakeHost, World, open_world
from tests.tools.notes import Notes, open_notes

TOOLS_FOLDER = Path(__file__).parents[2] / "kernel" / "tools"


class Watched:
    """What the host was asked to change. The tools' own statistics are no change of a note."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes: list[str] = []
        call, write_file, upload = EmbeddedHost.call, EmbeddedHost.write_file, EmbeddedHost.upload_asset

        async def watched_call(host: EmbeddedHost, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
            self.writes += [path] * is_write(path)
            return await call(host, path, arguments)

        async def watched_file(host: EmbeddedHost, path: str, content: bytes) -> None:
            self.writes += [path] * ("puppy" not in path and "analytics" not in path)
            await write_file(host, path, content)

        async def watched_upload(host: EmbeddedHost, directory: str, name: str, content: bytes) -> dict[str, Any]:
            self.writes.append(name)
            return await upload(host, directory, name, content)

        monkeypatch.setattr(EmbeddedHost, "call", watched_call)
        monkeypatch.setattr(EmbeddedHost, "write_file", watched_file)
        monkeypatch.setattr(EmbeddedHost, "upload_asset", watched_upload)


def example(action: Action) -> dict[str, Any]:
    """The call that help shows for an action."""
    shown: dict[str, Any] = help_pages.topic(TOOLS[action.tool], action, is_strict=True)["example"]
    return shown


def effect(action: Action) -> Effect:
    return action.policy.resolve(example(action)).effect


# --- preflights of everything ---


async def test_a_preflight_of_any_action_at_all_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G08, R6, R107, R109, R196: a preflight, a refusal, or a read; never an execution and never a question."""
    async with open_notes(tmp_path, strict=True) as notes:
        watched = Watched(monkeypatch)
        refused: set[str] = set()
        for action in ACTIONS.values():
            arguments = {**example(action), "validateOnly": True}
            result = await notes.raw(action.tool, arguments)
            told = result.structured or {}
            error = told.get("error") or {}
            if effect(action) is Effect.EXTERNAL:
                assert error["code"] == "preflight_unavailable", action.key
                assert error["hint"], action.key
                assert (told["writeAttempted"], told["writeExecuted"]) == (False, False), action.key
            elif effect(action) is Effect.MUTATION and result.is_error:
                if error["code"] == "validation_error":
                    refused.add(action.key)
                assert "requestId" not in told, action.key
                assert told["writeAttempted"] is False, action.key
            elif effect(action) is Effect.MUTATION:
                assert told["validateOnly"] is True, action.key
                assert told["requestId"], action.key
            assert watched.writes == [], action.key
        assert refused == set()


async def test_no_preflight_asks_for_a_confirmation(tmp_path: Path) -> None:
    """G08."""
    async with open_notes(tmp_path, strict=True) as notes:
        for action in (one for one in ACTIONS.values() if one.is_dangerous and effect(one) is Effect.MUTATION):
            prepared = await notes.tools.prepare(action.tool, {**example(action), "validateOnly": True}, CALLER)
            assert prepared.confirmation is None, action.key


async def test_without_strict_mode_a_preflight_of_a_mutation_is_refused_and_says_so(tmp_path: Path) -> None:
    """G08."""
    async with open_notes(tmp_path) as notes:
        for action in (one for one in ACTIONS.values() if effect(one) is Effect.MUTATION):
            result = await notes.raw(action.tool, {**example(action), "validateOnly": True})
            assert (result.structured or {})["error"]["code"] == "strict_mode_disabled", action.key


# --- external effects and budgets ---


async def test_an_external_effect_that_has_begun_is_not_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """R223."""
    entered, leave = trio.Event(), trio.Event()

    async def slow(_context: ToolContext, _arguments: Mapping[str, Any]) -> Written:
        entered.set()
        await leave.wait()
        return Written({"sent": 1})

    monkeypatch.setitem(HANDLERS, "system.notify", Handling(slow))
    results: list[Any] = []
    async with open_world(FakeHost()) as world, trio.open_nursery() as nursery:
        prepared = await world.tools.prepare("system", {"action": "notify", "msg": "x", "level": "info"}, CALLER)
        ticket = world.scheduler.admit()
        nursery.start_soon(_perform, world, prepared, ticket, results)
        await entered.wait()
        assert world.scheduler.cancel_ticket(ticket) is CancelOutcome.COMMITTING
        assert results == []
        leave.set()
        await trio.testing.wait_all_tasks_blocked()
    assert [result.structured["sent"] for result in results] == [1]


async def _perform(world: World, prepared: Prepared, ticket: Ticket, results: list[Any]) -> None:
    with ticket:
        results.append(
            await world.scheduler.perform(ticket, Lane.MUTATION, lambda one: world.tools.perform(prepared, one, CALLER))
        )


async def greedy(context: ToolContext) -> None:
    """More host calls than a read may make."""
    for _ in range(READ_REQUESTS_MAX + 5):
        await context.call("/api/system/version")


async def test_the_budget_is_for_reads_and_cuts_no_write_and_no_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R271, R272: the same greed in a read, in an external effect, in a write and in the look after it."""
    append = HANDLERS["block.append"]
    looks: list[str] = []

    async def read(context: ToolContext, _arguments: Mapping[str, Any]) -> Any:
        await greedy(context)
        return {}

    async def notify(context: ToolContext, _arguments: Mapping[str, Any]) -> Written:
        await greedy(context)
        return Written({"sent": 1})

    async def write(context: ToolContext, arguments: Mapping[str, Any]) -> Written:
        await greedy(context)
        written: Written = await append.run(context, arguments)
        return written

    def confirms(context: ToolContext, _arguments: Mapping[str, Any]) -> Any:
        async def confirm(_outcome: Any) -> bool:
            await greedy(context)
            looks.append("read back")
            return True

        return confirm

    monkeypatch.setitem(HANDLERS, "system.get_version", Handling(read))
    monkeypatch.setitem(HANDLERS, "system.notify", Handling(notify))
    monkeypatch.setitem(HANDLERS, "block.append", Handling(write, append.guard, confirms=confirms))
    async with open_notes(tmp_path, strict=True) as notes:
        document = await notes.memory.document(await notes.memory.notebook("Nb"), "/a", "x")
        assert (await notes.refused("system", "get_version"))["code"] == "read_budget_exceeded"
        assert (await notes.raw("system", {"action": "notify", "msg": "x", "level": "info"})).is_error is False
        done = await notes.call("block", "append", parentID=document, dataType="markdown", data="y")
        assert done["safety"]["transactionState"] == "committed"
        assert looks


# --- templates ---


@pytest.mark.parametrize(("given", "mib"), [(None, 16), (1, 1), (32, 32), (33, 32)])
async def test_a_template_may_be_as_long_as_its_bound_and_not_longer(given: int | None, mib: int) -> None:
    """R163 to R165: one write of the template's file, or none."""
    from kernel.tools.configuration import HTTP_FILE

    host = FakeHost({"/api/search/searchTemplate": {"templates": []}})
    host.configure('{"writeSafety":{"strictMode":false}}')
    if given is not None:
        host.files[HTTP_FILE] = json.dumps({"kernelOptions": {"templateMaxMiB": given}}).encode()
    async with open_world(host) as world:
        arguments = {"action": "create_template", "path": "t.md"}
        long = await world.call("file", **arguments, markdown="x" * (mib * 1024 * 1024 + 1))
        assert (long.structured or {})["error"]["code"] == "too_large"
        assert "/data/templates/t.md" not in host.files
        await world.call("file", **arguments, markdown="x" * (mib * 1024 * 1024))
        assert len(host.files["/data/templates/t.md"]) == mib * 1024 * 1024


# --- foreign tools ---

PLUGIN = {
    "name": "plugin__echo__say",
    "description": "Say it",
    "source": "plugin",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "readOnlyHint": True,
    "effectScope": "local",
}
NATIVE = {"name": "document", "description": "Documents", "inputSchema": {"type": "object"}}


class Official:
    """An official endpoint that counts how often it is looked at."""

    def __init__(self) -> None:
        self.tools: list[dict[str, Any]] = [PLUGIN, NATIVE]
        self.lists = 0
        self.is_closed = False
        self.called: list[tuple[str, dict[str, Any]]] = []

    async def list_tools(self) -> list[dict[str, Any]]:
        self.lists += 1
        return self.tools

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.called.append((name, dict(arguments)))
        return {"content": [{"type": "text", "text": "hi"}]}

    async def aclose(self) -> None:
        self.is_closed = True


def bridged(world: World, official: Official) -> Bridge:
    bridge = Bridge(official, ManualClock())
    world.tools.parts.more["extension"] = bridge
    return bridge


def siyuan(settings: str = "") -> FakeHost:
    host = FakeHost({"/api/system/version": "3.7.3"})
    host.configure(settings)
    return host


async def names_listed(world: World) -> list[str]:
    declared = next(tool for tool in await world.tools.list_tools(CALLER) if tool["name"] == "extension")
    return list(declared["inputSchema"]["properties"]["action"]["enum"])


async def test_with_natives_on_each_tool_is_told_in_full() -> None:
    """R288, R348."""
    async with open_world(siyuan('{"extension":{"includeNativeTools":true}}')) as world:
        bridged(world, Official())
        told = (await world.call("extension", action="list", refresh=True)).structured or {}
        assert told["detailsIncluded"] is True
        rows = {row["name"]: row for row in told["tools"]}
        assert {row["source"] for row in rows.values()} == {"plugin", "native"}
        say = rows["plugin__echo__say"]
        assert (say["description"], say["readOnlyHint"], say["blocked"]) == ("Say it", True, False)
        assert say["effectScope"] == "local"
        assert say["inputSchema"]["properties"] == {"text": {"type": "string"}}
        assert rows["document"]["readOnlyHint"] is False


async def test_a_native_tool_is_called_by_its_official_name() -> None:
    """R302."""
    async with open_world(siyuan('{"extension":{"includeNativeTools":true}}')) as world:
        official = Official()
        await bridged(world, official).refresh(world.host)
        arguments = {"action": "read", "id": "x"}
        result = await world.call("extension", action="document", arguments=arguments)
        assert not result.is_error
        assert official.called == [("document", arguments)]


async def test_the_first_look_is_in_the_background_and_lists_use_what_is_known() -> None:
    """R336, R337, R339: nobody asks, nobody looks; the list that asks first does not wait, later ones look nowhere."""
    async with open_world(siyuan()) as world, trio.open_nursery() as nursery:
        official = Official()
        bridge = bridged(world, official)
        nursery.start_soon(bridge.run, world.host)
        await trio.testing.wait_all_tasks_blocked()
        assert official.lists == 0
        assert "plugin__echo__say" not in await names_listed(world)
        await trio.testing.wait_all_tasks_blocked()
        assert official.lists == 1
        for _ in range(3):
            assert "plugin__echo__say" in await names_listed(world)
        assert official.lists == 1
        nursery.cancel_scope.cancel()
    assert official.is_closed


async def test_a_switched_off_extension_looks_nowhere() -> None:
    """R336."""
    async with open_world(siyuan('{"extension":{"enabled":false}}')) as world, trio.open_nursery() as nursery:
        official = Official()
        nursery.start_soon(bridged(world, official).run, world.host)
        await world.tools.list_tools(CALLER)
        await trio.testing.wait_all_tasks_blocked()
        assert official.lists == 0
        nursery.cancel_scope.cancel()


async def test_a_discovery_that_finds_something_else_changes_the_surface() -> None:
    """R338, R349: what streams compare is another digest after it, and the same one where nothing changed."""
    async with open_world(siyuan()) as world:
        official = Official()
        bridge = bridged(world, official)
        before = await world.tools.surface_version(CALLER)
        await bridge.refresh(world.host)
        found = await world.tools.surface_version(CALLER)
        assert found != before
        await bridge.refresh(world.host)
        assert await world.tools.surface_version(CALLER) == found
        official.tools = [NATIVE]
        await bridge.refresh(world.host)
        assert await world.tools.surface_version(CALLER) == before


def test_only_the_tool_for_foreign_tools_knows_the_official_endpoint() -> None:
    """R347: everything else goes through the host boundary, in the words of /api."""
    official = re.compile(r"^(?:from|import) (?:kernel\.extension|kernel\.siyuan|httpx)", re.MULTILINE)
    knowing = {path.name for path in TOOLS_FOLDER.rglob("*.py") if official.search(path.read_text(encoding="utf-8"))}
    assert knowing == {"extension.py"}


# --- the package check ---


async def test_checking_a_package_asks_the_host_nothing_and_takes_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R311, R326, R327."""
    action = ACTIONS["extension.validate_package"]
    assert action.policy.effect is Effect.READ
    assert set(action_schema(action)["properties"]) == {"action", "package", "runtime"}
    manifest = {"name": "a", "version": "1.0.0", "minAppVersion": "3.7.0", "displayName": {"default": "A"}}
    package = {"type": "plugin", "manifest": manifest, "files": {"index.js": "onunload() {}", "/etc/passwd": ""}}
    async with open_world(FakeHost()) as world:
        told = (await world.call("extension", action="validate_package", package=package)).structured or {}
        assert told["valid"] is False
        assert world.host.paths() == []
    async with open_notes(tmp_path) as notes:
        watched = Watched(monkeypatch)
        await _checked(notes, package)
        assert watched.writes == []


async def _checked(notes: Notes, package: dict[str, Any]) -> None:
    assert not (await notes.raw("extension", {"action": "validate_package", "package": package})).is_error


# --- exports ---


async def test_the_hashes_of_a_snapshot_are_whole(tmp_path: Path) -> None:
    """R59: those of scope, inventory, metadata and contents, and the cursor made of them."""
    async with open_notes(tmp_path, strict=True) as notes:
        box = await notes.memory.notebook("Nb")
        ids = [await notes.memory.document(box, f"/{name}", name) for name in "ab"]
        page = await notes.call("file", "export_markdown_snapshot", notebookID=box, documentIDs=ids, limit=1)
        document = page["documents"][0]
        hashes = [page["scope"]["scopeHash"], page["inventoryHash"], document["metadataHash"], document["contentHash"]]
        assert all(is_digest(one) for one in hashes)
        following = await notes.call(
            "file",
            "export_markdown_snapshot",
            notebookID=box,
            documentIDs=ids,
            limit=1,
            cursor=page["page"]["nextCursor"],
        )
        assert following["documents"][0]["id"] == ids[1]


async def test_a_client_of_the_endpoint_is_told_where_to_fetch_its_export(tmp_path: Path) -> None:
    """R195, R197: the file stays with the host; nothing is saved for the client, and nothing is guaranteed."""
    async with open_notes(tmp_path, strict=True) as notes:
        await notes.host.write_file("/data/assets/a.txt", b"a")
        asked = {"action": "export_resources", "paths": ["/data/assets/a.txt"], "delivery": "download"}
        told = (await notes.raw("file", asked)).structured or {}
        assert told["delivery"] == "download"
        assert told["safety"]["writeSafetyGuaranteed"] is False
        content = await notes.host.read_file(told["downloadPath"])
        assert content is not None
        assert content.startswith(b"PK")
