"""/api/export: files of the workspace, and files that callers bring, to be downloaded."""

from __future__ import annotations

import io
import zipfile

import pytest

from kernel.safety.folder import PLUGIN_STORAGE, PROCESS_FILES
from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_files_and_folders_are_packed_below_the_given_name(kernel: MemoryKernel) -> None:
    kernel.workspace.files.write("data/assets/a.txt", b"a")
    kernel.workspace.files.write("data/assets/sub/b.txt", b"b")
    path = (await kernel.call("export/exportResources", paths=["/data/assets", "data/assets/a.txt"], name="pack"))[
        "path"
    ]
    assert path.startswith("temp/export/")
    with zipfile.ZipFile(io.BytesIO(kernel.workspace.files.read(path))) as archive:
        assert sorted(archive.namelist()) == ["pack/a.txt", "pack/assets/a.txt", "pack/assets/sub/b.txt"]


async def test_what_is_missing_or_outside_is_refused(kernel: MemoryKernel) -> None:
    for paths in (["/data/none"], ["../x"]):
        assert (await kernel.answer("export/exportResources", paths=paths)).code == 1
    answer = await kernel.answer("export/exportResources", paths=["/data/none"])
    assert answer.msg == "Export failed: lstat /workspace/data/none: no such file or directory"
    assert (await kernel.answer("export/exportResources")).msg == "[paths] is required"


async def test_the_data_folder_is_packed_under_a_name_that_tells_when(kernel: MemoryKernel) -> None:
    kernel.workspace.files.write("data/assets/a.txt", b"a")
    address = (await kernel.call("export/exportData"))["zip"]
    stamp = kernel.workspace.now_stamp()
    assert address.endswith(f"-{stamp}.zip")
    with zipfile.ZipFile(io.BytesIO(kernel.workspace.files.read(f"temp{address}"))) as archive:
        assert f"data-{stamp}/assets/a.txt" in archive.namelist()
    name = (await kernel.call("export/exportDataInFolder", folder="/workspace/temp/there"))["name"]
    assert kernel.workspace.files.exists(f"temp/there/{name}")


