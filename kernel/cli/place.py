"""Which kernel a command speaks to: the one that holds a workspace, or one by its address."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from kernel.delegate.discovery import Discovery

TOKEN_VARIABLE: Final = "SISYPHUS_TOKEN"
URL_VARIABLE: Final = "SISYPHUS_URL"
WORKSPACE_VARIABLE: Final = "SISYPHUS_WORKSPACE"


@dataclass(frozen=True, slots=True)
class Place:
    """What the options say."""

    workspace: Path | None
    url: str
    token: str = ""

    @classmethod
    def of(cls, workspace: Path | None, url: str, token: str = "") -> Place:
        """Flags first, then the environment. Raises click.UsageError: two places are named."""
        if url and workspace is not None:
            raise click.UsageError("--url and --workspace name two different places")
        if not url and workspace is None:
            url = os.environ.get(URL_VARIABLE, "")
            named = os.environ.get(WORKSPACE_VARIABLE, "")
            workspace = Path(named) if named and not url else None
        return cls(workspace, url, token or os.environ.get(TOKEN_VARIABLE, ""))

    def folder(self) -> Path:
        """The workspace on this machine."""
        return (self.workspace or default_workspace()).absolute()

    def discovery(self) -> Discovery:
        from kernel.delegate.discovery import AddressDiscovery, WorkspaceDiscovery

        return AddressDiscovery(self.url, self.token) if self.url else WorkspaceDiscovery(self.folder(), self.token)


def default_workspace() -> Path:
    """The platform's data folder + ``sisyphus-kernel/workspace``."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "sisyphus-kernel" / "workspace"
