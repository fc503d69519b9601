"""[core] The graph of documents, blocks and tags, whole or around one block (the graph panels).

Theory of operation. First come nodes for the blocks that pass the filters, each linked from its parent. Then the graph
grows along references, both ways, generation by generation. Links whose ends are not both there are dropped last; what
remains counts as ``refs`` and ``defs`` of its ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import apsw

from kernel.ids import is_node_id
from kernel.workspace.index.queries import blocks_by_id, rows_or_none
from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import BLOCK_COLUMNS
from kernel.workspace.nodes import TYPE_OF_SQL

GENERATIONS_MAX: Final = 16
BLOCKS_MAX: Final = 10_240
LABEL_RUNES_MAX: Final = 48
_TYPES: Final = {
    "paragraph": "p",
    "heading": "h",
    "math": "m",
    "code": "c",
    "table": "t",
    "list": "l",
    "listItem": "i",
    "blockquote": "b",
    "super": "s",
    "callout": "callout",
}
_TAG: Final = re.compile(r"#([^#\s][^#]*)#")
_DAILY_NOTE: Final = "custom-dailynote-"


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """One panel's settings, as its ``conf`` has them."""

    types: frozenset[str]
    has_tags: bool
    has_daily_notes: bool
    node_size: float
    has_arrows: bool
    refs_min: int = 0

    @classmethod
    def of(cls, conf: dict[str, Any]) -> GraphSettings:
        chosen, drawing = conf["type"], conf["d3"]
        types = frozenset(letter for name, letter in _TYPES.items() if chosen.get(name))
        return cls(
            types | {"d"},
            bool(chosen.get("tag")),
            bool(conf.get("dailyNote")),
            float(drawing["nodeSize"]),
            bool(drawing["arrow"]),
            int(conf.get("minRefs", 0)),
        )


