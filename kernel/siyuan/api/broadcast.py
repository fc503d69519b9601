"""/api/broadcast: post to channels, ask who listens (siyuan-api E2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.broadcast import broadcast_of
from kernel.siyuan.uploaded import NOT_A_FORM

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call


def post_message(call: Call) -> Any:
    message = call.arguments.required_str("message")
    name = call.arguments.required_str("channel")
    broadcast = broadcast_of(call.kernel)
    broadcast.reaches(name)
    count = broadcast.count(name)
    broadcast.post(name, message)
    return {"channel": {"name": name, "count": count}}


def publish(call: Call) -> Any:
    """Every field of the form is a message to the channel of its name; files go out as bytes."""
    if call.form is None or not call.form.is_multipart:
        raise ApiError(NOT_A_FORM, 1)
    results = []
    for name, value in call.form.fields:
        size = len(value.encode("utf-8", "replace"))
        results.append(_published(call, name, value, {"type": "string", "size": size, "filename": ""}))
    for file in call.form.files:
        described = {"type": "binary", "size": len(file.content), "filename": file.name}
        results.append(_published(call, file.field, file.content, described))
    return {"results": results}


def get_channels(call: Call) -> Any:
    return {"channels": broadcast_of(call.kernel).listing()}


def get_channel_info(call: Call) -> Any:
    name = call.arguments.required_str("name")
    return {"channel": {"name": name, "count": broadcast_of(call.kernel).count(name)}}


def _published(call: Call, name: str, message: str | bytes, described: dict[str, Any]) -> dict[str, Any]:
    broadcast = broadcast_of(call.kernel)
    broadcast.reaches(name)
    count = broadcast.count(name)
    broadcast.post(name, message)
    return {"code": 0, "msg": "", "channel": {"name": name, "count": count}, "message": described}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/broadcast/postMessage": post_message,
    "/api/broadcast/publish": publish,
    "/api/broadcast/getChannels": get_channels,
    "/api/broadcast/getChannelInfo": get_channel_info,
}
