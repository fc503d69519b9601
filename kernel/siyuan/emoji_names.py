"""Names of custom emojis, which are paths of image files: nothing in them that could leave an attribute or a folder."""

from __future__ import annotations

import posixpath
from typing import Final

from kernel.workspace.names import without_invisible

# Bytes of a file name.
NAME_BYTES_MAX: Final = 189
_SEPARATOR: Final = "_@slash@_"
_REPLACED: Final = str.maketrans(dict.fromkeys("\\:*?\"'<>|/", "_"))
_DROPPED: Final = str.maketrans("", "", "~[]()!`&{}=#%$;")
# Dynamic icons are addresses with a query, not files.
_DYNAMIC: Final = "api/icon/"


def safe_emoji_name(name: str) -> str:
    """The name as it may be stored; folders stay, everything that a file name cannot hold is replaced or dropped."""
    if name.startswith(_DYNAMIC):
        return name
    return safe_file_name(name.replace("/", _SEPARATOR)).replace(_SEPARATOR, "/")


def safe_file_name(name: str) -> str:
    """A file name without separators, quotes and marks of Markdown, cut to ``NAME_BYTES_MAX``."""
    name = without_invisible(name.translate(_REPLACED)).strip().removesuffix(".").translate(_DROPPED)
    stem, extension = posixpath.splitext(name)
    if len(name.encode()) <= NAME_BYTES_MAX - len(extension.encode()):
        return name
    kept = stem.encode()[: NAME_BYTES_MAX - len(extension.encode())].decode("utf-8", "ignore")
    return kept + extension
