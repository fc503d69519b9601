"""[core] Editor DOM that has just been read is not parsed again.

An update of a block reads one and the same DOM up to three times: as the answer to its Markdown, to learn what stands
in it, and, under the block's own id, to put it into the tree. What ``read_dom`` makes depends on the DOM and on the
inline markers alone, with one exception (a database without an id draws one); an id that occurs once is only carried
along, and so are plain words, letter for letter. So the last readings are kept without their id and without the words
of a lone text, and copies are handed out.
"""

from __future__ import annotations

import re
from copy import deepcopy
from functools import lru_cache
from typing import Final, NamedTuple

from kernel.workspace.html import read_dom
from kernel.workspace.limits import REMEMBERED_DOM_CHARS_MAX, REMEMBERED_DOMS_MAX
from kernel.workspace.markdown.context import MarkdownContext, Unmarked
from kernel.workspace.tree import Node

_OWN_ID: Final = re.compile(r'<div data-node-id="(\d{14}-[0-9a-z]{7})"')
_NO_ID: Final = "00000000000000-0000000"
_DRAWS_IDS: Final = "NodeAttributeView"
# Letters and digits of any script with single blanks, commas and full stops between them: no markup, nothing to escape.
_WORDS: Final = re.compile(r'(?<=<div contenteditable="true" spellcheck="false">)[^\W_]+(?:[ ,.][^\W_]+)*(?=</div>)')
_EDITABLE: Final = 'contenteditable="true"'
_NO_WORDS: Final = "words00that00are00carried00along"


class _Reading(NamedTuple):
    """What a DOM reads as, and whether the stand-ins in it are carried along and nothing else."""

    blocks: tuple[Node, ...]
    carries_id: bool
    carries_words: bool


def remembered_dom(markup: str, context: MarkdownContext) -> list[Node]:
    """The same as ``read_dom``: blocks of the caller's own, equal to those of a fresh reading. Raises MarkdownError."""
    if len(markup) > REMEMBERED_DOM_CHARS_MAX or _DRAWS_IDS in markup or _NO_ID in markup or _NO_WORDS in markup:
        return read_dom(markup, context)
    found = _OWN_ID.match(markup)
    if found is None or markup.count(own := found[1]) > 1:
        return _copied(_read(markup, context.unmarked).blocks)
    nameless = markup.replace(own, _NO_ID)
    words = _WORDS.search(nameless) if nameless.count(_EDITABLE) == 1 else None
    if words is not None:
        wordless = f"{nameless[: words.start()]}{_NO_WORDS}{nameless[words.end() :]}"
        reading = _read(wordless, context.unmarked)
        if reading.carries_id and reading.carries_words:
            return _named(_copied(reading.blocks), own, words[0])
    reading = _read(nameless, context.unmarked)
    if reading.carries_id:
        return _named(_copied(reading.blocks), own, "")
    return _copied(_read(markup, context.unmarked).blocks)


def _named(blocks: list[Node], own: str, words: str) -> list[Node]:
    """The id and the words put back."""
    for node in blocks[0].walk():
        if node.id == _NO_ID:
            node.id = own
        if node.properties.get("id") == _NO_ID:
            node.properties["id"] = own
        if node.data == _NO_WORDS:
            node.data = words
    return blocks


@lru_cache(maxsize=REMEMBERED_DOMS_MAX)
def _read(markup: str, unmarked: Unmarked) -> _Reading:
    blocks = tuple(read_dom(markup, MarkdownContext(new_id=_drawn, unmarked=unmarked)))
    return _Reading(blocks, _is_carried_only(blocks), _holds_words_once(blocks))


def _drawn() -> str:
    raise AssertionError("DOM that draws ids is not remembered")


def _is_carried_only(blocks: tuple[Node, ...]) -> bool:
    """Whether the id that was taken out names the first block or something in it, and stands nowhere else."""
    for position, block in enumerate(blocks):
        for node in block.walk():
            named = (node.id, *node.properties.values())
            if position and _NO_ID in named:
                return False
            rest = [value for name, value in node.properties.items() if name != "id"]
            if _NO_ID in node.data or any(_NO_ID in value for value in rest) or _NO_ID in str(node.fields):
                return False
    return bool(blocks)


def _holds_words_once(blocks: tuple[Node, ...]) -> bool:
    """Whether the words that were taken out are one text of the first block, and nothing else."""
    nodes = [node for block in blocks for node in block.walk()]
    texts = [node for node in nodes if node.data == _NO_WORDS]
    return len(blocks) == len(texts) == 1 and not any(
        _NO_WORDS in str(node.fields)
        or _NO_WORDS in str(node.properties)
        or (_NO_WORDS in node.data and node not in texts)
        for node in nodes
    )


def _copied(blocks: tuple[Node, ...]) -> list[Node]:
    """Copies that share nothing with what is kept; like fresh ones, they stand in a document of their own."""
    root = Node("NodeDocument")
    for block in blocks:
        root.append(block.clone())
    for node in root.walk():
        for name, value in node.fields.items():
            if isinstance(value, dict | list):
                node.fields[name] = deepcopy(value)
    return root.children
