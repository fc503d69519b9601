"""mcpHttpSettings of a remote host, for guards that cannot wait: is the endpoint on, which pages may come (decision 51)."""

from __future__ import annotations

import trio

from kernel.host.base import Host, HostError
from kernel.tools.configuration import HTTP_FILE, Configuration, read_configuration
from kernel.tools.limits import REMOTE_SETTINGS_EVERY_S, REMOTE_SETTINGS_FIRST_S_MAX


class RemoteHttpSettings:
    """What the file said when it was last read. Until it was, and where there is none, the defaults hold."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._content: bytes | None = None
        self._known = Configuration()

    def __call__(self) -> Configuration:
        return self._known

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read the file again and again, until cancelled. A host that is slow to answer at first is not waited for."""
        with trio.move_on_after(REMOTE_SETTINGS_FIRST_S_MAX):
            await self.refresh()
        task_status.started()
        while True:
            await trio.sleep(REMOTE_SETTINGS_EVERY_S)
            await self.refresh()

    async def refresh(self) -> None:
        """Read it now. A host that cannot be asked changes nothing: what was known stays."""
        try:
            content = await self._host.read_file(HTTP_FILE)
        except HostError:
            return
        if content != self._content:
            self._content, self._known = content, read_configuration(None, content)
