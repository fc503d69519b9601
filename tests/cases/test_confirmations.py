"""Bug cases of the kind ``confirmation``, over real sockets: forms, crossed states, strict checks behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cases.conftest import OpenNotes
from tests.support.client import META, modern_message
from tests.support.notes import Notes, code_of, make_notes, preflight, same_notes
from tests.support.process import kernels

pytestmark = pytest.mark.wire

FORM = {"elicitation": {"form": {}}}
ONE_TEXT = "Invalid or expired requestState"


async def call(notes: Notes, commit: dict[str, Any], **options: Any) -> dict[str, Any]:
    """One modern ``fs rm`` of a client with forms; ``more`` goes beside the arguments, ``credential`` into the head."""
    params = {"name": "fs", "arguments": {"action": "rm", **commit}, **options.pop("more", {})}
    credential = options.pop("credential", {})
    headers, body = modern_message(1, "tools/call", params, capabilities=FORM, **options)
    answer = await notes.http.post(notes.kernel.mcp, headers={**headers, **credential}, json=body)
    return {"http": answer.status_code, **answer.json()}


async def asked(notes: Notes, commit: dict[str, Any]) -> dict[str, Any]:
    """The real call: its ``requestState``, and an accepted form for it."""
    result = (await call(notes, commit))["result"]
    assert result["resultType"] == "input_required"
    (question,) = result["inputRequests"]
    accepted = {question: {"action": "accept", "content": {"confirm": True}}}
    return {"requestState": result["requestState"], "inputResponses": accepted}


async def two_documents(notes: Notes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Documents /X and /Y, and the commits that remove them."""
    for path in ("/X", "/Y"):
        await notes.api("filetree/createDocWithMd", notebook=notes.ids["NB"], path=path, markdown="text")
    return await preflight(notes, "fs", "rm", path="/Box/X"), await preflight(notes, "fs", "rm", path="/Box/Y")


async def documents(notes: Notes) -> set[str]:
    listing = await notes.api("filetree/listDocsByPath", notebook=notes.ids["NB"], path="/")
    return {str(row["name"]).removesuffix(".sy") for row in listing["files"]}


