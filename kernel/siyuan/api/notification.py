"""/api/notification: messages that pop up in the main windows (siyuan-api A13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import show_message
from kernel.siyuan.clean_html import cleaned

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

SHOWN_MS: Final = 7000


def push_message(call: Call) -> Any:
    return _push(call, code=0)


def push_error(call: Call) -> Any:
    return _push(call, code=-1)


def _push(call: Call, *, code: int) -> Any:
    text = call.arguments.required_str("msg")
    shown_ms = SHOWN_MS if call.arguments.get("timeout") is None else int(call.arguments.raw_number("timeout"))
    return {"id": show_message(call, cleaned(text), shown_ms, code=code)}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/notification/pushMsg": push_message,
    "/api/notification/pushErrMsg": push_error,
}
