"""/api/system: what the kernel says of itself, and the settings of the process (siyuan-api A13)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.json_text import read_json
from kernel.siyuan.api.messages import show_message
from kernel.siyuan.appearance import theme_has_script
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.fonts import font_folders, list_fonts
from kernel.siyuan.machine import KERNEL_VERSION
from kernel.siyuan.sections import fitted, show_section
from kernel.workspace.conf_shapes import UI_LAYOUT
from kernel.workspace.events import MAIN
from kernel.workspace.stat import refresh_stat

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

SYNC_OFF: Final = "Data synchronization has not been enabled"
RESTART_NEEDED: Final = "The setting is complete, the application will be closed automatically, please restart later..."
PROCESSED: Final = "Processing completed"
EXITING: Final = "Exiting..."
NO_ACCESS_CODE: Final = "access auth code cannot be set in Docker container"
DEPRECATED: Final = "[%s] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details"
NOT_TO_BE_ENDED: Final = "this kernel is ended by the process it runs in"
ACCESS_CODE_MASK: Final = "*******"
RESTART_MESSAGE_MS: Final = 15_000
EXIT_MESSAGE_MS: Final = 600_000
_DIRECTORIES: Final = ("homeDir", "workspaceDir", "appDir", "confDir", "dataDir")
# What only an administrator sees.
_SECRET_SECTIONS: Final = ("ai", "api", "flashcard", "publish", "repo", "sync", "secrets", "variables")
EMOJIS_CONF: Final = "conf/appearance/emojis/conf.json"


# --- what it is -------------------------------------------------------------------------------------------------
def version(call: Call) -> Any:
    return KERNEL_VERSION


def boot_progress(call: Call) -> Any:
    """A kernel that answers is a kernel that has booted: the port opens last."""
    return {"details": f"v{KERNEL_VERSION} Finishing boot...", "progress": 100}


def current_time(call: Call) -> Any:
    return call.kernel.clock.wall_ms()


def get_workspace_info(call: Call) -> Any:
    workspace = call.kernel.workspace.files.absolute("").rstrip("/")
    return {"siyuanVer": KERNEL_VERSION, "workspaceDir": workspace}


def get_network(call: Call) -> Any:
    return {"proxy": call.kernel.workspace.conf.section("system")["networkProxy"]}


def get_conf(call: Call) -> Any:
    """All settings; secrets are masked, folders are shown to native clients only."""
    conf = call.kernel.workspace.conf
    refresh_stat(call.kernel.workspace)
    values: dict[str, Any] = conf.written()
    values["userData"] = values["mcpOAuth"] = ""
    values["accessAuthCode"] = ACCESS_CODE_MASK if values["accessAuthCode"] else ""
    values["serverAddrs"] = values["serverAddrs"] or _server_addresses(call)
    sync, system = {**values["sync"]}, {**values["system"]}
    if not sync["enabled"] or sync["provider"] == 0:
        sync["stat"] = SYNC_OFF
    values["sync"], values["system"] = sync, system
    if not call.is_admin:
        values.update({name: {} for name in _SECRET_SECTIONS}, serverAddrs=[])
    if not call.headers.get("user-agent", "").startswith("SiYuan/"):
        system.update(dict.fromkeys(_DIRECTORIES, ""))
    return {"conf": values, "start": not call.kernel.push.had_main, "isPublish": False}


def _server_addresses(call: Call) -> list[str]:
    host = call.headers.get("host", "")
    return [f"http://{host}"] if host else []


def get_changelog(call: Call) -> Any:
    """Nothing is new: changelogs come with the real distribution."""
    return {"show": False, "html": ""}


def get_emoji_conf(call: Call) -> Any:
    """The workspace's own emojis, then the distribution's (those only with ``--wd``, or a workspace that has them)."""
    files = call.kernel.workspace.files
    items: list[dict[str, str]] = []
    if files.is_dir("data/emojis"):
        for entry in sorted(files.list("data/emojis"), key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue
            if entry.is_dir:
                below = sorted(file.name for file in files.list(f"data/emojis/{entry.name}") if not file.is_dir)
                items += [_emoji(f"{entry.name}/{name}") for name in below if not name.startswith(".")]
            else:
                items.append(_emoji(entry.name))
    custom = {"id": "custom", "title": "Custom", "title_zh_cn": "自定义", "title_ja_jp": "カスタム", "items": items}
    return [custom, *_distribution_emojis(call)]


def _emoji(name: str) -> dict[str, str]:
    stem = re.sub(r"\.[^./]*$", "", name)
    described = dict.fromkeys(("description", "description_zh_cn", "description_ja_jp", "keywords"), stem)
    return {"unicode": name, **described}


def _distribution_emojis(call: Call) -> list[Any]:
    files, working_dir = call.kernel.workspace.files, call.kernel.options.working_dir
    brought = Path(working_dir) / "appearance/emojis/conf.json"
    try:
        if files.exists(EMOJIS_CONF):
            loaded = read_json(files.read(EMOJIS_CONF))
        elif working_dir and brought.is_file():
            loaded = read_json(brought.read_text(encoding="utf-8"))
        else:
            return []
    except (OSError, ValueError) as error:
        raise ApiError(str(error)) from error
    return loaded if isinstance(loaded, list) else []


async def get_fonts(call: Call) -> Any:
    """The fonts of the machine, looked for once."""
    fonts = call.kernel.state.get("fonts")
    if fonts is None:
        fonts = await trio.to_thread.run_sync(list_fonts, font_folders())
        call.kernel.state["fonts"] = fonts
    return fonts


# --- what it is set to ------------------------------------------------------------------------------------------
def set_api_token(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    conf.section("api")["token"] = call.arguments.raw_str("token")
    conf.save()


def set_access_code(call: Call) -> Any:
    raise ApiError(NO_ACCESS_CODE)


def set_ui_layout(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    conf.values["uiLayout"] = fitted(UI_LAYOUT, call.arguments.get("layout"), {})
    conf.save()


def set_lock_screen(call: Call) -> Any:
    _set_system(call, "lockScreenMode", int(call.arguments.raw_number("lockScreenMode")))


def set_auto_launch(call: Call) -> Any:
    _set_system(call, "autoLaunch2", int(call.arguments.raw_number("autoLaunch")))


def set_download_package(call: Call) -> Any:
    _set_system(call, "downloadInstallPkg", call.arguments.raw_bool("downloadInstallPkg"))


def set_network_serve(call: Call) -> Any:
    """Kept for a real kernel on this workspace; ours binds what its command line says."""
    _set_system(call, "networkServe", call.arguments.raw_bool("networkServe"))
    show_message(call, RESTART_NEEDED, RESTART_MESSAGE_MS)


def set_network_serve_tls(call: Call) -> Any:
    _set_system(call, "networkServeTLS", call.arguments.raw_bool("networkServeTLS"))
    show_message(call, RESTART_NEEDED, RESTART_MESSAGE_MS)


def set_network_proxy(call: Call) -> Any:
    proxy = {name: call.arguments.raw_str(name) for name in ("scheme", "host", "port")}
    _set_system(call, "networkProxy", proxy)
    show_message(call, PROCESSED, 3000)


def _set_system(call: Call, name: str, value: Any) -> None:
    conf = call.kernel.workspace.conf
    conf.section("system")[name] = value
    conf.save()


def set_appearance_mode(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    appearance = conf.section("appearance")
    appearance["mode"] = int(call.arguments.raw_number("mode"))
    selected = appearance["themeLight"] if appearance["mode"] == 0 else appearance["themeDark"]
    appearance["themeJS"] = theme_has_script(call.kernel, selected)
    conf.save()
    return {"appearance": show_section(call.kernel, "appearance")}


# --- the process ------------------------------------------------------------------------------------------------
def check_update(call: Call) -> Any:
    """Nobody is asked (decision 55): no answer, as without a network."""
    call.arguments.raw_bool("showMsg")


def windows_only(call: Call) -> Any:
    """Microsoft Defender is nowhere but on Windows: elsewhere the kernel does nothing."""


def deprecated(call: Call) -> Any:
    raise ApiError(DEPRECATED % call.path)


def end_process(call: Call) -> Any:
    """Tell the windows, then end: what runs is drained, what is written is on disk."""
    for name in ("force", "setCurrentWorkspace"):
        if call.arguments.get(name) is not None:
            call.arguments.raw_bool(name)
    if call.arguments.get("execInstallPkg") is not None:
        call.arguments.raw_number("execInstallPkg")
    stop = call.kernel.state.get("stop")
    if stop is None:
        raise ApiError(NOT_TO_BE_ENDED)
    show_message(call, EXITING, EXIT_MESSAGE_MS)
    call.kernel.workspace.emit("exit", to=MAIN)
    stop()
    return {"closeTimeout": 0}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/system/version": version,
    "/api/system/bootProgress": boot_progress,
    "/api/system/currentTime": current_time,
    "/api/system/getWorkspaceInfo": get_workspace_info,
    "/api/system/getNetwork": get_network,
    "/api/system/getConf": get_conf,
    "/api/system/getChangelog": get_changelog,
    "/api/system/getEmojiConf": get_emoji_conf,
    "/api/system/getSysFonts": get_fonts,
    "/api/system/setAPIToken": set_api_token,
    "/api/system/setAccessAuthCode": set_access_code,
    "/api/system/setUILayout": set_ui_layout,
    "/api/system/setFollowSystemLockScreen": set_lock_screen,
    "/api/system/setAutoLaunch": set_auto_launch,
    "/api/system/setDownloadInstallPkg": set_download_package,
    "/api/system/setNetworkServe": set_network_serve,
    "/api/system/setNetworkServeTLS": set_network_serve_tls,
    "/api/system/setNetworkProxy": set_network_proxy,
    "/api/system/setAppearanceMode": set_appearance_mode,
    "/api/system/checkUpdate": check_update,
    "/api/system/addMicrosoftDefenderExclusion": windows_only,
    "/api/system/ignoreAddMicrosoftDefenderExclusion": windows_only,
    "/api/system/reloadUI": deprecated,
    "/api/system/exit": end_process,
}
