"""[core] What the workspace has to tell the windows that listen: events are collected, the surface pushes them later."""

from __future__ import annotations

from typing import Any, Final

import msgspec

ALL: Final = ("main", "protyle", "filetree")
MAIN: Final = ("main",)
PROTYLE: Final = ("protyle",)
FILETREE: Final = ("filetree",)


class Event(msgspec.Struct, frozen=True):
    """One frame to come. ``to`` are session types; ``excludes`` is one (app, session), ``excludes_app`` all of an app.

    ``data`` may be a function: it is asked when the first window listens, and None from it drops the frame.
    """

    cmd: str
    data: Any = None
    to: tuple[str, ...] = ALL
    code: int = 0
    msg: str = ""
    push_mode: int = 0
    callback: Any = ""
    app: str = ""
    session: str = ""
    excludes: tuple[str, str] | None = None
    excludes_app: str | None = None
    context: dict[str, Any] | None = None
