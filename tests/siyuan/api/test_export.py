"""/api/export: documents as Markdown."""

from __future__ import annotations

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _content(kernel: MemoryKernel, block_id: str, **options: object) -> str:
    answer = await kernel.call("export/exportMdContent", id=block_id, **{"yfm": False, "addTitle": False, **options})
    return str(answer["content"])


async def test_a_document_is_exported_with_head_and_title(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    answer = await kernel.call("export/exportMdContent", id=root_id)
    assert answer["hPath"] == "/Doc"
    head, _, body = answer["content"].removeprefix("---\n").partition("---\n")
    assert head.splitlines()[0] == "title: Doc"
    assert body.strip() == "# Doc\n\ntext"


async def test_one_block_is_exported_alone(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "one\n\ntwo")
    assert (await _content(kernel, (await kernel.children(root_id))[1])).strip() == "two"


@pytest.mark.parametrize(("mode", "wanted"), [(2, "[there](siyuan://blocks/{id})"), (3, "there"), (4, "there[^1]")])
async def test_references_are_exported_as_asked(kernel: MemoryKernel, mode: int, wanted: str) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    block_id = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", f"see (({block_id} 'there'))")
    content = await _content(kernel, source, refMode=mode)
    assert content.splitlines()[0] == "see " + wanted.format(id=block_id)
    assert ("[^1]: text" in content) is (mode == 4)


async def test_block_queries_are_exported_with_what_they_find(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "found")
    block_id = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", "{{SELECT * FROM blocks WHERE id = '" + block_id + "'}}")
    assert (await _content(kernel, source, embedMode=0)).strip() == "found"
    assert (await _content(kernel, source, embedMode=1)).strip() == "> found"


async def test_an_unknown_block_has_no_content_and_a_wrong_id_is_refused(kernel: MemoryKernel) -> None:
    answer = await kernel.call("export/exportMdContent", id="20200101000000-zzzzzzz")
    assert answer == {"hPath": "", "content": ""}
    assert await kernel.refusal("export/exportMdContent", id="x") == "invalid ID argument"
