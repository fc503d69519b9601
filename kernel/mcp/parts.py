"""What the two eras' services share: the collaborators of one endpoint, made once. No behaviour."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kernel.clock import Clock
from kernel.ids import IdSource
from kernel.mcp.calls import ToolCalls
from kernel.mcp.capabilities import SKILLS, Offer
from kernel.mcp.dispatch import Dispatch
from kernel.mcp.limits import TASK_AFTER_S
from kernel.mcp.official_tasks import OfficialTasks
from kernel.mcp.patience import Patience
from kernel.mcp.sessions import SessionTable
from kernel.mcp.subscriptions import PROMPTS_CHANGED, TOOLS_CHANGED, Subscriptions
from kernel.tools.service import Caller, ToolService

logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """One endpoint's collaborators. ``prompt_version``: set only where prompts can change (fixtures)."""

    service: ToolService
    clock: Clock
    ids: IdSource
    offer: Offer
    calls: ToolCalls
    dispatch: Dispatch
    sessions: SessionTable
    subscriptions: Subscriptions
    patience: Patience
    tasks: OfficialTasks
    cancels_on_disconnect: bool
    task_after_s: float = TASK_AFTER_S
    prompt_version: Callable[[], str] | None = None

    async def instructions(self, caller: Caller) -> str:
        """What the client's model is told at first; nothing where it cannot be read, for that must not end a start."""
        try:
            return await self.service.instructions(caller)
        except Exception as error:
            logger.warning("the instructions cannot be read", exc_info=error)
            return ""

    async def extensions(self, caller: Caller) -> dict[str, Any]:
        """The extensions whose switch can change while we run."""
        return {} if await self.service.list_skills(caller) is None else {SKILLS: {"directoryRead": False}}

    async def surface(self, caller: Caller, *, tools: bool = True, prompts: bool = False) -> dict[str, str]:
        """The digests that a stream follows, by the notification that tells of their change."""
        found: dict[str, str] = {}
        if tools:
            found[TOOLS_CHANGED] = await self.service.surface_version(caller)
        if prompts and self.prompt_version is not None:
            found[PROMPTS_CHANGED] = self.prompt_version()
        return found
