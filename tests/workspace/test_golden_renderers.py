"""What the real kernel answered for recorded documents, computed here from the recorded ``.sy``: SQL rows, exports, counts, outlines.

``SISYPHUS_GOLDEN`` names a folder with more recordings than the selection that comes with the tests.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernel.workspace import sy
from kernel.workspace.index.rows import Rows, Surroundings, document_rows
from kernel.workspace.render.counts import total
from kernel.workspace.render.export import ExportOptions, ExportSources, export_markdown, front_matter
from kernel.workspace.render.outline import OutlineHeading, outline
from kernel.workspace.tree import Node, Tree

_RECORDINGS = Path(os.environ.get("SISYPHUS_GOLDEN", Path(__file__).parent.parent / "golden" / "recordings"))
_ATTRIBUTE = re.compile(r'[\w:.-]+="[^"]*"')


@dataclass
class Recording:
    """One recorded document and the answers about it."""

    tree: Tree
    nodes: dict[str, Node]
    exchanges: list[dict[str, Any]]

    def answers(self, path: str) -> Iterator[tuple[dict[str, Any], dict[str, str], Any]]:
        """(arguments, saved names, data) of every recorded call of a path."""
        for exchange in self.exchanges:
            step = exchange["step"]
            if step.get("post") == path:
                yield step["json"], exchange.get("names", {}), exchange["result"]["json"]["data"]


def _load(path: Path) -> Recording | None:
    exchanges = json.loads(path.read_text())["exchanges"]
    for exchange in exchanges:
        body = exchange["result"].get("json")
        if exchange["step"].get("post") == "/api/file/getFile" and isinstance(body, dict) and "Type" in body:
            names = exchange["names"]
            root = sy.decode(json.dumps(body).encode())
            tree = Tree(root, box=names["nb"], path=f"/{names['doc']}.sy", hpath="/Doc")
            return Recording(tree, {node.id: node for node in root.walk() if node.id}, exchanges)
    return None


def _recordings() -> list[Any]:
    paths = sorted((*_RECORDINGS.glob("md-*.json"), *_RECORDINGS.glob("doc2-*.json")))
    return [pytest.param(path, id=path.stem) for path in paths]


@pytest.fixture(params=_recordings())
def recording(request: pytest.FixtureRequest) -> Recording:
    loaded = _load(request.param)
    if loaded is None:
        pytest.skip("the kernel made no document of this input")
    return loaded


def _comparable(row: dict[str, Any]) -> str:
    """The recorded kernel shuffles the attributes of a block from call to call."""
    shown = dict(row)
    if isinstance(shown.get("ial"), str):
        shown["ial"] = sorted(_ATTRIBUTE.findall(shown["ial"]))
    return json.dumps(shown, sort_keys=True, ensure_ascii=False)


def _blocks(rows: Rows) -> list[dict[str, Any]]:
    by_id = {row.id: row for row in rows.blocks}
    shown = []
    for row in rows.blocks:
        parent = by_id.get(row.parent_id)
        columns = "type subtype content fcontent markdown length sort name alias memo tag ial hpath".split()
        values = {column: getattr(row, column) for column in columns}
        values["ptype"] = parent.type if parent else None
        values["ptext"] = parent.content[:30] if parent else None
        shown.append(values)
    return shown


_TABLES: dict[str, Callable[[Rows], list[dict[str, Any]]]] = {
    "from blocks b": _blocks,
    "from spans": lambda rows: [
        {"content": row.content, "markdown": row.markdown, "type": row.type, "ial": row.ial} for row in rows.spans
    ],
    "from refs": lambda rows: [
        {"def_block_id": row.def_block_id, "content": row.content, "markdown": row.markdown, "type": row.type}
        for row in rows.refs
    ],
    "from attributes": lambda rows: [
        {"name": row.name, "value": row.value, "type": row.type} for row in rows.attributes
    ],
}


def test_rows_of_a_document_are_those_of_the_kernel(recording: Recording) -> None:
    rows = document_rows(recording.tree, Surroundings())
    for arguments, _, data in recording.answers("/api/query/sql"):
        for table, columns in _TABLES.items():
            if table in arguments["stmt"]:
                assert Counter(map(_comparable, columns(rows))) == Counter(map(_comparable, data or []))


def test_export_is_that_of_the_kernel(recording: Recording) -> None:
    root = recording.tree.root

    def query(statement: str) -> list[Node]:
        found = re.search(r"id\s*=\s*'([^']+)'", statement)
        node = recording.nodes.get(found.group(1)) if found else None
        return [node] if node is not None else []

    sources = ExportSources(node_of=recording.nodes.get, query=query)
    for arguments, _, data in recording.answers("/api/export/exportMdContent"):
        if arguments["id"] != "${doc}":
            continue
        options = ExportOptions(
            ref_mode=arguments.get("refMode", 4),
            embed_mode=arguments.get("embedMode", 1),
            adds_title=arguments.get("addTitle", True),
        )
        head = front_matter(root, _instant) if arguments.get("yfm", True) else ""
        assert head + export_markdown(root, root, options, sources) == data["content"]


def _instant(stamp: str) -> str:
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[8:10]}:{stamp[10:12]}:{stamp[12:14]}Z"


def test_word_counts_are_those_of_the_kernel(recording: Recording) -> None:
    for arguments, names, data in recording.answers("/api/block/getBlocksWordCount"):
        ids = [
            names.get(block_id[2:-1], "") if block_id.startswith("${") else block_id for block_id in arguments["ids"]
        ]
        known = [recording.nodes[block_id] for block_id in ids if block_id in recording.nodes]
        assert total(known).stat(len(ids)) == data["stat"]


def test_outline_is_that_of_the_kernel(recording: Recording) -> None:
    for arguments, _, data in recording.answers("/api/outline/getDocOutline"):
        if arguments["id"] == "${doc}":
            assert _ours(outline(recording.tree.root)) == _recorded(data or [])


def _ours(headings: list[OutlineHeading]) -> list[Any]:
    return [(heading.id, f"h{heading.level}", heading.name, _ours(heading.children)) for heading in headings]


def _recorded(headings: list[dict[str, Any]]) -> list[Any]:
    return [
        (
            heading["id"],
            heading["subType"],
            heading["name"] if heading["type"] == "outline" else heading["content"],
            _recorded(heading.get("blocks") or heading.get("children") or []),
        )
        for heading in headings
    ]
