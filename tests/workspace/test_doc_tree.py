"""The tree of documents as it is listed: what lies below a document, and in which order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.workspace.doc_tree import (
    ListedDocument,
    append_to_sort,
    change_sort,
    effective_order,
    insert_into_sort,
    list_documents,
    prepend_to_sort,
    properties_at,
    read_sort,
    remove_from_sort,
    sub_file_count,
    tell_sort_changed,
    time_of,
    write_sort,
)
from kernel.workspace.notebooks import SORT_AS_TREE, SORT_CUSTOM
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"


@pytest.fixture
async def shelf(kernel: MemoryKernel) -> tuple[MemoryKernel, str, dict[str, str]]:
    """(kernel, notebook, ids by title): b10, b9 and a, made one after the other, and a document below b9."""
    box = await kernel.notebook()
    ids = {}
    for number, name in enumerate(("b10", "b9", "a", "b9/low")):
        kernel.clock.advance(5)
        ids[name.rpartition("/")[2]] = await kernel.document(box, f"/{name}", "word " * number)
    return kernel, box, ids


def titles(kernel: MemoryKernel, box: str, path: str = "/", **asked: Any) -> str:
    return " ".join(one.attribute("title") for one in list_documents(kernel.workspace, box, path, **asked))


def told(kernel: MemoryKernel) -> list[Any]:
    return [event.data for event in kernel.workspace.take_events() if event.cmd == "filetreeSortChanged"]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (0, "a b10 b9"),
        (1, "b9 b10 a"),
        (2, "b10 b9 a"),
        (3, "a b9 b10"),
        (4, "a b9 b10"),
        (5, "b10 b9 a"),
        (7, "b10 a b9"),
        (8, "b9 b10 a"),
        (9, "b10 b9 a"),
        (10, "a b9 b10"),
        (11, "b10 b9 a"),
        (12, "a b9 b10"),
        (13, "b10 a b9"),
        (14, "b9 b10 a"),
    ],
)
async def test_documents_are_listed_in_each_order(
    shelf: tuple[MemoryKernel, str, dict[str, str]], order: int, names: str
) -> None:
    kernel, box, ids = shelf
    await kernel.document(box, "/b9/low/source", f"(({ids['b9']} 'x'))")
    assert titles(kernel, box, order=order) == names


async def test_an_order_of_nobodys_is_that_of_the_folder(shelf: tuple[MemoryKernel, str, dict[str, str]]) -> None:
    kernel, box, _ = shelf
    assert sorted(titles(kernel, box, order=99).split()) == ["a", "b10", "b9"]


async def test_the_order_is_the_callers_else_the_notebooks_else_the_trees(
    shelf: tuple[MemoryKernel, str, dict[str, str]],
) -> None:
    kernel, box, _ = shelf
    workspace = kernel.workspace
    conf = workspace.box(box).conf
    workspace.conf.file_tree["sort"] = 3
    workspace.notebooks.save(box, {**conf, "sortMode": SORT_AS_TREE})
    assert (effective_order(workspace, box), effective_order(workspace, box, 1)) == (3, 1)
    workspace.notebooks.save(box, {**conf, "sortMode": 4})
    assert effective_order(workspace, box) == 4


async def test_the_users_order_goes_by_places_and_then_the_newest_first(
    shelf: tuple[MemoryKernel, str, dict[str, str]],
) -> None:
    kernel, box, ids = shelf
    write_sort(kernel.workspace, box, {ids["a"]: 2, ids["b10"]: 1, ids["b9"]: 1})
    assert titles(kernel, box, order=SORT_CUSTOM) == "b9 b10 a"
    same_second = [await kernel.document(box, f"/s{number}", "x") for number in range(3)]
    assert len({one[:14] for one in same_second}) == 1
    write_sort(kernel.workspace, box, {})
    assert titles(kernel, box, order=SORT_CUSTOM) == "s2 s1 s0 a b9 b10"


async def test_what_is_no_document_is_not_listed(shelf: tuple[MemoryKernel, str, dict[str, str]]) -> None:
    kernel, box, ids = shelf
    files = kernel.workspace.files
    for name in ("note.txt", "title.sy", f"{GONE}.sy", "assets/a.sy"):
        files.write(f"data/{box}/{name}", b"{")
    await kernel.call("attr/setBlockAttrs", id=ids["a"], attrs={"custom-hidden": "true"})
    assert titles(kernel, box, order=0) == "b10 b9"
    assert titles(kernel, box, order=0, shows_hidden=True) == "a b10 b9"
    assert titles(kernel, box, f"/{ids['b9']}.sy") == "low"
    assert titles(kernel, box, f"/{ids['a']}.sy") == ""
    with pytest.raises(OSError, match="No such file"):
        list_documents(kernel.workspace, box, "/none")


async def test_a_document_that_no_map_knows_is_listed_as_its_file_says(
    shelf: tuple[MemoryKernel, str, dict[str, str]],
) -> None:
    kernel, box, _ = shelf
    content = {"ID": GONE, "Type": "NodeDocument", "Properties": {"id": GONE, "title": "&lt;z&gt;"}}
    kernel.workspace.files.write(f"data/{box}/{GONE}.sy", json.dumps(content).encode())
    assert titles(kernel, box, order=0) == "<z> a b10 b9"
    assert properties_at(kernel.workspace, box, f"/{GONE}.sy") == content["Properties"]
    assert properties_at(kernel.workspace, box, "/none.sy") is None


async def test_the_documents_in_a_folder_are_counted(shelf: tuple[MemoryKernel, str, dict[str, str]]) -> None:
    kernel, box, ids = shelf
    for name in ("title.sy", "note.txt", f"{ids['b9']}/broken.sy"):
        kernel.workspace.files.write(f"data/{box}/{name}", b"{")
    assert sub_file_count(kernel.workspace, box, "/") == 3
    assert sub_file_count(kernel.workspace, box, f"/{ids['b9']}") == 2
    await kernel.call("attr/setBlockAttrs", id=ids["a"], attrs={"custom-hidden": "true"})
    assert sub_file_count(kernel.workspace, box, "") == 2


async def test_a_listed_document_tells_its_times_and_sizes(kernel: MemoryKernel) -> None:
    now = kernel.clock.local()
    listed = ListedDocument(
        "20260228090000-abcdefg",
        "/20260228090000-abcdefg.sy",
        {"title": "a &amp; b", "custom-sy-title-empty": "true"},
        1200,
    )
    shown = listed.to_json(now)
    assert (shown["name"], shown["hSize"], shown["titleEmpty"]) == ("a & b", "1.2 kB", True)
    assert shown["hMtime"] == shown["hCtime"] == "2026-02-28 09:00:00, 1 day ago"
    assert now.timestamp() - shown["mtime"] == 24 * 3600
    listed = ListedDocument("no-id", "/x.sy", {"updated": "never"}, 0)
    shown = listed.to_json(now)
    assert (shown["mtime"], shown["ctime"], shown["hMtime"], shown["hCtime"], "titleEmpty" in shown) == (
        0,
        0,
        "",
        "",
        False,
    )
    assert time_of("20261301000000", now) is None


@pytest.mark.parametrize(
    ("content", "places"),
    [(b"{", {}), (b"[]", {}), (b'{"a": 1, "b": 2.0, "c": "x"}', {"a": 1, "b": 2}), (None, {})],
)
async def test_an_order_that_cannot_be_read_is_empty(
    kernel: MemoryKernel, content: bytes | None, places: dict[str, int]
) -> None:
    box = await kernel.notebook()
    if content is not None:
        kernel.workspace.files.write(f"data/{box}/.siyuan/sort.json", content)
    assert read_sort(kernel.workspace, box) == places


async def test_documents_are_put_in_an_order_and_those_not_named_follow(
    shelf: tuple[MemoryKernel, str, dict[str, str]],
) -> None:
    kernel, box, ids = shelf
    workspace = kernel.workspace
    workspace.take_events()
    write_sort(workspace, box, {})
    change_sort(workspace, box, [])
    assert read_sort(workspace, box) == {}
    change_sort(workspace, box, [f"/{ids['a']}.sy", f"/{ids['b9']}.sy"])
    places = read_sort(workspace, box)
    assert (places[ids["a"]], places[ids["b9"]]) == (1, 2)
    assert places[ids["b10"]] > 2
    (order,) = told(kernel)
    assert (order["parentPath"], order["childIDs"][:2]) == ("/", [ids["a"], ids["b9"]])
    change_sort(workspace, box, [f"/{GONE}/{GONE}.sy"])
    assert read_sort(workspace, box) == places


@pytest.mark.parametrize(
    ("at_top", "order", "places"),
    [(False, 0, [0, 1]), (True, 0, [0, -1]), (False, SORT_CUSTOM, [0, 1]), (True, SORT_CUSTOM, [0, -1])],
)
async def test_a_new_document_goes_to_the_end_or_the_top(
    kernel: MemoryKernel, at_top: bool, order: int, places: list[int]
) -> None:
    workspace = kernel.workspace
    workspace.conf.file_tree["createDocAtTop"] = at_top
    box = await kernel.notebook()
    workspace.notebooks.save(box, {**workspace.box(box).conf, "sortMode": order})
    first = await kernel.document(box, "/first", "x")
    write_sort(workspace, box, {first: 0})
    append_to_sort(workspace, box, "/", GONE)
    assert read_sort(workspace, box) == {first: places[0], GONE: places[1]}
    prepend_to_sort(workspace, box, "/", GONE)
    assert read_sort(workspace, box)[GONE] == -1
    append_to_sort(workspace, box, f"/{GONE}", first)
    assert read_sort(workspace, box)[first] == 0


async def test_a_new_document_goes_right_after_another(shelf: tuple[MemoryKernel, str, dict[str, str]]) -> None:
    kernel, box, ids = shelf
    workspace = kernel.workspace
    workspace.notebooks.save(box, {**workspace.box(box).conf, "sortMode": 0})
    workspace.take_events()
    insert_into_sort(workspace, box, f"/{ids['b10']}.sy", GONE)
    places = read_sort(workspace, box)
    assert [places[one] for one in (ids["a"], ids["b10"], GONE, ids["b9"])] == [0, 1, 2, 3]
    assert [order["childIDs"] for order in told(kernel)] == [[ids["a"], ids["b10"], ids["b9"]]]


async def test_removed_documents_lose_their_places(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    remove_from_sort(kernel.workspace, box, ["a"])
    assert not kernel.workspace.files.exists(f"data/{box}/.siyuan/sort.json")
    write_sort(kernel.workspace, box, {"a": 1, "b": 2})
    remove_from_sort(kernel.workspace, box, ["a", "c"])
    assert read_sort(kernel.workspace, box) == {"b": 2}


async def test_an_order_is_told_only_of_documents_that_are_known(
    shelf: tuple[MemoryKernel, str, dict[str, str]],
) -> None:
    kernel, _, ids = shelf
    kernel.workspace.take_events()
    tell_sort_changed(kernel.workspace, {})
    tell_sort_changed(kernel.workspace, {GONE: 1, ids["a"]: 2})
    assert told(kernel) == []
    tell_sort_changed(kernel.workspace, {GONE: 2, ids["a"]: 1})
    assert told(kernel) == [{"parentPath": "/", "childIDs": [ids["a"], GONE]}]
