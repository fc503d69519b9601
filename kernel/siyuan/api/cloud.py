"""/api/cloud, /api/account, /api/inbox: the vendor's cloud, which is never asked (decision 55): as without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import show_message
from kernel.siyuan.arguments import ApiError, EmptyAnswer, Panic
from kernel.workspace.asset_links import assets_of
from kernel.workspace.assets import find_asset

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_SERVER: Final = "https://siyuan-sync.b3logfile.com/apis/siyuan"
NO_SPACE: Final = (
    f'Failed to obtain cloud info get cloud repo stat failed: Post "{_SERVER}/dejavu/getRepoStat?uid=0": '
    "dial tcp: network is unreachable"
)
LOGIN_FAILED: Final = f'Get community user account failed: Post "{_SERVER}/login": dial tcp: network is unreachable'
NO_ACCOUNT: Final = "Account authentication failed, please login again"
NO_CODE: Final = "Activation code cannot be empty"
NO_SUBSCRIPTION: Final = (
    "This feature requires the purchase of an <a target='_blank' href='https://ld246.com/subscribe/siyuan'>"
    "[Annual Subscription]</a> (if you have already purchased, please refresh or re-login in "
    "[Settings - Account & Sync - Account])"
)
MESSAGE_MS: Final = 3000


def get_cloud_space(call: Call) -> Any:
    show_message(call, NO_SPACE, MESSAGE_MS, code=-1)
    raise ApiError(NO_SPACE, 1)


def set_cloud_reminder(call: Call) -> Any:
    """A reminder needs an account: without one the kernel's handler ends here."""


def login(call: Call) -> Any:
    """Without all its arguments the kernel writes nothing at all."""
    try:
        for name in ("userName", "userPassword", "captcha"):
            call.arguments.raw_str(name)
        call.arguments.raw_number("cloudRegion")
    except Panic as error:
        raise EmptyAnswer from error
    raise ApiError(LOGIN_FAILED)


def use_activation_code(call: Call) -> Any:
    """Only an account can use one: without one the kernel's handler ends here."""
    call.arguments.required_str("data")


def check_activation_code(call: Call) -> Any:
    if not call.arguments.required_str("data", may_be_empty=True):
        raise ApiError(NO_CODE, 1)


def start_free_trial(call: Call) -> Any:
    raise ApiError(NO_ACCOUNT)


def deactivate(call: Call) -> Any:
    """There is no account to give up."""


def get_shorthands(call: Call) -> Any:
    """The inbox of nobody: null."""
    call.arguments.required_number("page")


def get_shorthand(call: Call) -> Any:
    call.arguments.required_str("id")


def remove_shorthands(call: Call) -> Any:
    call.arguments.raw_str_list("ids")


def set_block_reminder(call: Call) -> Any:
    call.arguments.raw_str("id")
    call.arguments.raw_str("timed")
    raise ApiError(NO_SUBSCRIPTION, data={"closeTimeout": 7000})


async def send_to_community(call: Call) -> Any:
    """A document as an article: its assets must be there; without an account it is not sent."""
    block_id = call.arguments.required_str("id")
    workspace = call.kernel.workspace
    for path in assets_of(workspace.document(block_id).root):
        find_asset(workspace, path)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/block/setBlockReminder": set_block_reminder,
    "/api/export/export2Liandi": send_to_community,
    "/api/cloud/getCloudSpace": get_cloud_space,
    "/api/cloud/setCloudReminder": set_cloud_reminder,
    "/api/account/login": login,
    "/api/account/useActivationcode": use_activation_code,
    "/api/account/checkActivationcode": check_activation_code,
    "/api/account/startFreeTrial": start_free_trial,
    "/api/account/deactivate": deactivate,
    "/api/inbox/getShorthands": get_shorthands,
    "/api/inbox/getShorthand": get_shorthand,
    "/api/inbox/removeShorthands": remove_shorthands,
}
