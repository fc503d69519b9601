"""/api/import: archives of exported documents that wait to be told their notebook."""

from __future__ import annotations

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_an_archive_waits_until_its_notebook_is_known(kernel: MemoryKernel) -> None:
    source = await kernel.notebook("Source")
    root_id = await kernel.document(source, "/Doc", "text")
    address = (await kernel.call("export/exportSY", id=root_id))["zip"]
    archive = kernel.workspace.files.read(f"temp{address}")
    target = await kernel.notebook("Target")

    async def staged() -> str:
        form = Form({}, [FormFile("file", "Doc.sy.zip", archive)])
        answer = await dispatch(Call(kernel.kernel, "/api/import/importSYAuto", Arguments({}), form=form))
        assert isinstance(answer, Envelope)
        assert (answer.code, answer.data["type"]) == (0, "document")
        return str(answer.data["token"])

    token = await staged()
    assert await kernel.call("import/continueImportSY", token=token, notebook=target) == {"type": "document"}
    assert len(await kernel.call("filetree/getIDsByHPath", notebook=target, path="/Doc")) == 1
    gone = "import task not found or expired"
    assert await kernel.refusal("import/continueImportSY", token=token, notebook=target) == gone
    token = await staged()
    assert await kernel.call("import/cancelImportSY", token=token) is None
    assert await kernel.refusal("import/continueImportSY", token=token, notebook=target) == gone
    for route in ("continueImportSY", "cancelImportSY"):
        assert await kernel.refusal(f"import/{route}", token="x/../y", notebook=target) == "invalid import token"
