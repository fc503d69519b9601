"""/api/filetree: who may see what is published (siyuan-api A2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.filetree import checked_id
from kernel.siyuan.dispatch import Envelope
from kernel.workspace.publish_access import access_of, entry, note_access

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_WRONG_PASSWORD: Final = "Password is incorrect"


def get_publish_access(call: Call) -> Any:
    ids = call.arguments.raw_str_list("ids")
    return {"publishAccess": access_of(call.kernel.workspace, ids)}


def set_publish_access(call: Call) -> Any:
    arguments = call.arguments
    access = entry(
        arguments.raw_str("id"),
        visible=arguments.raw_bool("visible"),
        password=arguments.raw_str("password"),
        disable=arguments.raw_bool("disable"),
    )
    note_access(call.kernel.workspace, access)


def authorize(call: Call) -> Any:
    """A reader's password for what is published; a wrong one is told with code 0."""
    block_id = checked_id(call, "id")
    password = call.arguments.raw_str("password")
    known = {one["id"]: one for one in access_of(call.kernel.workspace, [block_id])}.get(block_id)
    if known is not None and known["password"] and known["password"] != password:
        return Envelope(0, _WRONG_PASSWORD, None)
    return None


def move_local_shorthands(call: Call) -> Any:
    """Notes jotted down outside of SiYuan: there are none."""
    checked_id(call, "notebook")


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/filetree/getPublishAccess": get_publish_access,
    "/api/filetree/setPublishAccess": set_publish_access,
    "/api/filetree/authFilePublishAccess": authorize,
    "/api/filetree/moveLocalShorthands": move_local_shorthands,
}
