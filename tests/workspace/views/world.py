"""A notebook with a document that shows databases, in a kernel in memory: what the tests of views act on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.transactions import perform
from kernel.workspace.views.moments import unix_ms
from tests.siyuan.kernel_in_memory import MemoryKernel

AV = "20240101000000-avavav1"
OTHER = "20240101000000-avavav2"
ITEMS = ["20240101000000-item001", "20240101000000-item002", "20240101000000-item003"]


def key_id(kind: str) -> str:
    return f"20240101000000-{kind.lower()[:7].ljust(7, '0')}"


class Databases:
    """A notebook with a document that shows one database (two, if asked for)."""

    def __init__(self, kernel: MemoryKernel) -> None:
        self.kernel = kernel
        self.block = self.other = self.document = ""

    async def open(self, *, texts: tuple[str, ...] = ()) -> Databases:
        box = await self.kernel.notebook()
        shown = "\n\n".join(
            f'<div data-type="NodeAttributeView" data-av-id="{one}" data-av-type="table"></div>' for one in (AV, OTHER)
        )
        self.document = await self.kernel.document(box, "/Base", "\n\n".join([shown, *texts]))
        self.block, self.other, *self.texts = await self.kernel.children(self.document)
        for database, block in ((AV, self.block), (OTHER, self.other)):
            await self.kernel.call("av/renderAttributeView", id=database, blockID=block)
        return self

    async def add(self, *contents: str, database: str = AV, **more: Any) -> None:
        sources = [
            {"itemID": item, "isDetached": True, "content": text} for item, text in zip(ITEMS, contents, strict=False)
        ]
        block = self.block if database == AV else self.other
        await self.kernel.call("av/addAttributeViewBlocks", avID=database, blockID=block, srcs=sources, **more)

    async def key(self, kind: str, *, database: str = AV, previous: str = "") -> str:
        await self.kernel.call(
            "av/addAttributeViewKey",
            avID=database,
            keyID=key_id(kind),
            keyName=kind,
            keyType=kind,
            keyIcon="",
            previousKeyID=previous,
        )
        return key_id(kind)

    async def put(self, kind: str, item: str, value: Any, *, database: str = AV) -> dict[str, Any]:
        answer = await self.kernel.call(
            "av/setAttributeViewBlockAttr", avID=database, keyID=key_id(kind), itemID=item, value=value
        )
        return dict(answer["value"])

    async def show(self, database: str = AV, **more: Any) -> dict[str, Any]:
        block = self.block if database == AV else self.other
        return dict(await self.kernel.call("av/renderAttributeView", id=database, blockID=block, **more))

    async def rows(self, **more: Any) -> list[str]:
        """The texts of the primary cells, in order."""
        view = (await self.show(**more))["view"]
        return [text for row in view["rows"] for text in primary_texts(row["cells"])]

    async def operate(self, action: str, **more: Any) -> dict[str, Any]:
        """One operation of a transaction, as it comes back."""
        operation = {"action": action, "avID": AV, "blockID": self.block, **more}
        transactions = [{"doOperations": [operation], "undoOperations": []}]
        done = await self.kernel.call("transactions", transactions=transactions, reqId=1, app="a", session="s")
        return dict(done[0]["doOperations"][0])

    def refusal(self, action: str, **more: Any) -> str | None:
        """What an operation of a transaction is refused with; None if it is not."""
        operation = Operation(**{"action": action, "avID": AV, "blockID": self.block, **more})
        return perform(self.kernel.workspace, Transaction([operation], []), tells_errors=False)

    async def bind(self, item: str, block: str) -> None:
        """Add an item that stands for a block."""
        source = {"itemID": item, "isDetached": False, "id": block}
        await self.kernel.call("av/addAttributeViewBlocks", avID=AV, blockID=self.block, srcs=[source])

    async def stored(self, database: str = AV) -> dict[str, Any]:
        return dict((await self.kernel.call("av/getAttributeView", id=database))["av"])

    def rewrite(self, change: Callable[[dict[str, Any]], None], database: str = AV) -> None:
        """Change the file of a database behind the kernel's back."""
        path = f"data/storage/av/{database}.json"
        data = json.loads(self.kernel.workspace.files.read(path))
        change(data)
        self.kernel.workspace.files.write(path, json.dumps(data).encode())

    async def values(self, column: str, database: str = AV) -> dict[str, dict[str, Any]]:
        """Item → what the file says that it holds for a key."""
        columns = (await self.stored(database))["keyValues"]
        found = next(one for one in columns if one["key"]["id"] == column)
        return {value["blockID"]: value for value in found.get("values") or ()}

    async def primary(self, database: str = AV) -> str:
        """The id of the primary key."""
        return str(
            next(one for one in (await self.stored(database))["keyValues"] if one["key"]["type"] == "block")["key"][
                "id"
            ]
        )

    async def field(self, field_id: str) -> dict[str, Any]:
        view = (await self.show())["view"]
        return next(one for one in view["columns"] if one["id"] == field_id)


