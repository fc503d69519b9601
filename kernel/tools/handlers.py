"""Which actions can be done: action key → handling, put together from the tools' modules. Does no I/O."""

from __future__ import annotations

from typing import Final

from kernel.tools import (
    av,
    block,
    changelog,
    document,
    extension,
    file,
    flashcard,
    fs,
    mascot,
    notebook,
    search,
    system,
    tag,
    timeline,
)
from kernel.tools.context import Handling

HANDLERS: Final[dict[str, Handling]] = {
    **fs.HANDLERS,
    **notebook.HANDLERS,
    **document.HANDLERS,
    **block.HANDLERS,
    **av.HANDLERS,
    **file.HANDLERS,
    **search.HANDLERS,
    **tag.HANDLERS,
    **timeline.HANDLERS,
    **system.HANDLERS,
    **changelog.HANDLERS,
    **flashcard.HANDLERS,
    **extension.HANDLERS,
    **mascot.HANDLERS,
}
