"""/api/notebook: encrypted notebooks, as the real kernel answers while the feature is off."""

from __future__ import annotations

from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

ID = "20240101000000-abcdefg"


@pytest.mark.parametrize(
    ("route", "arguments", "message"),
    [
        ("enableEncryptedNotebooks", {}, "Field [password] is required"),
        ("createEncryptedNotebook", {"name": "n", "password": "p"}, "Encrypted notebook feature is not enabled"),
        ("createEncryptedNotebook", {"name": 5}, "Field [name] should be of type [String]"),
        ("lockNotebook", {"notebook": ID}, "Notebook is not encrypted"),
        ("lockNotebook", {"notebook": "bad"}, "invalid ID argument"),
        ("unlockNotebook", {"notebook": ID, "password": "p"}, "Notebook is not encrypted"),
        ("unlockAndOpenNotebook", {"notebook": ID}, "Field [password] is required"),
        (
            "changeMasterPassword",
            {"oldPassword": "a", "newPassword": "b"},
            "Encrypted notebook feature is not enabled",
        ),
        ("importNotebookCryptoBackup", {}, "request Content-Type isn't multipart/form-data"),
        ("setNotebookCryptoAutoLock", {}, "Field [autoLockMinutes] is required"),
    ],
)
async def test_what_needs_the_feature_is_refused(
    kernel: MemoryKernel, route: str, arguments: dict[str, Any], message: str
) -> None:
    assert await kernel.refusal(f"notebook/{route}", **arguments) == message


async def test_the_feature_is_off_and_stays_off(kernel: MemoryKernel) -> None:
    assert "not supported" in await kernel.refusal("notebook/enableEncryptedNotebooks", password="p")
    status = await kernel.call("notebook/getEncryptedNotebookStatus")
    assert (status["enabled"], status["count"], status["boxes"]) == (False, 0, [])
    for route in ("disableEncryptedNotebooks", "touchEncryptedNotebooks"):
        assert await kernel.call(f"notebook/{route}") is None
    await kernel.call("notebook/setNotebookCryptoAutoLock", autoLockMinutes=-3)
    assert kernel.workspace.conf.section("notebookCrypto")["autoLockMinutes"] == 0
