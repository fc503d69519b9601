"""/api/search: assets, templates and widgets by name, assets by content."""

from __future__ import annotations

import json

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

ASSET = "assets/field notes-20240101000000-abcdefg.txt"


@pytest.fixture
def library(kernel: MemoryKernel) -> MemoryKernel:
    files = kernel.workspace.files
    files.write(f"data/{ASSET}", b"quartz & words\ninside")
    files.write("data/assets/notes.png", b"not a text")
    files.write("data/assets/.hidden.txt", b"quartz")
    return kernel


async def test_assets_are_found_by_name_without_their_id(library: MemoryKernel) -> None:
    found = await library.call("search/searchAsset", k="NOTES")
    assert {(one["path"], one["hName"]) for one in found} == {
        (ASSET, "field <mark>notes</mark>.txt"),
        ("assets/notes.png", "<mark>notes</mark>.png"),
    }
    assert [one["path"] for one in await library.call("search/searchAsset", k="notes", exts=[".PNG"])] == [
        "assets/notes.png"
    ]
    assert len(await library.call("search/searchAsset", k="", exts=[])) == 2
    assert await library.call("search/searchAsset", k="none") == []


@pytest.mark.parametrize(
    ("method", "query", "count"),
    [(0, "quartz words", 1), (0, "quartz nothing", 0), (1, "quartz NOT nothing", 1), (1, "(", 0), (3, "q.artz", 1)],
)
async def test_texts_are_searched_by_each_method(library: MemoryKernel, method: int, query: str, count: int) -> None:
    answer = await library.call("search/fullTextSearchAssetContent", query=query, method=method)
    assert (answer["matchedAssetCount"], len(answer["assetContents"]), answer["pageCount"]) == (count, count, count)


_ALL = "SELECT * FROM asset_contents_fts_case_insensitive"


@pytest.mark.parametrize(
    ("statement", "page", "hits", "count"),
    [
        (f"{_ALL} WHERE content LIKE '%quartz%'", 1, 1, 1),
        (f"{_ALL} WHERE content LIKE '%quartz%'", 2, 0, 0),
        (f" {_ALL} LIMIT 5 ;", 1, 1, 1),
        (f"{_ALL} LIMIT 5 OFFSET 1", 1, 0, 0),
        (f"{_ALL} WHERE name MATCH '('", 1, 0, 0),
        ("SELECT id FROM asset_contents_fts_case_insensitive", 1, 0, 0),
        (_ALL.replace("*", "id, name, ext, path, size, updated, content"), 1, 1, 0),
    ],
)
async def test_texts_are_found_by_a_statement_of_the_callers_own(
    library: MemoryKernel, statement: str, page: int, hits: int, count: int
) -> None:
    asked = {"query": statement, "method": 2, "page": page}
    answer = await library.call("search/fullTextSearchAssetContent", **asked)
    assert (len(answer["assetContents"]), answer["matchedAssetCount"]) == (hits, count)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("quartz", "SQL statement is not a read-only query"),
        ("", "SQL statement is empty"),
        ("DELETE FROM asset_contents_fts_case_insensitive", "SQL statement is not a read-only query"),
        ("SELECT 1; SELECT 2", "SQL statement is not single"),
        ("SELECT nope FROM asset_contents_fts_case_insensitive", "no such column: nope"),
    ],
)
async def test_a_statement_that_does_not_only_read_is_refused(
    library: MemoryKernel, statement: str, words: str
) -> None:
    told = await library.refusal("search/fullTextSearchAssetContent", query=statement, method=2)
    assert told == words
    assert (await library.call("search/fullTextSearchAssetContent", query="quartz"))["matchedAssetCount"] == 1


async def test_a_text_is_shown_whole_with_its_hits(library: MemoryKernel) -> None:
    answer = await library.call("search/fullTextSearchAssetContent", query="quartz", types={".txt": True})
    (found,) = answer["assetContents"]
    assert (found["name"], found["ext"], found["hSize"]) == ("field notes.txt", ".txt", "21 B")
    assert found["content"].startswith("<mark>quartz</mark> &amp; words")
    shown = await library.call("search/getAssetContent", id=found["id"], query="inside", queryMethod=0)
    assert shown["assetContent"]["content"] == "quartz &amp; words<br><mark>inside</mark>"
    shown = await library.call("search/getAssetContentByPath", path=f" {ASSET} ")
    assert shown["assetContent"]["id"] == found["id"]
    nothing = await library.call("search/fullTextSearchAssetContent", query="quartz", types={".txt": False})
    assert nothing["assetContents"] == []


async def test_changed_and_removed_texts_are_seen(library: MemoryKernel) -> None:
    search = {"query": "quartz"}
    assert (await library.call("search/fullTextSearchAssetContent", **search))["matchedAssetCount"] == 1
    library.clock.advance(5)
    library.workspace.files.write(f"data/{ASSET}", b"granite")
    assert (await library.call("search/fullTextSearchAssetContent", **search))["matchedAssetCount"] == 0
    library.workspace.files.remove(f"data/{ASSET}")
    assert (await library.call("search/fullTextSearchAssetContent", query="granite"))["matchedAssetCount"] == 0


async def test_templates_are_found_by_path_and_only_templates_are_removed(kernel: MemoryKernel) -> None:
    files = kernel.workspace.files
    for path in ("one.md", "pack/deep/two.md", "pack/README.md", ".hidden/x.md", "note.txt"):
        files.write(f"data/templates/{path}", b"text")
    answer = await kernel.call("search/searchTemplate", k="")
    assert [one["relativePath"] for one in answer["templates"]] == ["one.md", "pack/deep/two.md"]
    (found,) = (await kernel.call("search/searchTemplate", k="tw deep"))["templates"]
    assert found["content"] == "/pack/<mark>deep</mark>/<mark>tw</mark>o"
    await kernel.call("search/removeTemplate", path=found["path"])
    await kernel.call("search/removeTemplate", path=files.absolute("conf/conf.json"))
    assert not files.exists("data/templates/pack/deep/two.md")
    assert files.exists("conf/conf.json")


async def test_widgets_are_found_by_both_names(kernel: MemoryKernel) -> None:
    files = kernel.workspace.files
    manifest = {"name": "clock", "displayName": {"en_US": "Wall clock"}}
    files.write("data/widgets/clock/widget.json", json.dumps(manifest).encode())
    files.write("data/widgets/plain/widget.json", b'{"name": "plain"}')
    files.write("data/widgets/broken/widget.json", b"{")
    answer = await kernel.call("search/searchWidget", k="WALL")
    assert answer["widgets"] == [{"name": "Wall clock", "content": "clock"}]
    assert [one["content"] for one in (await kernel.call("search/searchWidget", k=""))["widgets"]] == ["clock", "plain"]


async def test_without_an_embedding_model_no_meaning_is_found(kernel: MemoryKernel) -> None:
    assert (await kernel.call("search/semanticSearchBlock", query="x"))["blocks"] == []
