"""Tool ``skill``: instructions for the kernel's own agent, a folder each with a SKILL.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action
from kernel.siyuan.native_mcp.tools.others import OFFLINE

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call
    from kernel.siyuan.native_mcp.base import Action

SKILLS: Final = "data/storage/ai/agent/skills"
SKILL_FILE: Final = "SKILL.md"
DESCRIPTION_CHARS_MAX: Final = 200
_FENCE: Final = "---"
_NO_SOURCE: Final = (
    "url is required for install (owner/repo shorthand, GitHub URL, raw SKILL.md URL, or release zip URL)"
)
# A repository by its owner and name, the way GitHub has them.
_SHORTHAND: Final = re.compile(r"[\w.-]+/[\w.-]+(?:/[\w./-]*)?")


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. Its name is the one in its head, else its folder's."""

    folder: str
    name: str
    description: str
    body: str


def read_skill(folder: str, text: str) -> Skill:
    """A skill's file: a head between two fences, then the body."""
    text = text.strip()
    head, body = "", text
    end = text.find(f"\n{_FENCE}", len(_FENCE)) if text.startswith(_FENCE) else -1
    if end >= 0:
        head, body = text[len(_FENCE) : end], text[end + 1 + len(_FENCE) :].strip()
    values = {}
    for line in head.split("\n"):
        key, colon, value = line.strip().partition(":")
        if colon and not key.startswith("#"):
            values[key.strip()] = value.strip()
    return Skill(folder, values.get("name") or folder, values.get("description") or _first_line(body), body)


def _first_line(text: str) -> str:
    line = text.splitlines()[0] if text else ""
    return line if len(line) <= DESCRIPTION_CHARS_MAX else f"{line[:DESCRIPTION_CHARS_MAX]}..."


def _all(call: ToolCall) -> Iterator[Skill]:
    files = call.workspace.files
    for entry in files.list(SKILLS) if files.is_dir(SKILLS) else []:
        path = f"{SKILLS}/{entry.name}/{SKILL_FILE}"
        if entry.is_dir and files.exists(path):
            yield read_skill(entry.name, files.read(path).decode("utf-8", "replace"))


def _named(call: ToolCall, argument: str = "name", problem: str = "skill name is required") -> str:
    return call.needed(argument, problem)


def _check(name: str) -> None:
    if name in (".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise ToolFailed(f"invalid skill name: {name}")


def _check_there(call: ToolCall, name: str) -> None:
    if not call.workspace.files.exists(f"{SKILLS}/{name}"):
        raise ToolFailed(f"skill not found: {name}")


async def load(call: ToolCall) -> str:
    name = _named(call)
    for one in _all(call):
        if name.lower() in (one.name.lower(), one.folder.lower()) and one.body:
            return f'<skill_content name="{name}">\n\n{one.body}\n\n</skill_content>'
    raise ToolFailed(f"skill not found: {name}")


async def save(call: ToolCall) -> str:
    name = _named(call)
    content = call.needed("content", "skill content is required").encode("utf-8", "replace")
    _check(name)
    await call.run(lambda one: one.kernel.workspace.files.write(f"{SKILLS}/{name}/{SKILL_FILE}", content))
    return f"skill saved: {name}"


async def install(call: ToolCall) -> str:
    source = call.needed("url", _NO_SOURCE)
    raise ToolFailed(f"install failed: {_refused_source(source) or OFFLINE}")


def _refused_source(source: str) -> str:
    """Why a source is not even looked up; "" if it would be."""
    host = urlsplit(source).hostname or "" if "://" in source else ""
    if not host and not _SHORTHAND.fullmatch(source):
        return f"unrecognized skill source: {source}"
    try:
        address = ip_address(host)
    except ValueError:
        return ""
    return "" if address.is_global else "access to private/internal IP is prohibited"


async def remove(call: ToolCall) -> str:
    name = _named(call)
    _check(name)
    _check_there(call, name)
    await call.kernel.durable.quiesce()
    await call.run(lambda one: one.kernel.workspace.files.remove(f"{SKILLS}/{name}"))
    return f"skill removed: {name}"


async def rename(call: ToolCall) -> str:
    name = _named(call)
    new = _named(call, "new_name", "new skill name is required")
    _check(name)
    _check(new)
    _check_there(call, name)
    if call.workspace.files.exists(f"{SKILLS}/{new}"):
        raise ToolFailed(f"skill already exists: {new}")

    def handle(one: Call) -> None:
        one.kernel.workspace.files.rename(f"{SKILLS}/{name}", f"{SKILLS}/{new}")

    await call.kernel.durable.quiesce()
    await call.run(handle)
    return f"skill renamed: {name} -> {new}"


async def list_all(call: ToolCall) -> str:
    rows = list(_all(call))
    if not rows:
        return "no skills available"
    return "available skills:\n" + "".join(f"- **{one.name}**: {one.description}\n" for one in rows)


_by_action: Final = by_action(
    {"load": load, "save": save, "install": install, "remove": remove, "rename": rename, "list": list_all}
)


async def skill(call: ToolCall) -> str:
    """Without an action a skill is loaded."""
    return await (_by_action(call) if call.text("action") else load(call))


TOOLS: Final[dict[str, Action]] = {"skill": skill}
