"""[core] Who refers to a block, and who only mentions it (siyuan-api A7).

``linked`` and ``mentioned`` ask the index; what they find is shown by document (``paths``) or rendered by the caller.
A reference in the only paragraph of an item, quote, super block or callout stands for that container.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any, Final

import apsw

from kernel.workspace.block_json import block_json
from kernel.workspace.index.queries import blocks_by_id
from kernel.workspace.index.rows import BlockRow
from kernel.workspace.marking import enclosed
from kernel.workspace.notebooks import compare_names, natural_key
from kernel.workspace.search import SearchSettings

BEFORE_RUNES: Final = 12
MENTION_KEYWORDS_MAX: Final = 512
_CONTAINERS: Final = frozenset({"i", "b", "s", "callout"})
_MENTIONING: Final = "('d', 'h', 'p', 't')"
_REFERENCE: Final = re.compile(r"\(\(\d{14}-[0-9a-z]{7} ['\"].*?['\"]\)\)")
_NAMED: Final = ("name", "alias", "memo", "tag")
NAME_ASC, NAME_DESC, UPDATED_ASC, UPDATED_DESC, ALPHANUM_ASC, ALPHANUM_DESC = 0, 1, 2, 3, 4, 5
CREATED_ASC, CREATED_DESC = 9, 10


@dataclass(slots=True)
class Linked:
    """The blocks that refer to a definition."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0
    # Blocks (and documents) that refer already: they are no mentions.
    referring_ids: set[str] = field(default_factory=set)
    # Container that stands for a paragraph → that paragraph.
    originals: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Mentioned:
    """The blocks that hold a definition's name without referring to it, newest first, and the names they hold."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)


def definition(connection: apsw.Connection, block_id: str) -> BlockRow | None:
    """The block that is asked about."""
    return next(iter(blocks_by_id(connection, [block_id])), None)


def linked(
    connection: apsw.Connection, target: BlockRow, keywords: Sequence[str], *, with_children: bool, root_id: str = ""
) -> Linked:
    """The references to a block, or with children to anything below it; of one document if ``root_id`` is given."""
    refs = _references(connection, target, with_children=with_children)
    rows = {row.id: row for row in blocks_by_id(connection, [ref_id for pair in refs for ref_id in pair])}
    pairs = [
        (rows[def_id], rows[block_id])
        for def_id, block_id in refs
        if def_id in rows and block_id in rows and (not root_id or rows[block_id].root_id == root_id)
    ]
    found = Linked()
    found.referring_ids.update(row.id for _, row in pairs if row.root_id == target.root_id)
    pairs = [pair for pair in pairs if pair[0].root_id == target.root_id]
    found.referring_ids.update(row.id for _, row in pairs)
    stood_for = _stood_for(connection, pairs, found, keywords)
    for def_row, row in pairs:
        if row.type == "p" and row.parent_id in stood_for:
            continue
        block = block_json(row, before=BEFORE_RUNES)
        if not matches(block, keywords):
            found.count -= 1
            continue
        block["defID"], block["defPath"] = def_row.id, def_row.path
        found.blocks.append(block)
    return found


def _references(connection: apsw.Connection, target: BlockRow, *, with_children: bool) -> list[tuple[str, str]]:
    """(definition, referring block), each referring block once."""
    chosen = "def_block_id = ?"
    if with_children and target.type == "d":
        chosen = "def_block_id IN (SELECT id FROM blocks WHERE root_id = ?)"
    elif with_children:
        chosen = (
            "def_block_id IN (WITH RECURSIVE below(id) AS (SELECT ? UNION SELECT blocks.id FROM blocks "
            "JOIN below ON blocks.parent_id = below.id) SELECT id FROM below)"
        )
    pairs: dict[str, str] = {}
    statement = f"SELECT def_block_id, block_id FROM refs WHERE {chosen} ORDER BY rowid"
    for def_id, block_id in connection.execute(statement, (target.id,)):
        pairs.setdefault(str(block_id), str(def_id))
    return [(def_id, block_id) for block_id, def_id in pairs.items()]


def _stood_for(
    connection: apsw.Connection, pairs: list[tuple[BlockRow, BlockRow]], found: Linked, keywords: Sequence[str]
) -> set[str]:
    """Put the containers of referring paragraphs among the blocks; the ids of those containers."""
    paragraphs = [row for _, row in pairs if row.type == "p"]
    found.count = len(pairs) - len(paragraphs) + len({row.parent_id for row in paragraphs})
    standing: set[str] = set()
    for parent, paragraph, is_first in containers_of(connection, paragraphs):
        found.originals[parent.id] = paragraph.id
        if is_first:
            standing.add(parent.id)
        block = block_json(parent, before=BEFORE_RUNES)
        if not matches(block, keywords):
            found.count -= 1
        elif is_first:
            found.blocks.append(block)
    return standing


def containers_of(
    connection: apsw.Connection, paragraphs: Iterable[BlockRow]
) -> Iterator[tuple[BlockRow, BlockRow, bool]]:
    """The containers of referring paragraphs: (container, paragraph, whether the container stands for it)."""
    of_parent = {row.parent_id: row for row in paragraphs}
    for parent in blocks_by_id(connection, list(of_parent)):
        if parent.type in _CONTAINERS:
            paragraph = of_parent[parent.id]
            has_own_text = parent.type == "i" and parent.fcontent != paragraph.content and _has_more(paragraph)
            yield parent, paragraph, not has_own_text


def _has_more(paragraph: BlockRow) -> bool:
    """Whether a paragraph says anything besides its references."""
    return bool(_REFERENCE.sub("", paragraph.markdown).strip())


def matches(block: dict[str, Any], keywords: Sequence[str]) -> bool:
    """Whether a block holds one of the keywords in any of its texts."""
    if not keywords:
        return True
    texts = (block["content"], posixpath.basename(block["hPath"]), *(block[name] for name in _NAMED))
    return any(keyword.lower() in text.lower() for keyword in keywords for text in texts)


# --- mentions -------------------------------------------------------------------------------------------------
def mentioned(
    connection: apsw.Connection,
    target: BlockRow,
    found: Linked,
    keyword: str,
    conf: dict[str, Any],
    *,
    before: int = BEFORE_RUNES,
) -> Mentioned:
    """Blocks of other documents that hold a name of the target. ``conf``: the search section of the settings;
    ``before``: how many characters of a text stay before what is marked in it."""
    settings = SearchSettings.of(conf)
    names = _names(connection, target, found, conf)
    if not names:
        return Mentioned()
    match = "{" + " ".join(settings.columns) + "}:(" + " OR ".join(_quoted(name) for name in names) + ")"
    if keyword:
        match += f" AND ({_quoted(keyword)})"
    statement = (
        f"SELECT * FROM blocks_fts WHERE blocks_fts MATCH ? AND root_id != ? AND type IN {_MENTIONING} "
        f"ORDER BY id DESC LIMIT {settings.limit}"
    )
    try:
        rows = [BlockRow(*row) for row in connection.execute(statement, (match, target.root_id))]
    except apsw.Error:
        return Mentioned()
    result = Mentioned()
    shown_words = [*names, *([keyword] if keyword else [])]
    for row in rows:
        hits = _mentions(row.markdown, names)
        if not hits and not {row.name, row.alias, row.memo}.intersection(names):
            continue
        result.keywords += [hit for hit in hits if hit not in result.keywords]
        if row.id not in found.referring_ids:
            result.blocks.append(block_json(row, shown_words, before=before))
    for block in result.blocks:
        content = block["content"].lower()
        block["refText"] = next((hit for hit in result.keywords if hit.lower() in content), "")
    result.blocks.sort(key=lambda block: str(block["id"]), reverse=True)
    return result


def _names(connection: apsw.Connection, target: BlockRow, found: Linked, conf: dict[str, Any]) -> list[str]:
    """What a mention may call the target, the longest first."""
    names: list[str] = []
    if conf.get("backlinkMentionName", True):
        names += _root_names(connection, target, "name")
    if conf.get("backlinkMentionAlias", False):
        names += [alias for entry in _root_names(connection, target, "alias") for alias in entry.split(",")]
    if target.type == "d" and conf.get("backlinkMentionDoc", True):
        names.append(posixpath.basename(target.hpath))
    if conf.get("backlinkMentionAnchor", True):
        statement = "SELECT content FROM refs WHERE def_block_id = ? AND block_id = ?"
        for block in found.blocks:
            names += [str(row[0]) for row in connection.execute(statement, (block["defID"], block["id"]))]
    kept = [name for name in dict.fromkeys(names) if name not in ("", "*")]
    return sorted(kept, key=lambda name: -len(name.encode()))[:MENTION_KEYWORDS_MAX]


def _root_names(connection: apsw.Connection, target: BlockRow, column: str) -> list[str]:
    if target.type != "d":
        return [value] if (value := str(getattr(target, column))) else []
    statement = f"SELECT DISTINCT {column} FROM blocks WHERE root_id = ? AND {column} != ''"
    return [str(row[0]) for row in connection.execute(statement, (target.id,))]


def _mentions(markdown: str, names: Sequence[str]) -> list[str]:
    """The names in the text outside references as they are written there: whole words, where they are words of ASCII
    letters and digits only."""
    words = []
    for name in names:
        boundary = r"\b" if re.fullmatch(r"[A-Za-z0-9]+", name) else ""
        words.append(f"{boundary}{re.escape(name)}{boundary}")
    pattern = f"(?:{'|'.join(words)})(?![A-Za-z])"
    return [found.group() for found in re.finditer(pattern, _REFERENCE.sub(" ", markdown), re.IGNORECASE)]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# --- by document ----------------------------------------------------------------------------------------------
def paths(connection: apsw.Connection, blocks: Sequence[dict[str, Any]], *, with_blocks: bool) -> list[dict[str, Any]]:
    """The documents of the blocks, the newest id first."""
    by_root: dict[str, list[dict[str, Any]]] = {}
    for block in blocks:
        block["depth"] = 1
        by_root.setdefault(block["rootID"], []).append(block)
    shown = []
    for root in blocks_by_id(connection, list(by_root)):
        path = {
            "id": root.id,
            "box": root.box,
            "name": posixpath.basename(root.hpath),
            "hPath": root.hpath,
            "type": "backlink",
            "nodeType": "NodeDocument",
            "subType": "",
            "depth": 0,
            "count": len(by_root[root.id]),
            "folded": False,
            "updated": root.updated,
            "created": root.created,
        }
        if with_blocks:
            path["blocks"] = by_root[root.id]
        shown.append(path)
    return sorted(shown, key=lambda path: str(path["id"]), reverse=True)


def path_tree(connection: apsw.Connection, blocks: Sequence[dict[str, Any]], keyword: str) -> list[dict[str, Any]]:
    """The older panel's form: items and headings are branches of their own, other blocks leaves."""
    shown = []
    for path in reversed(paths(connection, blocks, with_blocks=True)):
        leaves, branches = [], []
        for block in path.pop("blocks"):
            block["content"] = enclosed(block["content"], [keyword]) if keyword else block["content"]
            if block["type"] in ("NodeListItem", "NodeHeading"):
                branches.append(_branch(block))
            else:
                leaves.append(block)
        path |= {"hPath": "", "updated": "", "created": ""}
        if leaves:
            path["blocks"] = leaves
        if branches:
            path["children"] = branches
        shown.append(path)
    return shown


def _branch(block: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": block["id"],
        "box": block["box"],
        "name": block["fcontent"] or block["content"],
        "hPath": "",
        "type": "backlink",
        "nodeType": block["type"],
        "subType": block["subType"],
        "depth": 1,
        "count": 1,
        "folded": False,
        "updated": "",
        "created": "",
    }


def sorted_paths(shown: list[dict[str, Any]], mode: int) -> list[dict[str, Any]]:
    """Documents in the order the panel is set to."""
    by_name = cmp_to_key(compare_names)
    keys: dict[int, Any] = {
        UPDATED_DESC: lambda path: path["updated"],
        UPDATED_ASC: lambda path: path["updated"],
        CREATED_DESC: lambda path: path["created"],
        CREATED_ASC: lambda path: path["created"],
        NAME_DESC: lambda path: by_name(path["name"]),
        NAME_ASC: lambda path: by_name(path["name"]),
        ALPHANUM_DESC: lambda path: natural_key(path["name"]),
        ALPHANUM_ASC: lambda path: natural_key(path["name"]),
    }
    if mode not in keys:
        return shown
    return sorted(shown, key=keys[mode], reverse=mode in (UPDATED_DESC, CREATED_DESC, NAME_DESC, ALPHANUM_DESC))
