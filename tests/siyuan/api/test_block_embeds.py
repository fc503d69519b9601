"""/api/block: DOM with what queries find, and swapping a reference with the block it refers to."""

from __future__ import annotations

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _kramdown(kernel: MemoryKernel, root_id: str) -> list[str]:
    """The lines of a document, attribute lists left out."""
    answer = await kernel.call("export/exportMdContent", id=root_id, yfm=False, addTitle=False, refMode=3)
    return [line for line in answer["content"].splitlines() if line]


async def test_a_query_holds_what_it_finds_and_is_closed_behind_it(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(
        box, "/A", "## head\n\nunder\n\n# next\n\n{{ select * from blocks where type='h' and content='head' }}"
    )
    heading, under, _, embed = await kernel.children(root_id)
    answer = await kernel.call("block/getBlockDOMWithEmbed", id=embed)
    before, _, inside = answer["dom"].partition(f'data-node-id="{heading}"')
    assert f'data-node-id="{embed}"' in before
    assert f'data-node-id="{under}"' in inside
    assert inside.count("</div>") == before.count("<div") + inside.count("<div") + 1
    assert await kernel.call("block/getBlockDOMWithEmbed", id="20200101000000-zzzzzzz") == {
        "id": "20200101000000-zzzzzzz",
        "dom": "",
    }
    several = await kernel.call("block/getBlockDOMsWithEmbed", ids=[embed, under, "20200101000000-zzzzzzz"])
    assert sorted(several) == sorted([embed, under])
    assert several[embed] == answer["dom"]


@pytest.mark.parametrize(
    ("ref", "target", "with_children", "left", "right"),
    [
        ("see {}", "para", False, ["see x"], ["para"]),
        ("* see {}", "# head\n\nunder", True, ["- see x"], ["- # head", " under"]),
        ("* see {}", "# head\n\nunder", False, ["- see x", "under"], ["- # head"]),
        ("see {}", "* item", False, ["- see x"], ["- item"]),
        ("* see {}", "* item\n  * below", False, ["- see x", "  - below"], ["- item"]),
        ("* see {}", "* item\n  * below", True, ["- see x"], ["- item", "  - below"]),
    ],
)
async def test_a_reference_and_its_target_change_places(
    kernel: MemoryKernel, ref: str, target: str, with_children: bool, left: list[str], right: list[str]
) -> None:
    box = await kernel.notebook()
    target_doc = await kernel.document(box, "/Target", target)
    ref_doc = await kernel.document(box, "/Ref", ref.format(f"(({target_doc} 'x'))"))

    async def leaf(root_id: str, is_item: bool) -> str:
        found = (await kernel.children(root_id))[0]
        return (await kernel.children((await kernel.children(found))[0]))[0] if is_item else found

    ref_id, def_id = await leaf(ref_doc, ref.startswith("*")), await leaf(target_doc, target.startswith("*"))
    await kernel.call("block/swapBlockRef", refID=ref_id, defID=def_id, includeChildren=with_children)
    assert "reloadui" in [frame["cmd"] for frame in kernel.frames]
    assert await _kramdown(kernel, target_doc) == left
    assert await _kramdown(kernel, ref_doc) == right
    # What was written is what the next process reads.
    again = kernel.restarted()
    assert await _kramdown(again, target_doc) == left


async def test_swapping_with_something_unknown_is_refused(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/A", "text")
    block_id = (await kernel.children(root_id))[0]
    answer = await kernel.answer(
        "block/swapBlockRef", refID=block_id, defID="20200101000000-zzzzzzz", includeChildren=False
    )
    assert (answer.code, answer.msg, answer.data) == (-1, "tree not found", {"closeTimeout": 7000})
    assert (await kernel.answer("block/swapBlockRef", refID=block_id)).data is None
