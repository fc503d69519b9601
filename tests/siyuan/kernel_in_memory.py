"""A kernel in memory, called in process: no sockets, no disk, a clock that stands still, the same ids every time."""

from __future__ import annotations

from typing import Any

from kernel.clock import ManualClock
from kernel.ids import SeededIds
from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.durable import Durable, write_inline
from kernel.siyuan.kernel import Call, SiyuanKernel
from kernel.siyuan.push import PushHub, PushSession
from kernel.workspace.file_backends import MemoryBackend
from kernel.workspace.files import Files
from kernel.workspace.workspace import Workspace


class MemoryKernel:
    """One kernel; ``backend`` is its disk, ``frames`` what its main window has been told."""

    def __init__(self, backend: MemoryBackend | None = None) -> None:
        self.clock = ManualClock()
        self.backend = backend or MemoryBackend()
        files = Files(self.backend, wall_ms=self.clock.wall_ms)
        ids = SeededIds(7)
        workspace = Workspace.open("", clock=self.clock, ids=ids, files=files)
        self.kernel = SiyuanKernel(workspace, PushHub(), self.clock, ids)
        self.kernel.durable = Durable(files, workspace.reload, run=write_inline)
        self.frames: list[dict[str, Any]] = []
        self.kernel.push.add(PushSession("app", "window", "main", self.frames.append))

    @property
    def workspace(self) -> Workspace:
        return self.kernel.workspace

    async def answer(self, path: str, /, **arguments: Any) -> Envelope:
        """Call ``/api/<path>``; the whole envelope."""
        answer = await dispatch(Call(self.kernel, f"/api/{path}", Arguments(arguments)))
        assert isinstance(answer, Envelope)
        return answer

    async def call(self, path: str, /, **arguments: Any) -> Any:
        """The same, which must succeed; ``data``."""
        answer = await self.answer(path, **arguments)
        assert (answer.code, answer.msg) == (0, ""), answer
        return answer.data

    async def refusal(self, path: str, /, **arguments: Any) -> str:
        """The same, which must fail with code -1; ``msg``."""
        answer = await self.answer(path, **arguments)
        assert answer.code == -1, answer
        return answer.msg

    async def notebook(self, name: str = "Notes") -> str:
        created = await self.call("notebook/createNotebook", name=name)
        return str(created["notebook"]["id"])

    async def document(self, box: str, hpath: str, markdown: str) -> str:
        return str(await self.call("filetree/createDocWithMd", notebook=box, path=hpath, markdown=markdown))

    async def children(self, block_id: str) -> list[str]:
        return [child["id"] for child in await self.call("block/getChildBlocks", id=block_id)]

    async def texts(self, block_id: str) -> list[str]:
        return [child.get("content", "") for child in await self.call("block/getChildBlocks", id=block_id)]

    def told(self, cmd: str) -> list[Any]:
        """The data of the frames of one kind since the last time, which empties the list."""
        found = [frame["data"] for frame in self.frames if frame["cmd"] == cmd]
        self.frames.clear()
        return found

    def restarted(self) -> MemoryKernel:
        """Another kernel on the same disk."""
        return MemoryKernel(self.backend)
