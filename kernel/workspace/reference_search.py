"""[core] What a reference may mean while it is being typed. Source: siyuan-api A6, and the recorded kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import apsw

from kernel.ids import is_node_id
from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import BLOCK_COLUMNS
from kernel.workspace.search import (
    FULL_TEXT_TABLE,
    SearchQuery,
    SearchSettings,
    block_rows,
    quoted_query,
    snippets,
    type_condition,
    visible_query,
)

_OFFERED_MAX: Final = 32


def search_for_reference(
    connection: apsw.Connection, keyword: str, settings: SearchSettings, used: Mapping[str, int]
) -> list[BlockRow]:
    """Blocks that a reference may mean: targets for an empty keyword, else those that hold it.

    ``used``: which blocks were referred to, and when: the last ones come first.
    """
    kinds = type_condition(SearchQuery(""), settings)
    if not keyword:
        statement = (
            f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE {kinds} AND id IN "
            "(SELECT def_block_id FROM refs WHERE type <> 'query_embed' ORDER BY id DESC)"
        )
        rows = block_rows(connection, statement)
        return sorted(rows, key=lambda row: -used.get(row.id, 0))[:_OFFERED_MAX]
    text = visible_query(keyword)
    if found := re.search(r"\d{14}-[0-9a-z]{7}", text):
        return block_rows(
            connection, f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE id = ? LIMIT {_OFFERED_MAX}", (found.group(),)
        )
    columns = "{" + " ".join(settings.columns) + "}"
    like = f"%{text}%"
    cases = (
        ("name = ?", text, 10),
        ("alias = ?", text, 20),
        ("memo = ?", text, 30),
        ("content = ? AND type = 'd'", text, 40),
        ("content LIKE ? AND type = 'd'", like, 41),
        ("name LIKE ?", like, 50),
        ("alias LIKE ?", like, 60),
        ("content = ? AND type = 'h'", text, 70),
        ("content LIKE ? AND type = 'h'", like, 71),
        ("fcontent = ? AND type = 'i'", text, 80),
        ("fcontent LIKE ? AND type = 'i'", like, 81),
        ("memo LIKE ?", like, 90),
        ("content LIKE ? AND type NOT IN ('i', 'l')", like, 100),
    )
    order = " ".join(f"WHEN {when} THEN {rank}" for when, _, rank in cases)
    statement = (
        f"SELECT {snippets(64)} FROM {FULL_TEXT_TABLE} WHERE {FULL_TEXT_TABLE} MATCH ? AND {kinds} "
        f"ORDER BY {_last_first(used)}CASE {order} ELSE 65535 END ASC, sort ASC, length ASC LIMIT {settings.limit}"
    )
    try:
        return block_rows(
            connection, statement, (f"{columns}:({quoted_query(text)})", *[value for _, value, _ in cases])
        )
    except apsw.Error:
        return []


def _last_first(used: Mapping[str, int]) -> str:
    """The piece of an order that puts blocks first that were referred to last."""
    known = sorted(filter(is_node_id, used), key=lambda block_id: (used[block_id], block_id), reverse=True)
    ranks = " ".join(f"WHEN '{block_id}' THEN {rank}" for rank, block_id in enumerate(known))
    return f"CASE id {ranks} ELSE {len(known)} END ASC, " if known else ""
