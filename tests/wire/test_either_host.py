"""The same promises on either host: the emulated kernel, or a real one behind ``--host-url`` (tests/support/hosts.py)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts import notes_on_either_host
from tests.support.notes import STORAGE, Notes, code_of, preflight

pytestmark = pytest.mark.wire


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with notes_on_either_host(tmp_path) as opened:
        yield opened


def told(result: dict[str, Any]) -> dict[str, Any]:
    """The structure of a call that must succeed."""
    assert not result.get("isError"), result
    return dict(result["structuredContent"])


async def test_a_document_is_listed_found_and_read(notes: Notes) -> None:
    tool = notes.client.tool
    assert [item["path"] for item in told(await tool("fs", "ls", path="/Box"))["items"]] == ["/Box/Plan"]
    found = told(await tool("fs", "read", path="/Box/Plan"))
    assert found["content"] == "Alpha text\n\nBeta text\n\n## Part\n\nGamma text"
    assert [row["title"] for row in found["outline"]] == ["Part"]
    looked = told(await tool("document", "lookup", id=notes.ids["D"]))
    assert looked["humanPath"] == {"notebookName": "Box", "hPath": "/Plan"}
    window = told(await tool("document", "get_doc", id=notes.ids["D"], blockStart=1, blockLimit=1))
    assert (window["content"], window["hasNextWindow"]) == ("Beta text", True)
    assert told(await tool("system", "get_version"))["version"].count(".") == 2


async def test_a_write_is_checked_done_once_and_told_again(notes: Notes) -> None:
    business = {"id": notes.ids["P1"], "dataType": "markdown", "data": "New text"}
    real = await preflight(notes, "block", "update", **business)
    assert await notes.text("P1") == "Alpha text"
    first = told(await notes.client.tool("block", "update", **real))
    assert first["safety"]["transactionState"] == "committed"
    assert await notes.text("P1") == "New text"
    again = told(await notes.client.tool("block", "update", **real))
    assert again["safety"]["replayed"] is True
    assert again["safety"]["resultHash"] == first["safety"]["resultHash"]
    other = await notes.client.tool("block", "update", **{**real, "data": "Other text"})
    assert code_of(other) == "idempotency_conflict"


async def test_a_target_that_changed_since_is_not_written(notes: Notes) -> None:
    business = {"id": notes.ids["P2"], "dataType": "markdown", "data": "New text"}
    real = await preflight(notes, "block", "update", **business)
    await notes.api("block/updateBlock", id=notes.ids["P2"], dataType="markdown", data="Somebody else")
    assert code_of(await notes.client.tool("block", "update", **real)) == "state_changed"
    assert await notes.text("P2") == "Somebody else"


async def test_an_attribute_is_part_of_the_state(notes: Notes) -> None:
    business = {"id": notes.ids["P1"], "attrs": {"memo": "seen"}}
    real = await preflight(notes, "block", "set_attrs", **business)
    assert told(await notes.client.tool("block", "set_attrs", **real))["safety"]["transactionState"] == "committed"
    assert (await notes.api("attr/getBlockAttrs", id=notes.ids["P1"]))["memo"] == "seen"
    same = await notes.client.safe_write("block", "set_attrs", **business)
    assert told(same)["safety"]["transactionState"] == "no_change"


async def switch_on(notes: Notes, tool: str, action: str) -> None:
    settings = {tool: {"actions": {action: True}}}
    await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps(settings))


async def test_blocks_come_in_and_go(notes: Notes) -> None:
    await switch_on(notes, "block", "delete")
    write = notes.client.safe_write
    added = told(await write("block", "append", parentID=notes.ids["D"], dataType="markdown", data="Delta text"))
    rows = await notes.api("block/getChildBlocks", id=notes.ids["D"])
    assert rows[-1]["id"] == added["id"]
    gone = told(await write("block", "delete", id=added["id"], confirm=True))
    assert gone["safety"]["transactionState"] == "committed"
    assert len(await notes.api("block/getChildBlocks", id=notes.ids["D"])) == 4


async def test_documents_are_made_moved_and_removed_by_path(notes: Notes) -> None:
    write, tool = notes.client.safe_write, notes.client.tool
    made = told(await write("fs", "write", path="/Box/Plan/Child", markdown="# Child\n\nbody"))
    assert made["created"] is True
    assert told(await tool("fs", "read", path="/Box/Plan/Child"))["content"] == "body"
    told(await write("fs", "mv", **{"from": "/Box/Plan/Child", "to": "/Box/Moved", "confirm": True}))
    assert code_of(await tool("fs", "read", path="/Box/Plan/Child")) == "not_found"
    assert told(await tool("fs", "read", path="/Box/Moved"))["content"] == "body"
    gone = told(await write("fs", "rm", path="/Box/Moved", confirm=True))
    assert gone["safety"]["transactionState"] == "committed"
    assert code_of(await tool("fs", "read", path="/Box/Moved")) == "not_found"


async def test_an_order_is_written_and_read_back(notes: Notes) -> None:
    for name in ("A", "B"):
        await notes.api("filetree/createDocWithMd", notebook=notes.ids["NB"], path=f"/{name}", markdown="")
    wanted = ["/Box/B", "/Box/Plan", "/Box/A"]
    done = told(await notes.client.safe_write("fs", "reorder", path="/Box", orderedPaths=wanted))
    assert done["order"] == wanted
    listed = told(await notes.client.tool("fs", "ls", path="/Box"))["items"]
    assert [item["path"] for item in listed] == wanted


async def test_a_text_is_replaced_in_place(notes: Notes) -> None:
    edit = {"old": "Beta", "new": "Omega"}
    done = told(await notes.client.safe_write("fs", "replace", path="/Box/Plan", edit=edit))
    assert done["editsApplied"] == 1
    assert await notes.text("P2") == "Omega text"


async def test_a_database_is_made_filled_and_shown(notes: Notes) -> None:
    write, tool = notes.client.safe_write, notes.client.tool
    made = told(await write("av", "render", blockID=notes.ids["P3"], createIfNotExist=True))
    database = made["avID"]
    added = told(await write("av", "add_rows", avID=database, primaryKeyTexts=["one", "two"]))
    assert added["added"] == 2
    column = told(await write("av", "add_column", avID=database, keyName="Note", keyType="text"))
    cell = {"rowID": added["rows"][0]["rowID"], "columnID": column["keyID"], "valueType": "text", "text": "hello"}
    assert told(await write("av", "set_cells", avID=database, **cell))["success"] is True
    shown = told(await tool("av", "render", avID=database))
    assert shown["total"] == 2
    assert "hello" in str(shown["table"]["rows"])
    left = told(await write("av", "remove_rows", avID=database, srcIDs=[added["rows"][1]["rowID"]]))
    assert left["removed"] == 1


async def test_a_file_is_staged_checked_and_stored(notes: Notes) -> None:
    content = b"staged bytes"
    answer = await notes.http.post(
        notes.client.url.replace("/mcp", "/transfer/upload"),
        content=content,
        headers={"Content-Type": "application/octet-stream", "X-Sisyphus-File-Name": "a.txt"},
    )
    receipt = answer.json()
    assert receipt["sha256"] == "sha256:v1:" + hashlib.sha256(content).hexdigest()
    done = told(
        await notes.client.safe_write(
            "file", "upload_asset", assetsDirPath="/assets/", uploadSource=receipt["uploadSource"], confirm=True
        )
    )
    path = "/data/" + done["succMap"]["a.txt"].removeprefix("/")
    found = await notes.http.post(f"{notes.kernel.url}/api/file/getFile", json={"path": path})
    assert found.content == content


async def test_a_notebook_without_rights_is_neither_read_nor_written(notes: Notes) -> None:
    await notes.put_file(f"{STORAGE}/notebookPermissions", '{"' + notes.ids["NB"] + '": "none"}')
    assert code_of(await notes.client.tool("fs", "read", path="/Box/Plan")) in ("permission_denied", "not_found")
    refused = await notes.client.tool("block", "get_kramdown", id=notes.ids["P1"])
    assert code_of(refused) == "permission_denied"
    asked = {"id": notes.ids["P1"], "dataType": "markdown", "data": "x", "validateOnly": True}
    assert code_of(await notes.client.tool("block", "update", **asked)) == "permission_denied"
    assert await notes.text("P1") == "Alpha text"


async def test_a_point_of_history_is_kept_compared_and_gone_back_to(notes: Notes) -> None:
    await notes.api("repo/initRepoKey")
    await switch_on(notes, "timeline", "rollback_document")
    write, tool = notes.client.safe_write, notes.client.tool
    place = {"documentId": notes.ids["D"]}
    node = told(await write("timeline", "create_node", name="one", scope="document", **place))["node"]
    told(await write("block", "update", id=notes.ids["P1"], dataType="markdown", data="Changed text"))
    compared = told(await tool("timeline", "compare_node", tag=node["tag"], **place))
    [change] = compared["changes"]
    assert (change["old"]["markdown"], change["current"]["markdown"]) == ("Alpha text", "Changed text")
    done = told(await write("timeline", "rollback_document", tag=node["tag"], confirm=True, **place))
    assert done["safety"]["transactionState"] == "committed"
    assert await notes.text("P1") == "Alpha text"