@dataclass(slots=True)
class Graph:
    """Nodes and links as the panels take them."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)


def default_conf(*, is_local: bool) -> dict[str, Any]:
    """The settings of a fresh panel."""
    conf: dict[str, Any] = {} if is_local else {"minRefs": 0}
    types = dict.fromkeys(("tag", *_TYPES), False)
    drawing = {
        "nodeSize": 15,
        "linkWidth": 8,
        "lineOpacity": 0.36,
        "centerStrength": 0.01,
        "collideRadius": 600,
        "collideStrength": 0.08,
        "linkDistance": 400,
        "arrow": True,
    }
    return {**conf, "dailyNote": False, "type": types, "d3": drawing}


def whole_graph(connection: apsw.Connection, query: str, settings: GraphSettings, daily_dirs: Sequence[str]) -> Graph:
    """Every document, and every block of the chosen kinds that holds the query."""
    growing = _Growing(connection, settings)
    condition, values = _condition(query, settings, daily_dirs)
    rows = [row for row in _select(connection, condition, values) if settings.has_daily_notes or not _is_daily(row)]
    growing.plant(rows)
    roots = {row.id for row in rows}
    statement = "SELECT DISTINCT def_block_root_id, root_id FROM refs ORDER BY rowid"
    pairs = [(str(a), str(b)) for a, b in connection.execute(statement) if a in roots]
    references = _references(connection, condition, values)
    growing.grow(references)
    growing.link_references([*[(block, target) for target, block in pairs], *references])
    if settings.has_tags:
        growing.link_tags([*rows, *_met_again(connection, references)], "", lambda row: row.root_id)
    return growing.finished(settings.refs_min)


def local_graph(
    connection: apsw.Connection, block: BlockRow, query: str, settings: GraphSettings, daily_dirs: Sequence[str]
) -> Graph:
    """One block with what is in it, and what refers to it or is referred to, near and far."""
    growing = _Growing(connection, settings)
    condition, values = _condition(query, settings, daily_dirs)
    if block.type == "d":
        rows = _select(connection, f"{condition} AND ref.root_id = ?", (*values, block.id))
    else:
        below = (
            "ref.id IN (WITH RECURSIVE below(id) AS (SELECT ? UNION SELECT blocks.id FROM blocks "
            "JOIN below ON blocks.parent_id = below.id) SELECT id FROM below)"
        )
        rows = _select(connection, f"{condition} AND {below}", (*values, block.id))
    pairs: list[tuple[str, str]] = []
    if block.type == "d" and any(row.id == block.id for row in rows):
        rows, pairs = _with_related_documents(connection, block.id, rows)
    growing.plant([row for row in rows if settings.has_daily_notes or not _is_daily(row)])
    references = _references(connection, condition, values)
    growing.grow(references)
    growing.link_references([*pairs, *references])
    if settings.has_tags:
        growing.link_tags([*rows, *_met_again(connection, references)], block.path, lambda row: row.id)
    return growing.finished(0)


def _with_related_documents(
    connection: apsw.Connection, root_id: str, rows: list[BlockRow]
) -> tuple[list[BlockRow], list[tuple[str, str]]]:
    """The documents this one refers to and those that refer to it; each is met twice, as in the panel."""
    targets = [str(row[0]) for row in connection.execute(_ROOTS_REFERRED, (root_id,)) if row[0]]
    root = blocks_by_id(connection, [root_id])
    pairs: list[tuple[str, str]] = []
    related = list(rows)
    for target in blocks_by_id(connection, targets):
        referring = [str(row[0]) for row in connection.execute(_ROOTS_REFERRING, (target.id,))]
        related += [target, target, *blocks_by_id(connection, referring)]
        pairs += [(block, target.id) for block in referring] * 2
    referring = [str(row[0]) for row in connection.execute(_ROOTS_REFERRING, (root_id,))]
    related += [*root, *blocks_by_id(connection, referring)]
    pairs += [(block, root_id) for block in referring] * 2
    return related, pairs


_ROOTS_REFERRED: Final = "SELECT DISTINCT def_block_root_id FROM refs WHERE root_id = ?"
_ROOTS_REFERRING: Final = "SELECT root_id FROM refs WHERE def_block_root_id = ?"


class _Growing:
    """A graph under construction."""

    def __init__(self, connection: apsw.Connection, settings: GraphSettings) -> None:
        self.connection = connection
        self.settings = settings
        self.nodes: dict[str, dict[str, Any]] = {}
        self.links: list[dict[str, Any]] = []

    def plant(self, rows: Iterable[BlockRow]) -> None:
        """Nodes for rows, each linked from its parent."""
        for row in rows:
            self._add(row)
            self.links.append({"from": row.parent_id, "to": row.id, "ref": False, "arrows": None})

    def _add(self, row: BlockRow) -> None:
        if row.id in self.nodes:
            return
        text = row.name or row.content
        text = text if len(text) <= LABEL_RUNES_MAX else f"{text[:LABEL_RUNES_MAX]}..."
        kind = TYPE_OF_SQL.get(row.type, "")
        node: dict[str, Any] = {"id": row.id, "box": row.box, "path": row.path, "size": self.settings.node_size}
        if kind in ("NodeDocument", "NodeHeading"):
            node["label"] = text
        else:
            node |= {"title": text, "label": ""} if text else {"label": ""}
        self.nodes[row.id] = {**node, "type": kind, "refs": 0, "defs": 0}

    def grow(self, references: Sequence[tuple[str, str]]) -> None:
        """Follow references from the nodes at hand, both ways."""
        edge = set(self.nodes)
        for _ in range(GENERATIONS_MAX):
            reached = {target for block, target in references if block in edge}
            reached |= {block for block, target in references if target in edge}
            fresh = sorted(reached - self.nodes.keys())
            if not fresh:
                return
            for row in blocks_by_id(self.connection, fresh):
                self._add(row)
            edge = set(fresh)

    def link_references(self, references: Iterable[tuple[str, str]]) -> None:
        for block, target in references:
            arrows = {"to": {"enabled": True}} if self.settings.has_arrows else None
            self.links.append({"from": block, "to": target, "ref": True, "arrows": arrows})

    def link_tags(self, rows: Iterable[BlockRow], path: str, end: Callable[[BlockRow], str]) -> None:
        """Nodes for tags, linked to the blocks (or documents) that carry them, and to the tags above them."""
        where = " AND path = ?" if path else ""
        statement = f"SELECT content, type, block_id, root_id FROM spans WHERE type LIKE '%tag%'{where}"
        spans = list(self.connection.execute(statement, (path,) if path else ()))
        for label, kind, _, _ in spans:
            node = {"id": label, "box": "", "path": "", "size": self.settings.node_size, "label": label}
            self.nodes.setdefault(str(label), {**node, "type": kind, "refs": 0, "defs": 0})
        labels_at: dict[str, list[str]] = {}
        for label, _, block_id, root_id in spans:
            labels_at.setdefault(str(block_id if path else root_id), []).append(str(label))
        for row in rows:
            for label in labels_at.get(row.id if path else row.root_id, ()):
                self.links.append({"from": label, "to": end(row), "ref": False, "arrows": None})
        labels = {str(label) for label, _, _, _ in spans}
        for label in sorted(labels):
            for part in label.split("/")[:-1]:
                if part in labels:
                    self.links.append({"from": label, "to": part, "ref": False, "arrows": None})

    def finished(self, refs_min: int) -> Graph:
        """Count, drop what hangs loose, and keep only nodes with enough references."""
        kept = []
        for link in self.links:
            source, target = self.nodes.get(link["from"]), self.nodes.get(link["to"])
            if target is not None and link["ref"]:
                target["defs"] += 1
                target["size"] = math.log2(target["defs"]) * self.settings.node_size + self.settings.node_size
            if source is not None:
                source["refs"] += 1
            if source is not None and target is not None:
                kept.append(link)
        nodes = [node for node in self.nodes.values() if max(node["refs"], node["defs"]) >= refs_min]
        ids = {node["id"] for node in nodes}
        for node in nodes:
            node["size"] = int(node["size"]) if float(node["size"]).is_integer() else node["size"]
        return Graph(nodes, [link for link in kept if link["from"] in ids and link["to"] in ids])


def _condition(query: str, settings: GraphSettings, daily_dirs: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Which rows (called ``ref``) the query and the settings let through."""
    parts: list[str] = []
    values: list[str] = []
    if is_node_id(query):
        parts, values = ["ref.id = ?"], [query]
    else:
        tags = _TAG.findall(query)
        for word in _TAG.sub("", query).split():
            parts.append("(ref.content LIKE ? OR ref.name LIKE ? OR ref.alias LIKE ? OR ref.memo LIKE ?)")
            values += [f"%{word}%"] * 4
        for tag in tags:
            parts.append("(ref.content LIKE ? OR ref.ial LIKE ?)")
            values += [f"%#{tag}#%", f'%tags="%{tag}%"%']
    types = ", ".join("?" for _ in settings.types)
    condition = f"({' AND '.join(parts) or '1=1'}) AND ref.type IN ({types})"
    values += sorted(settings.types)
    if not settings.has_daily_notes:
        for folder in daily_dirs:
            condition += " AND ref.hpath NOT LIKE ?"
            values.append(f"{folder}%")
    return condition, tuple(values)


