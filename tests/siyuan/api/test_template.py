"""/api/template: rendering for a block, saving documents, templates of daily notes."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_a_template_knows_its_block_and_may_query(kernel: MemoryKernel) -> None:
    document = await kernel.document(await kernel.notebook(), "/Host", "words here")
    await kernel.call("attr/setBlockAttrs", id=document, attrs={"name": "n1"})
    files = kernel.workspace.files
    files.write(
        "data/templates/t.md",
        b".action{.title} .action{.name} .action{ (statBlock .id).RuneCount }\n\n"
        b".action{ range queryBlocks \"SELECT * FROM blocks WHERE root_id='?' AND type='p'\" .id }"
        b"* .action{ .Content }\n.action{ end }",
    )
    path = files.absolute("data/templates/t.md")
    content = (await kernel.call("template/render", path=path, id=document))["content"]
    assert "Host n1 9" in content
    assert "words here" in content
    assert await kernel.refusal("template/render", path=path, id="20200101000000-zzzzzzz") == "tree not found"


async def test_references_inside_a_template_follow_the_new_ids(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    document = await kernel.document(box, "/Source", "target")
    block = (await kernel.call("block/getChildBlocks", id=document))[0]["id"]
    await kernel.call("block/appendBlock", parentID=document, dataType="markdown", data=f"see (({block} 'it'))")
    await kernel.call("template/docSaveAsTemplate", id=document, name="saved", overwrite=False)
    assert (await kernel.answer("template/docSaveAsTemplate", id=document, name="saved", overwrite=False)).code == 1
    path = kernel.workspace.files.absolute("data/templates/saved.md")
    content = (await kernel.call("template/render", path=path, id=document))["content"]
    assert block not in content
    assert 'data-type="block-ref"' in content


async def test_a_daily_note_begins_with_its_template(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    kernel.workspace.files.write("data/templates/day.md", b'Day .action{ now | date "2006" }')
    conf = {"dailyNoteSavePath": "/day", "dailyNoteTemplatePath": "/day.md"}
    await kernel.call("notebook/setNotebookConf", notebook=box, conf=conf)
    note = (await kernel.call("filetree/createDailyNote", notebook=box))["id"]
    blocks = await kernel.call("block/getChildBlocks", id=note)
    assert [block["content"] for block in blocks] == [f"Day {kernel.clock.local():%Y}"]


async def test_a_template_that_fails_says_so_with_escaped_marks(kernel: MemoryKernel) -> None:
    assert await kernel.refusal("template/renderSprig", template="{{ nofunc }}") == (
        "Parse template failed: template: :1: function &#34;nofunc&#34; not defined"
    )
    assert await kernel.call("template/renderSprig", template="{{ add 1 2 }}") == "3"
