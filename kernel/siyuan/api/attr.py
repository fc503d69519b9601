"""/api/attr: attributes of blocks (siyuan-api A4; kernel-facts 17, 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.api.filetree import checked_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.workspace.attributes import attributes_of, set_attributes, set_many

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

DEPRECATED: Final = (
    "[/api/attr/resetBlockAttrs] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details"
)


def get_block_attrs(call: Call) -> Any:
    return attributes_of(call.kernel.workspace, checked_id(call, "id"))


def batch_get_block_attrs(call: Call) -> Any:
    workspace = call.kernel.workspace
    ids = call.arguments.raw_str_list("ids")
    return {one: dict(sorted(attributes_of(workspace, one).items())) for one in ids if workspace.block_exists(one)}


def set_block_attrs(call: Call) -> Any:
    block_id = checked_id(call, "id")
    values = text_values(call.arguments.raw_object("attrs"))
    set_attributes(call.kernel.workspace, block_id, values)


def text_values(attrs: dict[str, Any]) -> dict[str, str]:
    """Attribute values as texts; null removes, like "". Raises ApiError for anything else."""
    values = {}
    for name, value in attrs.items():
        if value is not None and not isinstance(value, str):
            raise ApiError(f"the value of attr [{name}] must be a string")
        values[name] = value or ""
    return values


def batch_set_block_attrs(call: Call) -> Any:
    changes = []
    for one in call.arguments.raw_list("blockAttrs"):
        if not isinstance(one, dict) or not isinstance(one.get("id"), str):
            raise Panic("blockAttrs")
        if not is_node_id(one["id"]):
            raise ApiError("invalid ID argument")
        if not isinstance(one.get("attrs"), dict):
            raise Panic("attrs")
        changes.append((one["id"], text_values(one["attrs"])))
    set_many(call.kernel.workspace, changes)


def reset_block_attrs(call: Call) -> Any:
    raise ApiError(DEPRECATED)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/attr/getBlockAttrs": get_block_attrs,
    "/api/attr/batchGetBlockAttrs": batch_get_block_attrs,
    "/api/attr/setBlockAttrs": set_block_attrs,
    "/api/attr/batchSetBlockAttrs": batch_set_block_attrs,
    "/api/attr/resetBlockAttrs": reset_block_attrs,
}
