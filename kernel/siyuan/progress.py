"""The words that cover a window while something takes its time, and their end, as the kernel pushes them.

They come with everything else that a call tells: after it has done its work, in this order. Two kinds of end exist, and
each deed has its own.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from kernel.siyuan.exports import EXPORT_DIR, packing_order
from kernel.workspace.events import MAIN
from kernel.workspace.names import base_name
from kernel.workspace.workspace import Workspace

EXPORTING: Final = "Exporting data..."
RENAMING: Final = "Renaming..."
PROCESSING: Final = "Processing, please wait..."
_SAVING: Final = "Saving data [{}]..."
_AT_WORK: Final = "Processing [{}], please wait..."
_WRITTEN: Final = "Data file [{}] created"
_PACKING: Final = "Compressing file [{}], please wait..."
_GOES_ON: Final = 1
_IS_OVER: Final = 2


def show(workspace: Workspace, text: str) -> None:
    """Cover the windows with words; later ones take their place."""
    workspace.emit("progress", {"current": 1, "total": 1}, to=MAIN, code=_GOES_ON, msg=text)


def show_saving(workspace: Workspace, root_id: str) -> None:
    """A document is written."""
    show(workspace, _SAVING.format(html.escape(base_name(workspace.entry(root_id).hpath))))


@contextmanager
def covered(workspace: Workspace, text: str) -> Iterator[None]:
    """Words for as long as the block lasts, then the cover is taken off."""
    show(workspace, text)
    try:
        yield
    finally:
        uncover(workspace)


def uncover(workspace: Workspace) -> None:
    """Take a cover off, whoever has put it there."""
    workspace.emit("cprogress", to=MAIN)


@contextmanager
def completed(workspace: Workspace, text: str = "") -> Iterator[None]:
    """At the end of the block the progress is complete. ``text``: what is shown first, if anything."""
    if text:
        show(workspace, text)
    try:
        yield
    finally:
        workspace.emit("progress", {"current": 100, "total": 100}, to=MAIN, code=_IS_OVER)


def show_documents(workspace: Workspace, root_ids: list[str]) -> None:
    """Each of these documents is worked on."""
    for number, root_id in enumerate(root_ids, 1):
        name = base_name(workspace.entry(root_id).hpath)
        show(workspace, f"{EXPORTING} {_AT_WORK.format(f'{number}/{len(root_ids)} {name}')}")


def show_stored(workspace: Workspace, paths: Iterable[str]) -> None:
    """What an archive of documents as they are stored was made of: its documents, then its assets."""
    names = list(paths)
    documents = [path.rpartition("/")[2].removesuffix(".sy") for path in names if path.endswith(".sy")]
    for number, root_id in enumerate(documents, 1):
        place = f"{number}/{len(documents)} {workspace.entry(root_id).hpath}"
        show(workspace, f"{EXPORTING} {_WRITTEN.format(place)}")
    for path in names:
        if path.startswith("assets/"):
            show(workspace, f"{EXPORTING} {_AT_WORK.format(path)}")


def show_packing(workspace: Workspace, folder: str, entries: dict[str, bytes | None]) -> None:
    """Each file of an archive that is made of a folder below the exports."""
    place = workspace.files.absolute(f"{EXPORT_DIR}/{folder}")
    for path in packing_order(entries):
        if entries[path] is not None:
            show(workspace, f"{EXPORTING} {_PACKING.format(f'{place}/{path}')}")
