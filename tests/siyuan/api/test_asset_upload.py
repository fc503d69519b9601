"""/api/asset: files that come in."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from tests.siyuan.kernel_in_memory import MemoryKernel


async def uploaded(kernel: MemoryKernel, files: list[tuple[str, bytes]], **values: str) -> Envelope:
    form = Form(values, [FormFile("file[]", name, content) for name, content in files])
    answer = await dispatch(Call(kernel.kernel, "/api/asset/upload", Arguments({}), form=form))
    assert isinstance(answer, Envelope)
    return answer


async def stored(kernel: MemoryKernel, files: list[tuple[str, bytes]], **values: str) -> dict[str, Any]:
    answer = await uploaded(kernel, files, **values)
    assert answer.code == 0, answer
    assert answer.data["errFiles"] is None
    return dict(answer.data["succMap"])


async def test_an_uploaded_file_gets_an_id_and_lies_among_the_assets(kernel: MemoryKernel) -> None:
    paths = await stored(kernel, [("My [Pic].PNG", b"one")])
    path = paths["My [Pic].PNG"]
    assert path.startswith("assets/My Pic-")
    assert path.endswith(".png")
    assert kernel.workspace.files.read(f"data/{path}") == b"one"


async def test_the_same_name_and_content_is_stored_once(kernel: MemoryKernel) -> None:
    first = await stored(kernel, [("a.txt", b"x")])
    assert await stored(kernel, [("a.txt", b"x")]) == first
    assert (await stored(kernel, [("b.txt", b"x")]))["b.txt"] != first["a.txt"]
    assert await stored(kernel, [("a.txt", b"y")]) != first
    assert await stored(kernel, [("empty", b"")]) != await stored(kernel, [("empty", b"")])


async def test_an_id_in_the_name_is_kept(kernel: MemoryKernel) -> None:
    name = "a-20240101000000-abcdefg.txt"
    assert await stored(kernel, [(name, b"x")]) == {name: f"assets/{name}"}


async def test_duplicates_by_name_are_skipped_on_request_and_end_the_upload(kernel: MemoryKernel) -> None:
    name = "cut-20240101000000-abcdefg.png"
    await stored(kernel, [(name, b"x")])
    again = await stored(kernel, [("cut.png", b"y"), ("later.png", b"z")], skipIfDuplicated="true")
    assert again == {"cut.png": f"assets/{name}"}


async def test_a_folder_below_data_takes_the_files(kernel: MemoryKernel) -> None:
    paths = await stored(kernel, [("a.txt", b"x")], assetsDirPath="/public/sub/")
    assert paths["a.txt"].startswith("public/sub/a-")
    assert kernel.workspace.files.read(f"data/{paths['a.txt']}") == b"x"


async def test_a_document_in_a_notebook_with_assets_of_its_own_stores_there(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    document = await kernel.document(box, "/d", "text")
    kernel.workspace.files.make_dir(f"data/{box}/assets")
    path = (await stored(kernel, [("a.txt", b"x")], id=document))["a.txt"]
    assert kernel.workspace.files.exists(f"data/{box}/{path}")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"id": "bad"}, "Failed to insert asset file, please reopen the document"),
        ({"assetsDirPath": "../../x"}, "Path [/x] is not in workspace"),
    ],
)
async def test_what_cannot_be_stored_is_refused(kernel: MemoryKernel, values: dict[str, str], message: str) -> None:
    answer = await uploaded(kernel, [("a.txt", b"x")], **values)
    assert (answer.code, answer.msg.replace("//", "/")) == (-1, message)


async def test_without_a_form_there_is_nothing_to_store(kernel: MemoryKernel) -> None:
    assert await kernel.refusal("asset/upload") == "request Content-Type isn't multipart/form-data"
