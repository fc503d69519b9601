"""Looks a coordinator up, afresh for every call: by a lock file, or at an address. The rules are in the core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, Protocol

from kernel.delegate import coordinator
from kernel.delegate.coordinator import Coordinator, CoordinatorUnavailable
from kernel.delegate.http_client import ConnectionBroken, HttpClient, NotConnected
from kernel.delegate.limits import ANSWER_BYTES_MAX
from kernel.json_text import read_json
from kernel.safety.folder import storage_folder
from kernel.safety.lock import COORDINATOR_LOCK, is_held, read_owner

_GET_FILE: Final = "/api/file/getFile"


class Discovery(Protocol):
    """Where a delegate looks."""

    async def find(self) -> Coordinator:
        """Raises CoordinatorUnavailable."""
        ...


class WorkspaceDiscovery:
    """The kernel that holds a workspace on this machine. ``token``: instead of the one that the workspace keeps."""

    def __init__(self, workspace: Path, token: str = "") -> None:
        self.workspace = workspace
        self._token = token

    async def find(self) -> Coordinator:
        storage = storage_folder(self.workspace)
        advice = f"--workspace {self.workspace}"
        found = _holder(storage, f"{self.workspace}", advice, self._token or stored_token(self.workspace))
        coordinator.check_settings(_content(storage / "mcpHttpSettings"))
        return found


class RemoteDiscovery:
    """The kernel that stands in front of a real SiYuan: started with the same ``--host-url`` and folders. The settings
    are that SiYuan's, and the kernel itself looks at them for each call."""

    def __init__(self, host_url: str, workspace: Path, state_dir: Path | None = None, token: str = "") -> None:
        self.host_url = host_url
        self.workspace = workspace
        self.state_dir = state_dir
        self._token = token

    async def find(self) -> Coordinator:
        storage = storage_folder(self.workspace, self.host_url, self.state_dir)
        advice = f"--host-url {self.host_url}"
        if self.state_dir is not None:
            advice += f" --state-dir {self.state_dir}"
        return _holder(storage, self.host_url, advice, self._token or stored_token(self.workspace))


def _holder(storage: Path, place: str, advice: str, token: str) -> Coordinator:
    lock = storage / COORDINATOR_LOCK
    held = is_held(lock)
    owner = read_owner(lock) if held else None
    return coordinator.from_lock(place, advice, None if owner is None else owner.url, token, is_held=held)


class AddressDiscovery:
    """The kernel at an address; its settings are read through its own API."""

    def __init__(self, url: str, token: str = "") -> None:
        self._url = url
        self._token = token

    async def find(self) -> Coordinator:
        found = Coordinator(coordinator.origin_of(self._url), self._token)
        body = json.dumps({"path": coordinator.SETTINGS_PATH}).encode()
        headers = {"Content-Type": "application/json", **found.headers()}
        try:
            async with HttpClient(found.origin).send("POST", _GET_FILE, headers, body) as reply:
                content = await reply.read(ANSWER_BYTES_MAX)
        except (NotConnected, ConnectionBroken) as error:
            raise CoordinatorUnavailable(str(error)) from None
        if reply.status == 401:
            raise CoordinatorUnavailable(f"{found.origin} refuses the token: set SISYPHUS_TOKEN to its API token")
        # 202 is the kernel's word for a file that is not there: then everything is at its default.
        coordinator.check_settings(content if reply.status == 200 else None)
        return found


def stored_token(workspace: Path) -> str:
    """The API token that a kernel keeps in its workspace; empty where it cannot be read."""
    try:
        conf = read_json((workspace / "conf" / "conf.json").read_text(encoding="utf-8"))
        return str(conf["api"]["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
