"""/api/setting: sections set as a whole, and what windows are told of it."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call
from kernel.workspace.conf import CONF_PATH
from tests.siyuan.kernel_in_memory import MemoryKernel

THEME = b'{"name":"gt","version":"0.0.1","modes":["dark","light"],"displayName":{"default":"Golden"}}'


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("setAccount", {"displayTitle": True}, {"displayTitle": True, "displayVIP": False}),
        ("setBazaar", {"trust": True, "petalDisabled": None}, {"trust": True, "petalDisabled": False}),
        ("setSecrets", {"items": [{"name": "a"}]}, {"items": [{"name": "a", "value": ""}]}),
        ("setVariables", {}, {"items": None}),
        ("setSnippet", {"enabledJS": True}, {"enabledCSS": False, "enabledJS": True}),
    ],
)
async def test_a_section_is_what_was_given_over_zeros(name: str, given: Any, expected: Any) -> None:
    assert await MemoryKernel().call(f"setting/{name}", **given) == expected


@pytest.mark.parametrize(
    ("name", "given", "field", "expected"),
    [
        ("setFlashcard", {"newCardLimit": -5, "reviewCardLimit": -1}, "newCardLimit", 20),
        ("setEditor", {"historyRetentionDays": 0}, "historyRetentionDays", 30),
        ("setEditor", {"historyRetentionDays": 3651}, "historyRetentionDays", 3650),
        ("setEditor", {"floatWindowDelay": 9999}, "floatWindowDelay", 2000),
        ("setEditor", {"katexMacros": ""}, "katexMacros", "{}"),
        ("setEditor", {"fontSize": 3}, "fontSize", 3),
        ("setFiletree", {"maxOpenTabCount": 99}, "maxOpenTabCount", 32),
        ("setFiletree", {"shorthandSavePath": " a / b "}, "shorthandSavePath", "/a/b"),
        ("setFiletree", {"maxListCount": 0}, "maxListCount", 0),
        ("setFiletree", {}, "boxDocEnabled", True),
        ("setSearch", {}, "limit", 32),
        ("setSearch", {}, "hanSensitive", True),
        ("setSearch", {"hanSensitive": False}, "hanSensitive", False),
        ("setExport", {"pandocBin": "/nope"}, "pandocBin", ""),
        ("setAI", {}, "providers", []),
    ],
)
async def test_a_value_out_of_bounds_is_brought_back(name: str, given: Any, field: str, expected: Any) -> None:
    assert (await MemoryKernel().call(f"setting/{name}", **given))[field] == expected


async def test_a_refused_section_changes_nothing() -> None:
    kernel = MemoryKernel()
    message = await kernel.refusal("setting/setFlashcard", newCardLimit="x")
    assert message == "json: cannot unmarshal string into Go struct field Flashcard.newCardLimit of type int"
    assert kernel.workspace.conf.section("flashcard")["newCardLimit"] == 20
    answer = await kernel.answer("setting/setExport", addTitle=5)
    assert (answer.code, answer.data) == (-1, {"closeTimeout": 5000})


async def test_markdown_switches_are_laid_over_those_in_force() -> None:
    kernel = MemoryKernel()
    await kernel.call("setting/setEditor", markdown={"inlineTag": False})
    shown = await kernel.call("setting/setEditor", markdown={"inlineMath": False})
    assert (shown["markdown"]["inlineTag"], shown["markdown"]["inlineMath"], shown["markdown"]["inlineSup"]) == (
        False,
        False,
        True,
    )


async def test_settings_outlive_the_kernel() -> None:
    kernel = MemoryKernel()
    await kernel.call("setting/setKeymap", data={"general": {"a": 1.0}})
    await kernel.call("setting/setEditor", fontSize=20)
    again = kernel.restarted().workspace.conf
    assert (again.values["keymap"], again.section("editor")["fontSize"]) == ({"general": {"a": 1}}, 20)
    await kernel.call("setting/setKeymap")
    assert kernel.workspace.conf.values["keymap"] is None
    assert CONF_PATH in kernel.backend.contents


async def test_windows_hear_of_read_only_only_when_it_changes() -> None:
    kernel = MemoryKernel()
    await kernel.call("setting/setEditorReadOnly", readonly=True)
    assert kernel.told("readonly") == [True]
    await kernel.call("setting/setEditor", readOnly=True)
    assert kernel.told("readonly") == []
    await kernel.call("setting/setEditor", readOnly=False)
    assert kernel.told("readonly") == [False]
    assert await kernel.call("setting/setEditorReadOnly") is None


async def test_words_for_virtual_references_are_kept_once_with_commas_escaped() -> None:
    kernel = MemoryKernel()
    await kernel.call("setting/addVirtualBlockRefInclude", keywords=["a,b", " c ", "c", ""])
    await kernel.call("setting/addVirtualBlockRefInclude", keywords=["a,b", "d"])
    assert kernel.workspace.conf.section("editor")["virtualBlockRefInclude"] == "a\\,b,c,d"
    (first, _) = kernel.told("setConf")
    assert first["api"]["token"] == kernel.workspace.conf.token
    await kernel.call("setting/addVirtualBlockRefExclude", keywords=[])
    await kernel.call("setting/refreshVirtualBlockRef")
    assert len(kernel.told("setConf")) == 2


async def test_emoji_names_cannot_leave_their_folder() -> None:
    kernel = MemoryKernel()
    await kernel.call("setting/setEmoji", emoji=["1f600", "a/b:c.png", "api/icon/x.y?z=1", "q" * 300 + ".png"])
    stored = kernel.workspace.conf.section("editor")["emoji"]
    assert stored[:3] == ["1f600", "a/b_c.png", "api/icon/x.y?z=1"]
    assert len(stored[3]) == 189
    await kernel.call("setting/setEmoji", emoji=[])
    assert kernel.workspace.conf.section("editor")["emoji"] is None


async def test_themes_and_icons_must_be_there() -> None:
    kernel = MemoryKernel()
    assert await kernel.refusal("setting/setIcon", icon="nope") == "icon [nope] not exists or not available"
    await kernel.call("setting/setIcon", icon="litheness")
    assert kernel.told("setAppearance")[0]["iconVer"] == "1.0.0"
    assert "modes" in await kernel.refusal("setting/setTheme", theme="midnight", modes=[5, 1])
    assert "modes" in await kernel.refusal("setting/setTheme", theme="midnight", modes=[True])
    message = await kernel.refusal("setting/setTheme", theme="midnight", modes=[0])
    assert message == "theme [midnight] not exists or not available for light mode"
    assert await kernel.refusal("setting/setTheme", appearanceMode="weird") == "invalid appearance mode: weird"


async def test_a_theme_in_the_workspace_can_be_selected() -> None:
    kernel = MemoryKernel()
    kernel.workspace.files.write("conf/appearance/themes/gt/theme.json", THEME)
    kernel.workspace.files.write("conf/appearance/themes/gt/theme.js", b"")
    kernel.workspace.files.write("conf/appearance/themes/bad/theme.json", b"{")
    kernel.workspace.files.write("conf/appearance/icons/gi/icon.json", b'{"name":"gi"}')
    await kernel.call("ui/reloadTheme")
    await kernel.call("setting/setTheme", theme="gt", modes=[0, 1, 7], appearanceMode="dark")
    appearance = kernel.told("setAppearance")[-1]
    assert (appearance["themeDark"], appearance["themeVer"], appearance["themeJS"]) == ("gt", "0.0.1", True)
    assert [one["label"] for one in appearance["darkThemes"]] == ["midnight (Default)", "Golden (gt)"]
    assert (appearance["mode"], appearance["modeOS"]) == (1, False)
    assert [one["name"] for one in appearance["icons"]] == ["gi", "litheness"]
    await kernel.call("setting/setTheme", appearanceMode="system")
    assert kernel.told("setAppearance")[-1]["modeOS"] is True


async def test_an_appearance_that_names_nothing_gets_the_built_in_ones() -> None:
    kernel = MemoryKernel()
    shown = await kernel.call("setting/setAppearance", themeDark="nope", icon="nope", lang="zh_CN", mode=1)
    assert (shown["themeDark"], shown["icon"], shown["statusBar"]) == ("midnight", "litheness", None)
    assert kernel.workspace.conf.values["lang"] == "zh-CN"
    await kernel.call("setting/setAppearance", lang="de_DE")
    assert kernel.workspace.conf.values["lang"] == "de"
    await kernel.call("setting/setAppearance", lang="xx_YY")
    assert kernel.workspace.conf.values["lang"] == "xx_YY"


async def test_switching_notebook_documents_off_tells_the_file_tree() -> None:
    kernel = MemoryKernel()
    await kernel.notebook()
    trees: list[Any] = []
    kernel.kernel.push.sessions[0].type = "filetree"
    kernel.kernel.push.sessions[0].deliver = trees.append
    await kernel.call("setting/setFiletree", boxDocEnabled=False)
    await kernel.call("setting/setFiletree", boxDocEnabled=True)
    await kernel.call("setting/setFiletree", boxDocEnabled=True)
    assert [frame["cmd"] for frame in trees].count("reloadFiletree") == 2


async def test_a_named_server_keeps_its_id() -> None:
    kernel = MemoryKernel()
    first = await kernel.call("setting/setAI", mcp={"servers": [{"name": "s"}]})
    second = await kernel.call("setting/setAI", mcp={"servers": [{"name": "s", "enabled": True}, {"name": "t"}]})
    assert first["mcp"]["servers"][0]["id"] == second["mcp"]["servers"][0]["id"] != second["mcp"]["servers"][1]["id"]


async def test_nobody_is_signed_in_to_the_cloud() -> None:
    kernel = MemoryKernel()
    assert await kernel.call("setting/getCloudUser") is None
    await kernel.call("setting/getCloudUser", token="x")
    assert len(kernel.told("msg")) == 1
    await kernel.call("setting/logoutCloudUser")
    assert await kernel.call("setting/login2faCloudUser") is None
    assert await kernel.refusal("setting/login2faCloudUser", token="a", code="b")


async def test_publishing_can_be_set_but_not_switched_on() -> None:
    kernel = MemoryKernel()
    shown = await kernel.call("setting/setPublish", port=7000, auth={"enable": True, "accounts": []})
    assert shown == {"port": 0, "publish": {"enable": False, "port": 7000, "auth": {"enable": True, "accounts": []}}}
    assert kernel.told("setPublish") == [shown["publish"]]
    assert await kernel.call("setting/getPublish") == shown
    assert "not served" in await kernel.refusal("setting/setPublish", enable=True)
    assert await kernel.call("setting/setPublish") is None
    assert await kernel.call("setting/getPublish") is None


async def test_a_visitor_does_not_sign_in() -> None:
    kernel = MemoryKernel()
    call = Call(kernel.kernel, "/api/setting/getCloudUser", Arguments({"token": "x"}), is_admin=False)
    assert await dispatch(call) == Envelope(0, "", None)
    assert kernel.told("msg") == []
