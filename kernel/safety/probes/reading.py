"""The reads that probes are made of: blocks, documents, notebooks, files, each as normalised state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from kernel.canonical import digest_bytes
from kernel.errors import ToolError
from kernel.host.base import Host
from kernel.host.progress import progress_of
from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.safety.digest import normal, seen_part
from kernel.safety.limits import BLOCKS_PER_READ_MAX, SUBTREE_DOCUMENTS_MAX
from kernel.safety.offload import Offload, ThreadOffload

State = dict[str, Any]
Arguments = Mapping[str, Any]
MISSING: Final[Mapping[str, bool]] = {"missing": True}
# Every visible direct child, in the order of the custom sort (R75).
_LISTING: Final[Mapping[str, Any]] = {
    "sort": 6,
    "maxListCount": 0,
    "showHidden": False,
    "ignoreMaxListHint": True,
}


class Reading:
    """One probe's reads on one host."""

    def __init__(self, host: Host, offload: Offload | None = None) -> None:
        self._host = host
        self._offload = offload if offload is not None else ThreadOffload()

    async def call(self, path: str, /, **arguments: Any) -> Any:
        """One host read, as it is."""
        return await self._host.call(path, arguments)

    async def file(self, path: str) -> State:
        """A workspace file as size and digest; ``missing`` where there is none."""
        content = await self._host.read_file(path)
        if content is None:
            return dict(MISSING)
        return {"size": len(content), "digest": await self._offload.run(digest_bytes, content)}

    async def file_content(self, path: str) -> bytes | None:
        """A small workspace file itself."""
        return await self._host.read_file(path)

    async def blocks(self, ids: Iterable[str]) -> dict[str, State]:
        """Each block as Kramdown, attributes and DOM (R64); ``missing`` where the live look-up knows none."""
        states: dict[str, State] = {}
        distinct = list(dict.fromkeys(ids))
        starts = range(0, len(distinct), BLOCKS_PER_READ_MAX)
        for start in progress_of(self._host).steps(starts, "Read the blocks, part"):
            states.update(await self._some_blocks(distinct[start : start + BLOCKS_PER_READ_MAX]))
        return states

    async def block(self, block_id: str) -> State:
        """One block, as in ``blocks``."""
        return (await self.blocks([block_id]))[block_id]

    async def exist(self, ids: Sequence[str]) -> dict[str, bool]:
        """Which of the ids are blocks now. What is no id is no block."""
        known = [block_id for block_id in ids if is_node_id(block_id)]
        found = await self.call("/api/block/checkBlocksExist", ids=known) if known else {}
        if not isinstance(found, dict) or any(block_id not in found for block_id in known):
            raise unreadable("whether the target exists")
        return {block_id: bool(found.get(block_id)) for block_id in ids}

    async def attributes(self, ids: Sequence[str]) -> dict[str, State]:
        """Attributes alone, of blocks that exist."""
        return await self._of_all("/api/attr/batchGetBlockAttrs", ids, "attributes")

    async def document_attributes(self, document_id: str) -> State:
        """A document's attributes, its title among them, read from its tree: the host caches those of single blocks,
        and a renamed document keeps its old title there."""
        info = await self.call("/api/block/getDocInfo", id=document_id)
        attributes = info.get("ial") if isinstance(info, dict) else None
        if not isinstance(attributes, dict):
            raise unreadable("the document's attributes")
        return dict(seen_part(attributes))

    async def place(self, document_id: str) -> State:
        """Where a document lies: notebook and storage path. Not its readable path, which the host updates later."""
        where = await self.call("/api/filetree/getPathByID", id=document_id)
        if not isinstance(where, dict):
            raise unreadable("the document's path")
        return {"notebook": where.get("notebook"), "path": where.get("path")}

    async def children(self, notebook: str, path: str) -> list[State]:
        """The visible direct child documents of a storage path (``/`` or ``/….sy``), in custom order."""
        listing = await self.call("/api/filetree/listDocsByPath", notebook=notebook, path=path, **_LISTING)
        files = listing.get("files") if isinstance(listing, dict) else None
        if not isinstance(files, list):
            raise unreadable("the child documents")
        return [
            {name: entry.get(name) for name in ("id", "path", "name", "sort", "subFileCount", "size")}
            for entry in files
        ]

    async def subtree(self, notebook: str, path: str) -> list[State]:
        """All documents below a storage path, depth first: what goes along when it is moved or removed."""
        found: list[State] = []
        waiting = [path]
        while waiting:
            for child in await self.children(notebook, waiting.pop()):
                found.append(child)
                progress_of(self._host).found("Listed the documents below")
                if len(found) > SUBTREE_DOCUMENTS_MAX:
                    raise ToolError(
                        "too_large",
                        f"More than {SUBTREE_DOCUMENTS_MAX} documents lie below the target: move or remove it in parts.",
                    )
                if child["subFileCount"]:
                    waiting.append(str(child["path"]))
        return found

    async def notebooks(self) -> list[State]:
        """All notebooks, open or not."""
        listing = await self.call("/api/notebook/lsNotebooks")
        notebooks = listing.get("notebooks") if isinstance(listing, dict) else None
        if not isinstance(notebooks, list):
            raise unreadable("the notebooks")
        return notebooks

    async def _some_blocks(self, ids: list[str]) -> dict[str, State]:
        exist = await self.exist(ids)
        there = [block_id for block_id in ids if exist[block_id]]
        states: dict[str, State] = {block_id: dict(MISSING) for block_id in ids}
        if not there:
            return states
        attributes = await self.attributes(there)
        kramdowns = await self._of_all("/api/block/getBlockKramdowns", there, "Kramdown")
        doms = await self._of_all("/api/block/getBlockDOMs", there, "DOM")
        raw = {
            block_id: {
                "attributes": attributes[block_id],
                "kramdown": kramdowns[block_id],
                "dom": doms[block_id],
            }
            for block_id in there
        }
        states.update(await self._offload.run(normal, raw))
        return states

    async def _of_all(self, path: str, ids: Sequence[str], what: str) -> dict[str, Any]:
        answer = await self.call(path, ids=list(ids))
        # A block that exists and cannot be shown is in doubt (its tree does not load), not empty.
        if not isinstance(answer, dict) or any(block_id not in answer for block_id in ids):
            raise unreadable(f"the {what} of the target")
        return answer


def unreadable(what: str) -> ToolError:
    """The host answered, and not with what makes a state."""
    return ToolError("write_safety_failed", f"The host did not tell {what}.")


def document_id(path: str) -> str:
    """The id in a storage path: ``/a/20260101000000-abcdefg.sy``."""
    return path.rsplit("/", 1)[-1].removesuffix(".sy")


def texts(value: Any) -> list[str]:
    """The texts of an argument that is one text or a list of them."""
    if isinstance(value, str):
        return [value] if value else []
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def json_object(content: bytes | None, what: str) -> State:
    """A small JSON file of the plugin; nothing and an empty file are an empty object."""
    if content is None or not content.strip():
        return {}
    try:
        value = read_json(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise unreadable(what)
    return value
