"""MCP Apps on a whole kernel in memory: views with their terms, tools that open them, tools only a view may call."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kernel.tools import app_pages, apps
from kernel.tools.candidates import Candidates
from kernel.tools.configuration import HTTP_FILE, Configuration
from kernel.tools.limits import CARD_CANDIDATES_MAX, CARD_CANDIDATES_MS_MAX
from kernel.tools.service import Caller, Refused, ToolResult
from scheduler.ticket import Lane, Ticket
from tests.tools.notes import CALLER, Notes, open_notes

VIEWER = Caller("handshake", has_apps=True)


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_notes(tmp_path) as opened:
        yield opened


async def seen(notes: Notes, tool: str, **arguments: Any) -> ToolResult:
    """A call of a client that shows Apps."""
    try:
        prepared = await notes.tools.prepare(tool, arguments, VIEWER)
    except Refused as refused:
        return refused.result
    assert prepared.lane is Lane.MUTATION, "sessions go through their own lane"

    async def work(ticket: Ticket) -> ToolResult:
        return await notes.tools.perform(prepared, ticket, VIEWER)

    with notes.scheduler.admit() as ticket:
        return await notes.scheduler.perform(ticket, Lane.MUTATION, work)


async def test_the_list_is_the_same_for_every_client_and_links_each_view(notes: Notes) -> None:
    rows = {row["name"]: row for row in await notes.tools.list_tools(CALLER)}
    assert list(rows.values()) == await notes.tools.list_tools(VIEWER)
    assert list(rows)[-6:] == [
        "timeline_app",
        "timeline_app_action",
        "flashcard_review_session",
        "flashcard_review_app_action",
        "mascot_shop_app",
        "mascot_shop_app_action",
    ]
    for app in apps.APPS:
        launch, act = rows[app.launch.tool]["_meta"], rows[app.action_tool]["_meta"]
        assert launch["ui"] == {"resourceUri": app.uri, "visibility": ["model", "app"]}
        assert launch["ui/resourceUri"] == app.uri
        assert act["ui"] == {"resourceUri": app.uri, "visibility": ["app"]}
    assert rows["flashcard_review_app_action"]["inputSchema"]["properties"]["action"]["enum"] == ["review_card", "help"]


async def test_a_view_is_a_page_that_fetches_nothing_and_says_so(notes: Notes) -> None:
    listed = await notes.tools.list_resources(CALLER)
    assert [row["uri"] for row in listed[:3]] == [app.uri for app in apps.APPS]
    for app in apps.APPS:
        found = await notes.tools.read_resource(app.uri, CALLER)
        assert found is not None
        [content] = found
        assert content["mimeType"] == "text/html;profile=mcp-app"
        assert content["_meta"]["ui"]["csp"] == {
            "connectDomains": [],
            "resourceDomains": [],
            "frameDomains": [],
            "baseUriDomains": [],
        }
        text = content["text"]
        assert text.startswith("<!doctype html>")
        assert "default-src 'none'" in text
        assert "innerHTML" not in text
        assert re.search(r"https?://", text) is None
        assert f'const tool = "{app.action_tool}"' in text
    assert await notes.tools.read_resource("ui://siyuan-sisyphus/none", CALLER) is None


def test_every_view_has_a_page() -> None:
    assert {app.page for app in apps.APPS} == set(app_pages.PAGES)


async def test_a_client_without_apps_is_told_where_the_same_is_done(notes: Notes) -> None:
    for app in apps.APPS:
        for name in (app.launch.tool, app.action_tool):
            result = await notes.raw(name, {"action": "list_nodes"})
            assert result.is_error
            assert app.tool in result.content[0]["text"]
            assert (result.structured or {})["error"]["presentationMode"] == "mcp-app-only"


async def test_the_switches_of_tool_and_view_both_hold(notes: Notes) -> None:
    off = {"timeline": {"actions": {"rollback_block": False}}, "mascotShop": {"enabled": False}}
    await notes.configure(strict=False, mcpApps=off)
    names = [row["name"] for row in await notes.tools.list_tools(CALLER)]
    assert "mascot_shop_app" not in names
    assert "timeline_app" in names
    assert await notes.tools.read_resource("ui://siyuan-sisyphus/shop", CALLER) is None
    assert (await seen(notes, "mascot_shop_app")).content[0]["text"] == "Unknown tool: mascot_shop_app"
    refused = await seen(notes, "timeline_app_action", action="rollback_block")
    assert (refused.structured or {})["error"]["code"] == "unknown_action"
    assert "rollback_block" not in (refused.structured or {})["error"]["validActions"]
    # What the tool itself may not do, its view may not do either.
    assert "rollback_document" not in [one.name for one in apps.actions_of(Configuration(), apps.APPS[0])]


async def test_the_history_opens_with_its_points_and_a_document_with_its_own(notes: Notes) -> None:
    await notes.memory.call("repo/initRepoKey")
    box = await notes.memory.notebook()
    document = await notes.memory.document(box, "/Plan", "first")
    await notes.call("timeline", "create_node", name="whole", scope="global")
    await notes.call("timeline", "create_node", name="mine", scope="document", documentId=document)
    told = (await seen(notes, "timeline_app")).structured or {}
    assert (told["app"], [node["name"] for node in told["nodes"]]) == ("timeline", ["whole"])
    told = (await seen(notes, "timeline_app", documentId=document, tag="t")).structured or {}
    assert (told["documentId"], told["tag"], len(told["nodes"])) == (document, "t", 2)
    await notes.permit(**{box: "none"})
    assert (await seen(notes, "timeline_app", documentId=document)).is_error


async def test_a_view_reads_and_writes_as_its_tool_does(notes: Notes) -> None:
    await notes.memory.call("repo/initRepoKey")
    box = await notes.memory.notebook()
    document = await notes.memory.document(box, "/Plan", "first")
    block = (await notes.memory.call("block/getChildBlocks", id=document))[0]["id"]
    notes.memory.clock.advance(1)
    made = await notes.call("timeline", "create_node", name="one", scope="document", documentId=document)
    place = {"documentId": document, "tag": made["node"]["tag"]}
    notes.memory.clock.advance(1)
    await notes.call("block", "update", id=block, dataType="markdown", data="second")
    await notes.configure(strict=True)
    found = (await seen(notes, "timeline_app_action", action="compare_node", **place)).structured or {}
    [change] = found["changes"]
    assert (change["old"]["markdown"], change["current"]["markdown"]) == ("first", "second")
    asked = {"action": "rollback_block", **place, "changeKey": change["changeKey"]}
    bare = await seen(notes, "timeline_app_action", **asked)
    assert (bare.structured or {})["error"]["code"] == "precondition_required"
    checked = (await seen(notes, "timeline_app_action", **asked, validateOnly=True)).structured or {}
    real = {"requestId": checked["requestId"], checked["preconditionField"]: checked[checked["preconditionField"]]}
    done = (await seen(notes, "timeline_app_action", **asked, **real)).structured or {}
    assert done["safety"]["transactionState"] == "committed"
    text = await notes.memory.call("block/getBlockKramdown", id=block)
    assert text["kramdown"].startswith("first\n")


async def test_a_dangerous_action_of_a_view_asks_as_its_tool_does(notes: Notes) -> None:
    prepared = await notes.tools.prepare(
        "timeline_app_action", {"action": "delete_node", "tag": "sisyphustimeline_global_x"}, VIEWER
    )
    assert prepared.confirmation is not None


async def _card(notes: Notes) -> tuple[str, str]:
    box = await notes.memory.notebook()
    document = await notes.memory.document(box, "/Cards", "question one")
    block = (await notes.memory.call("block/getChildBlocks", id=document))[0]["id"]
    await notes.call("flashcard", "create_card", deckID="", blockIDs=[block])
    return box, block


async def test_listed_cards_open_as_a_session_with_their_text(notes: Notes) -> None:
    box, block = await _card(notes)
    listed = (await notes.raw("flashcard", {"action": "list_cards", "scope": "all", "filter": "due"})).structured or {}
    assert "candidateToken" not in listed, "nobody else could use it"
    prepared = await notes.tools.prepare("flashcard", {"action": "list_cards", "scope": "all", "filter": "due"}, VIEWER)

    async def work(ticket: Ticket) -> ToolResult:
        return await notes.tools.perform(prepared, ticket, VIEWER)

    with notes.scheduler.admit() as ticket:
        listed = (await notes.scheduler.perform(ticket, Lane.READ, work)).structured or {}
    token = listed["candidateToken"]
    opened = await seen(notes, "flashcard_review_session", candidateToken=token, selectionReason="due")
    assert not opened.is_error, opened.structured
    told = opened.structured or {}
    assert [(card["blockID"], card["content"]) for card in told["cards"]] == [(block, "question one")]
    assert told["selectionReason"] == "due"
    card = told["cards"][0]
    done = await seen(
        notes,
        "flashcard_review_app_action",
        action="review_card",
        deckID=card["deckID"],
        cardID=card["cardID"],
        rating=3,
    )
    assert not done.is_error
    await notes.permit(**{box: "none"})
    told = (await seen(notes, "flashcard_review_session", candidateToken=token)).structured or {}
    assert "content" not in told["cards"][0]


async def test_a_session_needs_cards_and_known_ones(notes: Notes) -> None:
    both = await seen(notes, "flashcard_review_session", candidateToken="x", cards=[{"deckID": "", "cardID": "c"}])
    assert (both.structured or {})["error"]["fields"][0]["path"] == "cards"
    unknown = await seen(notes, "flashcard_review_session", candidateToken="x")
    assert (unknown.structured or {})["error"]["code"] == "not_found"
    told = (await seen(notes, "flashcard_review_session", cards=[{"deckID": "", "cardID": "c"}])).structured or {}
    assert told["cards"] == [{"deckID": "", "cardID": "c"}]
    many = await seen(notes, "flashcard_review_session", cards=[{"deckID": "", "cardID": "c"}] * 21)
    assert (many.structured or {})["error"]["code"] == "validation_error"


def test_candidates_expire_and_the_oldest_make_room() -> None:
    kept = Candidates()
    for index in range(CARD_CANDIDATES_MAX + 1):
        kept.keep(f"t{index}", [{"cardID": str(index), "due": "x"}], now_ms=index)
    assert kept.find("t0", 5) is None
    assert kept.find("t1", 5) == ({"cardID": "1"},)
    assert kept.find("t1", CARD_CANDIDATES_MS_MAX) == ({"cardID": "1"},)
    assert kept.find("t1", CARD_CANDIDATES_MS_MAX + 1) is None
    kept.keep("late", [], now_ms=2 * CARD_CANDIDATES_MS_MAX)
    assert kept.find("t99", 100) is None, "expired ones are forgotten when another is kept"


async def test_the_shop_opens_with_the_purse_and_sells(notes: Notes) -> None:
    for _ in range(6):
        await notes.call("notebook", "list")
    told = (await seen(notes, "mascot_shop_app")).structured or {}
    assert told["app"] == "mascotShop"
    assert len(told["items"]) == 7
    bought = (await seen(notes, "mascot_shop_app_action", action="buy", item_id="milk")).structured or {}
    assert bought["success"] is True


async def test_a_session_has_no_read_budget(notes: Notes) -> None:
    _, block = await _card(notes)
    least = {"kernelOptions": {"readMaxRequests": 16}}
    await notes.host.write_file(HTTP_FILE, json.dumps(least).encode())
    cards = [{"deckID": "", "cardID": str(index), "blockID": block} for index in range(20)]
    told = await seen(notes, "flashcard_review_session", cards=cards)
    assert not told.is_error
    assert len((told.structured or {})["cards"]) == 20
