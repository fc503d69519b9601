"""Tools ``file`` and ``unzip``: files of the workspace by their path. What a path leads out to is refused."""

from __future__ import annotations

import fnmatch
import os
import posixpath
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from kernel.siyuan.limits import TOOL_FILE_BYTES_MAX
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action
from kernel.siyuan.packages import FOLDER_BYTES
from kernel.workspace.patterns import Pattern, PatternInvalid, compiled

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call
    from kernel.siyuan.native_mcp.base import Action
    from kernel.workspace.backend import FileStat
    from kernel.workspace.files import Files

LINES_DEFAULT: Final = 200
CONF: Final = "conf/conf.json"
_GONE: Final = "no such file or directory"
_STAMP: Final = "%Y-%m-%d %H:%M:%S"


def resolved(call: ToolCall, given: str) -> str:
    """A path below the workspace, which is not the workspace itself. Raises ToolFailed."""
    inner = posixpath.normpath(given)
    path = posixpath.normpath("./" + inner.lstrip("/"))
    leads_out = inner.startswith("../") or path.startswith("../") or path in (".", "..")
    if leads_out or inner == ".." or "\0" in given:
        raise ToolFailed(f"path escapes workspace: {inner}")
    top = os.path.realpath(call.workspace.files.absolute(""))
    real = os.path.realpath(call.workspace.files.absolute(path))
    if real != top and not real.startswith(f"{top}/"):
        raise ToolFailed(f"symlink escapes workspace: {inner}")
    if path == CONF or real == f"{top}/{CONF}":
        raise ToolFailed("access to conf.json is forbidden")
    return path


def _stat(call: ToolCall, path: str, failure: str) -> FileStat:
    found = call.workspace.files.stat(path)
    if found is None:
        raise ToolFailed(f"{failure}stat {call.workspace.files.absolute(path)}: {_GONE}")
    return found


def shown_size(found: FileStat) -> int:
    """Bytes; a folder counts as the disk's smallest piece."""
    return FOLDER_BYTES if found.is_dir else found.size


def stat_text(call: ToolCall, shown: str, found: FileStat) -> str:
    zone = call.kernel.clock.local().tzinfo or UTC
    changed = datetime.fromtimestamp(found.mtime_s, tz=zone)
    is_dir = "true" if found.is_dir else "false"
    return f"Path: {shown}\nSize: {shown_size(found)}\nIsDir: {is_dir}\nModTime: {changed:{_STAMP}}"


async def stat(call: ToolCall) -> str:
    given = call.needed("path")
    return stat_text(call, given, _stat(call, resolved(call, given), "stat failed: "))


async def list_dir(call: ToolCall) -> str:
    given = call.needed("path")
    path = resolved(call, given)
    files = call.workspace.files
    try:
        entries = files.list(path)
    except NotADirectoryError:
        raise ToolFailed(f"read dir failed: open {files.absolute(path)}: not a directory") from None
    except FileNotFoundError:
        raise ToolFailed(f"read dir failed: open {files.absolute(path)}: {_GONE}") from None
    count_max = _limit(call)
    lines = [f"Directory: {given} ({len(entries)} entries)\n\n"]
    lines += [f"- {one.name} [{'DIR' if one.is_dir else 'FILE'}] {shown_size(one)}\n" for one in entries[:count_max]]
    if count_max < len(entries):
        lines.append(f"\n...output limited to {count_max} of {len(entries)} entries. Use limit parameter to adjust.")
    return "".join(lines)


def _limit(call: ToolCall) -> int:
    limit = call.number("limit", 0)
    return limit if limit > 0 else LINES_DEFAULT


