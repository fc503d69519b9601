"""What ``doctor`` looks at: a workspace from outside. Every check reads; none repairs, none writes, none needs a kernel."""

from __future__ import annotations

import os
import shlex
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from kernel.cli.place import default_workspace
from kernel.json_text import read_json
from kernel.safety import ledger_reading
from kernel.safety.folder import LEDGER_FILE
from kernel.safety.folder import PLUGIN_STORAGE as STORAGE
from kernel.safety.ledger_store import LedgerUnavailable
from kernel.safety.lock import COORDINATOR_LOCK, is_held, is_obstructed, read_owner
from kernel.settings import DEFAULT_HOST, DEFAULT_PORT
from kernel.tools.configuration import ConfigurationUnreadable, read_configuration
from kernel.tools.permissions import Level, PermissionsUnreadable, read_permissions, spelled

WORKSPACE_LOCK: Final = ".lock"
INDEX_FILE: Final = "temp/sisyphus-index.db"
# What a start needs to be folders, where anything stands there.
_FOLDERS: Final = ("conf", "data", "temp", STORAGE)
_FREE_BYTES_MIN: Final = 256 * 1024 * 1024
_KNOCK_S_MAX: Final = 2.0


class Verdict(Enum):
    """OK; WARN: works, and is worth knowing; FAIL: something will not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, how it is, and what to do."""

    name: str
    verdict: Verdict
    words: str
    advice: str = ""

    def as_json(self) -> dict[str, str]:
        advice = {"advice": self.advice} if self.advice else {}
        return {"check": self.name, "verdict": self.verdict.value, "words": self.words, **advice}


def findings(workspace: Path) -> Iterator[Finding]:
    """All checks, in the order in which one thing needs another."""
    place = _place(workspace)
    yield place
    if place.verdict is not Verdict.FAIL:
        for check in CHECKS:
            yield from check(workspace)


def _place(workspace: Path) -> Finding:
    if not workspace.is_dir():
        advice = f"start a kernel on it: sisyphus-kernel serve{_on(workspace)}"
        return Finding("workspace", Verdict.FAIL, f"{workspace} is no folder", advice)
    if not os.access(workspace, os.R_OK | os.W_OK | os.X_OK):
        return Finding("workspace", Verdict.FAIL, f"{workspace} cannot be written", "change its owner or its mode")
    for name in _FOLDERS:
        if (workspace / name).exists() and not (workspace / name).is_dir():
            advice = "move it away: the start makes a folder there"
            return Finding("workspace", Verdict.FAIL, f"{workspace / name} is no folder", advice)
    if not (workspace / "data").is_dir():
        return Finding("workspace", Verdict.WARN, f"{workspace} holds no notes yet", "the first start makes them")
    return Finding("workspace", Verdict.OK, str(workspace))


def _on(workspace: Path) -> str:
    """What ``serve`` needs to be told to serve this workspace and no other."""
    return "" if workspace == default_workspace() else f" --workspace {shlex.quote(str(workspace))}"


def _disk(workspace: Path) -> Iterator[Finding]:
    import shutil

    free = shutil.disk_usage(workspace).free
    words = f"{free // (1024 * 1024):,} MiB free"
    if free < _FREE_BYTES_MIN:
        yield Finding("disk", Verdict.WARN, words, "make room: a ledger that cannot be written refuses every write")
    else:
        yield Finding("disk", Verdict.OK, words)


def _lock(workspace: Path) -> Iterator[Finding]:
    lock = workspace / STORAGE / COORDINATOR_LOCK
    for path in (workspace / WORKSPACE_LOCK, lock):
        if is_obstructed(path):
            words = f"{path} is no plain file, and a lock is one"
            yield Finding("coordinator", Verdict.FAIL, words, "move it away: the next start makes another")
            return
    if not is_held(lock) and is_held(workspace / WORKSPACE_LOCK):
        words = "another SiYuan kernel holds the workspace, and no coordinator of ours runs on it"
        yield Finding("coordinator", Verdict.WARN, words, "speak to that kernel with --url, or stop it")
    else:
        yield coordinator_finding(lock, _on(workspace))


