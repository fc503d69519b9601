"""/api/bazaar and /api/petal: installed packages, and plugins switched on and off."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.siyuan.petals import PATH
from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel

MANIFEST = {
    "name": "plug",
    "author": "me",
    "url": "https://github.com/me/plug/",
    "version": "0.0.1",
    "minAppVersion": "2.0.0",
    "frontends": ["desktop"],
    "displayName": {"default": "Golden plug"},
    "description": {"en": "A plug"},
    "keywords": ["K1"],
    "funding": {"github": "me"},
}


def install(kernel: MemoryKernel, folder: str, name: str, manifest: str = "plugin.json", **changes: Any) -> None:
    content = json.dumps({**MANIFEST, "name": name, **changes}).encode()
    kernel.workspace.files.write(f"{folder}/{name}/{manifest}", content)


async def test_an_installed_plugin_is_described() -> None:
    kernel = MemoryKernel()
    install(kernel, "data/plugins", "plug")
    kernel.workspace.files.write("data/plugins/bad/plugin.json", b"{")
    (shown,) = (await kernel.call("bazaar/getInstalledPlugin", frontend="desktop"))["packages"]
    assert (shown["preferredName"], shown["preferredDesc"], shown["repoURL"], shown["preferredFunding"]) == (
        "Golden plug",
        "A plug",
        "https://github.com/me/plug",
        "https://github.com/sponsors/me",
    )
    assert (shown["iconURL"], shown["installedIncompatible"], shown["current"]) == (
        "/plugins/plug/icon.png",
        False,
        False,
    )
    assert "enabled" not in shown
    (elsewhere,) = (await kernel.call("bazaar/getInstalledPlugin", frontend="mobile"))["packages"]
    assert elsewhere["installedIncompatible"] is True


@pytest.mark.parametrize(
    ("keyword", "count"), [("", 1), ("golden", 1), ("k1 ME", 1), ("plug", 1), ("nothing", 0), ("plug nothing", 0)]
)
async def test_packages_are_found_by_all_words(keyword: str, count: int) -> None:
    kernel = MemoryKernel()
    install(kernel, "data/plugins", "plug")
    found = await kernel.call("bazaar/getInstalledPlugin", frontend="desktop", keyword=keyword)
    assert len(found["packages"]) == count


@pytest.mark.parametrize(
    ("funding", "address"),
    [
        (None, ""),
        ({"openCollective": "x"}, "https://opencollective.com/x"),
        ({"patreon": "https://p"}, "https://p"),
        ({"custom": ["mailto:a"]}, "mailto:a"),
        ({"custom": ["ftp://a"]}, ""),
        ({}, ""),
    ],
)
async def test_the_way_to_give_money_is_an_address(funding: Any, address: str) -> None:
    kernel = MemoryKernel()
    install(kernel, "data/widgets", "w", "widget.json", funding=funding)
    (shown,) = (await kernel.call("bazaar/getInstalledWidget"))["packages"]
    assert shown["preferredFunding"] == address


async def test_selected_themes_and_icons_are_current_until_they_are_removed() -> None:
    kernel = MemoryKernel()
    install(kernel, "conf/appearance/themes", "gt", "theme.json", modes=["dark"])
    install(kernel, "conf/appearance/icons", "gi", "icon.json")
    await kernel.call("ui/reloadTheme")
    await kernel.call("setting/setTheme", theme="gt", modes=[1])
    await kernel.call("setting/setIcon", icon="gi")
    (theme,) = (await kernel.call("bazaar/getInstalledTheme"))["packages"]
    (icon,) = (await kernel.call("bazaar/getInstalledIcon"))["packages"]
    assert (theme["current"], theme["modes"], icon["current"]) == (True, ["dark"], True)
    removed = await kernel.call("bazaar/uninstallBazaarTheme", packageName="gt")
    assert removed["appearance"]["themeDark"] == "midnight"
    assert (await kernel.call("bazaar/uninstallBazaarIcon", packageName="gi"))["appearance"]["icon"] == "litheness"
    assert (await kernel.call("bazaar/uninstallBazaarTheme", packageName="daylight"))["packages"] == []


@pytest.mark.parametrize("name", ["..", ".", "../x", "a/b", "a\\b"])
async def test_uninstalling_stays_among_the_packages(name: str) -> None:
    kernel = MemoryKernel()
    install(kernel, "data/plugins", "plug")
    await kernel.call("bazaar/uninstallBazaarPlugin", packageName=name)
    assert kernel.workspace.files.exists("data/plugins/plug/plugin.json")


async def test_the_marketplace_is_out_of_reach() -> None:
    kernel = MemoryKernel()
    for word in ("Widget", "Icon", "Template", "Theme"):
        assert await kernel.call(f"bazaar/getBazaar{word}") == {"packages": []}
    assert await kernel.call("bazaar/getBazaarPlugin", frontend="desktop") == {"packages": []}
    assert len(kernel.told("msg")) == 5
    wanted = {"repoURL": "https://github.com/a/b", "repoHash": "x", "packageName": "p"}
    answer = await kernel.answer("bazaar/installBazaarPlugin", frontend="desktop", **wanted)
    assert (answer.code, "[p]" in answer.msg) == (1, True)
    assert await kernel.refusal("bazaar/installBazaarTheme", **wanted) == "Field [mode] is required"
    assert (await kernel.answer("bazaar/installBazaarTheme", mode=0, **wanted)).code == 1
    readme = {"repoURL": "a", "repoHash": "b"}
    assert await kernel.call("bazaar/getBazaarPackageREADME", packageType="plugins", **readme) == {"html": ""}
    assert await kernel.refusal("bazaar/getBazaarPackageREADME", packageType="x", **readme) == "Invalid package type"
    assert (await kernel.call("bazaar/getUpdatedPackage", frontend="desktop"))["themes"] == []
    assert await kernel.call("bazaar/batchUpdatePackage", frontend="desktop") is None


async def test_a_plugin_is_loaded_once_it_is_on_and_trusted() -> None:
    kernel = MemoryKernel()
    others: list[dict[str, Any]] = []
    kernel.kernel.push.add(PushSession("other", "w", "main", others.append))
    install(kernel, "data/plugins", "plug", kernels=["docker"])
    for name, content in (
        ("index.js", b"js"),
        ("index.css", b"css"),
        ("kernel.js", b"k"),
        ("i18n/zh_CN.json", b'{"a":1}'),
    ):
        kernel.workspace.files.write(f"data/plugins/plug/{name}", content)
    petal = await kernel.call("petal/setPetalEnabled", packageName="plug", enabled=True, app="app")
    assert (petal["js"], petal["css"], petal["i18n"]) == ("js", "css", {"a": 1})
    assert petal["kernel"] == {"js": "k", "existed": True, "incompatible": False}
    assert (kernel.told("reloadPlugin"), others[0]["data"]["reloadPlugins"]) == ([], ["plug"])
    assert await kernel.call("petal/loadPetals", frontend="desktop") == []
    await kernel.call("setting/setBazaar", trust=True)
    assert await kernel.call("petal/loadPetals", frontend="desktop") == [petal]
    assert await kernel.call("petal/loadPetals", frontend="mobile") == []
    assert b'"js": "js"' not in kernel.backend.contents[PATH]
    (shown,) = (await kernel.call("bazaar/getInstalledPlugin", frontend="desktop"))["packages"]
    assert shown["enabled"] is True
    await kernel.call("petal/setPetalEnabled", packageName="plug", enabled=False)
    assert kernel.told("reloadPlugin")[0]["unloadPlugins"] == ["plug"]
    await kernel.call("bazaar/uninstallBazaarPlugin", packageName="plug", frontend="desktop")
    assert kernel.told("reloadPlugin")[0]["uninstallPlugins"] == ["plug"]
    assert json.loads(kernel.backend.contents[PATH]) == []


async def test_a_plugin_for_a_newer_kernel_stays_off() -> None:
    kernel = MemoryKernel()
    install(kernel, "data/plugins", "new", minAppVersion="99.0.0")
    assert "require upgrade" in await kernel.refusal("petal/setPetalEnabled", packageName="new", enabled=True)
    assert await kernel.refusal("petal/setPetalEnabled", packageName="none", enabled=True) == "plugin [none] not found"
    install(kernel, "data/plugins", "new")
    await kernel.call("petal/setPetalEnabled", packageName="new", enabled=True)
    install(kernel, "data/plugins", "new", minAppVersion="99.0.0")
    await kernel.call("setting/setBazaar", trust=True)
    assert await kernel.call("petal/loadPetals", frontend="desktop") == []
    assert json.loads(kernel.backend.contents[PATH])[0]["enabled"] is False
    kernel.workspace.files.remove("data/plugins/new")
    assert await kernel.call("petal/loadPetals", frontend="desktop") == []
    kernel.workspace.files.write(PATH, b"{")
    assert await kernel.call("petal/loadPetals", frontend="desktop") == []