def _content(call: ToolCall, path: str, failure: str) -> bytes:
    files = call.workspace.files
    try:
        found = files.stat(path)
        if found is not None and not found.is_dir and found.size > TOOL_FILE_BYTES_MAX:
            raise ToolFailed(f"{failure}{files.absolute(path)} is longer than {TOOL_FILE_BYTES_MAX} bytes")
        return files.read(path)
    except FileNotFoundError:
        raise ToolFailed(f"{failure}open {files.absolute(path)}: {_GONE}") from None
    except (IsADirectoryError, NotADirectoryError) as error:
        kind = "is a directory" if isinstance(error, IsADirectoryError) else "not a directory"
        word = "read" if isinstance(error, IsADirectoryError) else "open"
        raise ToolFailed(f"{failure}{word} {files.absolute(path)}: {kind}") from None


async def read(call: ToolCall) -> str:
    """Lines from ``offset`` (the first is 1; negative: from the end), ``limit`` of them (negative: all)."""
    path = resolved(call, call.needed("path"))
    text = _content(call, path, "read file failed: ").decode("utf-8", "replace")
    offset, limit = call.number("offset", 0), call.number("limit", 0)
    if offset == 0 and limit == 0:
        limit = LINES_DEFAULT
    lines = text.split("\n")
    start = max(len(lines) + offset, 0) if offset < 0 else max(offset - 1, 0)
    if start >= len(lines):
        raise ToolFailed(f"(file has {len(lines)} lines, offset out of range)")
    end = min(start + limit, len(lines)) if limit > 0 else len(lines)
    return "\n".join(lines[start:end])


async def write(call: ToolCall) -> str:
    given, data = call.all_needed("path", "data")
    path = resolved(call, given)
    await _change(call, lambda files: files.write(path, data.encode("utf-8", "replace")), "write file failed: ", path)
    return f"file written: {given}"


async def _change(call: ToolCall, change: Callable[[Files], None], failure: str, *paths: str) -> None:
    """Change files below ``paths``; documents that were known among them are read anew, or forgotten."""

    def handle(one: Call) -> None:
        workspace = one.kernel.workspace
        touched = _all_below(workspace.files, paths)
        try:
            change(workspace.files)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise ToolFailed(f"{failure}open {error.filename}: {reason}") from error
        workspace.reload([*touched, *_all_below(workspace.files, paths)])

    await call.kernel.durable.quiesce()
    await call.run(handle)


def _all_below(files: Files, paths: tuple[str, ...]) -> list[str]:
    return [below for path in paths for below in ([b for b, _ in files.walk(path)] if files.is_dir(path) else [path])]


async def delete(call: ToolCall) -> str:
    given = call.needed("path")
    path = resolved(call, given)
    _stat(call, path, "stat failed: ")
    await _change(call, lambda files: files.remove(path), "delete failed: ", path)
    return f"deleted: {given}"


async def rename(call: ToolCall) -> str:
    old, new = call.all_needed("old", "new")
    source, target = resolved(call, old), resolved(call, new)
    files = call.workspace.files
    if not files.exists(source):
        raise ToolFailed(f"rename failed: rename {files.absolute(source)} {files.absolute(target)}: {_GONE}")
    if source != target and files.is_dir(target):
        raise ToolFailed(f"rename failed: rename {files.absolute(source)} {files.absolute(target)}: file exists")
    await _change(call, lambda store: store.rename(source, target), "rename failed: ", source, target)
    return f"renamed: {old} -> {new}"


async def copy(call: ToolCall) -> str:
    src, dst = call.all_needed("src", "dst")
    source, target = resolved(call, src), resolved(call, dst)
    _stat(call, source, "copy failed: ")
    await _change(call, lambda store: store.copy(source, target), "copy failed: ", target)
    return f"copied: {src} -> {dst}"


# --- looking for -----------------------------------------------------------------------------------------------
def _walked(files: Files, path: str) -> Iterator[str]:
    """Files below a folder, hidden folders left out; a file itself."""
    found = files.stat(path) if path else None
    if found is not None and not found.is_dir:
        yield path
        return
    for below, _ in files.walk(path):
        inner = below.removeprefix(f"{path}/")
        if not any(part.startswith(".") for part in inner.split("/")[:-1]):
            yield below