def primary_texts(cells: list[dict[str, Any]]) -> list[str]:
    return [cell["value"]["block"]["content"] for cell in cells if cell["valueType"] == "block"]


# --- values ----------------------------------------------------------------------------------------------------------
def number(content: float) -> dict[str, Any]:
    return {"number": {"content": content, "isNotEmpty": True}}


def text(content: str, kind: str = "text") -> dict[str, Any]:
    return {kind: {"content": content}}


def chosen(*names: str) -> dict[str, Any]:
    return {"mSelect": [{"content": name, "color": str(index + 1)} for index, name in enumerate(names)]}


def date(when: datetime) -> dict[str, Any]:
    return {"date": {"content": unix_ms(when), "isNotEmpty": True}}


def ticked(checked: bool = True) -> dict[str, Any]:
    return {"checkbox": {"checked": checked}}


def assets(*names: str, kind: str = "file") -> dict[str, Any]:
    return {"mAsset": [{"type": kind, "name": name, "content": f"assets/{name}"} for name in names]}


def said(value: dict[str, Any] | None) -> Any:
    """What a value says for its type, short."""
    if value is None:
        return None
    kind = "mSelect" if value["type"] == "select" else value["type"]
    content = value.get(kind)
    if content is None:
        return None
    match kind:
        case "number" | "date" | "created" | "updated":
            return content["formattedContent"]
        case "mSelect" | "mAsset":
            return [one["content"] for one in content]
        case "checkbox":
            return content["checked"]
        case "relation":
            return content["blockIDs"]
        case "rollup":
            return [said(one) for one in content["contents"] or ()]
        case _:
            return content["content"]


# --- what is done with them ------------------------------------------------------------------------------------------
async def filled(av: Databases, kind: str, *values: Any, items: Iterable[str] = ("one", "two", "three")) -> str:
    """Three items, the first ones with a value of a key."""
    await av.key(kind)
    await av.add(*items)
    for item, value in zip(ITEMS, values, strict=False):
        await av.put(kind, item, value)
    return key_id(kind)


async def filter_by(av: Databases, *conditions: dict[str, Any], combination: str = "and") -> list[str]:
    root = {"combination": combination, "filters": list(conditions)}
    await av.kernel.call("av/setAttrViewFilters", avID=AV, blockID=av.block, data=[root])
    return await av.rows()


async def sort_by(av: Databases, *rules: tuple[str, str]) -> list[str]:
    """Sort by (key, order) one after the other: the items."""
    data = [{"column": column, "order": order} for column, order in rules]
    await av.kernel.call("av/setAttrViewSorts", avID=AV, blockID=av.block, data=data)
    return await av.rows()


async def grouped(av: Databases, column: str, **rule: Any) -> dict[str, list[str]]:
    """Group by a key: the items of each group, by its name."""
    answer = await av.kernel.call(
        "av/setAttrViewGroup", avID=AV, blockID=av.block, group={"field": column, "method": 0, "order": 0, **rule}
    )
    return by_group(answer["view"])


def by_group(view: dict[str, Any]) -> dict[str, list[str]]:
    return {group["name"]: [row["id"][-1] for row in group["rows"]] for group in view["groups"]}


async def cell(av: Databases, item: str, column: str, database: str = AV) -> dict[str, Any]:
    rows = (await av.show(database))["view"]["rows"]
    row = next(one for one in rows if one["id"] == item)
    return dict(next(one["value"] for one in row["cells"] if one["value"]["keyID"] == column))


async def calculated(av: Databases, column: str, *operators: str) -> dict[str, Any]:
    """What a view calculates below a field, operator by operator."""
    results = {}
    for operator in operators:
        await av.operate("setAttrViewColCalc", id=column, data={"operator": operator})
        result = (await av.field(column))["calc"]["result"]
        kind = next((name for name in ("number", "date", "created", "updated") if (result or {}).get(name)), "")
        results[operator] = result[kind]["formattedContent"] if kind else None
    return results


async def relate(av: Databases, *, is_two_way: bool = False) -> None:
    """Lead the key of relations to the other database, and back if asked for."""
    await av.key("relation")
    way = {"isTwoWay": is_two_way, "backRelationKeyID": key_id("back"), "name": "Back", "format": "Relation"}
    await av.operate("updateAttrViewColRelation", id=OTHER, keyID=key_id("relation"), **way)


async def related(av: Databases, *, is_two_way: bool = True) -> None:
    """Items one and two of this database; the other has two with numbers; one is related to both of them."""
    await av.add("one", "two")
    await av.add("left", "right", database=OTHER)
    await av.key("number", database=OTHER)
    for item, content in ((ITEMS[0], 3), (ITEMS[1], 4)):
        await av.put("number", item, number(content), database=OTHER)
    await relate(av, is_two_way=is_two_way)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})


async def roll_up(av: Databases, target: str, operator: str = "") -> None:
    """Let the key of rollups gather a key of the other database."""
    place = {"parentID": key_id("relation"), "keyID": target, "data": {"calc": {"operator": operator}}}
    await av.operate("updateAttrViewColRollup", id=key_id("rollup"), **place)
