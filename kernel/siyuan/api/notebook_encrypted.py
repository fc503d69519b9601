"""/api/notebook: encrypted notebooks, a feature that is never turned on here (docs/differences.md): as while it is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.filetree import checked_id
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.uploaded import multipart_form

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

NOT_ENABLED: Final = "Encrypted notebook feature is not enabled"
NOT_ENCRYPTED: Final = "Notebook is not encrypted"
NO_BACKUP: Final = (
    "Encrypted notebooks already exist but the master key backup is missing. "
    "Restore the original conf.json or backup file to re-enable"
)
NOT_SUPPORTED: Final = "encrypted notebooks are not supported by this kernel"
_NO_FILE: Final = "file not found"


def status(call: Call) -> Any:
    return {
        "enabled": False,
        "count": 0,
        "boxes": [],
        "migrationPending": False,
        "migrationBoxes": None,
        "hasHistoryDependency": False,
    }


def enable(call: Call) -> Any:
    call.arguments.required_str("password")
    raise ApiError(NOT_SUPPORTED)


def nothing(call: Call) -> Any:
    """There is nothing to turn off or to keep open."""


def create(call: Call) -> Any:
    call.arguments.required_str("name", may_be_empty=True)
    call.arguments.required_str("password")
    raise ApiError(NOT_ENABLED)


def lock(call: Call) -> Any:
    call.arguments.required_str("notebook")
    checked_id(call, "notebook")
    raise ApiError(NOT_ENCRYPTED)


def unlock(call: Call) -> Any:
    call.arguments.required_str("notebook")
    call.arguments.required_str("password")
    checked_id(call, "notebook")
    raise ApiError(NOT_ENCRYPTED)


def change_password(call: Call) -> Any:
    call.arguments.required_str("oldPassword")
    call.arguments.required_str("newPassword")
    raise ApiError(NOT_ENABLED)


def export_backup(call: Call) -> Any:
    raise ApiError(NO_BACKUP)


def import_backup(call: Call) -> Any:
    if not any(part.field == "file" for part in multipart_form(call).files):
        raise ApiError(_NO_FILE)
    raise ApiError(NOT_SUPPORTED)


def set_auto_lock(call: Call) -> Any:
    """Kept with the settings; nothing is ever unlocked."""
    minutes = max(int(call.arguments.required_number("autoLockMinutes")), 0)
    conf = call.kernel.workspace.conf
    conf.section("notebookCrypto")["autoLockMinutes"] = minutes
    conf.save()


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/notebook/getEncryptedNotebookStatus": status,
    "/api/notebook/enableEncryptedNotebooks": enable,
    "/api/notebook/disableEncryptedNotebooks": nothing,
    "/api/notebook/touchEncryptedNotebooks": nothing,
    "/api/notebook/createEncryptedNotebook": create,
    "/api/notebook/lockNotebook": lock,
    "/api/notebook/unlockNotebook": unlock,
    "/api/notebook/unlockAndOpenNotebook": unlock,
    "/api/notebook/changeMasterPassword": change_password,
    "/api/notebook/exportNotebookCryptoBackup": export_backup,
    "/api/notebook/importNotebookCryptoBackup": import_backup,
    "/api/notebook/setNotebookCryptoAutoLock": set_auto_lock,
}
