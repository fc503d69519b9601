"""The index of the texts of asset files."""

from __future__ import annotations

import pytest

from kernel.workspace.asset_contents import TABLE, TEXT_BYTES_MAX, AssetContents, AssetFile, is_text, shown_name
from kernel.workspace.index.statements import StatementRefused
from kernel.workspace.search import KEYWORD, QUERY_SYNTAX, REGEX, SQL

NOTES = AssetFile("assets/field notes-20240101000000-abcdefg.txt", 21, 1_700_000_000)
SCRIPT = AssetFile("assets/run.PY", 11, 1_700_000_100)


@pytest.fixture
def contents() -> AssetContents:
    contents = AssetContents()
    assert contents.stale([NOTES, SCRIPT]) == [NOTES, SCRIPT]
    contents.put(NOTES, b"quartz & words\ninside")
    contents.put(SCRIPT, b"print quartz quartz")
    return contents


@pytest.mark.parametrize(
    ("path", "size", "is_one"),
    [
        ("assets/a.txt", TEXT_BYTES_MAX, True),
        ("assets/a.txt", TEXT_BYTES_MAX + 1, False),
        ("assets/a.MD", 1, True),
        ("assets/a.png", 1, False),
        ("assets/a", 1, False),
    ],
)
def test_files_of_some_suffixes_up_to_a_size_are_texts(path: str, size: int, is_one: bool) -> None:
    assert is_text(AssetFile(path, size, 0)) is is_one


def test_an_upload_is_shown_without_its_id() -> None:
    assert shown_name(NOTES.path) == "field notes.txt"
    assert shown_name("assets/run.PY") == "run.PY"


@pytest.mark.parametrize(
    ("method", "query", "paths"),
    [
        (KEYWORD, " quartz words ", [NOTES.path]),
        (KEYWORD, "quartz nothing", []),
        (KEYWORD, "", []),
        (KEYWORD, "field", [NOTES.path]),
        (QUERY_SYNTAX, "quartz NOT words", [SCRIPT.path]),
        (QUERY_SYNTAX, "(", []),
        (REGEX, "^pr.nt", [SCRIPT.path]),
        (REGEX, "(", []),
    ],
)
def test_each_method_finds_by_its_own_rules(contents: AssetContents, method: int, query: str, paths: list[str]) -> None:
    found, count = contents.search(query, None, method, 2, 1, 10)
    assert ([one.path for one in found], count) == (paths, len(paths))


def test_kinds_order_and_pages_are_the_callers(contents: AssetContents) -> None:
    def paths(types: frozenset[str] | None, order_by: int, page: int = 1, page_size: int = 10) -> list[str]:
        return [one.path for one in contents.search("quartz", types, KEYWORD, order_by, page, page_size)[0]]

    assert paths(None, 2) == [NOTES.path, SCRIPT.path]
    assert paths(None, 3) == [SCRIPT.path, NOTES.path]
    assert paths(None, 1) == list(reversed(paths(None, 0)))
    assert paths(frozenset({".py"}), 0) == [SCRIPT.path]
    assert paths(frozenset(), 0) == []
    assert paths(None, 2, page=2, page_size=1) == [SCRIPT.path]


def test_a_hit_is_shown_with_its_words_marked(contents: AssetContents) -> None:
    ((hit,), _) = contents.search("words", None, KEYWORD, 0, 1, 10)
    assert hit.content == "quartz & __@mark__words__mark@__\ninside"
    assert (hit.name, hit.ext, hit.size, hit.updated) == ("field notes.txt", ".txt", 21, 1_700_000_000)
    for query, method, content in (
        ("inside", KEYWORD, "quartz & words\n__@mark__inside__mark@__"),
        ("inside OR words", QUERY_SYNTAX, "quartz & __@mark__words__mark@__\n__@mark__inside__mark@__"),
        ("inside", SQL, "quartz & words\ninside"),
        ("", KEYWORD, "quartz & words\ninside"),
    ):
        shown = contents.by_id(hit.id, query, method)
        assert shown is not None
        assert shown.content == content
    assert contents.by_id(hit.id, "(", QUERY_SYNTAX) is None
    assert contents.by_id("20240101000000-unknown", "", KEYWORD) is None
    by_path = contents.by_path(NOTES.path)
    assert by_path is not None
    assert by_path.id == hit.id
    assert contents.by_path("assets/none.txt") is None


def test_what_is_gone_is_forgotten_and_what_has_changed_is_read_anew_under_its_id(contents: AssetContents) -> None:
    before = contents.by_path(NOTES.path)
    changed = AssetFile(NOTES.path, 7, NOTES.updated + 1)
    assert contents.stale([changed]) == [changed]
    contents.put(changed, b"granite\xff")
    assert contents.search("quartz", None, KEYWORD, 0, 1, 10) == ([], 0)
    after = contents.by_path(NOTES.path)
    assert before is not None
    assert after is not None
    assert (after.id, after.content) == (before.id, "granite\ufffd")
    assert contents.stale([changed]) == []


@pytest.mark.parametrize(
    ("rest", "paths", "count"),
    [
        ("WHERE name LIKE '%run%';", [SCRIPT.path], 1),
        ("ORDER BY updated", [NOTES.path], 2),
        ("ORDER BY updated LIMIT 1 OFFSET 1", [SCRIPT.path], 2),
        ("WHERE name = 'none'", [], 0),
        (f"WHERE {TABLE} MATCH '('", [], 0),
    ],
)
def test_a_statement_of_the_callers_finds_whole_rows(
    contents: AssetContents, rest: str, paths: list[str], count: int
) -> None:
    found, total = contents.search(f"SELECT * FROM {TABLE} {rest}", None, SQL, 0, 1, 1)
    assert ([one.path for one in found], total) == (paths, count)


def test_a_statement_for_less_than_rows_finds_nothing_and_one_of_other_tables_is_refused(
    contents: AssetContents,
) -> None:
    assert contents.search(f"SELECT path FROM {TABLE}", None, SQL, 0, 1, 10) == ([], 0)
    with pytest.raises(StatementRefused):
        contents.search("SELECT * FROM blocks", None, SQL, 0, 1, 10)
