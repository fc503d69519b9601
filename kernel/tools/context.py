"""What a handler gets: the host of its call, the call's own snapshot of settings and permissions, and few helpers.

Handlers call only the host. What one call has looked up once (which notebook a block is in) it does not ask again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from kernel.clock import Clock
from kernel.errors import ToolError
from kernel.host.base import Host, HostApiError, HostError
from kernel.host.progress import Progress, progress_of
from kernel.ids import IdSource
from kernel.safety.intent import Observation, Outcome
from kernel.tools.configuration import Configuration
from kernel.tools.failures import not_found, unknown_block
from kernel.tools.permissions import Level, Permissions
from kernel.tools.plugin_files import PluginFiles
from kernel.tools.service import Caller

# The host's code for "data indexing is in progress".
_INDEXING: Final = 3
RefreshKind = Literal["reloadProtyle", "reloadFiletree", "reloadIcon", "reloadTag", "reloadAttributeView"]


@dataclass(frozen=True, slots=True)
class Refresh:
    """One part of the user's window that shows what was changed."""

    kind: RefreshKind
    id: str = ""

    def as_json(self) -> dict[str, str]:
        return {"type": self.kind, "id": self.id} if self.id else {"type": self.kind}


FILETREE = Refresh("reloadFiletree")
ICONS = Refresh("reloadIcon")
TAGS = Refresh("reloadTag")


def protyle(*documents: str) -> tuple[Refresh, ...]:
    """The open editors of these documents."""
    return tuple(Refresh("reloadProtyle", document) for document in documents if document)


@dataclass(slots=True)
class Written:
    """What a mutation or an external effect reports. See ``kernel.safety.intent.Outcome`` for all but ``refresh``."""

    payload: dict[str, Any]
    refresh: tuple[Refresh, ...] = ()
    changed: bool | None = None
    replay: Mapping[str, Any] | None = None
    expectation: Callable[[Observation], bool] | None = None


class ToolContext(msgspec.Struct, eq=False):
    """One call's surroundings."""

    host: Host
    configuration: Configuration
    permissions: Permissions
    files: PluginFiles
    clock: Clock
    ids: IdSource
    caller: Caller
    # Optional parts of the product, by name: uploads, extension, feedback.
    parts: Mapping[str, Any] = {}
    _notebook_of: dict[str, str] = {}
    _root_of: dict[str, str] = {}
    _notebooks: list[dict[str, Any]] | None = None
    memo: dict[str, Any] = {}
    # Ids that were drawn for what this write is going to make, and what of it the host has confirmed so far (R83).
    reserved: Mapping[str, str] = {}
    stages: list[str] = []
    # ``with context.aside():`` what is sent inside changes no note, and is not counted as a write of this call.
    aside: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def progress(self) -> Progress:
        """How far this call is."""
        return progress_of(self.host)

    async def call(self, path: str, /, **arguments: Any) -> Any:
        """One host call: ``context.call("/api/block/getBlockInfo", id=…)``. Arguments that are None are left out."""
        if None in arguments.values():
            arguments = {name: value for name, value in arguments.items() if value is not None}
        return await self.host.call(path, arguments)

    async def sql(self, statement: str) -> list[dict[str, Any]]:
        """Rows of the index. It may lag behind a write: never the only proof of anything."""
        return list(await self.call("/api/query/sql", stmt=statement) or [])

    # --- where things are ---

    async def notebooks(self) -> list[dict[str, Any]]:
        """All notebooks as the host lists them; asked once per call."""
        if self._notebooks is None:
            data = await self.call("/api/notebook/lsNotebooks")
            self._notebooks = list((data or {}).get("notebooks") or [])
        return self._notebooks

    async def notebook_name(self, notebook: str) -> str:
        """Its name, or its id where it is unknown."""
        for row in await self.notebooks():
            if row.get("id") == notebook:
                return str(row.get("name") or notebook)
        return notebook

    async def notebook_of(self, block_id: str) -> str:
        """Which notebook a block or document is in.

        Raises:
            HostApiError: the host does not know the block.
        """
        if block_id not in self._notebook_of:
            await self.block_info(block_id)
        return self._notebook_of[block_id]

    async def root_of(self, block_id: str) -> str:
        """Which document a block is in (a document: itself)."""
        if block_id not in self._root_of:
            await self.block_info(block_id)
        return self._root_of[block_id]

    async def block_info(self, block_id: str) -> dict[str, Any]:
        """``getBlockInfo``: box, path, rootID, rootTitle, …

        Raises:
            HostApiError: the host does not know the block.
            ToolError: resolution_error, where its answer names no notebook.
        """
        info = await self._asked_info(block_id)
        box = str((info or {}).get("box") or "")
        if not box:
            raise ToolError("resolution_error", f"Block {block_id} could not be found in a notebook.")
        self._notebook_of[block_id] = box
        self._root_of[block_id] = str(info.get("rootID") or block_id)
        return dict(info)

    async def _asked_info(self, block_id: str) -> Any:
        try:
            return await self.call("/api/block/getBlockInfo", id=block_id)
        except HostApiError as error:
            # A host that was asked for unknown blocks a moment ago says "indexing" of every other one, too.
            if error.api_code != _INDEXING or await self.call("/api/block/checkBlockExist", id=block_id):
                raise
            raise unknown_block(block_id) from error

    async def require_notebook(self, notebook: str) -> None:
        """Raises ToolError (notebook_not_found) unless the host lists it, open or closed."""
        if all(row.get("id") != notebook for row in await self.notebooks()):
            raise not_found(f"There is no notebook {notebook}.", "notebook_not_found", hint="List the notebooks.")

    async def require_open(self, notebook: str) -> None:
        """Raises ToolError (notebook_closed) where a strict addition would be refused by the host, and so be in doubt."""
        if self.configuration.is_strict and any(
            row.get("id") == notebook and row.get("closed") for row in await self.notebooks()
        ):
            raise ToolError("notebook_closed", f"The notebook {notebook} is closed.")

    async def checked_roots(self, block_ids: Iterable[str]) -> tuple[str, ...]:
        """The documents of these blocks, each once, in order; blocks that are not found are left out."""
        roots: dict[str, None] = {}
        for block_id in block_ids:
            try:
                roots[await self.root_of(block_id)] = None
            except (HostError, ToolError):
                continue
        return tuple(roots)

    # --- what is allowed ---

    async def require(self, notebook: str, level: Level) -> None:
        """Raises ToolError (permission_denied) unless the notebook allows this."""
        if not self.permissions.allows(notebook, level):
            self.permissions.require(notebook, level)

    async def require_block(self, block_id: str, level: Level) -> str:
        """The notebook of a block that may be used this way.

        Raises:
            HostApiError: unknown block.
            ToolError: permission_denied.
        """
        notebook = await self.notebook_of(block_id)
        await self.require(notebook, level)
        return notebook

    def readable(self, notebook: str) -> bool:
        return self.permissions.allows(notebook, Level.READ)


