"""[core] Names and paths: titles as the kernel keeps them, storage paths, ids inside paths."""

from __future__ import annotations

import html
import unicodedata
from typing import Final

SUFFIX: Final = ".sy"
ZERO_WIDTH_JOINER: Final = "\u200d"
_ZERO_WIDTH: Final = str.maketrans("", "", "\u200b\u200c\u200d\ufeff\u2060\u180e")
_RESERVED: Final = frozenset({"assets", "templates", "widgets", "emojis", ".siyuan"})


def normalized_title(title: str) -> str:
    """A document's title: no slash, nothing invisible (the joiner of emoji is kept), no blanks around it."""
    parts = title.replace("/", "").split(ZERO_WIDTH_JOINER)
    return ZERO_WIDTH_JOINER.join(without_invisible(part) for part in parts).strip()


def without_invisible(text: str) -> str:
    """``text`` without zero-width, control and private-use characters; a no-break space becomes a blank."""
    return "".join(char for char in text.replace("\u00a0", " ").translate(_ZERO_WIDTH) if _is_shown(char))


def _is_shown(char: str) -> bool:
    return char in " \u3000" or unicodedata.category(char)[0] in "LMNPS"


def trimmed_path(path: str) -> str:
    """Every part of a path of titles without blanks around it."""
    return "/".join(part.strip() for part in path.split("/"))


def tree_id(path: str) -> str:
    """The id a storage path names: ``/a/b.sy`` → ``b``."""
    return base_name(path).removesuffix(SUFFIX)


def base_name(path: str) -> str:
    """The last part of a path, as Go's path.Base gives it."""
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


def dir_name(path: str) -> str:
    """All but the last part, as Go's path.Dir gives it: cleaned, never empty."""
    return clean_path(path.rpartition("/")[0] or ("/" if path.startswith("/") else "."))


def clean_path(path: str) -> str:
    """The shortest path to the same place: no empty, ``.`` or inner ``..`` parts (Go's path.Clean)."""
    is_rooted = path.startswith("/")
    kept: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part != ".." or not is_rooted:
            kept.append(part)
    joined = "/".join(kept)
    return f"/{joined}" if is_rooted else joined or "."


def joined_path(*parts: str) -> str:
    """Go's path.Join."""
    filled = [part for part in parts if part]
    return clean_path("/".join(filled)) if filled else ""


def without_suffix(path: str) -> str:
    """A document's path as the folder of its children: ``/a/b.sy`` → ``/a/b``."""
    return path.removesuffix(SUFFIX)


def is_reserved(name: str) -> bool:
    """Whether a name in a notebook's folder is never a document."""
    return name in _RESERVED or name.startswith(".")


def escaped_attribute(value: str) -> str:
    """A value as .sy properties and IALs hold it (siyuan-markdown 2.4)."""
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return escaped.replace("{", "&#123;").replace("}", "&#125;").replace("\n", "_esc_newline_")


def unescaped_attribute(value: str) -> str:
    """The value that ``escaped_attribute`` was given."""
    return html.unescape(value).replace("_esc_newline_", "\n") if "&" in value or "_esc_" in value else value
