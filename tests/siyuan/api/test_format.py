"""/api/format and /api/extension: typography, network files, clipping."""

from __future__ import annotations

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from tests.siyuan.kernel_in_memory import MemoryKernel

MARKDOWN = "中文abc **粗bold** `code中文`\n\n![x](https://example.invalid/a.png)"


async def test_scripts_are_set_apart_and_the_version_before_is_kept() -> None:
    kernel = MemoryKernel()
    document = await kernel.document(await kernel.notebook(), "/Doc", MARKDOWN)
    await kernel.call("format/autoSpace", id=document)
    text = (await kernel.call("block/getBlockKramdown", id=document))["kramdown"]
    assert "中文 abc **粗 bold** `code中文`" in text
    assert [path for path in kernel.backend.contents if path.startswith("history/") and "-format/" in path]
    await kernel.call("format/autoSpace", id=document)
    answer = await kernel.answer("format/autoSpace", id="20200101000000-zzzzzzz")
    assert (answer.code, answer.msg, answer.data) == (-1, "tree not found", {"closeTimeout": 5000})


async def test_network_files_stay_where_they_are() -> None:
    kernel = MemoryKernel()
    document = await kernel.document(await kernel.notebook(), "/Doc", MARKDOWN)
    for path, given in (
        ("netImg2LocalAssets", {}),
        ("netAssets2LocalAssets", {}),
        ("netImg2LocalAssets", {"url": "https://other"}),
    ):
        kernel.frames.clear()
        await kernel.call(f"format/{path}", id=document, **given)
        texts = [frame["msg"] for frame in kernel.frames if frame["cmd"] == "msg"]
        assert texts[-1] == "There is no network file in this document"
        assert (texts[0] == "Downloading network file [https://example.invalid/a.png]") is not bool(given)


async def clipped(kernel: MemoryKernel, form: Form | None) -> Envelope:
    answer = await dispatch(Call(kernel.kernel, "/api/extension/copy", Arguments({}), form=form))
    assert isinstance(answer, Envelope)
    return answer


async def test_a_clipping_brings_its_pictures() -> None:
    kernel = MemoryKernel()
    assert await clipped(kernel, None) == Envelope(0, "", None)
    address = "https://e.com/p/a%20b.png"
    form = Form(
        {"dom": f'<p>x</p><img src="{address}" alt="p">'},
        [FormFile(address, "blob", b"png"), FormFile("https://e.com/", "blob", b"")],
    )
    answer = await clipped(kernel, form)
    assert answer.data["md"].startswith("x\n\n![p](assets/a b-")
    assert [path for path in kernel.backend.contents if path.startswith("data/assets/a b-")]
