"""Users' SQL: what is run, what it is called, what is refused. Recorded from the real kernel unless said otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from kernel.workspace.index import statements
from kernel.workspace.index.schema import create, prepare
from kernel.workspace.index.spelling import respelled, tokens
from kernel.workspace.index.statements import StatementFailed, StatementRefused, Unencodable


@pytest.fixture
def reader(request: pytest.FixtureRequest) -> Iterator[apsw.Connection]:
    name = f"file:/statements{id(request)}?vfs=memdb"
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    writer = prepare(apsw.Connection(name, flags=flags))
    create(writer)
    rows = [(f"id{number:03d}", "d" if number == 0 else "p", f"text {number}", number) for number in range(80)]
    writer.executemany("INSERT INTO blocks(id, type, content, length) VALUES (?, ?, ?, ?)", rows)
    opened = prepare(apsw.Connection(name, flags=flags), is_reader=True)
    yield opened
    opened.close()
    writer.close()


def run(reader: apsw.Connection, statement: str, mode: str = "") -> list[dict[str, Any]] | None:
    statements.check(statement, mode)
    return statements.run(reader, statement, mode, statements.ROWS_DEFAULT)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("count(*)", "count(*)"),
        ("COUNT( * )", "COUNT(*)"),
        ("max(length)", 'max("length")'),
        ("substr(id,1,4)", 'substr("id", 1, 4)'),
        ("1+1", "1 + 1"),
        ("1 + 2*3", "1 + 2 * 3"),
        ("(1+2)", "(1 + 2)"),
        ("-1", "-1"),
        ("'a'||'b'", "'a' || 'b'"),
        ("1==1", "1 = 1"),
        ("1<>2", "1 != 2"),
        ("not 1", "NOT 1"),
        ("cast('1' as int)", "CAST('1' AS int)"),
        ("exists(select 1)", "EXISTS (SELECT 1)"),
        ("1 in (1,2)", "1 IN (1, 2)"),
        ("case when 1 then 2 end", "CASE WHEN 1 THEN 2 END"),
        ("count(distinct type)", 'count(DISTINCT "type")'),
        ("current_date is not null", '"current_date" IS NOT NULL'),
        ("regexp('a','cat')", "regexp('a', 'cat')"),
        ("row_number() over ()", "row_number() OVER ()"),
        ("content collate nocase", "content collate nocase"),
        ("nope", '"nope"'),
        ("content", "content"),
    ],
)
def test_a_column_without_a_name_is_called_as_the_kernel_spells_it(
    reader: apsw.Connection, expression: str, name: str
) -> None:
    rows = run(reader, f"select {expression} from blocks limit 1")
    assert rows is not None
    assert list(rows[0]) == [name]


def test_a_name_that_is_no_column_is_a_text(reader: apsw.Connection) -> None:
    assert run(reader, "select nope from blocks limit 1") == [{'"nope"': "nope"}]


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("select id from blocks", 64),
        ("select id from blocks;", 64),
        ("select id from blocks -- all of them", 64),
        ("with x as (select id from blocks) select * from x", 64),
        ("select id from blocks union all select id from blocks", 64),
        ("select id from blocks limit 70", 70),
        ("select id from blocks where id in (select id from blocks limit 3)", 3),
        ("select 'limit 5' as s from blocks", 64),
        ("select id from blocks limit 0", 0),
    ],
)
def test_a_query_without_a_limit_of_its_own_gets_one(reader: apsw.Connection, statement: str, count: int) -> None:
    rows = run(reader, statement)
    assert rows is not None
    assert len(rows) == count


@pytest.mark.parametrize(
    "statement",
    [
        "insert into blocks (id) values ('x')",
        "update blocks set content = 'x'",
        "delete from blocks",
        "create table t1 (a)",
        "drop table blocks",
        "vacuum",
        "begin",
        "attach 'x' as y",
        "pragma query_only = off",
        "pragma wal_checkpoint",
        "-- only a comment",
    ],
)
def test_a_write_is_answered_with_null_and_changes_nothing(reader: apsw.Connection, statement: str) -> None:
    assert run(reader, statement) is None
    assert run(reader, "select count(*) as c from blocks") == [{"c": 80}]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("selec type", 'near "selec": syntax error'),
        ("select * from nope", "no such table: nope"),
        ("insert into nope values (1)", "no such table: nope"),
        ("select 'unclosed", 'unrecognized token: "\'unclosed"'),
        ("select readfile('/etc/passwd')", "no such function: readfile"),
        ("values (1),(2)", 'near "LIMIT": syntax error'),
        ("bad", 'near "bad": syntax error'),
    ],
)
def test_what_sqlite_refuses_is_told_in_its_words(reader: apsw.Connection, statement: str, message: str) -> None:
    with pytest.raises(StatementFailed, match="^" + message.replace("(", r"\(").replace("'", "'") + "$"):
        run(reader, statement)


@pytest.mark.parametrize(
    ("statement", "mode", "message"),
    [
        ("select 1; select 2", "", "SQL statement is not single"),
        ("select 1; select 2", "readonly", "SQL statement is not single"),
        ("delete from blocks", "readonly", "SQL statement is not a read-only query"),
        ("explain select 1", "readonly", "SQL statement is not a read-only query"),
        ("select * from nope", "readonly", "no such table: nope"),
        ("select 1", "zzz", r"unknown \[mode\]"),
    ],
)
def test_modes_refuse_what_they_do_not_allow(reader: apsw.Connection, statement: str, mode: str, message: str) -> None:
    with pytest.raises(StatementRefused, match=f"^{message}$"):
        run(reader, statement, mode)


@pytest.mark.parametrize(
    "statement",
    ["select 1;--x", "select ';'", "select 1 /* ; */", "select [a;b] from (select 1 as [a;b])", "select 1;;"],
)
def test_a_semicolon_in_a_text_or_at_the_end_makes_no_second_statement(statement: str) -> None:
    assert not statements.has_several(statement)


def test_of_several_statements_only_the_first_is_run(reader: apsw.Connection) -> None:
    assert run(reader, "select 1 as a; delete from blocks", "multiple") == [{"a": 1}]
    assert run(reader, "select count(*) as c from blocks") == [{"c": 80}]


def test_a_fault_while_stepping_ends_the_rows_early(reader: apsw.Connection) -> None:
    assert run(reader, "select abs(-9223372036854775808)") == []


def test_values_become_what_json_can_say(reader: apsw.Connection) -> None:
    row = run(reader, "select 1.5 as f, 2.0 as whole, null as n, x'00ff' as b, 1e300 as large")
    assert row == [{"f": 1.5, "whole": 2, "n": None, "b": "AP8=", "large": 1e300}]
    with pytest.raises(Unencodable):
        run(reader, "select 1e400 as infinite")


def test_of_columns_with_one_name_the_last_counts(reader: apsw.Connection) -> None:
    assert run(reader, "select 1 as a, 2 as a") == [{"a": 2}]


def test_pragmas_that_only_tell_are_answered(reader: apsw.Connection) -> None:
    rows = run(reader, "pragma table_info(spans)")
    assert rows is not None
    assert [row["name"] for row in rows][:3] == ["id", "block_id", "root_id"]


def test_text_that_cannot_be_read_is_not_respelled() -> None:
    assert tokens("select \x00") is None
    assert respelled(tokens("select a -> 'b'") or []) is None


def test_what_the_kernels_parser_refuses_is_cut_off_behind_the_limit(reader: apsw.Connection) -> None:
    rows = run(reader, "select '[1]' -> 0 as a, id from blocks")
    assert rows is not None
    assert len(rows) == 65
