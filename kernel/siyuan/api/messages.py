"""Messages that pop up in the main windows while a call runs (no endpoint of its own)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernel.workspace.events import MAIN

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call

MESSAGE_ID_LENGTH: Final = 7


def show_message(call: Call, text: str, close_ms: int, *, code: int = 0) -> str:
    """Show a message; its id, to clear it with."""
    message = call.kernel.ids.text(MESSAGE_ID_LENGTH)
    data = {"id": message, "closeTimeout": close_ms}
    call.kernel.workspace.emit("msg", data, to=MAIN, code=code, msg=text)
    return message


def update_message(call: Call, message: str, text: str, close_ms: int) -> None:
    """Show another text in the place of a message."""
    call.kernel.workspace.emit("msg", {"id": message, "closeTimeout": close_ms}, to=MAIN, msg=text)


def clear_message(call: Call, message: str) -> None:
    call.kernel.workspace.emit("cmsg", {"id": message}, to=MAIN)
