"""A notebook with a document that shows databases, in a kernel in memory: what the tests of views act on."""

from __future__ import annotations

from typing import Any

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

    async def stored(self, database: str = AV) -> dict[str, Any]:
        return dict((await self.kernel.call("av/getAttributeView", id=database))["av"])

    async def field(self, field_id: str) -> dict[str, Any]:
        view = (await self.show())["view"]
        return next(one for one in view["columns"] if one["id"] == field_id)


def primary_texts(cells: list[dict[str, Any]]) -> list[str]:
    return [cell["value"]["block"]["content"] for cell in cells if cell["valueType"] == "block"]
