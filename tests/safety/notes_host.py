"""A note host for probe tests: two notebooks of documents and blocks, its attribute order shuffled as the kernel's is."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernel.host.base import HostApiError
from tests.safety.world import Blocks

BOX = "20260101000000-boxbox1"
CLOSED = "20260101000000-boxbox2"
PLAN = "20260101000001-plan001"
PART = "20260101000002-part001"
OTHER = "20260101000003-other01"
P1, P2, H1 = "20260101000004-para001", "20260101000005-para002", "20260101000006-head001"
STAMP = "20260101000000"


@dataclass
class Block:
    text: str
    parent: str
    inline: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass
class Document:
    title: str
    path: str
    box: str = BOX
    sort: int = 0


class NotesHost(Blocks):
    """Only what the probes read, and two writes. Every answer is made anew, in an order of its own."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.updated = STAMP
        self.documents = {
            PLAN: Document("Plan", f"/{PLAN}.sy"),
            PART: Document("Part", f"/{PLAN}/{PART}.sy"),
            OTHER: Document("Other", f"/{OTHER}.sy"),
        }
        self.blocks = {
            P1: Block("Alpha", PLAN, attributes={f"custom-{letter}": letter for letter in "abcde"}),
            P2: Block("Beta", PLAN),
            H1: Block("Part", OTHER),
        }
        self.stale_paths: dict[str, list[str]] = {}
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, Any] = {}
        self.notebooks = {BOX: "Box", CLOSED: "Closed"}
        self.configurations = {
            BOX: {"name": "Box", "sortMode": 6, "sort": 0},
            CLOSED: {"name": "Closed", "sortMode": 15},
        }

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        given = dict(arguments or {})
        self.counts[path] = self.counts.get(path, 0) + 1
        if path in self.answers:
            answer = self.answers[path]
            if isinstance(answer, Exception):
                raise answer
            return answer(given) if callable(answer) else answer
        handler = getattr(self, path.rsplit("/", 1)[-1])
        return handler(**given)

    async def read_file(self, path: str) -> bytes | None:
        self.counts["read " + path] = self.counts.get("read " + path, 0) + 1
        return self.files.get(path)

    # --- reads ---

    def checkBlocksExist(self, ids: list[str]) -> dict[str, bool]:
        return {name: name in self.blocks or name in self.documents for name in ids}

    def batchGetBlockAttrs(self, ids: list[str]) -> dict[str, Any]:
        return {name: dict(self._shuffled(self._attributes(name))) for name in ids}

    def getBlockKramdowns(self, ids: list[str]) -> dict[str, str]:
        return {name: self._kramdown(name) for name in ids}

    def getBlockDOMs(self, ids: list[str]) -> dict[str, str]:
        return {name: self._dom(name) for name in ids}

    def getBlockSiblingID(self, id: str) -> dict[str, str]:
        siblings = (
            [name for name, block in self.blocks.items() if block.parent == self.blocks[id].parent]
            if id in self.blocks
            else [id]
        )
        place = siblings.index(id)
        return {
            "parent": self.blocks[id].parent if id in self.blocks else "",
            "previous": siblings[place - 1] if place else "",
            "next": siblings[place + 1] if place + 1 < len(siblings) else "",
        }

    def getChildBlocks(self, id: str) -> list[dict[str, str]]:
        return [
            {"id": name, "type": "p", "markdown": block.text}
            for name, block in self.blocks.items()
            if block.parent == id
        ]

    def getRefIDs(self, id: str) -> dict[str, Any]:
        return {"refDefs": [{"refID": P2, "defIDs": [id]}], "originalRefBlockIDs": {}}

    def lsNotebooks(self) -> dict[str, Any]:
        return {
            "notebooks": [
                {
                    "id": name,
                    "name": title,
                    "icon": "",
                    "closed": name == CLOSED,
                    "sortMode": 15,
                    "sort": self.random.random(),
                }
                for name, title in self.notebooks.items()
            ]
        }

    def getNotebookConf(self, notebook: str) -> dict[str, Any]:
        return {"box": notebook, "name": self.notebooks[notebook], "conf": self.configurations[notebook]}

    def getDocInfo(self, id: str) -> dict[str, Any]:
        return {
            "id": id,
            "ial": dict(self._shuffled({**self._attributes(id), "scroll": str(self.random.random())})),
            "refCount": 1,
        }

    def getPathByID(self, id: str) -> dict[str, str]:
        return {"notebook": self.documents[id].box, "path": self.documents[id].path}

    def getIDsByHPath(self, notebook: str, path: str) -> list[str]:
        found = [
            name for name, document in self.documents.items() if document.box == notebook and self._hpath(name) == path
        ]
        return found + self.stale_paths.get(path, [])

    def listDocsByPath(self, notebook: str, path: str, **_options: Any) -> dict[str, Any]:
        if notebook == CLOSED:
            raise HostApiError(-1, "Query notebook failed")
        folder = path.removesuffix(".sy").rstrip("/") + "/"
        inside = [
            (name, document)
            for name, document in self.documents.items()
            if document.box == notebook and document.path.startswith(folder) and "/" not in document.path[len(folder) :]
        ]
        inside.sort(key=lambda pair: pair[1].sort)
        return {
            "box": notebook,
            "path": path,
            "files": [
                {
                    "id": name,
                    "path": document.path,
                    "name": document.title,
                    "sort": document.sort,
                    "size": 100 + sum(len(block.text) for block in self.blocks.values() if block.parent == name),
                    "subFileCount": sum(
                        other.path.startswith(document.path.removesuffix(".sy") + "/")
                        for other in self.documents.values()
                    ),
                    "mtime": self.random.random(),
                }
                for name, document in inside
            ],
        }

    # --- writes ---

    def updateBlock(self, id: str, data: str, **_options: Any) -> list[Any]:
        self.blocks[id].text = data
        self.updated = STAMP[:-1] + str(int(self.updated[-1]) + 1)
        return []

    def setBlockAttrs(self, id: str, attrs: dict[str, str]) -> None:
        self.blocks[id].attributes.update(attrs)

    # --- parts ---

    def _hpath(self, name: str) -> str:
        ids = [part.removesuffix(".sy") for part in self.documents[name].path.strip("/").split("/")]
        return "/" + "/".join(self.documents[part].title for part in ids)

    def _attributes(self, name: str) -> dict[str, str]:
        if name in self.documents:
            return {"id": name, "updated": self.updated, "title": self.documents[name].title, "type": "doc"}
        return {"id": name, "updated": self.updated, **self.blocks[name].attributes}

    def _shuffled(self, attributes: Mapping[str, str]) -> list[tuple[str, str]]:
        pairs = list(attributes.items())
        self.random.shuffle(pairs)
        return pairs

    def _list(self, name: str) -> str:
        return "{: " + " ".join(f'{key}="{value}"' for key, value in self._shuffled(self._attributes(name))) + "}"

    def _children(self, name: str) -> list[str]:
        return [child for child, block in self.blocks.items() if block.parent == name]

    def _kramdown(self, name: str) -> str:
        if name in self.documents:
            return "\n\n".join([*(self._kramdown(child) for child in self._children(name)), self._list(name)])
        block = self.blocks[name]
        return f"{block.text}{block.inline}\n{self._list(name)}"

    def _dom(self, name: str) -> str:
        attributes = self._shuffled({**self._attributes(name), "data-node-id": name, "class": "p"})
        opening = "<div " + " ".join(f'{key}="{value}"' for key, value in attributes) + ">"
        if name in self.documents:
            return opening + "".join(self._dom(child) for child in self._children(name)) + "</div>"
        return f"{opening}{self.blocks[name].text}{self.blocks[name].inline}</div>"
