"""What the native tools do beside what is recorded: what they change, and what they must not reach."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.siyuan.native_mcp.catalog import native_tools
from kernel.siyuan.native_mcp.endpoint import NoAnswer, OfficialMCP
from kernel.siyuan.native_mcp.tools import TOOLS
from tests.siyuan.kernel_in_memory import MemoryKernel

UNKNOWN = "20200101000000-zzzzzzz"


class Official:
    """A kernel in memory and its official endpoint."""

    def __init__(self) -> None:
        self.memory = MemoryKernel()
        self.endpoint = OfficialMCP(self.memory.kernel)

    async def tool(self, name: str, action: str = "", /, **arguments: Any) -> str:
        """The text of a call that succeeds."""
        result = await self.endpoint.call(name, {"action": action, **arguments})
        assert "isError" not in result, result
        return str(result["content"][0]["text"])

    async def failure(self, name: str, action: str = "", /, **arguments: Any) -> str:
        result = await self.endpoint.call(name, {"action": action, **arguments})
        assert result["isError"] is True
        return str(result["content"][0]["text"])


@pytest.fixture
def official() -> Official:
    return Official()


def test_every_listed_tool_can_be_called_and_the_list_is_sorted() -> None:
    names = [tool["name"] for tool in native_tools()]
    assert names == sorted(names)
    assert set(names) == set(TOOLS)
    assert all(tool["description"] and "outputSchema" not in tool for tool in native_tools())


async def test_an_unknown_tool_is_a_result(official: Official) -> None:
    assert await official.failure("nope") == "tool not found: nope"


async def test_changing_a_block_tells_editors_to_reload_and_nothing_else(official: Official) -> None:
    box = await official.memory.notebook()
    document = await official.memory.document(box, "/Plan", "one\n\ntwo")
    block = (await official.memory.call("block/getChildBlocks", id=document))[0]["id"]
    official.memory.frames.clear()
    await official.tool("block", "update", id=block, data="* item one")
    kramdown = (await official.memory.call("block/getBlockKramdown", id=block))["kramdown"]
    assert "item one" in kramdown
    assert [frame["cmd"] for frame in official.memory.frames if frame["cmd"] == "transactions"] == []


async def test_moving_an_item_into_an_item_is_refused(official: Official) -> None:
    box = await official.memory.notebook()
    document = await official.memory.document(box, "/Plan", "* a\n* b")
    listed = (await official.memory.call("block/getChildBlocks", id=document))[0]["id"]
    first, second = (one["id"] for one in await official.memory.call("block/getChildBlocks", id=listed))
    assert "list-item" in await official.failure("block", "move", id=second, parentID=first)


async def test_a_new_notebook_stays_closed_until_it_is_opened(official: Official) -> None:
    box = (await official.tool("notebook", "create", name="New")).rpartition("id: ")[2].rstrip(")")
    assert "closed: true" in await official.tool("notebook", "list")
    await official.tool("notebook", "open", id=box)
    assert "closed: false" in await official.tool("notebook", "list")
    assert await official.tool("notebook", "set_icon", id=box, icon="1f4d6") == f"notebook icon set: {box} -> 1f4d6"
    assert "1f4d6 -> " in await official.tool("notebook", "random_icon", id=box)
    assert await official.failure("notebook", "set_icon", id=UNKNOWN, icon="x") == f"notebook not found: {UNKNOWN}"


async def test_a_daily_note_is_made_once_and_grows(official: Official) -> None:
    box = await official.memory.notebook()
    assert "created" in await official.tool("dailynote", "create", notebook=box)
    again = await official.tool("dailynote", "create", notebook=box)
    assert "already exists" in again
    await official.tool("dailynote", "append", notebook=box, data="last")
    await official.tool("dailynote", "prepend", notebook=box, data="first")
    note = again.split(": ")[1].split(" ")[0]
    children = await official.memory.call("block/getChildBlocks", id=note)
    texts = [one.get("content", "") for one in children]
    assert (texts[0], texts[-1]) == ("first", "last")


@pytest.mark.parametrize("path", ["../x", "data/../../x", ".."])
async def test_a_path_that_leaves_the_workspace_is_refused(official: Official, path: str) -> None:
    for action in ("read", "list", "stat", "delete"):
        assert "path escapes workspace" in await official.failure("file", action, path=path)
    assert "path escapes workspace" in await official.failure("file", "write", path=path, data="x")


@pytest.mark.parametrize("path", ["conf/conf.json", "/conf/conf.json", "data/../conf/conf.json"])
async def test_the_settings_are_not_read_as_a_file(official: Official, path: str) -> None:
    assert await official.failure("file", "read", path=path) == "access to conf.json is forbidden"


async def test_a_document_removed_as_a_file_is_forgotten(official: Official) -> None:
    box = await official.memory.notebook()
    document = await official.memory.document(box, "/Plan", "one")
    await official.tool("file", "delete", path=f"data/{box}/{document}.sy")
    assert await official.memory.call("block/checkBlockExist", id=document) is False


async def test_lines_of_a_file_are_counted_from_one_or_from_the_end(official: Official) -> None:
    await official.tool("file", "write", path="data/public/a.txt", data="\n".join(str(n) for n in range(1, 301)))
    read = lambda **rest: official.tool("file", "read", path="data/public/a.txt", **rest)  # noqa: E731
    assert (await read()).split("\n")[-1] == "200"
    assert await read(offset=2, limit=2) == "2\n3"
    assert await read(offset=-2) == "299\n300"
    assert (await read(limit=-1)).count("\n") == 299
    assert "out of range" in await official.failure("file", "read", path="data/public/a.txt", offset=301)
    assert "a.txt" in await official.tool("file", "find", path="data", include="*.{md,txt}")


async def test_a_broken_tool_answers_nothing(official: Official) -> None:
    for name, action in (("image", "list"), ("inbox", "list")):
        with pytest.raises(NoAnswer):
            await official.endpoint.call(name, {"action": action})


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nope", "unrecognized skill source: nope"),
        ("file:///etc/passwd", "unrecognized skill source: file:///etc/passwd"),
        ("http://127.0.0.1:1/x", "access to private/internal IP is prohibited"),
        ("owner/repository", "this kernel sends no requests to the outside"),
        ("https://93.184.216.34/skill.zip", "this kernel sends no requests to the outside"),
        ("https://example.com/SKILL.md", "this kernel sends no requests to the outside"),
    ],
)
async def test_a_skill_is_looked_for_only_where_one_can_be(official: Official, url: str, problem: str) -> None:
    assert await official.failure("skill", "install", url=url) == f"install failed: {problem}"


async def test_what_is_no_notebook_is_not_opened(official: Official) -> None:
    problem = "open notebook failed: can not open file, just support open folder only"
    for box in ("bad", "20200101000000-zzzzzzz"):
        assert await official.failure("notebook", "open", id=box) == problem


async def test_a_file_takes_no_folders_name(official: Official) -> None:
    await official.tool("file", "write", path="data/public/a.txt", data="x")
    await official.tool("file", "write", path="data/public/sub/b.txt", data="x")
    assert (await official.failure("file", "rename", old="data/public/a.txt", new="data/public/sub")).endswith(
        "file exists"
    )
    await official.tool("file", "rename", old="data/public/a.txt", new="data/public/sub/a.txt")


async def test_snapshots_without_a_key_are_not_purged(official: Official) -> None:
    with pytest.raises(NoAnswer):
        await official.endpoint.call("repo", {"action": "purge"})
    await official.memory.call("repo/initRepoKey")
    assert await official.tool("repo", "purge") == "old snapshots purged"


async def test_a_cell_of_a_column_that_is_not_there_breaks_the_tool(official: Official) -> None:
    view = "20240101000000-aaaaaaa"
    box = await official.memory.notebook()
    shown = f'<div data-type="NodeAttributeView" data-av-id="{view}" data-av-type="table"></div>'
    await official.memory.document(box, "/Base", shown)
    await official.memory.call("av/renderAttributeView", id=view)
    cell = {"id": view, "keyID": "20240101000000-bbbbbbb", "itemID": "20240101000000-ccccccc", "value": "{}"}
    with pytest.raises(NoAnswer):
        await official.endpoint.call("database", {"action": "item_update", **cell})


async def test_nothing_is_sent_out(official: Official) -> None:
    assert "private/internal" in await official.failure("http_request", url="http://10.0.0.1/")
    assert "no requests to the outside" in await official.failure("web_fetch", url="https://example.com/")
    assert "no requests" in await official.failure("web_search", query="x")


async def test_skills_are_kept_in_the_workspace(official: Official) -> None:
    text = "---\ndescription: what it is for\n---\nbody"
    await official.tool("skill", "save", name="s", content=text)
    assert "**s**: what it is for" in await official.tool("skill", "list")
    assert "body" in await official.tool("skill", "", name="s")
    await official.tool("skill", "rename", name="s", new_name="t")
    assert await official.failure("skill", "load", name="s") == "skill not found: s"
    await official.tool("skill", "remove", name="t")
    assert await official.tool("skill", "list") == "no skills available"
    assert "invalid skill name" in await official.failure("skill", "save", name="../x", content="x")


def declare(official: Official, plugin: str, tools: Any, **manifest: Any) -> None:
    files = official.memory.workspace.files
    described = {"name": plugin, "version": "1.0.0", "minAppVersion": "3.7.0", **manifest}
    files.write(f"data/plugins/{plugin}/plugin.json", json.dumps(described).encode())
    files.write(f"data/plugins/{plugin}/kernel-tools.json", json.dumps(tools).encode())


ECHO = {"name": "echo", "description": "d", "inputSchema": {"type": "object"}, "result": {"said": "$arguments.text"}}


async def test_a_declared_plugin_appears_answers_and_goes_with_its_folder(official: Official) -> None:
    assert len(official.endpoint.tools()) == 32
    declare(official, "my-plugin", {"tools": [ECHO, {**ECHO, "name": "all", "result": "$arguments", "readOnly": True}]})
    shown = {tool["name"]: tool for tool in official.endpoint.tools()}
    assert shown["plugin__my_plugin__echo"] == {
        "name": "plugin__my_plugin__echo",
        "description": "d",
        "inputSchema": {"type": "object"},
        "source": "plugin",
        "effectScope": "unknown",
    }
    assert shown["plugin__my_plugin__all"]["readOnlyHint"] is True
    assert await official.tool("plugin__my_plugin__echo", text="hé") == '{"said":"hé"}'
    assert await official.tool("plugin__my_plugin__echo") == '{"said":null}'
    assert json.loads(await official.tool("plugin__my_plugin__all", action="x", a=[1])) == {"action": "x", "a": [1]}
    official.memory.workspace.files.flush()
    official.memory.workspace.files.remove("data/plugins/my-plugin")
    assert len(official.endpoint.tools()) == 32
    assert await official.failure("plugin__my_plugin__echo") == "tool not found: plugin__my_plugin__echo"


async def test_a_plugin_that_is_switched_off_or_too_new_registers_nothing(official: Official) -> None:
    declare(official, "a", {"tools": [ECHO]})
    declare(official, "b", {"tools": [ECHO]}, minAppVersion="9.0.0")
    assert [tool["name"] for tool in official.endpoint.tools() if tool["source"] == "plugin"] == ["plugin__a__echo"]
    official.memory.workspace.files.write("data/storage/petal/petals.json", b'[{"name":"a","enabled":false}]')
    assert len(official.endpoint.tools()) == 32


@pytest.mark.parametrize(
    "declared",
    [
        [],
        {"tools": {}},
        {"tools": [5, {"name": 5}, {**ECHO, "description": None}, {**ECHO, "inputSchema": None}]},
        {"tools": [{**ECHO, "readOnly": "yes"}, {**ECHO, "outputSchema": 5}]},
    ],
)
async def test_a_tool_that_the_kernel_would_not_register_is_left_out(official: Official, declared: Any) -> None:
    declare(official, "a", declared)
    assert len(official.endpoint.tools()) == 32


async def test_a_plugins_handler_may_fail(official: Official) -> None:
    declare(official, "a", {"tools": [{**ECHO, "error": "no way", "outputSchema": {"type": "object"}, "title": "T"}]})
    assert await official.failure("plugin__a__echo") == "error invoking MCP tool handler: no way"
    tool = next(tool for tool in official.endpoint.tools() if tool["source"] == "plugin")
    assert (tool["title"], tool["outputSchema"]) == ("T", {"type": "object"})


async def test_a_skill_answers_to_the_name_in_its_head_and_to_its_folders(official: Official) -> None:
    await official.tool("skill", "save", name="folder", content="---\n# a remark\nname: Head\n---\nfirst\nsecond")
    assert "first" in await official.tool("skill", "load", name="HEAD")
    assert "first" in await official.tool("skill", "load", name="Folder")
    assert await official.tool("skill", "list") == "available skills:\n- **Head**: first\n"
    await official.tool("skill", "save", name="long", content="x" * 201)
    assert f"- **long**: {'x' * 200}..." in await official.tool("skill", "list")
    assert await official.failure("skill", "rename", name="long", new_name="folder") == "skill already exists: folder"


async def test_markdown_is_imported_from_the_workspace_and_from_nowhere_else(official: Official) -> None:
    box = await official.memory.notebook()
    files = official.memory.workspace.files
    files.write("temp/in.md", b"# Head\n\ntext")
    path = files.absolute("temp/in.md")
    await official.tool("import", "md", notebook=box, path=path)
    assert "- in (id: " in await official.tool("document", "list", notebook=box)
    assert "no such file" in await official.failure("import", "md", notebook=box, path="/etc/hostname.md")
