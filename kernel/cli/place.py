"""Which kernel a command speaks to: the one that holds a workspace, the one before a remote SiYuan, or one by its address."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kernel.safety.folder import storage_folder
from kernel.settings import is_http_address

if TYPE_CHECKING:
    from kernel.delegate.discovery import Discovery

Command = TypeVar("Command", bound=Callable[..., Any])
TOKEN_VARIABLE: Final = "SISYPHUS_TOKEN"
URL_VARIABLE: Final = "SISYPHUS_URL"
HOST_TOKEN_VARIABLE: Final = "SISYPHUS_HOST_TOKEN"
WORKSPACE_VARIABLE: Final = "SISYPHUS_WORKSPACE"


@dataclass(frozen=True, slots=True)
class Place:
    """What the options say."""

    workspace: Path | None
    url: str
    token: str = ""
    # As ``serve`` was told: in front of which SiYuan, and where its lock and ledger lie.
    host_url: str = ""
    state_dir: Path | None = None

    @classmethod
    def of(
        cls,
        workspace: Path | None,
        url: str,
        token: str = "",
        host_url: str = "",
        state_dir: Path | None = None,
    ) -> Place:
        """Flags first, then the environment. Raises click.UsageError: two places are named."""
        if url and (workspace is not None or host_url):
            raise click.UsageError(f"--url and {'--host-url' if host_url else '--workspace'} name two different places")
        if state_dir is not None and not host_url:
            raise click.UsageError("--state-dir belongs to --host-url")
        if host_url and not is_http_address(host_url):
            raise click.UsageError(f"--host-url {host_url} is not an address: write http://127.0.0.1:6806")
        if not url and workspace is None:
            url = "" if host_url else os.environ.get(URL_VARIABLE, "")
            named = os.environ.get(WORKSPACE_VARIABLE, "")
            workspace = Path(named) if named and not url else None
        return cls(workspace, url, token or os.environ.get(TOKEN_VARIABLE, ""), host_url, state_dir)

    def folder(self) -> Path:
        """The workspace on this machine."""
        return (self.workspace or default_workspace()).absolute()

    def storage(self) -> Path:
        """Where the ledger lies."""
        return storage_folder(self.folder(), self.host_url, self.state_dir)

    def discovery(self) -> Discovery:
        from kernel.delegate.discovery import AddressDiscovery, RemoteDiscovery, WorkspaceDiscovery

        if self.url:
            return AddressDiscovery(self.url, self.token)
        if self.host_url:
            return RemoteDiscovery(self.host_url, self.folder(), self.state_dir, self.token)
        return WorkspaceDiscovery(self.folder(), self.token)


def workspace_options(command: Command) -> Command:
    """The options for what lies on this machine: a workspace, or what is kept for a remote SiYuan."""
    for option in (
        click.option("--state-dir", type=click.Path(path_type=Path), help="The --state-dir of that kernel."),
        click.option("--host-url", default="", help="The kernel that stands in front of the SiYuan at this URL."),
        click.option("--workspace", type=click.Path(path_type=Path), help="Workspace (default: the data folder's)."),
    ):
        command = option(command)
    return command


def place_options(command: Command) -> Command:
    """The options for a kernel that is spoken to."""
    token = click.option("--token", default="", help=f"Its API token (better: {TOKEN_VARIABLE}).")
    return workspace_options(click.option("--url", default="", help="A kernel by its address.")(token(command)))


def default_workspace() -> Path:
    """The platform's data folder + ``sisyphus-kernel/workspace``."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "sisyphus-kernel" / "workspace"
