"""The handlers on a whole kernel in memory: files, documents, blocks, search, tags; each mutation strict and loose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.notes import Notes, open_notes

RICH = "Intro #tag#\n\n## Head\n\nunder\n\n* one\n* two\n\n> quoted"


async def furnished(notes: Notes) -> tuple[str, str]:
    box = await notes.memory.notebook("Nb")
    return box, await notes.memory.document(box, "/A", RICH)


@pytest.fixture(params=[False, True], ids=["loose", "strict"])
def strict(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# --- fs ---


async def test_a_note_is_written_read_edited_moved_and_removed_as_a_file(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        await notes.memory.notebook("Nb")
        created = await notes.call("fs", "write", path="/Nb/New", markdown="# New\n\nfirst\n\nsecond")
        assert created["created"] is True
        assert (await notes.call("fs", "read", path="Nb//New/"))["content"] == "first\n\nsecond"
        edit = [{"old": "first", "new": "1st"}, {"old": "second", "new": "2nd"}]
        changed = await notes.call("fs", "replace", path="/Nb/New", edit=edit)
        assert [row["replaced"] for row in changed["replacements"]] == [1, 1]
        over = await notes.call("fs", "write", path="/Nb/New", markdown="all\n\nnew", overwrite=True)
        assert over["id"] == created["id"]
        read = await notes.call("fs", "read", path="/Nb/New")
        assert (read["content"], read["totalBlocks"]) == ("all\n\nnew", 2)
        await notes.call("fs", "write", path="/Nb/New/Kid", markdown="")
        await notes.call("fs", "mv", **{"from": "/Nb/New/Kid"}, to="/Nb/Moved")
        names = [item["name"] for item in (await notes.call("fs", "ls", path="/Nb"))["items"]]
        assert names == ["Moved", "New"], "without places of their own, the one made later comes first"
        await notes.call("fs", "rm", path="/Nb/Moved")
        assert len((await notes.call("fs", "ls", path="/Nb"))["items"]) == 1


async def test_the_order_of_children_is_set_completely_or_not_at_all(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        box = await notes.memory.notebook("Nb")
        for name in ("a", "b", "c"):
            await notes.memory.document(box, f"/{name}", "")
        wanted = ["/Nb/c", "/Nb/a", "/Nb/b"]
        done = await notes.call("fs", "reorder", path="/Nb", orderedPaths=wanted)
        assert (done["order"], done["changed"]) == (wanted, True)
        assert [i["path"] for i in (await notes.call("fs", "ls", path="/Nb"))["items"]] == wanted
        error = await notes.refused("fs", "reorder", path="/Nb", orderedPaths=wanted[:2])
        assert error["message"]


async def test_paths_are_refused_for_what_is_wrong_with_them(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, _ = await furnished(notes)
        await notes.memory.document(box, "/A", "twin")
        for action, arguments, code in (
            ("read", {"path": "/Nb/A"}, "ambiguous_path"),
            ("read", {"path": "/Nb/None"}, "not_found"),
            ("read", {"path": "/None"}, "not_found"),
            ("read", {"path": "/Nb"}, "invalid_path"),
            ("ls", {"path": "  "}, "invalid_path"),
            ("ls", {"path": "/AGENTS.md"}, "invalid_path"),
            ("write", {"path": "/Nb/No/Kid", "markdown": "x"}, "document_not_found"),
            ("write", {"path": "/Nope", "markdown": "x"}, "invalid_path"),
            ("write", {"path": "/", "markdown": "x"}, "invalid_path"),
            ("write", {"path": "/Nb", "markdown": "x"}, "invalid_path"),
            ("rm", {"path": "/Nb"}, "invalid_path"),
            ("mv", {"from": "/AGENTS.md", "to": "/Nb/X"}, "invalid_path"),
        ):
            assert (await notes.refused("fs", action, **arguments))["code"] == code, (action, arguments)


async def test_moving_is_refused_onto_a_note_and_below_itself(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, _ = await furnished(notes)
        await notes.memory.document(box, "/B", "")
        assert (await notes.refused("fs", "mv", **{"from": "/Nb/A"}, to="/Nb/B"))["code"] == "conflict"
        assert (await notes.refused("fs", "mv", **{"from": "/Nb/A"}, to="/Nb/A/C"))["code"] == "invalid_path"
        assert (await notes.refused("fs", "write", path="/Nb/A", markdown="x"))["code"] == "conflict"


async def test_overwriting_stops_at_what_markdown_could_not_give_back(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, document = await furnished(notes)
        first = (await notes.memory.children(document))[0]
        await notes.call("block", "set_attrs", id=first, attrs={"custom-keep": "1"})
        write = {"path": "/Nb/A", "markdown": "x", "overwrite": True}
        error = await notes.refused("fs", "write", **write)
        assert error["protectedBlocks"] == [{"id": first, "assetKinds": ["custom-attrs"]}]
        await notes.memory.document(box, "/C", "a\n\n{{{row\nb\n\nc\n}}}")
        error = await notes.refused("fs", "write", **{**write, "path": "/Nb/C"})
        assert [block["type"] for block in error["complexBlocks"]] == ["s"]
        shown = await notes.call("fs", "read", path="/Nb/C")
        assert shown["complexBlockTypes"] == ["s"]
        done = await notes.call("fs", "replace", path="/Nb/C", edit={"old": "a", "new": "z"})
        assert done["skippedComplexBlocks"][0]["type"] == "s"


async def test_the_tree_and_the_search_go_through_all_notes(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, _ = await furnished(notes)
        await notes.memory.document(box, "/A/B", "deep alpha")
        tree = await notes.call("fs", "tree", path="/")
        assert tree["tree"][2]["children"][0]["children"][0]["path"] == "/Nb/A/B"
        assert (await notes.call("fs", "tree", path="/Nb", maxDepth=0))["tree"][0]["children"] == 1
        assert (await notes.call("fs", "tree", path="/Nb/A"))["tree"][0]["name"] == "B"
        hits = await notes.call("fs", "search", path="/", query="ALPHA")
        assert [(hit["path"], hit["text"]) for hit in hits["data"]] == [("/Nb/A/B", "deep alpha")]
        within = await notes.call("fs", "search", path="/Nb/A/B", query="al.ha", regex=True)
        assert within["total"] == 1
        await notes.call("fs", "write", path="/AGENTS.md", markdown="alpha too")
        assert (await notes.call("fs", "search", path="/AGENTS.md", query="alpha"))["virtual"] is True
        cleared = await notes.call("fs", "rm", path="/AGENTS.md")
        assert cleared["cleared"] is True


# --- documents ---


async def test_a_document_is_made_found_renamed_moved_and_removed(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        box = await notes.memory.notebook("Nb")
        made = await notes.call(
            "document", "create", notebook=box, parentPath="/", title="a/b", markdown="x", icon="1f600"
        )
        assert made["path"] == "/a／b"
        found = await notes.call("document", "lookup", id=made["id"], include=["docInfo"])
        assert found["idPath"]["path"] == f"/{made['id']}.sy"
        assert "docInfo" not in found, "it may be asked for, and adds nothing"
        below = await notes.call("document", "create", notebook=box, parentPath=f"/{made['id']}.sy", title="Kid")
        assert below["resolvedParentPath"] == "/a／b"
        await notes.call("document", "rename", id=below["id"], title="Child")
        by_hpath = await notes.call("document", "lookup", notebook=box, hPath="/a／b/Child", include=["ids", "id"])
        assert by_hpath["idPath"]["ids"] == [below["id"]]
        await notes.call("document", "move", fromIDs=[below["id"]], toID=box)
        assert (await notes.call("document", "get_child_docs", id=made["id"]))["value"] == []
        await notes.call("document", "set_attr", id=made["id"], attrs={"cover": "/assets/c.png"})
        await notes.call("document", "set_attr", id=made["id"], attrs={"cover": ""})
        order = [below["id"], made["id"]]
        assert (await notes.call("document", "reorder", parentID=box, orderedIDs=order))["order"] == order
        copy = await notes.call("document", "duplicate", id=made["id"])
        gone = await notes.call("document", "remove", ids=[made["id"], below["id"]])
        assert gone["count"] == 2
        await notes.call("document", "remove", paths=[copy["path"]])
        assert (await notes.call("notebook", "get_child_docs", notebook=box))["total"] == 0


async def test_documents_are_read_as_text_outline_tree_and_html(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, document = await furnished(notes)
        text = await notes.call("document", "get_doc", id=document)
        assert text["content"].startswith("Intro #tag#\n\n## Head")
        assert text["outline"] == [{"blockIndex": 1, "level": 2, "title": "Head"}]
        assert "data-node-id" in (await notes.call("document", "get_doc", id=document, mode="html"))["content"]
        assert (await notes.call("document", "get_outline", id=document))["headingCount"] == 1
        assert len((await notes.call("document", "get_child_blocks", id=document))["value"]) == 5
        await notes.memory.document(box, "/A/B/C", "")
        tree = await notes.call("document", "list_tree", notebook=box, path="/", maxDepth=0)
        assert tree["tree"][0]["childCount"] == 1
        found = await notes.call("document", "search_docs", notebook=box, query="A", path=f"/{document}.sy")
        assert found["pathApplied"] is True


async def test_link_targets_are_resolved_reused_or_made(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        box, document = await furnished(notes)
        await notes.memory.document(box, "/A/Known", "")
        targets = [{"key": "k", "title": "Known"}, {"key": "n", "title": "New"}]
        asked = {"notebook": box, "parentId": document, "targets": targets}
        looked = await notes.call("document", "ensure_link_targets", **asked, mode="resolve")
        assert [row["status"] for row in looked["targets"]] == ["found", "missing"]
        assert (await notes.refused("document", "ensure_link_targets", **asked, mode="reuse"))["code"] == "not_found"
        dry = await notes.call("document", "ensure_link_targets", **asked, mode="create", dryRun=True)
        assert dry["missing"] == 1
        made = await notes.call("document", "ensure_link_targets", **asked, mode="create")
        assert made["created"] == 1
        again = await notes.call("document", "ensure_link_targets", **asked, mode="reuse")
        assert again["missing"] == 0


async def test_headings_and_documents_turn_into_each_other_but_never_into_a_broken_file(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, document = await furnished(notes)
        other = await notes.memory.document(box, "/Other", "text")
        paragraph, heading, *_ = await notes.memory.children(document)
        asked = {"headingID": paragraph, "targetNotebook": box, "targetPath": "/"}
        assert (await notes.refused("document", "heading_to_doc", **asked))["code"] == "block_not_found"
        await notes.call("document", "heading_to_doc", headingID=heading, targetNotebook=box, targetPath=f"/{other}.sy")
        error = await notes.refused("document", "doc_to_heading", srcID=document, targetID=other)
        assert error["code"] == "invalid_arguments"
        last = (await notes.memory.children(other))[-1]
        await notes.call("document", "doc_to_heading", srcID=document, targetID=last, after=True)
        assert "# A" in (await notes.call("document", "get_doc", id=other))["content"]


async def test_a_daily_note_is_made_once_and_added_to(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        box = await notes.memory.notebook("Nb")
        first = await notes.call("document", "create_daily_note", notebook=box)
        again = await notes.call("document", "create_daily_note", notebook=box)
        assert first["id"] == again["id"]
        added = {"notebook": box, "dataType": "markdown", "data": "hello", "position": "append"}
        await notes.call("block", "add_to_daily_note", **added)
        assert "hello" in (await notes.call("document", "get_doc", id=first["id"]))["content"]


# --- blocks ---


async def test_blocks_are_inserted_updated_replaced_moved_and_deleted(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        _, document = await furnished(notes)
        first = (await notes.memory.children(document))[0]
        new = {"dataType": "markdown", "data": "new"}
        added = await notes.call("block", "insert", **new, previousID=first)
        assert (added["previousID"], added["dataType"]) == (first, "markdown")
        await notes.call("block", "prepend", **new, parentID=document)
        end = await notes.call("block", "append", dataType="markdown", data="x\n\ny", parentID=document)
        assert len(end["createdBlockIDs"]) == 2
        many = await notes.call("block", "insert", blocks=[new, {**new, "data": "more"}], parentID=document)
        assert (many["count"], len(many["createdBlockIDs"])) == (2, 2)
        await notes.call("block", "set_attrs", id=added["id"], attrs={"custom-a": "1"})
        changed = await notes.call("block", "update", id=added["id"], dataType="markdown", data="other")
        assert changed["preservedAttributeCount"] == 1
        items = [{"id": added["id"], "dataType": "markdown", "data": "batch"}, {"id": first, **new}]
        assert (await notes.call("block", "update", items=items))["count"] == 2
        replaced = await notes.call("block", "replace", id=added["id"], edit={"old": "batch", "new": "done"})
        assert replaced["changed"] is True
        assert (await notes.call("block", "get_attrs", id=added["id"]))["custom-a"] == "1"
        await notes.call("block", "move", ids=[first, added["id"]], parentID=document)
        assert (await notes.memory.children(document))[:2] == [first, added["id"]]
        await notes.call("block", "set_fold_state", id=first, folded=True)
        await notes.call("block", "delete", id=first)
        assert first not in await notes.memory.children(document)


async def test_replacing_reaches_into_lists_and_keeps_the_rest(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        _, document = await furnished(notes)
        listed = (await notes.memory.children(document))[3]
        await notes.call("block", "replace", id=listed, edit={"old": "two", "new": "three"})
        assert "- one\n- three" in (await notes.call("document", "get_doc", id=document))["content"]
        assert (await notes.refused("block", "replace", id=listed, edit={"old": "zzz", "new": ""}))[
            "code"
        ] == "no_match"
        whole = await notes.call("block", "replace", id=document, edit={"old": "- three", "new": "- four"})
        assert whole["replacements"] == [{"index": 1, "replaced": 1, "replace_all": False}], (
            "a document is all of its blocks"
        )
        assert "- one\n- four" in (await notes.call("document", "get_doc", id=document))["content"]


async def test_a_super_block_that_is_named_is_opened_and_one_on_the_way_left_out(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, _ = await furnished(notes)
        document = await notes.memory.document(box, "/Super", "{{{row\none\n\ntwo\n\n}}}\n\ntwo")
        block = (await notes.memory.children(document))[0]
        await notes.call("block", "replace", id=block, edit={"old": "two", "new": "2"})
        skipped = await notes.call("block", "replace", id=document, edit={"old": "two", "new": "three"})
        assert [one["type"] for one in skipped["skippedComplexBlocks"]] == ["s"]
        text = (await notes.call("document", "get_doc", id=document))["content"]
        assert text == "{{{row\none\n\n2\n\n}}}\n\nthree"


async def test_naked_references_get_their_targets_first_words(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        _, document = await furnished(notes)
        target = (await notes.memory.children(document))[2]
        data = f'see (({target})) and (({target} "own")) ((20200101000000-abcdefg)) siyuan://blocks/{target}'
        made = await notes.call("block", "append", dataType="markdown", data=data, parentID=document)
        text = (await notes.call("block", "get_kramdown", id=made["id"]))["kramdown"]
        # An own anchor is a dynamic one: drawing the document anew makes it what the target says.
        assert f"(({target} 'under')) and (({target} 'under'))" in text
        assert "mentions" in made["warning"]
        assert "fallback" in made["hint"]
        alone = await notes.call(
            "block", "append", dataType="markdown", data="((20200101000000-abcdefg))", parentID=document
        )
        assert "target's id for an anchor" in alone["warning"]
        note = await notes.call("block", "append", dataType="markdown", data="a [^word] and [^1]", parentID=document)
        plain = await notes.call("block", "append", dataType="markdown", data="a [^word]", parentID=document)
        assert ("warning" in note, "warning" in plain) == (True, False)


async def test_blocks_are_read_one_by_one_and_in_batches(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, document = await furnished(notes)
        first = (await notes.memory.children(document))[0]
        batch = await notes.call("block", "batch_kramdown", ids=[first, "20200101000000-abcdefg", first])
        assert [item["ok"] for item in batch["items"]] == [True, False, True]
        assert (await notes.call("block", "info", id=first))["box"] == box
        page = await notes.call("block", "get_children", id=document, pageSize=2, page=9)
        assert (page["page"], page["pageCount"]) == (3, 3)
        assert (await notes.call("block", "breadcrumb", id=first))["value"][0]["id"] == document
        assert first in (await notes.call("block", "dom", id=first))["dom"]
        assert (await notes.call("block", "word_count", id=first))["stat"]["blockCount"] == 1
        assert (await notes.call("block", "docs_info", id=document))["value"][0]["name"] == "A"
        recent = await notes.call("block", "recent_updated", count=2)
        assert recent["documents"][0]["documentId"] == document


# --- search and tags ---


async def test_search_finds_text_rows_and_references(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        box, document = await furnished(notes)
        first = (await notes.memory.children(document))[0]
        other = await notes.memory.document(box, "/B", f"see (({first} 'x')) and ((20200101000000-abcdefg 'gone'))")
        hits = await notes.call("search", "fulltext", query="under")
        assert hits["data"][0]["plainContent"] == "under"
        narrowed = await notes.call("search", "fulltext", query="see", parentId=document, typeShortcodes=["p"])
        assert narrowed["data"] == []
        assert (await notes.refused("search", "fulltext", query="x", typeShortcodes=["zz"]))[
            "code"
        ] == "invalid_arguments"
        rows = await notes.call("search", "query_sql", stmt="SELECT content FROM blocks WHERE type='p'", maxRows=1)
        assert (len(rows["data"]), rows["truncated"]) == (1, True)
        assert "content" in rows["data"][0]
        assert (await notes.refused("search", "query_sql", stmt="DELETE FROM blocks"))["code"] == "invalid_arguments"
        back = await notes.call("search", "get_backlinks", id=first, refTreeID=other, keyword="see")
        assert [row["plainContent"] for row in back["backlinks"]] != []
        assert (await notes.call("search", "list_invalid_refs"))["total"] == 1
        await notes.permit(**{box: "none"})
        assert (await notes.refused("search", "query_sql", stmt="SELECT 1"))["code"] == "permission_denied"
        hidden = await notes.call("search", "fulltext", query="under")
        assert (hidden["data"], hidden["reason"]) == ([], "permission_filtered")


async def test_text_is_replaced_where_it_was_asked(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        _, document = await furnished(notes)
        target = (await notes.memory.children(document))[2]
        await notes.call("search", "find_replace", k="under", r="over", ids=[target])
        assert "over" in (await notes.call("document", "get_doc", id=document))["content"]


async def test_a_tag_is_renamed_only_where_every_notebook_allows_it(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        box, _ = await furnished(notes)
        assert (await notes.call("tag", "list"))["value"][0]["label"] == "tag"
        await notes.permit(**{box: "r"})
        assert (await notes.refused("tag", "rename", oldLabel="tag", newLabel="t2"))["code"] == "permission_denied"
        await notes.permit(**{box: "rw"})
        await notes.call("tag", "rename", oldLabel="tag", newLabel="t2")
        assert (await notes.refused("tag", "remove", label="t2"))["required_permission"] == "delete"
        await notes.permit(**{box: "rwd"})
        await notes.call("tag", "remove", label="t2")
        assert (await notes.call("tag", "list"))["value"] == []


# --- notebooks ---


async def test_notebooks_are_made_configured_closed_and_removed(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        made = await notes.call("notebook", "create", name="Nb", icon="1f4d4")
        box = made["id"]
        await notes.call("notebook", "rename", notebook=box, name="Two")
        await notes.call("notebook", "set_icon", notebook=box, icon="1f4d5")
        await notes.call("notebook", "set_conf", notebook=box, conf={"refCreateSavePath": "/refs"})
        conf = (await notes.call("notebook", "get_conf", notebook=box))["conf"]
        assert (conf["name"], conf["icon"], conf["refCreateSavePath"]) == ("Two", "1f4d5", "/refs")
        await notes.call("notebook", "set_permission", notebook=box, permission="rwd")
        assert (await notes.call("notebook", "get_permissions", notebook=box))["notebook"]["permission"] == "rwd"
        await notes.call("notebook", "set_open_state", notebook=box, opened=False)
        await notes.call("notebook", "set_open_state", notebook=box, opened=True)
        await notes.call("notebook", "remove", notebook=box)
        assert (await notes.call("notebook", "list"))["value"] == []


# --- strict, whole ---


async def test_a_strict_write_is_refused_when_the_target_changed_after_its_preflight(tmp_path: Path) -> None:
    async with open_notes(tmp_path, strict=True) as notes:
        _, document = await furnished(notes)
        first = (await notes.memory.children(document))[0]
        asked = {"action": "update", "id": first, "dataType": "markdown", "data": "mine"}
        checked = (await notes.raw("block", {**asked, "validateOnly": True})).structured or {}
        assert (checked["targetCount"], checked["preconditionField"]) == (1, "expectedStateHash")
        await notes.memory.call("block/updateBlock", id=first, dataType="markdown", data="theirs")
        ids = {"requestId": checked["requestId"], "expectedStateHash": checked["expectedStateHash"]}
        result = await notes.raw("block", {**asked, **ids})
        assert (result.structured or {})["error"]["code"] == "state_changed"
        assert (await notes.memory.texts(document))[0] == "theirs"


async def test_a_strict_write_is_done_once_however_often_it_is_sent(tmp_path: Path) -> None:
    async with open_notes(tmp_path, strict=True) as notes:
        _, document = await furnished(notes)
        asked = {"action": "append", "parentID": document, "dataType": "markdown", "data": "once"}
        checked = (await notes.raw("block", {**asked, "validateOnly": True})).structured or {}
        for is_replay in (False, True, True):
            result = await notes.raw("block", {**asked, "requestId": checked["requestId"]})
            assert not result.is_error
            payload = result.structured or {}
            assert payload.get("safety", payload)["replayed"] is is_replay
        assert (await notes.memory.texts(document)).count("once") == 1
