"""/api/sync, /api/cloud, /api/account, /api/inbox: settings are kept, nobody is asked."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kernel.siyuan.api.sync import BAD_NAME, is_directory_name
from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import EMPTY, Envelope, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.mark.parametrize(
    ("name", "given", "key", "expected"),
    [
        ("setSyncEnable", {"enabled": True}, "enabled", True),
        ("setSyncInterval", {"interval": 29}, "interval", 30),
        ("setSyncInterval", {"interval": 43201}, "interval", 43200),
        ("setSyncPerception", {"enabled": True}, "perception", False),
        ("setSyncGenerateConflictDoc", {"enabled": True}, "generateConflictDoc", True),
        ("setSyncMode", {"mode": 3}, "mode", 3),
        ("setSyncProvider", {"provider": 9}, "provider", 9),
        ("setCloudSyncDir", {"name": "good"}, "cloudName", "good"),
        ("setCloudSyncDir", {"name": "a/b"}, "cloudName", "main"),
    ],
)
async def test_a_setting_is_kept(name: str, given: Any, key: str, expected: Any) -> None:
    kernel = MemoryKernel()
    await kernel.call(f"sync/{name}", **given)
    assert kernel.restarted().workspace.conf.section("sync")[key] == expected


@pytest.mark.parametrize(
    ("name", "is_fine"), [("a", True), ("x" * 63, True), ("x" * 64, False), ("", False), ("a b", False), ("a/b", False)]
)
def test_a_directory_name_is_short_and_plain(name: str, is_fine: bool) -> None:
    assert is_directory_name(name) is is_fine


async def test_providers_are_stored_in_a_regular_form() -> None:
    kernel = MemoryKernel()
    given = {"bucket": " buck ", "endpoint": " e.com//x ", "timeout": 1, "concurrentReqs": 99}
    s3 = (await kernel.call("sync/setSyncProviderS3", s3=given))["s3"]
    assert (s3["bucket"], s3["endpoint"], s3["timeout"], s3["concurrentReqs"]) == ("buck", "http://e.com/x/", 7, 16)
    webdav = (await kernel.call("sync/setSyncProviderWebDAV", webdav={"endpoint": "http(s)://a.b"}))["webdav"]
    assert (webdav["endpoint"], webdav["timeout"], webdav["concurrentReqs"]) == ("https://a.b/", 60, 1)
    assert await kernel.refusal("sync/setSyncProviderS3", s3={"bucket": "a/b"}) == BAD_NAME
    assert "Nutstore" in await kernel.refusal(
        "sync/setSyncProviderWebDAV", webdav={"endpoint": "https://dav.jianguoyun.com/dav"}
    )
    answer = await kernel.answer("sync/setSyncProviderS3", s3={"pathStyle": "x"})
    assert (answer.msg, answer.data) == (
        "json: cannot unmarshal string into Go struct field S3.pathStyle of type bool",
        {"closeTimeout": 5000},
    )


async def test_a_folder_to_synchronise_with_lies_elsewhere(tmp_path: Path) -> None:
    kernel = MemoryKernel()
    stored = await kernel.call("sync/setSyncProviderLocal", local={"endpoint": f" {tmp_path}/ "})
    assert stored["local"]["endpoint"] == f"{tmp_path}/"
    assert (await kernel.call("sync/setSyncProviderLocal", local={}))["local"]["endpoint"] == ""
    missing = await kernel.refusal("sync/setSyncProviderLocal", local={"endpoint": "/nope/x"})
    assert missing == "Invalid dir path [endpoint [/nope/x/] not exist]"


async def test_performing_says_what_is_missing_and_never_goes_out() -> None:
    kernel = MemoryKernel()
    await kernel.call("sync/performSync", mobileSwitch=True)
    assert kernel.frames == []
    await kernel.call("sync/performSync")
    assert [frame["msg"][:25] for frame in kernel.frames] == ["Please enable cloud sync "]
    await kernel.call("sync/setSyncMode", mode=3)
    assert await kernel.refusal("sync/performSync") == "Field [upload] is required"
    await kernel.call("sync/setSyncEnable", enabled=True)
    await kernel.call("sync/performSync", upload=True)
    assert kernel.workspace.conf.section("sync")["enabled"] is False
    kernel.workspace.conf.section("sync").update(enabled=True, cloudName="")
    kernel.frames.clear()
    await kernel.call("sync/performSync", upload=True)
    assert len(kernel.frames) == 1
    info = await kernel.call("sync/getSyncInfo")
    assert (info["kernels"], info["synced"]) == ([], 0)
    assert (await kernel.call("sync/getSyncInfo"))["kernel"] == info["kernel"]
    assert (await kernel.answer("sync/performBootSync")).code == -1
    assert await kernel.call("sync/getBootSync") is None


async def test_directories_in_the_cloud_are_out_of_reach() -> None:
    kernel = MemoryKernel()
    assert await kernel.refusal("sync/createCloudSyncDir", name="a/b") == BAD_NAME
    for name in ("createCloudSyncDir", "removeCloudSyncDir"):
        assert "(Provider: SiYuan)" in await kernel.refusal(f"sync/{name}", name="good")
    assert (await kernel.answer("sync/listCloudSyncDir")).code == 1
    await kernel.call("sync/setSyncProvider", provider=2)
    assert "not supported" in await kernel.refusal("sync/createCloudSyncDir", name="good")


@pytest.mark.parametrize(("word", "name"), [("S3", "s3"), ("WebDAV", "webdav")])
async def test_a_provider_can_be_taken_along(word: str, name: str) -> None:
    kernel = MemoryKernel()
    await kernel.call(f"sync/setSyncProvider{word}", **{name: {"endpoint": "https://e.com"}})
    exported = await kernel.call(f"sync/exportSyncProvider{word}")
    content = kernel.backend.contents[f"temp/export/{exported['name']}.zip"]
    assert json.loads(zipfile.ZipFile(io.BytesIO(content)).read(exported["name"]))["endpoint"] == "https://e.com/"
    other = MemoryKernel()

    async def imported(form: Form | None) -> Envelope:
        call = Call(other.kernel, f"/api/sync/importSyncProvider{word}", Arguments({}), form=form)
        answer = await dispatch(call)
        assert isinstance(answer, Envelope)
        return answer

    answer = await imported(Form({}, [FormFile("file", "p.zip", content)]))
    assert answer.data[name]["endpoint"] == "https://e.com/"
    assert (await imported(None)).code == -1
    sealed = await imported(Form({}, [FormFile("file", "p.json", b"5f1c sealed")]))
    assert "sealed" in sealed.msg


async def test_the_vendors_cloud_is_never_asked() -> None:
    kernel = MemoryKernel()
    assert (await kernel.answer("cloud/getCloudSpace")).code == 1
    assert await kernel.call("cloud/setCloudReminder") is None
    login = {"userName": "a", "userPassword": "b", "captcha": "", "cloudRegion": 0}
    assert "unreachable" in await kernel.refusal("account/login", **login)
    assert await dispatch(Call(kernel.kernel, "/api/account/login", Arguments({}))) == EMPTY
    assert await kernel.call("account/useActivationcode", data="x") is None
    assert (await kernel.answer("account/checkActivationcode", data="")).code == 1
    assert await kernel.call("account/checkActivationcode", data="x") is None
    assert await kernel.refusal("account/startFreeTrial")
    assert await kernel.call("account/deactivate") is None
    assert await kernel.call("inbox/getShorthands", page=1) is None
    assert await kernel.call("inbox/getShorthand", id="1") is None
    assert await kernel.call("inbox/removeShorthands", ids=["1"]) is None
