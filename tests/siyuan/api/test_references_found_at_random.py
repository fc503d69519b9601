"""What random sessions with the real kernel showed of references: offers, anchors, mentions."""

from __future__ import annotations

import json

import pytest

from kernel.workspace.limits import RECENT_TARGETS_MAX
from kernel.workspace.recent_targets import PATH, note_targets, recent_targets
from tests.siyuan.kernel_in_memory import MemoryKernel

ONE, TWO = "20240101000001-aaaaaaa", "20240101000002-bbbbbbb"


async def _targets(kernel: MemoryKernel) -> str:
    box = await kernel.notebook()
    await kernel.document(box, "/Targets", f'# word head\n{{: id="{ONE}"}}\n\nword text\n{{: id="{TWO}"}}')
    return box


async def _offered(kernel: MemoryKernel, keyword: str) -> list[str]:
    answer = await kernel.call(
        "search/searchRefBlock",
        id="",
        rootID="",
        k=keyword,
        beforeLen=16,
        reqId=1,
        isSquareBrackets=True,
        isDatabase=False,
    )
    return [block["id"] for block in answer["blocks"] if block["id"] in (ONE, TWO)]


@pytest.mark.parametrize("way", ["create", "insert", "update"])
async def test_what_was_referred_to_last_is_offered_first(kernel: MemoryKernel, way: str) -> None:
    box = await _targets(kernel)
    assert await _offered(kernel, "word") == [ONE, TWO]
    text = f"see (({TWO} 'it'))"
    if way == "create":
        await kernel.document(box, "/Referring", text)
    else:
        other = await kernel.document(box, "/Referring", "plain")
        block = (await kernel.children(other))[0]
        place = {"previousID": block} if way == "insert" else {"id": block}
        await kernel.call(f"block/{way}Block", dataType="markdown", data=text, **place)
    assert await _offered(kernel, "word") == [TWO, ONE]
    assert list(json.loads(kernel.workspace.files.read(PATH))) == [TWO]


async def test_without_a_word_the_last_targets_come_first_too(kernel: MemoryKernel) -> None:
    box = await _targets(kernel)
    await kernel.document(box, "/First", f"see (({TWO} 'it'))")
    kernel.clock.advance(5)
    await kernel.document(box, "/Second", f"see (({ONE} 'it'))")
    assert await _offered(kernel, "") == [ONE, TWO]


async def test_a_reference_that_was_there_is_no_new_use(kernel: MemoryKernel) -> None:
    box = await _targets(kernel)
    other = await kernel.document(box, "/Referring", f"see (({TWO} 'it'))")
    before = recent_targets(kernel.workspace)
    kernel.clock.advance(5)
    block = (await kernel.children(other))[0]
    await kernel.call("block/updateBlock", id=block, dataType="markdown", data=f"still (({TWO} 'it'))")
    assert recent_targets(kernel.workspace) == before


async def test_of_too_many_targets_the_oldest_are_forgotten(kernel: MemoryKernel) -> None:
    await kernel.notebook()
    note_targets(kernel.workspace, [ONE])
    kernel.clock.advance(5)
    others = [f"20240101{number:06d}-ccccccc" for number in range(RECENT_TARGETS_MAX - 1)]
    note_targets(kernel.workspace, others)
    assert ONE in recent_targets(kernel.workspace)
    note_targets(kernel.workspace, [TWO])
    assert len(recent_targets(kernel.workspace)) == RECENT_TARGETS_MAX
    assert ONE not in recent_targets(kernel.workspace)


@pytest.mark.parametrize("content", [b"{", b"[1]", b'{"a": "x"}'])
async def test_a_list_of_targets_that_is_none_counts_as_empty(kernel: MemoryKernel, content: bytes) -> None:
    await kernel.notebook()
    kernel.workspace.files.write(PATH, content)
    assert recent_targets(kernel.workspace) == {}


async def _meant(kernel: MemoryKernel, anchor: str) -> list[str]:
    answer = await kernel.call("block/getBlockDefIDsByRefText", anchor=anchor, excludeIDs=[])
    return [one["refID"] for one in answer["refDefs"]]


async def test_an_anchor_means_what_it_points_to_and_what_has_that_name_alias_or_title(kernel: MemoryKernel) -> None:
    box = await _targets(kernel)
    await kernel.call("attr/setBlockAttrs", id=TWO, attrs={"name": "called", "alias": "first,second"})
    other = await kernel.document(box, "/Called", f"see (({ONE} \"called\")) and (({ONE} 'again'))")
    assert await _meant(kernel, "CALLED") == sorted([ONE, TWO, other], reverse=True)
    assert await _meant(kernel, "second") == [TWO]
    assert await _meant(kernel, "c%d") == []
    # Of two references of one block to another the index has the first.
    assert await _meant(kernel, "again") == []


async def test_a_mention_is_told_as_it_is_written(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Gamma", "")
    other = await kernel.document(box, "/Other", "alpha beta gamma")
    block = (await kernel.children(other))[0]
    await kernel.document(box, "/Third", f"see (({block} 'it'))")
    answer = await kernel.call("ref/getBackmentionDoc", defID=target, refTreeID=other, keyword="")
    assert answer["keywords"] == ["gamma"]
    assert 'refcount="1"' in answer["backmentions"][0]["dom"]
    panel = await kernel.call("ref/getBacklink", id=target, k="", mk="", beforeLen=0)
    (shown,) = panel["backmentions"][0]["blocks"]
    assert (shown["content"], shown["refText"]) == ("... <mark>gamma</mark>", "gamma")


async def test_documents_are_listed_under_the_path_that_was_asked_for(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "")
    for path, wanted in (("/", f"/{root_id}.sy"), ("", f"{root_id}.sy")):
        listed = await kernel.call("filetree/listDocsByPath", notebook=box, path=path)
        assert [one["path"] for one in listed["files"]] == [wanted]


async def test_a_section_that_is_unfolded_is_drawn_with_the_numbers_of_references(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    document = await kernel.document(box, "/Doc", f'## Head\n\nbelow\n{{: id="{ONE}"}}')
    await kernel.document(box, "/Other", f"see (({ONE} 'it'))")
    heading = (await kernel.children(document))[0]
    for action in ("foldHeading", "unfoldHeading"):
        operation = {"action": action, "id": heading}
        transactions = [{"doOperations": [operation], "undoOperations": []}]
        told = await kernel.call("transactions", transactions=transactions, reqId=1, app="a", session="s")
    assert 'refcount="1"' in told[0]["doOperations"][0]["retData"]
    assert "refcount" not in (await kernel.call("block/getBlockKramdown", id=ONE))["kramdown"]
