"""The scenarios as skills: a folder of files each, with the whole digest of every file (R61). Does no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from kernel.tools import guides

SCHEME: Final = "skill://"
ENTRY: Final = "SKILL.md"
_MARKDOWN: Final = "text/markdown"
# What every scenario leans on.
_SHARED: Final[Mapping[str, str]] = {
    "references/paths.md": guides.PATHS,
    "references/write-safety.md": guides.WRITE_SAFETY,
}


@cache
def files() -> Mapping[str, str]:
    """URI → text of every file of every skill, in order."""
    found = {}
    for name, (title, task) in guides.PROMPTS.items():
        folder = SCHEME + skill_name(name)
        pointers = "\n".join(f"- [{path}]({path})" for path in _SHARED)
        head = f"---\nname: {skill_name(name)}\ndescription: {_described(title, task)}\n---\n"
        found[f"{folder}/{ENTRY}"] = f"{head}\n# {title}\n\n{task}\n\nSee also:\n\n{pointers}\n"
        found |= {f"{folder}/{path}": text for path, text in _SHARED.items()}
    return found


def skill_name(scenario: str) -> str:
    """A skill's folder and its name are one: small letters and dashes."""
    return "siyuan-" + scenario.replace("_", "-")


def entries() -> list[dict[str, Any]]:
    """``skills/list``: ``{uri, frontmatter:{name, description}, resources:[{uri, digest}]}`` each; digests are whole."""
    return [_entry(name) for name in guides.PROMPTS]


def entry(uri: str) -> dict[str, Any] | None:
    """One skill by the URI of its entry file; None for any other."""
    return next((row for row in entries() if row["uri"] == uri), None)


def _entry(scenario: str) -> dict[str, Any]:
    name, (title, task) = skill_name(scenario), guides.PROMPTS[scenario]
    folder = f"{SCHEME}{name}/"
    return {
        "uri": folder + ENTRY,
        "frontmatter": {"name": name, "description": _described(title, task)},
        "resources": [{"uri": uri, "digest": digest(text)} for uri, text in files().items() if uri.startswith(folder)],
    }


def digest(text: str) -> str:
    """``sha256:`` and all 64 digits: a client checks a file with it, so nothing is shortened."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def resources() -> list[dict[str, Any]]:
    """The files as resources."""
    return [
        {
            "uri": uri,
            "name": uri.removeprefix(SCHEME),
            "title": uri.rpartition("/")[2],
            "mimeType": _MARKDOWN,
            "size": len(text.encode()),
        }
        for uri, text in files().items()
    ]


def read(uri: str) -> list[dict[str, Any]] | None:
    """One file's contents; None for an unknown one."""
    text = files().get(uri)
    return None if text is None else [{"uri": uri, "mimeType": _MARKDOWN, "text": text}]


def _described(title: str, task: str) -> str:
    """One line: what it is for. The first sentence says it."""
    return f"{title}. {task.split('. ', 1)[0].rstrip('.')}."