Arguments = Mapping[str, Any]
Handler = Callable[[ToolContext, Arguments], Awaitable[Any]]
Guard = Callable[[ToolContext, Arguments], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Handling:
    """How one action is done: first who may (``guard``), then the work (``run``). A guard only reads."""

    run: Handler
    guard: Guard | None = None
    # Reads the live target for strict writes; None uses the general probe of the safety package.
    probe: Callable[[ToolContext, Arguments], Awaitable[Observation]] | None = None
    # For additions and copies: whether what the outcome says was made is there.
    confirms: Callable[[ToolContext, Arguments], Callable[[Outcome], Awaitable[bool]]] | None = None
    # It makes something beside its target, which itself looks as before: a copy.
    creates: bool = False
    # What its arguments alone refuse: before a confirmation, a lane, a preflight, the ledger. Raises ToolError.
    admits: Callable[[Arguments], None] | None = None
    # Draws the ids of what a creation makes, to be recorded before it is sent.
    reserves: Callable[[ToolContext, Arguments], Mapping[str, str]] | None = None
    # It waits for nothing but the host, and only for what a host answers out of its memory.
    is_immediate: bool = False


def on_notebook(level: Level, *names: str) -> Guard:
    """The notebooks named by these arguments allow ``level``; what is to be written to is there, too."""

    async def guard(context: ToolContext, arguments: Arguments) -> None:
        for name in names:
            if notebook := arguments.get(name):
                await context.require(notebook, level)
                if level is not Level.READ:
                    await context.require_notebook(notebook)

    return guard


async def into_notebook(context: ToolContext, arguments: Arguments) -> None:
    """Something may be added to the notebook that ``notebook`` names, and it is open."""
    await on_notebook(Level.WRITE, "notebook")(context, arguments)
    await context.require_open(str(arguments["notebook"]))


def on_block(level: Level, *names: str) -> Guard:
    """The notebooks of the blocks named by these arguments (one id, or a list of them) allow ``level``."""

    async def guard(context: ToolContext, arguments: Arguments) -> None:
        for name in names:
            value = arguments.get(name)
            if not isinstance(value, list):
                if value:
                    await context.require_block(str(value), level)
                continue
            for block_id in context.progress.steps(value, "Looked up"):
                await context.require_block(str(block_id), level)

    return guard


def both(*guards: Guard) -> Guard:
    """Every one of several guards, in order."""

    async def guard(context: ToolContext, arguments: Arguments) -> None:
        for one in guards:
            await one(context, arguments)

    return guard
