"""Pure text work: windows, edits, statements, patterns, results."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.errors import ToolError
from kernel.host.base import HostApiError, HostHttpError, HostUnavailable
from kernel.tools import markdown_input, results
from kernel.tools.block_content import created_ids
from kernel.tools.failures import from_host
from kernel.tools.fs_search import matcher
from kernel.tools.replacing import Edit, TextBlock, edits_of, plan
from kernel.tools.sql_guard import NotOneSelect, checked_select
from kernel.tools.windows import clean, fidelity, headings, tokens_of, window


def paragraphs(*texts: str) -> list[dict[str, Any]]:
    return [{"id": f"p{i}", "type": "p", "markdown": text} for i, text in enumerate(texts)]


# --- windows ---


def test_a_window_holds_whole_blocks_within_its_budget() -> None:
    blocks = paragraphs("a" * 40, "b" * 40, "c" * 40)
    page = window(blocks, {"tokenBudget": 21}, {"action": "read", "path": "/x"})
    assert page["content"] == "a" * 40 + "\n\n" + "b" * 40
    assert (page["returnedBlocks"], page["totalBlocks"], page["hasNextWindow"]) == (2, 3, True)
    assert page["nextWindow"] == {"action": "read", "path": "/x", "blockStart": 2, "blockLimit": 50, "tokenBudget": 21}
    rest = window(blocks, {"blockStart": 2}, {})
    assert (rest["content"], rest["hasNextWindow"], "nextWindow" in rest) == ("c" * 40, False, False)


def test_the_first_block_is_given_even_above_the_budget() -> None:
    page = window(paragraphs("x" * 100, "y"), {"tokenBudget": 1}, {})
    assert (page["returnedBlocks"], page["budgetExceeded"]) == (1, True)


def test_a_start_behind_the_end_gives_an_empty_window() -> None:
    page = window(paragraphs("a"), {"blockStart": 9}, {})
    assert (page["content"], page["returnedBlocks"], page["truncated"]) == ("", 0, False)


def test_a_window_names_headings_of_the_whole_text_and_ids_on_demand() -> None:
    blocks = [
        {"id": "h", "type": "h", "subType": "h2", "content": "Head", "markdown": "## Head"},
        {"id": "l", "type": "l", "subType": "u", "markdown": "- a"},
    ]
    page = window(blocks, {"blockLimit": 1, "blockStart": 1, "includeBlockIds": True}, {})
    assert page["outline"] == [{"blockIndex": 0, "level": 2, "title": "Head", "id": "h"}]
    assert page["blockRefs"] == [{"blockIndex": 1, "id": "l", "type": "l"}]


def test_a_text_that_is_no_document_has_an_outline_outside_its_code() -> None:
    text = "# One\n\n```\n# code\n```\n\n### Two ##\n#none\n"
    assert headings(text) == [
        {"blockIndex": 0, "level": 1, "title": "One"},
        {"blockIndex": 0, "level": 3, "title": "Two"},
    ]


@settings(deadline=None)
@given(st.lists(st.text(max_size=60), max_size=8), st.integers(1, 40), st.integers(1, 5))
def test_windows_put_together_are_the_whole_text(texts: list[str], budget: int, limit: int) -> None:
    blocks = paragraphs(*texts)
    seen = []
    start: int | None = 0
    while start is not None:
        page = window(blocks, {"blockStart": start, "blockLimit": limit, "tokenBudget": budget}, {})
        seen.append(page["content"])
        start = page["nextWindow"]["blockStart"] if page["hasNextWindow"] else None
    whole = "\n\n".join(filter(None, (clean(text) for text in texts)))
    assert "\n\n".join(filter(None, seen)) == whole


def test_tokens_count_utf16_units() -> None:
    assert [tokens_of(text) for text in ("", "abcd", "abcde", "😀😀", "创建文档/日记后主动设图标")] == [0, 1, 2, 1, 4]


def test_blocks_that_markdown_cannot_carry_are_pointed_out() -> None:
    assert fidelity(paragraphs("a")) == {}
    assert fidelity([{"type": "s"}, {"type": "av"}, {"type": "s"}])["complexBlockTypes"] == ["s", "av"]


# --- edits ---


def blocks_of(*texts: str) -> list[TextBlock]:
    return [TextBlock(f"p{i}", text) for i, text in enumerate(texts)]


def test_an_edit_takes_the_first_hit_or_all() -> None:
    first = plan("x", blocks_of("a b a", "a"), [Edit("a", "c", False)])
    assert [(b.id, b.markdown) for b in first.changed] == [("p0", "c b a")]
    every = plan("x", blocks_of("a b a", "a"), [Edit("a", "c", True)])
    assert every.replacements == [{"index": 1, "replaced": 3, "replace_all": True}]
    assert [b.markdown for b in every.changed] == ["c b c", "c"]


def test_edits_build_on_each_other_and_one_miss_refuses_all() -> None:
    done = plan("x", blocks_of("a"), [Edit("a", "b", False), Edit("b", "c", False)])
    assert done.changed[0].markdown == "c"
    with pytest.raises(ToolError) as caught:
        plan("x", blocks_of("a"), [Edit("a", "b", False), Edit("zzz", "c", False)])
    assert caught.value.code == "no_match"
    assert "edit #2" in caught.value.message


@pytest.mark.parametrize(
    "arguments", [{"edit": {"old": "a", "new": "b"}, "old": "a"}, {"old": ""}, {"old": "a"}, {"old": 5, "new": "x"}]
)
def test_edits_must_be_given_in_one_form(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError):
        edits_of(arguments)


def test_the_shorthand_is_one_edit() -> None:
    assert edits_of({"old": "a", "new": "b", "replace_all": True}) == [Edit("a", "b", True)]


# --- SQL ---


@pytest.mark.parametrize(
    ("statement", "taken"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT 1; -- end", "SELECT 1"),
        ("SELECT ';' AS a", "SELECT ';' AS a"),
        ("/* c */ SELECT 'a' AS a;", "/* c */ SELECT 'a' AS a"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"),
        ("SELECT * FROM b WHERE type='d'", "SELECT * FROM b WHERE type='d'"),
        ("select 'delete from x'", "select 'delete from x'"),
    ],
)
def test_one_select_is_taken(statement: str, taken: str) -> None:
    assert checked_select(statement) == taken


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "UPDATE blocks SET content='x'",
        "SELECT 1; SELECT 2",
        "DELETE FROM blocks",
        "PRAGMA table_info(blocks)",
        "VALUES (1)",
        "WITH x AS (SELECT 1) DELETE FROM x",
        "WITH x AS (VALUES (1)) VALUES (2)",
        "/* SELECT */ DROP TABLE x",
        "-- SELECT\nATTACH 'x' AS y",
    ],
)
def test_anything_else_is_refused(statement: str) -> None:
    with pytest.raises(NotOneSelect):
        checked_select(statement)


# --- patterns ---


def test_text_is_matched_without_case_unless_asked() -> None:
    assert matcher("ALPHA", is_regex=False, is_cased=False)("an alpha")
    assert not matcher("ALPHA", is_regex=False, is_cased=True)("an alpha")
    assert matcher("al(pha|ef)", is_regex=True, is_cased=False)("ALEF")


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a*)*", "(?:(x+)y?)+", "((ab)*c*)+", "(", "a{9999999999}", "x" * 1001])
def test_patterns_that_are_wrong_or_might_run_for_ever_are_refused(pattern: str) -> None:
    with pytest.raises(ToolError):
        matcher(pattern, is_regex=True, is_cased=True)


@pytest.mark.parametrize("pattern", ["a+b*c?", "(ab)?c+", r"\d{4}-\d{2}", "[a-z]+|x{2}", "(?i:ab)c*", "(a|b)+c"])
def test_ordinary_patterns_pass(pattern: str) -> None:
    hit = matcher(pattern, is_regex=True, is_cased=True)("abc 2024-01 xx")
    assert bool(hit) == (re.search(pattern, "abc 2024-01 xx") is not None)


# --- input ---


def test_dom_text_gets_elements_and_attributes_stay() -> None:
    written = markdown_input.dom("<div title=\"#no#\">see ((20240101000000-abcdefg 'x')) #tag#</div>")
    assert 'title="#no#"' in written.text
    assert '<span data-type="block-ref" data-subtype="s" data-id="20240101000000-abcdefg">x</span>' in written.text
    assert '<span data-type="tag">tag</span>' in written.text
    with pytest.raises(ToolError):
        markdown_input.dom("<div>((20240101000000-abcdefg))</div>")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("## Head *bold*", "Head bold"),
        ('{: id="20240101000000-abcdefg"}', ""),
        ("- [ ] do ((20240101000000-abcdefg 'it')) [now](x)", "do it now"),
        ("it's", "it’s"),
    ],
)
def test_an_anchor_is_made_of_readable_words(line: str, words: str) -> None:
    assert markdown_input.readable(line) == words


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [("# T\n\nbody", "T", "body"), ("# T", "T", ""), ("# Other", "T", "# Other"), ("x", "", "x")],
)
def test_a_heading_that_repeats_the_title_is_left_out(text: str, title: str, rest: str) -> None:
    assert markdown_input.without_title(text, title) == rest


def test_the_blocks_of_an_insert_are_read_from_its_dom() -> None:
    dom = '<div data-node-id="a"><div data-node-id="x"><br>t</div><img></div><div data-node-id="b"></div>'
    assert created_ids({"data": dom}) == ["a", "b"]


# --- results ---


def test_a_read_answers_the_slimmed_value_twice_and_a_write_the_whole_structure() -> None:
    read = results.success([{"id": "a", "icon": "x", "sort": 1}], key="notebook.list", is_write=False)
    assert (json.loads(read.content[0]["text"]), read.structured) == ([{"id": "a"}], {"value": [{"id": "a"}]})
    payload = {"success": True, "id": "a", "dataType": "markdown", "safety": {"writeSafetyMode": "strict"}}
    write = results.success(payload, key="block.update", is_write=True)
    assert json.loads(write.content[0]["text"]) == {"success": True, "id": "a", "safety": payload["safety"]}
    assert write.structured == payload


def test_hits_keep_where_and_what_and_rows_of_sql_pass_whole() -> None:
    hit = {"id": "a", "type": "p", "hPath": "/x", "box": "n", "content": "c", "plainContent": "p"}
    assert results.slim([hit]) == [{"id": "a", "type": "p", "hPath": "/x", "plainContent": "p"}]
    rows = {"data": [{"content": "c", "box": "n"}]}
    assert results.success(rows, key="search.query_sql", is_write=False).structured == rows
    assert results.slim("text") == "text"
    assert results.success("plain", key="x.y", is_write=False).content[0]["text"] == "plain"


def test_slimming_can_be_switched_off() -> None:
    value = [{"icon": "x"}]
    assert results.success(value, key="a.b", is_write=False, slims=False).structured == {"value": value}


@pytest.mark.parametrize(
    ("page", "size", "data", "shown", "more"),
    [(1, 2, [0, 1], 1, True), (3, 2, [4], 3, False), (9, 2, [4], 3, False), (1, 50, [0, 1, 2, 3, 4], 1, False)],
)
def test_a_page_past_the_end_is_the_last_one(page: int, size: int, data: list[int], shown: int, more: bool) -> None:
    result = results.page_of(range(5), page, size, path="/x")
    assert (result["data"], result["page"], result["hasNextPage"], result["path"]) == (data, shown, more, "/x")
    assert results.page_of([], 1, 5)["pageCount"] == 1


# --- failures of the host ---


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HostApiError(-1, "notebook [x] not found"), "notebook_not_found"),
        (HostApiError(-1, "block not found"), "block_not_found"),
        (HostApiError(-1, "attribute view not found"), "av_not_found"),
        (HostApiError(-1, "Query notebook failed"), "api_error"),
        (HostHttpError(200, "html"), "host_malformed"),
        (HostHttpError(302, ""), "host_malformed"),
        (HostHttpError(401, ""), "host_unauthorized"),
        (HostHttpError(403, ""), "host_unauthorized"),
        (HostHttpError(429, "busy"), "host_unavailable"),
        (HostHttpError(502, "bad gateway"), "host_unavailable"),
        (HostUnavailable("reset"), "host_unavailable"),
        (HostUnavailable("reset", is_ambiguous=True), "outcome_unknown"),
    ],
)
def test_the_hosts_words_become_codes(error: Any, code: str) -> None:
    assert from_host(error).code == code
