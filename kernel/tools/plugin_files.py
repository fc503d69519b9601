"""The plugin's own files in the workspace: settings, permissions, memory. Read afresh by each call (decision 5).

Changes go through one queue: read, change, write back, so that two calls never overwrite each other's keys (R209).
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any, Final

import trio

from kernel.host.base import Host
from kernel.tools.configuration import (
    HTTP_FILE,
    PERMISSIONS_FILE,
    TOOLS_FILE,
    Configuration,
    ConfigurationUnreadable,
    read_configuration,
)
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level, Permissions, PermissionsUnreadable, read_permissions

# Settings that are remembered by their bytes, with all that has been derived from them.
_REMEMBERED_MAX: Final = 4


class PluginFiles:
    """Reads and changes the files through ``host``."""

    def __init__(self, default_level: Level) -> None:
        self._default_level = default_level
        self._changing = trio.Lock()
        # What was read last: the same bytes mean the same settings, and are not parsed again; in the same moment they
        # are not even read again.
        self._configuration: tuple[bytes | None, bytes | None, Configuration] | None = None
        self._configuration_moment: object | None = None
        self._permissions: tuple[bytes | None, Permissions] | None = None
        self._permissions_moment: object | None = None

    def known_configuration(self, moment: object | None) -> Configuration | None:
        """The settings, if they were read in this moment of the host (``NearHost.moment``)."""
        known = self._configuration
        return known[2] if known is not None and moment is not None and moment == self._configuration_moment else None

    def known_permissions(self, moment: object | None) -> Permissions | None:
        """The permissions, if they were read in this moment of the host."""
        known = self._permissions
        return known[1] if known is not None and moment is not None and moment == self._permissions_moment else None

    async def configuration(self, host: Host) -> Configuration:
        """The settings now.

        Raises:
            ToolError: the file is there and unreadable; nothing runs on guessed switches.
        """
        moment = _moment(host)
        if (fresh := self.known_configuration(moment)) is not None:
            return fresh
        known = self._configuration
        tools, http = await host.read_file(TOOLS_FILE), await host.read_file(HTTP_FILE)
        if known is None or known[0] != tools or known[1] != http:
            known = self._configuration = (tools, http, _configuration_in(tools, http))
        self._configuration_moment = moment
        return known[2]

    @property
    def last_known(self) -> Configuration:
        """The settings as they were read last; the defaults before that. For what is told without reading anything."""
        return self._configuration[2] if self._configuration is not None else Configuration()

    async def permissions(self, host: Host) -> Permissions:
        """The permissions now (R206).

        Raises:
            ToolError: the file is there and unreadable; nothing is allowed on a guess.
        """
        moment = _moment(host)
        if (fresh := self.known_permissions(moment)) is not None:
            return fresh
        known = self._permissions
        content = await host.read_file(PERMISSIONS_FILE)
        if known is None or known[0] != content:
            known = self._permissions = (content, _permissions_in(content, self._default_level))
        self._permissions_moment = moment
        return known[1]

    async def set_permission(self, host: Host, notebook: str, level: Level) -> None:
        async with self._changing:
            permissions = await self.permissions(host)
            await host.write_file(PERMISSIONS_FILE, permissions.with_level(notebook, level).as_file())

    async def change_settings(self, host: Host, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply ``change`` to the settings' object and write it back; keys that are not touched stay as they are."""
        async with self._changing:
            configuration = await self.configuration(host)
            settings = copy.deepcopy(dict(configuration.raw))  # the snapshot of running calls stays as it is
            change(settings)
            await host.write_file(TOOLS_FILE, json.dumps(settings, ensure_ascii=False, indent=2).encode())


@functools.lru_cache(maxsize=_REMEMBERED_MAX)
def _configuration_in(tools: bytes | None, http: bytes | None) -> Configuration:
    try:
        return read_configuration(tools, http)
    except ConfigurationUnreadable as error:
        raise refusal(
            f"The plugin's settings cannot be read: {error}.", "settings_unreadable", hint="Repair mcpToolsConfig."
        ) from error


def _permissions_in(content: bytes | None, default_level: Level) -> Permissions:
    try:
        return read_permissions(content, default_level)
    except PermissionsUnreadable as error:
        words = f"The notebook permissions cannot be read: {error}."
        raise refusal(words, "settings_unreadable", hint="Repair notebookPermissions.") from error


def _moment(host: Host) -> object | None:
    look = getattr(host, "moment", None)  # ``near(host)``, in the time that every call has for it
    return None if look is None else look()
