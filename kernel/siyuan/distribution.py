"""What a real distribution's folder (``--wd``) brings into the workspace at the start, as the kernel copies it."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.siyuan.file_roots import Root

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel
    from kernel.workspace.files import Files

APPEARANCE_DIR: Final = "conf/appearance"
FALLBACK_LANGUAGE: Final = "langs/en.json"
# These two are complete by themselves; every other language is filled up from English.
_WHOLE_LANGUAGES: Final = frozenset({"en", "zh-CN"})


def bring_appearance(kernel: SiyuanKernel) -> None:
    """Copy themes, icons, languages and emojis of the distribution over those of the workspace."""
    if not kernel.options.working_dir:
        return
    source = Path(kernel.options.working_dir) / "appearance"
    for file in sorted(source.rglob("*")):
        if file.is_file():
            _bring(kernel.workspace.files, file, f"{APPEARANCE_DIR}/{file.relative_to(source).as_posix()}")


def _bring(files: Files, source: Path, target: str) -> None:
    """One file with its time, by which the next start knows that it is there already."""
    found, modified_ms = source.stat(), int(source.stat().st_mtime) * 1000
    there = files.stat(target)
    if there is None or (there.size, int(there.mtime_s) * 1000) != (found.st_size, modified_ms):
        files.write(target, source.read_bytes(), modified_ms=modified_ms)


def is_partial_language(path: str) -> bool:
    """Whether a path below the appearance is a language that lacks what English has."""
    name = posixpath.basename(path).removesuffix(".json")
    return "/langs/" in f"/{path}" and path.endswith(".json") and name not in _WHOLE_LANGUAGES


async def filled_language(root: Root, path: str) -> dict[str, Any]:
    """The texts of a language by name, those of English where it has none."""
    merged = {**await _texts(root, FALLBACK_LANGUAGE), **await _texts(root, path)}
    return dict(json.loads(json.dumps(merged, sort_keys=True)))


async def _texts(root: Root, path: str) -> dict[str, Any]:
    """None at all where the file is missing or broken."""
    try:
        loaded = read_json((await root.read(path)).content.decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
