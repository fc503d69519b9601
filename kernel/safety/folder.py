"""Where a coordinator keeps its ledger and its lock, and so where others look for it (decisions 6, 7, 51). Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from kernel.safety.lock import COORDINATOR_LOCK

PLUGIN_STORAGE: Final = "data/storage/petal/siyuan-plugins-mcp-sisyphus"
LEDGER_FILE: Final = "writeSafetyLedger.db"
# Beside the ledger SQLite keeps its journals.
PROCESS_FILES: Final = tuple(
    f"{PLUGIN_STORAGE}/{name}"
    for name in (COORDINATOR_LOCK, LEDGER_FILE, f"{LEDGER_FILE}-wal", f"{LEDGER_FILE}-shm", f"{LEDGER_FILE}-journal")
)
_REMOTE: Final = "remote"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def storage_folder(workspace: Path, host_url: str = "", state_dir: Path | None = None) -> Path:
    """With the notes; in front of a remote host in ``state_dir`` (else with the workspace), under the host's own name."""
    if not host_url:
        return workspace / PLUGIN_STORAGE
    return (state_dir or workspace / _REMOTE) / host_key(host_url)


def host_key(host_url: str) -> str:
    """A folder's name for a remote host: every way to write its address gives one, and no two hosts share one."""
    parts = urlsplit(host_url)
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    is_usual = parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme)
    origin = f"{parts.scheme}://{host}" + ("" if is_usual else f":{parts.port}")
    return quote(origin + parts.path.rstrip("/"), safe="")
