"""/api/repo: snapshots in the vendor's cloud, which is never asked (decision 55): as without a network or an account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.repo import require_key
from kernel.siyuan.arguments import ApiError

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_UNREACHABLE: Final = (
    'Failed to purge data repo: Post "https://siyuan-sync.b3logfile.com/apis/siyuan/dejavu/removeRepoObject?uid=0": '
    "dial tcp: network is unreachable"
)


def get_snapshots(call: Call) -> Any:
    call.arguments.required_number("page")
    require_key(call)
    return {"snapshots": [], "pageCount": 0, "totalCount": 0}


def get_tag_snapshots(call: Call) -> Any:
    require_key(call)
    return {"snapshots": []}


def remove_tag(call: Call) -> Any:
    call.arguments.required_str("tag")
    require_key(call)


def transfer(call: Call) -> Any:
    """Up or down: without an account nothing moves, and nothing is said."""
    call.arguments.required_str("id")
    call.arguments.required_str("tag")
    require_key(call)


def purge(call: Call) -> Any:
    raise ApiError(_UNREACHABLE, data={"closeTimeout": 5000})


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/repo/getCloudRepoSnapshots": get_snapshots,
    "/api/repo/getCloudRepoTagSnapshots": get_tag_snapshots,
    "/api/repo/removeCloudRepoTagSnapshot": remove_tag,
    "/api/repo/uploadCloudSnapshot": transfer,
    "/api/repo/downloadCloudSnapshot": transfer,
    "/api/repo/purgeCloudRepo": purge,
}
