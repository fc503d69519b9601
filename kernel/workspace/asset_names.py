"""[core] Names of assets: what an uploaded file is called, and the id in its name."""

from __future__ import annotations

import re
from typing import Final

from kernel.ids import is_node_id
from kernel.workspace.limits import ASSET_NAME_BYTES_MAX
from kernel.workspace.names import base_name, without_invisible

# The ends of names of pictures that every reader shows, in small letters.
IMAGE_EXTENSIONS: Final = frozenset(
    [
        ".apng",
        ".ico",
        ".cur",
        ".jpg",
        ".jpe",
        ".jpeg",
        ".jfif",
        ".pjp",
        ".pjpeg",
        ".png",
        ".gif",
        ".webp",
        ".bmp",
        ".svg",
        ".avif",
    ]
)
_TO_UNDERSCORE: Final = str.maketrans(dict.fromkeys("\\/:*?\"'<>|", "_"))
_DROPPED: Final = str.maketrans("", "", "~[]()!`&{}=#%$;")
_ID_LENGTH: Final = 22
# A picture cut out of a PDF carries the page, the rotation and an id; they outlive the shortening of its name.
_PDF_CUT: Final = re.compile(r"-?P?[0-9]{0,4}-?[0-9]{1,3}-[0-9]{14}-[0-9a-zA-Z]{7}\.png$")


def extension(name: str) -> str:
    """``.png`` of ``a.png``, with its dot; ``""`` where there is none, or only a dot."""
    found = raw_extension(name)
    return "" if found == "." else found


def raw_extension(name: str) -> str:
    """From the last dot of the last part, as Go's path.Ext gives it."""
    last = name.rpartition("/")[2]
    _, dot, end = last.rpartition(".")
    return f".{end}" if dot else ""


def last_id(path: str) -> str:
    """What stands where an asset's id stands: the last 22 characters before the extension."""
    name = base_name(path)
    return name.removesuffix(extension(name))[-_ID_LENGTH:]


def file_name(name: str) -> str:
    """A name that any file system takes."""
    return without_invisible(name.translate(_TO_UNDERSCORE)).strip().removesuffix(".")


def file_path(path: str) -> str:
    """A path whose every part is a name that any file system takes."""
    return "/".join(file_name(part) for part in path.split("/"))


def upload_name(name: str) -> str:
    """The name an uploaded file is stored under, still without an id; its extension in lower case."""
    filtered = shortened(file_name(name).translate(_DROPPED))
    suffix = raw_extension(filtered)
    return filtered.removesuffix(suffix) + suffix.lower() if suffix else filtered


def filtered_name(name: str) -> str:
    """``upload_name`` with the extension as it was written."""
    return shortened(file_name(name).translate(_DROPPED))


def shortened(name: str) -> str:
    """``name`` cut to the bytes a file name may have; the extension is kept."""
    suffix, kept_end = raw_extension(name), ""
    bytes_max = ASSET_NAME_BYTES_MAX - len(suffix.encode())
    found = _PDF_CUT.search(name) if suffix == ".png" else None
    if found is not None:
        kept_end = found[0]
        bytes_max -= len(kept_end) + len(".png")
        name = name.removesuffix(kept_end)
    encoded = name.encode("utf-8", "replace")
    if len(encoded) <= bytes_max:
        return name + kept_end
    return encoded[: max(bytes_max, 0)].decode("utf-8", "ignore") + (kept_end or suffix)


def with_id(name: str, new_id: str) -> str:
    """``a-<id>.png`` for ``a.png``; a name that carries an id keeps it."""
    suffix, found = extension(name), last_id(name)
    stem = name[: len(name) - len(suffix)]
    if not is_node_id(found):
        return f"{stem}-{new_id}{suffix}"
    return f"{stem}{suffix}" if is_node_id(stem) else f"{stem[: -len(found) - 1]}-{found}{suffix}"


def without_id(name: str) -> str:
    """``a.png`` for ``a-<id>.png``."""
    suffix = extension(name)
    stem = name.removesuffix(suffix) if suffix else name
    if len(stem) > _ID_LENGTH + 1 and is_node_id(stem[-_ID_LENGTH:]):
        stem = stem[: -_ID_LENGTH - 1]
    return stem + suffix
