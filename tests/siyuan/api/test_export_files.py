"""/api/export/exportResources: files of the workspace in one archive."""

from __future__ import annotations

import io
import zipfile

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
