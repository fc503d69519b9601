"""How /api/av handlers end where the kernel's would panic: an empty success, or an empty body (kernel-facts 9, 13)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from kernel.siyuan.arguments import EmptyAnswer, Panic
from kernel.workspace.views.moments import Broken

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call

Handler = Callable[["Call"], Any]


def guarded(handler: Handler) -> Handler:
    """A handler that answers an empty success where the kernel's would panic."""

    @wraps(handler)
    def guarded_handler(call: Call) -> Any:
        try:
            return handler(call)
        except Broken as error:
            raise Panic(str(error)) from error

    return guarded_handler


def silent(handler: Handler) -> Handler:
    """A handler that answers nothing at all where the kernel's would panic."""

    @wraps(handler)
    def silent_handler(call: Call) -> Any:
        try:
            return handler(call)
        except (Broken, Panic) as error:
            raise EmptyAnswer(str(error)) from error

    return silent_handler
