"""[core] A row of ``blocks`` as the Block object of search and backlink answers (siyuan-api A3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Any, Final

from kernel.workspace.index.rows import BlockRow
from kernel.workspace.marking import escaped, marked, shortened
from kernel.workspace.nodes import TYPE_OF_SQL

BEFORE_RUNES: Final = 36
_NAME_BEFORE_RUNES: Final = 256
_ATTRIBUTE: Final = re.compile(r'([^\s="]+)="([^"]*)"')


def empty_block() -> dict[str, Any]:
    """A Block with every key and nothing in it."""
    return {
        "box": "",
        "path": "",
        "hPath": "",
        "id": "",
        "rootID": "",
        "parentID": "",
        "name": "",
        "alias": "",
        "memo": "",
        "tag": "",
        "content": "",
        "fcontent": "",
        "markdown": "",
        "folded": False,
        "type": "",
        "subType": "",
        "refText": "",
        "refs": None,
        "defID": "",
        "defPath": "",
        "ial": None,
        "children": None,
        "depth": 0,
        "count": 0,
        "refCount": 0,
        "sort": 0,
        "created": "",
        "updated": "",
        "riffCardID": "",
        "riffCard": None,
    }


def block_json(
    row: BlockRow, keywords: Sequence[str] = (), *, before: int = BEFORE_RUNES, is_case_sensitive: bool = False
) -> dict[str, Any]:
    """The Block of a row, with the keywords (or snippet()'s hits) marked."""

    def shown(text: str, runes: int) -> str:
        return marked(text, keywords, runes, is_case_sensitive=is_case_sensitive)

    hpath = marked(row.hpath, (), 18)
    return {
        **empty_block(),
        "box": row.box,
        "path": row.path,
        "hPath": hpath if hpath.startswith("/") else f"/{hpath}",
        "id": row.id,
        "rootID": row.root_id,
        "parentID": row.parent_id,
        "name": shown(row.name, _NAME_BEFORE_RUNES) if row.name else "",
        "alias": shown(row.alias, _NAME_BEFORE_RUNES) if row.alias else "",
        "memo": shown(row.memo, _NAME_BEFORE_RUNES) if row.memo else "",
        "tag": shown(row.tag, before),
        "content": shortened(shown(row.content, before)),
        "fcontent": escaped(row.fcontent),
        "markdown": shortened(row.markdown),
        "type": TYPE_OF_SQL.get(row.type, ""),
        "subType": row.subtype,
        "ial": dict(_ATTRIBUTE.findall(row.ial)) if row.ial else None,
        "sort": row.sort,
    }


def without_own_title(blocks: Sequence[dict[str, Any]]) -> None:
    """A document shows the path it lies in, not its own title."""
    for block in blocks:
        if block["type"] == "NodeDocument":
            block["hPath"] = block["hPath"].removesuffix(posixpath.basename(block["hPath"]))


def with_notebook_name(blocks: Sequence[dict[str, Any]], names: dict[str, str]) -> None:
    """Paths of titles that begin with the notebook's name."""
    for block in blocks:
        block["hPath"] = names.get(block["box"], "") + block["hPath"]
