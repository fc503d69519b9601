"""Skills of the kernel's own agent: ``data/storage/ai/agent/skills/<name>/SKILL.md``, Markdown with front matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.workspace.files import Files

SKILLS_DIR: Final = "data/storage/ai/agent/skills"
SKILL_FILE: Final = "SKILL.md"
DESCRIPTION_RUNES_MAX: Final = 200


class SkillRefused(ValueError):
    """The skill cannot be read, kept or moved; the message is the kernel's."""


def listed_skills(files: Files) -> Iterator[dict[str, str]]:
    """Name and description of each skill, by folder; the description is the first line where none is said."""
    entries = files.list(SKILLS_DIR) if files.is_dir(SKILLS_DIR) else []
    for name in sorted(entry.name for entry in entries if entry.is_dir):
        path = f"{SKILLS_DIR}/{name}/{SKILL_FILE}"
        if files.exists(path):
            said, body = _parts(files.read(path).decode("utf-8", "replace"))
            description = said.get("description") or _first_line(body)
            yield {"name": said.get("name") or name, "description": description}


def read_skill(files: Files, name: str) -> str:
    path = f"{_folder(name)}/{SKILL_FILE}"
    if not files.exists(path):
        raise SkillRefused(f"skill not found: {name}")
    return files.read(path).decode("utf-8", "replace")


def save_skill(files: Files, name: str, content: str) -> None:
    files.write(f"{_folder(name)}/{SKILL_FILE}", content.encode("utf-8", "replace"))


def remove_skill(files: Files, name: str) -> None:
    if not files.is_dir(_folder(name)):
        raise SkillRefused(f"skill not found: {name}")
    files.remove(_folder(name))


def rename_skill(files: Files, old: str, new: str) -> None:
    source, target = _folder(old), _folder(new)
    if not files.is_dir(source):
        raise SkillRefused(f"skill not found: {old}")
    if files.exists(target):
        raise SkillRefused(f"skill already exists: {new}")
    files.rename(source, target)


def _folder(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise SkillRefused(f"invalid skill name: {name}")
    return f"{SKILLS_DIR}/{name}"


def _parts(text: str) -> tuple[dict[str, str], str]:
    """What the front matter says (name, description), and the text below it."""
    text = text.strip()
    end = text.find("\n---", 3) if text.startswith("---") else -1
    if end < 0:
        return {}, text
    said: dict[str, str] = {}
    for line in text[3:end].splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() in ("name", "description"):
            said[key.strip()] = value.strip()
    return said, text[end + 4 :].strip()


def _first_line(text: str) -> str:
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= DESCRIPTION_RUNES_MAX else f"{line[:DESCRIPTION_RUNES_MAX]}..."
