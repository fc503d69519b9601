"""The notes that a load works on. Shell."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from kernel.bench.client import Asking
from kernel.bench.targets import Target
from kernel.bench.workloads import Place

_DOCUMENTS: Final = 32
_PARAGRAPHS: Final = 16
_WORDS_PER_PARAGRAPH: Final = 24
_VOCABULARY: Final = 500
_LARGE_BYTES: Final = 1024 * 1024
_SYLLABLES: Final = ("ka", "lo", "mi", "ner", "to", "sa", "vu", "ri", "pel", "du", "gon", "ta")


def prepare(target: Target, *, blocks_written: int, with_large: bool = False, seed: int = 0) -> Place:
    """Documents of text, a block for each connection that writes, and one large document if it is asked for."""
    chance = Random(seed)
    vocabulary = ["".join(chance.choices(_SYLLABLES, k=3)) for _ in range(_VOCABULARY)]
    documents, blocks = [], []
    with Asking(target.address) as asking:
        notebook = asking.api("notebook/createNotebook", name="bench")["notebook"]["id"]
        for number in range(max(_DOCUMENTS, -(-blocks_written // _PARAGRAPHS))):
            text = "\n\n".join(" ".join(chance.choices(vocabulary, k=_WORDS_PER_PARAGRAPH)) for _ in range(_PARAGRAPHS))
            made = asking.api("filetree/createDocWithMd", notebook=notebook, path=f"/d{number}", markdown=text)
            documents.append(made)
            blocks += [child["id"] for child in asking.api("block/getChildBlocks", id=made)]
        large = ""
        if with_large:
            line = " ".join(chance.choices(vocabulary, k=_WORDS_PER_PARAGRAPH))
            text = f"{line}\n\n" * (_LARGE_BYTES // (len(line) + 2))
            large = asking.api("filetree/createDocWithMd", notebook=notebook, path="/large", markdown=text)
    # Neighbours in the list are in different documents: writes of 16 connections meet 16 documents.
    spread = [block for start in range(_PARAGRAPHS) for block in blocks[start::_PARAGRAPHS]]
    return replace(target.place, blocks=spread, documents=documents, words=vocabulary, large=large)
