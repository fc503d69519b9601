"""/api/storage: local storage, criteria, outlines, recent documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.siyuan.api.storage import CRITERIA, LOCAL, OUTLINES, OUTLINES_MAX
from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel

MISSING = "20200101000000-zzzzzzz"


async def test_values_are_kept_and_other_apps_are_told() -> None:
    kernel = MemoryKernel()
    others: list[dict[str, Any]] = []
    kernel.kernel.push.add(PushSession("other", "w", "main", others.append))
    await kernel.call("storage/setLocalStorageVal", key="a", val={"x": 1.0}, app="app")
    await kernel.call("storage/setLocalStorageVals", keyVals={"b": 1.5, "c": "t"}, app="app")
    assert await kernel.call("storage/getLocalStorage") == {"a": {"x": 1}, "b": 1.5, "c": "t"}
    assert await kernel.call("storage/getLocalStorageVals", keys=["a", "z"]) == {"a": {"x": 1}, "z": None}
    assert await kernel.call("storage/getLocalStorageVal", key=" b ") == 1.5
    await kernel.call("storage/removeLocalStorageVal", key="a")
    await kernel.call("storage/removeLocalStorageVals", keys=["b"])
    assert json.loads(kernel.backend.contents[LOCAL]) == {"c": "t"}
    assert [frame["cmd"] for frame in kernel.frames] == ["removeLocalStorageVal", "removeLocalStorageVals"]
    assert (others[0]["cmd"], others[0]["app"], others[0]["pushMode"], others[0]["data"]) == (
        "setLocalStorageVal",
        "app",
        6,
        {"key": "a", "val": {"x": 1}},
    )
    assert len(others) == 4


@pytest.mark.parametrize(
    ("path", "given", "message"),
    [
        ("setLocalStorageVal", {"key": "k"}, "local storage value for key [k] must not be empty"),
        ("setLocalStorageVals", {"keyVals": {"a": None}}, "local storage value for key [a] must not be empty"),
        ("setLocalStorageVals", {"keyVals": {}}, "Field [keyVals] must not be empty"),
        ("setLocalStorageVals", {"keyVals": "x"}, "Field [keyVals] should be of type [Object]"),
        ("removeLocalStorageVals", {"keys": []}, "Field [keys] must not be empty"),
        ("removeLocalStorageVals", {"keys": [5]}, "Field [keys]: each element should be of type [String]"),
        ("removeLocalStorageVals", {"keys": [""]}, "Field [keys]: each element must not be empty"),
        ("getLocalStorageVal", {}, "Field [key] is required"),
        ("setCriterion", {}, "Field [criterion] is required"),
        ("setCriterion", {"criterion": {"name": ""}}, "Input can not be empty"),
        ("setCriterion", {"criterion": "x"}, "json: cannot unmarshal string into Go value of type model.Criterion"),
        (
            "setCriterion",
            {"criterion": {"types": {"document": 1}}},
            "json: cannot unmarshal number into Go struct field CriterionTypes.types.document of type bool",
        ),
        ("setOutlineStorage", {"docID": "d", "val": "x"}, "Field [val] should be of type [Object]"),
        ("getRecentDocs", {"sortBy": 5}, "Field [sortBy] should be of type [String]"),
    ],
)
async def test_what_does_not_fit_is_refused(path: str, given: Any, message: str) -> None:
    assert await MemoryKernel().refusal(f"storage/{path}", **given) == message


async def test_setting_all_of_local_storage_is_a_thing_of_the_past() -> None:
    assert "deprecated" in await MemoryKernel().refusal("storage/setLocalStorage", val={})


async def test_a_criterion_replaces_the_one_of_its_name() -> None:
    kernel = MemoryKernel()
    await kernel.call("storage/setCriterion", criterion={"name": "one", "k": "a"})
    await kernel.call("storage/setCriterion", criterion={"name": "two", "types": {"document": True}})
    await kernel.call("storage/setCriterion", criterion={"name": "one", "k": "b"})
    first, second = await kernel.call("storage/getCriteria")
    assert (first["k"], first["types"], second["types"]["document"], second["types"]["callout"]) == (
        "b",
        None,
        True,
        False,
    )
    await kernel.call("storage/removeCriterion", name="one")
    await kernel.call("storage/removeCriterion", name="none")
    assert [one["name"] for one in await kernel.call("storage/getCriteria")] == ["two"]


async def test_outlines_are_remembered_newest_first_up_to_the_limit() -> None:
    kernel = MemoryKernel()
    stored = [{"docID": f"d{number}", "data": {}} for number in range(OUTLINES_MAX)]
    kernel.workspace.files.write(OUTLINES, json.dumps(stored).encode())
    await kernel.call("storage/setOutlineStorage", docID="new", val={"a": [1]})
    kept = json.loads(kernel.backend.contents[OUTLINES])
    assert (len(kept), kept[0], kept[-1]["docID"]) == (
        OUTLINES_MAX,
        {"docID": "new", "data": {"a": [1]}},
        f"d{OUTLINES_MAX - 2}",
    )
    assert await kernel.call("storage/getOutlineStorage", docID="new") == {"a": [1]}
    await kernel.call("storage/removeOutlineStorage", docID="new")
    assert await kernel.call("storage/getOutlineStorage", docID="new") == {}


async def test_a_broken_file_is_empty_to_readers_and_an_error_to_writers() -> None:
    kernel = MemoryKernel()
    for path in (LOCAL, CRITERIA, OUTLINES):
        kernel.workspace.files.write(path, b"{broken")
    assert await kernel.call("storage/getLocalStorage") == {}
    assert await kernel.call("storage/getCriteria") == []
    assert await kernel.refusal("storage/setCriterion", criterion={"name": "x"})
    kernel.workspace.files.write(OUTLINES, b"{}")
    assert "cannot unmarshal" in await kernel.refusal("storage/getOutlineStorage", docID="x")


async def test_recent_documents_are_ordered_by_the_time_asked_for(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    one = await kernel.document(box, "/One", "x")
    two = await kernel.document(box, "/Two", "y")
    await kernel.call("attr/setBlockAttrs", id=two, attrs={"icon": "1f600"})
    await kernel.call("storage/updateRecentDocOpenTime", rootID=one)
    kernel.clock.advance(1)
    await kernel.call("storage/updateRecentDocViewTime", rootID=(await kernel.children(two))[0])
    shown = await kernel.call("storage/getRecentDocs")
    assert [(item["rootID"], item["title"], item.get("icon")) for item in shown] == [
        (two, "Two", "1f600"),
        (one, "One", None),
    ]
    assert [item["rootID"] for item in await kernel.call("storage/getRecentDocs", sortBy="openAt")] == [one]
    assert await kernel.call("storage/getRecentDocs", sortBy="closedAt") == []
    kernel.clock.advance(1)
    await kernel.call("storage/updateRecentDocCloseTime", rootID=one)
    await kernel.call("storage/batchUpdateRecentDocCloseTime", rootIDs=[two, MISSING, 5, ""])
    assert len(await kernel.call("storage/getRecentDocs", sortBy="closedAt")) == 2
    await kernel.call("storage/updateRecentDocViewTime", rootID=one)
    assert len(await kernel.call("storage/getRecentDocs", sortBy="closedAt")) == 1
    changed = await kernel.call("storage/getRecentDocs", sortBy="updated")
    assert {item["rootID"] for item in changed} == {box, one, two}


async def test_documents_that_are_gone_are_forgotten(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    document = await kernel.document(box, "/One", "x")
    for root_id in (document, MISSING, box):
        await kernel.call("storage/updateRecentDocViewTime", rootID=root_id)
    for nothing in ({}, {"rootID": ""}):
        await kernel.call("storage/updateRecentDocViewTime", **nothing)
        await kernel.call("storage/updateRecentDocCloseTime", **nothing)
    await kernel.call("storage/batchUpdateRecentDocCloseTime")
    await kernel.call("storage/batchUpdateRecentDocCloseTime", rootIDs=[MISSING + "x"])
    assert len(await kernel.call("storage/getRecentDocs")) == 2
    await kernel.call("setting/setFiletree", boxDocEnabled=False)
    assert [item["rootID"] for item in await kernel.call("storage/getRecentDocs")] == [document]
    assert [item["rootID"] for item in await kernel.call("storage/getRecentDocs", sortBy="updated")] == [document]


async def test_only_as_many_recent_documents_are_kept_as_the_settings_say(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    documents = [await kernel.document(box, f"/{number}", "x") for number in range(34)]
    for document in documents:
        kernel.clock.advance(1)
        await kernel.call("storage/updateRecentDocViewTime", rootID=document)
    shown = await kernel.call("storage/getRecentDocs")
    assert [item["rootID"] for item in shown] == documents[:1:-1]
