"""The emulated kernel as one object: what every /api handler gets. Wires parts together; holds no rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from kernel.siyuan.durable import Durable
from kernel.siyuan.jobs import Jobs
from kernel.siyuan.machine import start_conf

if TYPE_CHECKING:
    from kernel.clock import Clock
    from kernel.ids import IdSource
    from kernel.siyuan.arguments import Arguments
    from kernel.siyuan.push import PushHub
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Workspace


@dataclass(slots=True)
class KernelOptions:
    """The kernel's own command-line options (decision 48)."""

    is_readonly: bool = False
    access_code: str = ""
    language: str = "en"
    index_lag_s: float = 0.0
    allows_egress: bool = False
    shuffles_attributes: bool = False
    working_dir: str = ""  # --wd: stage/, appearance/, guide/ of a real distribution


@dataclass(slots=True)
class SiyuanKernel:
    """One running emulated kernel. Lives on the event loop's thread; only ``files`` and SQL go to threads."""

    workspace: Workspace
    push: PushHub
    clock: Clock
    ids: IdSource
    options: KernelOptions = field(default_factory=KernelOptions)
    # Routes asked for that are not emulated: path -> how often (GET /emulator/unserved).
    unserved: dict[str, int] = field(default_factory=dict)
    # Family modules keep their in-memory state here, under their own name.
    state: dict[str, Any] = field(default_factory=dict)
    # What goes on behind calls that have been answered; the application keeps it running.
    jobs: Jobs = field(default_factory=Jobs)
    # What hands pending writes to the writer thread; simulation puts one with an inline runner in its place.
    durable: Durable = field(init=False)

    def __post_init__(self) -> None:
        self.durable = Durable(self.workspace.files, self.workspace.reload)
        self.state["render_template"] = self._note_blocks
        start_conf(self)

    def _note_blocks(self, path: str, document_id: str) -> tuple[list[Node], dict[str, str]]:
        """What fills a new daily note (see ``note_renderer``). The templates come in with the first of them."""
        from kernel.siyuan.templates import note_renderer

        return note_renderer(self)(path, document_id)


@dataclass(slots=True)
class FormFile:
    """One file of a multipart form."""

    field: str
    name: str
    content: bytes


@dataclass(slots=True)
class Form:
    """A decoded form."""

    values: dict[str, str]  # the first of each name
    files: list[FormFile]
    # All values in the order they came, repeats kept (broadcast/publish sends each one).
    fields: list[tuple[str, str]] = field(default_factory=list)
    is_multipart: bool = True


class Call(msgspec.Struct, eq=False):
    """One call of one endpoint."""

    kernel: SiyuanKernel
    path: str
    arguments: Arguments
    form: Form | None = None
    is_admin: bool = True
    # The browser window that calls (headers or arguments app/session), for push exclusion.
    app: str = ""
    session: str = ""
    query: str = ""
    headers: dict[str, str] = {}
