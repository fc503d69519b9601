"""Any sequence of edits: what lies on disk is what memory holds, and what a restart shows."""

from __future__ import annotations

import re
from typing import Any

import trio
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kernel.workspace import sy
from tests.siyuan.kernel_in_memory import MemoryKernel

MARKDOWN = st.sampled_from(
    [
        "word",
        "two\n\nparagraphs",
        "# Heading",
        "## Lower\n\nbelow it",
        "* item\n* another\n\n  deep",
        "* [ ] task\n* [X] done",
        "> quoted\n>\n> more",
        "```py\ncode\n```",
        "|a|b|\n|-|-|\n|1|2|",
        "{{{col\none\n\ntwo\n}}}",
        "---",
        "",
    ]
)
PLACE = st.integers(min_value=0, max_value=40)
OPERATION = st.one_of(
    st.tuples(st.sampled_from(["appendBlock", "prependBlock"]), PLACE, PLACE, MARKDOWN),
    st.tuples(st.sampled_from(["insertAfter", "insertBefore", "insertInto", "updateBlock"]), PLACE, PLACE, MARKDOWN),
    st.tuples(st.sampled_from(["moveAfter", "moveInto", "deleteBlock", "fold", "unfold"]), PLACE, PLACE, st.just("")),
    st.tuples(st.sampled_from(["setAttrs", "heading2Doc"]), PLACE, PLACE, MARKDOWN),
)


def blocks_of(kernel: MemoryKernel, root_id: str) -> list[str]:
    return [node.id for node in kernel.workspace.document(root_id).root.walk() if node.id]


async def edit(kernel: MemoryKernel, root_id: str, operation: tuple[str, int, int, str]) -> None:
    kind, first, second, text = operation
    ids = blocks_of(kernel, root_id)
    one, other = ids[first % len(ids)], ids[second % len(ids)]
    content: dict[str, Any] = {"dataType": "markdown", "data": text}
    if kind in ("appendBlock", "prependBlock"):
        await kernel.answer(f"block/{kind}", parentID=one, **content)
    elif kind == "updateBlock":
        await kernel.answer("block/updateBlock", id=one, **content)
    elif kind.startswith("insert"):
        name = {"insertAfter": "previousID", "insertBefore": "nextID", "insertInto": "parentID"}[kind]
        await kernel.answer("block/insertBlock", **{name: one}, **content)
    elif kind.startswith("move"):
        name = "previousID" if kind == "moveAfter" else "parentID"
        await kernel.answer("block/moveBlock", id=one, **{name: other})
    elif kind == "deleteBlock":
        if one != root_id:
            await kernel.answer("block/deleteBlock", id=one)
    elif kind in ("fold", "unfold"):
        await kernel.answer(f"block/{kind}Block", id=one)
    elif kind == "setAttrs":
        await kernel.answer("attr/setBlockAttrs", id=one, attrs={"custom-a": text, "memo": '<&">'})
    else:
        box = kernel.workspace.entry(root_id).box
        await kernel.answer("filetree/heading2Doc", srcHeadingID=one, targetNoteBook=box, targetPath="/")


def kramdown(answer: dict[str, Any]) -> str:
    """With the attributes of each block in one order: in a file they stand sorted, in memory as they came."""
    return re.sub(
        r"\{:( [^\n]*)\}", lambda found: str(sorted(re.findall(r' (\S+="[^"]*")', found[1]))), answer["kramdown"]
    )


def check(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    for root_id in list(workspace.blocks.documents):
        document = workspace.document(root_id)
        entry = workspace.blocks.documents[root_id]
        stored = kernel.backend.contents[f"data/{entry.box}{entry.path}"]
        root = sy.decode(stored)  # which also refuses an id that occurs twice
        mended = sy.repair(root, workspace.new_id)
        assert mended or sy.encode(document.root) == stored
        shown = [node.id for node in document.root.walk() if node.id]
        assert len(shown) == len(set(shown))
        assert set(shown) == set(document.nodes) == set(entry.block_ids)
        for node in document.root.walk():
            assert all(child.parent is node for child in node.children)
        for block_id in shown:
            assert workspace.blocks.root_of(block_id) == entry.id


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.lists(OPERATION, min_size=1, max_size=12))
def test_disk_memory_and_map_agree(operations: list[tuple[str, int, int, str]]) -> None:
    async def play() -> None:
        kernel = MemoryKernel()
        box = await kernel.notebook()
        root_id = await kernel.document(box, "/Doc", "first\n\n## second\n\nthird\n\n* a\n* b")
        for operation in operations:
            await edit(kernel, root_id, operation)
            check(kernel)
        shown = kramdown(await kernel.call("block/getBlockKramdown", id=root_id))
        again = kernel.restarted()
        check(again)
        assert kramdown(await again.call("block/getBlockKramdown", id=root_id)) == shown

    trio.run(play)
