"""Strict writes through the tool service on the embedded kernel: every step is preflighted, committed and replayed."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kernel.clock import ManualClock
from kernel.endpoints import is_write
from kernel.errors import ToolError
from kernel.host.embedded import EmbeddedHost
from kernel.ids import SeededIds
from kernel.safety.open import open_coordinator
from kernel.siyuan.kernel import KernelOptions, SiyuanKernel
from kernel.siyuan.push import PushHub
from kernel.tools.call import HANDLERS, ToolParts, Tools
from kernel.tools.context import Handling
from kernel.tools.permissions import Level
from kernel.workspace.workspace import Workspace
from scheduler.scheduler import Scheduler, open_scheduler
from tests.tools.replay import call_tool

CONFIGURATION = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/mcpToolsConfig"
OFF_BY_DEFAULT = {
    "notebook": ["remove", "set_permission"],
    "document": ["remove"],
    "block": ["delete"],
    "file": ["delete_template"],
}


class Counting(EmbeddedHost):
    """Counts what could change something. Telling windows to refresh changes no note."""

    writes = 0

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        self.writes += is_write(path) and not path.startswith("/api/ui/")
        return await super().call(path, arguments)

    async def write_file(self, path: str, content: bytes) -> None:
        self.writes += "puppy" not in path and "analytics" not in path
        await super().write_file(path, content)


@dataclass
class Whole:
    """The product without its socket, and the fixture of the bug cases."""

    host: Counting
    tools: Tools
    scheduler: Scheduler
    clock: ManualClock
    names: dict[str, str] = field(default_factory=dict)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        # Times are part of nothing, but ids are made of them: every call has a second of its own.
        self.clock.advance(1)
        result = await call_tool(self.tools, self.scheduler, tool, dict(arguments))
        return result.structured or {}, result.is_error

    async def preflight(self, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        before = self.host.writes
        answer, is_error = await self.call(tool, {"action": action, **arguments, "validateOnly": True})
        assert not is_error, answer
        assert self.host.writes == before
        assert answer["action"] == action
        return answer

    async def commit(
        self, tool: str, action: str, answer: Mapping[str, Any], **arguments: Any
    ) -> tuple[dict[str, Any], bool]:
        submitted = {"requestId": answer["requestId"], "confirm": True}
        if "preconditionField" in answer:
            submitted[answer["preconditionField"]] = answer[answer["preconditionField"]]
        return await self.call(tool, {"action": action, **arguments, **submitted})

    async def write(self, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        """Preflight, commit, and the same commit once more: the receipt again, and no host write."""
        answer = await self.preflight(tool, action, **arguments)
        done, is_error = await self.commit(tool, action, answer, **arguments)
        assert not is_error, done
        writes = self.host.writes
        again, is_error = await self.commit(tool, action, answer, **arguments)
        assert not is_error, again
        assert again["replayed"] is True
        assert again["transactionState"] == done["safety"]["transactionState"]
        assert self.host.writes == writes
        return done


@asynccontextmanager
async def open_whole(folder: Path) -> AsyncIterator[Whole]:
    clock, ids = ManualClock(), SeededIds(3)
    workspace = Workspace.open(str(folder / "workspace"), clock=clock, ids=ids)
    host = Counting(SiyuanKernel(workspace, PushHub(), clock, ids, KernelOptions()))
    switches = {
        tool: {"enabled": True, "actions": dict.fromkeys(names, True)} for tool, names in OFF_BY_DEFAULT.items()
    }
    await host.write_file(CONFIGURATION, json.dumps(switches).encode())
    async with (
        open_scheduler() as scheduler,
        open_coordinator(folder / "state", clock, ids, is_inline=True) as coordinator,
    ):
        # The looks themselves are tested on a virtual clock; here real threads work, which such a clock would outrun.
        coordinator.readback_delays_s = (0.0, 0.0, 0.001)
        boundary = functools.partial(scheduler.boundary, bound_s=30.0)
        parts = ToolParts(host, clock, ids, boundary, coordinator=coordinator, default_level=Level.DELETE)
        whole = Whole(host, Tools(parts), scheduler, clock)
        await make_fixture(whole)
        yield whole


async def make_fixture(whole: Whole) -> None:
    host, names = whole.host, whole.names
    names["NB"] = (await host.call("/api/notebook/createNotebook", {"name": "Box"}))["notebook"]["id"]
    markdown = "Alpha text #tag1#\n\nBeta text\n\n## Part\n\nGamma text"
    for key, path, text in (("D", "/Plan", markdown), ("E", "/Other", "x"), ("F", "/Plan/Sub", "y")):
        whole.clock.advance(1)
        names[key] = await host.call(
            "/api/filetree/createDocWithMd", {"notebook": names["NB"], "path": path, "markdown": text}
        )
    children = await host.call("/api/block/getChildBlocks", {"id": names["D"]})
    names["P1"], names["P2"], names["H1"] = (child["id"] for child in children[:3])


Step = tuple[str, str, dict[str, Any], str]
MD = "markdown"
# Tool, action, arguments (a capital name stands for the fixture's id), how it ends.
STEPS: dict[str, list[Step]] = {
    "notebooks": [
        ("notebook", "create", {"name": "More"}, "committed"),
        ("notebook", "rename", {"notebook": "NB", "name": "Box2"}, "committed"),
        ("notebook", "set_icon", {"notebook": "NB", "icon": "1f4d4"}, "committed"),
        ("notebook", "set_conf", {"notebook": "NB", "conf": {"sortMode": 6}}, "committed"),
        ("notebook", "set_permission", {"notebook": "NB", "permission": "rwd"}, "committed"),
        ("notebook", "set_open_state", {"notebook": "NB", "opened": False}, "committed"),
        ("notebook", "set_open_state", {"notebook": "NB", "opened": True}, "committed"),
        ("notebook", "remove", {"notebook": "NB"}, "committed"),
    ],
    "blocks": [
        ("block", "update", {"id": "P1", "dataType": MD, "data": "new"}, "committed"),
        ("block", "update", {"id": "P1", "dataType": MD, "data": "new"}, "no_change"),
        ("block", "update", {"items": [{"id": "P1", "dataType": MD, "data": "a"}, {"id": "P2", "dataType": MD, "data": "b"}]}, "committed"),
        ("block", "replace", {"id": "P2", "edit": {"old": "b", "new": "c"}}, "committed"),
        ("block", "set_attrs", {"id": "P2", "attrs": {"custom-a": "1"}}, "committed"),
        ("block", "set_attrs", {"id": "P2", "attrs": {"custom-a": "1"}}, "no_change"),
        ("block", "set_fold_state", {"id": "H1", "folded": True}, "committed"),
        ("block", "append", {"parentID": "D", "dataType": MD, "data": "tail"}, "committed"),
        ("block", "prepend", {"parentID": "D", "dataType": MD, "data": "head"}, "committed"),
        ("block", "insert", {"previousID": "P1", "dataType": MD, "data": "mid"}, "committed"),
        ("block", "add_to_daily_note", {"notebook": "NB", "dataType": MD, "data": "x", "position": "append"}, "committed"),
        ("block", "move", {"id": "P1", "parentID": "E"}, "committed"),
        ("block", "delete", {"id": "P2"}, "committed"),
    ],
    "documents": [
        ("document", "create", {"notebook": "NB", "path": "/New", "markdown": "z"}, "committed"),
        ("document", "rename", {"id": "D", "title": "Plan2"}, "committed"),
        ("document", "set_attr", {"id": "D", "attrs": {"icon": "1f600"}}, "committed"),
        ("document", "move", {"fromIDs": ["F"], "toID": "E"}, "committed"),
        ("document", "duplicate", {"id": "D"}, "committed"),
        ("document", "create_daily_note", {"notebook": "NB"}, "committed"),
        ("document", "ensure_link_targets", {"notebook": "NB", "parentId": "D", "mode": "create", "targets": [{"key": "k", "title": "Made"}]}, "committed"),
        ("document", "heading_to_doc", {"headingID": "H1", "targetNotebook": "NB", "targetPath": "/"}, "committed"),
        ("document", "doc_to_heading", {"srcID": "F", "targetID": "P1", "after": True}, "committed"),
        ("document", "remove", {"id": "E"}, "committed"),
    ],
    "paths": [
        ("fs", "write", {"path": "/Box/New", "markdown": "one"}, "committed"),
        ("fs", "write", {"path": "/Box/New", "markdown": "two", "overwrite": True}, "committed"),
        ("fs", "replace", {"path": "/Box/New", "edit": {"old": "two", "new": "three"}}, "committed"),
        ("fs", "mv", {"from": "/Box/New", "to": "/Box/Plan/New"}, "committed"),
        ("fs", "reorder", {"path": "/Box", "orderedPaths": ["/Box/Plan", "/Box/Other"]}, "committed"),
        ("fs", "reorder", {"path": "/Box", "orderedPaths": ["/Box/Other", "/Box/Plan"]}, "committed"),
        ("fs", "rm", {"path": "/Box/Plan/New"}, "committed"),
        ("fs", "write", {"path": "/AGENTS.md", "markdown": "memory", "overwrite": True}, "committed"),
    ],
    "many blocks": [
        ("tag", "rename", {"oldLabel": "tag1", "newLabel": "tag2"}, "committed"),
        ("tag", "remove", {"label": "tag2"}, "committed"),
        ("search", "find_replace", {"ids": ["P2"], "k": "Beta", "r": "Delta", "replaceTypes": {"text": True}}, "committed"),
    ],
}  # fmt: skip


def named(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: named(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("story", STEPS)
async def test_every_step_commits_once_and_replays(fast_path: Path, story: str) -> None:
    async with open_whole(fast_path) as whole:
        for tool, action, arguments, expected in STEPS[story]:
            done = await whole.write(tool, action, **named(arguments, whole.names))
            assert (tool, action, done["safety"]["transactionState"]) == (tool, action, expected)
            assert done["safety"]["writeSafetyGuaranteed"] is True


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/api/block/updateBlock", {"id": "P2", "dataType": MD, "data": "edited meanwhile"}),
        ("/api/block/appendBlock", {"parentID": "D", "dataType": MD, "data": "appended"}),
        ("/api/block/moveBlock", {"id": "P2", "parentID": "E"}),
        ("/api/attr/setBlockAttrs", {"id": "P2", "attrs": {"custom-x": "1"}}),
        ("/api/block/deleteBlock", {"id": "P2"}),
    ],
)
async def test_a_document_that_somebody_edits_meanwhile_is_left_as_he_left_it(
    fast_path: Path, path: str, arguments: dict[str, Any]
) -> None:
    """G09, through the tools: zero host writes, and the whole document as the human left it."""
    async with open_whole(fast_path) as whole:
        replacement = {"path": "/Box/Plan", "markdown": "# All new", "overwrite": True}
        answer = await whole.preflight("fs", "write", **replacement)
        await whole.host.call(path, named(arguments, whole.names))
        before = await whole.host.call("/api/block/getBlockKramdown", {"id": whole.names["D"]})
        writes = whole.host.writes
        refused, is_error = await whole.commit("fs", "write", answer, **replacement)
        assert is_error
        assert refused["error"]["code"] == "state_changed"
        assert refused["writeAttempted"] is False
        assert {"expectedHash", "currentHash", "nextStep"} <= set(refused["error"])
        assert whole.host.writes == writes
        assert await whole.host.call("/api/block/getBlockKramdown", {"id": whole.names["D"]}) == before


@pytest.mark.parametrize(
    ("meanwhile", "expected"),
    [
        ([("/api/block/updateBlock", {"data": "human"})], "state_changed"),
        ([("/api/block/updateBlock", {"data": "human"}), ("/api/block/updateBlock", {"data": "Beta text"})], None),
        ([("/api/attr/setBlockAttrs", {"attrs": {"custom-x": "1"}})], "state_changed"),
    ],
)
async def test_a_block_that_somebody_changes_meanwhile_is_not_overwritten(
    fast_path: Path, meanwhile: list[tuple[str, dict[str, Any]]], expected: str | None
) -> None:
    """G02, through the tools: there and back again is no change, whatever ``updated`` says."""
    async with open_whole(fast_path) as whole:
        block = whole.names["P2"]
        update = {"id": block, "dataType": MD, "data": "agent"}
        answer = await whole.preflight("block", "update", **update)
        for path, arguments in meanwhile:
            whole.clock.advance(5)
            await whole.host.call(path, {"id": block, "dataType": MD, **arguments})
        told, is_error = await whole.commit("block", "update", answer, **update)
        if expected is None:
            assert told["safety"]["transactionState"] == "committed"
        else:
            assert is_error
            assert told["error"]["code"] == expected


async def test_eleven_blocks_are_eleven_targets_and_one_twice_is_one(fast_path: Path) -> None:
    """R22-R24."""
    async with open_whole(fast_path) as whole:
        blocks = [whole.names["P1"], whole.names["P2"]]
        for number in range(9):
            made = await whole.host.call(
                "/api/block/appendBlock", {"parentID": whole.names["D"], "dataType": MD, "data": str(number)}
            )
            blocks.append(made[0]["doOperations"][0]["id"])
        items = [{"id": block, "dataType": MD, "data": "x"} for block in blocks]
        assert (await whole.preflight("block", "update", items=items))["targetCount"] == 11
        assert (await whole.preflight("block", "update", items=[items[0], items[0]]))["targetCount"] == 1
        assert (await whole.preflight("block", "update", **items[0]))["targetCount"] == 1


async def test_arguments_are_checked_before_anything_is_issued(fast_path: Path) -> None:
    """Order of checks: a refused argument gets no request id, in a preflight and in a commit."""
    async with open_whole(fast_path) as whole:
        for extra in ({"validateOnly": True}, {"requestId": "abcd", "expectedStateHash": "abcd"}):
            answer, is_error = await whole.call("block", {"action": "update", "id": whole.names["P1"], **extra})
            assert is_error
            assert answer["error"]["code"] == "validation_error"
            assert "requestId" not in answer


async def test_a_read_over_its_budget_is_no_success_although_its_handler_swallowed_the_excess(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R270, with a handler that does exactly that."""

    async def swallowing(context: Any, _arguments: Any) -> dict[str, Any]:
        read = 0
        for _ in range(200):
            try:
                await context.call("/api/system/version")
                read += 1
            except ToolError:
                continue
        return {"read": read}

    async with open_whole(fast_path) as whole:
        monkeypatch.setitem(HANDLERS, "system.get_version", Handling(swallowing))
        answer, is_error = await whole.call("system", {"action": "get_version"})
        assert is_error
        assert answer["error"]["code"] == "read_budget_exceeded"
        assert answer["complete"] is False
        assert "read" not in answer


@pytest.mark.parametrize(
    ("tool", "action", "arguments"),
    [
        ("fs", "write", {"path": "/Box/Into", "markdown": "x"}),
        ("document", "create", {"notebook": "NB", "path": "/Into", "markdown": "x"}),
        ("document", "create_daily_note", {"notebook": "NB"}),
        ("block", "add_to_daily_note", {"notebook": "NB", "dataType": MD, "data": "x", "position": "append"}),
    ],
)
async def test_an_addition_to_a_notebook_closed_since_its_preflight_is_refused_and_may_come_again(
    fast_path: Path, tool: str, action: str, arguments: dict[str, Any]
) -> None:
    async with open_whole(fast_path) as whole:
        asked = named(arguments, whole.names)
        answer = await whole.preflight(tool, action, **asked)
        await whole.host.call("/api/notebook/closeNotebook", {"notebook": whole.names["NB"]})
        told, is_error = await whole.commit(tool, action, answer, **asked)
        assert is_error
        assert (told["error"]["code"], told["writeAttempted"]) == ("notebook_closed", False)
        await whole.host.call("/api/notebook/openNotebook", {"notebook": whole.names["NB"]})
        done, is_error = await whole.commit(tool, action, answer, **asked)
        assert not is_error, done
