"""/api/system: what the kernel says of itself, settings to take along, first steps, other workspaces."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call, Form, FormFile
from kernel.workspace.conf import CONF_PATH
from kernel.workspace.stat import rounded_up
from tests.siyuan.kernel_in_memory import MemoryKernel


async def called(kernel: MemoryKernel, path: str, **options: Any) -> Envelope:
    answer = await dispatch(Call(kernel.kernel, f"/api/{path}", Arguments({}), **options))
    assert isinstance(answer, Envelope)
    return answer


def form(name: str, content: bytes, field: str = "file") -> Form:
    return Form({}, [FormFile(field, name, content)])


async def test_all_settings_are_shown_with_secrets_masked() -> None:
    kernel = MemoryKernel()
    kernel.workspace.conf.values.update(userData="hush", mcpOAuth="hush", accessAuthCode="hush")
    shown = (await kernel.call("system/getConf"))["conf"]
    assert "hush" not in json.dumps(shown)
    assert (shown["accessAuthCode"], shown["system"]["confDir"]) == ("*******", "")
    assert shown["sync"]["stat"] == "Data synchronization has not been enabled"
    assert shown["api"]["token"] == kernel.workspace.conf.token


async def test_native_clients_see_folders_and_visitors_see_no_secrets() -> None:
    kernel = MemoryKernel()
    native = await called(kernel, "system/getConf", headers={"user-agent": "SiYuan/3.7.3", "host": "127.0.0.1:6806"})
    assert native.data["conf"]["system"]["confDir"].endswith("/conf")
    assert native.data["conf"]["serverAddrs"] == ["http://127.0.0.1:6806"]
    visitor = await called(kernel, "system/getConf", is_admin=False)
    assert visitor.data["conf"]["api"] == visitor.data["conf"]["ai"] == {}


async def test_the_interface_has_started_once_a_main_window_listened() -> None:
    kernel = MemoryKernel()
    assert (await kernel.call("system/getConf"))["start"] is False
    kernel.kernel.push.had_main = False
    assert (await kernel.call("system/getConf"))["start"] is True


async def test_documents_and_blocks_are_counted_anew() -> None:
    kernel = MemoryKernel()
    await kernel.document(await kernel.notebook(), "/One", "a\n\nb")
    stat = (await kernel.call("system/getConf"))["conf"]["stat"]
    assert (stat["treeCount"], stat["cTreeCount"], stat["blockCount"]) == (2, 100, 5)
    await kernel.call("system/rebuildDataIndex")
    assert kernel.workspace.conf.section("stat")["dataSize"] > 0


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, 100), (99, 100), (100, 500), (499, 500), (500, 1000), (19_499, 19_500), (19_500, 20_001)],
)
def test_counts_are_rounded_up(count: int, expected: int) -> None:
    assert rounded_up(count, (100, 500, 40)) == expected


@pytest.mark.parametrize(
    ("name", "given", "section", "key", "expected"),
    [
        ("setFollowSystemLockScreen", {"lockScreenMode": 1.9}, "system", "lockScreenMode", 1),
        ("setAutoLaunch", {"autoLaunch": 2}, "system", "autoLaunch2", 2),
        ("setDownloadInstallPkg", {"downloadInstallPkg": False}, "system", "downloadInstallPkg", False),
        ("setNetworkServe", {"networkServe": True}, "system", "networkServe", True),
        ("setNetworkServeTLS", {"networkServeTLS": True}, "system", "networkServeTLS", True),
        (
            "setNetworkProxy",
            {"scheme": "a", "host": "b", "port": "c"},
            "system",
            "networkProxy",
            {"scheme": "a", "host": "b", "port": "c"},
        ),
        ("setAppearanceMode", {"mode": 1}, "appearance", "mode", 1),
        ("setAPIToken", {"token": "t"}, "api", "token", "t"),
    ],
)
async def test_a_setting_is_kept(name: str, given: Any, section: str, key: str, expected: Any) -> None:
    kernel = MemoryKernel()
    await kernel.call(f"system/{name}", **given)
    assert kernel.restarted().workspace.conf.section(section)[key] == expected
    assert await kernel.call(f"system/{name}") is None
    assert kernel.workspace.conf.section(section)[key] == expected


async def test_the_layout_is_an_object() -> None:
    kernel = MemoryKernel()
    await kernel.call("system/setUILayout", layout={"a": [1]})
    assert kernel.workspace.conf.values["uiLayout"] == {"a": [1]}
    message = await kernel.refusal("system/setUILayout", layout="x")
    assert message == "json: cannot unmarshal string into Go value of type conf.UILayout"


async def test_settings_can_be_taken_along() -> None:
    kernel = MemoryKernel()
    await kernel.call("setting/setEditor", fontSize=33, emoji=["1f600"])
    await kernel.call("setting/setAI", providers=[{"apiKey": "hush"}])
    exported = await kernel.call("system/exportConf")
    content = kernel.backend.contents[f"temp/export/{exported['name']}.zip"]
    other = MemoryKernel()
    assert (await called(other, "system/importConf", form=form("c.zip", content))).code == 0
    conf = other.workspace.conf
    assert (conf.section("editor")["fontSize"], conf.section("editor")["emoji"]) == (33, [])
    assert conf.token
    stored = json.loads(zipfile.ZipFile(io.BytesIO(content)).read(exported["name"]))
    assert (stored["api"], stored["cookieKey"], stored["appearance"]["icons"]) == (None, "", None)
    assert b"hush" not in content
    assert "hush" not in json.dumps(stored)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "request Content-Type isn't multipart/form-data"),
        (form("c.json", b"{}", "other"), "invalid upload file"),
        (form("c.txt", b"{}"), "invalid conf package"),
        (form("c.zip", b"{}"), "zip: not a valid zip file"),
        (form("c.json", b""), "unexpected end of JSON input"),
        (form("c.json", b'{"editor":{"fontSize":"x"}}'), "json: cannot unmarshal string into Go struct field "),
    ],
)
async def test_what_is_no_conf_is_not_imported(given: Form | None, message: str) -> None:
    kernel = MemoryKernel()
    answer = await called(kernel, "system/importConf", form=given)
    assert answer.code == -1
    assert answer.msg.startswith(message)
    assert kernel.workspace.conf.section("editor")["fontSize"] == 16


async def test_logs_go_out_as_an_archive() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("temp/siyuan.log", b"line")
    assert await kernel.call("system/exportLog") == {"zip": "/export/system-log.zip"}
    archive = zipfile.ZipFile(io.BytesIO(kernel.backend.contents["temp/export/system-log.zip"]))
    assert archive.read("log/siyuan.log") == b"line"


async def test_temporary_files_are_counted_and_gone() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("temp/export/a.txt", b"12345")
    await kernel.call("system/clearTempFiles")
    texts = [frame["msg"] for frame in kernel.frames if frame["cmd"] == "msg"]
    assert texts[-1] == "Temporary files cleaned, [1] files removed, [5 B] disk space freed"
    assert not kernel.workspace.files.exists("temp/export/a.txt")


async def test_the_index_is_rebuilt_from_disk() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    document = await kernel.document(box, "/One", "old text")
    path = f"data/{box}/{document}.sy"
    kernel.backend.contents[path] = kernel.backend.contents[path].replace(b"old text", b"new text")
    await kernel.call("system/rebuildDataIndex")
    assert kernel.told("reloadui") == [None]
    assert await kernel.texts(document) == ["new text"]
    await kernel.call("system/vacuumDataIndex")
    assert [frame["cmd"] for frame in kernel.frames] == ["progress", "msg", "cprogress"]


async def test_a_new_user_gets_a_notebook_with_one_document() -> None:
    kernel = MemoryKernel()
    first = await kernel.call("system/ensureOnboarding")
    assert (first["state"], first["newUser"]) == ("completed", True)
    assert [frame["cmd"] for frame in kernel.frames if frame["cmd"].startswith(("create", "filetree"))] == [
        "filetreeSortChanged",
        "create",
        "createnotebook",
    ]
    assert await kernel.call("filetree/getHPathByID", id=first["documentID"]) == "/A Fresh Start"
    assert await kernel.call("system/ensureOnboarding") == first
    await kernel.call("filetree/removeDocByID", id=first["documentID"])
    second = await kernel.call("system/ensureOnboarding")
    assert second["documentID"] != first["documentID"]
    assert (await kernel.call("system/dismissOnboarding"))["dismissed"] is True
    await kernel.call("notebook/removeNotebook", notebook=first["notebookID"])
    assert (await kernel.call("system/ensureOnboarding"))["dismissed"] is False


async def test_a_user_with_notebooks_is_not_new() -> None:
    kernel = MemoryKernel()
    await kernel.notebook("Mine")
    assert (await kernel.call("system/ensureOnboarding"))["newUser"] is False
    lone = MemoryKernel()
    box = await lone.notebook("My Notebook")
    assert (await lone.call("system/ensureOnboarding"))["notebookID"] == box


async def test_a_removed_first_notebook_starts_the_steps_again() -> None:
    kernel = MemoryKernel()
    first = await kernel.call("system/ensureOnboarding")
    await kernel.call("notebook/removeNotebook", notebook=first["notebookID"])
    assert (await kernel.call("system/ensureOnboarding"))["notebookID"] not in ("", first["notebookID"])
    other = MemoryKernel()
    first = await other.call("system/ensureOnboarding")
    await other.notebook("Other")
    await other.call("notebook/removeNotebook", notebook=first["notebookID"])
    assert (await other.call("system/ensureOnboarding"))["newUser"] is False


async def test_no_steps_are_taken_where_nothing_may_be_written() -> None:
    kernel = MemoryKernel()
    kernel.kernel.options.is_readonly = True
    assert "read-only" in await kernel.refusal("system/ensureOnboarding")


async def test_other_workspaces_are_looked_at_only(tmp_path: Path) -> None:
    kernel = MemoryKernel()
    (tmp_path / "free").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("x")
    (tmp_path / "other/conf").mkdir(parents=True)
    (tmp_path / "other/conf/conf.json").write_text('{"kernelVersion":1}')
    check = "system/checkWorkspaceDir"
    assert await kernel.call(check, path=str(tmp_path / "free")) == {"isWorkspace": False}
    assert await kernel.call(check, path=str(tmp_path / "other")) == {"isWorkspace": True}
    assert "other files" in await kernel.refusal(check, path=str(tmp_path / "full"))
    assert "partition root" in await kernel.refusal(check, path="/")
    missing = str(tmp_path / "nope")
    assert await kernel.refusal(check, path=missing) == (
        f"read dir [{missing}] failed: open {missing}: no such file or directory"
    )
    assert await kernel.refusal(check, path="") == "read dir [] failed: open : no such file or directory"
    for name in (".hidden", "data", "x" * 33, "a:b"):
        assert "not allowed" in await kernel.refusal("system/createWorkspaceDir", path=f"/tmp/{name}")
    assert "one workspace" in await kernel.refusal("system/createWorkspaceDir", path="/tmp/fine")
    inner = str(tmp_path / "other" / "inner")
    assert "parent workspace" in await kernel.refusal("system/setWorkspaceDir", path=inner)
    assert "one workspace" in await kernel.refusal("system/setWorkspaceDir", path=str(tmp_path / "free"))
    physically = "system/removeWorkspaceDirPhysically"
    assert "not a workspace" in await kernel.refusal(physically, path=str(tmp_path / "free"))
    assert "not a registered" in await kernel.refusal(physically, path=str(tmp_path / "other"))
    assert (tmp_path / "other/conf/conf.json").exists()


async def test_the_own_workspace_is_neither_moved_nor_removed() -> None:
    kernel = MemoryKernel()
    own = (await kernel.call("system/getWorkspaceInfo"))["workspaceDir"]
    assert await kernel.call("system/getWorkspaces") == [{"path": own, "closed": False}]
    assert (await called(kernel, "system/getWorkspaces", is_admin=False)).data == []
    assert await kernel.call("system/getMobileWorkspaces") is None
    assert await kernel.refusal("system/setWorkspaceDir", path=own)
    assert await kernel.refusal("system/removeWorkspaceDir", path=own)
    assert await kernel.call("system/removeWorkspaceDir", path="/elsewhere") is None


async def test_custom_emojis_come_before_those_of_a_distribution() -> None:
    kernel = MemoryKernel()
    for name in ("smile.png", "set/b.svg", ".hidden"):
        kernel.workspace.files.write(f"data/emojis/{name}", b"")
    kernel.workspace.files.write("conf/appearance/emojis/conf.json", b'[{"id":"people"}]')
    custom, people = await kernel.call("system/getEmojiConf")
    assert [item["unicode"] for item in custom["items"]] == ["set/b.svg", "smile.png"]
    assert custom["items"][1]["keywords"] == "smile"
    assert people == {"id": "people"}
    kernel.workspace.files.write("conf/appearance/emojis/conf.json", b"{broken")
    assert await kernel.refusal("system/getEmojiConf")


async def test_a_process_ends_only_when_it_may() -> None:
    kernel = MemoryKernel()
    assert await kernel.refusal("system/exit", force=True)
    ended: list[bool] = []
    kernel.kernel.state["stop"] = lambda: ended.append(True)
    assert await kernel.call("system/exit", force=True, execInstallPkg=1) == {"closeTimeout": 0}
    assert ended == [True]
    assert kernel.told("exit") == [None]


async def test_what_this_kernel_cannot_do_is_said() -> None:
    kernel = MemoryKernel()
    assert await kernel.refusal("system/setAccessAuthCode", accessAuthCode="x")
    assert "deprecated" in await kernel.refusal("system/reloadUI")
    assert await kernel.refusal("system/exportTLSCACert") == "CA certificate not found"
    assert await kernel.refusal("system/exportTLSCABundle")
    assert (await called(kernel, "system/importTLSCABundle", form=form("a.zip", b""))).code == -1
    assert "no such file" in (await called(kernel, "system/importTLSCABundle", form=form("a", b"", "x"))).msg
    assert await kernel.call("system/checkUpdate", showMsg=True) is None
    assert await kernel.call("system/addMicrosoftDefenderExclusion") is None
    assert await kernel.call("system/getChangelog") == {"show": False, "html": ""}


async def test_a_certificate_that_a_real_kernel_left_can_be_fetched() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("conf/ca.crt", b"c")
    kernel.workspace.files.write("conf/ca.key", b"k")
    assert await kernel.call("system/exportTLSCACert") == {"path": "/export/ca.crt"}
    assert await kernel.call("system/exportTLSCABundle") == {"path": "/export/ca-bundle.zip"}


async def test_a_start_keeps_what_was_set_and_notes_an_upgrade() -> None:
    kernel = MemoryKernel()
    conf = json.loads(kernel.backend.contents[CONF_PATH])
    assert (conf["system"]["kernelVersion"], conf["onboarding"]["state"]) == ("3.7.3", "pending")
    conf["system"]["kernelVersion"] = "3.6.0-beta"
    kernel.backend.contents[CONF_PATH] = json.dumps(conf).encode()
    again = kernel.restarted().workspace.conf
    assert again.values["showChangelog"] is True
    assert again.section("system")["id"] == conf["system"]["id"]
