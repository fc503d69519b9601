"""What each action's state sees and what it does not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostError, HostUnavailable
from kernel.safety.digest import state_digest
from kernel.safety.limits import CARDS_PER_PAGE, MANIFEST_BLOCKS_MAX
from kernel.safety.offload import InlineOffload, ThreadOffload
from kernel.safety.probes import PROBES, observe
from kernel.safety.probes.notebooks import PERMISSIONS_FILE
from kernel.safety.probes.paths import TOOLS_FILE
from kernel.safety.probes.things import MASCOT_FILE, template_path
from kernel.tools.registry import ACTIONS
from tests.safety.notes_host import BOX, CLOSED, H1, OTHER, P1, P2, PART, PLAN, Document, NotesHost

Change = Callable[[NotesHost], object]


async def seen(host: NotesHost, action: str, **arguments: Any) -> str:
    tool, _, name = action.partition(".")
    return state_digest((await observe(host, tool, name, arguments, offload=InlineOffload())).state)


def edit(block: str) -> Change:
    return lambda host: host.updateBlock(block, "edited")


def attribute(block: str) -> Change:
    return lambda host: host.setBlockAttrs(block, {"custom-new": "1"})


def touch(host: NotesHost) -> None:
    host.updated = "20270101000000"


def inline(text: str) -> Change:
    return lambda host: setattr(host.blocks[P1], "inline", text)


def move(block: str, parent: str) -> Change:
    return lambda host: setattr(host.blocks[block], "parent", parent)


def retitle(host: NotesHost) -> None:
    host.documents[PLAN].title = "Renamed"


def new_document(path: str) -> Change:
    return lambda host: host.documents.update(
        {"20260101000009-newdoc1": Document("New", path + "20260101000009-newdoc1.sy")}
    )


def gone(name: str) -> Change:
    def remove(host: NotesHost) -> None:
        host.blocks.pop(name, None)
        for below in [other for other, document in host.documents.items() if name in document.path]:
            del host.documents[below]

    return remove


def order(host: NotesHost) -> None:
    host.documents[PLAN].sort = 5


def sort_mode(host: NotesHost) -> None:
    host.configurations[BOX]["sortMode"] = 2


def permission(host: NotesHost) -> None:
    host.files[PERMISSIONS_FILE] = b'{"%s": "r"}' % BOX.encode()


def file_of(path: str, content: bytes = b"x") -> Change:
    return lambda host: host.files.update({path: content})


BLOCK = ("block.update", {"id": P1})
FS = ("fs.write", {"path": "/Box/Plan", "overwrite": True})
REMOVE = ("document.remove", {"id": PLAN})
RENAME = ("document.rename", {"id": PLAN, "title": "x"})
MOVE = ("document.move", {"fromIDs": [PART], "toID": OTHER})
ORDER = ("document.reorder", {"parentID": BOX, "orderedIDs": [PLAN, OTHER]})
BOX_RENAME = ("notebook.rename", {"notebook": BOX, "name": "x"})


@pytest.mark.parametrize(
    ("call", "change", "is_change"),
    [
        (BLOCK, touch, False),
        (BLOCK, edit(P1), True),
        (BLOCK, edit(P2), False),
        (BLOCK, attribute(P1), True),
        (BLOCK, inline('<span data-subtype="s">x</span>'), True),
        (BLOCK, gone(P1), True),
        (BLOCK, move(P1, OTHER), False),
        (("block.update", {"items": [{"id": P1}, {"id": P2}]}), edit(P2), True),
        (("block.delete", {"id": P1}), move(H1, P1), True),
        (("block.move", {"ids": [P1], "parentID": OTHER}), edit(P1), False),
        (("block.move", {"ids": [P1], "parentID": OTHER}), move(P2, OTHER), True),
        (("block.move", {"ids": [P1], "parentID": OTHER}), move(P1, OTHER), True),
        (("block.move", {"ids": [P1], "parentID": OTHER}), gone(OTHER), True),
        (("block.move", {"id": P1, "previousID": P2}), gone(P2), True),
        (("block.transfer_references", {"fromID": PLAN, "toID": OTHER}), edit(P2), True),
        (("block.transfer_references", {"fromID": PLAN, "toID": OTHER, "refIDs": [P1]}), edit(P2), False),
        (("block.transfer_references", {"fromID": PLAN, "toID": OTHER}), gone(OTHER), True),
        (RENAME, touch, False),
        (RENAME, edit(P1), False),
        (RENAME, retitle, True),
        (RENAME, gone(PLAN), True),
        (("document.duplicate", {"id": PLAN}), edit(P1), True),
        (REMOVE, touch, False),
        (REMOVE, edit(P1), True),
        (REMOVE, edit(H1), False),
        (REMOVE, new_document(f"/{PLAN}/{PART}/"), True),
        (REMOVE, move(P2, PART), True),
        (("document.remove", {"notebook": BOX, "path": f"/{PLAN}.sy"}), edit(P1), True),
        (MOVE, new_document(f"/{OTHER}/"), True),
        (MOVE, new_document(f"/{PLAN}/{PART}/"), True),
        (MOVE, move(P1, PART), False),
        (MOVE, gone(PART), True),
        (MOVE, gone(OTHER), True),
        (
            ("document.move", {"fromPaths": [f"/{PLAN}/{PART}.sy"], "toNotebook": BOX, "toPath": "/"}),
            new_document("/"),
            True,
        ),
        (("document.move", {"fromIDs": [PART], "toID": BOX}), new_document("/"), True),
        (ORDER, order, True),
        (ORDER, sort_mode, True),
        (ORDER, new_document("/"), True),
        (ORDER, gone(OTHER), True),
        (ORDER, edit(P1), False),
        (ORDER, retitle, False),
        (("document.reorder", {"parentID": PLAN, "orderedIDs": [PART]}), new_document(f"/{PLAN}/"), True),
        (("document.reorder", {"parentID": PLAN, "orderedIDs": [PART]}), new_document("/"), False),
        (("document.heading_to_doc", {"headingID": H1, "targetNotebook": BOX}), edit(H1), True),
        (("document.heading_to_doc", {"headingID": H1, "targetNotebook": BOX}), new_document("/"), True),
        (("document.heading_to_doc", {"headingID": H1, "targetNotebook": BOX}), gone(H1), True),
        (("document.doc_to_heading", {"srcID": PART, "targetID": P1}), edit(P1), True),
        (("document.doc_to_heading", {"srcID": PART, "targetID": P1}), move(P2, PART), True),
        (
            ("document.ensure_link_targets", {"notebook": BOX, "parentId": PLAN, "mode": "create"}),
            new_document(f"/{PLAN}/"),
            True,
        ),
        (
            ("document.ensure_link_targets", {"notebook": BOX, "parentId": BOX, "mode": "create"}),
            new_document("/"),
            True,
        ),
        (("document.ensure_link_targets", {"notebook": BOX, "parentId": PLAN, "mode": "create"}), gone(PLAN), True),
        (FS, touch, False),
        (FS, edit(P2), True),
        (FS, attribute(P2), True),
        (FS, move(P2, OTHER), True),
        (FS, gone(PLAN), True),
        (("fs.replace", {"path": "Plan"}), edit(P1), True),
        (("fs.rm", {"path": "/Box/Plan"}), new_document(f"/{PLAN}/"), True),
        (("fs.mv", {"from": "/Box/Plan/Part", "to": "/Box/Other/Part"}), new_document(f"/{OTHER}/"), True),
        (("fs.mv", {"from": "/Box/Plan/Part", "to": "/Box/Other/Part"}), gone(PART), True),
        (("fs.mv", {"from": "/Box/Plan/Part", "to": "/Box/Part"}), new_document("/"), True),
        (("fs.reorder", {"path": "/Box"}), order, True),
        (("fs.reorder", {"path": "/Box/Plan"}), new_document(f"/{PLAN}/"), True),
        (
            ("fs.write", {"path": "/AGENTS.md", "overwrite": True}),
            file_of(TOOLS_FILE, b'{"agentSiyuanMemoryText": "m"}'),
            True,
        ),
        (("fs.rm", {"path": "/USER_RULES.md"}), file_of(TOOLS_FILE, b'{"agentSiyuanMemoryText": "m"}'), False),
        (("fs.rm", {"path": "/USER_RULES.md"}), file_of(TOOLS_FILE, b'{"userRulesText": "m"}'), True),
        (BOX_RENAME, sort_mode, True),
        (BOX_RENAME, new_document("/"), False),
        (("notebook.remove", {"notebook": BOX}), new_document("/"), True),
        (("notebook.remove", {"notebook": CLOSED}), new_document("/"), False),
        (("notebook.set_permission", {"notebook": BOX}), permission, True),
        (("search.find_replace", {"ids": [P1, P2], "k": "a", "r": "b"}), edit(P2), True),
        (("file.update_template", {"path": "t.md"}), file_of("/data/templates/t.md"), True),
        (("file.save_doc_as_template", {"id": PLAN, "name": "t"}), file_of("/data/templates/t.md"), True),
        (("file.save_doc_as_template", {"id": PLAN, "name": "t.md"}), edit(P1), True),
        (("file.delete_asset", {"path": "assets/a.png"}), file_of("/data/assets/a.png"), True),
        (("file.rename_asset", {"oldPath": "/data/assets/a.png"}), file_of("/data/assets/a.png"), True),
        (("mascot.buy", {"item_id": "x"}), file_of(MASCOT_FILE), True),
    ],
)
async def test_a_state_sees_exactly_what_its_action_could_destroy(
    call: tuple[str, dict[str, Any]], change: Change, is_change: bool
) -> None:
    action, arguments = call
    host = NotesHost()
    before = await seen(host, action, **arguments)
    assert {await seen(host, action, **arguments) for _ in range(5)} == {before}
    change(host)
    assert (await seen(host, action, **arguments) != before) is is_change


def test_every_mutation_with_a_precondition_has_a_probe() -> None:
    without = {
        action.key
        for action in ACTIONS.values()
        if action.policy.preconditions and (action.tool, action.name) not in PROBES
    }
    # Its state is the uploaded source itself, which only the tool can see.
    assert without == {"file.upload_asset"}
    assert {f"{tool}.{name}" for tool, name in PROBES} <= set(ACTIONS)


async def test_an_addition_reads_nothing() -> None:
    host = NotesHost()
    found = await observe(host, "block", "append", {"parentID": PLAN, "data": "x"})
    assert (found.state, found.target_ids) == (None, (PLAN,))
    assert host.counts == {}


async def test_any_number_of_blocks_takes_four_host_calls() -> None:
    host = NotesHost()
    await seen(host, "block.update", items=[{"id": P1}, {"id": P2}, {"id": H1}, {"id": P1}])
    assert sum(host.counts.values()) == 4


async def test_blocks_beyond_one_read_are_read_in_parts() -> None:
    host = NotesHost()
    ids = [f"20260101{number:06}-abcdefg" for number in range(300)]
    found = await observe(host, "search", "find_replace", {"ids": ids, "k": "a", "r": "b"})
    assert found.target_count == 300
    assert host.counts == {"/api/block/checkBlocksExist": 2}
    assert all(state == {"missing": True} for state in found.state.values())


async def test_what_is_no_id_is_a_block_that_does_not_exist() -> None:
    host = NotesHost()
    found = await observe(host, "block", "update", {"id": "bad"})
    assert found.state == {"bad": {"missing": True}}
    assert host.counts == {}


async def test_a_removed_document_is_missing_although_the_path_index_still_names_it() -> None:
    """R72."""
    host = NotesHost()
    host.stale_paths["/Gone"] = ["20260101000007-gonedoc"]
    assert (await observe(host, "fs", "rm", {"path": "/Box/Gone"})).state == {}


@pytest.mark.parametrize("failure", [HostUnavailable("reset"), HostApiError(3, "indexing")])
@pytest.mark.parametrize(
    "path", ["/api/block/checkBlocksExist", "/api/block/getBlockKramdowns", "/api/block/getBlockDOMs"]
)
async def test_a_failed_read_is_an_error_and_never_an_absence(path: str, failure: HostError) -> None:
    """R73."""
    host = NotesHost()
    host.answers[path] = failure
    with pytest.raises(HostError):
        await seen(host, *BLOCK[:1], **BLOCK[1])


@pytest.mark.parametrize(
    ("action", "path", "answer"),
    [
        (BLOCK, "/api/block/checkBlocksExist", None),
        (BLOCK, "/api/block/checkBlocksExist", {}),
        (BLOCK, "/api/block/getBlockKramdowns", {}),
        (BLOCK, "/api/block/getBlockDOMs", None),
        (BLOCK, "/api/attr/batchGetBlockAttrs", {}),
        (RENAME, "/api/filetree/getPathByID", None),
        (RENAME, "/api/block/getDocInfo", {"ial": None}),
        (REMOVE, "/api/filetree/listDocsByPath", {"files": None}),
        (FS, "/api/notebook/lsNotebooks", None),
        (ORDER, "/api/notebook/getNotebookConf", {"conf": None}),
        (ORDER, "/api/filetree/listDocsByPath", {"files": [{"id": PLAN}, {"id": PLAN}]}),
        (("tag.rename", {"oldLabel": "t"}), "/api/query/sql", None),
        (("flashcard.review_card", {"deckID": "d", "cardID": "c"}), "/api/riff/getRiffCards", None),
        (("av.set_cells", {"avID": "x"}), "/api/av/getAttributeView", None),
        (("timeline.delete_node", {"tag": "t"}), "/api/repo/getRepoTagSnapshots", {"snapshots": "x"}),
    ],
)
async def test_an_answer_that_is_no_state_is_refused(
    action: tuple[str, dict[str, Any]], path: str, answer: Any
) -> None:
    host = NotesHost()
    host.answers[path] = answer
    with pytest.raises(ToolError) as caught:
        await seen(host, action[0], **action[1])
    assert caught.value.code == "write_safety_failed"


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff"])
async def test_a_broken_configuration_file_is_no_state(content: bytes) -> None:
    host = NotesHost()
    host.files[TOOLS_FILE] = host.files[PERMISSIONS_FILE] = content
    for action, arguments in (("fs.rm", {"path": "/AGENTS.md"}), ("notebook.set_permission", {"notebook": BOX})):
        with pytest.raises(ToolError):
            await seen(host, action, **arguments)


async def test_a_title_is_read_from_the_tree_and_not_from_the_hosts_cache() -> None:
    """The real kernel answers attribute reads from a cache that a rename does not touch."""
    host = NotesHost()
    host.answers["/api/attr/batchGetBlockAttrs"] = {PLAN: {"id": PLAN, "title": "Plan"}}
    before = await seen(host, "document.rename", id=PLAN, title="Renamed")
    retitle(host)
    assert await seen(host, "document.rename", id=PLAN, title="Renamed") != before


async def test_a_missing_notebook_is_missing() -> None:
    host = NotesHost()
    assert (await observe(host, "notebook", "remove", {"notebook": "none"})).state == {"missing": True}


async def test_tagged_blocks_are_found_by_the_index_and_read_live() -> None:
    host = NotesHost()
    statements: list[str] = []
    host.answers["/api/query/sql"] = lambda given: statements.append(given["stmt"]) or [{"id": P1}]
    found = await observe(host, "tag", "rename", {"oldLabel": "it's/a", "newLabel": "x"})
    assert found.summary == {"affectedBlocks": 1}
    assert "instr(tag, '#it''s/a#') > 0 OR instr(tag, '#it''s/a/') > 0" in statements[0]
    before = state_digest(found.state)
    host.updateBlock(P1, "edited")
    assert await seen(host, "tag.rename", oldLabel="it's/a", newLabel="x") != before


async def test_a_manifest_that_is_too_large_is_refused() -> None:
    host = NotesHost()
    host.answers["/api/query/sql"] = [{"id": f"{number}"} for number in range(MANIFEST_BLOCKS_MAX + 1)]
    with pytest.raises(ToolError) as caught:
        await seen(host, "tag.remove", label="t")
    assert caught.value.code == "too_large"


def card(card_id: str, block: str = P1, **changes: Any) -> dict[str, Any]:
    return {"riffCardID": card_id, "id": block, "riffCard": {"due": "now", "reps": 0, "state": 0, **changes}}


async def test_a_new_cards_due_time_is_no_state_and_a_reviewed_ones_is() -> None:
    host = NotesHost()
    path = "/api/riff/getRiffCards"
    arguments = {"deckID": "d", "cardID": "c"}

    async def digest_of(found: dict[str, Any]) -> str:
        host.answers[path] = {"blocks": [card("other"), found]}
        return await seen(host, "flashcard.review_card", **arguments)

    assert await digest_of(card("c", due="1")) == await digest_of(card("c", due="2"))
    assert await digest_of(card("c", due="1", reps=1)) != await digest_of(card("c", due="2", reps=1))


async def test_a_card_is_looked_for_on_every_page_of_its_deck() -> None:
    host = NotesHost()
    pages = {1: [card(f"x{number}") for number in range(CARDS_PER_PAGE)], 2: [card("c")]}
    host.answers["/api/riff/getRiffCards"] = lambda given: {"blocks": pages.get(given["page"], [])}
    found = await observe(host, "flashcard", "review_card", {"deckID": "d", "cardID": "c"})
    assert found.state["cardID"] == "c"
    assert (await observe(host, "flashcard", "review_card", {"deckID": "d", "cardID": "z"})).state == {"missing": True}


async def test_a_deck_without_an_end_is_refused() -> None:
    host = NotesHost()
    page = {"blocks": [card("x")] * CARDS_PER_PAGE}
    host.answers["/api/riff/getRiffCards"] = page
    with pytest.raises(ToolError, match="all pages"):
        await seen(host, "flashcard.review_card", deckID="d", cardID="c")


async def test_the_cards_of_blocks_are_told_whatever_order_they_come_in() -> None:
    host = NotesHost()
    host.blocks[P1].attributes["custom-riff-decks"] = "d"
    host.answers["/api/riff/getRiffCardsByBlockIDs"] = {"blocks": [card("b"), card("a"), {"id": P2, "riffCardID": ""}]}
    found = await observe(host, "flashcard", "remove_card", {"deckID": "d", "blockIDs": [P1, P2]})
    assert [entry["cardID"] for entry in found.state["cards"]] == ["a", "b"]
    assert found.state["decks"] == {P1: "d", P2: None}


def column(relation: str = "") -> dict[str, Any]:
    return {"key": {"id": "k", "relation": {"avID": relation}}} if relation else {"key": {"id": "k"}}


async def test_a_database_is_its_stored_form_without_times_and_bookkeeping() -> None:
    host = NotesHost()
    found: dict[str, Any] = {
        "id": "a",
        "keyValues": [column()],
        "views": [{"groupCreated": 1}],
        "x": {"createdAt": 1, "updatedAt": 2, "v": 3},
    }
    host.answers["/api/av/getAttributeView"] = lambda _given: {"av": found}
    before = await seen(host, "av.set_cells", avID="a", blockID=P1)
    found["views"][0]["groupCreated"] = 2
    found["x"]["updatedAt"] = 9
    assert await seen(host, "av.set_cells", avID="a", blockID=P1) == before
    found["x"]["v"] = 4
    assert await seen(host, "av.set_cells", avID="a", blockID=P1) != before


async def test_an_action_that_reaches_into_other_databases_sees_them() -> None:
    host = NotesHost()
    stored = {"a": {"id": "a", "keyValues": [column("b"), column()]}, "b": {"id": "b", "name": "B"}, "c": {"id": "c"}}
    host.answers["/api/av/getAttributeView"] = lambda given: {"av": stored.get(given["id"])}
    arguments = {"avID": "a", "blockID": P1, "keyID": "k", "destinationAvID": "c", "destinationBlockID": P2}
    found = await observe(host, "av", "configure_two_way_relation", arguments)
    assert set(found.state["related"]) == {"b", "c"}
    assert {"a", "b", "c"} <= set(found.target_ids)
    before = state_digest(found.state)
    stored["b"]["name"] = "renamed"
    assert await seen(host, "av.configure_two_way_relation", **arguments) != before
    assert (await observe(host, "av", "set_relation", {"avID": "gone", "itemID": "i"})).state["database"] == {
        "missing": True
    }


async def test_unused_assets_are_a_set_of_files() -> None:
    host = NotesHost()
    host.answers["/api/asset/getUnusedAssets"] = [
        {"item": "assets/b.png", "name": "b"},
        {"item": "assets/a.png", "name": "a"},
    ]
    found = await observe(host, "file", "remove_unused_assets", {})
    assert found.target_ids == ("assets/a.png", "assets/b.png")
    host.answers["/api/asset/getUnusedAssets"] = {"unusedAssets": ["assets/a.png", "assets/b.png"]}
    assert await seen(host, "file.remove_unused_assets") == state_digest(found.state)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a.md", "/data/templates/a.md"),
        ("/a/b.md", "/data/templates/a/b.md"),
        ("/templates/a.md", "/data/templates/a.md"),
        ("/data/templates/a.md", "/data/templates/a.md"),
        ("/home/me/ws/data/templates/x/a.md", "/data/templates/x/a.md"),
        ("C:\\ws\\data\\templates\\a.md", "/data/templates/a.md"),
    ],
)
def test_a_template_is_one_file_however_it_is_named(given: str, expected: str) -> None:
    assert template_path(given) == expected


async def test_snapshots_are_found_by_their_tag() -> None:
    host = NotesHost()
    snapshots = [{"id": "1", "tag": "t", "memo": "m", "created": 5}, {"id": "2", "tag": "u"}]
    host.answers["/api/repo/getRepoTagSnapshots"] = {"snapshots": snapshots}
    found = await observe(host, "timeline", "delete_node", {"tag": "t"})
    assert found.state == {"snapshots": [{"id": "1", "tag": "t", "memo": "m"}]}
    before = await seen(host, "timeline.rollback_block", documentId=PLAN, tag="t", changeKey="k")
    host.updateBlock(P1, "edited")
    assert await seen(host, "timeline.rollback_block", documentId=PLAN, tag="t", changeKey="k") != before


async def test_more_documents_below_than_a_state_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.safety.probes.reading.SUBTREE_DOCUMENTS_MAX", 1)
    host = NotesHost()
    assert await seen(host, "document.remove", id=PLAN)
    new_document(f"/{PLAN}/")(host)
    with pytest.raises(ToolError) as caught:
        await seen(host, "document.remove", id=PLAN)
    assert caught.value.code == "too_large"


async def test_large_states_are_normalised_in_another_thread_with_the_same_digest() -> None:
    host = NotesHost()
    host.updateBlock(P1, "x" * 100_000)
    inline_digest = await seen(host, "block.update", id=P1)
    found = await observe(host, "block", "update", {"id": P1}, offload=ThreadOffload())
    assert await ThreadOffload().run(state_digest, found.state) == inline_digest
