"""What the settings say of this process and its machine: filled in at the start, as the kernel does."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kernel.siyuan.appearance import settle_appearance
from kernel.siyuan.distribution import bring_appearance
from kernel.siyuan.onboarding import prepare_if_empty
from kernel.workspace.conf_defaults import languages

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

# The emulated kernel (decision 3), running as its server image does (kernel-facts).
KERNEL_VERSION: Final = "3.7.3"
CONTAINER: Final = "docker"
DEVICE_ID_LENGTH: Final = 12
COOKIE_KEY_LENGTH: Final = 16
_OS_RELEASE: Final = "/etc/os-release"
_OS_NAMES: Final = {"darwin": "darwin", "win32": "windows"}


def start_conf(kernel: SiyuanKernel) -> None:
    """Complete the settings with what only the running process knows, and write them where they are new."""
    conf = kernel.workspace.conf
    values, system = conf.values, conf.section("system")
    root = kernel.workspace.files.absolute("").rstrip("/")
    is_upgraded = bool(system["kernelVersion"]) and _version(system["kernelVersion"]) < _version(KERNEL_VERSION)
    values["showChangelog"] = bool(values["showChangelog"]) or is_upgraded
    system.update(
        id=system["id"] or kernel.ids.text(DEVICE_ID_LENGTH),
        name=system["name"] or platform.node(),
        kernelVersion=KERNEL_VERSION,
        os=_OS_NAMES.get(sys.platform, "linux"),
        osPlatform=_os_platform(),
        container=CONTAINER,
        isMicrosoftStore=False,
        isInsider=False,
        homeDir=str(Path.home()),
        workspaceDir=root,
        appDir=kernel.options.working_dir,
        confDir=f"{root}/conf",
        dataDir=f"{root}/data",
        disabledFeatures=system["disabledFeatures"] or [],
        safeMode=False,
    )
    if kernel.options.language != "en" and any(one["name"] == kernel.options.language for one in languages()):
        values["lang"] = conf.section("appearance")["lang"] = kernel.options.language
    values["readonly"] = kernel.options.is_readonly
    if kernel.options.access_code:
        values["accessAuthCode"] = kernel.options.access_code
    values["accessAuthCode"] = values["accessAuthCode"].strip()
    values["cookieKey"] = values["cookieKey"] or kernel.ids.text(COOKIE_KEY_LENGTH)
    values["serverAddrs"] = values["serverAddrs"] or []
    prepare_if_empty(kernel)
    bring_appearance(kernel)
    settle_appearance(kernel)
    kernel.workspace.files.flush()


def _version(text: str) -> tuple[int, ...]:
    numbers = [part for part in text.split("-", maxsplit=1)[0].split(".") if part.isdecimal()]
    return tuple(int(part) for part in numbers)


def _os_platform() -> str:
    """The distribution's id on Linux, elsewhere the system's name."""
    try:
        lines = Path(_OS_RELEASE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return _OS_NAMES.get(sys.platform, sys.platform)
    return next((line[3:].strip('"') for line in lines if line.startswith("ID=")), "linux")
