"""[core] Paths as clients give them to the file endpoints, turned into paths inside the workspace."""

from __future__ import annotations

import posixpath

from kernel.siyuan.arguments import ApiError


def permission_denied() -> ApiError:
    """The kernel's refusal of a path outside its workspace."""
    return ApiError("permission denied", 403)


def inside(path: str) -> str:
    """``path`` relative to the workspace, normalised; ``""`` is the workspace itself.

    A leading slash means the workspace's root; backslashes are ordinary characters, as on the recorded kernel.

    Raises:
        ApiError: the path leaves the workspace (code 403).
    """
    joined = posixpath.normpath("./" + path.lstrip("/"))
    if joined == ".." or joined.startswith("../"):
        raise permission_denied()
    return "" if joined == "." else joined