async def test_a_code_block_becomes_a_file(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Code", "```js\nlet a = 1;\n```\n\ntext")
    code, text = await kernel.children(root_id)
    address = (await kernel.call("export/exportCodeBlock", id=code))["path"]
    assert address.startswith("/export/code/Code-")
    assert kernel.workspace.files.read(f"temp{address}") == b"let a = 1;\n"
    for block_id, message in ((text, "not a code block"), ("20200101000000-zzzzzzz", "block not found")):
        answer = await kernel.answer("export/exportCodeBlock", id=block_id)
        assert (answer.code, answer.msg, answer.data) == (1, message, {"closeTimeout": 7000})


async def test_a_text_gets_an_address_of_its_own(kernel: MemoryKernel) -> None:
    url = (await kernel.call("export/exportTempContent", content="temp text"))["url"]
    scheme, _, path = url.partition("://")
    assert scheme == "http"
    assert kernel.workspace.files.read(f"temp/{path.partition('/')[2]}") == b"temp text"


async def test_a_page_joins_the_folder_that_an_export_has_made(kernel: MemoryKernel) -> None:
    kernel.workspace.files.write("temp/export/made/style.css", b"css")
    address = (await kernel.call("export/exportBrowserHTML", folder="made", html="<b>x</b>", name="My?Name"))["zip"]
    assert address == "/export/My_Name.zip"
    with zipfile.ZipFile(io.BytesIO(kernel.workspace.files.read("temp/export/My_Name.zip"))) as archive:
        assert archive.namelist() == ["index.html", "style.css"]
    assert not kernel.workspace.files.exists("temp/export/made")
    for folder in ("none", "../../conf", "."):
        refused = await kernel.refusal("export/exportBrowserHTML", folder=folder, html="x", name="n")
        assert refused.endswith("no such file or directory")


@pytest.mark.parametrize(
    ("name", "kind", "wanted"),
    [
        ("a#b.md", "text/plain", "file-a_b.md.asc"),
        ("shot", "image/png", "file-shot.png"),
        ("shot.png", "image/png", "file-shot.png"),
        ("q?*/x.bin", "application/x-nope", "file-x.bin"),
        ("p", "image/jpeg", "file-p.jfif"),
    ],
)
async def test_a_file_gets_a_name_that_fits_its_type(kernel: MemoryKernel, name: str, kind: str, wanted: str) -> None:
    form = Form({"type": kind}, [FormFile("file", name, b"hello")])
    answer = await dispatch(Call(kernel.kernel, "/api/export/exportAsFile", Arguments({}), form=form))
    assert isinstance(answer, Envelope)
    assert answer.data == {"file": f"/export/{wanted}"}
    assert kernel.workspace.files.read(f"temp/export/{wanted}") == b"hello"


async def test_nothing_is_written_outside_of_the_workspace(kernel: MemoryKernel) -> None:
    kernel.workspace.files.write("temp/export/a.txt", b"a")
    wanted = {
        ("/export/a.txt", "rel"): (-1, "dest must be an absolute path"),
        ("/../conf/conf.json", "/x"): (-1, "invalid source path"),
        ("/export/a.txt", "/etc/x"): (-2, "refuse to copy to sensitive path: /etc/x"),
    }
    for (source, target), refused in wanted.items():
        answer = await kernel.answer("export/copyExportFile", srcPath=source, dest=target)
        assert (answer.code, answer.msg) == refused


async def test_word_files_need_pandoc(kernel: MemoryKernel) -> None:
    answer = await kernel.answer("export/exportDocx", id="x", savePath="/tmp", removeAssets=False)
    assert (answer.code, answer.data) == (1, {"closeTimeout": 7000})
    assert (
        await kernel.answer("export/processPDF", id="x", path="/a.pdf", removeAssets=True, watermark=True)
    ).code == 0


async def test_a_ledger_is_in_no_archive_of_the_data_and_is_not_replaced_by_one(kernel: MemoryKernel) -> None:
    files, ledger, setting = kernel.workspace.files, PROCESS_FILES[1], f"{PLUGIN_STORAGE}/mcpToolsConfig"
    files.write(ledger, b"mine")
    files.write(setting, b"{}")
    kernel.workspace.files.flush()
    files.withhold(PROCESS_FILES)
    address = (await kernel.call("export/exportData"))["zip"]
    with zipfile.ZipFile(io.BytesIO(files.read(f"temp{address}"))) as archive:
        names = [name.partition("/")[2] for name in archive.namelist()]
    assert setting.removeprefix("data/") in names
    assert ledger.removeprefix("data/") not in names
    # The folder with the ledger in it stays, whoever asks.
    for ask, more in (("removeFile", {}), ("renameFile", {"newPath": "/data/away"})):
        assert (await kernel.answer(f"file/{ask}", path=f"/{PLUGIN_STORAGE}", **more)).code != 0
    assert not files.exists(ledger)
    assert ledger.rpartition("/")[2] not in [
        one["name"] for one in await kernel.call("file/readDir", path=f"/{PLUGIN_STORAGE}")
    ]
    # An archive of another workspace may hold one of its own.
    brought = io.BytesIO()
    with zipfile.ZipFile(brought, "w") as archive:
        archive.writestr(f"data-x/{ledger.removeprefix('data/')}", b"another's")
        archive.writestr("data-x/assets/brought.txt", b"brought")
    form = Form({}, [FormFile("file", "data.zip", brought.getvalue())])
    answer = await dispatch(Call(kernel.kernel, "/api/import/importData", Arguments({}), form=form))
    assert isinstance(answer, Envelope)
    assert (answer.code, files.read("data/assets/brought.txt")) == (0, b"brought")
    files.withhold([])
    assert files.read(ledger) == b"mine"
