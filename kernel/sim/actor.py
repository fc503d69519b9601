"""What a client does: one method for each verb of a script. Everything it is answered goes into the book."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import trio

from kernel.host.base import HostError
from kernel.sim.client import TASKS, LeftWithoutAnswer, Lost, SimulatedClient
from kernel.sim.disk import Crashed
from kernel.sim.limits import BURST_REQUESTS
from kernel.sim.model import INITIAL, MARK, BrokenPromise
from kernel.sim.script import Operation, Verb

if TYPE_CHECKING:
    from kernel.sim.world import World

_LISTS: Final = ("tools/list", "resources/list", "prompts/list", "tools/list")
_LISTEN_S: Final = 20.0
_PICKS: Final = ("update", "update", "update", "append", "set_attrs", "rename", "create")


@dataclass(slots=True, eq=False)
class Prepared:
    """A preflight that was answered."""

    mark: int
    tool: str
    action: str
    arguments: dict[str, Any]
    request_id: str
    credential: dict[str, Any]
    is_used: bool = False

    @property
    def commit_arguments(self) -> dict[str, Any]:
        return {**self.arguments, "requestId": self.request_id, **self.credential}


class Actor:
    """One client at work."""

    def __init__(self, world: World, client: SimulatedClient) -> None:
        self._world = world
        self._client = client
        self._verbs: Mapping[Verb, Callable[[Operation], Awaitable[None]]] = {
            "read": self._read,
            "list": self._list,
            "preflight": self._preflight,
            "commit": self._commit,
            "replay": self._replay,
            "again": self._again,
            "mislead": self._mislead,
            "cancel": self._cancel,
            "cut": self._cut,
            "close": self._close,
            "duplicate": self._duplicate,
            "edit": self._edit,
            "dangerous": self._dangerous,
            "listen": self._listen,
            "burst": self._burst,
        }

    async def act(self, operations: Sequence[Operation]) -> None:
        """Carry out what the script has for this client, in order; some of it without waiting."""
        async with trio.open_nursery() as nursery:
            for operation in operations:
                if operation.pause_s:
                    await trio.sleep(operation.pause_s)
                if operation.waits:
                    await self._do(operation)
                else:
                    nursery.start_soon(self._do, operation)
                    await trio.lowlevel.checkpoint()

    async def _do(self, operation: Operation) -> None:
        world = self._world
        world.requests += 1
        try:
            await world.alive.wait()
            await self._client.open()
            await self._verbs[operation.verb](operation)
        except LeftWithoutAnswer:
            world.log(self._client.name, operation.number, "left without an answer")
            if not any(mishap.point.startswith("http.") for mishap in world.script.mishaps):
                world.fail(
                    BrokenPromise(f"{self._client.name}, operation {operation.number}: closed without an answer")
                )
        except (Lost, Crashed):
            world.log(self._client.name, operation.number, "lost")
        except BrokenPromise as error:
            world.fail(error)

    # --- reads -----------------------------------------------------------------------------------------------
    async def _read(self, operation: Operation) -> None:
        block = self._world.notes.blocks[operation.target % 3]
        step = self._world.book.step
        answer = await self._client.call("block", "get_kramdown", {"id": block}, task_id=self._task_id(operation))
        self._told(operation, answer)
        if "error" not in answer:
            self._world.check_text(block, answer, step, f"{self._client.name}, operation {operation.number}")

    async def _list(self, operation: Operation) -> None:
        if operation.pick % 5 == 4:
            answer = await self._client.get("/sisyphus/health")
            if answer.status != 200:
                raise BrokenPromise(f"/health is answered with {answer.status}")
            return
        method = _LISTS[operation.pick % len(_LISTS)]
        told = await self._client.request(method, {})
        if "result" not in told:
            raise BrokenPromise(f"{method} failed: {told}")

    async def _burst(self, operation: Operation) -> None:
        """More than may be admitted: some are refused at once, all are answered."""
        codes: list[str] = []

        async def one() -> None:
            try:
                block = self._world.notes.blocks[0]
                answer = await self._client.call("block", "get_kramdown", {"id": block})
                codes.append(str(answer.get("error", {}).get("code", "")))
            except Lost:
                return

        async with trio.open_nursery() as nursery:
            for _ in range(BURST_REQUESTS):
                nursery.start_soon(one)
        self._world.log("burst", sorted(set(codes)))

    # --- writes ----------------------------------------------------------------------------------------------
    async def _preflight(self, operation: Operation) -> None:
        await self._prepare(operation)

    async def _prepare(self, operation: Operation) -> Prepared | None:
        tool, action, arguments, mark = self._write_of(operation)
        attempt = self._world.book.attempt(mark, None)
        try:
            answer = await self._client.call(tool, action, {**arguments, "validateOnly": True})
        except Lost:
            self._world.book.lost(attempt)
            raise
        self._world.book.answered(attempt, answer)
        self._told(operation, answer)
        if "error" in answer:
            return None
        field = answer.get("preconditionField")
        credential = {field: answer[field]} if field else {}
        prepared = Prepared(mark, tool, action, arguments, answer["requestId"], credential)
        self._world.book.issued(prepared.request_id, mark)
        self._world.prepared.append(prepared)
        return prepared

    def _write_of(self, operation: Operation) -> tuple[str, str, dict[str, Any], int]:
        """Tool, action, arguments and mark of the write that an operation is about."""
        notes, book = self._world.notes, self._world.book
        block = notes.blocks[operation.target % 3]
        match _PICKS[operation.pick % len(_PICKS)]:
            case "update":
                mark = book.mark(f"text {block}")
                return "block", "update", {"id": block, "dataType": "markdown", "data": f"Text qz{mark}qz"}, mark
            case "append":
                mark = book.mark("")
                arguments = {"parentID": notes.other, "dataType": "markdown", "data": f"More qz{mark}qz"}
                return "block", "append", arguments, mark
            case "set_attrs":
                mark = book.mark(f"attribute {notes.blocks[3]}")
                return "block", "set_attrs", {"id": notes.blocks[3], "attrs": {"custom-mark": f"qz{mark}qz"}}, mark
            case "rename":
                mark = book.mark(f"title {notes.other}")
                return "document", "rename", {"id": notes.other, "title": f"Log qz{mark}qz"}, mark
            case _:
                mark = book.mark("")
                arguments = {"notebook": notes.notebook, "path": f"/New {mark}", "markdown": f"New qz{mark}qz"}
                return "document", "create", arguments, mark

    async def _commit(self, operation: Operation) -> None:
        unused = [one for one in self._world.prepared if not one.is_used]
        prepared = unused[operation.pick % len(unused)] if unused else await self._prepare(operation)
        if prepared is not None:
            prepared.is_used = True
            await self._send(operation, prepared, prepared.commit_arguments, prepared.mark)

    async def _replay(self, operation: Operation) -> None:
        book = self._world.book
        known = [one for one in self._world.prepared if book.identities[one.request_id].first is not None]
        if known:
            prepared = known[operation.pick % len(known)]
            await self._send(operation, prepared, prepared.commit_arguments, prepared.mark)

    async def _again(self, operation: Operation) -> None:
        if self._world.prepared:
            prepared = self._world.prepared[operation.pick % len(self._world.prepared)]
            prepared.is_used = True
            await self._send(operation, prepared, prepared.commit_arguments, prepared.mark)

    async def _mislead(self, operation: Operation) -> None:
        if self._world.prepared:
            prepared = self._world.prepared[operation.pick % len(self._world.prepared)]
            mark = self._world.book.mark(f"text {self._world.notes.blocks[0]}")
            arguments = {"id": self._world.notes.blocks[0], "dataType": "markdown", "data": f"Wrong qz{mark}qz"}
            other = Prepared(mark, "block", "update", arguments, prepared.request_id, prepared.credential)
            await self._send(operation, other, other.commit_arguments, mark)

    async def _send(self, operation: Operation, prepared: Prepared, arguments: dict[str, Any], mark: int) -> None:
        book = self._world.book
        attempt = book.attempt(mark, prepared.request_id)
        task_id = self._task_id(operation)
        try:
            answer = await self._client.call(prepared.tool, prepared.action, arguments, task_id=task_id)
        except Lost:
            book.lost(attempt)
            raise
        self._told(operation, answer, prepared.mark)
        book.answered(attempt, answer)

    async def _edit(self, operation: Operation) -> None:
        """Somebody else, straight at the note kernel."""
        app = self._world.app
        if app is None:
            return
        block = self._world.notes.blocks[operation.target % 3]
        mark = self._world.book.mark(f"text {block}")
        arguments = {"id": block, "dataType": "markdown", "data": f"Else qz{mark}qz"}
        try:
            await app.host.call("/api/block/updateBlock", arguments)
        except (HostError, Crashed):  # or the machine died while the call was on its way
            return

    async def _dangerous(self, operation: Operation) -> None:
        """Delete a block: a preflight, a question where the client can be asked, and the answer to it."""
        victim = {"id": self._world.notes.blocks[4]}
        checked = await self._client.call("block", "delete", {**victim, "validateOnly": True})
        self._told(operation, checked)
        if "error" in checked:
            return
        field = checked["preconditionField"]
        arguments = {**victim, "requestId": checked["requestId"], field: checked[field]}
        answer = await self._client.call("block", "delete", arguments)
        self._told(operation, answer)
        if "question" in answer:
            keys = list(answer["question"]["inputRequests"])
            action = ("accept", "decline", "cancel")[operation.pick % 3]
            content = {"content": {"confirm": True}} if action == "accept" else {}
            responses = {key: {"action": action, **content} for key in keys}
            more = {"requestState": answer["question"]["requestState"], "inputResponses": responses}
            self._told(operation, await self._client.call("block", "delete", arguments, more=more))
        elif answer.get("error", {}).get("code") == "dangerous_action_requires_confirmation":
            self._told(operation, await self._client.call("block", "delete", {**arguments, "confirm": True}))

    # --- going away ------------------------------------------------------------------------------------------
    async def _cancel(self, operation: Operation) -> None:
        flights = self._client.in_flight
        if not flights:
            return
        flight = flights[operation.pick % len(flights)]
        if self._client.era == "handshake":
            await self._client.notify("notifications/cancelled", {"requestId": flight.identifier})
        elif flight.task_id is not None:
            answer = await self._client.post(TASKS, {"taskId": flight.task_id, "operation": "cancel"})
            if answer.status != 200:
                raise BrokenPromise(f"a task's cancel is answered with {answer.status}")
        else:
            flight.connection.cut()

    async def _cut(self, operation: Operation) -> None:
        flights = self._client.in_flight
        if flights:
            flights[operation.pick % len(flights)].connection.cut()

    async def _close(self, operation: Operation) -> None:
        await self._client.close_session()

    async def _duplicate(self, operation: Operation) -> None:
        flights = self._client.in_flight
        if not flights or self._client.session is None:
            return
        flight = flights[operation.pick % len(flights)]
        block = self._world.notes.blocks[operation.target % 3]
        answer = await self._client.call("block", "get_kramdown", {"id": block}, identifier=flight.identifier)
        self._told(operation, answer)

    async def _listen(self, operation: Operation) -> None:
        await self._client.listen(_LISTEN_S)

    # --- telling ---------------------------------------------------------------------------------------------
    def _told(self, operation: Operation, answer: Mapping[str, Any], mark: int | None = None) -> None:
        code = (answer.get("error") or {}).get("code", "ok")
        self._world.log(self._client.name, operation.number, operation.verb, mark or "", code)

    def _task_id(self, operation: Operation) -> str | None:
        if self._client.era == "modern" and operation.pick % 4 == 0:
            return str(UUID(int=self._client.chance.getrandbits(128), version=4))
        return None


def mark_in(text: str) -> int:
    """The mark that a text carries."""
    found = MARK.search(text)
    return INITIAL if found is None else int(found[1])
