"""One call of one /api endpoint, in process: find the handler, run it, keep the files durable, wrap the answer.

HTTP (``http_api.py``) and the embedded host (``kernel.host.embedded``) both come through here.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.endpoints import ENDPOINTS
from kernel.siyuan.arguments import ApiError, EmptyAnswer, Panic

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call


@dataclass(frozen=True, slots=True)
class Envelope:
    """``{code, msg, data}``, HTTP 200."""

    code: int
    msg: str
    data: Any


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer that is not the envelope (file contents, redirects, empty bodies)."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


ApiAnswer = Envelope | RawAnswer
# A handler returns ``data``, or an Envelope/RawAnswer where it wants more say; it may be async when it must wait.
ApiHandler = Callable[["Call"], Any]

EMPTY: Final = RawAnswer(200, (), b"")


class UnknownRoute(LookupError):
    """No such endpoint in the kernel, or one that is not emulated: 404 text, as the kernel answers."""


def handlers() -> dict[str, ApiHandler]:
    """Every emulated endpoint: path → handler. Each family module in ``kernel.siyuan.api`` brings its HANDLERS."""
    from kernel.siyuan import api

    return api.all_handlers()


async def dispatch(call: Call) -> ApiAnswer:
    """Run one call.

    Raises:
        UnknownRoute: the path is not served; it is counted in ``kernel.unserved`` when the real kernel has it.
    """
    handler = handlers().get(call.path)
    if handler is None:
        if call.path in ENDPOINTS:
            call.kernel.unserved[call.path] = call.kernel.unserved.get(call.path, 0) + 1
        raise UnknownRoute(call.path)
    answer = await _answer(handler, call)
    # What the handler changed is on disk before anyone hears of it; then the push frames go out.
    await call.kernel.workspace.files.settle()
    return answer


async def _answer(handler: ApiHandler, call: Call) -> ApiAnswer:
    try:
        result = handler(call)
        if inspect.isawaitable(result):
            result = await _awaited(result)
    except ApiError as error:
        return Envelope(error.code, error.message, error.data)
    except Panic:
        return Envelope(0, "", None)
    except EmptyAnswer:
        return EMPTY
    if isinstance(result, Envelope | RawAnswer):
        return result
    return Envelope(0, "", result)


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result
