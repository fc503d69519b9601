"""[core] Texts made of whole documents, kept for as long as nothing of the document changes: who reads reads again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kernel.workspace.limits import RENDERING_CHARS_MAX, RENDERINGS_CHARS_MAX

if TYPE_CHECKING:
    from kernel.workspace.loaded import Document


class _Rendering(NamedTuple):
    state: object  # the document's, when it was made
    text: str


@dataclass(slots=True)
class Renderings:
    """The last texts, those that were asked for longest ago first."""

    chars: int = 0
    _kept: OrderedDict[tuple[str, str], _Rendering] = field(default_factory=OrderedDict)

    def get(self, document: Document, form: str, render: Callable[[], str]) -> str:
        """The text of a document in a form; made by ``render`` where none is kept of the state that it is in."""
        key = (document.id, form)
        known = self._kept.get(key)
        if known is not None and known.state is document.state:
            self._kept.move_to_end(key)
            return known.text
        text = render()
        self._drop(key)
        if len(text) <= RENDERING_CHARS_MAX:
            self._kept[key] = _Rendering(document.state, text)
            self.chars += len(text)
            while self.chars > RENDERINGS_CHARS_MAX:
                self._drop(next(iter(self._kept)))
        return text

    def _drop(self, key: tuple[str, str]) -> None:
        known = self._kept.pop(key, None)
        if known is not None:
            self.chars -= len(known.text)