def _select(connection: apsw.Connection, condition: str, values: tuple[str, ...]) -> list[BlockRow]:
    columns = ", ".join(f"ref.{column}" for column in BLOCK_COLUMNS.split(", "))
    statement = f"SELECT {columns} FROM blocks AS ref WHERE {condition} ORDER BY ref.rowid LIMIT {BLOCKS_MAX}"
    return [BlockRow(*row) for row in rows_or_none(connection, statement, values)]


def _references(connection: apsw.Connection, condition: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
    """(referring block, target) for every reference whose block passes the condition and is not its own target."""
    statement = (
        "SELECT DISTINCT r.block_id, r.def_block_id FROM blocks AS ref, refs AS r "
        f"WHERE ref.id = r.block_id AND r.block_id != r.def_block_id AND {condition} ORDER BY r.rowid"
    )
    return [(str(block), str(target)) for block, target in rows_or_none(connection, statement, values)]


def _met_again(connection: apsw.Connection, references: Sequence[tuple[str, str]]) -> list[BlockRow]:
    """The blocks that references lead past: every end once, and each referring block once more per reference."""
    ends = list(dict.fromkeys(block_id for pair in references for block_id in pair))
    rows = {row.id: row for row in blocks_by_id(connection, ends)}
    return [*rows.values(), *[rows[block] for block, _ in references if block in rows]]


def _is_daily(row: BlockRow) -> bool:
    return _DAILY_NOTE in row.ial
