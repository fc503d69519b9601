"""/api/asset: used, unused and missing assets; removing and renaming."""

from __future__ import annotations

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

PICTURE = "assets/a-20240101000000-abcdefg.png"
PAPER = "assets/paper-20240101000000-abcdefg.pdf"
SPARE = "assets/spare.txt"


@pytest.fixture
async def library(kernel: MemoryKernel) -> tuple[MemoryKernel, str]:
    for path in (PICTURE, PAPER, SPARE):
        kernel.workspace.files.write(f"data/{path}", path.encode())
    markdown = f"![p]({PICTURE})\n\n[paper]({PAPER}?p=2) [gone](assets/gone.txt)\n\n![p]({PICTURE})"
    return kernel, await kernel.document(await kernel.notebook(), "/d", markdown)


async def test_a_document_names_its_assets(library: tuple[MemoryKernel, str]) -> None:
    kernel, document = library
    assert await kernel.call("asset/getDocAssets", id=document) == [PICTURE, f"{PAPER}?p=2", "assets/gone.txt"]
    assert await kernel.call("asset/getDocAssets", id=document, retainQueryStr=False) == [
        PICTURE,
        PAPER,
        "assets/gone.txt",
    ]
    assert await kernel.call("asset/getDocImageAssets", id=document) == [PICTURE, PICTURE]
    assert await kernel.refusal("asset/getDocAssets", id="bad") == "tree not found"


async def test_unused_assets_go_into_history_and_used_ones_stay(library: tuple[MemoryKernel, str]) -> None:
    kernel, _ = library
    kernel.workspace.files.write("data/assets/ocr-texts.json", b"{}")
    assert await kernel.call("asset/getUnusedAssets") == [{"item": SPARE, "name": "spare.txt"}]
    removed = await kernel.call("asset/removeUnusedAssets")
    assert [path.removesuffix(SPARE)[-5:] for path in removed["paths"]] == ["data/"]
    files = kernel.workspace.files
    assert not files.exists(f"data/{SPARE}")
    kept = [path for path, _ in files.walk("history")]
    assert [path.endswith(f"-clean/{SPARE}") for path in kept] == [True]
    assert await kernel.call("asset/getUnusedAssets") == []


async def test_a_database_keeps_the_assets_it_names(library: tuple[MemoryKernel, str]) -> None:
    kernel, _ = library
    kernel.workspace.files.write("data/storage/av/20240101000000-abcdefg.json", f'{{"x":"{SPARE}"}}'.encode())
    assert await kernel.call("asset/getUnusedAssets") == []


async def test_missing_assets_are_told_with_their_blocks(library: tuple[MemoryKernel, str]) -> None:
    kernel, document = library
    block = (await kernel.call("block/getChildBlocks", id=document))[1]["id"]
    assert await kernel.call("asset/getMissingAssets") == [
        {"item": "assets/gone.txt", "name": "gone.txt", "blockIDs": [block]}
    ]


@pytest.mark.parametrize("path", ["", "storage", "../conf/conf.json", "assets/../../conf/conf.json", "/"])
async def test_only_assets_are_removed(library: tuple[MemoryKernel, str], path: str) -> None:
    kernel, _ = library
    before = sorted(path for path, _ in kernel.workspace.files.walk(""))
    await kernel.answer("asset/removeUnusedAsset", path=path)
    assert sorted(path for path, _ in kernel.workspace.files.walk("")) == before


async def test_a_renamed_asset_is_followed_by_documents_databases_and_texts(library: tuple[MemoryKernel, str]) -> None:
    kernel, document = library
    view = "data/storage/av/20240101000000-abcdefg.json"
    kernel.workspace.files.write(view, f'{{"x":"{PICTURE}"}}'.encode())
    kernel.workspace.files.write(f"data/{PICTURE}.sya", b"{}")
    await kernel.call("asset/setImageOCRText", path=PICTURE, text="words")
    new = (await kernel.call("asset/renameAsset", oldPath=PICTURE, newName="b/c"))["newPath"]
    assert new.startswith("assets/b_c-")
    assert new.endswith(".png")
    assert await kernel.call("asset/getDocImageAssets", id=document) == [new, new]
    assert new.encode() in kernel.workspace.files.read(view)
    assert kernel.workspace.files.exists(f"data/{new}.sya")
    assert await kernel.call("asset/getImageOCRText", path=new) == {"text": "words"}


async def test_renaming_what_is_missing_or_to_nothing_changes_nothing(library: tuple[MemoryKernel, str]) -> None:
    kernel, _ = library
    assert await kernel.call("asset/renameAsset", oldPath=PICTURE, newName=" ") == {"newPath": ""}
    missing = await kernel.call("asset/renameAsset", oldPath="assets/none.png", newName="n")
    assert missing["newPath"].startswith("assets/n-")
    assert await kernel.refusal("asset/renameAsset", oldPath=PICTURE, newName="..") != ""


async def test_an_asset_is_measured_and_found(library: tuple[MemoryKernel, str]) -> None:
    kernel, _ = library
    stat = await kernel.call("asset/statAsset", path=f"{PICTURE}?x=1")
    assert (stat["size"], stat["hSize"]) == (len(PICTURE), f"{len(PICTURE)} B")
    kernel.workspace.files.write("data/assets/large.bin", b"x" * 1537)
    assert (await kernel.call("asset/statAsset", path="assets/large.bin"))["hSize"] == "1.51 KiB"
    assert (await kernel.answer("asset/statAsset", path="file:///etc/hosts")).code == 1
    assert (await kernel.call("asset/resolveAssetPath", path=PICTURE)).endswith(f"data/{PICTURE}")
    assert await kernel.refusal("asset/resolveAssetPath", path="assets/../x") == (
        "[x] is not an asset path (must start with assets/)"
    )


async def test_annotations_lie_beside_their_file(library: tuple[MemoryKernel, str]) -> None:
    kernel, _ = library
    notes = f"{PAPER}.sya"
    assert (await kernel.answer("asset/getFileAnnotation", path=notes)).code == 1
    await kernel.call("asset/setFileAnnotation", path=notes, data='{"a":1}')
    assert await kernel.call("asset/getFileAnnotation", path=notes) == {"data": '{"a":1}'}
    await kernel.call("asset/setFileAnnotation", path=notes, data="{}")
    assert (await kernel.answer("asset/getFileAnnotation", path=notes)).code == 1
