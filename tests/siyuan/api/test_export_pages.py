"""/api/export: pages to be printed and saved, in the words of recordings of the real kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

_STAMPS = re.compile(r' updated="\d{14}"')
_IDS = re.compile(r"\d{14}-[0-9a-z]{7}")
TARGET = "20240101000001-blk0001"
SECOND = "20240101000002-blk0002"
OTHER = f'alpha para (({SECOND} \'two\'))\n{{: id="{TARGET}"}}\n\nsecond para\n{{: id="{SECOND}"}}'

SAVED = {
    "#tag# and `code` x": '<p id="">\u200b<span data-type="tag">tag</span>\u200b and <span data-type="code">code</span> x</p>\n',
    "* one": '<ul id="" start="0">\n<li id="">\n<p id="">one</p>\n</li>\n</ul>\n',
    "3. three": '<ol id="" start="3">\n<li id="">\n<p id="">three</p>\n</li>\n</ol>\n',
    "1. one": '<ol id="">\n<li id="">\n<p id="">one</p>\n</li>\n</ol>\n',
    "* [ ] todo": '<ol id="" start="0">\n<li id="" class="protyle-task"><input disabled="" type="checkbox" data-task=" " />\n'
    '<p id="">todo</p>\n</li>\n</ol>\n',
    "line one\nline two": '<p id="">line one  \nline two</p>\n',
    f"ref (({TARGET} 'dyn')) again (({TARGET} 'dyn'))": '<p id="">ref dyn<sup class="footnotes-ref" id="footnotes-ref-1">'
    '<a href="#footnotes-def-1">1</a></sup> again dyn<sup class="footnotes-ref" id="footnotes-ref-1">'
    '<a href="#footnotes-def-1">1</a></sup></p>\n<div class="footnotes-defs-div"><hr class="footnotes-defs-hr" />\n'
    '<ol class="footnotes-defs-ol"><li>\n<p id="">alpha para two<sup class="footnotes-ref" id="footnotes-ref-2">'
    '<a href="#footnotes-def-2">2</a></sup></p>\n</li>\n<li>\n<p id="">second para</p>\n</li>\n</ol></div>',
    "{{select * from blocks where content like 'alpha%' and type='p'}}": '<blockquote id="">\n<p id="">alpha para '
    '<span data-type="block-ref" data-subtype="d" data-id="">two</span></p>\n</blockquote>\n',
}
_ATTRIBUTES_LAST = re.compile(r' start="(\d+)" id=""')


@pytest.mark.parametrize(("markdown", "wanted"), SAVED.items())
async def test_a_saved_page_is_written_from_what_the_editor_shows(
    kernel: MemoryKernel, markdown: str, wanted: str
) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Other", OTHER)
    root_id = await kernel.document(box, "/Beta doc", markdown)
    page = (await kernel.call("export/exportMdHTML", id=root_id))["content"]
    shown = _ATTRIBUTES_LAST.sub(r' id="" start="\1"', _STAMPS.sub("", _IDS.sub("", page)))
    assert shown == f'<h1 id="Beta-doc" title="Beta doc">Beta doc</h1>\n{wanted}'


async def test_a_heading_without_an_id_is_named_by_its_words_and_a_dash_more_each_time(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(
        box, "/Head", "{{select * from blocks where content = 'Head' and type = 'h'}}\n\n## Head"
    )
    page = (await kernel.call("export/exportMdHTML", id=root_id))["content"]
    assert page.startswith('<h1 id="Head" ')
    assert len(re.findall(r'<h2 id="\d{14}-[0-9a-z]{7}"', page)) == 2


async def _printed(kernel: MemoryKernel, root_id: str, **more: Any) -> str:
    return str((await kernel.call("export/exportPreviewHTML", id=root_id, **more))["content"])


async def test_documents_below_follow_each_below_its_title(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "body")
    child_id = await kernel.document(box, "/Doc/Child", "child text")
    grand_id = await kernel.document(box, "/Doc/Child/Grand", f"see (({root_id} 'top'))")
    page = await _printed(kernel, root_id, merge=True)
    titles = re.findall(r'class="(h\d)" data-node-id="([^"]*)"|data-subtype="(h\d)" data-node-id="([^"]*)"', page)
    assert [next(filter(None, (one[1], one[3]))) for one in titles] == [root_id, child_id, grand_id]
    assert [next(filter(None, (one[0], one[2]))) for one in titles] == ["h1", "h1", "h2"]
    assert page.index("body") < page.index("child text") < page.index(f'href="#{root_id}"')
    assert "child text" not in await _printed(kernel, root_id)


async def test_an_empty_document_gives_its_place_to_those_below(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Empty", "")
    await kernel.document(box, "/Empty/Deep", "deep")
    assert (await _printed(kernel, root_id, merge=True)).count("NodeParagraph") == 1
    assert (await _printed(kernel, root_id)).count("NodeParagraph") == 1


async def test_what_is_folded_away_is_shown_unless_folds_are_kept(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "## Head\n\nbelow")
    head_id = (await kernel.call("block/getChildBlocks", id=root_id))[0]["id"]
    await kernel.call("block/foldBlock", id=head_id)
    shown, kept = await _printed(kernel, root_id, keepFold=False), await _printed(kernel, root_id, keepFold=True)
    assert "below" in shown
    assert "fold=" not in shown
    assert "below" not in kept
    assert 'fold="1"' in kept


async def test_arguments_are_looked_at_before_the_folder(kernel: MemoryKernel) -> None:
    given = {"id": TARGET, "pdf": True, "savePath": "elsewhere"}
    refusal = await kernel.refusal("export/exportHTML", **given, keepFold=5)
    assert refusal == "Field [keepFold] should be of type [Boolean]"
    assert "is not in workspace" in await kernel.refusal("export/exportHTML", **given)


async def test_a_page_does_not_say_which_databases_hold_a_block(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "text")
    (block_id,) = await kernel.children(root_id)
    await kernel.call("attr/setBlockAttrs", id=block_id, attrs={"custom-avs": "20240101000000-avavava", "name": "n"})
    page = (await kernel.call("export/exportPreviewHTML", id=root_id, keepFold=False, merge=False, image=False))[
        "content"
    ]
    assert "protyle-attr--av" not in page
    assert "protyle-attr--name" in page


async def test_paper_has_no_frames(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", '<iframe src="https://x.y/z?a=1&amp;b=2"></iframe>')
    page = await _printed(kernel, root_id)
    assert '<a target="_blank" href="https://x.y/z?a=1&amp;b=2">https://x.y/z?a=1&amp;b=2</a>' in page
    assert "<iframe" not in page


async def test_a_video_ends_behind_what_it_is_dragged_by(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", '<video controls="controls" src="assets/v.mp4"></video>')
    page = await _printed(kernel, root_id)
    assert '<div class="iframe-content"><video' in page
    assert '<span class="protyle-action__drag" contenteditable="false"></span>\u200b</div>' in page


async def test_the_brackets_of_references_stand_in_footnotes_too(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Other", OTHER)
    root_id = await kernel.document(box, "/Doc", f"see (({TARGET} 'one'))")
    export = kernel.workspace.conf.section("export")
    await kernel.call("setting/setExport", **{**export, "blockRefTextLeft": "«", "blockRefTextRight": "»"})
    content = (await kernel.call("export/exportMdContent", id=root_id))["content"]
    assert content.endswith("see «one»[^1]\n\n[^1]: alpha para «two»[^2]\n\n\n[^2]: second para\n")


async def test_a_reference_of_a_footnote_to_a_footnote_is_one_in_the_preview(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Other", OTHER)
    root_id = await kernel.document(box, "/Doc", f"see (({TARGET} 'one'))")
    page = (await kernel.call("export/preview", id=root_id))["html"]
    assert 'alpha para two<sup class="footnotes-ref" id="footnotes-ref-2">' in page


async def test_a_page_to_be_saved_needs_the_front_end_and_a_printed_one_does_not(
    kernel: MemoryKernel, tmp_path: Path
) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "body")
    assert (await kernel.call("export/exportHTML", id=root_id, pdf=False))["content"] == ""
    assert "body" in (await kernel.call("export/exportHTML", id=root_id, pdf=True))["content"]
    for folder in ("stage/build/export", "stage/protyle"):
        (tmp_path / folder).mkdir(parents=True)
    kernel.kernel.options.working_dir = str(tmp_path)
    assert "body" in (await kernel.call("export/exportHTML", id=root_id, pdf=False))["content"]


async def test_lines_of_a_text_that_a_query_shows_end_softly(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Other", "one\ntwo")
    root_id = await kernel.document(
        box, "/Doc", "{{select * from blocks where content like 'one%' and type='p'}}\n\nthree\nfour"
    )
    content = (await kernel.call("export/exportMdContent", id=root_id))["content"]
    assert content.endswith("> one\n> two\n\nthree  \nfour\n")
