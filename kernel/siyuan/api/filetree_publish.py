"""/api/filetree: who may see what is published (siyuan-api A2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.publish_access import access_of, entry, note_access

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


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


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/filetree/getPublishAccess": get_publish_access,
    "/api/filetree/setPublishAccess": set_publish_access,
}