def _matches(name: str, pattern: str) -> bool:
    return not pattern or any(fnmatch.fnmatchcase(name, one) for one in expanded(pattern))


def expanded(pattern: str) -> list[str]:
    """``*.{a,b}`` as ``*.a`` and ``*.b``."""
    start = pattern.find("{")
    end = pattern.find("}", start)
    if start < 0 or end < 0:
        return [pattern]
    head, tail = pattern[:start], pattern[end + 1 :]
    return [one for option in pattern[start + 1 : end].split(",") for one in expanded(head + option.strip() + tail)]


async def find(call: ToolCall) -> str:
    path = resolved(call, call.needed("path"))
    include, count_max = call.text("include"), _limit(call)
    found: list[str] = []
    for below in _walked(call.workspace.files, path):
        if _matches(posixpath.basename(below), include):
            found.append(below)
        if len(found) >= count_max:
            break
    return f"Found {len(found)} files:\n\n{''.join(f'{one}' + chr(10) for one in found)}"


async def grep(call: ToolCall) -> str:
    pattern = call.needed("pattern")
    path = resolved(call, call.needed("path"))
    try:
        expression = compiled(pattern)
    except PatternInvalid as error:
        raise ToolFailed(f"grep failed: {error}") from error
    _stat(call, path, "grep failed: ")
    include, around, count_max = call.text("include"), max(call.number("context", 0), 0), _limit(call)
    files = call.workspace.files
    lines: list[str] = []
    for below in _walked(files, path):
        if not _matches(posixpath.basename(below), include) or below == CONF:
            continue
        content = _content(call, below, "grep failed: ")
        # A pattern may take its time: not on the loop.
        rows = await trio.to_thread.run_sync(partial(_hits, expression, content, around), abandon_on_cancel=True)
        lines += [f"{below}:{number}{'-:' if is_around else ':'} {text}\n" for number, is_around, text in rows]
        if len(lines) >= count_max:
            break
    lines = lines[:count_max]
    return f"Found {len(lines)} lines:\n\n{''.join(lines)}"


def _hits(expression: Pattern, content: bytes, around: int) -> list[tuple[int, bool, str]]:
    """Line number, whether it only stands around a hit, text."""
    lines = content.decode("utf-8", "replace").splitlines()
    hits = {number for number, line in enumerate(lines, 1) if expression.matches(line)}
    shown = {near for hit in hits for near in range(max(1, hit - around), min(len(lines), hit + around) + 1)}
    return [(number, number not in hits, lines[number - 1]) for number in sorted(shown)]


# --- unzip -----------------------------------------------------------------------------------------------------
async def unzip(call: ToolCall) -> str:
    given, target = call.needed("zipPath"), call.needed("destPath")
    paths = []
    for name, value in (("zipPath", given), ("destPath", target)):
        try:
            paths.append(resolved(call, value))
        except ToolFailed as error:
            raise ToolFailed(f"invalid {name}: {error}") from error
    if not call.workspace.files.exists(paths[0]):
        raise ToolFailed(f"zip file not found: {given}")
    if call.workspace.files.is_dir(paths[0]):
        raise ToolFailed(f"unzip failed: read {call.workspace.files.absolute(paths[0])}: is a directory")
    await call.data("/api/archive/unzip", "unzip failed: ", zipPath=f"/{paths[0]}", path=f"/{paths[1]}")
    return f"Extracted {given} to {target}"


_ACTIONS: Final[dict[str, Action]] = {
    "list": list_dir,
    "read": read,
    "write": write,
    "delete": delete,
    "rename": rename,
    "copy": copy,
    "grep": grep,
    "find": find,
    "stat": stat,
}
TOOLS: Final[dict[str, Action]] = {"file": by_action(_ACTIONS), "unzip": unzip}
