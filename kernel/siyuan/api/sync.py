"""/api/sync: settings of the data synchronisation. Nothing is synchronised: no provider can be reached (decision 55)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import show_message
from kernel.siyuan.api.system import SYNC_OFF
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.dispatch import Envelope
from kernel.siyuan.exports import offer, zipped
from kernel.siyuan.go_json import BodyUnreadable, read_object
from kernel.siyuan.sections import fitted
from kernel.siyuan.uploaded import uploaded_json
from kernel.workspace.conf_bounds import bound_provider, within
from kernel.workspace.conf_shapes import LOCAL_STORE, S3, WEBDAV
from kernel.workspace.names import without_invisible

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.go_struct import Record

BAD_NAME: Final = (
    "The cloud sync directory name (Bucket) cannot be empty, contain spaces or special symbols, "
    "and has a maximum length of 63 characters"
)
NOT_SUPPORTED: Final = (
    "This operation is not supported, please go to the cloud storage provider management console to operate"
)
ENABLE_FIRST: Final = "Please enable cloud sync in [Settings - Account & Sync - Enable cloud sync]"
CHOOSE_FIRST: Final = (
    "The synchronization function can only be activated after adding/selecting the cloud synchronization directory"
)
OFFLINE: Final = "The network is abnormal, please try again later (Provider: %s)"
NO_NUTSTORE: Final = (
    '<a href="https://help.jianguoyun.com/?p=2064" target="_blank">There are restrictions on the Nutstore interface</a>'
    ", please use other WebDAV services"
)
BAD_FOLDER: Final = "Invalid dir path [endpoint [%s] %s]"
PROCESSING: Final = "Processing, please wait..."
SEALED: Final = "sealed provider packages cannot be read by this kernel"
MESSAGE: Final = {"closeTimeout": 5000}
MESSAGE_MS: Final = 5000
PROCESSING_MS: Final = 15_000
NAME_CHARS_MAX: Final = 63
SIYUAN: Final = 0
LOCAL: Final = 4
_PROVIDERS: Final = {SIYUAN: "SiYuan", 2: "S3", 3: "WebDAV", LOCAL: "Local File System"}
BY_HAND: Final = 3
KERNEL_ID_LENGTH: Final = 7
_FORBIDDEN: Final = frozenset("""~`!@#$%^&*()=+[]{}\\|;:'",<>/? \t\r\n""")
_SLASHES: Final = re.compile(r"/{2,}")


# --- switches ---------------------------------------------------------------------------------------------------
def set_enable(call: Call) -> Any:
    _set(call, enabled=call.arguments.required_bool("enabled"))


def set_interval(call: Call) -> Any:
    _set(call, interval=within(int(call.arguments.required_number("interval")), 30, 30, 12 * 3600))


def set_perception(call: Call) -> Any:
    """There is none in a container, which this kernel says it runs in."""
    call.arguments.required_bool("enabled")
    _set(call, perception=False)


def set_conflict_doc(call: Call) -> Any:
    _set(call, generateConflictDoc=call.arguments.required_bool("enabled"))


def set_mode(call: Call) -> Any:
    _set(call, mode=int(call.arguments.required_number("mode")))


def set_provider(call: Call) -> Any:
    _set(call, provider=int(call.arguments.required_number("provider")))


def _set(call: Call, **values: Any) -> None:
    conf = call.kernel.workspace.conf
    conf.section("sync").update(values)
    conf.save()


# --- providers --------------------------------------------------------------------------------------------------
def set_s3(call: Call) -> Any:
    given = _given(call, "s3", S3)
    for name in ("accessKey", "secretKey", "bucket", "region"):
        given[name] = given[name].strip()
    stored = call.kernel.workspace.conf.section("sync")["s3"]
    if given["bucket"] != stored["bucket"].strip() and not is_directory_name(given["bucket"]):
        raise ApiError(BAD_NAME, data=MESSAGE)
    given["endpoint"] = _address(given["endpoint"])
    return _store(call, "s3", given, 8)


def set_webdav(call: Call) -> Any:
    given = _given(call, "webdav", WEBDAV)
    given["endpoint"] = _address(given["endpoint"])
    if "dav.jianguoyun.com" in given["endpoint"].lower():
        raise ApiError(NO_NUTSTORE, data=MESSAGE)
    for name in ("username", "password"):
        given[name] = given[name].strip()
    return _store(call, "webdav", given, 1)


def set_local(call: Call) -> Any:
    given = _given(call, "local", LOCAL_STORE)
    endpoint = given["endpoint"].strip()
    if endpoint:
        endpoint = os.path.normpath(endpoint)
        endpoint = endpoint if endpoint.endswith("/") else f"{endpoint}/"
        _check_folder(call, endpoint)
    given["endpoint"] = endpoint
    return _store(call, "local", given, 16)


def _given(call: Call, name: str, kind: Record) -> dict[str, Any]:
    provider: dict[str, Any] = fitted(kind, call.arguments.required_object(name), error_data=MESSAGE)
    return provider


def _store(call: Call, name: str, provider: dict[str, Any], requests: int) -> dict[str, Any]:
    bound_provider(provider, requests)
    _set(call, **{name: provider})
    return {name: provider}


def _address(endpoint: str) -> str:
    """An address with its scheme, single slashes, and one at its end."""
    endpoint = without_invisible(endpoint).strip()
    if not endpoint:
        return ""
    endpoint = endpoint.replace("http://http(s)://", "https://", 1).replace("http(s)://", "https://", 1)
    if not endpoint.startswith(("http://", "https://")):
        endpoint = f"http://{endpoint}"
    scheme, _, rest = endpoint.partition("://")
    return f"{scheme}://{_SLASHES.sub('/', rest).strip().removesuffix('/')}/"


def _check_folder(call: Call, endpoint: str) -> None:
    folder = os.path.abspath(endpoint)
    root = call.kernel.workspace.files.absolute("").rstrip("/")
    why = ""
    if not os.path.exists(folder):
        why = "not exist"
    elif folder == root or folder.startswith(f"{root}/"):
        why = "is in workspace"
    elif root.startswith(f"{folder.rstrip('/')}/"):
        why = "is parent of workspace"
    if why:
        raise ApiError(BAD_FOLDER % (endpoint, why), data=MESSAGE)


def is_directory_name(name: str) -> bool:
    """Whether a directory in the cloud may have this name."""
    return bool(name) and len(name) <= NAME_CHARS_MAX and not _FORBIDDEN & set(name)


def export_s3(call: Call) -> Any:
    return _exported(call, "s3")


def export_webdav(call: Call) -> Any:
    return _exported(call, "webdav")


def _exported(call: Call, name: str) -> dict[str, str]:
    """The settings of a provider to take along. Readable: the real kernel seals them with a key that is not ours."""
    files = call.kernel.workspace.files
    content = json.dumps(call.kernel.workspace.conf.section("sync")[name], ensure_ascii=False).encode(
        "utf-8", "replace"
    )
    file_name = f"siyuan-{name}-{call.kernel.clock.local():%Y%m%d%H%M%S}.json"
    return {"name": file_name, "zip": offer(files, f"{file_name}.zip", zipped({file_name: content}))}


def import_s3(call: Call) -> Any:
    return _imported(call, "s3", S3, 8, "invalid S3 provider package")


def import_webdav(call: Call) -> Any:
    return _imported(call, "webdav", WEBDAV, 1, "invalid WebDAV provider package")


def _imported(call: Call, name: str, kind: Record, requests: int, bad_package: str) -> dict[str, Any]:
    """What ``_exported`` gave, as a ZIP or the JSON in it."""
    content = uploaded_json(call, bad_package)
    try:
        given = read_object(content)
    except BodyUnreadable as error:
        raise ApiError(SEALED) from error
    return _store(call, name, fitted(kind, given), requests)


# --- directories in the cloud -----------------------------------------------------------------------------------
def set_cloud_dir(call: Call) -> Any:
    name = call.arguments.required_str("name")
    if not is_directory_name(name):
        show_message(call, BAD_NAME, MESSAGE_MS, code=-1)
        return
    _set(call, cloudName=name)


def create_cloud_dir(call: Call) -> Any:
    name = call.arguments.required_str("name")
    _check_console(call)
    if not is_directory_name(without_invisible(name)):
        raise ApiError(BAD_NAME, data=MESSAGE)
    raise ApiError(OFFLINE % _provider(call), data=MESSAGE)


def remove_cloud_dir(call: Call) -> Any:
    call.arguments.required_str("name")
    _check_console(call)
    show_message(call, PROCESSING, PROCESSING_MS)
    raise ApiError(OFFLINE % _provider(call), data=MESSAGE)


def list_cloud_dirs(call: Call) -> Any:
    raise ApiError(OFFLINE % _provider(call), 1, MESSAGE)


def _check_console(call: Call) -> None:
    if call.kernel.workspace.conf.section("sync")["provider"] not in (SIYUAN, LOCAL):
        raise ApiError(NOT_SUPPORTED, data=MESSAGE)


def _provider(call: Call) -> str:
    return _PROVIDERS.get(call.kernel.workspace.conf.section("sync")["provider"], "Unknown")


# --- synchronising ----------------------------------------------------------------------------------------------
def perform(call: Call) -> Any:
    """Synchronise now: says what is missing, or that nobody is there."""
    sync = call.kernel.workspace.conf.section("sync")
    if call.arguments.optional_bool("mobileSwitch"):
        return
    if sync["mode"] == BY_HAND:
        call.arguments.required_bool("upload")
    if not sync["enabled"]:
        show_message(call, ENABLE_FIRST, MESSAGE_MS)
    elif not is_directory_name(sync["cloudName"]):
        show_message(call, CHOOSE_FIRST, MESSAGE_MS)
    else:
        # Only those with an account may; nobody is signed in.
        _set(call, enabled=False)


def perform_at_boot(call: Call) -> Any:
    return Envelope(-1, "", None)


def get_boot_sync(call: Call) -> Any:
    """Nothing failed at the start, for nothing was tried."""


def get_info(call: Call) -> Any:
    sync = call.kernel.workspace.conf.section("sync")
    kernel_id = call.kernel.state.setdefault("kernel_id", call.kernel.ids.text(KERNEL_ID_LENGTH))
    return {
        "synced": sync["synced"],
        "stat": sync["stat"] if sync["enabled"] else SYNC_OFF,
        "kernels": [],
        "kernel": kernel_id,
    }


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/sync/setSyncEnable": set_enable,
    "/api/sync/setSyncInterval": set_interval,
    "/api/sync/setSyncPerception": set_perception,
    "/api/sync/setSyncGenerateConflictDoc": set_conflict_doc,
    "/api/sync/setSyncMode": set_mode,
    "/api/sync/setSyncProvider": set_provider,
    "/api/sync/setSyncProviderS3": set_s3,
    "/api/sync/setSyncProviderWebDAV": set_webdav,
    "/api/sync/setSyncProviderLocal": set_local,
    "/api/sync/exportSyncProviderS3": export_s3,
    "/api/sync/exportSyncProviderWebDAV": export_webdav,
    "/api/sync/importSyncProviderS3": import_s3,
    "/api/sync/importSyncProviderWebDAV": import_webdav,
    "/api/sync/setCloudSyncDir": set_cloud_dir,
    "/api/sync/createCloudSyncDir": create_cloud_dir,
    "/api/sync/removeCloudSyncDir": remove_cloud_dir,
    "/api/sync/listCloudSyncDir": list_cloud_dirs,
    "/api/sync/performSync": perform,
    "/api/sync/performBootSync": perform_at_boot,
    "/api/sync/getBootSync": get_boot_sync,
    "/api/sync/getSyncInfo": get_info,
}