def coordinator_finding(lock: Path, serve_options: str) -> Finding:
    """Who holds the lock, and whether it answers."""
    if not is_held(lock):
        advice = f"start one: sisyphus-kernel serve{serve_options}"
        return Finding("coordinator", Verdict.WARN, "no kernel runs on it", advice)
    owner = read_owner(lock)
    if owner is None or not owner.url:
        words = "a kernel holds it and does not say where it answers"
        return Finding("coordinator", Verdict.FAIL, words, "wait until it has started, or start it again")
    if not _answers(owner.url):
        words = f"process {owner.pid} holds it, and nobody answers at {owner.url}"
        return Finding("coordinator", Verdict.FAIL, words, f"look at process {owner.pid}; end it if it hangs")
    return Finding("coordinator", Verdict.OK, f"process {owner.pid} at {owner.url}")


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    return is_listening(parts.hostname or "", parts.port or 80)


def is_listening(host: str, port: int) -> bool:
    """Whether somebody takes a connection there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    try:
        with socket.create_connection((host, port), timeout=_KNOCK_S_MAX):
            return True
    except OSError:
        return False


def _port(workspace: Path) -> Iterator[Finding]:
    lock = workspace / STORAGE / COORDINATOR_LOCK
    owner = read_owner(lock) if is_held(lock) else None
    is_ours = owner is not None and urlsplit(owner.url).port == DEFAULT_PORT
    if is_ours:
        yield Finding("port", Verdict.OK, f"{DEFAULT_PORT} is this workspace's own")
    elif is_listening(DEFAULT_HOST, DEFAULT_PORT):
        advice = "serve with --port, or stop whoever it is (SiYuan itself uses this port)"
        yield Finding("port", Verdict.WARN, f"{DEFAULT_PORT} is taken by somebody else", advice)
    else:
        yield Finding("port", Verdict.OK, f"{DEFAULT_PORT} is free")


def _secrets(workspace: Path) -> Iterator[Finding]:
    conf = workspace / "conf" / "conf.json"
    try:
        token = read_json(conf.read_text(encoding="utf-8"))["api"]["token"]
    except FileNotFoundError:
        yield Finding("conf", Verdict.WARN, f"{conf} is not there yet", "the first start makes it")
        return
    except (OSError, ValueError, KeyError, TypeError):
        yield Finding(
            "conf", Verdict.FAIL, f"{conf} cannot be read", "repair it, or move it away: a start makes another"
        )
        return
    mode = stat.S_IMODE(conf.stat().st_mode)
    if not token:
        yield Finding("conf", Verdict.WARN, "there is no API token", "start the kernel once: it makes one")
    elif mode & 0o077 and sys.platform != "win32":
        words = f"others can read the API token (mode {mode:04o})"
        yield Finding("conf", Verdict.WARN, words, f"chmod 600 {conf}")
    else:
        yield Finding("conf", Verdict.OK, "has an API token that only its owner can read")


def _ledger(workspace: Path) -> Iterator[Finding]:
    yield ledger_finding(workspace / STORAGE)


def ledger_finding(folder: Path) -> Finding:
    """What the ledger in that folder says of itself."""
    if not (folder / LEDGER_FILE).exists():
        return Finding("ledger", Verdict.OK, "none yet: nothing was written through here")
    try:
        summary = ledger_reading.summary(folder)
    except LedgerUnavailable as error:
        return Finding(
            "ledger", Verdict.FAIL, str(error), "every safe write is refused until it can be read: repair it"
        )
    counts = summary["counts"]
    in_doubt = counts.get("unknown", 0)
    words = ", ".join(f"{count} {state}" for state, count in counts.items()) or "empty"
    if summary["damage"] or not summary["isKnown"]:
        reason = "; ".join(summary["damage"]) or f"schema {summary['schema']} is of a newer release"
        return Finding("ledger", Verdict.FAIL, reason, "restore it from a backup, or use the release that wrote it")
    if in_doubt:
        advice = "sisyphus-kernel ledger list --state unknown shows them: look at their targets"
        return Finding("ledger", Verdict.WARN, words, advice)
    return Finding("ledger", Verdict.OK, words)


def _index(workspace: Path) -> Iterator[Finding]:
    path = workspace / INDEX_FILE
    if not path.exists():
        yield Finding("index", Verdict.OK, "none: the next start builds it")
        return
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_KNOCK_S_MAX)
        try:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        answer = str(error)
    if answer == "ok":
        yield Finding("index", Verdict.OK, f"{path.stat().st_size // 1024:,} KiB")
    else:
        yield Finding("index", Verdict.WARN, f"damaged: {answer}", f"stop the kernel and remove {path}: it is rebuilt")


def _settings(workspace: Path) -> Iterator[Finding]:
    folder = workspace / STORAGE
    yield settings_finding(folder, _bytes(folder / "mcpToolsConfig"), _bytes(folder / "mcpHttpSettings"))


def settings_finding(folder: PurePath, tools_config: bytes | None, http_settings: bytes | None) -> Finding:
    """What the two settings files switch on. ``folder`` names their place in the advice."""
    try:
        configuration = read_configuration(tools_config, http_settings)
    except ConfigurationUnreadable as error:
        advice = f"repair {folder / 'mcpToolsConfig'}: every call is refused"
        return Finding("settings", Verdict.FAIL, str(error), advice)
    if _parsed(http_settings) is None:
        words = "mcpHttpSettings is not a JSON object: its defaults are used"
        return Finding("settings", Verdict.WARN, words, f"repair {folder / 'mcpHttpSettings'}")
    if not configuration.serves_endpoint:
        return Finding("settings", Verdict.FAIL, "kernelEndpointEnabled is false", "set it to true in mcpHttpSettings")
    if not configuration.is_strict:
        words = "strict safe writes are off: nothing is checked, replayed or read back"
        return Finding("settings", Verdict.WARN, words, "set writeSafety.strictMode to true in mcpToolsConfig")
    tools = configuration.enabled_tools()
    actions = sum(len(configuration.enabled_actions(tool)) for tool in tools)
    return Finding("settings", Verdict.OK, f"strict safe writes, {actions} actions of {len(tools)} tools are on")


def _permissions(workspace: Path) -> Iterator[Finding]:
    path = workspace / STORAGE / "notebookPermissions"
    data = workspace / "data"
    names = [entry.name for entry in data.iterdir() if (entry / ".siyuan").is_dir()] if data.is_dir() else []
    yield permissions_finding(path, _bytes(path), names)


def permissions_finding(path: PurePath, content: bytes | None, notebooks: Sequence[str]) -> Finding:
    """How many notebooks may be read, written, deleted from. ``path`` names the file in the advice."""
    try:
        permissions = read_permissions(content, Level.WRITE)
    except PermissionsUnreadable as error:
        return Finding("permissions", Verdict.FAIL, str(error), f"repair {path}: every call is refused until then")
    levels = [spelled(permissions.of(name)) for name in notebooks]
    words = ", ".join(f"{levels.count(level)} {level}" for level in ("none", "r", "rw", "rwd") if level in levels)
    return Finding("permissions", Verdict.OK, f"{len(notebooks)} notebooks" + (f": {words}" if words else ""))


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _parsed(content: bytes | None) -> dict[str, Any] | None:
    try:
        parsed = read_json(content or b"{}")
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


Check = Callable[[Path], Iterator[Finding]]
CHECKS: Final[tuple[Check, ...]] = (_disk, _lock, _port, _secrets, _settings, _permissions, _ledger, _index)