async def test_f05_a_state_is_worth_nothing_to_anybody_else(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        x, y = await two_documents(notes)
        sent = await asked(notes, x)
        state = sent["requestState"]
        flipped = {**sent, "requestState": state[:-1] + ("A" if state[-1] != "A" else "B")}
        strangers: list[tuple[dict[str, Any], dict[str, Any]]] = [
            (x, {"more": flipped}),
            (x, {"more": {**sent, "requestState": state + "x"}}),
            (y, {"more": sent}),
            (x, {"more": sent, "credential": {"Authorization": f"Token {notes.kernel.token}"}}),
            (x, {"more": sent, f"{META}clientInfo": {"name": "another", "version": "1"}}),
        ]
        for commit, options in strangers:
            answer = await call(notes, commit, **options)
            assert (answer["http"], answer["error"]["code"], answer["error"]["message"]) == (400, -32602, ONE_TEXT)
        assert (await call(notes, {**x, "confirm": True}))["result"]["resultType"] == "input_required"
        assert {"X", "Y"} <= await documents(notes)
        done = await call(notes, x, more=sent)
        assert done["result"]["structuredContent"]["safety"]["transactionState"] == "committed"
        assert "X" not in await documents(notes)
        again = await call(notes, x, more=sent)
        assert (again["http"], again["error"]["message"]) == (400, ONE_TEXT)


async def test_f05_a_state_ends_with_its_five_minutes_and_with_its_process(tmp_path: Path) -> None:
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        notes = await make_notes(await start("--emulator-controls"), http)
        x, _ = await two_documents(notes)
        late = await asked(notes, x)
        await notes.advance(5 * 60 + 1)
        answer = await call(notes, x, more=late)
        assert (answer["http"], answer["error"]["message"]) == (400, ONE_TEXT)
        kept = await asked(notes, x)
        assert await notes.kernel.stop() == 0
        notes = await same_notes(await start(), http, notes.ids)
        answer = await call(notes, x, more=kept)
        assert (answer["http"], answer["error"]["message"]) == (400, ONE_TEXT)
        assert "X" in await documents(notes)
        assert await notes.kernel.stop() == 0


ANSWERS: list[tuple[Any, str]] = [
    (None, "confirmation_invalid"),
    ([], "confirmation_invalid"),
    ({}, "confirmation_invalid"),
    ({"action": "accept", "content": {}}, "confirmation_invalid"),
    ({"action": "accept", "content": {"confirm": "true"}}, "confirmation_invalid"),
    ({"action": "decline"}, "confirmation_declined"),
    ({"action": "accept", "content": {"confirm": False}}, "confirmation_declined"),
    ({"action": "cancel"}, "confirmation_cancelled"),
]


async def test_f05_every_other_answer_is_told_apart_and_removes_nothing(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        x, _ = await two_documents(notes)
        for given, code in ANSWERS:
            sent = await asked(notes, x)
            responses = dict.fromkeys(sent["inputResponses"], given) if isinstance(given, dict) and given else given
            answer = await call(notes, x, more={**sent, "inputResponses": responses})
            assert code_of(answer["result"]) == code
            content = answer["result"]["structuredContent"]
            assert content["cancelled"] is (code == "confirmation_cancelled")
            assert content["writeAttempted"] is False
            # A malformed answer says nothing of the user's will; its next step is to look at the client's own form.
            assert ("elicitation" in json.dumps(content["error"]).lower()) is (code == "confirmation_invalid")
        assert "X" in await documents(notes)


async def test_f08_two_questions_do_not_cross(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        x, y = await two_documents(notes)
        of_x, of_y = await asked(notes, x), await asked(notes, y)
        assert of_x["requestState"] != of_y["requestState"]
        for commit, sent in ((x, of_y), (y, of_x)):
            answer = await call(notes, commit, more=sent)
            assert (answer["http"], answer["error"]["code"]) == (400, -32602)
        assert {"X", "Y"} <= await documents(notes)
        for commit, sent in ((y, of_y), (x, of_x)):
            done = await call(notes, commit, more=sent)
            assert done["result"]["structuredContent"]["safety"]["transactionState"] == "committed"
        assert not {"X", "Y"} & await documents(notes)


async def test_a_confirmed_call_is_still_checked_and_a_replay_is_confirmed_anew(open_notes: OpenNotes) -> None:
    """R119, R131: permission and strict checks behind the form; the ledger answers behind the second one."""
    async with open_notes() as notes:
        x, y = await two_documents(notes)
        sent = await asked(notes, x)
        target = (await notes.api("filetree/getIDsByHPath", notebook=notes.ids["NB"], path="/X"))[0]
        await notes.api("block/appendBlock", parentID=target, dataType="markdown", data="meanwhile")
        assert code_of((await call(notes, x, more=sent))["result"]) == "state_changed"
        assert "X" in await documents(notes)

        done = await call(notes, y, more=await asked(notes, y))
        assert done["result"]["structuredContent"]["safety"]["transactionState"] == "committed"
        again = await call(notes, y, more=await asked(notes, y))
        assert again["result"]["structuredContent"]["replayed"] is True

        x = await preflight(notes, "fs", "rm", path="/Box/X")
        sent = await asked(notes, x)
        folder = "/data/storage/petal/siyuan-plugins-mcp-sisyphus"
        await notes.put_file(f"{folder}/notebookPermissions", json.dumps({notes.ids["NB"]: "r"}))
        assert code_of((await call(notes, x, more=sent))["result"]) == "permission_denied"
        assert "X" in await documents(notes)


async def test_a_pending_question_is_not_dodged_by_other_safety_fields(open_notes: OpenNotes) -> None:
    """Another request id, another spelling of the hash, the other era: the operation is the same (R123)."""
    async with open_notes() as notes:
        x, _ = await two_documents(notes)
        await asked(notes, x)
        other = await preflight(notes, "fs", "rm", path="/Box/X")
        shouted = {**x, "expectedStateHash": x["expectedStateHash"].upper()}
        for commit in (x, other, shouted, {**x, "validateOnly": False}):
            result = await notes.client.tool("fs", "rm", confirm=True, **commit)
            assert code_of(result) == "confirmation_invalid", commit
        await notes.client.open()
        result = await notes.client.tool("fs", "rm", era="old", confirm=True, **other)
        assert code_of(result) == "confirmation_invalid"
        assert "X" in await documents(notes)
